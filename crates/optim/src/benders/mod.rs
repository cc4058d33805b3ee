//! Benders' decomposition as in the paper (section 4.4, appendix C): a master over y and w, one
//! subproblem per user.
//!
//! Both bounds of Proposition 4.2 hold at every iteration and are recorded: the master relaxes the problem
//! (lower bound, proven again from its multipliers), and subproblems that all have a solution give a
//! matrix (upper bound, strictly feasible). Departures from the letter: by default the y to try is not the
//! master's minimiser but comes from the central path (`path`), and so does a second cut per user and iteration;
//! `plain` has the letter ([`Guide`]). Subproblems are solved by column generation (`subproblem`).

mod cholesky;
mod master;
mod path;
mod plain;
mod subproblem;
#[cfg(test)]
mod tests;
mod user;

use crate::bound::proven_bound;
use crate::certificate::check;
use crate::colgen;
use crate::cone::for_each;
use crate::direct::{Costs, Limits};
use crate::error::{Error, Infeasibility};
use crate::incumbent::{Estimate, Incumbent};
use crate::matrix::{DenseMatrix, Matrix};
use crate::presolve::coincident;
use crate::problem::Problem;
use crate::settings::Settings;
use crate::solution::{Solution, Status};
use crate::verified;
use master::{Master, Stage1};
use path::Path;
use subproblem::{Subproblem, Verdict};

/// The paper's stopping gap xi, in km per report.
pub const PAPER_GAP: f64 = 0.01;

/// What errors call this engine.
pub(crate) const NAME: &str = "Benders";

/// More iterations than this are not worth it: the best so far is returned.
const MOST_ITERATIONS: usize = 100;

/// The central path is followed to this share of what the bounds leave open.
const TIGHTENING: f64 = 0.1;

/// Subproblems are solved ten times as well as the whole, but never beyond what doubles resolve.
const FINEST_GAP: f64 = 1e-7;

/// Which y is tried next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Guide {
    /// One of the central path of the whole problem: ours.
    #[default]
    CentralPath,
    /// The master's minimiser: the paper's letter.
    Master,
    /// The middle between the master's minimiser and the best so far.
    InOut,
}

/// What Benders takes besides the common settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Stop once the bounds are this close, in units of cost per report; [`PAPER_GAP`] by default. The common
    /// relative gap stops too, whichever comes first.
    pub absolute_gap: f64,
    /// Reports that the problem's costs stand for: the sum of the priors p_i, 1 when costs already
    /// are per report.
    pub reports: f64,
    /// Which y is tried next.
    pub guide: Guide,
}

impl Default for Options {
    fn default() -> Self {
        Self { absolute_gap: PAPER_GAP, reports: 1.0, guide: Guide::default() }
    }
}

/// Solves to the relative gap of the settings.
pub fn solve(problem: &Problem, settings: &Settings) -> Result<Solution, Error> {
    solve_with(problem, settings, &Options { absolute_gap: 0.0, ..Options::default() })
}

/// Solves to the relative gap of the settings or the absolute gap of the options.
pub fn solve_with(
    problem: &Problem,
    settings: &Settings,
    options: &Options,
) -> Result<Solution, Error> {
    verified::solve(problem, settings, NAME, |problem| attempt(problem, settings, options))
}

/// As [`solve_with`], unverified.
pub(crate) fn attempt(
    problem: &Problem,
    settings: &Settings,
    options: &Options,
) -> Result<Solution, Error> {
    coincident::solve(problem, settings, |merged| match options.guide {
        Guide::CentralPath => solve_merged(merged, settings, options),
        Guide::Master | Guide::InOut => plain::solve(merged, settings, options),
    })
}

fn solve_merged(
    problem: &Problem,
    settings: &Settings,
    options: &Options,
) -> Result<Solution, Error> {
    let stop = settings.start_watch()?;
    let subproblems = Subproblem::all(problem)?;
    let mut master = Master::new(&subproblems, problem.fixed_y());
    let mut y = master.start();
    let mut best = Incumbent::new(settings, stop, problem.rows(), problem.mean_cost());
    let mut path = master.has_shared().then(|| {
        let programs = subproblems.iter().map(|subproblem| &subproblem.program);
        let dual = best.mean_cost / problem.rows() as f64;
        Path::new(programs, master.units(), &y, dual, settings.threads != 1)
    });

    while best.iterations < MOST_ITERATIONS {
        best.iterations += 1;
        let before = (best.cost(), best.lower_bound);
        // Where to look: the central path gives y, and row duals that fit together.
        let mut walked = false;
        if let Some(path) = &mut path {
            walked = path.advance(TIGHTENING * open(&best));
            y = path.y();
            if !walked && best.iterations == 1 {
                y = feasible_y(problem, settings)?.unwrap_or(y);
            }
            let points = subproblems.iter().zip(path.multipliers());
            for (m, (subproblem, point)) in points.enumerate() {
                master.require(m, subproblem.program.affine_bound(&point, Costs::Counted));
            }
        }
        // Stage 2: every subproblem checks this y and proposes a cut.
        let limits = Limits::of(settings, &stop);
        let matrices = consult(&subproblems, &y, settings, &limits, &mut master);
        take(&mut best, problem, &subproblems, &y, matrices);
        if let Some(halfway) = halfway(&best, &y) {
            // Near the edge of its domain a y may leave no room for a strict matrix; costs are convex in y.
            let matrices = consult(&subproblems, &halfway, settings, &limits, &mut master);
            take(&mut best, problem, &subproblems, &halfway, matrices);
        }
        // Stage 1: the master's best guess of y and w under all cuts.
        guess(&mut master, &limits, &mut best)?;
        best.report(&Estimate { gap: best.gap(), bound: 0.0, columns: master.cuts() });
        let stuck = !walked && before == (best.cost(), best.lower_bound);
        if is_done(&best, options) || stop.requested() || path.is_none() || stuck {
            break;
        }
    }
    finish(best, problem, options, master.cuts())
}

/// Stage 1: the best gets what the master proves. The minimiser; `None` where it was stopped.
fn guess(
    master: &mut Master,
    limits: &Limits,
    best: &mut Incumbent<'_>,
) -> Result<Option<Vec<f64>>, Error> {
    match master.solve(limits) {
        Stage1::Guess { lower_bound, mu, y } => {
            best.prove(mu, lower_bound);
            Ok(Some(y))
        }
        Stage1::Infeasible { row } => {
            Err(Error::Infeasible { row, reason: Infeasibility::RowsContradict })
        }
        Stage1::Stopped => Ok(None),
    }
}

/// What is handed out in the end, after so many cuts.
fn finish(
    mut best: Incumbent<'_>,
    problem: &Problem,
    options: &Options,
    cuts: usize,
) -> Result<Solution, Error> {
    let is_done = is_done(&best, options);
    // The cuts were added up in numbers that round; what their duals prove is the bound.
    best.lower_bound = proven_bound(problem, &best.mu)?;
    let mut solution = best.solution(cuts).ok_or(Error::StoppedEarly)?;
    if is_done && solution.status == Status::Limit {
        solution.status = Status::Gap;
    }
    Ok(solution)
}

/// A y that every subproblem can live with, from the problem without its costs; an error where
/// there is none. Asked only where the central path does not find the feasible set.
fn feasible_y(problem: &Problem, settings: &Settings) -> Result<Option<Vec<f64>>, Error> {
    let settings = Settings { progress: None, gap: 0.5, ..settings.clone() };
    match colgen::attempt(&problem.with_even_costs()?, &settings) {
        Ok(solution) => Ok(Some(solution.y)),
        Err(error @ Error::Infeasible { .. }) => Err(error),
        Err(_) => Ok(None),
    }
}

/// Asks all subproblems about one y and hands their cuts to the master; returns the matrices of those that found one.
fn consult(
    subproblems: &[Subproblem],
    y: &[f64],
    settings: &Settings,
    limits: &Limits,
    master: &mut Master,
) -> Vec<(Matrix, f64)> {
    let mut matrices = Vec::new();
    for (m, verdict) in judge_all(subproblems, y, settings, limits).into_iter().enumerate() {
        match verdict {
            Verdict::Bounded { cut, matrix } => {
                master.require(m, cut);
                matrices.extend(matrix);
            }
            Verdict::Unbounded { ray } => master.forbid(m, ray),
            Verdict::Stopped => {}
        }
    }
    matrices
}

/// All subproblems at one y, in parallel.
fn judge_all(
    subproblems: &[Subproblem],
    y: &[f64],
    settings: &Settings,
    limits: &Limits,
) -> Vec<Verdict> {
    let settings =
        Settings { gap: (settings.gap * 0.1).max(FINEST_GAP), progress: None, ..settings.clone() };
    let mut all: Vec<&Subproblem> = subproblems.iter().collect();
    for_each(&mut all, settings.threads != 1, |(_, subproblem), (): &mut ()| {
        subproblem.judge(y, &settings, limits)
    })
}

/// What the bounds leave open, while little is known no more than the mean cost. With ties the optimum may be
/// above that.
fn open(best: &Incumbent<'_>) -> f64 {
    let likely = best.mean_cost.max(2.0 * best.lower_bound);
    best.cost().min(likely) - best.lower_bound
}

fn is_done(best: &Incumbent<'_>, options: &Options) -> bool {
    let absolute = (best.cost() - best.lower_bound) / options.reports;
    best.gap() <= best.settings.gap || absolute <= options.absolute_gap
}

/// The middle between the best y and another that was no better.
fn halfway(best: &Incumbent<'_>, y: &[f64]) -> Option<Vec<f64>> {
    let (_, own, _) = best.matrix.as_ref().filter(|(_, own, _)| own != y)?;
    Some(own.iter().zip(y).map(|(own, y)| 0.5 * (own + y)).collect())
}

/// Puts the groups' matrices together, and keeps them if all have one and they cost less than the best so far.
fn take(
    best: &mut Incumbent<'_>,
    problem: &Problem,
    subproblems: &[Subproblem],
    y: &[f64],
    matrices: Vec<(Matrix, f64)>,
) {
    let cost: f64 = matrices.iter().map(|(_, cost)| cost).sum();
    if matrices.len() < subproblems.len() || cost >= best.cost() {
        return;
    }
    let mut z = DenseMatrix::zeros(problem.rows(), problem.columns());
    for (subproblem, (matrix, _)) in subproblems.iter().zip(&matrices) {
        for (p, &row) in subproblem.program.rows.iter().enumerate() {
            matrix.fill_row(p, z.row_mut(row));
        }
    }
    let z = Matrix::Dense(z);
    let report = check(problem, &z, y);
    // What is not strict is not taken.
    let _ = best.offer(z, y.to_vec(), report, 0.0);
}
