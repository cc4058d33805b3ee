//! Mechanisms: what a place reports, and the proof that it may.
//!
//! A mechanism is an [`ObfuscationMatrix`]: row i is the distribution of the report of a user at
//! place i. [`exponential`] makes one, [`verify`] checks it without trusting whoever made it, and
//! [`sample`] draws a report from a row.

mod epsilon;
mod error;
pub mod exponential;
pub mod laplace;
mod matrix;
pub mod meaning;
pub mod sample;
pub mod verify;

pub use epsilon::Epsilon;
pub use error::MechanismError;
pub use matrix::ObfuscationMatrix;
