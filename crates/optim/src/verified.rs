//! The one way out of every engine: no answer leaves that the independent checkers do not accept.
//!
//! Engines make matrices strict and prove bounds as well as they can, and where numbers are extreme they fail at it without
//! noticing. So whatever one returns is looked at once more, for the problem as it was asked: the matrix by [`check`] (or its
//! sparse counterpart), and a claim that there is no matrix by [`infeasible::proof`]. What is refused is an error, unless something
//! is feasible whatever the numbers are: rows that are all equal break no arc, and bounds and ties seldom forbid them.

use crate::bound::proven_bound;
use crate::certificate::{Report, bound_of_flows, check, infeasible};
use crate::error::{Error, Fault, Infeasibility};
use crate::matrix::{DenseMatrix, Matrix};
use crate::presolve::components::connected;
use crate::presolve::scaling::Scaled;
use crate::problem::Problem;
use crate::settings::{Settings, Stop};
use crate::solution::{Certificate, Solution, Status, relative_gap};

/// Row sums of doubles cannot all be exactly 1; this much is rounding.
pub const ROW_SUM_ERROR: f64 = 1e-12;

/// A bound above the cost of a matrix by no more than this share differs from it by rounding.
const SAME_COST: f64 = 1e-9;

/// Gaps that differ by less were the same before rounding.
const SAME_GAP: f64 = 1e-9;

/// Solves a problem by an engine, and lets out what is verified, or else what is feasible whatever the numbers are.
pub(crate) fn solve(
    problem: &Problem,
    settings: &Settings,
    name: &'static str,
    engine: impl FnOnce(&Problem) -> Result<Solution, Error>,
) -> Result<Solution, Error> {
    let stop = settings.start_watch()?;
    let answer = tried(problem, settings, name, engine);
    mended(problem, settings, &stop, answer)
}

/// Solves a problem by an engine, which sees ordinary numbers ([`Scaled`]), and lets out what is verified.
pub(crate) fn tried(
    problem: &Problem,
    settings: &Settings,
    name: &'static str,
    engine: impl FnOnce(&Problem) -> Result<Solution, Error>,
) -> Result<Solution, Error> {
    let stop = settings.start_watch()?;
    let answer = match Scaled::of(problem)? {
        Some(scaled) => engine(&scaled.problem).map(|solution| scaled.undo(problem, solution)),
        None => engine(problem),
    };
    match answer.and_then(|solution| accepted(problem, settings, name, solution)) {
        // The multipliers that say so were proven where they were found.
        Err(error @ Error::Infeasible { reason: Infeasibility::RowsContradict, .. }) => Err(error),
        Err(Error::Infeasible { row, reason }) => match infeasible::proof(problem) {
            Some(_) => Err(Error::Infeasible { row, reason }),
            None => Err(Error::Undecided { engine: name, row, reason }),
        },
        Err(error) if error.leaves_open() => match infeasible::proof(problem) {
            Some((row, reason)) => Err(Error::Infeasible { row, reason }),
            None if error == Error::StoppedEarly && !stop.requested() => {
                Err(Error::NothingFound { engine: name })
            }
            None => Err(error),
        },
        settled => settled,
    }
}

/// The answer, or where an engine failed (and was not stopped) equal rows, if there are any that hold.
pub(crate) fn mended(
    problem: &Problem,
    settings: &Settings,
    stop: &Stop<'_>,
    answer: Result<Solution, Error>,
) -> Result<Solution, Error> {
    match answer {
        Err(error) if error.leaves_open() && !stop.requested() => {
            let equal = equal_rows(problem).ok_or(error.clone())?;
            let equal = Solution { seconds: stop.seconds(), ..equal };
            accepted(problem, settings, "equal rows", equal).map_err(|_| error)
        }
        answer => answer,
    }
}

/// The solution with the numbers that the checkers find, or what they refuse it for.
pub(crate) fn accepted(
    problem: &Problem,
    settings: &Settings,
    engine: &'static str,
    mut solution: Solution,
) -> Result<Solution, Error> {
    let report = examined(problem, &solution.z, &solution.y);
    if let Some(fault) = fault(&report) {
        return Err(Error::Unverified { engine, fault });
    }
    let lower_bound = believed_bound(problem, &solution, report.cost);
    solution.certificate.worst_log_excess = report.worst_log_excess;
    solution.certificate.worst_row_sum_error = report.worst_row_sum_error;
    let is_unchanged = (report.cost, lower_bound) == (solution.objective, solution.lower_bound);
    if is_unchanged && Scaled::is_too_large(problem) {
        return Ok(solution); // as it came, and the mean cost of a large map takes long
    }
    let gap = relative_gap(problem.mean_cost(), report.cost, lower_bound);
    // A gap that is not the engine's is judged anew; the engine may know of other reasons to call its own enough.
    let is_same = (gap - solution.gap).abs() <= SAME_GAP * (1.0 + gap);
    if !is_same || (solution.status == Status::Optimal && gap > solution.gap) {
        solution.status = Status::of_gap(gap, settings.gap);
    }
    (solution.objective, solution.lower_bound, solution.gap) = (report.cost, lower_bound, gap);
    Ok(solution)
}

/// What the checker of its kind says of a matrix.
pub(crate) fn examined(problem: &Problem, z: &Matrix, y: &[f64]) -> Report {
    #[cfg(feature = "parallel")]
    if let Some(sparse) = z.as_sparse() {
        return crate::certificate::check_sparse(problem, sparse);
    }
    check(problem, z, y)
}

/// A solution without a matrix and with the bound that no cost is negative.
pub(crate) fn nothing_known(problem: &Problem) -> Solution {
    let mu = vec![0.0; problem.rows()];
    Solution {
        status: Status::Limit,
        objective: f64::INFINITY,
        lower_bound: 0.0,
        gap: f64::INFINITY,
        iterations: 0,
        columns: 0,
        seconds: 0.0,
        z: Matrix::Dense(DenseMatrix::zeros(0, 0)),
        y: Vec::new(),
        certificate: Certificate { worst_log_excess: 0.0, worst_row_sum_error: 0.0, mu },
        trace: Vec::new(),
    }
}

/// The first thing that is wrong with a matrix.
pub(crate) fn fault(report: &Report) -> Option<Fault> {
    if let Some((row, column)) = report.not_a_probability {
        return Some(Fault::Probability { row, column });
    }
    if let Some((row, column)) = report.broken_tie {
        return Some(Fault::Tie { row, column });
    }
    if let Some(column) = report.broken_y {
        return Some(Fault::Y { column });
    }
    if let Some(index) = report.broken_bound {
        return Some(Fault::Bound { index });
    }
    if !report.is_strict() {
        let (row, column) = report.worst_entry.unwrap_or((0, 0));
        return Some(Fault::Privacy { row, column, log_excess: report.worst_log_excess });
    }
    let (row, error) = (report.worst_row, report.worst_row_sum_error);
    (error > ROW_SUM_ERROR).then_some(Fault::RowSum { row, error })
}

/// The engine's bound, unless the matrix itself denies it: then what its dual vector proves, or nothing.
fn believed_bound(problem: &Problem, solution: &Solution, cost: f64) -> f64 {
    let possible = |bound: f64| bound >= 0.0 && bound <= cost * (1.0 + SAME_COST);
    let bound = solution.lower_bound;
    if possible(bound) {
        return bound.min(cost);
    }
    let proven = proven_bound(problem, &solution.certificate.mu).unwrap_or(0.0);
    if possible(proven) { proven.min(cost) } else { 0.0 }
}

/// All rows that arcs join report alike, as cheaply as their bounds allow; every y that is not fixed is zero. The bound is
/// that every row costs at least its cheapest column. `None` where bounds and fixed entries do not leave equal rows.
fn equal_rows(problem: &Problem) -> Option<Solution> {
    let (rows, columns) = (problem.rows(), problem.columns());
    let mut range = vec![(0.0, 1.0_f64); rows * columns];
    for bound in problem.bounds() {
        range[bound.row * columns + bound.column] = (bound.low, bound.high.min(1.0));
    }
    let y = problem.fixed_y().map_or_else(|| vec![0.0; columns], <[f64]>::to_vec);
    let mut z = DenseMatrix::zeros(rows, columns);
    let (mut mu, mut costs) = (vec![0.0; rows], vec![0.0; columns]);
    for part in connected(rows, problem.arcs().iter().map(|arc| (arc.i, arc.j))) {
        let (mut cost, mut common) = (vec![0.0; columns], vec![(0.0_f64, 1.0_f64); columns]);
        for &i in &part {
            problem.cost().fill_row(i, &mut costs);
            mu[i] = costs.iter().copied().fold(f64::INFINITY, f64::min);
            for k in 0..columns {
                cost[k] += costs[k];
                let tied = problem.tie(i, k).map(|factor| y[k] * factor);
                let (low, high) = tied.map_or(range[i * columns + k], |value| (value, value));
                common[k] = (common[k].0.max(low), common[k].1.min(high));
            }
        }
        let row = cheapest_row(&common, &cost)?;
        part.iter().for_each(|&i| z.row_mut(i).copy_from_slice(&row));
    }
    let lower_bound = bound_of_flows(problem, &mu, &[]).max(0.0);
    let mut equal = Solution { lower_bound, z: Matrix::Dense(z), y, ..nothing_known(problem) };
    equal.certificate.mu = mu;
    Some(equal)
}

/// A row within these ranges that sums up to 1: the lows, and what is missing in the cheapest columns.
fn cheapest_row(range: &[(f64, f64)], cost: &[f64]) -> Option<Vec<f64>> {
    let mut row: Vec<f64> = range.iter().map(|(low, _)| *low).collect();
    let mut missing = 1.0 - row.iter().sum::<f64>();
    let mut order: Vec<usize> = (0..row.len()).collect();
    order.sort_by(|&a, &b| cost[a].total_cmp(&cost[b]));
    for k in order {
        let (low, high) = range[k];
        if low > high {
            return None;
        }
        let more = missing.clamp(0.0, high - low);
        row[k] = (low + more).min(high);
        missing -= more;
    }
    Some(row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::DenseCost;
    use crate::problem::{Arc, EntryBound, ProblemParts, Ties};

    /// Two rows at eps d = 1 and three columns; the last column is the cheapest for both together.
    fn parts() -> ProblemParts {
        let cost = DenseCost::new(2, 3, vec![0.0, 3.0, 1.0, 3.0, 0.0, 1.0]).unwrap();
        ProblemParts::untied(1.0, cost, vec![Arc { i: 0, j: 1, d: 1.0 }])
    }

    fn solved(parts: ProblemParts, answer: Result<Solution, Error>) -> Result<Solution, Error> {
        let problem = Problem::new(parts).unwrap();
        solve(&problem, &Settings::default(), "test", |_| answer)
    }

    /// What an engine might say that has gone astray: a matrix with a row too many, or a bound that nothing proves.
    fn wrong(values: [f64; 6], lower_bound: f64) -> Result<Solution, Error> {
        let z = Matrix::Dense(DenseMatrix::from_values(2, 3, values.to_vec()).unwrap());
        let certificate =
            Certificate { worst_log_excess: -1.0, worst_row_sum_error: 0.0, mu: vec![0.0; 2] };
        let equal = equal_rows(&Problem::new(parts()).unwrap()).unwrap();
        Ok(Solution { z, lower_bound, certificate, status: Status::Optimal, gap: 0.0, ..equal })
    }

    #[test]
    fn a_matrix_that_does_not_hold_is_replaced_by_equal_rows() {
        let (outside, too_much) = ([0.8, 0.1, 0.1, 0.1, 0.8, 0.1], [0.5, 0.5, 0.5, 0.5, 0.5, 0.5]);
        for values in [outside, too_much] {
            let solution = solved(parts(), wrong(values, 0.0)).unwrap();
            assert_eq!(solution.z.row(0), [0.0, 0.0, 1.0]);
            assert_eq!(solution.z.row(1), [0.0, 0.0, 1.0]);
            assert_eq!((solution.status, solution.objective), (Status::Limit, 2.0));
        }
    }

    #[test]
    fn bounds_move_equal_rows_or_forbid_them() {
        let bound = |row, column, low, high| EntryBound { row, column, low, high };
        let bounds = vec![bound(0, 0, 0.25, 1.0), bound(1, 2, 0.0, 0.5)];
        let solution =
            solved(ProblemParts { bounds, ..parts() }, Err(Error::StoppedEarly)).unwrap();
        assert_eq!(solution.z.row(0), [0.5, 0.0, 0.5]);
        let apart = vec![bound(0, 0, 0.5, 1.0), bound(1, 0, 0.0, 0.4)];
        let refused = solved(ProblemParts { bounds: apart, ..parts() }, Err(Error::StoppedEarly));
        assert_eq!(refused.unwrap_err(), Error::NothingFound { engine: "test" });
    }

    #[test]
    fn equal_rows_need_no_tied_column() {
        let ties = Ties::new(2, 3, &[None, None, Some(0.5), None, None, None]).unwrap();
        let parts = ProblemParts { ties: Some(ties), ..parts() };
        let solution = solved(parts, Err(Error::StoppedEarly)).unwrap();
        assert_eq!(solution.z.row(1), [1.0, 0.0, 0.0]);
    }

    #[test]
    fn a_bound_above_the_cost_of_the_matrix_is_not_believed() {
        let even = [1.0 / 3.0; 6];
        let solution = solved(parts(), wrong(even, 7.0)).unwrap();
        assert_eq!((solution.lower_bound, solution.status), (0.0, Status::Limit));
        assert!((solution.objective - 8.0 / 3.0).abs() < 1e-15 && solution.gap == 1.0);
    }

    #[test]
    fn a_claim_that_nothing_exists_needs_a_proof() {
        let claim = || Err(Error::Infeasible { row: 0, reason: Infeasibility::BoundsContradict });
        assert_eq!(solved(parts(), claim()).unwrap().status, Status::Limit);
        let apart = |high| {
            let bound = |row, low, high| EntryBound { row, column: 0, low, high };
            ProblemParts { bounds: vec![bound(0, 0.5, 1.0), bound(1, 0.0, high)], ..parts() }
        };
        let undecided = solved(apart(0.4), claim()).unwrap_err();
        assert!(matches!(undecided, Error::Undecided { engine: "test", .. }));
        assert!(matches!(solved(apart(0.1), claim()), Err(Error::Infeasible { row: 0, .. })));
    }
}
