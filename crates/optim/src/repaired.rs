//! From what another solver found to a matrix that is strict, so that costs can be compared: general solvers stop at tolerances,
//! and what breaks a constraint by a little costs less than it should.

use crate::certificate::{Report, check};
use crate::colgen::normalise::normalise;
use crate::colgen::repair::close;
use crate::matrix::{DenseMatrix, Matrix};
use crate::problem::Problem;
use crate::verified::ROW_SUM_ERROR;

/// Closures of 60 passes each; paths have fewer arcs than 60 times that.
const CLOSURES: usize = 1_000;

/// A strict matrix near `draft`, and what the checker says of it.
///
/// Entries that are too small beside their neighbours' are raised to what these allow (the least matrix above the draft that keeps
/// the arcs), and rows are brought to a sum of one as the engine brings its own.
///
/// `None` where entries are tied or bounded, where a row is empty, where an entry is no number, and where sums are too far apart.
pub fn strict(problem: &Problem, draft: &DenseMatrix) -> Option<(Matrix, Report)> {
    let (rows, columns) = (problem.rows(), problem.columns());
    let is_plain = !problem.has_ties() && problem.bounds().is_empty();
    if !is_plain || (draft.rows(), draft.columns()) != (rows, columns) {
        return None;
    }
    let mut z = DenseMatrix::zeros(rows, columns);
    for i in 0..rows {
        for (value, drafted) in z.row_mut(i).iter_mut().zip(draft.row(i)) {
            *value = drafted.is_finite().then_some(drafted.max(0.0))?;
        }
    }
    (0..CLOSURES).find(|_| close(problem, &mut z))?;
    normalise(problem, &mut z, true).then_some(())?;
    // Dividing rounds, and rounding may have broken an arc that has no slack.
    (0..CLOSURES).find(|_| close(problem, &mut z))?;
    let z = Matrix::Dense(z);
    let report = check(problem, &z, &[]);
    let holds = report.is_strict() && report.worst_row_sum_error <= ROW_SUM_ERROR;
    holds.then_some((z, report))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colgen;
    use crate::cost::DenseCost;
    use crate::problem::{Arc, ProblemParts, Ties};
    use crate::settings::Settings;

    /// Places on a line, neighbours joined.
    fn line(n: usize) -> ProblemParts {
        let cost = (0..n * n).map(|e| (e / n).abs_diff(e % n) as f64 / n as f64).collect();
        let arcs = (1..n).map(|j| Arc { i: j - 1, j, d: 1.0 }).collect();
        ProblemParts::untied(0.5, DenseCost::new(n, n, cost).unwrap(), arcs)
    }

    #[test]
    fn what_is_nearly_right_becomes_strict_at_a_small_price() {
        let problem = Problem::new(line(12)).unwrap();
        let solution = colgen::solve(&problem, &Settings::default()).unwrap();
        // Wrong by up to 1e-4, and small entries cut off, as first-order methods leave them.
        let mut draft = solution.z.as_dense().unwrap().clone();
        for i in 0..12 {
            for (k, value) in draft.row_mut(i).iter_mut().enumerate() {
                let wrong = 1e-4 * (((7 * i + 5 * k) % 11) as f64 / 5.0 - 1.0);
                *value = if *value < 1e-3 { -1e-9 } else { *value + wrong };
            }
        }
        assert!(!check(&problem, &Matrix::Dense(draft.clone()), &[]).is_strict());
        let (z, report) = strict(&problem, &draft).unwrap();
        assert_eq!(check(&problem, &z, &[]), report);
        assert!(report.is_strict() && report.worst_row_sum_error <= ROW_SUM_ERROR, "{report:?}");
        assert!(report.cost >= solution.lower_bound);
        assert!(report.cost <= 1.01 * solution.objective, "{} {}", report.cost, solution.objective);
    }

    #[test]
    fn anything_with_an_entry_in_some_row_becomes_strict() {
        let problem = Problem::new(line(5)).unwrap();
        let mut draft = DenseMatrix::zeros(5, 5);
        assert!(strict(&problem, &draft).is_none());
        (0..5).for_each(|i| *draft.at_mut(i, i) = 1.0 + i as f64);
        assert!(strict(&problem, &draft).unwrap().1.is_strict());
        *draft.at_mut(3, 1) = f64::NAN;
        assert!(strict(&problem, &draft).is_none());
    }

    #[test]
    fn tied_entries_are_left_alone() {
        let mut factors = vec![None; 25];
        factors[4] = Some(0.5);
        let ties = Some(Ties::new(5, 5, &factors).unwrap());
        let problem = Problem::new(ProblemParts { ties, ..line(5) }).unwrap();
        let draft = DenseMatrix::from_values(5, 5, vec![0.2; 25]).unwrap();
        assert!(strict(&problem, &draft).is_none());
    }
}
