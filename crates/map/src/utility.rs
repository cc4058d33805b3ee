//! What a report costs the service: the plug-in behind every mechanism (`docs/specification.md` section 2).

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use lrgeo_geo::{Coord, PlaceId};

use crate::MapError;
use crate::graph::Metric;
use crate::map::Map;
use crate::progress::Progress;
use crate::travel::TravelMatrix;

/// The loss of reporting place `k` while being at place `i`; the prior is not in it.
///
/// Another application of the engine is another implementation of this trait.
pub trait Utility: Send + Sync {
    /// How many places it knows.
    fn places(&self) -> usize;
    /// The unit of the losses, for people.
    fn unit(&self) -> &'static str;
    /// The losses of `rows` x `columns`, row-major: finite, not negative.
    fn losses(&self, rows: &[PlaceId], columns: &[PlaceId]) -> Vec<f64>;

    /// No loss is larger than this: a public constant.
    fn ceiling(&self) -> f64;

    /// The loss of one pair.
    fn loss(&self, row: PlaceId, column: PlaceId) -> f64 {
        self.losses(&[row], &[column])[0]
    }

    /// How far each place is from every target, where the losses are errors in that.
    fn travel(&self) -> Option<&TravelMatrix> {
        None
    }

    /// The losses of all pairs.
    fn all(&self) -> Vec<f64> {
        let places: Vec<PlaceId> = PlaceId::all(self.places()).collect();
        self.losses(&places, &places)
    }
}

/// The losses that come with the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum UtilityKind {
    /// Error in travel distance, in kilometres (Eq. 3-5).
    #[default]
    TravelDistance,
    /// Error in travel time, in minutes.
    TravelTime,
    /// Straight-line distance between the real and the reported place, in kilometres.
    StraightLine,
}

impl UtilityKind {
    /// All of them, with the names used in options.
    pub const ALL: [(UtilityKind, &'static str); 3] = [
        (UtilityKind::TravelDistance, "travel-distance"),
        (UtilityKind::TravelTime, "travel-time"),
        (UtilityKind::StraightLine, "straight-line"),
    ];

    /// Measures the losses on a map.
    pub fn of(self, map: &Map, progress: &dyn Progress) -> Result<Box<dyn Utility>, MapError> {
        Ok(match self {
            UtilityKind::TravelDistance => {
                Box::new(TravelMatrix::of_places(map, Metric::Distance, progress)?)
            }
            UtilityKind::TravelTime => {
                Box::new(TravelMatrix::of_places(map, Metric::Time, progress)?)
            }
            UtilityKind::StraightLine => Box::new(StraightLine::new(map.coords())),
        })
    }
}

/// Where losses come from, as options and settings name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UtilitySource {
    /// Measured on the map.
    Measured(UtilityKind),
    /// Read from a file (see [`crate::import::read_losses`]).
    File(PathBuf),
}

impl Default for UtilitySource {
    fn default() -> Self {
        Self::Measured(UtilityKind::default())
    }
}

impl FromStr for UtilitySource {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match UtilityKind::ALL.iter().find(|(_, name)| *name == text) {
            Some((kind, _)) => Ok(Self::Measured(*kind)),
            None if text.contains('.') => Ok(Self::File(text.into())),
            None => {
                Err("must be travel-distance, travel-time, straight-line, or a .npy or .csv file"
                    .into())
            }
        }
    }
}

/// Error in what the service believes the way to a target to be.
impl Utility for TravelMatrix {
    fn places(&self) -> usize {
        self.rows()
    }

    fn unit(&self) -> &'static str {
        match self.metric() {
            Metric::Distance => "km",
            Metric::Time => "min",
        }
    }

    fn losses(&self, rows: &[PlaceId], columns: &[PlaceId]) -> Vec<f64> {
        // Its origins are the places.
        let origins =
            |places: &[PlaceId]| -> Vec<u32> { places.iter().map(|v| v.number()).collect() };
        self.beta(&origins(rows), &origins(columns))
    }

    fn ceiling(&self) -> f64 {
        self.largest_beta()
    }

    fn travel(&self) -> Option<&TravelMatrix> {
        Some(self)
    }
}

/// The distance between the real and the reported place.
#[derive(Clone, Debug)]
pub struct StraightLine {
    coords: Vec<Coord>,
}

impl StraightLine {
    /// Between these.
    pub fn new(coords: Vec<Coord>) -> Self {
        Self { coords }
    }
}

impl Utility for StraightLine {
    fn places(&self) -> usize {
        self.coords.len()
    }

    fn unit(&self) -> &'static str {
        "km"
    }

    fn losses(&self, rows: &[PlaceId], columns: &[PlaceId]) -> Vec<f64> {
        let at = |i: PlaceId| self.coords[i.index()];
        rows.iter().flat_map(|&i| columns.iter().map(move |&k| at(i).distance_km(at(k)))).collect()
    }

    /// Twice the distance from any one place to the farthest, by the triangle inequality.
    fn ceiling(&self) -> f64 {
        let Some(&first) = self.coords.first() else { return 0.0 };
        2.0 * self.coords.iter().map(|c| c.distance_km(first)).fold(0.0, f64::max)
    }
}

/// People who go different ways: of each place a share of every loss. A person who switches between them is one too.
///
/// A mixture of losses is a loss: expectations are linear. So whatever holds for one holds for a mixture.
pub struct Mixture {
    parts: Vec<(Arc<dyn Utility>, Vec<f64>)>,
    unit: &'static str,
}

/// The unit of losses that do not say theirs.
const UNITLESS: &str = "loss";

/// How far shares may be from summing to one: decimal fractions in a file.
const SHARES_ERROR: f64 = 1e-6;

impl Mixture {
    /// Losses with the share that each has at every place; shares of a place sum to one. All losses have one unit, or
    /// their sum would mean nothing; those from a file are taken to have that of the others.
    pub fn new(parts: Vec<(Arc<dyn Utility>, Vec<f64>)>) -> Result<Self, MapError> {
        let Some((first, _)) = parts.first() else {
            return Err(MapError::invalid("ways", "a mixture needs at least one"));
        };
        let places = first.places();
        let mut measured = parts.iter().map(|(u, _)| u.unit()).filter(|unit| *unit != UNITLESS);
        let unit = measured.next().unwrap_or(UNITLESS);
        if let Some(other) = measured.find(|other| *other != unit) {
            let reason = format!("are in {unit} and in {other}; measure all of them in one");
            return Err(MapError::invalid("ways", reason));
        }
        let sizes = |(u, shares): &(Arc<dyn Utility>, Vec<f64>)| [u.places(), shares.len()];
        if parts.iter().flat_map(sizes).any(|n| n != places) {
            return Err(MapError::invalid("ways", "are for different numbers of places"));
        }
        for place in 0..places {
            let shares = || parts.iter().map(|(_, shares)| shares[place]);
            let sum: f64 = shares().sum();
            let sound = shares().all(|s| s >= 0.0) && (sum - 1.0).abs() <= SHARES_ERROR;
            if !sound {
                let reason = format!("those of place {place} are negative or do not sum to one");
                return Err(MapError::invalid("shares", reason));
            }
        }
        Ok(Self { parts, unit })
    }
}

impl Utility for Mixture {
    fn places(&self) -> usize {
        self.parts[0].0.places()
    }

    fn unit(&self) -> &'static str {
        self.unit
    }

    fn losses(&self, rows: &[PlaceId], columns: &[PlaceId]) -> Vec<f64> {
        let mut sum = vec![0.0; rows.len() * columns.len()];
        for (utility, shares) in &self.parts {
            let losses = utility.losses(rows, columns);
            let lines = sum.chunks_exact_mut(columns.len().max(1));
            for ((&i, line), row) in rows.iter().zip(lines).zip(losses.chunks(columns.len().max(1)))
            {
                let share = shares[i.index()];
                line.iter_mut().zip(row).for_each(|(sum, loss)| *sum += share * loss);
            }
        }
        sum
    }

    fn ceiling(&self) -> f64 {
        self.parts.iter().map(|(utility, _)| utility.ceiling()).fold(0.0, f64::max)
    }
}

/// Losses from a file (see [`crate::import::read_losses`]).
#[derive(Clone, Debug, PartialEq)]
pub struct LossMatrix {
    places: usize,
    values: Vec<f64>,
}

impl LossMatrix {
    /// From row-major losses of `places` x `places`.
    pub fn new(places: usize, values: Vec<f64>) -> Result<Self, MapError> {
        if values.len() != places * places {
            let reason =
                format!("has {} numbers, {places} places need {}", values.len(), places * places);
            return Err(MapError::invalid("losses", reason));
        }
        if let Some(at) = values.iter().position(|v| !v.is_finite() || *v < 0.0) {
            let reason =
                format!("[{}][{}] must be finite and not negative", at / places, at % places);
            return Err(MapError::invalid("losses", reason));
        }
        Ok(Self { places, values })
    }
}

impl Utility for LossMatrix {
    fn places(&self) -> usize {
        self.places
    }

    fn unit(&self) -> &'static str {
        UNITLESS
    }

    fn losses(&self, rows: &[PlaceId], columns: &[PlaceId]) -> Vec<f64> {
        let value = |i: PlaceId, k: PlaceId| self.values[i.index() * self.places + k.index()];
        rows.iter().flat_map(|&i| columns.iter().map(move |&k| value(i, k))).collect()
    }

    fn ceiling(&self) -> f64 {
        self.values.iter().copied().fold(0.0, f64::max)
    }
}
