//! Does a mechanism keep its promise? Checked entry by entry, with rounding against ourselves and
//! no tolerance. Nothing here is shared with the code that makes mechanisms.

mod chain;
mod round;
mod verified;

use lrgeo_geo::Coord;
use lrgeo_geo::index::SpatialIndex;
use lrgeo_geo::parallel::*;
use lrgeo_map::progress::Progress;
use lrgeo_tiles::verify::{Finding, Pair, coordinates};
use lrgeo_tiles::{Epsilon, SUM_ERROR};

use crate::{Built, ObfuscationMatrix, Rows};
pub use round::{
    among_reported, as_the_paper_counts, deployed_rows, promised, violation_bound,
    violation_bound_between,
};
pub use verified::{Examined, Verified};

/// Above this many places, all pairs are proven along the paths of a witness where there is one.
const EVERY_PAIR: usize = 2_000;

/// How the promise was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Every pair of the notion, every report.
    EveryPair,
    /// The pairs of a witness, every report; every other pair by chaining their measured bounds
    /// along shortest paths, or directly where that does not suffice (`docs/specification.md` section 6).
    Chained,
    /// Every two coordinates and every report, in closed form ([`lrgeo_tiles::verify::coordinates`]).
    ClosedForm,
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Verdict {
    /// Everything that was promised; must be without violations.
    pub guaranteed: Finding,
    /// For the matrices of a round: the rows really used, between users, all entries. Violations
    /// here are what the paper's guarantee leaves open.
    pub deployed: Option<Finding>,
    /// The largest distance of a row's sum from one.
    pub worst_row_sum_error: f64,
    /// How it was checked.
    pub method: Method,
}

impl Verdict {
    /// Whether the promise holds.
    pub fn holds(&self) -> bool {
        self.guaranteed.is_private() && self.worst_row_sum_error <= SUM_ERROR
    }
}

/// Checks a mechanism against its own guarantee.
pub fn verify(built: &Built, progress: &dyn Progress) -> Verdict {
    if let Rows::Noise(_) = built.rows {
        return verify_by(built, Method::ClosedForm, progress);
    }
    let all_pairs = built.guarantee.notion.reach_km().is_infinite();
    let chained = all_pairs && built.coords.len() > EVERY_PAIR && !built.witness.is_empty();
    verify_by(built, if chained { Method::Chained } else { Method::EveryPair }, progress)
}

/// The same, by a method of one's choice; both prove the same.
pub fn verify_by(built: &Built, method: Method, progress: &dyn Progress) -> Verdict {
    let epsilon = built.guarantee.epsilon;
    let reach_km = built.guarantee.notion.reach_km();
    if let Rows::Users(round) = &built.rows {
        let guaranteed = promised(round, &built.coords, epsilon, reach_km);
        let deployed = deployed_rows(round, &built.coords, epsilon, reach_km);
        let rows = round.users.iter().flat_map(|u| (0..u.relevant.len()).map(|i| u.row(i)));
        let worst_row_sum_error = rows.map(row_sum_error).fold(0.0, f64::max);
        let method = Method::EveryPair;
        return Verdict { guaranteed, deployed: Some(deployed), worst_row_sum_error, method };
    }
    let places = built.rows.places();
    let guaranteed = match (method, &built.rows) {
        (Method::ClosedForm, Rows::Noise(noise)) => coordinates::finding(noise, epsilon),
        (Method::Chained, _) if reach_km.is_infinite() => chain::all_pairs(built, progress),
        _ => every_pair(&built.rows, &built.coords, epsilon, reach_km, progress),
    };
    let worst_row_sum_error = (0..places)
        .into_par_iter()
        .map_init(
            || vec![0.0; places],
            |row, i| {
                built.rows.fill(i, row);
                row_sum_error(row)
            },
        )
        .reduce(|| 0.0, f64::max);
    Verdict { guaranteed, deployed: None, worst_row_sum_error, method }
}

/// All pairs of a bare matrix.
pub fn all_pairs(matrix: &ObfuscationMatrix, coords: &[Coord], epsilon: Epsilon) -> Finding {
    every_pair(&Rows::Dense(matrix.clone()), coords, epsilon, f64::INFINITY, &())
}

/// Every ordered pair of places at most `reach_km` apart, every report: the deployed rows of
/// `rows` against each other.
pub fn every_pair(
    rows: &Rows,
    coords: &[Coord],
    epsilon: Epsilon,
    reach_km: f64,
    progress: &dyn Progress,
) -> Finding {
    let places = rows.places();
    let index = SpatialIndex::new(coords);
    progress.begin("verifying pairs of places", places as u64);
    let finding = (0..places)
        .into_par_iter()
        .map_init(
            || (vec![0.0; places], vec![0.0; places]),
            |(here, there), i| {
                let mut finding = Finding::default();
                rows.fill(i, here);
                let near: Vec<(u32, f64)> = match reach_km.is_finite() {
                    true => index.within(coords[i], reach_km),
                    false => every_distance(coords, i),
                };
                for (j, km) in near.into_iter().filter(|&(j, _)| j as usize != i) {
                    let pair = Pair { at: (i as u32, j), km };
                    match rows {
                        Rows::Dense(matrix) => {
                            finding.add(pair, here, matrix.row(j as usize), epsilon);
                        }
                        rows => {
                            rows.fill(j as usize, there);
                            finding.add(pair, here, there, epsilon);
                        }
                    }
                }
                progress.advance(1);
                finding
            },
        )
        .reduce(Finding::default, Finding::merge);
    progress.end();
    finding
}

/// Rows against each other for somebody who knows how far apart they are, but not where.
pub fn by_distance(
    rows: &[&[f64]],
    km: impl Fn(usize, usize) -> f64 + Sync,
    epsilon: Epsilon,
    reach_km: f64,
) -> Finding {
    let compare = |i: usize| {
        let mut finding = Finding::default();
        for j in (0..rows.len()).filter(|&j| j != i) {
            let km = km(i, j);
            if km <= reach_km {
                finding.add(Pair { at: (i as u32, j as u32), km }, rows[i], rows[j], epsilon);
            }
        }
        finding
    };
    (0..rows.len()).into_par_iter().map(compare).reduce(Finding::default, Finding::merge)
}

fn every_distance(coords: &[Coord], i: usize) -> Vec<(u32, f64)> {
    coords.iter().enumerate().map(|(j, c)| (j as u32, coords[i].distance_km(*c))).collect()
}

/// The distance of a sum from one, plus what rounding may hide.
fn row_sum_error(row: &[f64]) -> f64 {
    let sum: f64 = row.iter().sum();
    (sum - 1.0).abs() + row.len() as f64 * f64::EPSILON * sum
}
