//! What is remembered of reports that no service saw: as [`crate::state::State`], and as strict.

use lrgeo_geo::Coord;
use serde::{Deserialize, Serialize};

use crate::state::{Ledger, StateError};

const FORMAT: &str = "lrgeo blur state";
const VERSION: u32 = 1;

/// The account, and every report with where it was drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlurState {
    format: String,
    version: u32,
    /// What was spent.
    pub ledger: Ledger,
    /// Oldest first.
    pub anchors: Vec<Anchor>,
}

/// A report and where it was drawn.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Anchor {
    /// Where somebody was.
    pub at: [f64; 2],
    /// Within this radius of it the report is given again.
    pub radius_km: f64,
    /// What was reported.
    pub report: [f64; 2],
    /// How far off that may be.
    pub accuracy_m: u64,
    /// Its epsilon.
    pub epsilon_per_km: f64,
    /// When it was drawn, in seconds since 1970.
    pub drawn: u64,
}

impl Default for BlurState {
    fn default() -> Self {
        let (ledger, anchors) = (Ledger::default(), Vec::new());
        Self { format: FORMAT.into(), version: VERSION, ledger, anchors }
    }
}

impl BlurState {
    /// Reads what [`BlurState::to_bytes`] wrote; `name` says where it is from, in errors.
    pub fn from_bytes(bytes: &[u8], name: &str) -> Result<Self, StateError> {
        let damaged =
            |reason: &str| StateError::Damaged { name: name.into(), reason: reason.into() };
        // What a decoder says may quote values; places are among them.
        let position = |e: serde_json::Error| damaged(&format!("line {}", e.line()));
        let state: Self = serde_json::from_slice(bytes).map_err(position)?;
        if state.format != FORMAT || state.version != VERSION {
            return Err(damaged("it is another kind of file, or of another version"));
        }
        state.ledger.validate().map_err(damaged)?;
        let on_earth = |at: [f64; 2]| Coord::new(at[0], at[1]).is_ok();
        let sound = |a: &Anchor| {
            on_earth(a.at)
                && on_earth(a.report)
                && [a.radius_km, a.epsilon_per_km].iter().all(|x| x.is_finite() && *x > 0.0)
        };
        match state.anchors.iter().all(sound) {
            true => Ok(state),
            false => Err(damaged("its reports cannot be")),
        }
    }

    /// The text to keep.
    pub fn to_bytes(&self) -> Vec<u8> {
        // Fails only on maps with odd keys and on failing writers; there are neither.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// The report that is given around here: the oldest, so that what a spot was once reported as it stays. One that told less than is allowed now does
    /// not count: whoever asks for more wants a closer one.
    pub fn around(&self, at: Coord, epsilon: f64) -> Option<Anchor> {
        let around = |anchor: &&Anchor| {
            let [lat, lon] = anchor.at;
            let from = Coord::new(lat, lon).map(|from| from.distance_km(at));
            from.is_ok_and(|km| km <= anchor.radius_km) && anchor.epsilon_per_km >= epsilon
        };
        self.anchors.iter().find(around).copied()
    }
}
