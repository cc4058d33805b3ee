//! The engine for thousands of places, where no rows x columns array may exist.
//!
//! Rays decay like `exp(-eps D)`, so everything is local: columns live on windows (balls around
//! their own place), pricing is truncated to them, and the result stores explicit entries and a
//! constant tail per column ([`SparseRows`]). The steps, each a file:
//!
//! 1. `closed_form`: `z_ik = x_k exp(-eps D_ik)`, one sparse linear solve; its dual by another.
//! 2. `dual`: price all columns on their windows (`pricing`; at first from a neighbour's tree, `family`), repair the dual
//!    vector, prove a bound.
//! 3. `colgen`, `master`, `normal`: where the gap is too wide, column generation with an interior
//!    point whose normal equations are solved by conjugate gradients on overlapping parts. Where costs are so
//!    uneven that the closed form is no place to begin from, `start` finds smooth duals, and `drawn`
//!    says where windows must be deep.
//!    Maps of many thousand places are cut into tiles that are solved one by one (`tile`) and glued together (`glue`).
//! 4. `strict`: close the columns, add tails, normalise: a matrix that is exactly private.
//! 5. `verify`: an independent checker, with directed rounding, over every arc and column.

mod closed_form;
mod colgen;
mod columns;
mod drawn;
mod dual;
mod glue;
mod krylov;
mod master;
mod normal;
mod partition;
mod rays;
mod run;
mod start;
mod strict;
#[cfg(test)]
mod tests;
mod tile;
mod tuning;
mod view;
mod window;

pub use crate::sparse_rows::SparseRows;

use crate::error::{Error, length};
use crate::problem::Problem;
use crate::settings::Settings;
use crate::solution::Solution;
use crate::verified;
use colgen::ColumnGeneration;
use columns::Columns;
use drawn::Drawn;
use run::Run;
use tuning::TUNING;
use view::{Stopped, View};
use window::Windows;

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
    let _: Result<(), Stopped> = prove_some(&view, &mut best);
    Ok(best)
}

/// A proven lower bound for every feasible matrix, from duals that are nearly optimal: those of a similar
/// problem, repaired. Quicker than [`lower_bound`] where costs are uneven.
pub fn lower_bound_from(problem: &Problem, mu: &[f64]) -> Result<Bound, Error> {
    lower_bound_within(problem, mu, &Settings::default())
}

/// The same within the time limit of the settings; zero where that does not suffice.
pub fn lower_bound_within(
    problem: &Problem,
    mu: &[f64],
    settings: &Settings,
) -> Result<Bound, Error> {
    let view = View::new(problem, Some(settings.start_watch()?))?;
    ensure_local(&view)?;
    length("mu", &[], view.rows(), mu.len())?;
    let mut best = Bound::trivial(view.rows());
    // Stopped or not, what was found is a bound.
    let _: Result<(), Stopped> =
        repaired_bound(&view, mu.to_vec(), TUNING.repaired).map(|(bound, _)| best.improve(bound));
    Ok(best)
}

/// Whether this engine solves a problem of this kind: no ties, no bounds, and a column for every row.
pub fn applies(problem: &Problem) -> bool {
    !problem.has_ties() && problem.bounds().is_empty() && problem.rows() == problem.columns()
}

/// The bound that a dual vector proves as it is: windows are made for it, every column is priced on its own, and what
/// lies outside is checked pair by pair.
pub fn proven_bound(problem: &Problem, mu: &[f64]) -> Result<f64, Error> {
    let view = View::new(problem, None)?;
    ensure_local(&view)?;
    length("mu", &[], view.rows(), mu.len())?;
    let prove = || {
        let drawn = Drawn::at(&view, mu)?;
        let mut columns =
            Columns::on(&view, Windows::around(&view, &drawn, TUNING.window_radius)?)?;
        columns.price(&view, mu, dual::PRECISION)?;
        dual::prove(&view, &columns, mu)
    };
    // Without a stop nothing ends early.
    Ok(prove().map_or(0.0, |proof| proof.bound))
}

/// The closed form's bound, or that of a few iterations where the closed form is far from the optimum.
fn prove_some(view: &View<'_>, best: &mut Bound) -> Result<(), Stopped> {
    if first_bound(view, FarDuals::Leave, TUNING.repaired, |bound| best.improve(bound))?.is_proven {
        return Ok(());
    }
    let Some(mut generation) =
        ColumnGeneration::afresh(view, TUNING.window_radius, TUNING.bound_gap)?
    else {
        first_bound(view, FarDuals::Repair, TUNING.repaired, |bound| best.improve(bound))?;
        return Ok(());
    };
    for _ in 0..TUNING.bound_iterations {
        generation.iterate(view)?;
    }
    let (mu, proof) = generation.prove(view, TUNING.repaired)?;
    best.improve(Bound { value: proof.bound, mu, mean_cost: proof.mean_cost });
    Ok(())
}

/// Solves an untied problem with as many columns as rows, column k being the place of row k.
///
/// The closed form and its repaired bound come first and suffice where eps times the spacing is
/// large; column generation follows where they do not. The solution's matrix is a [`SparseRows`],
/// verified. A time limit or a cancellation is honoured within about a second, in the middle of an
/// iteration too, with the best matrix and bound so far; both are valid from the very start, when
/// everyone reports one and the same place.
pub fn solve(problem: &Problem, settings: &Settings) -> Result<Solution, Error> {
    verified::solve(problem, settings, NAME, |problem| {
        let stop = settings.start_watch()?;
        settings.on_threads(|| Run::new(problem, settings, stop)?.solve())
    })
}

/// What errors call this engine.
const NAME: &str = "large";

/// Refuses problems whose rays reach too far for the map: where eps times the spacing is so small
/// that nothing is local, memory would grow with the square of the rows.
fn ensure_local(view: &View<'_>) -> Result<(), Error> {
    let n = view.rows();
    let mut dijkstra = crate::cone::Dijkstra::new(n);
    let (mut sampled, mut reached) = (0, 0);
    for k in (0..n).step_by(n.div_ceil(32)) {
        sampled += 1;
        let seed = std::iter::once((k as u32, 0.0));
        dijkstra.run(&view.graph, seed, TUNING.explicit_radius, |_, _, _| reached += 1);
    }
    let found = (reached as f64 / f64::from(sampled) * n as f64) as usize;
    if found > TUNING.largest_entries {
        let (field, limit) = ("explicit entries", TUNING.largest_entries);
        return Err(Error::TooLarge { field, found, limit });
    }
    Ok(())
}

/// The closed form's columns, and whether its duals led to a bound.
struct First {
    columns: Columns,
    is_proven: bool,
}

/// Whether to go on from the duals of a closed form that is far from the optimum.
#[derive(Clone, Copy, PartialEq)]
enum FarDuals {
    Leave,
    Repair,
}

/// Windows, closed-form dual, repair, proof; windows grow where the proof leaks. What is proven goes
/// to `found` at once.
fn first_bound(
    view: &View<'_>,
    far: FarDuals,
    enough: f64,
    mut found: impl FnMut(Bound),
) -> Result<First, Stopped> {
    let mut columns = Columns::new(view, TUNING.window_radius)?;
    let mut mu = closed_form::dual(view, &columns)?;
    if far == FarDuals::Leave && !closed_form::is_near(&columns, &mu) {
        return Ok(First { columns, is_proven: false });
    }
    dual::repair(view, &mut columns, &mut mu, enough)?;
    let proof = dual::prove(view, &columns, &mu)?;
    let leaks = -proof.outside > 1e-6 * proof.bound.abs();
    found(Bound { value: proof.bound, mu: mu.clone(), mean_cost: proof.mean_cost });
    if leaks {
        let (bound, grown) = repaired_bound(view, mu, enough)?;
        columns = grown;
        found(bound);
    }
    Ok(First { columns, is_proven: true })
}

/// The bound that nearly feasible duals prove once they are repaired, on windows made for them.
fn repaired_bound(
    view: &View<'_>,
    mut mu: Vec<f64>,
    enough: f64,
) -> Result<(Bound, Columns), Stopped> {
    let drawn = Drawn::at(view, &mu)?;
    let mut columns = Columns::on(view, Windows::around(view, &drawn, TUNING.window_radius)?)?;
    mu.iter_mut().zip(&drawn.ceiling).for_each(|(mu, &most)| *mu = mu.min(most));
    dual::repair(view, &mut columns, &mut mu, enough)?;
    let proof = dual::prove(view, &columns, &mu)?;
    Ok((Bound { value: proof.bound, mu, mean_cost: proof.mean_cost }, columns))
}
