//! Benders' decomposition as in the paper (section 4.4, appendix C): a master over y and w, one
//! subproblem per user.
//!
//! Both bounds of Proposition 4.2 hold at every iteration and are recorded: the master relaxes the problem
//! (lower bound, proven again from its multipliers), and subproblems that all have a solution give a
//! matrix (upper bound, strictly feasible). Departures from the letter: see `master` (level sets) and
//! `subproblem` (solved by column generation).

mod master;
mod subproblem;

use crate::check::check;
use crate::colgen;
use crate::cost::DenseCost;
use crate::direct::Limits;
use crate::error::{Error, Infeasibility};
use crate::matrix::{DenseMatrix, Matrix};
use crate::problem::Problem;
use crate::settings::{Progress, Settings};
use crate::solution::{Certificate, Solution, Status, TracePoint, relative_gap};
use master::{Master, Stage1};
use subproblem::{Subproblem, Verdict};

/// The paper's stopping gap xi, in km per report.
pub const PAPER_GAP: f64 = 0.01;

/// More iterations than this are not worth it: the best so far is returned.
const MOST_ITERATIONS: usize = 300;

/// Subproblems are solved ten times as well as the whole, but never beyond what doubles resolve.
const FINEST_GAP: f64 = 1e-7;

/// The shortest part of the way to a trial that is taken; shorter ones stall.
const SHORTEST_STEP: f64 = 0.3;

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
    let stop = settings.start()?;
    let mut subproblems = Subproblem::all(problem)?;
    let mut master = Master::new(&subproblems, problem.fixed_y());
    let mut best = Best::new(problem, first_y(problem, settings, &master)?);
    let (mut trace, mut step) = (Vec::new(), 1.0_f64);

    for iteration in 1..=MOST_ITERATIONS {
        let limits = Limits::of(settings, &stop);
        // Stage 1: the master guesses y and w.
        let guess = match master.solve(&limits) {
            Stage1::Guess(guess) => guess,
            Stage1::Infeasible { row } => {
                return Err(Error::Infeasible { row, reason: Infeasibility::RowsContradict });
            }
            Stage1::Stopped => break,
        };
        best.raise(guess.lower_bound, &guess.mu);
        if best.is_done(settings, options) || stop.requested() {
            break;
        }
        let y = best.towards(&master.trial(&guess, &best.y, best.upper_bound(), &limits), step);
        // Stage 2: every subproblem checks its w_m at this y and proposes a cut.
        let verdicts = judge_all(&mut subproblems, &y, settings, &limits);
        let mut matrices = Vec::new();
        for (m, verdict) in verdicts.into_iter().enumerate() {
            match verdict {
                Verdict::Bounded { cut, matrix } => {
                    master.require(m, cut);
                    matrices.extend(matrix);
                }
                Verdict::Unbounded { ray } => master.forbid(m, ray),
                Verdict::Stopped => {}
            }
        }
        // In-out: where y was infeasible, the next is nearer to one that is not.
        if matrices.len() == subproblems.len() {
            best.lower_to(problem, &subproblems, &y, matrices);
            step = (2.0 * step).min(1.0);
        } else {
            step = (0.5 * step).max(SHORTEST_STEP);
        }
        let seconds = stop.seconds();
        let (upper_bound, lower_bound) = (best.upper_bound(), best.lower_bound);
        trace.push(TracePoint { iteration, upper_bound, lower_bound, seconds });
        let (gap, columns) = (best.gap(), master.cuts());
        stop.report(Progress { iteration, upper_bound, lower_bound, gap, columns, seconds });
    }
    best.into_solution(problem, settings, options, &master, trace, stop.seconds())
}

/// A y that every subproblem can live with, from the problem without its costs (feasibility cuts
/// alone would grope for one); an even share of each column where none is found at once.
fn first_y(problem: &Problem, settings: &Settings, master: &Master) -> Result<Vec<f64>, Error> {
    if problem.fixed_y().is_some() || !problem.has_ties() {
        return Ok(master.start());
    }
    let entries = problem.rows() * problem.columns();
    let constant = DenseCost::new(problem.rows(), problem.columns(), vec![1.0; entries])?;
    let settings = Settings { progress: None, gap: 0.5, ..settings.clone() };
    match colgen::solve(&problem.with_cost(constant)?, &settings) {
        Ok(solution) => Ok(solution.y),
        Err(error @ Error::Infeasible { .. }) => Err(error),
        Err(_) => Ok(master.start()),
    }
}

/// All subproblems at one y, in parallel.
fn judge_all(
    subproblems: &mut [Subproblem],
    y: &[f64],
    settings: &Settings,
    limits: &Limits,
) -> Vec<Verdict> {
    let settings =
        Settings { gap: (settings.gap * 0.1).max(FINEST_GAP), progress: None, ..settings.clone() };
    #[cfg(feature = "parallel")]
    if settings.threads != 1 {
        use rayon::prelude::*;
        return subproblems.par_iter_mut().map(|s| s.judge(y, &settings, limits)).collect();
    }
    subproblems.iter_mut().map(|s| s.judge(y, &settings, limits)).collect()
}

/// The best bounds so far and what stands behind them.
struct Best {
    mean_cost: f64,
    lower_bound: f64,
    mu: Vec<f64>,
    /// Where the level method stays near: the y of the best matrix, the start before there is one.
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

    fn gap(&self) -> f64 {
        self.cost()
            .map_or(f64::INFINITY, |cost| relative_gap(self.mean_cost, cost, self.lower_bound))
    }

    fn is_done(&self, settings: &Settings, options: &Options) -> bool {
        let absolute = (self.upper_bound() - self.lower_bound) / options.reports;
        self.gap() <= settings.gap || absolute <= options.absolute_gap
    }

    /// A part of the way from the best y to another; all of it while there is no best.
    fn towards(&self, y: &[f64], step: f64) -> Vec<f64> {
        if self.matrix.is_none() {
            return y.to_vec();
        }
        self.y.iter().zip(y).map(|(here, there)| here + step * (there - here)).collect()
    }

    fn raise(&mut self, lower_bound: f64, mu: &[f64]) {
        if lower_bound > self.lower_bound {
            self.lower_bound = lower_bound;
            self.mu.copy_from_slice(mu);
        }
    }

    /// Puts the groups' matrices together, and keeps them if they cost less than the best so far.
    fn lower_to(
        &mut self,
        problem: &Problem,
        subproblems: &[Subproblem],
        y: &[f64],
        matrices: Vec<(Matrix, f64)>,
    ) {
        let cost: f64 = matrices.iter().map(|(_, cost)| cost).sum();
        if cost >= self.upper_bound() {
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
        let (gap, done) = (self.gap(), self.is_done(settings, options));
        let Some((z, _)) = self.matrix else { return Err(Error::StoppedEarly) };
        let z = Matrix::Dense(z);
        let report = check(problem, &z, &self.y);
        if !report.is_strict() {
            let (row, column) = report.worst_entry.unwrap_or((report.worst_row, 0));
            let worst_log_excess = report.worst_log_excess;
            return Err(Error::NotStrict { worst_log_excess, row, column });
        }
        Ok(Solution {
            status: match Status::of_gap(gap, settings.gap) {
                Status::Limit if done => Status::Gap,
                status => status,
            },
            objective: report.cost,
            lower_bound: self.lower_bound,
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
