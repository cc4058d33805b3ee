//! The server's own page and what it shows (`web/`, docs/page.md). Whatever it fetches is the same for everybody.

use std::convert::Infallible;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use lrgeo_protocol::encoding::Encoding;
use lrgeo_protocol::{Digest, Reason, Refusal};
use serde::Serialize;
use tokio_stream::wrappers::WatchStream;
use tokio_stream::{Stream, StreamExt};

use super::message::{Answered, No, Packing, file};
use crate::catalogue::File;
use crate::counters::{BUCKETS, Counts};
use crate::page::{Asset, Index, InventedEvent, Page, asset};
use crate::service::App;

/// Scripts, styles, workers and requests of this origin and of no other; no inline script or style. WebAssembly is the client
/// of the npm package. MapLibre's controls have their icons as `data:` in its style sheet.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data: blob:; \
                      connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const HEADERS: [(HeaderName, &str); 6] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("permissions-policy"), "camera=(), microphone=(), geolocation=(self)"),
];

/// The page itself; asked for anew each time, since its name stays when it changes.
pub async fn index(State(app): State<App>, headers: HeaderMap) -> Response {
    answer(&app, "index.html", &headers)
}

/// A file of the page, whose name changes with its content.
pub async fn assets(
    State(app): State<App>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Response {
    answer(&app, &format!("assets/{name}"), &headers)
}

fn answer(app: &App, name: &str, headers: &HeaderMap) -> Response {
    let found = app.page.as_ref().and_then(|_| asset(name));
    let Some(&Asset { media, bytes, .. }) = found else {
        return No(Encoding::Json, nothing()).into_response();
    };
    let found = File { bytes: bytes.into(), hash: Digest::of(bytes) };
    let immutable = name.starts_with("assets/");
    let mut response = file(&found, media, Packing::Of(app), immutable, headers);
    let out = response.headers_mut();
    for (name, value) in HEADERS {
        out.insert(name, HeaderValue::from_static(value));
    }
    response
}

fn nothing() -> Refusal {
    let message = "there is nothing here; see /v1/openapi.json".to_owned();
    Refusal { reason: Reason::NotFound, message, field: None }
}

fn not_offered(message: &str) -> No {
    No(Encoding::Json, Refusal { reason: Reason::NotOffered, message: message.into(), field: None })
}

fn page(app: &App) -> Answered<&Page> {
    app.page.as_ref().ok_or_else(|| not_offered("this server has no page (page.serve)"))
}

/// What the page begins with.
#[utoipa::path(get, path = "/v1/page", tag = "page",
    responses((status = 200, body = Index), (status = 404, body = Refusal)))]
pub async fn describe(State(app): State<App>) -> Answered<Response> {
    let index = Json(&page(&app)?.index).into_response();
    Ok(([(header::CACHE_CONTROL, "no-cache")], index).into_response())
}

/// The streets, or what wrong reports cost: public files under their hash.
#[utoipa::path(get, path = "/v1/page/files/{hash}", tag = "page", params(("hash" = Digest, Path)),
    responses((status = 200, content_type = "application/octet-stream", description = "see docs/page.md"), (status = 304, description = "unchanged"), (status = 404, body = Refusal)))]
pub async fn data(
    State(app): State<App>,
    Path(hash): Path<String>,
    headers: HeaderMap,
) -> Answered<Response> {
    let hash = hash.parse::<Digest>().ok();
    match hash.and_then(|hash| app.page.as_ref()?.file(hash)) {
        Some(found) => {
            Ok(file(found, "application/octet-stream", Packing::Of(&app), true, &headers))
        }
        None => Err(No(Encoding::Json, nothing())),
    }
}

/// A round of invented users as it is solved by Benders' decomposition, as server-sent events; solved once, then replayed.
#[utoipa::path(get, path = "/v1/page/rounds/{users}", tag = "page", params(("users" = usize, Path, description = "2, 4 or 6")),
    responses((status = 200, content_type = "text/event-stream", description = "see docs/page.md"), (status = 404, body = Refusal), (status = 422, body = Refusal)))]
pub async fn rounds(
    State(app): State<App>,
    Path(users): Path<String>,
) -> Answered<Sse<impl Stream<Item = Result<Event, Infallible>>>> {
    let Some(rounds) = &page(&app)?.rounds else {
        return Err(not_offered("this server shows no rounds of invented users (page.rounds)"));
    };
    let recording = rounds.watch(users.parse().unwrap_or(0));
    let recording = recording.map_err(|refusal| No(Encoding::Json, refusal))?;
    let mut told = 0;
    // All that is new at a time is one message.
    let new = WatchStream::new(recording).map(move |events| {
        let new = events.get(told..).unwrap_or(&[]).to_vec();
        told = events.len();
        new
    });
    let mut ended = false;
    let new = new.take_while(move |events| {
        !std::mem::replace(&mut ended, events.contains(&InventedEvent::End))
    });
    let event = |events: Vec<InventedEvent>| {
        let event = Event::default().event("events").json_data(&events);
        Ok(event.unwrap_or_else(|_| Event::default().comment("unreadable")))
    };
    Ok(Sse::new(new.map(event)).keep_alive(KeepAlive::default()))
}

/// What an operator looks at.
#[derive(Serialize, utoipa::ToSchema)]
pub struct Operation {
    uptime_seconds: f64,
    /// Upper ends of the buckets of latencies, in seconds.
    bucket_seconds: Vec<f64>,
    /// Users who wait for a round.
    waiting: usize,
    /// Who signs.
    key: String,
    /// Manifests before the present one.
    earlier_manifests: usize,
    /// Tiles that were verified at the start, every two rows of each, as they are drawn from.
    tiles_verified: usize,
    counts: Counts,
}

/// Load, latencies, errors, rounds and keys; nothing about anybody's whereabouts.
#[utoipa::path(get, path = "/v1/page/operation", tag = "page",
    responses((status = 200, body = Operation), (status = 404, body = Refusal)))]
pub async fn operation(State(app): State<App>) -> Answered<Response> {
    if !page(&app)?.index.operation() {
        return Err(not_offered("this server shows no figures of its operation (page.operation)"));
    }
    let operation = Operation {
        uptime_seconds: app.counters.uptime().as_secs_f64(),
        bucket_seconds: BUCKETS.to_vec(),
        waiting: app.rounds.waiting(),
        key: app.catalogue.key.to_string(),
        earlier_manifests: app.catalogue.earlier.len().saturating_sub(1),
        tiles_verified: app.catalogue.tiles.tiles.len(),
        counts: app.counters.now(),
    };
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(operation)).into_response())
}
