//! Reading what others wrote: OpenStreetMap, GraphML, GeoJSON, CSV and Parquet files, and tables of routing engines.

mod csv;
mod features;
#[cfg(feature = "geoparquet")]
mod geoparquet;
mod graphml;
mod losses;
mod names;
pub mod osm;
mod routing;
mod rules;

use std::path::Path;

use lrgeo_geo::Coord;

use crate::MapError;
use crate::build::Weights;
use crate::places::Site;
use features::{Rows, from_geojson};

pub use csv::{CsvReport, TooShort, read_streets};
pub use graphml::{GraphmlReport, read_graphml};
pub use losses::{read_losses, read_shares, read_square};
pub use osm::{OsmReport, read_osm};
pub use routing::read_routing_table;

/// What the name of a file says it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A table with a header line.
    Csv,
    /// Features.
    GeoJson,
    /// Columns, with geometries or without.
    Parquet,
}

impl Format {
    /// By the ending: `.geojson` and `.json`, `.parquet`, `.geoparquet` and `.pq`, all others CSV.
    pub fn of(path: &Path) -> Self {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        match ending.to_ascii_lowercase().as_str() {
            "geojson" | "json" => Format::GeoJson,
            "parquet" | "geoparquet" | "pq" => Format::Parquet,
            _ => Format::Csv,
        }
    }
}

#[cfg(feature = "geoparquet")]
fn from_parquet<'p>(path: &'p Path, column: Option<&str>) -> Result<Rows<'p>, MapError> {
    geoparquet::from_parquet(path, column)
}

#[cfg(not(feature = "geoparquet"))]
fn from_parquet<'p>(path: &'p Path, _: Option<&str>) -> Result<Rows<'p>, MapError> {
    Err(MapError::file(path, "this build reads no Parquet; use GeoJSON or CSV"))
}

/// Reads places: points, or areas by their centroids, with their ids.
pub fn read_sites(path: &Path) -> Result<Vec<Site>, MapError> {
    match Format::of(path) {
        Format::Csv => csv::read_sites(path),
        Format::GeoJson => from_geojson(path, None)?.sites(),
        Format::Parquet => from_parquet(path, None)?.sites(),
    }
}

/// Reads points, with the ids that they have.
pub fn read_points(path: &Path) -> Result<Vec<(Option<String>, Coord)>, MapError> {
    match Format::of(path) {
        Format::Csv => csv::read_points(path),
        Format::GeoJson => from_geojson(path, None)?.points(),
        Format::Parquet => from_parquet(path, None)?.points(),
    }
}

/// Reads weights from the named column (or `weight`, `prior`, `count`, `population`): at points, over areas, or by `id` where
/// the file has no coordinates. Without any weights every row counts one.
pub fn read_weights(path: &Path, column: Option<&str>) -> Result<Weights, MapError> {
    match Format::of(path) {
        Format::Csv => csv::read_weights(path, column),
        Format::GeoJson => from_geojson(path, column)?.weights(column),
        Format::Parquet => from_parquet(path, column)?.weights(column),
    }
}
