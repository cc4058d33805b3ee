//! What answers while the server is not ready yet: that it is alive, and that everything else comes later.

use axum::Router;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use lrgeo_protocol::Reason;

use super::{health, no};

/// All there is for now.
pub fn starting() -> Router {
    Router::new().route("/healthz", get(health)).route("/readyz", get(not_ready)).fallback(later)
}

async fn not_ready() -> (StatusCode, &'static str) {
    (StatusCode::SERVICE_UNAVAILABLE, "starting\n")
}

async fn later() -> Response {
    no(Reason::Busy, "the server is starting; try again later")
}
