//! The one way out of every engine: no answer leaves that the independent checkers do not accept.
//!
//! Engines make matrices strict and prove bounds as well as they can, and where numbers are extreme they fail at it without
//! noticing. So whatever one returns is looked at once more, for the problem as it was asked: the matrix by [`check`] (or its
//! sparse twin), and a claim that there is no matrix by [`infeasible::proof`]. What is refused is an error, unless something
//! is feasible whatever the numbers are: where nothing is tied or bounded, reporting one and the same column from everywhere.

use crate::bound::{bound_of_flows, proven_bound};
use crate::check::{Report, check};
use crate::error::{Error, Fault, Infeasibility};
use crate::infeasible;
use crate::matrix::{DenseMatrix, Matrix};
use crate::problem::Problem;
use crate::scaled::Scaled;
use crate::settings::Settings;
use crate::solution::{Certificate, Solution, Status, relative_gap};
use crate::split::connected;

/// Row sums of doubles cannot all be exactly 1; this much is rounding.
pub const ROW_SUM_ERROR: f64 = 1e-12;

/// A bound above the cost of a matrix by no more than this share differs from it by rounding.
const SAME_COST: f64 = 1e-9;

/// Gaps that differ by less were the same before rounding.
const SAME_GAP: f64 = 1e-9;

/// Solves a problem by an engine, which sees ordinary numbers ([`Scaled`]), and lets out what is verified.
pub(crate) fn solve(
    problem: &Problem,
    settings: &Settings,
    name: &'static str,
    engine: impl FnOnce(&Problem) -> Result<Solution, Error>,
) -> Result<Solution, Error> {
    let answer = match Scaled::of(problem)? {
        Some(scaled) => engine(&scaled.problem).map(|solution| scaled.undo(problem, solution)),
        None => engine(problem),
    };
    let refused = match answer.and_then(|solution| accepted(problem, settings, name, solution)) {
        Err(Error::Infeasible { row, reason }) => match reason {
            // Its multipliers were proven where they were found.
            Infeasibility::RowsContradict => return Err(Error::Infeasible { row, reason }),
            _ if infeasible::proof(problem).is_some() => {
                return Err(Error::Infeasible { row, reason });
            }
            _ => Error::Undecided { engine: name, row, reason },
        },
        Err(error @ (Error::Unverified { .. } | Error::NotStrict { .. } | Error::StoppedEarly)) => {
            match infeasible::proof(problem) {
                Some((row, reason)) => return Err(Error::Infeasible { row, reason }),
                None => error,
            }
        }
        settled => return settled,
    };
    if problem.has_ties() || !problem.bounds().is_empty() {
        return Err(refused);
    }
    accepted(problem, settings, name, constant(problem))
}

/// The solution with the numbers that the checkers find, or what they refuse it for.
pub(crate) fn accepted(
    problem: &Problem,
    settings: &Settings,
    engine: &'static str,
    mut solution: Solution,
) -> Result<Solution, Error> {
    let report = examined(problem, &solution);
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

fn examined(problem: &Problem, solution: &Solution) -> Report {
    #[cfg(feature = "parallel")]
    if let Some(sparse) = solution.z.as_sparse() {
        return crate::large::check_sparse(problem, sparse);
    }
    check(problem, &solution.z, &solution.y)
}

/// The first thing that is wrong with a matrix.
fn fault(report: &Report) -> Option<Fault> {
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

/// Every row reports the column that is cheapest for all that arcs join it with; that every row costs at least its cheapest
/// column is the bound.
fn constant(problem: &Problem) -> Solution {
    let (rows, columns) = (problem.rows(), problem.columns());
    let mut z = DenseMatrix::zeros(rows, columns);
    let mut mu = vec![0.0; rows];
    let mut row = vec![0.0; columns];
    for part in connected(rows, problem.arcs().iter().map(|arc| (arc.i, arc.j))) {
        let mut sum = vec![0.0; columns];
        for &i in &part {
            problem.cost().fill_row(i, &mut row);
            sum.iter_mut().zip(&row).for_each(|(sum, cost)| *sum += cost);
            mu[i] = row.iter().copied().fold(f64::INFINITY, f64::min);
        }
        let cheapest = (0..columns).min_by(|&a, &b| sum[a].total_cmp(&sum[b])).unwrap_or(0);
        part.iter().for_each(|&i| *z.at_mut(i, cheapest) = 1.0);
    }
    Solution {
        status: Status::Limit,
        objective: f64::INFINITY,
        lower_bound: bound_of_flows(problem, &mu, &[]).max(0.0),
        gap: f64::INFINITY,
        iterations: 0,
        columns: 0,
        seconds: 0.0,
        z: Matrix::Dense(z),
        y: vec![0.0; columns],
        certificate: Certificate { worst_log_excess: 0.0, worst_row_sum_error: 0.0, mu },
        trace: Vec::new(),
    }
}
