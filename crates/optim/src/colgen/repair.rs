//! From nearly feasible to exactly feasible.
//!
//! *Exactly* means: the `f64` numbers returned satisfy every arc, tie and bound in real arithmetic; row
//! sums are 1 up to rounding (a few units in the last place per entry), and the error is reported.
//! - Nothing tied: every column gets a tiny constant, the same in every row, so that no probability
//!   is zero; this also gives every arc a little slack, since `z_i + t <= e^(eps d) (z_j + t)` follows.
//! - Ties, fixed y, bounds: tied entries are `y_k * f_ik` as computed in `f64` and do not move; free
//!   entries are first lowered to the largest values the fixed ones allow, then raised to the floors.
//!
//! What is left are single units in the last place, removed by raising the smaller entry of each
//! broken arc: a Lipschitz closure in floating point, rounded towards safety.

use crate::matrix::DenseMatrix;
use crate::problem::{Arc, Problem};

/// Weight of the uniform matrix that is mixed in where nothing is tied.
pub(super) const UNIFORM_WEIGHT: f64 = 1e-9;

/// Rounding margins, in units of [`f64::EPSILON`] times `1 + eps d` (the exponent's own rounding
/// grows with it): ceilings are cut a little lower than floors need, so that raising to the floors
/// never passes a ceiling.
const FLOOR_MARGIN: f64 = 6.0;
const CEILING_MARGIN: f64 = 18.0;

/// `exp(eps d)`, lowered by a margin; never below 1.
fn factor(problem: &Problem, arc: &Arc, margin: f64) -> f64 {
    let log = problem.log_ratio(arc);
    (log.exp() * (1.0 - margin * f64::EPSILON * (1.0 + log))).clamp(1.0, f64::MAX)
}

/// Adds the constant to every column.
pub(super) fn mix_uniform(z: &mut DenseMatrix) {
    let columns = z.columns();
    let constant = UNIFORM_WEIGHT / columns as f64;
    for i in 0..z.rows() {
        for value in z.row_mut(i) {
            *value = *value * (1.0 - UNIFORM_WEIGHT) + constant;
        }
    }
}

/// Removes what rounding has broken; `true` when a pass found nothing more to do.
pub(crate) fn close(problem: &Problem, z: &mut DenseMatrix) -> bool {
    if problem.has_ties() || !problem.bounds().is_empty() {
        lower_to_ceilings(problem, z);
    }
    for _ in 0..60 {
        let mut changed = false;
        for arc in problem.arcs() {
            let factor = factor(problem, arc, FLOOR_MARGIN);
            for (from, to) in [(arc.i, arc.j), (arc.j, arc.i)] {
                changed |= raise(problem, z, from, to, factor);
            }
        }
        if !changed {
            return true;
        }
    }
    false
}

/// Raises the free entries of row `to` that are too small beside row `from`.
fn raise(problem: &Problem, z: &mut DenseMatrix, from: usize, to: usize, factor: f64) -> bool {
    let mut changed = false;
    for k in 0..z.columns() {
        let (large, small) = (z.at(from, k), z.at(to, k));
        if large > factor * small && problem.tie(to, k).is_none() {
            let floor = if factor == 1.0 { large } else { (large / factor).next_up() };
            if floor > small {
                *z.at_mut(to, k) = floor;
                changed = true;
            }
        }
    }
    changed
}

/// Cuts free entries down to the largest values that tied entries and upper bounds allow.
fn lower_to_ceilings(problem: &Problem, z: &mut DenseMatrix) {
    let (rows, columns) = (z.rows(), z.columns());
    let mut ceiling = DenseMatrix::zeros(rows, columns);
    for i in 0..rows {
        for k in 0..columns {
            let fixed = problem.tie(i, k).is_some();
            *ceiling.at_mut(i, k) = if fixed { z.at(i, k) } else { f64::INFINITY };
        }
    }
    for bound in problem.bounds() {
        *ceiling.at_mut(bound.row, bound.column) = bound.high;
        let value = z.at_mut(bound.row, bound.column);
        *value = value.max(bound.low);
    }
    for _ in 0..rows.max(2) {
        let mut changed = false;
        for arc in problem.arcs() {
            let factor = factor(problem, arc, CEILING_MARGIN);
            for (from, to) in [(arc.i, arc.j), (arc.j, arc.i)] {
                for k in 0..columns {
                    let limit = ceiling.at(from, k) * factor;
                    if limit < ceiling.at(to, k) && problem.tie(to, k).is_none() {
                        *ceiling.at_mut(to, k) = limit;
                        changed = true;
                    }
                }
            }
        }
        if !changed {
            break;
        }
    }
    for i in 0..rows {
        for k in 0..columns {
            let limit = ceiling.at(i, k);
            let value = z.at_mut(i, k);
            *value = value.min(limit);
        }
    }
}
