//! The room that judges answers: is a matrix feasible, is a bound one, is there really no matrix?
//!
//! It knows the problem and plain arithmetic, and no engine: whoever made an answer need not be trusted, and an error of an
//! engine cannot hide in the code that looks for it (`tests/rooms.rs` keeps it so). Every comparison is rounded against
//! ourselves (`rounding`) and there is no tolerance.
//!
//! - [`check()`] and [`check_sparse`]: every constraint of a matrix, entry by entry;
//! - [`bound_of_flows`]: what duals and a flow for every column prove, and `window_bound` what a tree over a part of the rows does;
//! - `infeasible`: that bounds, ties and arcs leave no matrix at all.

mod arc_limit;
mod check;
mod flows;
pub(crate) mod infeasible;
pub(crate) mod rounding;
#[cfg(feature = "parallel")]
mod sparse;
#[cfg(feature = "parallel")]
mod window;

pub use check::{Report, check};
pub use flows::{ArcFlow, bound_of_flows, column_bound};
#[cfg(feature = "parallel")]
pub use sparse::check_sparse;
#[cfg(feature = "parallel")]
pub(crate) use sparse::check_while;
#[cfg(feature = "parallel")]
pub(crate) use window::{bound_of_windows, window_bound};
