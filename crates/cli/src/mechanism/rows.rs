//! `lrgeo mechanism rows`.

use std::path::PathBuf;

use clap::Args;
use lrgeo_map::export::npy_header;
use lrgeo_map::import::read_points;
use lrgeo_map::progress::Progress;
use lrgeo_map::write_stream;
use lrgeo_tiles::Distribution;
use rayon::prelude::*;

use super::{Reach, open, row_at};
use crate::failure::Failure;
use crate::ui::{Ui, counted};

/// Write the exact distribution of reports at given coordinates: what somebody there draws from.
#[derive(Args)]
#[command(after_help = "\
Example:
  lrgeo mechanism rows city.lrmech --points people.csv --npy rows.npy
The file of points has columns lat,lon, or is GeoJSON or GeoParquet. The array has a row for each point and a column for each place, in the order of
`lrgeo map export --places-csv`. Mechanisms on places take the nearest place first, as phones do.")]
pub struct RowsAt {
    /// The mechanism.
    mechanism: PathBuf,
    /// The points: .csv with columns lat,lon, .geojson or .parquet.
    #[arg(long, value_name = "FILE")]
    points: PathBuf,
    /// Where to write the rows, as numpy's float64 array.
    #[arg(long, value_name = "OUT")]
    npy: PathBuf,
}

impl RowsAt {
    pub fn run(self, ui: &Ui) -> Result<(), Failure> {
        let (built, _) = open(&self.mechanism, None)?;
        let points = read_points(&self.points)?;
        let places = Reach::new(&built.coords);
        // Whoever is off the map is found before anything is written.
        ui.begin("working out rows", points.len() as u64);
        let rows = points.par_iter().map(|&(_, point)| {
            ui.advance(1);
            row_at(&built, &places, point, "points")
        });
        let rows: Result<Vec<Distribution>, _> = rows.collect();
        ui.end();
        let rows = rows?;
        write_stream(&self.npy, |out| {
            out.write_all(&npy_header(rows.len(), built.coords.len()))?;
            for row in &rows {
                let bytes: Vec<u8> = row.iter().flat_map(|z| z.to_le_bytes()).collect();
                out.write_all(&bytes)?;
            }
            Ok(())
        })?;
        ui.remark(format!("wrote {} to {}", counted(rows.len(), "row"), self.npy.display()));
        Ok(())
    }
}
