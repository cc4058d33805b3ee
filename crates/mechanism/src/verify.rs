//! Does a matrix keep its promise? Checked pair by pair, with rounding against ourselves.
//!
//! Nothing here is shared with the code that makes matrices.

use lrgeo_map::geo::Coord;
use rayon::prelude::*;

use crate::{Epsilon, ObfuscationMatrix};

/// What was found. Private means `worst_log_excess <= 0`; there is no tolerance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// The largest `ln(z_ik / z_jk) - eps d_ij` over all pairs and columns, rounded up; infinite
    /// when one of the two is zero and the other is not.
    pub worst_log_excess: f64,
    /// The two places and the report where that is.
    pub worst_at: (usize, usize, usize),
    /// How many inequalities were checked.
    pub checked: u64,
    /// How many do not hold.
    pub violations: u64,
}

impl Verdict {
    /// Whether every inequality holds.
    pub fn is_private(&self) -> bool {
        self.violations == 0
    }
}

/// More than the relative error of a haversine distance and of an `ln` in f64, many times over.
const ROUNDING: f64 = 1e-13;

/// Checks `z_ik <= exp(eps d_ij) z_jk` for every ordered pair of places and every report: the
/// all-pairs notion of spec section 1.
///
/// Distances are taken a little too short and logarithms a little too far apart, so rounding can
/// only make the verdict worse than the truth.
pub fn all_pairs(matrix: &ObfuscationMatrix, places: &[Coord], epsilon: Epsilon) -> Verdict {
    let k = matrix.places();
    let logs: Vec<Vec<f64>> =
        (0..k).map(|i| matrix.row(i).iter().map(|z| z.ln()).collect()).collect();
    let nothing = Verdict {
        worst_log_excess: f64::NEG_INFINITY,
        worst_at: (0, 0, 0),
        checked: 0,
        violations: 0,
    };
    (0..k)
        .into_par_iter()
        .map(|i| {
            let mut verdict = nothing;
            for j in (0..k).filter(|&j| j != i) {
                let distance = places[i].distance_km(places[j]);
                let allowed = epsilon.value() * distance * (1.0 - ROUNDING);
                for (column, (a, b)) in logs[i].iter().zip(&logs[j]).enumerate() {
                    let excess = log_excess(*a, *b, allowed);
                    verdict.checked += 1;
                    verdict.violations += u64::from(excess > 0.0);
                    if excess > verdict.worst_log_excess {
                        verdict.worst_log_excess = excess;
                        verdict.worst_at = (i, j, column);
                    }
                }
            }
            verdict
        })
        .reduce(|| nothing, worse)
}

/// `a - b - allowed`, rounded up; two zeros beside each other (both -infinity) satisfy anything.
fn log_excess(a: f64, b: f64, allowed: f64) -> f64 {
    if a == f64::NEG_INFINITY {
        return f64::NEG_INFINITY;
    }
    (a - b) - allowed + (a.abs() + b.abs()) * ROUNDING
}

fn worse(a: Verdict, b: Verdict) -> Verdict {
    let worst = if b.worst_log_excess > a.worst_log_excess { b } else { a };
    Verdict { checked: a.checked + b.checked, violations: a.violations + b.violations, ..worst }
}
