//! One line per request and a name to find it by: which kind, what came of it, how long it took. The path as such is not logged, nor the
//! query: they hold tickets and reported places.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderName, HeaderValue, Method};
use axum::middleware::Next;
use axum::response::Response;
use lrgeo_protocol::Reason;

use super::guard::TokenId;
use crate::service::App;

/// The header with the name of a request, both ways.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Names, logs and counts a request.
pub async fn observe(
    State(app): State<App>,
    matched: Option<MatchedPath>,
    request: Request,
    next: Next,
) -> Response {
    let begun = Instant::now();
    let method = request.method().clone();
    let id = request.headers().get(REQUEST_ID).filter(|id| is_plain(id)).cloned();
    let id = id.unwrap_or_else(new_id);
    let mut response = next.run(request).await;
    let route = matched.as_ref().map_or("unknown", MatchedPath::as_str);
    let (status, took) = (response.status().as_u16(), begun.elapsed());
    // A method that is none of HTTP's own is what somebody made up: not a name to remember.
    let known = [Method::GET, Method::POST, Method::HEAD, Method::OPTIONS].contains(&method);
    let method = if known { method.as_str() } else { "other" };
    let reason = response.extensions().get::<Reason>().copied();
    app.counters.request(&format!("{method} {route}"), status, took);
    if let Some(reason) = reason {
        app.counters.refusal(reason.name());
    }
    let token = response.extensions().get::<TokenId>().map(|TokenId(id)| id.as_str());
    let milliseconds = took.as_secs_f64() * 1e3;
    let (id_text, reason) = (id.to_str().unwrap_or_default(), reason.map(Reason::name));
    tracing::info!(id = id_text, method, route, status, reason, token, milliseconds, "request");
    response.headers_mut().insert(REQUEST_ID, id);
    response
}

/// A name that somebody else gave is used if it is one: short, and of letters that can do no harm in a log. No dot, so that nobody's
/// coordinates stand in it by mistake.
fn is_plain(id: &HeaderValue) -> bool {
    let plain = |c: &u8| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_');
    (1..=64).contains(&id.len()) && id.as_bytes().iter().all(plain)
}

/// Of this process and no other: a random beginning and a number.
fn new_id() -> HeaderValue {
    static BEGINNING: LazyLock<String> = LazyLock::new(|| {
        let mut random = [0; 6];
        // Names without randomness are still different within the process.
        let _ = getrandom::fill(&mut random);
        lrgeo_geo::to_hex(&random)
    });
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let id = format!("{}-{number:x}", *BEGINNING);
    HeaderValue::from_str(&id).unwrap_or_else(|_| HeaderValue::from_static("unnamed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_from_outside_are_taken_if_they_are_harmless() {
        let is = |text: &[u8]| is_plain(&HeaderValue::from_bytes(text).unwrap());
        assert!(is(b"4bf92f3577b34da6a3ce929d0e0e4736") && is(b"req_1-A"));
        for bad in
            [&b""[..], b"46.003_-30.002", b"a b", b"a\tb", b"\"x\"", "é".as_bytes(), &[b'a'; 65]]
        {
            assert!(!is(bad), "{bad:?}");
        }
        assert_ne!(new_id(), new_id());
    }
}
