//! Column generation over the columns of the matrix: the default engine.
//!
//! The Geo-Ind constraints never mix columns, so each column is priced alone (`tree`), and a master
//! problem (`master`) mixes their rays so that every row sums up to 1. The master is an interior
//! point that is never solved to the end: its central duals are priced, the best bound is kept, and the
//! rays found join the iterate where it stands.

mod closed_form;
mod coarse_start;
mod dense;
mod dual;
mod incumbent;
mod interior;
mod links;
mod master;
pub(crate) mod normalise;
mod output;
mod polish;
pub(crate) mod repair;
mod round;
mod settle;
mod start;
mod sweep;
mod tuning;
mod warm;

use crate::cone::{Blocks, NO_ROW, Root, Tree};
use crate::error::{Error, Infeasibility};
use crate::generate::{Generator, Pace, generate_columns};
use crate::incumbent::{Estimate, Incumbent};
use crate::problem::Problem;
use crate::settings::{Settings, Stop};
use crate::solution::{Solution, Status, relative_gap};
use crate::{presolve, verified};
use master::{Column, Kind, Link, Master};
use round::Round;
use std::sync::Arc;
use tuning::TUNING;
pub use warm::WarmStart;

/// What errors call this engine.
pub(crate) const NAME: &str = "column generation";

/// Solves a problem to the gap asked for: rows at one spot as one, and independent parts by themselves.
pub fn solve(problem: &Problem, settings: &Settings) -> Result<Solution, Error> {
    verified::solve(problem, settings, NAME, |problem| attempt(problem, settings))
}

/// As [`solve`], unverified: for those who look at what they are given themselves.
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
    let even = problem.with_even_costs()?;
    let found = attempt_from(&even, settings, &mut WarmStart::default())?;
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
    let is_solved = match warm.fits(problem) {
        true => {
            run.start_warm(warm);
            false
        }
        false => run.start_cold(),
    };
    if !is_solved {
        generate_columns(&mut run)?;
    }
    let failed = run.failed.take().unwrap_or(Error::StoppedEarly);
    let solution = run.incumbent.solution(run.generated).ok_or(failed)?;
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
    /// Complementarity that the master is brought down to before it is priced.
    target: f64,
    /// How much wider than usual the box around the duals is.
    widened: f64,
    /// How much narrower, after steps back.
    narrowed: f64,
    generated: usize,
    /// Whether the last round raised the bound, and how many did not after one that did not either.
    raised: bool,
    idle_rounds: usize,
    /// What the last round found, which the next one begins with.
    found: Option<Round>,
    /// What would be handed out now, seconds spent on it, and by the last attempt at it (or expected to be); why that failed.
    incumbent: Incumbent<'a>,
    spent: f64,
    attempt_seconds: f64,
    failed: Option<Error>,
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
        let penalty = vec![TUNING.box_radius * scale; problem.rows()];
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
            target: f64::INFINITY,
            widened: 1.0,
            narrowed: 1.0,
            generated: 0,
            raised: true,
            idle_rounds: 0,
            found: None,
            incumbent: Incumbent::new(settings, stop, problem.rows(), mean_cost),
            spent: 0.0,
            attempt_seconds: f64::INFINITY,
            failed: None,
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

    /// A strict matrix for the gap promised: near a vertex by polishing the iterate, else by mixing its rays anew.
    fn attempt(&mut self, promised: f64) -> Result<(), Error> {
        if self.is_plain() && promised > TUNING.polished_gap {
            self.improve_incumbent();
            return Ok(());
        }
        let polished = self.polish_incumbent();
        if polished.is_err() && self.is_plain() && self.settings.gap >= TUNING.loose_gap {
            self.improve_incumbent();
            return Ok(());
        }
        polished
    }

    /// Whether mixing rays for a better incumbent takes little of the time there is: a promised gap is no matrix, and whoever stops the
    /// solve wants one.
    fn can_afford_attempt(&self) -> bool {
        let share = if self.settings.gap >= TUNING.loose_gap {
            TUNING.loose_share
        } else {
            TUNING.tight_share
        };
        let seconds = self.stop.seconds();
        self.is_plain()
            && seconds >= TUNING.first_seconds
            && self.spent + self.attempt_seconds <= share * seconds
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

    fn promise(&self, gap: f64) -> Estimate {
        Estimate { gap, bound: self.lower_bound, columns: self.master.columns.len() }
    }

    fn report(&mut self, promised: f64) {
        self.incumbent.report(&self.promise(promised));
    }
}

impl<'a> Generator<'a> for Run<'a> {
    const PACE: Pace = Pace {
        promise: 0.9,
        // `improve` makes matrices on the way, as time allows.
        milestone: 0.0,
        near: 1.0,
        retry: 0.3,
        pause: 10,
        most_iterations: 500,
        idle_iterations: 60,
        advanced: 0.99,
    };

    fn iterate(&mut self) -> Result<Estimate, Error> {
        if let Some(round) = self.found.take() {
            self.add_columns(round);
        }
        let round = self.round()?;
        let gap = relative_gap(self.mean_cost, round.estimate, self.lower_bound);
        self.found = Some(round);
        Ok(self.promise(gap))
    }

    fn conclude(&mut self, promised: f64, is_promised: bool) -> Result<(), Error> {
        let is_there_time = !self.stop.requested() && !self.is_late(0.0);
        if is_promised || self.incumbent.matrix.is_none() || (self.is_plain() && is_there_time) {
            self.failed = self.attempt(promised).err();
        }
        self.prove();
        if self.stop.aborted() { Err(Error::StoppedEarly) } else { Ok(()) }
    }

    fn confirm(&mut self) {
        self.prove();
    }

    fn improve(&mut self) {
        if self.can_afford_attempt() {
            self.improve_incumbent();
        }
    }

    fn is_late(&self, seconds: f64) -> bool {
        let attempt = if self.is_plain() { self.attempt_seconds } else { 0.0 };
        let attempt = if attempt.is_finite() { attempt } else { 0.0 };
        self.stop.is_too_late_for(TUNING.round_and_end * seconds + attempt)
    }

    fn incumbent(&mut self) -> &mut Incumbent<'a> {
        &mut self.incumbent
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
