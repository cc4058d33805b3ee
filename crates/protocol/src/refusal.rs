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
    /// The server has too much to do.
    Busy,
    /// It took too long.
    TimedOut,
    /// It is the server's fault.
    Internal,
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
