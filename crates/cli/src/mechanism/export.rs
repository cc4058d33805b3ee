//! `lrgeo mechanism export`.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};
use lrgeo_map::export::parquet::LongTable;
use lrgeo_map::export::{npy_header, quoted};
use lrgeo_map::write_stream;
use lrgeo_mechanism::Built;
use serde_json::json;

use super::open;
use crate::failure::Failure;
use crate::ui::Ui;

/// Write the rows of a mechanism for other programs. Of a round: the rows that its users report from.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  lrgeo mechanism export city.lrmech --npy matrix.npy\n  \
                  lrgeo mechanism export city.lrmech --csv entries.csv\n  \
                  lrgeo mechanism export city.lrmech --parquet entries.parquet --least 1e-6\n  \
                  lrgeo mechanism export city.lrmech --geojson places.geojson",
    group = ArgGroup::new("what").required(true).multiple(true).args(["npy", "csv", "parquet", "geojson"])
)]
pub struct Export {
    /// The mechanism.
    mechanism: PathBuf,
    /// The matrix as numpy's float64 array: rows are true places, columns reported ones.
    #[arg(long, value_name = "OUT")]
    npy: Option<PathBuf>,
    /// Its entries as place,report,probability; those below --least are left out.
    #[arg(long, value_name = "OUT")]
    csv: Option<PathBuf>,
    /// The same entries as Parquet.
    #[arg(long, value_name = "OUT")]
    parquet: Option<PathBuf>,
    /// The places, each with what is reported from it.
    #[arg(long, value_name = "OUT")]
    geojson: Option<PathBuf>,
    /// The smallest probability that --csv and --parquet write.
    #[arg(long, default_value_t = 0.0)]
    least: f64,
}

impl Export {
    pub fn run(self, ui: &Ui) -> Result<(), Failure> {
        let (built, _) = open(&self.mechanism, None)?;
        let deployed = built.rows.deployed();
        if let Some(path) = &self.npy {
            stream(path, ui, |out| {
                out.write_all(&npy_header(deployed.len(), built.coords.len()))?;
                each_row(&built, |_, row| {
                    let bytes: Vec<u8> = row.iter().flat_map(|z| z.to_le_bytes()).collect();
                    out.write_all(&bytes)
                })
            })?;
        }
        if let Some(path) = &self.csv {
            stream(path, ui, |out| {
                writeln!(out, "place,report,probability")?;
                self.each_entry(&built, |place, report, z| {
                    writeln!(out, "{},{},{z:e}", quoted(place), quoted(report))
                })
            })?;
        }
        if let Some(path) = &self.parquet {
            stream(path, ui, |out| {
                let mut table = LongTable::new(out, "probability")?;
                self.each_entry(&built, |place, report, z| table.entry(place, report, z))?;
                table.finish()
            })?;
        }
        if let Some(path) = &self.geojson {
            stream(path, ui, |out| {
                let mut features = Vec::new();
                each_row(&built, |place, row| {
                    features.push(feature(&built, place, row));
                    Ok(())
                })?;
                let collection = json!({ "type": "FeatureCollection", "features": features });
                writeln!(out, "{collection}")
            })?;
        }
        Ok(())
    }

    /// Calls `act` with the ids and the probability of every entry that is not too small.
    fn each_entry<'b>(
        &self,
        built: &'b Built,
        mut act: impl FnMut(&'b str, &'b str, f64) -> std::io::Result<()>,
    ) -> std::io::Result<()> {
        each_row(built, |place, row| {
            let mut entries = row.iter().enumerate();
            entries.try_for_each(|(k, &z)| match z > 0.0 && z >= self.least {
                true => act(&built.ids[place], &built.ids[k], z),
                false => Ok(()),
            })
        })
    }
}

/// Calls `act` with every deployed row and its place.
fn each_row(
    built: &Built,
    mut act: impl FnMut(usize, &[f64]) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let mut row = vec![0.0; built.coords.len()];
    for (index, place) in built.rows.deployed().into_iter().enumerate() {
        built.rows.fill(index, &mut row);
        act(place.index(), &row)?;
    }
    Ok(())
}

/// How many of the likeliest reports a place lists.
const LIKELIEST: usize = 5;

fn feature(built: &Built, place: usize, row: &[f64]) -> serde_json::Value {
    let here = built.coords[place];
    let moved: f64 = row.iter().zip(&built.coords).map(|(z, c)| z * here.distance_km(*c)).sum();
    let mut order: Vec<usize> = (0..row.len()).filter(|&k| row[k] > 0.0).collect();
    order.sort_by(|&a, &b| row[b].total_cmp(&row[a]).then(a.cmp(&b)));
    let likeliest: Vec<_> = order
        .iter()
        .take(LIKELIEST)
        .map(|&k| json!({ "report": built.ids[k], "probability": row[k] }))
        .collect();
    json!({
        "type": "Feature",
        "geometry": { "type": "Point", "coordinates": [here.lon(), here.lat()] },
        "properties": {
            "id": built.ids[place],
            "prior": built.prior[place],
            "true_report": row[place],
            "moved_km": moved,
            "likeliest": likeliest,
        },
    })
}

/// Writes a file row by row, whole or not at all, and says so.
fn stream(
    path: &Path,
    ui: &Ui,
    write: impl FnOnce(&mut (dyn Write + Send)) -> std::io::Result<()>,
) -> Result<(), Failure> {
    write_stream(path, write)?;
    ui.remark(format!("wrote {}", path.display()));
    Ok(())
}
