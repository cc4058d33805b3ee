//! The phone: fetches, prepares, verifies, remembers, draws, reports.
//!
//! A [`Phone`] decides everything and does nothing: it says which [`Step`] is next, and is told what came of it, so that it runs wherever there
//! are bytes, a clock and randomness. A [`Client`] is a phone with a [`transport::Server`] and a [`state::Keeper`] that can be waited for.
//!
//! - the modes `coordinates`, `published` and `local` can say nothing but a [`lrgeo_protocol::quiet::Request`];
//! - `offload` is the paper's protocol (sections 4.2-4.5), upload and check of the answer;
//! - [`tiles`] says which tiles to fetch so that the request says little;
//! - [`state`] keeps the policy, remembers reports, spends epsilon and pins operators.
//!
//! *The operator is the adversary*: whatever a server sends is checked before it is used, and what it offers is held
//! against the owner's [`policy`]. A server that lies is refused with a [`Lie`], one that offers too little with a
//! [`policy::Refused`], and nothing is reported. The coordinate of the user becomes a row of
//! noise or the number of a place ([`ground`]), and no message can hold either.
//!
//! Without default features this is the smallest client: `coordinates` and `published`, without threads, solvers, files or a clock.
//!
//! ```
//! use lrgeo_client::state::State;
//! use lrgeo_client::{Mode, Phone, Step};
//! use lrgeo_geo::Coord;
//! use lrgeo_protocol::quiet::Request;
//! use std::time::Duration;
//!
//! let clock = || Duration::from_secs(1_800_000_000);
//! let mut phone = Phone::new("https://places.example", State::default(), clock);
//! let mut steps = phone.obfuscate(Coord::new(45.96, -30.0)?, Mode::Coordinates);
//! // Whoever drives it fetches this, says so by `steps.answer(..)`, and asks for the next step.
//! assert!(matches!(steps.next(), Step::Ask { request: Request::Manifest, .. }));
//! # Ok::<(), lrgeo_geo::Invalid>(())
//! ```

pub mod blur;
mod client;
pub mod clock;
mod coordinates;
#[cfg(feature = "local")]
mod description;
pub mod draws;
mod error;
pub mod ground;
#[cfg(feature = "http")]
pub mod http;
#[cfg(feature = "local")]
mod local;
mod mode;
#[cfg(feature = "offload")]
pub mod offload;
mod outcome;
mod phone;
pub mod policy;
mod published;
mod session;
#[cfg(feature = "local")]
mod slice;
pub mod state;
mod steps;
pub mod tiles;
pub mod transport;
mod trust;

pub use client::Client;
#[cfg(feature = "local")]
pub use description::Described;
pub use error::{Caught, ClientError, Lie};
pub use mode::Mode;
pub use outcome::{Accuracy, Compared, Learnt, Outcome, Times};
pub use phone::Phone;
pub use steps::{Step, Steps};
