//! `lrgeo map`: make maps, look at them, pass them on.

mod account;
mod build;
mod export;
mod info;

use clap::Subcommand;

pub use build::rounded_km;

use crate::failure::Failure;
use crate::ui::Ui;

#[derive(Subcommand)]
pub enum MapCommand {
    /// Make a map from OpenStreetMap, GraphML or CSV tables, from a routing engine's table, or of the demo city.
    Build(Box<build::Build>),
    /// Say what a map holds.
    Info(info::Info),
    /// Write a map as GeoJSON, CSV, GeoParquet, SVG, or its cost matrix.
    Export(export::Export),
}

impl MapCommand {
    pub fn run(self, ui: &Ui) -> Result<(), Failure> {
        match self {
            MapCommand::Build(build) => build.run(ui),
            MapCommand::Info(info) => info.run(ui),
            MapCommand::Export(export) => export.run(ui),
        }
    }
}
