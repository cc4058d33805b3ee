//! Before every handler: who may, how often, how many at once; and bodies that are something else than they say are not unpacked.

use std::time::Duration;

use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use lrgeo_protocol::encoding::Encoding;
use lrgeo_protocol::{Reason, Refusal};

use super::message::{MostBytes, No};
use crate::access::{Admitted, Denied, Kind};
use crate::clock::now;
use crate::held_body::HeldBody;
use crate::service::App;

/// Whose token a request came with, for the log.
#[derive(Clone)]
pub struct TokenId(pub String);

/// Lets a request in, or answers it.
pub async fn guard(
    State(app): State<App>,
    matched: Option<MatchedPath>,
    mut request: Request,
    next: Next,
) -> Response {
    let kind = Kind::of(matched.as_ref().map_or("", MatchedPath::as_str));
    let headers = request.headers();
    let refused = |reason, message: String| {
        let refusal = Refusal { reason, message, field: None };
        No(reads(headers), refusal).into_response()
    };
    if let Some(coding) = headers.get(header::CONTENT_ENCODING)
        && coding.as_bytes() != b"identity"
    {
        // A kilobyte can unpack to a gigabyte.
        let message = "send the body as it is, without a Content-Encoding";
        return refused(Reason::UnsupportedEncoding, message.into());
    }
    let Admitted { token, place } = match app.access.admit(kind, bearer(headers), now()) {
        Ok(admitted) => admitted,
        Err(denied) => {
            let (reason, message) = said(denied);
            let mut response = refused(reason, message);
            let (name, value) = match denied {
                Denied::NoToken | Denied::WrongToken => (header::WWW_AUTHENTICATE, "Bearer".into()),
                Denied::NotFor(scope) => {
                    let value =
                        format!("Bearer error=\"insufficient_scope\", scope=\"{}\"", scope.name());
                    (header::WWW_AUTHENTICATE, value)
                }
                Denied::TooOften(wait) => (header::RETRY_AFTER, seconds(wait)),
                Denied::Busy => (header::RETRY_AFTER, seconds(Duration::from_secs(1))),
            };
            if let Ok(value) = HeaderValue::from_str(&value) {
                response.headers_mut().insert(name, value);
            }
            return response;
        }
    };
    if let Some(most) = app.access.most_bytes(kind) {
        request.extensions_mut().insert(MostBytes(most));
    }
    let mut response = next.run(request).await.map(|body| Body::new(HeldBody::new(body, place)));
    if let Some(token) = token {
        response.extensions_mut().insert(TokenId(token));
    }
    response
}

fn said(denied: Denied) -> (Reason, String) {
    match denied {
        Denied::NoToken => (
            Reason::Unauthorised,
            "this needs a token of the operator's; send `Authorization: Bearer <token>`".into(),
        ),
        Denied::WrongToken => {
            (Reason::Unauthorised, "the token is unknown, revoked or expired".into())
        }
        Denied::NotFor(scope) => {
            let message =
                format!("the token is not for this; it needs the scope `{}`", scope.name());
            (Reason::NotAllowed, message)
        }
        Denied::TooOften(_) => {
            (Reason::TooOften, "too many requests; wait as long as Retry-After says".into())
        }
        Denied::Busy => (Reason::Busy, "the server has too much to do; try again soon".into()),
    }
}

/// Whole seconds, never none: whoever comes back at once is turned away again.
fn seconds(wait: Duration) -> String {
    wait.as_secs_f64().ceil().max(1.0).to_string()
}

/// The encoding that the client reads, if it is one of ours.
fn reads(headers: &HeaderMap) -> Encoding {
    let accept = headers.get(header::ACCEPT).map(|value| value.to_str().unwrap_or(""));
    Encoding::accepted(accept).unwrap_or_default()
}

/// What a request was sent with as its token.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    value.strip_prefix("Bearer ")
}
