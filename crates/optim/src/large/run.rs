//! One solve: from the first matrix to the last, and what to do next.

use std::sync::Arc;

use super::colgen::ColumnGeneration;
use super::glue::Glue;
use super::rays::WeightedColumns;
use super::tile::{Task, Tiling, solve_tile};
use super::view::{Stopped, View};
use super::window::Windows;
use super::{
    Bound, FarDuals, First, WINDOW_RADIUS, closed_form, ensure_local, first_bound, strict,
};
use crate::certificate::{Report, check_sparse, check_while};
use crate::error::Error;
use crate::matrix::Matrix;
use crate::problem::Problem;
use crate::settings::{Progress, Settings, Stop};
use crate::solution::{Certificate, Solution, Status, TracePoint, relative_gap};
use crate::sparse_rows::SparseRows;
use crate::verified::ROW_SUM_ERROR;

/// Bound and matrix are made when the gap promises to be this part of the last one.
const MILESTONE: f64 = 0.12;
/// Part of the gap asked for that must be promised: repair and strictness take the rest.
const PROMISE: f64 = 0.7;
/// As much for a tile: gluing takes some as well.
const TILE_PROMISE: f64 = 0.5;
/// How often all tiles are solved, and how much farther halos reach each time.
const TILE_ROUNDS: usize = 4;
const MORE_HALO: f64 = 2.0;
/// A closed form with so many times the gap that is wanted is made without the last of its small entries.
const FAR_FROM_ENOUGH: f64 = 2.0;
/// Once the gap promised is this many times what is wanted, no milestone is made before.
const NEAR_ENOUGH: f64 = 4.0;
/// Iterations of column generation before it is given up.
const ITERATIONS: usize = 100;

/// So many iterations in a row that leave more than this part of the gap promised are the last.
const IDLE_ITERATIONS: usize = 6;
const PROGRESS: f64 = 0.98;

/// Columns looked at for the one that everyone can report until there is something better.
const SAMPLED_COLUMNS: usize = 32;

/// One solve: the best matrix and bound so far.
pub(super) struct Run<'a> {
    problem: &'a Problem,
    settings: &'a Settings,
    stop: Stop<'a>,
    view: View<'a>,
    bound: Bound,
    best: Option<(SparseRows, Report)>,
    pub(super) tiling: Tiling,
    /// Seconds that proof and matrix take.
    reserve: f64,
    rays: usize,
    /// The gap that the last iteration promised.
    promised: f64,
    trace: Vec<TracePoint>,
}

impl<'a> Run<'a> {
    pub(super) fn new(
        problem: &'a Problem,
        settings: &'a Settings,
        stop: Stop<'a>,
    ) -> Result<Self, Error> {
        let view = View::new(problem, Some(stop))?;
        ensure_local(&view)?;
        let bound = Bound::trivial(view.rows());
        Ok(Self {
            problem,
            settings,
            stop,
            view,
            bound,
            best: None,
            tiling: Tiling::default(),
            reserve: 0.0,
            rays: 0,
            promised: f64::INFINITY,
            trace: Vec::new(),
        })
    }

    pub(super) fn solve(mut self) -> Result<Solution, Error> {
        let everyone_reports = self.cheapest_column();
        let constant = SparseRows::constant(self.view.rows(), everyone_reports);
        let report = check_sparse(self.problem, &constant);
        self.best = Some((constant, report));
        // Stopped or not, the best so far is the answer.
        let _: Result<(), Stopped> = self.improve();
        self.finish()
    }

    /// The closed form first; more only where its gap does not suffice.
    fn improve(&mut self) -> Result<(), Stopped> {
        let mut first = self.closed_form()?;
        if self.gap() <= self.settings.gap {
            return Ok(());
        }
        // Proof and matrix take about as long as those of the closed form did.
        self.reserve = self.stop.seconds();
        // Where costs are uneven, windows must reach where columns draw to, which no tile knows for the others.
        if first.is_proven && self.view.rows() > self.tiling.whole {
            drop(first);
            return self.solve_in_tiles();
        }
        if !first.is_proven {
            drop(first);
            if let Some(generation) =
                ColumnGeneration::afresh(&self.view, self.radius(), self.settings.gap)?
            {
                return self.generate_columns(generation);
            }
            first = self.repaired(FarDuals::Repair)?;
        }
        let columns = first.columns.with_shortest_path_rays(1.0);
        let weights = closed_form::weights(&self.view, &columns)?;
        let gap = self.settings.gap;
        let generation = ColumnGeneration::new(&self.view, columns, &weights, &self.bound.mu, gap)?;
        self.generate_columns(generation)
    }

    /// Solves tile by tile until what is glued together suffices: once, unless too much of the gap went into the gluing.
    fn solve_in_tiles(&mut self) -> Result<(), Stopped> {
        let gap = self.settings.gap;
        let mut task = Task { gap, tile_gap: TILE_PROMISE * gap, radius: self.radius() };
        let mut tiling = self.tiling.for_gap(gap);
        for _ in 0..TILE_ROUNDS {
            let mut generation = self.glue_tiles(tiling, task)?;
            self.prove(&mut generation)?;
            let columns = generation.into_matrix(&self.view, self.shrink())?;
            self.close(&columns)?;
            self.report();
            if self.gap() <= gap || self.stop.seconds() >= self.limit() - self.reserve {
                break;
            }
            task.tile_gap *= 0.5;
            tiling.halo += MORE_HALO;
        }
        Ok(())
    }

    /// Solves tile after tile and glues their cores together.
    fn glue_tiles(&mut self, tiling: Tiling, task: Task) -> Result<ColumnGeneration, Stopped> {
        let tiles = tiling.cut(&self.view);
        let mut glue = Glue::new(Windows::grow(&self.view, &self.view.graph, WINDOW_RADIUS)?);
        let end = self.limit() - self.reserve;
        for (done, tile) in tiles.iter().enumerate() {
            let problem = self.problem.of_places(&tile.places);
            let share = (end - self.stop.seconds()) / (tiles.len() - done) as f64;
            let until = self.stop.seconds() + share;
            let is_late = || self.stop.seconds() >= until;
            let solution = solve_tile(&problem, &tile.core, task, Some(self.stop), is_late)?;
            self.rays += solution.columns.iter().map(|c| c.weights.len()).sum::<usize>();
            glue.take(&self.view, tile, solution)?;
            self.report();
        }
        let generation = ColumnGeneration::glued(&self.view, glue, task.gap)?;
        self.rays = generation.rays();
        Ok(generation)
    }

    /// Seconds that may pass.
    fn limit(&self) -> f64 {
        self.settings.time_limit.map_or(f64::INFINITY, |t| t.as_secs_f64())
    }

    /// The closed form's columns, with what its repaired duals prove.
    fn repaired(&mut self, far: FarDuals) -> Result<First, Stopped> {
        let enough = self.repaired_enough();
        let bound = &mut self.bound;
        first_bound(&self.view, far, enough, |found| bound.improve(found))
    }

    /// The cheapest to report from everywhere, of a few columns.
    fn cheapest_column(&self) -> usize {
        let n = self.view.rows();
        let all: Vec<u32> = (0..n as u32).collect();
        let mut costs = vec![0.0; n];
        let mut total = |k: usize| {
            self.view.gather_costs(k, &all, &mut costs);
            costs.iter().sum::<f64>()
        };
        let sampled = (0..n).step_by(n.div_ceil(SAMPLED_COLUMNS)).map(|k| (k, total(k)));
        sampled.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(k, _)| k)
    }

    fn closed_form(&mut self) -> Result<First, Stopped> {
        let First { columns, is_proven } = self.repaired(FarDuals::Leave)?;
        self.rays = columns.windows.columns();
        let shrink = self.shrink();
        // Pricing has moved the rays away from the shortest-path trees.
        let columns = columns.with_shortest_path_rays(1.0 - shrink);
        let mut threshold = self.threshold(self.settings.gap);
        if let Some(form) = closed_form::primal(&self.view, &columns, WINDOW_RADIUS, shrink)? {
            let cost: f64 = columns.ray_costs().iter().zip(&form.x).map(|(c, x)| c * x).sum();
            let expected = (cost - self.bound.value) / cost;
            if expected > FAR_FROM_ENOUGH * self.settings.gap {
                // It will not be the last.
                threshold = self.threshold(expected);
            }
            let seeds = |k: usize, out: &mut Vec<(u32, f64)>| out.push((k as u32, form.x[k]));
            self.offer(strict::strict_matrix(&self.view, &form.graph, seeds, threshold)?)?;
        } else {
            let x = closed_form::mixture(&self.view, &columns)?;
            let lengths = self.view.graph.map_lengths(|_, _, l| l * (1.0 - shrink));
            let seeds = |k: usize, out: &mut Vec<(u32, f64)>| out.push((k as u32, x[k]));
            let mixed = strict::strict_matrix(&self.view, &lengths, seeds, threshold)?;
            let is_none = mixed.is_none();
            self.offer(mixed)?;
            if is_none {
                // Half of epsilon in every column leaves the other half for the row sums: feasible
                // whatever the arcs, and hardly more than that.
                let half = self.view.graph.map_lengths(|_, _, l| 0.5 * l * (1.0 - shrink));
                let seeds = |k: usize, out: &mut Vec<(u32, f64)>| out.push((k as u32, 1.0));
                self.offer(strict::strict_matrix(&self.view, &half, seeds, threshold)?)?;
            }
        }
        self.report();
        Ok(First { columns, is_proven })
    }

    /// Column generation. Bound and matrix are made only where they promise
    /// much less of a gap, because each costs as much as a few iterations, and before time is up.
    fn generate_columns(&mut self, mut generation: ColumnGeneration) -> Result<(), Stopped> {
        let wanted = PROMISE * self.settings.gap;
        let mut promised = wanted.max(MILESTONE * self.gap().min(1.0));
        let limit = self.limit();
        let (mut least, mut idle) = (f64::INFINITY, 0);
        for _ in 0..ITERATIONS {
            let before = self.stop.seconds();
            let estimate = generation.iterate(&self.view)?;
            self.rays = self.rays.max(generation.rays());
            self.promised = estimate.gap();
            let iterated = self.stop.seconds();
            // Whether another iteration would leave no time for them.
            let last = iterated + (iterated - before) + self.reserve >= limit;
            if estimate.gap() <= NEAR_ENOUGH * wanted {
                promised = promised.min(wanted);
            }
            idle = if estimate.gap() < PROGRESS * least { 0 } else { idle + 1 };
            least = least.min(estimate.gap());
            let stalled = idle >= IDLE_ITERATIONS;
            if estimate.gap() <= promised || last || stalled {
                self.prove(&mut generation)?;
                self.close(&generation.matrix(&self.view, self.shrink())?)?;
                self.reserve = self.reserve.max(self.stop.seconds() - iterated);
                if self.gap() <= self.settings.gap || last || stalled {
                    break;
                }
                promised = if promised > wanted {
                    wanted.max(MILESTONE * promised)
                } else {
                    0.7 * promised
                };
            }
            self.report();
        }
        self.report();
        Ok(())
    }

    /// Proves the bound of the present iterate.
    fn prove(&mut self, generation: &mut ColumnGeneration) -> Result<(), Stopped> {
        let (mu, proof) = generation.prove(&self.view, self.repaired_enough())?;
        self.bound.improve(Bound { value: proof.bound, mu, mean_cost: proof.mean_cost });
        Ok(())
    }

    /// Makes a strict matrix of columns whose row sums are nearly exact.
    fn close(&mut self, columns: &WeightedColumns) -> Result<(), Stopped> {
        let shrink = self.shrink();
        let lengths = self.view.graph.map_lengths(|_, _, l| l * (1.0 - shrink));
        let seeds = |k: usize, out: &mut Vec<(u32, f64)>| out.extend(columns.of(k));
        let threshold = self.threshold(self.settings.gap);
        self.offer(strict::strict_matrix(&self.view, &lengths, seeds, threshold)?)
    }

    /// Log-radius of windows beyond which a ray has at most a tenth of the gap of its cost, which is
    /// `(T^2 + 2 T + 2) exp(-T) / 2` in a plane where costs grow with distance.
    fn radius(&self) -> f64 {
        let beyond = |t: f64| 0.5 * (t * t + 2.0 * t + 2.0) * (-t).exp();
        let mut radius = 8.0;
        while radius < WINDOW_RADIUS && beyond(radius) > 0.1 * self.settings.gap {
            radius += 0.5;
        }
        radius
    }

    /// Part of the bound that may be left to repair: what follows would take longer than it is worth.
    fn repaired_enough(&self) -> f64 {
        (0.01 * self.settings.gap).max(1e-9)
    }

    /// How much of epsilon is kept back for normalising rows.
    fn shrink(&self) -> f64 {
        (0.05 * self.settings.gap).clamp(1e-6, 1e-4)
    }

    /// Below this an entry becomes tail: small enough to cost a twentieth of the gap of the matrix.
    fn threshold(&self, gap: f64) -> f64 {
        let everywhere = self.bound.mean_cost * self.view.rows() as f64;
        let affordable = 0.05 * gap * self.bound.value / everywhere;
        if affordable.is_finite() { affordable.clamp(1e-30, 1e-9) } else { 1e-12 }
    }

    /// Takes a matrix if it is strict and better than what is known.
    fn offer(&mut self, matrix: Option<SparseRows>) -> Result<(), Stopped> {
        let Some(matrix) = matrix else { return Ok(()) };
        let report = check_while(self.problem, &matrix, || self.view.proceed())?;
        let sums_hold = report.worst_row_sum_error <= ROW_SUM_ERROR;
        if report.is_strict() && sums_hold && report.cost < self.upper_bound() {
            self.best = Some((matrix, report));
        }
        Ok(())
    }

    fn upper_bound(&self) -> f64 {
        self.best.as_ref().map_or(f64::INFINITY, |(_, report)| report.cost)
    }

    fn gap(&self) -> f64 {
        if self.best.is_none() {
            return f64::INFINITY;
        }
        relative_gap(self.bound.mean_cost, self.upper_bound(), self.bound.value)
    }

    fn report(&mut self) {
        let point = TracePoint {
            iteration: self.trace.len() + 1,
            upper_bound: self.upper_bound(),
            lower_bound: self.bound.value,
            seconds: self.stop.seconds(),
        };
        self.trace.push(point);
        self.stop.report(Progress {
            iteration: point.iteration,
            upper_bound: point.upper_bound,
            lower_bound: point.lower_bound,
            gap: self.gap(),
            promised: self.promised.min(self.gap()),
            columns: self.rays,
            seconds: point.seconds,
        });
    }

    fn finish(self) -> Result<Solution, Error> {
        let gap = self.gap();
        let seconds = self.stop.seconds();
        let Some((matrix, report)) = self.best else { return Err(Error::StoppedEarly) };
        Ok(Solution {
            status: Status::of_gap(gap, self.settings.gap),
            objective: report.cost,
            lower_bound: self.bound.value.min(report.cost),
            gap,
            iterations: self.trace.len(),
            columns: self.rays,
            seconds,
            z: Matrix::Rows(Arc::new(matrix)),
            y: vec![0.0; self.problem.columns()],
            certificate: Certificate {
                worst_log_excess: report.worst_log_excess,
                worst_row_sum_error: report.worst_row_sum_error,
                mu: self.bound.mu,
            },
            trace: self.trace,
        })
    }
}
