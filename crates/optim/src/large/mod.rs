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
mod run;
mod sparse_rows;
mod strict;
mod verify;
mod view;
mod window;

pub use sparse_rows::SparseRows;
pub use verify::check_sparse;

use std::sync::Arc;

use crate::error::Error;
use crate::problem::Problem;
use crate::settings::Settings;
use crate::solution::Solution;
use columns::Columns;
use run::Run;
use view::{Stopped, View};

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

impl Bound {
    /// Costs are not negative, so zero is always a bound.
    fn trivial(rows: usize) -> Self {
        Self { value: 0.0, mu: vec![0.0; rows], mean_cost: 0.0 }
    }

    /// Takes another bound where it is better; the mean cost in any case.
    fn improve(&mut self, other: Self) {
        self.mean_cost = other.mean_cost;
        if other.value > self.value {
            *self = other;
        }
    }
}

/// A proven lower bound for every feasible matrix of an untied problem, without solving it: the
/// dual of the closed form, priced and repaired. Seconds at ten thousand places.
pub fn lower_bound(problem: &Problem) -> Result<Bound, Error> {
    let view = View::new(problem, None)?;
    ensure_local(&view)?;
    let mut best = Bound::trivial(view.rows());
    // Without a stop nothing ends early.
    let _: Result<Columns, Stopped> =
        first_bound(&view, WINDOW_RADIUS, |bound| best.improve(bound));
    Ok(best)
}

/// Solves an untied problem with as many columns as rows, column k being the place of row k.
///
/// The closed form and its repaired bound come first and suffice where eps times the spacing is
/// large; column generation follows where they do not. The solution's matrix is a [`SparseRows`],
/// verified. A time limit or a cancellation is honoured within about a second, in the middle of an
/// iteration too, with the best matrix and bound so far; both are valid from the very start, when
/// everyone reports one and the same place.
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
    settings.on_threads(|| Run::new(problem, settings, stop)?.solve())
}

/// Log-radius of windows: what a ray loses beyond is below `T^2 exp(-T) / 2`, 1e-4 of its cost.
const WINDOW_RADIUS: f64 = 14.0;
/// Largest log-radius that leaking windows grow to; past it, leaks only cost bound.
const LARGEST_RADIUS: f64 = 28.0;

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

/// Windows, closed-form dual, repair, proof; windows grow where the proof leaks. What is proven goes
/// to `found` at once.
fn first_bound(
    view: &View<'_>,
    radius: f64,
    mut found: impl FnMut(Bound),
) -> Result<Columns, Stopped> {
    let mut radii = vec![radius; view.rows()];
    let mut previous = None;
    loop {
        let mut columns = Columns::new(view, &radii)?;
        // Grown windows go on from duals that are nearly feasible already.
        let mut mu = match previous.take() {
            Some(mu) => mu,
            None => closed_form::dual(view, &columns)?,
        };
        dual::repair(view, &mut columns, &mut mu)?;
        let proof = dual::prove(view, &columns, &mu)?;
        previous = Some(mu.clone());
        found(Bound { value: proof.bound, mu, mean_cost: proof.mean_cost });
        let growing = proof.leaking.iter().any(|&k| radii[k as usize] < LARGEST_RADIUS);
        if !growing || -proof.outside <= 1e-6 * proof.bound.abs() {
            return Ok(columns);
        }
        for &k in &proof.leaking {
            radii[k as usize] = (1.5 * radii[k as usize]).min(LARGEST_RADIUS);
        }
    }
}
