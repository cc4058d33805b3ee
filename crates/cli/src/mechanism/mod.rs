//! `lrgeo mechanism`: make mechanisms, look at them, pass them on.

mod build;
mod export;
mod import;
mod info;
mod rows;
mod users;

pub use users::Users;

use std::path::Path;

use clap::Subcommand;
use lrgeo_geo::Digest;
use lrgeo_geo::index::SpatialIndex;
use lrgeo_geo::spacing::{reach_km, spacing_km};
use lrgeo_geo::{BoundingBox, Coord, PlaceId};
use lrgeo_map::map::Map;
use lrgeo_mechanism::verify::Verified;
use lrgeo_mechanism::{Built, MechanismError, Rows};
use lrgeo_tiles::Distribution;

use crate::failure::Failure;
use crate::ui::Ui;

#[derive(Subcommand)]
pub enum MechanismCommand {
    /// Make a mechanism for a map, and verify it.
    Build(Box<build::Build>),
    /// Make a mechanism of a matrix that another program wrote, and verify it.
    Import(Box<import::Import>),
    /// Say what a mechanism promises, costs and means.
    Info(info::Info),
    /// Write the rows of a mechanism for other programs.
    Export(export::Export),
    /// Write what people at given coordinates draw from.
    Rows(rows::RowsAt),
}

impl MechanismCommand {
    pub fn run(self, ui: &Ui) -> Result<(), Failure> {
        match self {
            MechanismCommand::Build(build) => build.run(ui),
            MechanismCommand::Import(import) => import.run(ui),
            MechanismCommand::Info(info) => info.run(ui),
            MechanismCommand::Export(export) => export.run(ui),
            MechanismCommand::Rows(rows) => rows.run(ui),
        }
    }
}

/// Opens a mechanism; with a map, refuses one that was made for another version of it.
pub fn open(path: &Path, map: Option<&Path>) -> Result<(Built, Digest), Failure> {
    let (built, fingerprint) = Built::open(path)?;
    if let Some(map) = map {
        built.expect_map(Map::open(map)?.1)?;
    }
    Ok((built, fingerprint))
}

/// The same, and refuses one that does not keep its promise.
pub fn open_verified(
    path: &Path,
    map: Option<&Path>,
    ui: &Ui,
) -> Result<(Verified, Digest), Failure> {
    let (built, fingerprint) = open(path, map)?;
    Ok((Verified::new(built, ui)?, fingerprint))
}

/// The distribution that somebody at a position draws from. Positions off the map are refused; the message does not repeat them.
pub fn row_at(
    built: &Built,
    places: &Reach,
    at: Coord,
    field: &'static str,
) -> Result<Distribution, MechanismError> {
    if let Rows::Noise(noise) = &built.rows {
        return noise.row_at(at).ok_or_else(|| places.outside(at, field));
    }
    let place = places.place_at(at, field)?;
    let others = "this mechanism was made for other users; make one with --users";
    built.row(place).ok_or_else(|| MechanismError::invalid(field, others))
}

/// Which positions belong to which place.
pub struct Reach {
    index: SpatialIndex,
    km: f64,
    bounds: Option<BoundingBox>,
}

impl Reach {
    /// Of these places.
    pub fn new(coords: &[Coord]) -> Self {
        let km = reach_km(spacing_km(coords).unwrap_or(f64::INFINITY));
        let bounds = BoundingBox::around(coords.iter().copied());
        Self { index: SpatialIndex::new(coords), km, bounds }
    }

    /// The place that a position belongs to. Positions that no place reaches are not on the map, and nothing is promised to
    /// them; the message does not repeat them.
    pub fn place_at(&self, at: Coord, field: &'static str) -> Result<PlaceId, MechanismError> {
        match self.index.nearest(at) {
            Some((place, km)) if km <= self.km => Ok(PlaceId::new(place)),
            _ => Err(self.outside(at, field)),
        }
    }

    /// Why nothing is promised to a position, as far as the map knows; the position itself is not repeated.
    fn outside(&self, at: Coord, field: &'static str) -> MechanismError {
        let reason = match self.bounds {
            Some(bounds) => off_the_map(bounds, at, self.km),
            None => "lies outside the map, which has no place".to_owned(),
        };
        MechanismError::Invalid { field, reason }
    }
}

/// In words, where a position lies off a map with these bounds and no place within so many kilometres.
pub fn off_the_map(bounds: BoundingBox, at: Coord, reach_km: f64) -> String {
    if bounds.contains_exchanged(at) {
        return format!(
            "lies outside the map, and inside with latitude and longitude exchanged: latitude comes first (the map: {bounds})"
        );
    }
    match bounds.contains(at) {
        true => format!(
            "no place of the map within {reach_km:.2} km, although it lies between them (the map: {bounds})"
        ),
        false => {
            format!("lies outside the map: no place within {reach_km:.2} km (the map: {bounds})")
        }
    }
}
