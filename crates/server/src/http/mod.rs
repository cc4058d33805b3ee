//! The interface over HTTP: one function makes the application, tests call it as well as `serve`.

mod compressed;
mod describe;
mod guard;
mod message;
mod observe;
mod page;
mod public;
mod rounds;
mod starting;
mod stream;

use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use lrgeo_protocol::{Reason, Refusal, path};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::cors::CorsLayer;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::catalogue::File;
use crate::metrics;
use crate::service::App;
pub use compressed::Compressed;
use message::{No, Packing, file};
pub use starting::starting;

/// Description of the interface; the paths come from the handlers themselves.
#[derive(OpenApi)]
#[openapi(info(
    title = "lrgeo",
    description = "Use a location-based service without telling it where you are. Every message is JSON or CBOR \
                   (`application/json`, `application/cbor`); every refusal is a `Refusal`."
))]
struct Interface;

/// The application and its description.
fn describe() -> (Router<App>, File) {
    let (router, api) = OpenApiRouter::with_openapi(Interface::openapi())
        .routes(routes!(public::map))
        .routes(routes!(public::manifest))
        .routes(routes!(public::signature))
        .routes(routes!(public::earlier))
        .routes(routes!(public::earlier_signature))
        .routes(routes!(public::places))
        .routes(routes!(public::noise))
        .routes(routes!(public::tile))
        .routes(routes!(public::table_tile))
        .routes(routes!(public::circle))
        .routes(routes!(public::report))
        .routes(routes!(public::targets))
        .routes(routes!(rounds::join))
        .routes(routes!(rounds::state))
        .routes(routes!(rounds::events))
        .routes(routes!(rounds::matrix))
        .routes(routes!(page::describe))
        .routes(routes!(page::data))
        .routes(routes!(page::rounds))
        .routes(routes!(page::operation))
        .routes(routes!(stream::stream))
        .routes(routes!(measured))
        .routes(routes!(health))
        .routes(routes!(ready))
        .split_for_parts();
    (router, describe::document(&api))
}

/// All routes, with limits and logs.
pub fn app(app: App) -> Router {
    let (router, description) = describe();
    let openapi = async move |State(app): State<App>, headers: HeaderMap| {
        file(&description, "application/json", Packing::Of(&app), false, &headers)
    };
    let limit = Duration::from_secs_f64(app.limits.request_seconds);
    let browsers = app.browsers.clone().map_or_else(CorsLayer::new, |origins| {
        let asked = [header::ACCEPT, header::AUTHORIZATION, header::CONTENT_TYPE];
        CorsLayer::new()
            .allow_origin(origins)
            .allow_methods([Method::GET, Method::POST])
            .allow_headers(asked)
            .expose_headers([
                HeaderName::from_static(public::KEY_HEADER),
                observe::REQUEST_ID,
                header::RETRY_AFTER,
            ])
            .max_age(Duration::from_secs(86_400))
    });
    router
        .route(path::OPENAPI, get(openapi))
        .route("/", get(page::index))
        .route("/assets/{name}", get(page::assets))
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(CatchPanicLayer::custom(|_| {
            tracing::error!("a handler panicked");
            no(Reason::Internal, "the server failed; it goes on")
        }))
        .layer(middleware::from_fn_with_state(limit, within_time))
        .layer(middleware::from_fn_with_state(app.clone(), guard::guard))
        .layer(browsers)
        .layer(middleware::from_fn_with_state(app.clone(), observe::observe))
        .with_state(app)
}

/// What the server counts about itself, for Prometheus.
#[utoipa::path(get, path = "/metrics", tag = "operation",
    responses((status = 200, content_type = "text/plain", description = "see docs/operations.md")))]
async fn measured(State(app): State<App>) -> Response {
    let headers =
        [(header::CONTENT_TYPE, "text/plain; version=0.0.4"), (header::CACHE_CONTROL, "no-store")];
    (headers, metrics::render(&app)).into_response()
}

/// The process is alive.
#[utoipa::path(get, path = "/healthz", tag = "operation", responses((status = 200, description = "alive")))]
async fn health() -> &'static str {
    "ok\n"
}

/// The server can serve: map, tiles and storage are there.
#[utoipa::path(get, path = "/readyz", tag = "operation",
    responses((status = 200, description = "ready"), (status = 503, description = "starting, or the storage cannot be read or written")))]
async fn ready(State(app): State<App>) -> (StatusCode, &'static str) {
    let store = app.store.clone();
    match tokio::task::spawn_blocking(move || store.is_sound()).await {
        Ok(true) => (StatusCode::OK, "ready\n"),
        _ => (StatusCode::SERVICE_UNAVAILABLE, "the storage cannot be read or written\n"),
    }
}

async fn not_found() -> Response {
    no(Reason::NotFound, "there is nothing here; see /v1/openapi.json")
}

async fn method_not_allowed() -> Response {
    no(Reason::MethodNotAllowed, "this path takes another method; see /v1/openapi.json")
}

fn no(reason: Reason, message: &str) -> Response {
    let refusal = Refusal { reason, message: message.into(), field: None };
    No(Default::default(), refusal).into_response()
}

async fn within_time(State(limit): State<Duration>, request: Request, next: Next) -> Response {
    let answered = tokio::time::timeout(limit, next.run(request)).await;
    answered.unwrap_or_else(|_| no(Reason::TimedOut, "the request took too long"))
}
