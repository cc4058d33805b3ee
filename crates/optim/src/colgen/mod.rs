//! Column generation over the columns of the matrix: the default engine.
//!
//! The Geo-Ind constraints never mix columns, so each column is priced alone (`tree`), and a master
//! problem (`master`) mixes their rays so that every row sums up to 1. The master is an interior
//! point that is never solved to the end: its central duals are priced, the best bound is kept, and the
//! rays found join the iterate where it stands.

mod closed_form;
mod dense;
mod dual;
mod incumbent;
mod interior;
mod links;
mod master;
mod normalise;
mod output;
mod polish;
pub(crate) mod repair;
mod round;
mod settle;
mod start;
mod sweep;
mod warm;

use crate::cone::{Blocks, NO_ROW, Root, Tree};
use crate::cost::DenseCost;
use crate::error::{Error, Infeasibility};
use crate::problem::Problem;
use crate::settings::{Progress, Settings, Stop};
use crate::solution::{Solution, Status, TracePoint, relative_gap};
use crate::verified::ROW_SUM_ERROR;
use crate::{presolve, verified};
use incumbent::Incumbent;
use master::{Column, Kind, Link, Master};
use round::BOX_RADIUS;
use std::sync::Arc;
pub use warm::WarmStart;

/// What errors call this engine.
const NAME: &str = "column generation";

/// More outer iterations than this are not worth it: the best so far is returned.
const MOST_ITERATIONS: usize = 500;

/// So many in a row that neither close the gap nor raise the bound are the last: numbers too far apart for an interior point
/// send it in circles.
const IDLE_ITERATIONS: usize = 60;

/// What is left of a gap that an iteration has closed, or a bound was of what it has become.
const ADVANCED: f64 = 0.99;

/// After an attempt at a strict matrix that was not good enough the next one waits for a smaller gap, or for so many iterations.
const PAUSE: usize = 10;

/// Above this promised gap the iterate is too far from a vertex to be polished.
const POLISHED_GAP: f64 = 1e-3;

/// A gap from which on a solve ends while the iterate is still far from every vertex, and the share of its time that goes into
/// incumbents on the way; of other solves it is less, since polishing will end them.
const LOOSE_GAP: f64 = 1e-3;
const LOOSE_SHARE: f64 = 0.5;
const TIGHT_SHARE: f64 = 0.03;

/// Solves that have not taken so many seconds yet will end soon: their incumbents are not improved on the way.
const FIRST_SECONDS: f64 = 1.0;

/// Mixing the rays anew takes about as long as so many steps of the master.
const ATTEMPT_STEPS: f64 = 15.0;

/// A further iteration, and the matrix and proof after it, take about so many times as long as the iteration before.
const ROUND_AND_END: f64 = 2.5;

/// Solves a problem to the gap asked for: rows at one spot as one, and independent parts by themselves.
pub fn solve(problem: &Problem, settings: &Settings) -> Result<Solution, Error> {
    verified::solve(problem, settings, NAME, |problem| attempt(problem, settings))
}

/// As [`solve`], but an error where nothing is found that holds.
pub(crate) fn tried(problem: &Problem, settings: &Settings) -> Result<Solution, Error> {
    verified::tried(problem, settings, NAME, |problem| attempt(problem, settings))
}

/// As [`solve`], unverified: for engines that look at what they are given themselves.
pub(crate) fn attempt(problem: &Problem, settings: &Settings) -> Result<Solution, Error> {
    presolve::solve(problem, settings, |part, settings| {
        if part.mean_cost() == 0.0 {
            return solve_without_cost(part, settings);
        }
        attempt_from(part, settings, &mut WarmStart::default())
    })
}

/// Any feasible matrix will do where nothing costs anything. With every entry at the same price, which row sums
/// fix, the engine finds one.
fn solve_without_cost(problem: &Problem, settings: &Settings) -> Result<Solution, Error> {
    let (rows, columns) = (problem.rows(), problem.columns());
    let even = DenseCost::new(rows, columns, vec![1.0; rows * columns])?;
    let found = attempt_from(&problem.with_cost(even)?, settings, &mut WarmStart::default())?;
    let mut solution =
        Solution { status: Status::Optimal, objective: 0.0, lower_bound: 0.0, gap: 0.0, ..found };
    solution.certificate.mu.fill(0.0);
    for point in &mut solution.trace {
        (point.upper_bound, point.lower_bound) = (0.0, 0.0);
    }
    Ok(solution)
}

/// Solves a problem as a whole, starting from what an earlier solve of a similar one left behind, and leaves
/// behind what this one found. Any warm start is safe: it changes the time, never the answer.
pub fn solve_from(
    problem: &Problem,
    settings: &Settings,
    warm: &mut WarmStart,
) -> Result<Solution, Error> {
    verified::solve(problem, settings, NAME, |problem| attempt_from(problem, settings, warm))
}

fn attempt_from(
    problem: &Problem,
    settings: &Settings,
    warm: &mut WarmStart,
) -> Result<Solution, Error> {
    let stop = settings.start_watch()?;
    if stop.aborted() {
        return Err(Error::StoppedEarly);
    }
    let mut run = Run::new(problem, settings, stop)?;
    let closed_form = match warm.fits(problem) {
        true => {
            run.start_warm(warm);
            None
        }
        false => run.start_cold(),
    };
    let solution = match closed_form {
        Some(solution) => solution,
        None => run.iterate()?,
    };
    run.leave(warm);
    Ok(solution)
}

/// One solve in progress.
struct Run<'a> {
    problem: &'a Problem,
    settings: &'a Settings,
    stop: Stop<'a>,
    blocks: Blocks,
    trees: Vec<Tree>,
    /// Rows of the points of every block, without its root.
    point_rows: Vec<Arc<[u32]>>,
    link_of_block: Vec<Option<usize>>,
    master: Master,
    mean_cost: f64,
    /// The size of every row's dual: what the box around the duals and missing row sums are measured in.
    unit: Vec<f64>,
    best_estimate: f64,
    lower_bound: f64,
    best_mu: Vec<f64>,
    /// The best duals that are feasible for every column, with their bound. No cost is negative,
    /// so zero is where to begin.
    centre: Vec<f64>,
    centre_bound: f64,
    /// No feasible matrix costs more.
    largest_cost: f64,
    iterations: usize,
    /// Complementarity that the master is brought down to before it is priced.
    target: f64,
    /// How much wider than usual the box around the duals is.
    leaning: f64,
    /// How much narrower, after steps back.
    caution: f64,
    generated: usize,
    /// Whether the last round raised the bound, and how many did not after one that did not either.
    raised: bool,
    idle_rounds: usize,
    /// What would be handed out now, seconds spent on it, and by the last attempt at it (or expected to be).
    incumbent: Option<Incumbent>,
    spent: f64,
    attempt_seconds: f64,
    /// Duals and the bound that they prove, rounding included.
    proof: (Vec<f64>, f64),
    trace: Vec<TracePoint>,
}

impl<'a> Run<'a> {
    fn new(problem: &'a Problem, settings: &'a Settings, stop: Stop<'a>) -> Result<Self, Error> {
        let mut blocks = Blocks::new(problem)?;
        blocks.abort = settings.abort.clone();
        let mean_cost = problem.mean_cost();
        let mut links = Vec::new();
        let mut link_of_block = Vec::new();
        let mut point_rows: Vec<Arc<[u32]>> = Vec::new();
        // The y columns come first in the master, in the order of their columns.
        let mut y_of_column = vec![None; problem.columns()];
        let mut count = 0;
        for (k, tied) in blocks.tied.iter().enumerate() {
            if tied.is_some() {
                y_of_column[k] = Some(count);
                count += 1;
            }
        }
        for block in &blocks.blocks {
            let rows: Arc<[u32]> = match block.root {
                Root::Cone => block.rows.clone(),
                _ => match &blocks.inner[block.column] {
                    Some(tied) if block.inner_y.is_some() => {
                        let mut rows: Vec<u32> = block.rows.to_vec();
                        rows.retain(|&row| row != NO_ROW);
                        rows.extend(&tied.rows);
                        rows.sort_unstable();
                        rows.into()
                    }
                    _ => block.rows.iter().copied().filter(|&row| row != NO_ROW).collect(),
                },
            };
            link_of_block.push((block.root != Root::Cone).then_some(links.len()));
            if block.root != Root::Cone {
                let y = match block.root {
                    Root::Y => y_of_column[block.column],
                    _ => None,
                };
                links.push(Link { y, rows: rows.clone() });
            }
            point_rows.push(rows);
        }
        let rows = problem.rows() as f64;
        let scale = (mean_cost / rows).max(f64::MIN_POSITIVE);
        let penalty = vec![BOX_RADIUS * scale; problem.rows()];
        let master = Master::new(blocks.right_side.clone(), links, penalty, settings.threads);
        Ok(Self {
            problem,
            settings,
            stop,
            trees: Vec::new(),
            point_rows,
            link_of_block,
            master,
            mean_cost,
            best_estimate: f64::INFINITY,
            unit: vec![scale; problem.rows()],
            lower_bound: 0.0,
            best_mu: vec![0.0; problem.rows()],
            centre: vec![0.0; problem.rows()],
            centre_bound: 0.0,
            largest_cost: largest_cost(problem),
            iterations: 0,
            target: f64::INFINITY,
            leaning: 1.0,
            caution: 1.0,
            generated: 0,
            raised: true,
            idle_rounds: 0,
            incumbent: None,
            spent: 0.0,
            attempt_seconds: f64::INFINITY,
            proof: (vec![0.0; problem.rows()], 0.0),
            trace: Vec::new(),
            blocks,
        })
    }

    fn scale(&self) -> f64 {
        (self.mean_cost / self.problem.rows() as f64).max(f64::MIN_POSITIVE)
    }

    /// What the row sums and links are off, in units of cost.
    fn imbalance(&self) -> f64 {
        self.master.imbalance(&self.unit, self.scale())
    }

    /// A block's point as a column of the master, scaled to a largest value of 1; where the root is the
    /// constant 1 as it is, so that weights are shares.
    fn column(&self, index: usize, z: &[f64]) -> Column {
        let block = &self.blocks.blocks[index];
        let all_rows = self.problem.rows();
        let mut cost: f64 = z.iter().zip(&block.cost).map(|(z, c)| z * c).sum();
        let mut values: Vec<f64> = Vec::with_capacity(self.point_rows[index].len());
        match (&self.blocks.inner[block.column], block.inner_y) {
            (Some(tied), Some(node)) => {
                let mut dense = vec![0.0; all_rows];
                for (&row, &z) in block.rows.iter().zip(z) {
                    if row != NO_ROW {
                        dense[row as usize] = z;
                    }
                }
                for (&row, factor) in tied.rows.iter().zip(&tied.factors) {
                    dense[row as usize] = z[node] * factor;
                }
                values.extend(self.point_rows[index].iter().map(|&row| dense[row as usize]));
            }
            _ => values.extend(
                block.rows.iter().zip(z).filter(|(row, _)| **row != NO_ROW).map(|(_, z)| *z),
            ),
        }
        let largest = match block.root {
            Root::One => 1.0,
            _ => values.iter().fold(f64::MIN_POSITIVE, |largest: f64, v| largest.max(*v)),
        };
        values.iter_mut().for_each(|v| *v /= largest);
        cost /= largest;
        let (kind, beta) = match self.link_of_block[index] {
            Some(link) => (Kind::Point { block: index, link }, 1.0 / largest),
            None => (Kind::Ray { block: index }, 0.0),
        };
        let rows = (values.len() < all_rows || self.link_of_block[index].is_some())
            .then(|| self.point_rows[index].clone());
        Column { kind, rows, values, cost, beta }
    }

    /// The outer loop: a few interior steps, price, bound, add and drop columns.
    fn iterate(&mut self) -> Result<Solution, Error> {
        let enough = 0.9 * self.settings.gap;
        let (mut wanted, mut last_attempt) = (enough, 0);
        let mut progress = Advance::default();
        loop {
            let begun = self.stop.seconds();
            let round = self.round()?;
            let took = self.stop.seconds() - begun;
            let is_stuck = progress.is_over(self.iterations, round.gap, self.lower_bound);
            let is_over = is_stuck || self.iterations >= MOST_ITERATIONS;
            let stopped =
                self.stop.requested() || self.stop.is_too_late_for(ROUND_AND_END * took) || is_over;
            let is_due = self.iterations >= last_attempt + PAUSE && round.gap <= enough;
            let is_promising = round.gap <= wanted || is_due;
            let mut failed = None;
            if is_promising || (stopped && self.incumbent.is_none()) {
                last_attempt = self.iterations;
                failed = self.attempt(round.gap).err();
                wanted *= 0.3;
            } else if !stopped && self.can_afford_attempt() {
                self.improve_incumbent();
            }
            if is_promising || stopped {
                self.prove();
                if self.stop.aborted() {
                    return Err(Error::StoppedEarly);
                }
                if stopped || self.is_good_enough(wanted) {
                    // The last line shows what is handed out.
                    self.report(round.gap);
                    let error = failed.unwrap_or(Error::StoppedEarly);
                    return self.solution().ok_or(error);
                }
            }
            self.add_columns(round);
        }
    }

    /// A strict matrix for the gap promised: near a vertex by polishing the iterate, else by mixing its rays anew.
    fn attempt(&mut self, promised: f64) -> Result<(), Error> {
        if self.is_plain() && promised > POLISHED_GAP {
            self.improve_incumbent();
            return Ok(());
        }
        let polished = self.polish_incumbent();
        if polished.is_err() && self.is_plain() && self.settings.gap >= LOOSE_GAP {
            self.improve_incumbent();
            return Ok(());
        }
        polished
    }

    /// Whether mixing rays for a better incumbent takes little of the time there is: a promised gap is no matrix, and whoever stops the
    /// solve wants one.
    fn can_afford_attempt(&self) -> bool {
        let share = if self.settings.gap >= LOOSE_GAP { LOOSE_SHARE } else { TIGHT_SHARE };
        let seconds = self.stop.seconds();
        self.is_plain()
            && seconds >= FIRST_SECONDS
            && self.spent + self.attempt_seconds <= share * seconds
    }

    /// Whether gap and row sums are good enough, the latter unless several attempts were no better.
    fn is_good_enough(&self, wanted: f64) -> bool {
        let tired = wanted < 1e-4 * self.settings.gap;
        self.incumbent.as_ref().is_some_and(|Incumbent { report, .. }| {
            relative_gap(self.mean_cost, report.cost, self.proof.1) <= self.settings.gap
                && (report.worst_row_sum_error <= ROW_SUM_ERROR || tired)
        })
    }

    /// No matrix costs more than every row at its dearest: a bound above that proves infeasibility, once it is proven itself.
    fn refuse_infeasible(&mut self) -> Result<(), Error> {
        let possible = self.largest_cost * (1.0 + 1e-9);
        if self.lower_bound > possible {
            let proven = self.bound_of(&self.best_mu.clone());
            if proven <= possible {
                self.lower_bound = proven;
                return Ok(());
            }
            let row = (0..self.best_mu.len())
                .max_by(|&a, &b| self.best_mu[a].abs().total_cmp(&self.best_mu[b].abs()))
                .unwrap_or(0);
            return Err(Error::Infeasible { row, reason: Infeasibility::RowsContradict });
        }
        Ok(())
    }

    fn report(&mut self, promised: f64) {
        let (seconds, upper_bound) = (self.stop.seconds(), self.upper_bound());
        let lower_bound = self.proof.1.max(self.lower_bound);
        let iteration = self.iterations;
        self.trace.push(TracePoint { iteration, upper_bound, lower_bound, seconds });
        self.stop.report(Progress {
            iteration,
            upper_bound,
            lower_bound,
            gap: relative_gap(self.mean_cost, upper_bound, lower_bound),
            promised,
            columns: self.master.columns.len(),
            seconds,
        });
    }
}

/// When an iteration last brought anything forward: a smaller gap, or a higher bound.
#[derive(Debug)]
struct Advance {
    iteration: usize,
    gap: f64,
    lower_bound: f64,
}

impl Default for Advance {
    fn default() -> Self {
        Self { iteration: 0, gap: f64::INFINITY, lower_bound: 0.0 }
    }
}

impl Advance {
    /// Whether that was too long ago to go on.
    fn is_over(&mut self, iteration: usize, gap: f64, lower_bound: f64) -> bool {
        if gap < ADVANCED * self.gap || ADVANCED * lower_bound > self.lower_bound {
            self.iteration = iteration;
            self.gap = self.gap.min(gap);
            self.lower_bound = self.lower_bound.max(lower_bound);
        }
        iteration - self.iteration >= IDLE_ITERATIONS
    }
}

/// The cost of every row at its dearest column.
fn largest_cost(problem: &Problem) -> f64 {
    let mut costs = vec![0.0; problem.columns()];
    (0..problem.rows())
        .map(|i| {
            problem.cost().fill_row(i, &mut costs);
            costs.iter().fold(0.0, |largest: f64, c| largest.max(*c))
        })
        .sum()
}
