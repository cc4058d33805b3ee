//! `lrgeo obfuscate`: a report from a mechanism, on this machine.

use std::path::PathBuf;

use clap::Args;
use lrgeo_geo::Coord;
use lrgeo_tiles::sample::{SystemRandomness, Urn};
use serde_json::json;

use crate::failure::Failure;
use crate::mechanism::{open_verified, row_at};
use crate::options::coord;
use crate::ui::Ui;

/// Draw a report for a position. The position stays in this process: it is not logged and not
/// printed.
#[derive(Args)]
#[command(after_help = "\
Example:
  lrgeo obfuscate city.lrmech --at 41.89,12.49 --json
Prints GeoJSON with --json. accuracy_m is the radius around the report within which someone who knows
mechanism and prior expects the true position with 95 %; it depends on the report alone.
Independent reports from one place average out: ask once and remember the answer.")]
pub struct Obfuscate {
    /// The mechanism.
    mechanism: PathBuf,
    /// Where you are.
    #[arg(long, value_name = "LAT,LON", value_parser = coord, allow_hyphen_values = true)]
    at: Coord,
    /// How many independent reports: for experiments.
    #[arg(long, default_value_t = 1)]
    count: usize,
    /// Refuse the mechanism unless it was made for this map.
    #[arg(long)]
    map: Option<PathBuf>,
    /// Print GeoJSON.
    #[arg(long)]
    json: bool,
}

impl Obfuscate {
    pub fn run(self, ui: &Ui) -> Result<(), Failure> {
        // A file may say anything: nothing is drawn from a mechanism that breaks its promise.
        let (built, _) = open_verified(&self.mechanism, self.map.as_deref(), ui)?;
        let row = row_at(&built, self.at, "at")?;
        let urn = Urn::new(&row)?;
        if self.count > 1 {
            ui.remark("warning: independent reports average out; for experiments only");
        }
        let mut features = Vec::new();
        for _ in 0..self.count {
            let report = urn.draw(&mut SystemRandomness)?;
            let at = built.coords[report];
            let radius = (1000.0 * built.accuracy_km(report as u32)).ceil() as u64;
            if self.json {
                features.push(json!({
                    "type": "Feature",
                    "geometry": { "type": "Point", "coordinates": [at.lon(), at.lat()] },
                    "properties": { "id": built.ids[report], "accuracy_m": radius },
                }));
            } else {
                println!(
                    "{:.6},{:.6}  {} (within {radius} m, 95 %)",
                    at.lat(),
                    at.lon(),
                    built.ids[report]
                );
            }
        }
        if self.json {
            match features.len() {
                1 => ui.json(&features[0]),
                _ => ui.json(&json!({ "type": "FeatureCollection", "features": features })),
            }
        }
        Ok(())
    }
}
