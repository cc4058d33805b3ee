//! The engine for thousands of places, where no rows x columns array may exist.
//!
//! Rays decay like `exp(-eps D)`, so everything is local: columns live on windows (balls around
//! their own place), pricing is truncated to them, and the result stores explicit entries and a
//! constant tail per column ([`SparseRows`]). The steps, each a file:
//!
//! 1. `closed_form`: `z_ik = x_k exp(-eps D_ik)`, one sparse linear solve; its dual by another.
//! 2. `dual`: price all columns on their windows, repair the dual vector, prove a bound.
//! 3. `colgen`, `master`, `normal`: where the gap is too wide, column generation with an interior
//!    point whose normal equations are solved by conjugate gradients on overlapping parts.
//! 4. `strict`: close the columns, add tails, normalise: a matrix that is exactly private.
//! 5. `verify`: an independent checker, with directed rounding, over every arc and column.

mod closed_form;
mod colgen;
mod columns;
mod dual;
mod graph;
mod krylov;
mod master;
mod normal;
mod partition;
mod pricing;
mod rays;
mod sparse_rows;
mod strict;
mod verify;
mod view;
mod window;

pub use sparse_rows::SparseRows;
pub use verify::check_sparse;

use std::sync::Arc;

use crate::check::Report;
use crate::error::Error;
use crate::matrix::Matrix;
use crate::problem::Problem;
use crate::settings::{Progress, Settings, Stop};
use crate::solution::{Certificate, Solution, Status, TracePoint, relative_gap};
use colgen::ColumnGeneration;
use columns::Columns;
use view::View;

/// A proven lower bound of the cost of any feasible matrix.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    /// No feasible matrix costs less, rounding included.
    pub value: f64,
    /// The dual vector that proves it, one entry per row.
    pub mu: Vec<f64>,
    /// The cost of reporting every column equally often.
    pub mean_cost: f64,
}

/// A proven lower bound for every feasible matrix of an untied problem, without solving it: the
/// dual of the closed form, priced and repaired. Seconds at ten thousand places.
pub fn lower_bound(problem: &Problem) -> Result<Bound, Error> {
    let view = View::new(problem)?;
    ensure_local(&view)?;
    Ok(first_bound(&view, WINDOW_RADIUS).1)
}

/// Solves an untied problem with as many columns as rows, column k being the place of row k.
///
/// The closed form and its repaired bound come first and suffice where eps times the spacing is
/// large. The solution's matrix is a [`SparseRows`], verified; at every stop (gap, time limit,
/// cancel) matrix and bound are valid.
pub fn solve(problem: &Problem, settings: &Settings) -> Result<Solution, Error> {
    solve_sparse(problem, settings).map(|(solution, _)| solution)
}

/// As [`solve`], with the solution's matrix once more by its own type, for callers that want the
/// explicit entries and tails rather than whole rows.
pub fn solve_sparse(
    problem: &Problem,
    settings: &Settings,
) -> Result<(Solution, Arc<SparseRows>), Error> {
    let stop = settings.start()?;
    if settings.threads == 0 {
        return Run::new(problem, settings, stop)?.solve();
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(settings.threads).build();
    match pool {
        Ok(pool) => pool.install(|| Run::new(problem, settings, stop)?.solve()),
        // No threads to be had: the global pool, or none, serves as well.
        Err(_) => Run::new(problem, settings, stop)?.solve(),
    }
}

/// Log-radius of windows: what a ray loses beyond is below `T^2 exp(-T) / 2`, 1e-4 of its cost.
const WINDOW_RADIUS: f64 = 14.0;
/// Largest log-radius that leaking windows grow to; past it, leaks only cost bound.
const LARGEST_RADIUS: f64 = 28.0;

/// Bound and matrix are made when the gap promises to be this part of the last one.
const MILESTONE: f64 = 0.12;
/// Iterations of column generation before it is given up.
const ITERATIONS: usize = 100;

/// Log-radius to which entries of a solution are explicit, about.
const EXPLICIT_RADIUS: f64 = 24.0;
/// Most explicit entries that a solution may have: a few gigabytes.
const LARGEST_ENTRIES: usize = 200_000_000;

/// Refuses problems whose rays reach too far for the map: where eps times the spacing is so small
/// that nothing is local, memory would grow with the square of the rows.
fn ensure_local(view: &View<'_>) -> Result<(), Error> {
    let n = view.rows();
    let mut dijkstra = window::Dijkstra::new(n);
    let (mut sampled, mut reached) = (0, 0);
    for k in (0..n).step_by(n.div_ceil(32)) {
        sampled += 1;
        let seed = std::iter::once((k as u32, 0.0));
        dijkstra.run(&view.graph, seed, EXPLICIT_RADIUS, |_, _, _| reached += 1);
    }
    let found = (reached as f64 / f64::from(sampled) * n as f64) as usize;
    if found > LARGEST_ENTRIES {
        let (field, limit) = ("explicit entries", LARGEST_ENTRIES);
        return Err(Error::TooLarge { field, found, limit });
    }
    Ok(())
}

/// Windows, closed-form dual, repair, proof; windows grow where the proof leaks.
fn first_bound(view: &View<'_>, radius: f64) -> (Columns, Bound) {
    let mut radii = vec![radius; view.rows()];
    loop {
        let mut columns = Columns::new(view, &radii);
        let mut mu = closed_form::dual(&columns);
        dual::repair(view, &mut columns, &mut mu);
        let proof = dual::prove(view, &columns, &mu);
        let growing = proof.leaking.iter().any(|&k| radii[k as usize] < LARGEST_RADIUS);
        if growing && -proof.outside > 1e-6 * proof.bound.abs() {
            for &k in &proof.leaking {
                radii[k as usize] = (1.5 * radii[k as usize]).min(LARGEST_RADIUS);
            }
            continue;
        }
        // Costs are not negative, so zero is always a bound.
        let bound = if proof.bound >= 0.0 {
            Bound { value: proof.bound, mu, mean_cost: proof.mean_cost }
        } else {
            Bound { value: 0.0, mu: vec![0.0; view.rows()], mean_cost: proof.mean_cost }
        };
        return (columns, bound);
    }
}

/// One solve: the best matrix and bound so far.
struct Run<'a> {
    problem: &'a Problem,
    settings: &'a Settings,
    stop: Stop<'a>,
    view: View<'a>,
    bound: Bound,
    best: Option<(SparseRows, Report)>,
    rays: usize,
    trace: Vec<TracePoint>,
}

impl<'a> Run<'a> {
    fn new(problem: &'a Problem, settings: &'a Settings, stop: Stop<'a>) -> Result<Self, Error> {
        let view = View::new(problem)?;
        ensure_local(&view)?;
        let bound = Bound { value: 0.0, mu: vec![0.0; view.rows()], mean_cost: 0.0 };
        Ok(Self { problem, settings, stop, view, bound, best: None, rays: 0, trace: Vec::new() })
    }

    /// The closed form first; more only where its gap does not suffice.
    fn solve(mut self) -> Result<(Solution, Arc<SparseRows>), Error> {
        let columns = self.closed_form();
        if self.gap() > self.settings.gap && !self.stop.requested() {
            self.generate_columns(columns);
        }
        self.finish()
    }

    fn closed_form(&mut self) -> Columns {
        let (columns, bound) = first_bound(&self.view, WINDOW_RADIUS);
        self.rays = columns.windows.columns();
        self.bound = bound;
        let shrink = self.shrink();
        // Pricing has moved the rays away from the shortest-path trees.
        let columns = columns.with_shortest_path_rays(1.0 - shrink);
        let threshold = self.threshold();
        if let Some(form) = closed_form::primal(&self.view, &columns, WINDOW_RADIUS, shrink) {
            let seeds = |k: usize, out: &mut Vec<(u32, f64)>| out.push((k as u32, form.x[k]));
            self.offer(strict::strict_matrix(&self.view.graph, &form.graph, seeds, threshold));
        }
        if self.best.is_none() {
            // Half of epsilon in every column leaves the other half for the row sums: feasible
            // whatever the arcs, and hardly more than that.
            let half = self.view.graph.map_lengths(|_, _, l| 0.5 * l * (1.0 - shrink));
            let seeds = |k: usize, out: &mut Vec<(u32, f64)>| out.push((k as u32, 1.0));
            self.offer(strict::strict_matrix(&self.view.graph, &half, seeds, threshold));
        }
        self.report();
        columns
    }

    /// Column generation from the closed form. Bound and matrix are made only where they promise
    /// much less of a gap, because each costs as much as a few iterations, and before time is up.
    fn generate_columns(&mut self, columns: Columns) {
        let columns = columns.with_shortest_path_rays(1.0);
        let weights = closed_form::weights(&columns);
        let mut generation = ColumnGeneration::new(&self.view, columns, &weights, &self.bound.mu);
        // The repair before the proof gains about a fifth on the estimate.
        let wanted = 1.1 * self.settings.gap;
        let mut promised = wanted.max(MILESTONE * self.gap().min(1.0));
        // Proof and matrix take about as long as those of the closed form did.
        let reserve = self.stop.seconds();
        for _ in 0..ITERATIONS {
            if self.stop.requested() {
                break;
            }
            let limit = self.settings.time_limit.map_or(f64::INFINITY, |t| t.as_secs_f64());
            let last = self.stop.seconds() + reserve >= limit;
            let estimate = generation.iterate(&self.view);
            self.rays = self.rays.max(generation.rays());
            if estimate.gap() <= promised || last {
                self.harvest(&mut generation);
                if self.gap() <= self.settings.gap || last {
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
    }

    /// Proves the bound and makes the matrix of the present iterate.
    fn harvest(&mut self, generation: &mut ColumnGeneration) {
        let (mu, proof) = generation.prove(&self.view);
        if proof.bound > self.bound.value {
            self.bound = Bound { value: proof.bound, mu, mean_cost: proof.mean_cost };
        }
        let shrink = self.shrink();
        let lengths = self.view.graph.map_lengths(|_, _, l| l * (1.0 - shrink));
        let rays = generation.matrix(shrink);
        let seeds = |k: usize, out: &mut Vec<(u32, f64)>| generation.column(&rays, k, out);
        self.offer(strict::strict_matrix(&self.view.graph, &lengths, seeds, self.threshold()));
    }

    /// How much of epsilon is kept back for normalising rows.
    fn shrink(&self) -> f64 {
        (0.05 * self.settings.gap).clamp(1e-6, 1e-4)
    }

    /// Below this an entry becomes tail: small enough to cost a hundredth of the gap.
    fn threshold(&self) -> f64 {
        let everywhere = self.bound.mean_cost * self.view.rows() as f64;
        let affordable = 0.01 * self.settings.gap * self.bound.value / everywhere;
        if affordable.is_finite() { affordable.clamp(1e-15, 1e-9) } else { 1e-12 }
    }

    /// Takes a matrix if it is strict and better than what is known.
    fn offer(&mut self, matrix: Option<SparseRows>) {
        let Some(matrix) = matrix else { return };
        let report = check_sparse(self.problem, &matrix);
        if report.is_strict() && report.cost < self.upper_bound() {
            self.best = Some((matrix, report));
        }
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
            columns: self.rays,
            seconds: point.seconds,
        });
    }

    fn finish(self) -> Result<(Solution, Arc<SparseRows>), Error> {
        let gap = self.gap();
        let seconds = self.stop.seconds();
        let Some((matrix, report)) = self.best else { return Err(Error::StoppedEarly) };
        let matrix = Arc::new(matrix);
        let solution = Solution {
            status: Status::of_gap(gap, self.settings.gap),
            objective: report.cost,
            lower_bound: self.bound.value.min(report.cost),
            gap,
            iterations: self.trace.len(),
            columns: self.rays,
            seconds,
            z: Matrix::Rows(matrix.clone()),
            y: vec![0.0; self.problem.columns()],
            certificate: Certificate {
                worst_log_excess: report.worst_log_excess,
                worst_row_sum_error: report.worst_row_sum_error,
                mu: self.bound.mu,
            },
            trace: self.trace,
        };
        Ok((solution, matrix))
    }
}
