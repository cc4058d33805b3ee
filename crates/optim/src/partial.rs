//! Columns that the optimum leaves at zero, left out and proven idle afterwards.
//!
//! In a round most reports are far from every user: tied in every row they only cost, and free ones that many
//! others undercut are not used either. Any engine solves the problem faster without them, and its row duals then
//! say of each column that was left out how much it could have helped ([`column_bound`]). Where that is too
//! much, it joins and the problem is solved again; so the answer, its bound and its gap are those of the whole
//! problem.

use crate::bound::column_bound;
use crate::colgen;
use crate::cost::DenseCost;
use crate::error::Error;
use crate::matrix::{DenseMatrix, Matrix};
use crate::problem::{Problem, ProblemParts, Ties};
use crate::settings::Settings;
use crate::solution::{Solution, Status, relative_gap};

/// An engine's `solve`.
pub type Engine = fn(&Problem, &Settings) -> Result<Solution, Error>;

/// So many free columns of each row are tried first.
const CHEAPEST: usize = 20;

/// So often columns that could help are added before all of them are.
const MOST_ROUNDS: usize = 2;

/// The share of the gap that the engine gets; the rest is for the rounding of many idle columns.
const ROOM: f64 = 0.95;

/// Solves a problem with the columns that look promising, and proves that the others need not be used.
pub fn solve(problem: &Problem, settings: &Settings, engine: Engine) -> Result<Solution, Error> {
    let stop = settings.start()?;
    let splittable = problem.fixed_y().is_none() && problem.bounds().is_empty();
    let promising = promising(problem);
    let (mut kept, mut idle): (Vec<usize>, Vec<usize>) =
        (0..problem.columns()).partition(|&k| !splittable || promising[k]);
    let tighter = Settings { gap: ROOM * settings.gap, ..settings.clone() };
    for _ in 0..MOST_ROUNDS {
        if idle.is_empty() || kept.is_empty() {
            break;
        }
        let solution = match engine(&restricted(problem, &kept)?, &tighter) {
            Ok(solution) => solution,
            // Perhaps the whole problem is feasible.
            Err(Error::Infeasible { .. }) => break,
            Err(error) => return Err(error),
        };
        let mu = &solution.certificate.mu;
        let rest = restricted(problem, &idle)?;
        let flows = colgen::flows(&rest, mu)?;
        let help: Vec<f64> =
            flows.iter().enumerate().map(|(at, flow)| column_bound(&rest, mu, at, flow)).collect();
        // Nothing helps by a positive amount; the sum is rounded down.
        let helped = help.iter().sum::<f64>() * (1.0 + 1e-12);
        let lower_bound = (solution.lower_bound + helped).next_down().max(0.0);
        let gap = relative_gap(problem.mean_cost(), solution.objective, lower_bound);
        if gap <= settings.gap.max(solution.gap) || stop.requested() {
            return Ok(Solution {
                status: Status::of_gap(gap, settings.gap),
                lower_bound,
                gap,
                seconds: stop.seconds(),
                ..extended(problem, solution, &kept)
            });
        }
        let helps: Vec<usize> = (0..idle.len()).filter(|&at| help[at] < 0.0).collect();
        kept.extend(helps.iter().map(|&at| idle[at]));
        kept.sort_unstable();
        idle.retain(|k| kept.binary_search(k).is_err());
    }
    let solution = engine(problem, settings)?;
    Ok(Solution { seconds: stop.seconds(), ..solution })
}

/// The columns that are among the cheapest free ones of some row.
fn promising(problem: &Problem) -> Vec<bool> {
    let mut promising = vec![false; problem.columns()];
    let mut costs = vec![0.0; problem.columns()];
    for i in 0..problem.rows() {
        problem.cost().fill_row(i, &mut costs);
        let mut free: Vec<usize> =
            (0..costs.len()).filter(|&k| problem.tie(i, k).is_none()).collect();
        if free.len() > CHEAPEST {
            free.select_nth_unstable_by(CHEAPEST, |&a, &b| costs[a].total_cmp(&costs[b]));
        }
        free.iter().take(CHEAPEST).for_each(|&k| promising[k] = true);
    }
    promising
}

/// The problem over some of its columns.
fn restricted(problem: &Problem, columns: &[usize]) -> Result<Problem, Error> {
    let (mut costs, mut ties) = (Vec::new(), Vec::new());
    let mut row = vec![0.0; problem.columns()];
    for i in 0..problem.rows() {
        problem.cost().fill_row(i, &mut row);
        costs.extend(columns.iter().map(|&k| row[k]));
        ties.extend(columns.iter().map(|&k| problem.tie(i, k)));
    }
    let cost = DenseCost::new(problem.rows(), columns.len(), costs)?;
    Problem::new(ProblemParts {
        groups: problem.groups().to_vec(),
        ties: Some(Ties::new(problem.rows(), columns.len(), &ties)?),
        ..ProblemParts::untied(problem.epsilon(), cost, problem.arcs().to_vec())
    })
}

/// A solution over some columns with zeros in the others.
fn extended(problem: &Problem, solution: Solution, columns: &[usize]) -> Solution {
    let mut z = DenseMatrix::zeros(problem.rows(), problem.columns());
    let mut row = vec![0.0; columns.len()];
    for i in 0..problem.rows() {
        solution.z.fill_row(i, &mut row);
        columns.iter().zip(&row).for_each(|(&k, value)| z.row_mut(i)[k] = *value);
    }
    let mut y = vec![0.0; problem.columns()];
    columns.iter().zip(&solution.y).for_each(|(&k, value)| y[k] = *value);
    Solution { z: Matrix::Dense(z), y, ..solution }
}
