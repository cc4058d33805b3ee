//! What a report costs the service: the plug-in behind every mechanism (spec section 2).

use lrgeo_geo::Coord;

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
    fn losses(&self, rows: &[u32], columns: &[u32]) -> Vec<f64>;

    /// No loss is larger than this: a public constant.
    fn ceiling(&self) -> f64;

    /// The loss of one pair.
    fn loss(&self, row: u32, column: u32) -> f64 {
        self.losses(&[row], &[column])[0]
    }

    /// The losses of all pairs.
    fn all(&self) -> Vec<f64> {
        let places: Vec<u32> = (0..self.places() as u32).collect();
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
            UtilityKind::StraightLine => Box::new(StraightLine { coords: map.coords() }),
        })
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

    fn losses(&self, rows: &[u32], columns: &[u32]) -> Vec<f64> {
        self.beta(rows, columns)
    }

    fn ceiling(&self) -> f64 {
        self.largest_beta()
    }
}

/// The distance between the real and the reported place.
#[derive(Clone, Debug)]
pub struct StraightLine {
    coords: Vec<Coord>,
}

impl Utility for StraightLine {
    fn places(&self) -> usize {
        self.coords.len()
    }

    fn unit(&self) -> &'static str {
        "km"
    }

    fn losses(&self, rows: &[u32], columns: &[u32]) -> Vec<f64> {
        let at = |i: u32| self.coords[i as usize];
        rows.iter().flat_map(|&i| columns.iter().map(move |&k| at(i).distance_km(at(k)))).collect()
    }

    /// Twice the distance from any one place to the farthest, by the triangle inequality.
    fn ceiling(&self) -> f64 {
        let Some(&first) = self.coords.first() else { return 0.0 };
        2.0 * self.coords.iter().map(|c| c.distance_km(first)).fold(0.0, f64::max)
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
        "loss"
    }

    fn losses(&self, rows: &[u32], columns: &[u32]) -> Vec<f64> {
        let value = |i: u32, k: u32| self.values[i as usize * self.places + k as usize];
        rows.iter().flat_map(|&i| columns.iter().map(move |&k| value(i, k))).collect()
    }

    fn ceiling(&self) -> f64 {
        self.values.iter().copied().fold(0.0, f64::max)
    }
}
