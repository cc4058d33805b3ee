//! The phone: fetches, prepares, verifies, remembers, draws, reports.
//!
//! A [`Client`] talks to a [`transport::Server`] and keeps a [`state::State`]. Everything that decides
//! anything works on bytes and messages only, without a network:
//!
//! - [`coordinates`], [`published`] and [`local`] can say nothing but a [`lrgeo_protocol::quiet::Request`];
//! - [`offload`] is the paper's protocol (sections 4.2-4.5), upload and check of the answer;
//! - [`tiles`] says which tiles to fetch so that the request says little;
//! - [`state`] keeps the policy, remembers reports, spends epsilon and pins operators.
//!
//! *The operator is the adversary*: whatever a server sends is checked before it is used, and what it offers is held
//! against the owner's [`policy`]. A server that lies is refused with a [`Lie`], one that offers too little with a
//! [`policy::Refused`], and nothing is reported. The coordinate of the user becomes a row of
//! noise ([`coordinates`]) or the number of a place ([`ground`]), and no message can hold either.

mod client;
pub mod clock;
pub mod coordinates;
mod description;
pub mod draws;
mod error;
pub mod ground;
#[cfg(feature = "http")]
pub mod http;
pub mod local;
mod mode;
pub mod offload;
mod outcome;
pub mod policy;
pub mod published;
mod session;
mod slice;
pub mod state;
pub mod tiles;
pub mod transport;
mod trust;

pub use client::Client;
pub use description::Described;
pub use error::{ClientError, Lie};
pub use mode::Mode;
pub use outcome::{Accuracy, AccuracyOf, Compared, Learnt, Outcome, Row, Times};
pub use session::Common;
