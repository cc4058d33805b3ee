//! Presolve: reductions that make a problem smaller or tamer before an engine sees it, each with its way back (postsolve).
//!
//! | reduction | what the engine sees | postsolve |
//! |---|---|---|
//! | `scaling` | costs and factors of ties near 1, by powers of two | costs, duals and y divided again, tied entries made afresh |
//! | `coincident` | rows at one spot as one row with the sum of their costs | a copy of its row for each, its dual shared out |
//! | `components` | rows that no chain of arcs joins, part by part | rows and duals in their places, costs and bounds added up |
//! | `level` | a net of the rows and few columns of a fine map | duals for a solve of the whole to begin with |
//! | [`idle_columns`] | the columns that look promising | zeros in the others, which the duals prove idle, or they join |
//!
//! An engine's row in an error finds its way back as well. What comes out is a solution of the problem as it was asked, and
//! `verified` looks at it as such. Scaling stands before every engine (`verified`), coincident rows before column generation,
//! Benders and direct, components before column generation; idle columns are left out where the
//! caller asks for it; column generation begins at a coarser level where the closed form is far off (`colgen/coarse_start.rs`). The engine
//! for large maps has neither before it, and needs neither. A column of it is the place of a row, so that coincident rows, whose
//! columns stay two, cannot be one; its arcs may have no length. A bound for a part's own columns is none for the whole, where rows may
//! report places of other parts; its windows, preconditioners and tiles never reach across parts, so it solves them side by side as it is.

pub(crate) mod coincident;
pub(crate) mod components;
pub mod idle_columns;
pub(crate) mod level;
pub(crate) mod scaling;

use crate::error::Error;
use crate::problem::Problem;
use crate::settings::Settings;
use crate::solution::Solution;

/// Solves a problem with coincident rows as one and independent parts by themselves.
pub(crate) fn solve(
    problem: &Problem,
    settings: &Settings,
    engine: impl Fn(&Problem, &Settings) -> Result<Solution, Error> + Sync + Send,
) -> Result<Solution, Error> {
    coincident::solve(problem, settings, |merged| components::solve(merged, settings, &engine))
}
