//! Between HTTP and messages: content negotiation, limits, and refusals as answers.

use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use lrgeo_protocol::encoding::Encoding;
use lrgeo_protocol::{Reason, Refusal};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio_stream::StreamExt;

use super::compressed::reads_gzip;
use super::guard::bearer;
use crate::budget::Held;
use crate::catalogue::File;
use crate::refuse;
use crate::service::App;

/// How many seconds later it is worth asking somebody again who was too busy.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("5");
/// What is shorter than this is decoded where it was read; longer bodies, and what is made of them, where they hold up nobody.
const SHORT_BODY: usize = 16 << 10;

/// A refusal in the encoding that the client reads.
pub struct No(pub Encoding, pub Refusal);

impl IntoResponse for No {
    fn into_response(self) -> Response {
        let reason = self.1.reason;
        let status = refuse::status(reason);
        let mut response = (status, Answer(self.0, self.1)).into_response();
        if status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(header::RETRY_AFTER, RETRY_AFTER);
        }
        // For whoever counts.
        response.extensions_mut().insert(reason);
        response
    }
}

/// The largest body that this kind of request may have, where that is less than the service's limit.
#[derive(Clone, Copy)]
pub struct MostBytes(pub usize);

/// What handlers answer with.
pub type Answered<T> = Result<T, No>;

/// A message in the encoding that the client reads.
pub struct Answer<T>(pub Encoding, pub T);

impl<T: Serialize> IntoResponse for Answer<T> {
    fn into_response(self) -> Response {
        let media = HeaderValue::from_static(self.0.media_type());
        let headers = [
            (header::CONTENT_TYPE, media),
            (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        ];
        (headers, self.0.encode(&self.1)).into_response()
    }
}

/// The encoding that the client reads; never fails, so that refusals can be answered too.
pub struct Reads(pub Encoding);

impl<S: Sync> FromRequestParts<S> for Reads {
    type Rejection = No;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, No> {
        let accept = parts.headers.get(header::ACCEPT).map(|value| value.to_str().unwrap_or(""));
        match Encoding::accepted(accept) {
            Some(encoding) => Ok(Self(encoding)),
            None => {
                let message = "answers are application/json or application/cbor".to_owned();
                let reason = Reason::NotAcceptable;
                Err(No(Encoding::Json, Refusal { reason, message, field: None }))
            }
        }
    }
}

/// What a client sent, in whichever encoding it says, within the limit.
pub struct Message<T>(pub Encoding, pub T);

impl<T: DeserializeOwned + Send + 'static> FromRequest<App> for Message<T> {
    type Rejection = No;

    async fn from_request(request: Request, app: &App) -> Result<Self, No> {
        let (mut parts, body) = request.into_parts();
        let Reads(reads) = Reads::from_request_parts(&mut parts, app).await?;
        let read = async {
            let sent = parts.headers.get(header::CONTENT_TYPE);
            let encoding = sent.and_then(|sent| Encoding::of(sent.to_str().ok()?));
            let Some(encoding) = encoding else {
                let message = "send application/json or application/cbor, and say which";
                return refuse::because(Reason::UnsupportedEncoding, message);
            };
            let of_kind = parts.extensions.get().map(|MostBytes(most)| *most);
            let limit = app.limits.body_bytes.min(of_kind.unwrap_or(usize::MAX));
            let mut memory = app.bodies.share();
            let bytes = read_up_to(limit, body, &mut memory).await?;
            let long = bytes.len() > SHORT_BODY;
            let decode = move || {
                let decoded = encoding.decode(&bytes);
                drop(memory);
                decoded.or_else(|e| refuse::because(Reason::Malformed, e.to_string()))
            };
            match long {
                true => app.heavy(decode).await,
                false => decode(),
            }
        };
        match read.await {
            Ok(message) => Ok(Self(reads, message)),
            Err(refusal) => Err(No(reads, refusal)),
        }
    }
}

/// A body of no more than `limit` bytes, for which there is `memory`.
///
/// As much again as the limit is read and forgotten: a client that is still sending when the connection is closed would see
/// that, and not the answer which says why.
async fn read_up_to(limit: usize, body: Body, memory: &mut Held) -> refuse::Result<Vec<u8>> {
    let too_long = format!("the body is longer than {limit} bytes, or broke off");
    let (mut kept, mut length, mut room) = (Vec::new(), 0_usize, true);
    let mut frames = body.into_data_stream();
    while let Some(frame) = frames.next().await {
        let Ok(frame) = frame else { return refuse::too_large(too_long) };
        length = length.saturating_add(frame.len());
        room = room && (length > limit || memory.grow(frame.len()));
        if room && length <= limit {
            kept.extend_from_slice(&frame);
        } else if length > limit.saturating_mul(2) {
            return refuse::too_large(too_long);
        }
    }
    match (length <= limit, room) {
        (true, true) => Ok(kept),
        (true, false) => refuse::because(Reason::Busy, "too many bodies at once; try again later"),
        (false, _) => refuse::too_large(too_long),
    }
}

/// The query of a request.
pub struct Asked<T>(pub T);

impl<T: DeserializeOwned, S: Sync> FromRequestParts<S> for Asked<T> {
    type Rejection = No;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, No> {
        let Reads(reads) = Reads::from_request_parts(parts, state).await?;
        match Query::try_from_uri(&parts.uri) {
            Ok(Query(query)) => Ok(Self(query)),
            // What the parser says may quote a value.
            Err(_) => {
                let message = "the query misses a field, has an unknown one, or one that cannot be read; \
                               see /v1/openapi.json";
                let reason = Reason::Malformed;
                Err(No(reads, Refusal { reason, message: message.into(), field: None }))
            }
        }
    }
}

/// The bearer token of a request.
pub struct Token(pub Option<String>);

impl<S: Sync> FromRequestParts<S> for Token {
    type Rejection = No;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, No> {
        Ok(Self(bearer(&parts.headers).map(str::to_owned)))
    }
}

/// Whether a file may be packed on its way (see [`super::compressed`]).
pub enum Packing<'a> {
    /// Its length must not depend on its content.
    Never,
    /// What everybody fetches whole.
    Of(&'a App),
}

/// A public file: with its hash as ETag, and kept by caches for ever unless it may change.
pub fn file(
    file: &File,
    media: &'static str,
    packing: Packing<'_>,
    immutable: bool,
    headers: &HeaderMap,
) -> Response {
    let packed = match packing {
        Packing::Of(app) if reads_gzip(headers) => {
            app.compressed.get(file.hash, media, &file.bytes)
        }
        _ => None,
    };
    // One hash, two representations: a cache must tell them apart.
    let tags = [format!("\"{}\"", file.hash), format!("\"{}-gzip\"", file.hash)];
    let keep = match immutable {
        true => "public, max-age=31536000, immutable",
        false => "public, no-cache",
    };
    let known = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    let is_tag = |one: &str| tags.iter().any(|tag| tag == one.trim());
    let known = known.is_some_and(|known| known.split(',').any(is_tag));
    let [plain_tag, packed_tag] = tags;
    let tag = if packed.is_some() { packed_tag } else { plain_tag };
    let is_packed = packed.is_some();
    let (status, body) = match (known, packed) {
        (true, _) => (StatusCode::NOT_MODIFIED, Body::empty()),
        (false, Some(packed)) => (StatusCode::OK, Body::from(packed)),
        (false, None) => (StatusCode::OK, Body::from(file.bytes.clone())),
    };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(media)),
        (header::CACHE_CONTROL, HeaderValue::from_static(keep)),
    ];
    let mut response = (status, headers, body).into_response();
    let out = response.headers_mut();
    if !matches!(packing, Packing::Never) {
        out.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    }
    if is_packed && !known {
        out.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        out.insert(header::ETAG, tag);
    }
    response
}
