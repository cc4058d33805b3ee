//! Benders' decomposition as in the paper (section 4.4, appendix C): a master over y and w, one
//! subproblem per user.
//!
//! Both bounds of Proposition 4.2 hold at every iteration and are recorded: the master relaxes the problem
//! (lower bound, proven again from its multipliers), and subproblems that all have a solution give a
//! matrix (upper bound, strictly feasible). Departures from the letter: the y to try is not the master's
//! minimiser but comes from the central path (`path`), and so does a second cut per user and iteration;
//! subproblems are solved by column generation (`subproblem`).

mod cholesky;
mod master;
mod path;
mod subproblem;
#[cfg(test)]
mod tests;
mod user;

use crate::bound::proven_bound;
use crate::certificate::check;
use crate::colgen;
use crate::cost::DenseCost;
use crate::direct::{Costs, Limits};
use crate::error::{Error, Infeasibility};
use crate::matrix::{DenseMatrix, Matrix};
use crate::presolve::coincident;
use crate::problem::Problem;
use crate::settings::{Progress, Settings};
use crate::solution::{Certificate, Solution, Status, TracePoint, relative_gap};
use crate::verified;
use master::{Master, Stage1};
use path::Path;
use subproblem::{Subproblem, Verdict};

/// The paper's stopping gap xi, in km per report.
pub const PAPER_GAP: f64 = 0.01;

/// What errors call this engine.
const NAME: &str = "Benders";

/// More iterations than this are not worth it: the best so far is returned.
const MOST_ITERATIONS: usize = 100;

/// The central path is followed to this share of what the bounds leave open.
const TIGHTENING: f64 = 0.1;

/// Subproblems are solved ten times as well as the whole, but never beyond what doubles resolve.
const FINEST_GAP: f64 = 1e-7;

/// What Benders takes besides the common settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Stop once the bounds are this close, in units of cost per report; [`PAPER_GAP`] by default. The common
    /// relative gap stops too, whichever comes first.
    pub absolute_gap: f64,
    /// Reports that the problem's costs stand for: the sum of the priors p_i, 1 when costs already
    /// are per report.
    pub reports: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self { absolute_gap: PAPER_GAP, reports: 1.0 }
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

/// As [`solve_with`], but an error where nothing is found that holds.
pub(crate) fn tried_with(
    problem: &Problem,
    settings: &Settings,
    options: &Options,
) -> Result<Solution, Error> {
    verified::tried(problem, settings, NAME, |problem| attempt(problem, settings, options))
}

fn attempt(problem: &Problem, settings: &Settings, options: &Options) -> Result<Solution, Error> {
    coincident::solve(problem, settings, |merged| solve_merged(merged, settings, options))
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
    let mut best = Best::new(problem, y.clone());
    let mut path = master.has_shared().then(|| {
        let programs = subproblems.iter().map(|subproblem| &subproblem.program);
        let dual = best.mean_cost / problem.rows() as f64;
        Path::new(programs, master.units(), &y, dual, settings.threads != 1)
    });
    let mut trace = Vec::new();

    for iteration in 1..=MOST_ITERATIONS {
        let before = (best.upper_bound(), best.lower_bound);
        // Where to look: the central path gives y, and row duals that fit together.
        let mut walked = false;
        if let Some(path) = &mut path {
            walked = path.advance(TIGHTENING * best.open());
            y = path.y();
            if !walked && iteration == 1 {
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
        best.lower_to(problem, &subproblems, &y, matrices);
        if let Some(halfway) = best.halfway_to(&y) {
            // Near the edge of its domain a y may leave no room for a strict matrix; costs are convex in y.
            let matrices = consult(&subproblems, &halfway, settings, &limits, &mut master);
            best.lower_to(problem, &subproblems, &halfway, matrices);
        }
        // Stage 1: the master's best guess of y and w under all cuts.
        match master.solve(&limits) {
            Stage1::Guess { lower_bound, mu } => best.raise(lower_bound, &mu),
            Stage1::Infeasible { row } => {
                return Err(Error::Infeasible { row, reason: Infeasibility::RowsContradict });
            }
            Stage1::Stopped => {}
        }
        let seconds = stop.seconds();
        let (upper_bound, lower_bound) = (best.upper_bound(), best.lower_bound);
        trace.push(TracePoint { iteration, upper_bound, lower_bound, seconds });
        let (gap, columns) = (best.gap(), master.cuts());
        let promised = gap;
        stop.report(Progress {
            iteration,
            upper_bound,
            lower_bound,
            gap,
            promised,
            columns,
            seconds,
        });
        let stuck = !walked && before == (upper_bound, lower_bound);
        if best.is_done(settings, options) || stop.requested() || path.is_none() || stuck {
            break;
        }
    }
    best.into_solution(problem, settings, options, &master, trace, stop.seconds())
}

/// A y that every subproblem can live with, from the problem without its costs; an error where
/// there is none. Asked only where the central path does not find the feasible set.
fn feasible_y(problem: &Problem, settings: &Settings) -> Result<Option<Vec<f64>>, Error> {
    let entries = problem.rows() * problem.columns();
    let constant = DenseCost::new(problem.rows(), problem.columns(), vec![1.0; entries])?;
    let settings = Settings { progress: None, gap: 0.5, ..settings.clone() };
    match colgen::attempt(&problem.with_cost(constant)?, &settings) {
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
    #[cfg(feature = "parallel")]
    if settings.threads != 1 {
        use rayon::prelude::*;
        return subproblems.par_iter().map(|s| s.judge(y, &settings, limits)).collect();
    }
    subproblems.iter().map(|s| s.judge(y, &settings, limits)).collect()
}

/// The best bounds so far and what stands behind them.
struct Best {
    mean_cost: f64,
    lower_bound: f64,
    mu: Vec<f64>,
    /// The y of the best matrix.
    y: Vec<f64>,
    matrix: Option<(DenseMatrix, f64)>,
}

impl Best {
    fn new(problem: &Problem, y: Vec<f64>) -> Self {
        let (mean_cost, mu) = (problem.mean_cost(), vec![0.0; problem.rows()]);
        Self { mean_cost, lower_bound: 0.0, mu, y, matrix: None }
    }

    fn cost(&self) -> Option<f64> {
        self.matrix.as_ref().map(|(_, cost)| *cost)
    }

    fn upper_bound(&self) -> f64 {
        self.cost().unwrap_or(f64::INFINITY)
    }

    /// What the bounds leave open, while little is known no more than the mean cost. With ties the optimum may be
    /// above that.
    fn open(&self) -> f64 {
        let likely = self.mean_cost.max(2.0 * self.lower_bound);
        self.upper_bound().min(likely) - self.lower_bound
    }

    fn gap(&self) -> f64 {
        self.cost()
            .map_or(f64::INFINITY, |cost| relative_gap(self.mean_cost, cost, self.lower_bound))
    }

    fn is_done(&self, settings: &Settings, options: &Options) -> bool {
        let absolute = (self.upper_bound() - self.lower_bound) / options.reports;
        self.gap() <= settings.gap || absolute <= options.absolute_gap
    }

    fn raise(&mut self, lower_bound: f64, mu: &[f64]) {
        if lower_bound > self.lower_bound {
            self.lower_bound = lower_bound;
            self.mu.copy_from_slice(mu);
        }
    }

    /// The middle between the best y and another that was no better.
    fn halfway_to(&self, y: &[f64]) -> Option<Vec<f64>> {
        let differs = self.matrix.is_some() && self.y != y;
        differs.then(|| self.y.iter().zip(y).map(|(best, y)| 0.5 * (best + y)).collect())
    }

    /// Puts the groups' matrices together, and keeps them if all have one and they cost less than the best so far.
    fn lower_to(
        &mut self,
        problem: &Problem,
        subproblems: &[Subproblem],
        y: &[f64],
        matrices: Vec<(Matrix, f64)>,
    ) {
        let cost: f64 = matrices.iter().map(|(_, cost)| cost).sum();
        if matrices.len() < subproblems.len() || cost >= self.upper_bound() {
            return;
        }
        let mut z = DenseMatrix::zeros(problem.rows(), problem.columns());
        for (subproblem, (matrix, _)) in subproblems.iter().zip(&matrices) {
            for (p, &row) in subproblem.program.rows.iter().enumerate() {
                matrix.fill_row(p, z.row_mut(row));
            }
        }
        self.matrix = Some((z, cost));
        self.y = y.to_vec();
    }

    fn into_solution(
        self,
        problem: &Problem,
        settings: &Settings,
        options: &Options,
        master: &Master,
        trace: Vec<TracePoint>,
        seconds: f64,
    ) -> Result<Solution, Error> {
        let done = self.is_done(settings, options);
        let Some((z, _)) = self.matrix else { return Err(Error::StoppedEarly) };
        // The cuts were added up in numbers that round; what their duals prove is the bound.
        let lower_bound = proven_bound(problem, &self.mu)?;
        let z = Matrix::Dense(z);
        let report = check(problem, &z, &self.y);
        if !report.is_strict() {
            let (row, column) = report.worst_entry.unwrap_or((report.worst_row, 0));
            let worst_log_excess = report.worst_log_excess;
            return Err(Error::NotStrict { worst_log_excess, row, column });
        }
        let gap = relative_gap(self.mean_cost, report.cost, lower_bound);
        Ok(Solution {
            status: match Status::of_gap(gap, settings.gap) {
                Status::Limit if done => Status::Gap,
                status => status,
            },
            objective: report.cost,
            lower_bound,
            gap,
            iterations: trace.len(),
            columns: master.cuts(),
            seconds,
            z,
            y: self.y,
            certificate: Certificate {
                worst_log_excess: report.worst_log_excess,
                worst_row_sum_error: report.worst_row_sum_error,
                mu: self.mu,
            },
            trace,
        })
    }
}
