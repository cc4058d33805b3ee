//! Why there is no report.

use lrgeo_geo::{BoundingBox, Digest};
use lrgeo_protocol::Refusal;
use lrgeo_tiles::{DrawError, PublicKey, TileError};

use crate::Mode;
use crate::policy::Refused;
use crate::state::{Fork, LedgerError, StateError};
use crate::transport::TransportError;

/// Why nothing was reported. No variant carries where the user is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// No answer, or a refusal.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// The server sent something that is not true.
    #[error("the server cannot be trusted: {0}. Nothing was reported")]
    Lie(#[from] Lie),
    /// A way to go that the server's city does not have, or shares that are none.
    #[error("how you go is not known here: the ways are {known}. Nothing was reported")]
    UnknownWay {
        /// What there is.
        known: String,
    },
    /// What the server offers is not what the owner accepts.
    #[error("{0}. Nothing was reported")]
    Policy(#[from] Refused),
    /// Nobody knows whose server this is.
    #[error(
        "the server does not say which key its operator signs with; ask the operator, and give it as `key`"
    )]
    NoKey,
    /// The user is not near any place.
    #[error(
        "you are off this server's map ({bounds}): it has no place within {reach_km:.2} km of you, and promises nothing \
         farther away. Nothing was reported"
    )]
    OffTheMap {
        /// How far places were looked for.
        reach_km: f64,
        /// The box around all places of the map.
        bounds: BoundingBox,
    },
    /// The server does not have this mode.
    #[error(
        "this server does not offer the mode `{mode}` ({reason}); use the mode `{}`",
        if *mode == Mode::Coordinates { Mode::Published } else { Mode::Coordinates }
    )]
    NotOffered {
        /// The mode.
        mode: Mode,
        /// Why not.
        reason: &'static str,
    },
    /// What `offload` discloses has not been acknowledged.
    #[error(
        "mode `offload` tells the server where you are, nearly always (docs/what-the-server-learns.md); \
             if you want that, say so (`offload_understood`). Nothing was uploaded"
    )]
    NotUnderstood,
    /// The round gave no matrix.
    #[error("the round failed: {}; try again, or use another mode", .0.message)]
    RoundFailed(Refusal),
    /// The round did not end in time.
    #[error("the round did not end within {seconds:.0} s; try again, or use another mode")]
    RoundTooSlow {
        /// How long was waited.
        seconds: f64,
    },
    /// Nothing may be spent.
    #[error("{0}. Nothing was reported")]
    Ledger(#[from] LedgerError),
    /// The state cannot be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// The row is none, or there is no randomness.
    #[error(transparent)]
    Draw(#[from] DrawError),
    /// The programme has no solution.
    #[cfg(feature = "local")]
    #[error(transparent)]
    Mechanism(#[from] lrgeo_mechanism::MechanismError),
    /// A mode that was left out of this client, or that its transport cannot speak.
    #[error("the mode `{mode}` is not part of this client")]
    NotHere {
        /// The mode.
        mode: Mode,
    },
    /// Asked for a step after the last one.
    #[error("this report is over; begin another")]
    Over,
}

/// A server that was caught: what it sent, and what that had to be. Each one is a reason not to believe anything else, and there is no other
/// way to say so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {offered}; expected {expected}")]
#[non_exhaustive]
pub struct Lie {
    /// In what kind of thing, for programs.
    pub caught: Caught,
    /// The message or file that it stands in.
    pub what: &'static str,
    /// What the server says.
    pub offered: String,
    /// What it had to say.
    pub expected: String,
}

/// What a server was caught in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Caught {
    /// Not the operator's signature.
    Signature,
    /// Another key than the one that was pinned, or none.
    Key,
    /// Two manifests under one number: not everybody is shown the same.
    Fork,
    /// Older than what is known, not good any longer, or from the future.
    Time,
    /// For another version of the map, or of the format.
    Version,
    /// Not the bytes that were signed for.
    Bytes,
    /// It does not say what it must.
    Content,
    /// Rows that do not keep the promise.
    Privacy,
}

impl Lie {
    /// Says what was offered instead of what.
    pub(crate) fn new(
        caught: Caught,
        what: &'static str,
        offered: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        Self { caught, what, offered: offered.into(), expected: expected.into() }
    }

    /// A field that does not say what it must, for the reason given.
    pub(crate) fn nonsense(
        what: &'static str,
        field: &'static str,
        reason: impl std::fmt::Display,
    ) -> Self {
        let expected = "what docs/client.md says is checked";
        Self::new(Caught::Content, what, format!("{field} {reason}"), expected)
    }

    /// Something that is for another version of the map.
    pub(crate) fn other_map(what: &'static str, offered: Digest, expected: Digest) -> Self {
        let offered = format!("is for another version of the map, {offered}");
        Self::new(Caught::Version, what, offered, expected)
    }

    /// Bytes that are not those that were signed for.
    pub(crate) fn other_bytes(what: &'static str, offered: Digest, expected: Digest) -> Self {
        let offered = format!("is not the one that the operator signed for: its hash is {offered}");
        Self::new(Caught::Bytes, what, offered, expected)
    }

    /// Rows that do not keep the promise.
    pub(crate) fn not_private(what: &'static str, worst_log_excess: f64) -> Self {
        let offered =
            format!("its rows exceed the guarantee by a log-ratio of {worst_log_excess:.3e}");
        Self::new(Caught::Privacy, what, offered, "none above zero")
    }

    /// Another key than the one that was pinned.
    pub(crate) fn other_key(offered: PublicKey, pinned: PublicKey) -> Self {
        let offered = format!(
            "{offered}, which the key known before does not vouch for: another operator, or somebody in between"
        );
        Self::new(Caught::Key, "key", offered, pinned)
    }

    /// Two manifests that the operator signed under one number.
    pub(crate) fn forked(Fork { sequence, known, other }: Fork) -> Self {
        let offered = format!(
            "the operator signed two different ones as number {sequence}, now {other}: not everybody is shown the same"
        );
        let expected = format!(
            "{known} (keep both names as evidence; nothing of this server is believed any longer)"
        );
        Self::new(Caught::Fork, "manifest", offered, expected)
    }
}

impl From<TileError> for Lie {
    fn from(error: TileError) -> Self {
        match error {
            TileError::Signature => {
                let offered = "was not signed with this key; nothing in it is believed";
                Self::new(Caught::Signature, "manifest", offered, "the operator's signature")
            }
            TileError::OtherFormat { file, found, reads } => {
                let expected =
                    format!("{reads}: it must be published again by an lrgeo like this one");
                Self::new(Caught::Version, file, format!("has format version {found}"), expected)
            }
            TileError::OtherMap { file, made_for, wanted } => {
                Self::new(Caught::Version, file, format!("made for map version {made_for}"), wanted)
            }
            TileError::Older { issued, known } => {
                let expected = format!("none before the one of {known} that is known already");
                Self::new(Caught::Time, "manifest", format!("issued {issued}"), expected)
            }
            TileError::HashMismatch { file, expected, found } => {
                Self::new(Caught::Bytes, file, format!("its hash is {found}"), expected)
            }
            TileError::Truncated { file, expected, found } => {
                let offered = format!("cut off after {found} bytes");
                Self::new(Caught::Bytes, file, offered, format!("{expected} bytes"))
            }
            TileError::Malformed { file, field, reason } => Self::nonsense(file, field, reason),
            TileError::NotPrivate { worst_log_excess } => {
                Self::not_private("tile", worst_log_excess)
            }
            TileError::Key(reason) => {
                Self::new(Caught::Key, "key", reason, "the operator's public key")
            }
            other => Self::nonsense("tile", "file", other),
        }
    }
}

impl From<TileError> for ClientError {
    fn from(error: TileError) -> Self {
        Lie::from(error).into()
    }
}
