//! `lrgeo cost-table`: make and read the cost reference table.

use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;

use clap::{ArgGroup, Args, Subcommand};
use lrgeo_geo::units::Length;
use lrgeo_geo::{Coord, PlaceId};
use lrgeo_map::import::read_losses;
use lrgeo_map::map::Map;
use lrgeo_map::table::{CostTable, Division, MAX_SLICE_CELLS, Slice, Tile};
use lrgeo_map::utility::UtilitySource;
use lrgeo_map::write_whole;
use serde_json::json;

use crate::failure::Failure;
use crate::json;
use crate::options::Circle;
use crate::ui::{Ui, count};

#[derive(Subcommand)]
pub enum CostTableCommand {
    /// Make the table of a map.
    Build(Build),
    /// Say what a table holds.
    Info(Info),
    /// Cut out what a client would download.
    Slice(Cut),
}

impl CostTableCommand {
    pub fn run(self, ui: &Ui) -> Result<(), Failure> {
        match self {
            CostTableCommand::Build(build) => build.run(ui),
            CostTableCommand::Info(info) => info.run(ui),
            CostTableCommand::Slice(cut) => cut.run(ui),
        }
    }
}

/// Make the cost reference table of a map.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  lrgeo cost-table build city.lrmap --cell 100m -o city.lrtable\n  lrgeo cost-table build city.lrmap --segments 150m --utility travel-time -o minutes.lrtable"
)]
pub struct Build {
    /// The map.
    map: PathBuf,
    /// Side of the table's cells: finer is closer to the true costs.
    #[arg(long, default_value = "100m", allow_hyphen_values = true)]
    cell: Length,
    /// Road segments of this length instead of cells.
    #[arg(long, value_name = "LENGTH", conflicts_with = "cell", allow_hyphen_values = true)]
    segments: Option<Length>,
    /// What a wrong report costs: travel-distance (km), travel-time (min), straight-line (km), or a
    /// matrix file (.npy, .csv).
    #[arg(long, default_value = "travel-distance")]
    utility: UtilitySource,
    /// Where to write the table.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Print the account as JSON.
    #[arg(long)]
    json: bool,
}

impl Build {
    fn run(self, ui: &Ui) -> Result<(), Failure> {
        let (map, version) = Map::open(&self.map)?;
        let division = self.segments.map_or(Division::Grid(self.cell), Division::Segments);
        let table = match &self.utility {
            UtilitySource::Measured(kind) => CostTable::build(&map, version, division, *kind, ui)?,
            UtilitySource::File(path) => {
                let losses = Arc::new(read_losses(path, map.places.len())?);
                CostTable::given(&map, version, division, losses)?
            }
        };
        table.save(&self.output)?;
        if self.json {
            ui.json(&as_json(&table));
        } else {
            ui.remark(summary(&table));
            ui.remark(format!("wrote {}", self.output.display()));
        }
        Ok(())
    }
}

/// Say what a cost reference table holds.
#[derive(Args)]
#[command(after_help = "Example:\n  lrgeo cost-table info city.lrtable --json")]
pub struct Info {
    /// The table.
    table: PathBuf,
    /// Refuse the table unless it was made from this map.
    #[arg(long)]
    map: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Info {
    fn run(self, ui: &Ui) -> Result<(), Failure> {
        let table = CostTable::open(&self.table)?;
        if let Some(path) = &self.map
            && Map::open(path)?.1 != table.map
        {
            return Err(Failure::OtherMap(self.table));
        }
        if self.json {
            ui.json(&as_json(&table));
        } else {
            println!("{}", summary(&table));
        }
        Ok(())
    }
}

/// Offsets of the places in the unit of the loss: mean and largest.
fn offsets(table: &CostTable) -> (f64, f64) {
    let offsets = PlaceId::all(table.places().len()).map(|place| table.offset(place));
    let (sum, max) = offsets.fold((0.0, 0.0f64), |(sum, max), o| (sum + o, max.max(o)));
    (sum / table.places().len().max(1) as f64, max)
}

fn summary(table: &CostTable) -> String {
    let unit = table.unit();
    let (mean, max) = offsets(table);
    let lines = [
        ("map version", table.map.short()),
        ("cells", format!("{} {}", count(table.cells().len()), table.division())),
        (
            "targets",
            table.travel().map_or("none: losses are between places".into(), |t| count(t.targets())),
        ),
        (
            "offsets",
            format!("{mean:.3} {unit} from place to cell on average, {max:.3} {unit} at most"),
        ),
        (
            "tiles",
            format!(
                "{} fixed ones; a slice may hold {} cells",
                count(table.tiles().len()),
                count(MAX_SLICE_CELLS)
            ),
        ),
    ];
    crate::ui::aligned(&lines).trim_end().to_string()
}

fn as_json(table: &CostTable) -> serde_json::Value {
    let (mean, max) = offsets(table);
    let tiles: Vec<_> = table
        .tiles()
        .iter()
        .map(|(tile, cells)| json!({"row": tile.row, "column": tile.column, "cells": cells.len()}))
        .collect();
    json!({
        "map": table.map,
        "division": table.division().to_string(),
        "cell_km": table.division().length().km(),
        "cells": table.cells().len(),
        "places": table.places().len(),
        "unit": table.unit(),
        "targets": table.travel().map(|travel| travel.targets()),
        "offset": { "mean": mean, "max": max },
        "margin_km": table.margin_km(),
        "tiles": tiles,
    })
}

/// Cut a slice out of a table: the cells of a circle or of fixed tiles, and beta between all of
/// them, as CSV lines lat_i,lon_i,lat_k,lon_k,beta (the table of the paper's section 4.5.1) or as
/// JSON.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  lrgeo cost-table slice city.lrtable --circle 41.89,12.49,2km -o slice.csv\n  \
                  lrgeo cost-table slice city.lrtable --tile 3,4 --tile 3,5 --json",
    group = ArgGroup::new("where").required(true).args(["circle", "tile"])
)]
pub struct Cut {
    /// The table.
    table: PathBuf,
    /// Centre and radius.
    #[arg(long, value_name = "LAT,LON,RADIUS", allow_hyphen_values = true)]
    circle: Option<Circle>,
    /// Row and column of a tile (see `lrgeo cost-table info --json`); may be repeated.
    #[arg(long, value_name = "ROW,COLUMN", value_parser = tile)]
    tile: Vec<Tile>,
    /// Where to write the slice as CSV.
    #[arg(short, long, value_name = "FILE.csv", required_unless_present = "json")]
    output: Option<PathBuf>,
    /// Print the slice as JSON.
    #[arg(long)]
    json: bool,
}

fn tile(text: &str) -> Result<Tile, String> {
    let wrong = || "must be ROW,COLUMN, like 3,4".to_string();
    let (row, column) = text.split_once(',').ok_or_else(wrong)?;
    let number = |text: &str| text.trim().parse().map_err(|_| wrong());
    Ok(Tile { row: number(row)?, column: number(column)? })
}

impl Cut {
    fn run(self, ui: &Ui) -> Result<(), Failure> {
        let table = CostTable::open(&self.table)?;
        let slice = match self.circle {
            Some(circle) => table.circle(circle.centre, circle.radius.km())?,
            None => table.tile_slice(&self.tile)?,
        };
        if let Some(path) = &self.output {
            write_whole(path, [slice_csv(&slice).as_bytes()])?;
            ui.remark(format!("wrote {} cells to {}", count(slice.cells.len()), path.display()));
        }
        if self.json {
            let cell = |(number, &at): (&u32, &Coord)| {
                let mut cell = json::coord(at);
                cell["cell"] = (*number).into();
                cell
            };
            let cells: Vec<_> = slice.cells.iter().zip(&slice.coords).map(cell).collect();
            let beta: Vec<&[f64]> = slice.beta.chunks_exact(slice.cells.len()).collect();
            ui.json(&json!({ "slice": cells, "unit": table.unit(), "beta": beta }));
        }
        Ok(())
    }
}

fn slice_csv(slice: &Slice) -> String {
    let mut out = String::from("lat_i,lon_i,lat_k,lon_k,beta\n");
    for (i, row) in slice.coords.iter().zip(slice.beta.chunks_exact(slice.cells.len())) {
        for (k, beta) in slice.coords.iter().zip(row) {
            let _ = writeln!(
                out,
                "{:.7},{:.7},{:.7},{:.7},{beta:.6}",
                i.lat(),
                i.lon(),
                k.lat(),
                k.lon()
            );
        }
    }
    out
}
