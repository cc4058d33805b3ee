//! How far everything is from every target, and what a wrong report therefore costs.

use lrgeo_geo::parallel::*;
use lrgeo_geo::units::{Travel, travel_time};

use crate::MapError;
use crate::beta::{MAX_TRAVEL, beta_block};
use crate::graph::{Direction, Metric, StreetGraph};
use crate::map::{Map, Target, TravelMode};
use crate::progress::Progress;
use crate::search::search_all;

/// Rows of a block; sixteen rows of a few kilobytes stay in the nearest cache.
const BLOCK: usize = 16;

/// Fewer differences than this are done before another thread has woken up: what one user needs is less.
const WORTH_SHARING: usize = 500_000;

/// Searches whose results are kept by target for a moment.
const TARGETS_AT_ONCE: usize = 64;

/// The step in which the searches are run, as [`Progress`] is told.
pub const TREES: &str = "shortest-path trees";

/// Where a way starts: a street node and the straight leg to it, in millimetres.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The street node.
    pub node: u32,
    /// The leg; zero for a point on the street.
    pub leg: Travel,
}

/// `tc(origin, target)` for all origins and targets, in whole millimetres or milliseconds.
///
/// Memory is origins x targets; nothing is kept per pair of origins, or per node of the streets.
#[derive(Clone, Debug, PartialEq)]
pub struct TravelMatrix {
    metric: Metric,
    weights: Vec<f64>,
    values: Vec<Travel>,
}

impl TravelMatrix {
    /// One search per target on the reversed streets (`docs/specification.md` section 3).
    pub fn new(
        graph: &StreetGraph,
        mode: TravelMode,
        metric: Metric,
        origins: &[Origin],
        targets: &[Target],
        progress: &dyn Progress,
    ) -> Result<Self, MapError> {
        let weights = targets.iter().map(|t| t.weight).collect();
        Self::from_parts(metric, weights, search(graph, mode, metric, origins, targets, progress))
    }

    /// The same for two sets of origins, who read the same searches: `(first, second)`.
    pub fn of_both(
        graph: &StreetGraph,
        mode: TravelMode,
        metric: Metric,
        [first, second]: [&[Origin]; 2],
        targets: &[Target],
        progress: &dyn Progress,
    ) -> Result<(Self, Self), MapError> {
        let weights: Vec<f64> = targets.iter().map(|t| t.weight).collect();
        let origins = [first, second].concat();
        let mut values = search(graph, mode, metric, &origins, targets, progress);
        let rest = values.split_off(first.len() * targets.len());
        let first = Self::from_parts(metric, weights.clone(), values)?;
        Ok((first, Self::from_parts(metric, weights, rest)?))
    }

    /// From numbers that were kept: one row of `weights.len()` values per origin.
    pub(crate) fn from_parts(
        metric: Metric,
        weights: Vec<f64>,
        values: Vec<Travel>,
    ) -> Result<Self, MapError> {
        if let Some(&far) = values.iter().find(|&&value| value > MAX_TRAVEL) {
            return Err(MapError::TooLarge {
                what: "travel between a place and a target (mm or ms)",
                asked: u64::from(far),
                limit: u64::from(MAX_TRAVEL),
                advice: "the streets are not connected or span a continent; choose a smaller region",
            });
        }
        Ok(Self { metric, weights, values })
    }

    /// From every place of a map to its targets.
    pub fn of_places(map: &Map, metric: Metric, progress: &dyn Progress) -> Result<Self, MapError> {
        map.ensure_measured(metric)?;
        Self::new(&map.graph, map.travel, metric, &origins(map), &map.targets, progress)
    }

    /// How many origins.
    pub fn rows(&self) -> usize {
        self.values.len() / self.weights.len().max(1)
    }

    /// How many targets.
    pub fn targets(&self) -> usize {
        self.weights.len()
    }

    /// What is measured.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// The probabilities q of the targets.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// `tc(row, l)` for all targets l, in millimetres or milliseconds.
    pub fn row(&self, row: usize) -> &[Travel] {
        &self.values[row * self.weights.len()..(row + 1) * self.weights.len()]
    }

    /// No `beta` is larger: the expected spread of travel costs, `sum_l q_l (max_i tc - min_i tc)`.
    pub fn largest_beta(&self) -> f64 {
        let spread = |l: usize| {
            let column = || self.values.iter().skip(l).step_by(self.weights.len());
            let (low, high) = (column().min(), column().max());
            high.zip(low).map_or(0.0, |(high, low)| f64::from(high - low))
        };
        let sum: f64 = self.weights.iter().enumerate().map(|(l, q)| q * spread(l)).sum();
        // Above what rounding may do to a beta.
        sum * self.scale() * (1.0 + 1e-9)
    }

    pub(crate) fn values(&self) -> &[Travel] {
        &self.values
    }

    /// Kilometres per millimetre, or minutes per millisecond.
    pub fn scale(&self) -> f64 {
        self.metric.scale()
    }

    /// `beta` between each of `rows` and each of `columns`, row-major, in kilometres or minutes.
    pub fn beta(&self, rows: &[u32], columns: &[u32]) -> Vec<f64> {
        let mut out = vec![0.0; rows.len() * columns.len()];
        if columns.is_empty() {
            return out;
        }
        let columns: Vec<&[Travel]> = columns.iter().map(|&k| self.row(k as usize)).collect();
        let block = |(out, rows): (&mut [f64], &[u32])| {
            let rows: Vec<&[Travel]> = rows.iter().map(|&i| self.row(i as usize)).collect();
            let mut tile = [0.0; BLOCK * BLOCK];
            for (c, block) in columns.chunks(BLOCK).enumerate() {
                let tile = &mut tile[..rows.len() * block.len()];
                beta_block(&rows, block, &self.weights, tile);
                for (r, values) in tile.chunks_exact(block.len()).enumerate() {
                    let at = r * columns.len() + c * BLOCK;
                    for (out, value) in out[at..at + block.len()].iter_mut().zip(values) {
                        *out = value * self.scale();
                    }
                }
            }
        };
        match out.len() * self.weights.len() < WORTH_SHARING {
            true => out.chunks_mut(BLOCK * columns.len()).zip(rows.chunks(BLOCK)).for_each(block),
            false => out
                .par_chunks_mut(BLOCK * columns.len())
                .zip(rows.par_chunks(BLOCK))
                .for_each(block),
        }
        out
    }
}

/// The places of a map as origins.
pub(crate) fn origins(map: &Map) -> Vec<Origin> {
    map.places.iter().map(|p| Origin { node: p.node, leg: p.leg }).collect()
}

/// How far every origin is from every target, row-major by origin.
fn search(
    graph: &StreetGraph,
    mode: TravelMode,
    metric: Metric,
    origins: &[Origin],
    targets: &[Target],
    progress: &dyn Progress,
) -> Vec<Travel> {
    let nodes: Vec<u32> = targets.iter().map(|t| t.node).collect();
    let legs: Vec<Travel> = origins
        .iter()
        .map(|o| match metric {
            Metric::Distance => o.leg,
            Metric::Time => travel_time(f64::from(o.leg) * 1e-6, mode.access_speed_kmh()),
        })
        .collect();
    let read = |_: usize, distance: &[Travel]| -> Vec<Travel> {
        let arrive = |(o, leg): (&Origin, &Travel)| distance[o.node as usize].saturating_add(*leg);
        origins.iter().zip(&legs).map(arrive).collect()
    };
    // Searches fill columns, rows are what is read: turn a few columns at a time, so that at
    // no time everything is there twice.
    progress.begin(TREES, nodes.len() as u64);
    let mut values = vec![0; origins.len() * targets.len()];
    for (chunk, nodes) in nodes.chunks(TARGETS_AT_ONCE).enumerate() {
        let columns = search_all(graph, metric, Direction::Reversed, nodes, progress, read);
        values.par_chunks_exact_mut(targets.len()).enumerate().for_each(|(row, out)| {
            let out = &mut out[chunk * TARGETS_AT_ONCE..];
            out.iter_mut().zip(&columns).for_each(|(value, column)| *value = column[row]);
        });
    }
    progress.end();
    values
}
