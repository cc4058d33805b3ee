//! What there is to see: a generated city to try everything on ([`demo`]), and maps as pictures ([`draw`]).
//!
//! Nobody's phone needs either, so they have a crate of their own.
//!
//! ```
//! let map = lrgeo_show::demo::demo_map(1, lrgeo_geo::units::Length::from_km(1.0)?)?;
//! assert!(map.places.len() > 50);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod demo;
pub mod draw;
