//! The interface over HTTP: one function makes the application, tests call it as well as `serve`.

mod message;
mod page;
mod public;
mod rounds;
mod starting;

use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderName, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use lrgeo_protocol::{Reason, Refusal, path};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::cors::CorsLayer;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::service::App;
use message::No;
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
fn describe() -> (Router<App>, utoipa::openapi::OpenApi) {
    OpenApiRouter::with_openapi(Interface::openapi())
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
        .routes(routes!(health))
        .routes(routes!(ready))
        .split_for_parts()
}

/// All routes, with limits and logs.
pub fn app(app: App) -> Router {
    let (router, description) = describe();
    // Written once, whoever asks for it: routes are copied, and so is what they hold.
    let document = Bytes::from(serde_json::to_vec(&description).unwrap_or_default());
    let openapi = || async move { ([(header::CONTENT_TYPE, "application/json")], document) };
    let limit = Duration::from_secs_f64(app.limits.request_seconds);
    let browsers = app.browsers.clone().map_or_else(CorsLayer::new, |origins| {
        let asked = [header::ACCEPT, header::AUTHORIZATION, header::CONTENT_TYPE];
        CorsLayer::new()
            .allow_origin(origins)
            .allow_methods([Method::GET, Method::POST])
            .allow_headers(asked)
            .expose_headers([HeaderName::from_static(public::KEY_HEADER)])
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
        .layer(browsers)
        .layer(middleware::from_fn_with_state(app.clone(), log))
        .with_state(app)
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

/// One line per request: which kind, what came of it, how long it took. The path as such is not
/// logged, nor the query: they hold tickets and reported places.
async fn log(
    State(app): State<App>,
    matched: Option<MatchedPath>,
    request: Request,
    next: Next,
) -> Response {
    let begun = Instant::now();
    let method = request.method().clone();
    let response = next.run(request).await;
    let route = matched.as_ref().map_or("unknown", MatchedPath::as_str);
    let (status, took) = (response.status().as_u16(), begun.elapsed());
    // A method that is none of HTTP's own is what somebody made up: not a name to remember.
    let known = [Method::GET, Method::POST, Method::HEAD, Method::OPTIONS].contains(&method);
    let kind = if known { method.as_str() } else { "other" };
    app.counters.request(&format!("{kind} {route}"), status, took);
    let milliseconds = took.as_secs_f64() * 1e3;
    tracing::info!(%method, route, status, milliseconds, "request");
    response
}
