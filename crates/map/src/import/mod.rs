//! Reading what others wrote: OpenStreetMap files and CSV tables.

mod csv;
mod losses;
pub mod osm;
mod rules;

pub use csv::{read_points, read_sites, read_streets, read_weights};
pub use losses::{read_losses, read_shares, read_square};
pub use osm::{OsmReport, read_osm};
