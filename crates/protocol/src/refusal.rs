//! Why the server did not do what it was asked to.

use serde::{Deserialize, Serialize};

/// What a program can tell refusals apart by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// There is nothing under this path.
    NotFound,
    /// The path takes another method.
    MethodNotAllowed,
    /// The body is not the expected message.
    Malformed,
    /// A field of the message cannot be used.
    InvalidField,
    /// The body is neither JSON nor CBOR.
    UnsupportedEncoding,
    /// The answer is wanted in neither JSON nor CBOR.
    NotAcceptable,
    /// The message is for another version of the map.
    OtherMap,
    /// The message is of another version of the protocol.
    OtherProtocol,
    /// The request, or the answer to it, would be too large.
    TooLarge,
    /// No such ticket.
    UnknownTicket,
    /// The token does not belong to this ticket.
    NotYourTicket,
    /// The result was there and is not kept any longer.
    Expired,
    /// There is no result yet.
    NotReady,
    /// No matrix satisfies what was uploaded.
    Infeasible,
    /// The server does not offer this mode.
    NotOffered,
    /// This needs an API token, and none that is known was sent.
    Unauthorised,
    /// The API token may not do this.
    NotAllowed,
    /// Too many requests of this kind in too short a time; `Retry-After` says when to come back.
    TooOften,
    /// The server has too much to do; `Retry-After` says when to come back.
    Busy,
    /// It took too long.
    TimedOut,
    /// It is the server's fault.
    Internal,
}

impl Reason {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::MethodNotAllowed => "method_not_allowed",
            Self::Malformed => "malformed",
            Self::InvalidField => "invalid_field",
            Self::UnsupportedEncoding => "unsupported_encoding",
            Self::NotAcceptable => "not_acceptable",
            Self::OtherMap => "other_map",
            Self::OtherProtocol => "other_protocol",
            Self::TooLarge => "too_large",
            Self::UnknownTicket => "unknown_ticket",
            Self::NotYourTicket => "not_your_ticket",
            Self::Expired => "expired",
            Self::NotReady => "not_ready",
            Self::Infeasible => "infeasible",
            Self::NotOffered => "not_offered",
            Self::Unauthorised => "unauthorised",
            Self::NotAllowed => "not_allowed",
            Self::TooOften => "too_often",
            Self::Busy => "busy",
            Self::TimedOut => "timed_out",
            Self::Internal => "internal",
        }
    }
}

/// The body of every answer that is not a success. Says nothing about a place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Refusal {
    /// For programs.
    pub reason: Reason,
    /// For people: what is wrong and what to do.
    pub message: String,
    /// The field at fault, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
}
