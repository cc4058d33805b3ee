//! `lrgeo obfuscate`: reports from a mechanism, on this machine.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};
use lrgeo_geo::{Coord, PlaceId};
use lrgeo_map::export::parquet::{Kind, Table, Values};
use lrgeo_map::export::quoted;
use lrgeo_map::import::{Format, read_points};
use lrgeo_map::progress::Progress;
use lrgeo_map::write_stream;
use lrgeo_mechanism::Built;
use lrgeo_tiles::sample::{SystemRandomness, Urn};
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::mechanism::{Reach, open_verified, row_at};
use crate::options::coord;
use crate::ui::{Ui, counted};

/// Draw a report for a position, or one for each point of a file. Positions stay in this process: they are not logged and not
/// printed.
#[derive(Args)]
#[command(
    after_help = "\
Examples:
  lrgeo obfuscate city.lrmech --at 41.89,12.49 --json
  lrgeo obfuscate city.lrmech --points people.csv -o reports.parquet
Prints GeoJSON with --json. accuracy_m is the radius around the report within which someone who knows
mechanism and prior expects the true position with 95 %; it depends on the report alone.
Independent reports from one place average out: ask once and remember the answer.
A file of points is .csv (lat,lon and perhaps id), .geojson or .parquet, and so is the file of reports, in the same order.",
    group = ArgGroup::new("where").required(true).args(["at", "points"])
)]
pub struct Obfuscate {
    /// The mechanism.
    mechanism: PathBuf,
    /// Where you are.
    #[arg(long, value_name = "LAT,LON", value_parser = coord, allow_hyphen_values = true)]
    at: Option<Coord>,
    /// Where some people are: one report for each, drawn independently.
    #[arg(long, value_name = "FILE", requires = "output", conflicts_with_all = ["count", "json"])]
    points: Option<PathBuf>,
    /// Where to write the reports of --points: id, report, lat, lon, accuracy_m.
    #[arg(short, long, value_name = "FILE", conflicts_with = "at")]
    output: Option<PathBuf>,
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
        let places = Reach::new(&built.coords);
        if let (Some(points), Some(output)) = (&self.points, &self.output) {
            return many(&built, &places, points, output, ui);
        }
        let Some(at) = self.at else { return Ok(()) };
        let urn = Urn::new(&row_at(&built, &places, at, "at")?)?;
        if self.count > 1 {
            ui.remark("warning: independent reports average out; for experiments only");
        }
        let mut features = Vec::new();
        for _ in 0..self.count {
            let report = urn.draw(&mut SystemRandomness)?;
            let at = built.coords[report];
            let radius = accuracy_m(&built, report);
            if self.json {
                features.push(feature(
                    at,
                    json!({ "report": built.ids[report], "accuracy_m": radius }),
                ));
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

/// How near the true position is with 95 %, in whole metres.
fn accuracy_m(built: &Built, report: usize) -> u64 {
    (1000.0 * built.accuracy_km(PlaceId::at(report))).ceil() as u64
}

fn feature(at: Coord, properties: Value) -> Value {
    json!({
        "type": "Feature",
        "geometry": { "type": "Point", "coordinates": [at.lon(), at.lat()] },
        "properties": properties,
    })
}

/// The reports of many people, as columns.
struct Reports<'b> {
    built: &'b Built,
    /// As the file of points calls them, or their numbers in it.
    ids: Vec<String>,
    places: Vec<usize>,
    accuracy_m: BTreeMap<usize, u64>,
}

/// A report for each point of a file.
fn many(
    built: &Built,
    places: &Reach,
    points: &Path,
    output: &Path,
    ui: &Ui,
) -> Result<(), Failure> {
    let points = read_points(points)?;
    // Whoever is off the map is found before anything is written.
    ui.begin("drawing reports", points.len() as u64);
    let drawn: Result<Vec<usize>, Failure> = points
        .par_iter()
        .map(|&(_, at)| {
            ui.advance(1);
            let urn = Urn::new(&row_at(built, places, at, "points")?)?;
            Ok(urn.draw(&mut SystemRandomness)?)
        })
        .collect();
    ui.end();
    let places = drawn?;
    let mut distinct = places.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let accuracy = |&report: &usize| (report, accuracy_m(built, report));
    let accuracy_m = distinct.par_iter().map(accuracy).collect::<Vec<_>>().into_iter().collect();
    let id = |(n, (id, _)): (usize, (Option<String>, Coord))| id.unwrap_or_else(|| n.to_string());
    let ids = points.into_iter().enumerate().map(id).collect();
    let reports = Reports { built, ids, places, accuracy_m };
    write_stream(output, |out| match Format::of(output) {
        Format::Csv => reports.csv(out),
        Format::GeoJson => reports.geojson(out),
        Format::Parquet => reports.parquet(out),
    })?;
    ui.remark(format!("wrote {} to {}", counted(reports.ids.len(), "report"), output.display()));
    Ok(())
}

impl Reports<'_> {
    /// Of each person: id, report, where that is, accuracy in metres.
    fn rows(&self) -> impl Iterator<Item = (&str, &str, Coord, u64)> {
        self.ids.iter().zip(&self.places).map(|(id, &place)| {
            let (report, at) = (&self.built.ids[place], self.built.coords[place]);
            (id.as_str(), report.as_str(), at, self.accuracy_m[&place])
        })
    }

    fn csv(&self, out: &mut dyn Write) -> std::io::Result<()> {
        writeln!(out, "id,report,lat,lon,accuracy_m")?;
        self.rows().try_for_each(|(id, report, at, metres)| {
            let (id, report) = (quoted(id), quoted(report));
            writeln!(out, "{id},{report},{},{},{metres}", at.lat(), at.lon())
        })
    }

    fn geojson(&self, out: &mut dyn Write) -> std::io::Result<()> {
        write!(out, "{{\"type\":\"FeatureCollection\",\"features\":[")?;
        for (n, (id, report, at, metres)) in self.rows().enumerate() {
            let mut feature = feature(at, json!({ "report": report, "accuracy_m": metres }));
            feature["id"] = id.into();
            write!(out, "{}\n{feature}", if n == 0 { "" } else { "," })?;
        }
        writeln!(out, "\n]}}")
    }

    fn parquet(&self, out: &mut (dyn Write + Send)) -> std::io::Result<()> {
        let columns = [
            ("id", Kind::Text),
            ("report", Kind::Text),
            ("lat", Kind::Number),
            ("lon", Kind::Number),
            ("accuracy_m", Kind::Whole),
            ("geometry", Kind::Point),
        ];
        let mut table = Table::new(out, &columns)?;
        table.write(&[
            Values::Text(self.rows().map(|row| row.0).collect()),
            Values::Text(self.rows().map(|row| row.1).collect()),
            Values::Number(self.rows().map(|row| row.2.lat()).collect()),
            Values::Number(self.rows().map(|row| row.2.lon()).collect()),
            Values::Whole(self.rows().map(|row| row.3 as i64).collect()),
            Values::Point(self.rows().map(|row| row.2).collect()),
        ])?;
        table.finish()
    }
}
