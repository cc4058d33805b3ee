//! Why there is no report.

use lrgeo_protocol::{Digest, Refusal};
use lrgeo_tiles::{DrawError, Issued, TileError};

use crate::Mode;
use crate::policy::Refused;
use crate::state::{LedgerError, StateError};
use crate::transport::TransportError;

/// Why nothing was reported. No variant carries where the user is.
#[derive(Debug, thiserror::Error)]
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
        "the server does not say which key its operator signs with; ask the operator and give it with --key"
    )]
    NoKey,
    /// Another key than the one that was pinned.
    #[error(
        "{server} was known with the key {pinned} and now has {offered}, which the old key does not vouch for: another operator, or \
         somebody in between. Nothing was reported. If the operator announced it elsewhere: `lrgeo client reset --servers`"
    )]
    KeyChanged {
        /// The server.
        server: String,
        /// The key known before.
        pinned: String,
        /// The key now.
        offered: String,
    },
    /// The user is not near any place.
    #[error(
        "you are off this server's map: it has no place within {reach_km:.2} km of you, and promises nothing farther away. \
         Nothing was reported"
    )]
    OffTheMap {
        /// How far places were looked for.
        reach_km: f64,
    },
    /// The server does not have this mode.
    #[error(
        "this server does not offer the mode `{mode}` ({reason}); use --mode {}",
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
             if you want that, add --i-understand. Nothing was uploaded"
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

/// Something that a server sent and that is not true. Each one is a reason not to believe anything else.
#[derive(Debug, thiserror::Error)]
pub enum Lie {
    /// Manifest, list of places or tile.
    #[error(transparent)]
    Tiles(#[from] TileError),
    /// Not the operator's signature.
    #[error("{what}: was not signed with the operator's key")]
    Signature {
        /// What was to be signed.
        what: &'static str,
    },
    /// Two manifests under one number.
    #[error(
        "manifest: the operator signed two different ones as number {sequence}, {known} and {other}: not everybody is shown the \
         same. Keep both names as evidence; nothing of this server is believed until `lrgeo client reset --servers`"
    )]
    Forked {
        /// The number.
        sequence: u64,
        /// The one that is known.
        known: Digest,
        /// The other one, or the one that follows another one.
        other: Digest,
    },
    /// It was good until then.
    #[error("manifest: expired {expires}; the operator has to sign a new one")]
    Expired {
        /// When.
        expires: Issued,
    },
    /// Signed at a time that has not come.
    #[error("manifest: issued {issued}, which is in the future; one of the two clocks is wrong")]
    FromTheFuture {
        /// When.
        issued: Issued,
    },
    /// For another version of the map.
    #[error("{what}: is for another version of the map")]
    OtherMap {
        /// What is for another one.
        what: &'static str,
    },
    /// Not the bytes that were signed for.
    #[error("{what}: is not the one that the operator signed for")]
    OtherBytes {
        /// What was exchanged.
        what: &'static str,
    },
    /// It does not say what it must.
    #[error("{what}: {field} {reason}")]
    Nonsense {
        /// What it stands in.
        what: &'static str,
        /// The field at fault.
        field: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// A matrix whose rows are not private.
    #[error("{what}: its rows exceed the guarantee by a log-ratio of {worst_log_excess:.3e}")]
    NotPrivate {
        /// Which matrix.
        what: &'static str,
        /// By how much.
        worst_log_excess: f64,
    },
}

impl Lie {
    /// A [`Lie::Nonsense`].
    pub(crate) fn nonsense(what: &'static str, field: &'static str, reason: impl ToString) -> Self {
        Self::Nonsense { what, field, reason: reason.to_string() }
    }
}

impl From<TileError> for ClientError {
    fn from(error: TileError) -> Self {
        Lie::Tiles(error).into()
    }
}
