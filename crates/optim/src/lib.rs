//! Exact optimisation of geo-indistinguishable mechanisms; knows no geography.
//!
//! One [`Problem`] type covers every linear program of the paper (OMG, ConstOPT, LR-OMG, CLR-Geo,
//! LR-Geo-F, a user's LP with public y, a tile between fixed neighbours). Solvers return a
//! [`Solution`] whose matrix satisfies every constraint exactly in `f64` ([`certificate`]) and whose lower
//! bound can be proven again from its dual vector alone. [`solve()`] is the front door to all of them; whichever way one comes,
//! no engine's answer gets out that the independent checkers have not accepted (`verified`).
//!
//! Words that the modules share:
//!
//! - *block*: the free entries of one column that arcs join; a *cone* where nothing fixes their scale, priced within `z <= 1`.
//! - *ray*: an extreme ray of a cone, a column's probabilities up to scale; column generation mixes rays so that rows sum to 1.
//! - *floor*, *ceiling*: how a row hangs from its parent in the spanning tree of a ray, `z = z_parent / a` or `z = a z_parent`;
//!   a *top* hangs from no row, but at `z = 1`.
//! - *window*: the rows near the *anchor* of a column (its own place) on which large maps keep its rays; a column is *drawn* to
//!   rows elsewhere where its rays may peak.
//! - *tile*: a part of a very large map, a *core* that is used and a *halo* around it that is not.
//! - *incumbent*: the best strict matrix so far, which is what a solve that is stopped returns.
//! - *strict*: satisfying every constraint in real arithmetic, with the very `f64` numbers given.
//! - *coincident* rows: at distance zero, hence equal; *presolve* and *postsolve* are the ways there and back.
//!
//! Time, randomness and threads are passed in through [`Settings`]; the crate does no I/O.
//!
//! ```
//! use lrgeo_optim::{Arc, DenseCost, Problem, ProblemParts, Settings, solve};
//!
//! // Three places on a line, one kilometre apart; a report costs its distance.
//! let cost = DenseCost::new(3, 3, vec![0., 1., 2., 1., 0., 1., 2., 1., 0.])?;
//! let arcs = vec![Arc { i: 0, j: 1, d: 1.0 }, Arc { i: 1, j: 2, d: 1.0 }];
//! let solution = solve(&Problem::new(ProblemParts::untied(1.0, cost, arcs))?, &Settings::default())?;
//! assert!(solution.lower_bound <= solution.objective && solution.gap <= 1e-6);
//! # Ok::<(), lrgeo_optim::Error>(())
//! ```

#[cfg(feature = "direct")]
pub mod benders;
pub mod bound;
pub mod certificate;
pub mod colgen;
mod cone;
mod cost;
#[cfg(feature = "direct")]
pub mod direct;
mod error;
#[cfg(feature = "format")]
pub mod format;
mod generate;
mod incumbent;
#[cfg(feature = "parallel")]
pub mod large;
mod matrix;
pub mod presolve;
mod problem;
mod repaired;
mod settings;
mod solution;
mod solve;
mod sparse_rows;
mod verified;

pub use cost::{Cost, DenseCost, WeightedL1Cost};
pub use error::{Error, Fault, Infeasibility};
pub use matrix::{DenseMatrix, Matrix, RowSource};
pub use problem::{Arc, EntryBound, Problem, ProblemParts, Ties};
pub use repaired::strict;
#[cfg(not(target_family = "wasm"))]
pub use settings::StdClock;
pub use settings::{Clock, Progress, ProgressCallback, Settings, Stop};
pub use solution::{Certificate, OPTIMAL_GAP, Solution, Status, TracePoint, relative_gap};
pub use solve::{Engine, solve};
pub use sparse_rows::SparseRows;
pub use verified::ROW_SUM_ERROR;
