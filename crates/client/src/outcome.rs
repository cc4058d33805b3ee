//! What a report came to, for the person who made it.

use lrgeo_mechanism::publish::PublicKey;
use lrgeo_protocol::Digest;
use lrgeo_protocol::public::Target;

use crate::Mode;
use crate::state::Balance;

/// A report that was sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// How it was made, or would have been made had it not been remembered.
    pub mode: Mode,
    /// The number of the reported place.
    pub report: u32,
    /// Its latitude and longitude.
    pub at: [f64; 2],
    /// The version of the map.
    pub map: Digest,
    /// When it was drawn, in seconds since 1970, if it was drawn before.
    pub remembered: Option<u64>,
    /// Its epsilon, in 1/km.
    pub epsilon_per_km: f64,
    /// What it cost just now: nothing if it was remembered.
    pub spent_per_km: f64,
    /// What is left to spend.
    pub balance: Balance,
    /// How far off reports are.
    pub accuracy: Accuracy,
    /// What the server learnt from this.
    pub learnt: Learnt,
    /// The operator's key, and whether it was believed without knowing it before.
    pub operator: PublicKey,
    /// Whether this was the first use of the server, with nothing to compare the key with.
    pub first_use: bool,
    /// How many reports of this map the service says it has had.
    pub reports: u64,
    /// The nearest targets by the service's estimate.
    pub targets: Vec<Target>,
    /// How long it took.
    pub times: Times,
}

/// How far off reports are, from public numbers only: it is the same for every place, so it may be passed on.
#[derive(Clone, Debug, PartialEq)]
pub struct Accuracy {
    /// A radius around the report.
    pub metres: u64,
    /// What the radius is.
    pub meaning: String,
}

/// Seconds, by step.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Times {
    /// Fetching and checking what everybody gets.
    pub opening: f64,
    /// From there to a drawn report: tile, slice or round, solving, checking.
    pub preparing: f64,
    /// Reporting, and asking for targets.
    pub sending: f64,
}

/// What the server learnt besides the report.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Learnt {
    /// Nothing: the report was remembered, and only public files were fetched that everybody fetches.
    Nothing,
    /// Which tile was fetched.
    Tile {
        /// How many places it has.
        places: u32,
        /// How many equally likely places would hide as well.
        effective_places: f64,
    },
    /// The coefficients of a programme.
    Coefficients {
        /// How many relevant places.
        relevant: u32,
        /// How many users were in the round.
        users: u32,
    },
}

impl std::fmt::Display for Learnt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Nothing => f.write_str(
                "the report, which it knew already, and that you are back; no tile was asked for",
            ),
            Self::Tile { places, effective_places } => write!(
                f,
                "the report, and that you are at one of the {places} places of a public tile \
                 (as good as {effective_places:.0} equally likely ones)"
            ),
            Self::Coefficients { relevant, users } => write!(
                f,
                "the report, distances and costs of {relevant} relevant places, and your reportable places: \
                 from these it can work out where you are, nearly always (round of {users})"
            ),
        }
    }
}
