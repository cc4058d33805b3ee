//! Travel costs that a routing engine measured: from each of some places to each of some targets.

use std::path::PathBuf;

use lrgeo_geo::Coord;

use crate::MapError;
use crate::graph::Metric;

/// Who measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// OSRM's `/table`.
    Osrm,
    /// Valhalla's `sources_to_targets`.
    Valhalla,
}

impl Engine {
    /// Both, with the names used in files.
    pub const ALL: [(Engine, &'static str); 2] =
        [(Engine::Osrm, "OSRM"), (Engine::Valhalla, "Valhalla")];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }
}

/// A table of directed travel costs: a row for each source, a column for each destination.
#[derive(Clone, Debug)]
pub struct RoutingTable {
    /// The file, for errors.
    pub path: PathBuf,
    /// Who measured.
    pub engine: Engine,
    /// How many sources and destinations.
    pub size: [usize; 2],
    /// Where the sources are, if the file says so.
    pub sources: Option<Vec<Coord>>,
    /// Where the destinations are, if the file says so.
    pub destinations: Option<Vec<Coord>>,
    /// Kilometres, row by row.
    pub km: Option<Vec<f64>>,
    /// Seconds, row by row.
    pub seconds: Option<Vec<f64>>,
}

/// Which of the two a table holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// Distances.
    pub distance: bool,
    /// Durations.
    pub time: bool,
}

impl Measured {
    /// The combinations that there are, with the names used in files.
    pub const ALL: [(Measured, &'static str); 3] = [
        (Measured { distance: true, time: true }, "distances and durations"),
        (Measured { distance: true, time: false }, "distances"),
        (Measured { distance: false, time: true }, "durations"),
    ];

    /// Whether a metric is there.
    pub fn has(self, metric: Metric) -> bool {
        match metric {
            Metric::Distance => self.distance,
            Metric::Time => self.time,
        }
    }
}

/// Pairs nearer than this say nothing about units: what counts there is where the engine found a street.
const FAR_ENOUGH_KM: f64 = 0.2;

impl RoutingTable {
    /// What it holds.
    pub fn measured(&self) -> Measured {
        Measured { distance: self.km.is_some(), time: self.seconds.is_some() }
    }

    /// An error about one of its fields.
    pub fn refuse(&self, field: impl Into<String>, reason: impl Into<String>) -> MapError {
        MapError::field(&self.path, field, reason)
    }

    /// Refuses numbers that cannot be in the units they should be in, judged by the straight lines between the ends.
    pub(crate) fn ensure_units(&self, from: &[Coord], to: &[Coord]) -> Result<(), MapError> {
        let median = |values: &Option<Vec<f64>>| {
            let values = values.as_ref()?;
            let pairs = from.iter().flat_map(|a| to.iter().map(move |b| a.distance_km(*b)));
            let far = pairs.zip(values).filter(|(straight, _)| *straight >= FAR_ENOUGH_KM);
            let mut ratios: Vec<f64> = far.map(|(straight, value)| value / straight).collect();
            ratios.sort_unstable_by(f64::total_cmp);
            ratios.get(ratios.len() / 2).copied()
        };
        if let Some(ratio) = median(&self.km).filter(|ratio| !(0.9..=20.0).contains(ratio)) {
            let (unit, name) = match self.engine {
                Engine::Osrm => ("metres", "distances"),
                Engine::Valhalla => ("what `units` says", "sources_to_targets, distance"),
            };
            let reason = format!(
                "ways are {ratio:.3} times as long as straight lines between the places (median); are they in {unit}, and \
                 the places in the order of the table?"
            );
            return Err(self.refuse(name, reason));
        }
        // Hours per kilometre of straight line: from 1 to 300 km/h.
        let hours = median(&self.seconds).map(|seconds_per_km| seconds_per_km / 3600.0);
        if let Some(hours) = hours.filter(|hours| !(1.0 / 300.0..=1.0).contains(hours)) {
            let reason = format!(
                "people would move at {:.2} km/h by straight line (median); are they in seconds, and the places in the order \
                 of the table?",
                1.0 / hours
            );
            let name = match self.engine {
                Engine::Osrm => "durations",
                Engine::Valhalla => "sources_to_targets, time",
            };
            return Err(self.refuse(name, reason));
        }
        Ok(())
    }
}
