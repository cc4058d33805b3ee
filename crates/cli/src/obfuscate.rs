//! `lrgeo obfuscate`: a report from a mechanism, on this machine.

use std::path::PathBuf;

use clap::Args;
use lrgeo_map::geo::Coord;
use lrgeo_map::places::spacing_km;
use lrgeo_mechanism::sample::{SystemRandomness, Urn};
use lrgeo_mechanism::verify::verify;
use lrgeo_mechanism::{Built, MechanismError, Rows};
use serde_json::json;

use crate::failure::Failure;
use crate::mechanism::{open, place_at};
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
        let (built, _) = open(&self.mechanism, self.map.as_deref())?;
        // A file may say anything: nothing is drawn from a mechanism that breaks its promise.
        let verdict = verify(&built, ui);
        if !verdict.holds() {
            let worst_log_excess = verdict.guaranteed.worst_log_excess;
            return Err(MechanismError::NotPrivate { worst_log_excess }.into());
        }
        let place = place_at(&built.coords, self.at, "at")?;
        let Some(row) = built.row(place) else {
            let reason = "this mechanism was made for other users; make one with --users";
            return Err(MechanismError::invalid("at", reason).into());
        };
        let urn = Urn::new(&row)?;
        if self.count > 1 {
            ui.remark("warning: independent reports average out; for experiments only");
        }
        let mut features = Vec::new();
        for _ in 0..self.count {
            let report = urn.draw(&mut SystemRandomness)?;
            let (at, radius) = (built.coords[report], accuracy_m(&built, report));
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

/// The radius around the reported place within which the true position lies with 95 %, given the
/// report: places by their posterior `p_i z_ik`, plus half a cell's diagonal. It is worked out from
/// what everybody knows, never from the true place, which a radius would otherwise betray; of a
/// user's own matrix, which is not public, it is the obfuscation range.
fn accuracy_m(built: &Built, report: usize) -> u64 {
    let half_cell_km = spacing_km(&built.coords).unwrap_or(0.0) / std::f64::consts::SQRT_2;
    let radius_km = match &built.rows {
        Rows::Users(round) => round.ties.obfuscation_km,
        rows => posterior_radius_km(built, rows, report),
    };
    (1000.0 * (radius_km + half_cell_km)).ceil() as u64
}

fn posterior_radius_km(built: &Built, rows: &Rows, report: usize) -> f64 {
    let mut row = vec![0.0; built.coords.len()];
    let mut joint: Vec<(f64, f64)> = (0..built.coords.len())
        .map(|i| {
            rows.fill(i, &mut row);
            (built.coords[i].distance_km(built.coords[report]), built.prior[i] * row[report])
        })
        .collect();
    joint.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut left = 0.95 * joint.iter().map(|(_, mass)| mass).sum::<f64>();
    let reached = joint.iter().find(|(_, mass)| {
        left -= mass;
        left <= 0.0
    });
    reached.or(joint.last()).map_or(0.0, |(km, _)| *km)
}
