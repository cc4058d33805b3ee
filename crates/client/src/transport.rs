//! How messages travel, seen from the client: two traits, by what can be said through them.

use lrgeo_protocol::offload::{Circle, Join, Joined, TableCircle, TicketState, UserMatrix};
use lrgeo_protocol::{Refusal, quiet};

/// What came back: bytes that nobody has looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The body. Messages are in CBOR.
    pub body: Vec<u8>,
    /// The operator's public key as the server says it is, with a manifest. Believed only where nothing
    /// else is known, and then told to the user.
    pub key: Option<String>,
}

/// Says what [`quiet::Request`] can say, and no more.
pub trait Quiet {
    /// Asks; an answer of more than `most_bytes` is refused before it fills the memory.
    fn ask(&self, request: &quiet::Request, most_bytes: u64) -> Result<Answer, TransportError>;
}

/// Says what the paper's protocol needs.
pub trait Offload {
    /// The circle of the cost table around v_a.
    fn circle(&self, circle: &Circle) -> Result<TableCircle, TransportError>;

    /// Uploads the coefficients of a programme.
    fn join(&self, join: &Join) -> Result<Joined, TransportError>;

    /// How far the ticket is; waits for up to `wait_seconds` while nothing happens.
    fn state(&self, ticket: &Joined, wait_seconds: u32) -> Result<TicketState, TransportError>;

    /// The matrix.
    fn matrix(&self, ticket: &Joined) -> Result<UserMatrix, TransportError>;
}

/// A server that may be waited for.
pub trait Server: Quiet {
    /// What it is called where keys are pinned: its address.
    fn name(&self) -> &str;

    /// The same server for the mode `offload`, where it can be spoken with like that.
    fn offload(&self) -> Option<&dyn Offload> {
        None
    }
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransportError {
    /// An address that cannot be used.
    #[error("server: {0}")]
    Address(String),
    /// A token that cannot be one.
    #[error(
        "token: must be one line of letters, digits and underscores, as `lrgeo token new` prints it"
    )]
    Token,
    /// Certificates of authorities that cannot be used.
    #[error("ca: {0}")]
    Authorities(String),
    /// Nobody answers there.
    #[error("the server does not answer: {0}; is the address right, and is it running?")]
    Unreachable(String),
    /// It took too long.
    #[error("the server took too long to answer; try again later")]
    TimedOut,
    /// The connection ended before the answer did.
    #[error("the answer was cut off: {0}; nothing of it was used, try again")]
    CutOff(String),
    /// More bytes than there can be.
    #[error("the answer is longer than {most_bytes} bytes; nothing of it was used")]
    TooLong {
        /// The limit.
        most_bytes: u64,
    },
    /// The server said no.
    #[error("the server refused: {} ({:?})", .0.message, .0.reason)]
    Refused(Refusal),
    /// The server said something that is not part of the protocol.
    #[error(
        "the server answered with status {status}, which this client does not know; is it an lrgeo server?"
    )]
    Status {
        /// The HTTP status.
        status: u16,
    },
    /// A message that is not the expected one.
    #[error("the answer is not what was asked for: {0}")]
    Malformed(#[from] lrgeo_protocol::encoding::Malformed),
}

impl TransportError {
    /// Whether the same request may succeed a little later.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Unreachable(_) | Self::TimedOut | Self::CutOff(_))
    }
}
