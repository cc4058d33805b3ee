//! Points on the Earth and what everybody needs to speak of them: the ground floor, small enough for a phone.
//!
//! Coordinates and boxes are here at the top; [`index`] finds what is near, [`units`] has lengths and travel amounts, [`spacing`] says how far
//! apart places are and [`twins`] which of them are one and the same. [`bytes`] has numbers as files keep them, [`Digest`] is what a file is known by, [`PlaceId`] which place of a map, [`rng`] the generator of made-up data.
//! No threads (but for [`parallel`], where somebody asks for them), no files, no streets.
//!
//! ```
//! use lrgeo_geo::Coord;
//! use lrgeo_geo::index::SpatialIndex;
//!
//! let places = [Coord::new(41.90, 12.50)?, Coord::new(41.95, 12.50)?];
//! let (nearest, km) = SpatialIndex::new(&places).nearest(Coord::new(41.91, 12.50)?).unwrap();
//! assert_eq!(nearest, 0);
//! assert!((km - 1.11).abs() < 0.01);
//! # Ok::<(), lrgeo_geo::Invalid>(())
//! ```

pub mod bytes;
mod coord;
mod digest;
pub mod index;
pub mod parallel;
mod place;
pub mod rng;
pub mod spacing;
pub mod twins;
pub mod units;

pub use coord::{BoundingBox, Coord, EARTH_RADIUS_KM, Located, STEP_DEGREES};
pub use digest::{Digest, from_hex, to_hex};
pub use place::PlaceId;

/// A value that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {reason}")]
pub struct Invalid {
    /// The option, column or field at fault.
    pub field: &'static str,
    /// What it must be instead.
    pub reason: String,
}

impl Invalid {
    /// Names the field and what it must be instead.
    pub fn new(field: &'static str, reason: impl Into<String>) -> Self {
        Self { field, reason: reason.into() }
    }
}
