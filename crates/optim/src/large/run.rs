//! One solve: from the first matrix to the last, and what to do next.

use std::sync::Arc;

use super::colgen::ColumnGeneration;
use super::glue::Glue;
use super::rays::WeightedColumns;
use super::tile::{Task, Tiling, solve_tile};
use super::tuning::TUNING;
use super::view::{Stopped, View};
use super::window::Windows;
use super::{FarDuals, First, closed_form, ensure_local, first_bound, strict};
use crate::certificate::{Report, check_sparse, check_while};
use crate::error::Error;
use crate::generate::{Generator, Pace, generate_columns};
use crate::incumbent::{Estimate, Incumbent};
use crate::matrix::Matrix;
use crate::problem::Problem;
use crate::settings::{Settings, Stop};
use crate::solution::Solution;
use crate::sparse_rows::SparseRows;
use crate::verified::ROW_SUM_ERROR;

/// One solve.
pub(super) struct Run<'a> {
    problem: &'a Problem,
    settings: &'a Settings,
    stop: Stop<'a>,
    view: View<'a>,
    incumbent: Incumbent<'a>,
    pub(super) tiling: Tiling,
    /// Seconds that proof and matrix take.
    reserve: f64,
    rays: usize,
}

impl<'a> Run<'a> {
    pub(super) fn new(
        problem: &'a Problem,
        settings: &'a Settings,
        stop: Stop<'a>,
    ) -> Result<Self, Error> {
        let view = View::new(problem, Some(stop))?;
        ensure_local(&view)?;
        // The mean cost of a large map takes long: the first proof brings it.
        let incumbent = Incumbent::new(settings, stop, view.rows(), 0.0);
        let tiling = Tiling::default();
        Ok(Self { problem, settings, stop, view, incumbent, tiling, reserve: 0.0, rays: 0 })
    }

    pub(super) fn solve(mut self) -> Result<Solution, Error> {
        let everyone_reports = self.cheapest_column();
        let constant = SparseRows::constant(self.view.rows(), everyone_reports);
        let report = check_sparse(self.problem, &constant);
        self.take(constant, report);
        match self.improve() {
            // Stopped or not, the best so far is the answer.
            Ok(()) | Err(Error::StoppedEarly) => {}
            Err(error) => return Err(error),
        }
        self.incumbent.solution(self.rays).ok_or(Error::StoppedEarly)
    }

    /// The closed form first; more only where its gap does not suffice.
    fn improve(&mut self) -> Result<(), Error> {
        let mut first = self.closed_form()?;
        if self.incumbent.gap() <= self.settings.gap {
            return Ok(());
        }
        // Proof and matrix take about as long as those of the closed form did.
        self.reserve = self.stop.seconds();
        // Where costs are uneven, windows must reach where columns draw to, which no tile knows for the others.
        if first.is_proven && self.view.rows() > self.tiling.whole {
            drop(first);
            return Ok(self.solve_in_tiles()?);
        }
        if !first.is_proven {
            drop(first);
            if let Some(generation) =
                ColumnGeneration::afresh(&self.view, self.radius(), self.settings.gap)?
            {
                return generate_columns(&mut Windowed { run: self, generation });
            }
            first = self.repaired(FarDuals::Repair)?;
        }
        let columns = first.columns.with_shortest_path_rays(1.0);
        let weights = closed_form::weights(&self.view, &columns)?;
        let gap = self.settings.gap;
        let mu = &self.incumbent.mu;
        let generation = ColumnGeneration::new(&self.view, columns, &weights, mu, gap)?;
        generate_columns(&mut Windowed { run: self, generation })
    }

    /// Solves tile by tile until what is glued together suffices: once, unless too much of the gap went into the gluing.
    fn solve_in_tiles(&mut self) -> Result<(), Stopped> {
        let gap = self.settings.gap;
        let mut task = Task { gap, tile_gap: TUNING.tile_promise * gap, radius: self.radius() };
        let mut tiling = self.tiling.for_gap(gap);
        for _ in 0..TUNING.tile_rounds {
            let mut generation = self.glue_tiles(tiling, task)?;
            self.prove(&mut generation)?;
            let columns = generation.into_matrix(&self.view, self.shrink())?;
            self.close(&columns)?;
            self.report();
            if self.incumbent.gap() <= gap || self.stop.seconds_left() <= self.reserve {
                break;
            }
            task.tile_gap *= 0.5;
            tiling.halo += TUNING.more_halo;
        }
        Ok(())
    }

    /// Solves tile after tile and glues their cores together.
    fn glue_tiles(&mut self, tiling: Tiling, task: Task) -> Result<ColumnGeneration, Stopped> {
        let tiles = tiling.cut(&self.view);
        let mut glue =
            Glue::new(Windows::grow(&self.view, &self.view.graph, TUNING.window_radius)?);
        for (done, tile) in tiles.iter().enumerate() {
            let problem = self.problem.of_places(&tile.places);
            let left = self.stop.seconds_left() - self.reserve;
            let share = left / (tiles.len() - done) as f64;
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

    /// The closed form's columns, with what its repaired duals prove.
    fn repaired(&mut self, far: FarDuals) -> Result<First, Stopped> {
        let enough = self.repaired_enough();
        let incumbent = &mut self.incumbent;
        first_bound(&self.view, far, enough, |found| {
            incumbent.mean_cost = found.mean_cost;
            incumbent.prove(found.mu, found.value);
        })
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
        let sampled = (0..n).step_by(n.div_ceil(TUNING.sampled_columns)).map(|k| (k, total(k)));
        sampled.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(k, _)| k)
    }

    fn closed_form(&mut self) -> Result<First, Stopped> {
        let First { columns, is_proven } = self.repaired(FarDuals::Leave)?;
        self.rays = columns.windows.columns();
        let shrink = self.shrink();
        // Pricing has moved the rays away from the shortest-path trees.
        let columns = columns.with_shortest_path_rays(1.0 - shrink);
        let mut threshold = self.threshold(self.settings.gap);
        if let Some(form) = closed_form::primal(&self.view, &columns, TUNING.window_radius, shrink)?
        {
            let cost: f64 = columns.ray_costs().iter().zip(&form.x).map(|(c, x)| c * x).sum();
            let expected = (cost - self.incumbent.lower_bound) / cost;
            if expected > TUNING.far_from_enough * self.settings.gap {
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

    /// Proves the bound of the present iterate.
    fn prove(&mut self, generation: &mut ColumnGeneration) -> Result<(), Stopped> {
        let (mu, proof) = generation.prove(&self.view, self.repaired_enough())?;
        self.incumbent.mean_cost = proof.mean_cost;
        self.incumbent.prove(mu, proof.bound);
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
        while radius < TUNING.window_radius && beyond(radius) > 0.1 * self.settings.gap {
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
        let everywhere = self.incumbent.mean_cost * self.view.rows() as f64;
        let affordable = 0.05 * gap * self.incumbent.lower_bound / everywhere;
        if affordable.is_finite() { affordable.clamp(1e-30, 1e-9) } else { 1e-12 }
    }

    /// Takes a matrix if it is strict and better than what is known.
    fn offer(&mut self, matrix: Option<SparseRows>) -> Result<(), Stopped> {
        let Some(matrix) = matrix else { return Ok(()) };
        let report = check_while(self.problem, &matrix, || self.view.proceed())?;
        if report.worst_row_sum_error <= ROW_SUM_ERROR {
            self.take(matrix, report);
        }
        Ok(())
    }

    fn take(&mut self, matrix: SparseRows, report: Report) {
        let y = vec![0.0; self.problem.columns()];
        // What is not strict is not taken.
        let _ = self.incumbent.offer(Matrix::Rows(Arc::new(matrix)), y, report, 0.0);
    }

    /// A line about something that is no iteration of column generation.
    fn report(&mut self) {
        self.incumbent.iterations += 1;
        let gap = self.incumbent.gap();
        self.incumbent.report(&Estimate { gap, bound: 0.0, columns: self.rays });
    }
}

/// Column generation on windows, for the loop that all share.
struct Windowed<'r, 'a> {
    run: &'r mut Run<'a>,
    generation: ColumnGeneration,
}

impl<'a> Generator<'a> for Windowed<'_, 'a> {
    const PACE: Pace = Pace {
        promise: 0.7,
        milestone: 0.12,
        near: 4.0,
        retry: 0.7,
        pause: usize::MAX,
        most_iterations: 100,
        idle_iterations: 6,
        advanced: 0.98,
    };

    fn iterate(&mut self) -> Result<Estimate, Error> {
        let gap = self.generation.iterate(&self.run.view)?;
        self.run.rays = self.run.rays.max(self.generation.rays());
        Ok(Estimate { gap, bound: 0.0, columns: self.run.rays })
    }

    fn conclude(&mut self, _: f64, _: bool) -> Result<(), Error> {
        let Self { run, generation } = self;
        let begun = run.stop.seconds();
        run.prove(generation)?;
        let columns = generation.matrix(&run.view, run.shrink())?;
        run.close(&columns)?;
        run.reserve = run.reserve.max(run.stop.seconds() - begun);
        Ok(())
    }

    fn is_late(&self, seconds: f64) -> bool {
        self.run.stop.seconds_left() <= seconds + self.run.reserve
    }

    fn incumbent(&mut self) -> &mut Incumbent<'a> {
        &mut self.run.incumbent
    }
}
