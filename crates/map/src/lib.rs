//! Streets, places and travel costs: the geography under lrgeo.

mod error;
pub mod geo;
pub mod streets;

pub use error::MapError;
