//! Saying no: short ways to a [`Refusal`], each with the status it is sent with.

use axum::http::StatusCode;
use lrgeo_geo::Digest;
use lrgeo_protocol::{Reason, Refusal};

/// What handlers return.
pub type Result<T> = std::result::Result<T, Refusal>;

/// A refusal.
pub fn because<T>(reason: Reason, message: impl Into<String>) -> Result<T> {
    Err(Refusal { reason, message: message.into(), field: None })
}

/// A field that cannot be used.
pub fn field<T>(field: &str, message: impl Into<String>) -> Result<T> {
    let field = Some(field.to_owned());
    Err(Refusal { reason: Reason::InvalidField, message: message.into(), field })
}

/// Too much.
pub fn too_large<T>(message: impl Into<String>) -> Result<T> {
    because(Reason::TooLarge, message)
}

/// A message for another version of the map.
pub fn other_map(given: Digest, ours: Digest) -> Result<()> {
    if given == ours {
        return Ok(());
    }
    let message = "is for another version of the map; get the description again";
    let field = Some("map".to_owned());
    Err(Refusal { reason: Reason::OtherMap, message: message.into(), field })
}

/// The server's fault; the log says which.
pub fn failed() -> Refusal {
    let message = "the server failed; it goes on".to_owned();
    Refusal { reason: Reason::Internal, message, field: None }
}

/// The status that a refusal is sent with.
pub fn status(reason: Reason) -> StatusCode {
    match reason {
        Reason::NotFound | Reason::UnknownTicket => StatusCode::NOT_FOUND,
        Reason::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
        Reason::Malformed => StatusCode::BAD_REQUEST,
        Reason::InvalidField | Reason::Infeasible => StatusCode::UNPROCESSABLE_ENTITY,
        Reason::UnsupportedEncoding => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        Reason::NotAcceptable => StatusCode::NOT_ACCEPTABLE,
        Reason::OtherMap | Reason::OtherProtocol | Reason::NotReady => StatusCode::CONFLICT,
        Reason::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Reason::NotYourTicket => StatusCode::FORBIDDEN,
        Reason::Expired => StatusCode::GONE,
        Reason::NotOffered => StatusCode::NOT_FOUND,
        Reason::Unauthorised => StatusCode::UNAUTHORIZED,
        Reason::NotAllowed => StatusCode::FORBIDDEN,
        Reason::TooOften => StatusCode::TOO_MANY_REQUESTS,
        Reason::Busy => StatusCode::SERVICE_UNAVAILABLE,
        Reason::TimedOut => StatusCode::REQUEST_TIMEOUT,
        Reason::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}
