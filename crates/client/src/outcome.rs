//! What a report came to, for the person who made it.

use std::pin::Pin;

use lrgeo_geo::{Digest, PlaceId};
use lrgeo_protocol::public::Target;
use lrgeo_tiles::{Distribution, PublicKey, posterior_radius_km};

use crate::Mode;
use crate::session::Common;
use crate::state::Balance;
use crate::tiles::Chosen;

/// A report that was sent.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Outcome {
    /// How it was made, or would have been made had it not been remembered.
    pub mode: Mode,
    /// The number of the reported place.
    pub report: PlaceId,
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
    /// How far from where it was drawn it is reported again.
    pub reused_within_km: f64,
    /// What is left to spend.
    pub balance: Balance,
    /// How far off it may be; `None` for a report of an earlier lrgeo, which did not keep that.
    pub accuracy: Option<Accuracy>,
    /// By how much more than the promise between places two people may be told apart who are anywhere around theirs.
    pub off_grid_factor: f64,
    /// What was checked here before it was drawn from; `None` if it was remembered.
    pub compared: Option<Compared>,
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

/// The radius around a report that holds the true position with a probability of 95 %. It follows from this report and from what
/// the server knows anyway, never from the true place, which it would otherwise betray: so it may be passed on with the report.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Accuracy {
    /// The radius.
    pub metres: u64,
    /// What it was worked out from.
    pub meaning: &'static str,
}

impl Accuracy {
    /// A radius in a mode.
    pub(crate) fn new(km: f64, mode: Mode) -> Self {
        let meaning = match mode {
            Mode::Coordinates => {
                "holds the true position with 95 %, given this report, the noise and the prior of the map"
            }
            Mode::Published => {
                "holds the true position with 95 %, given this report, the rows that were fetched and the prior of the map"
            }
            Mode::Local => {
                "holds the true position with 95 %, given this report, the public y, the costs around it and the prior of the map"
            }
            Mode::Offload => {
                "the range of the rounds, beyond which hardly anything is reported; the matrix itself is not public and says nothing here"
            }
        };
        Self { metres: (1000.0 * km).ceil() as u64, meaning }
    }

    /// Of a report that is so likely from each place. Half the diagonal of a cell more, since people stand anywhere in it.
    pub(crate) fn given(common: &Common, likelihood: &[f64], report: PlaceId, mode: Mode) -> Self {
        let (coords, prior) = (common.places.coords(), common.places.prior());
        let km = posterior_radius_km(coords, prior, likelihood, report);
        Self::new(km + common.ground.half_cell_km(), mode)
    }
}

/// Seconds, by step.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[non_exhaustive]
pub struct Times {
    /// Fetching and checking what everybody gets.
    pub opening: f64,
    /// From there to a drawn report: tile, slice or round, solving, checking.
    pub preparing: f64,
    /// Reporting, and asking for targets.
    pub sending: f64,
}

/// How far off a report may be, which may have to be asked for; `None` where that cannot be worked out.
pub type AccuracyOf<'a> =
    Box<dyn FnOnce(PlaceId) -> Pin<Box<dyn Future<Output = Option<Accuracy>> + 'a>> + 'a>;

/// A row to draw from, and what is known about it.
pub struct Row<'a> {
    /// The row over all places.
    pub values: Distribution,
    /// The epsilon that was measured, in 1/km.
    pub epsilon_per_km: f64,
    /// How many rows were compared with each other.
    pub compared: usize,
    /// What the server learnt on the way.
    pub learnt: Learnt,
    /// How far off each report that may be drawn is.
    pub accuracy: AccuracyOf<'a>,
}

/// Which rows a client has compared with each other, every two of them: what was not compared rests on the operator's
/// word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Compared {
    /// How many.
    pub places: usize,
    /// How many there are.
    pub of: usize,
    /// Whether it was proven for every two coordinates, so that nothing had to be compared.
    pub coordinates: bool,
}

impl std::fmt::Display for Compared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { places, of, coordinates } = self;
        if *coordinates {
            return write!(f, "proven here for every two coordinates of the map");
        }
        match places == of {
            true => write!(f, "every two of the {of} places of the map, here"),
            false => write!(
                f,
                "every two of {places} places, here; for the other {} of the map the operator's word",
                of - places
            ),
        }
    }
}

/// What the server learnt besides the report.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Learnt {
    /// Nothing: the report was remembered, and only public files were fetched that everybody fetches.
    Nothing,
    /// The report alone: whatever else was fetched is one file that everybody fetches.
    Report,
    /// Which tiles were fetched, the own one among them.
    Tiles {
        /// How many.
        fetched: u32,
        /// How many there are.
        of: u32,
        /// How many places they have.
        places: u32,
        /// How many equally likely places would hide as well, counted here.
        likely_places: f64,
    },
    /// The coefficients of a programme.
    Coefficients {
        /// How many relevant places.
        relevant: u32,
        /// How many users were in the round.
        users: u32,
    },
}

impl Learnt {
    /// From the tiles that were chosen.
    pub(crate) fn of_tiles(chosen: Chosen) -> Self {
        Self::Tiles {
            fetched: chosen.tiles.len() as u32,
            of: chosen.of as u32,
            places: chosen.places as u32,
            likely_places: chosen.likely_places,
        }
    }
}

impl std::fmt::Display for Learnt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Nothing => f.write_str(
                "the report, which it knew already, and that you are back; no tile was asked for",
            ),
            Self::Report => {
                f.write_str("the report, and nothing else: everybody fetches the same files")
            }
            Self::Tiles { fetched, of, .. } if fetched == of => {
                f.write_str("the report; all tiles were fetched, which tells nothing")
            }
            Self::Tiles { fetched, of, places, likely_places } => write!(
                f,
                "the report, and that you are in one of {fetched} tiles of {of}: at one of {places} places \
                 (as good as {likely_places:.0} equally likely ones)"
            ),
            Self::Coefficients { relevant, users } => write!(
                f,
                "the report, distances and costs of {relevant} relevant places, and your reportable places: \
                 from these it can work out where you are, nearly always (round of {users})"
            ),
        }
    }
}
