//! Columns that the optimum leaves at zero, left out and proven idle afterwards.
//!
//! In a round most reports are far from every user: tied in every row they only cost, and free ones that many
//! others undercut are not used either. Any engine solves the problem faster without them, and its row duals then
//! say of each column that was left out how much it could have helped ([`column_bound`]). Those that could help too
//! much join and the problem is solved again; so the answer, its bound and its gap are those of the whole problem.

use crate::certificate::column_bound;
use crate::certificate::rounding::{LowSum, sum_below};
use crate::cone;
use crate::cost::DenseCost;
use crate::error::Error;
use crate::matrix::{DenseMatrix, Matrix};
use crate::problem::{Problem, ProblemParts, Ties};
use crate::settings::Settings;
use crate::solution::{Solution, Status, relative_gap};
use crate::verified;

/// An engine's `solve`.
pub type Engine = fn(&Problem, &Settings) -> Result<Solution, Error>;

/// No more columns of one kind than this are tried first.
const MOST_CHEAPEST: usize = 20;

/// So many columns in the middle of everybody are tried for every row that is like another.
const CENTRAL: usize = 4;

/// So often columns that could help are added before all of them are.
const MOST_ROUNDS: usize = 3;

/// Columns join until those still left out could help by no more than this share of the gap.
const LEFT_OUT: f64 = 0.01;

/// The share of the gap that the engine gets; the rest is for the rounding of many idle columns.
const ROOM: f64 = 0.95;

/// Solves a problem with the columns that look promising, and proves that the others need not be used.
pub fn solve(problem: &Problem, settings: &Settings, engine: Engine) -> Result<Solution, Error> {
    let stop = settings.start_watch()?;
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
            // Perhaps the whole problem is feasible, or easier.
            Err(Error::Infeasible { .. } | Error::Undecided { .. } | Error::Unverified { .. }) => {
                break;
            }
            Err(error) => return Err(error),
        };
        let mut help = help(problem, &solution.certificate.mu, &idle)?;
        let helped = help.iter().map(|(_, help)| *help);
        let lower_bound = sum_below(helped.chain([solution.lower_bound])).max(0.0);
        let gap = relative_gap(problem.mean_cost(), solution.objective, lower_bound);
        if gap <= settings.gap.max(solution.gap) || stop.requested() {
            let whole = Solution {
                status: Status::of_gap(gap, settings.gap),
                lower_bound,
                gap,
                seconds: stop.seconds(),
                ..extended(problem, solution, &kept)
            };
            return verified::accepted(problem, settings, "partial", whole);
        }
        help.sort_by(|a, b| b.1.total_cmp(&a.1));
        let (mut left_out, most) = (0.0, LEFT_OUT * settings.gap * solution.objective);
        let joins = help.iter().skip_while(|(_, help)| {
            left_out -= help;
            left_out <= most
        });
        kept.extend(joins.map(|&(k, _)| k));
        kept.sort_unstable();
        idle.retain(|k| kept.binary_search(k).is_err());
    }
    let solution = engine(problem, settings)?;
    Ok(Solution { seconds: stop.seconds(), ..solution })
}

/// The columns that are among the cheapest free ones of some row: its very cheapest, and one more for every other row
/// that is about as likely to report the same, by the arcs. Where there are such rows, also columns in the middle of
/// everybody: what is tied makes others pay for a report, and there they pay the least.
fn promising(problem: &Problem) -> Vec<bool> {
    let mut alike = vec![0.0; problem.rows()];
    for arc in problem.arcs() {
        let likely = (-problem.epsilon() * arc.d).exp();
        alike[arc.i] += likely;
        alike[arc.j] += likely;
    }
    let alike: Vec<usize> = alike.iter().map(|alike: &f64| alike.round() as usize).collect();
    let mut promising = vec![false; problem.columns()];
    let mut costs = vec![0.0; problem.columns()];
    let (mut paid, mut reported) = (costs.clone(), costs.clone());
    for (i, alike) in alike.iter().enumerate() {
        problem.cost().fill_row(i, &mut costs);
        let mut free = Vec::new();
        for k in 0..costs.len() {
            let tie = problem.tie(i, k);
            if tie.is_none() {
                free.push(k);
            }
            let factor = tie.unwrap_or(1.0);
            paid[k] += factor * costs[k];
            reported[k] += factor;
        }
        cheapest(&mut free, 1 + alike, &costs).for_each(|k| promising[k] = true);
    }
    let per_report: Vec<f64> = paid.iter().zip(&reported).map(|(c, z)| c / z).collect();
    let most_alike = alike.into_iter().max().unwrap_or(0);
    let mut all: Vec<usize> = (0..problem.columns()).collect();
    cheapest(&mut all, CENTRAL * most_alike, &per_report).for_each(|k| promising[k] = true);
    promising
}

/// The `count` cheapest of some columns, or [`MOST_CHEAPEST`] if that is less.
fn cheapest(columns: &mut [usize], count: usize, cost: &[f64]) -> impl Iterator<Item = usize> {
    let count = count.min(MOST_CHEAPEST);
    if columns.len() > count {
        columns.select_nth_unstable_by(count, |&a, &b| cost[a].total_cmp(&cost[b]));
    }
    columns.iter().copied().take(count)
}

/// The columns that could lower the cost at these row duals, and by how much: numbers below zero.
fn help(problem: &Problem, mu: &[f64], idle: &[usize]) -> Result<Vec<(usize, f64)>, Error> {
    let doubtful = not_plainly_idle(problem, mu, idle);
    if doubtful.is_empty() {
        return Ok(Vec::new());
    }
    let rest = restricted(problem, &doubtful)?;
    let flows = cone::flows(&rest, mu)?;
    let help = |(at, flow): (usize, &Vec<_>)| column_bound(&rest, mu, at, flow);
    let help = flows.iter().enumerate().map(help);
    Ok(doubtful.into_iter().zip(help).filter(|(_, help)| *help < 0.0).collect())
}

/// The columns of which it takes a flow to say whether they help: in all others no free entry costs less than the
/// dual of its row, and what is tied costs no less than it earns.
fn not_plainly_idle(problem: &Problem, mu: &[f64], idle: &[usize]) -> Vec<usize> {
    let mut undercuts = vec![false; idle.len()];
    let mut tied = vec![LowSum::default(); idle.len()];
    let mut costs = vec![0.0; problem.columns()];
    for (i, mu) in mu.iter().enumerate() {
        problem.cost().fill_row(i, &mut costs);
        for (at, &k) in idle.iter().enumerate() {
            match problem.tie(i, k) {
                None => undercuts[at] |= costs[k] < *mu,
                Some(factor) => tied[at].extend([factor * costs[k], -factor * mu]),
            }
        }
    }
    let doubtful = |at: &usize| undercuts[*at] || tied[*at].low() < 0.0;
    (0..idle.len()).filter(doubtful).map(|at| idle[at]).collect()
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
