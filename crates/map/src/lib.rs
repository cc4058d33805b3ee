//! Streets, places and travel costs: the geography under lrgeo.
//!
//! The data flows one way: [`import`] reads [`streets`], [`build`] makes a [`map::Map`] of them,
//! [`travel`] measures how far every place is from every target, and [`table`] turns that into the
//! cost reference table of the paper's section 4.5.
//!
//! ```
//! use lrgeo_geo::PlaceId;
//! use lrgeo_geo::units::Length;
//! use lrgeo_map::utility::{Utility, UtilityKind};
//!
//! let map = lrgeo_show::demo::demo_map(1, Length::from_km(1.5)?)?;
//! let losses = UtilityKind::TravelDistance.of(&map, &())?;
//! let [here, there] = [3, 4].map(PlaceId::new);
//! assert_eq!(losses.loss(here, here), 0.0);
//! assert!(losses.loss(here, there) > 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod beta;
pub mod build;
mod error;
pub mod export;
pub mod file;
mod geojson;
pub mod graph;
#[cfg(feature = "import")]
pub mod h3;
mod heap;
#[cfg(feature = "import")]
pub mod import;
pub mod map;
pub mod neighbours;
pub mod places;
pub mod progress;
pub mod region;
pub mod routing;
pub mod search;
pub mod streets;
pub mod table;
pub mod travel;
pub mod utility;
#[cfg(feature = "geoparquet")]
mod wkb;

pub use error::MapError;
pub use file::{write_stream, write_whole};
