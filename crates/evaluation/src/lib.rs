//! What a mechanism is worth: how much it costs, how far that is from the best, and what an attacker
//! learns from it (section 5 of the paper, spec section 7).
//!
//! One file per metric, each a function of the rows, the prior and the places; [`assess`] takes all
//! of them of one mechanism and says in words what must not be overlooked.

pub mod adversary;
mod assess;
pub mod attack;
pub mod bounds;
pub mod curves;
pub mod experiments;
pub mod optimum;
pub mod report;
pub mod spending;
pub mod street;
pub mod tiles;
pub mod violations;

pub use assess::{Assessment, Flag, assess};
