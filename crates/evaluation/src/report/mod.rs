//! A report that stands alone: one HTML page with tables, plots and maps, and the raw numbers beside it.
//!
//! The page is drawn from the data alone, needs no script and asks nobody for anything: a policy in its
//! head forbids it to.

mod classes;
mod csv;
mod figure;
mod html;
mod mark;
mod nonfinite;
pub(crate) mod number;
mod picture;
mod plot;
mod scale;
mod table;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::Path;

use lrgeo_map::{MapError, write_whole};
use serde::{Deserialize, Serialize};

pub use figure::{Axis, Figure, Picture, Point, Series, Shown};

/// Everything that goes into a report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Its heading.
    pub title: String,
    /// What holds and what does not, in sentences; first on the page.
    #[serde(default)]
    pub verdict: Vec<String>,
    /// Data, seeds, versions, machine: what somebody needs to repeat it.
    pub settings: Vec<(String, String)>,
    /// Tables and plots, in order.
    pub figures: Vec<Figure>,
    /// Maps, in order.
    pub pictures: Vec<Picture>,
}

impl Report {
    /// The report as one page without references to anything but the raw numbers beside it.
    pub fn html(&self) -> String {
        html::page(self)
    }

    /// Writes `index.html`, `report.json`, `means.csv` and `data/<id>.csv` of every figure and picture into a
    /// directory, each file whole or not at all, the page last.
    ///
    /// Ids become file names and anchors: one that is not of the letters `a-z`, digits and hyphens, or
    /// that is used twice, is refused before anything is written.
    pub fn write(&self, dir: &Path) -> Result<(), MapError> {
        let mut seen = BTreeSet::new();
        let ids = self.figures.iter().map(|f| &f.id).chain(self.pictures.iter().map(|p| &p.id));
        for id in ids {
            let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
            if id.is_empty() || !id.bytes().all(allowed) {
                return Err(MapError::invalid(
                    "id",
                    format!("{id:?} must be of lower-case letters, digits and hyphens"),
                ));
            }
            if !seen.insert(id) {
                return Err(MapError::invalid("id", format!("{id:?} is used twice")));
            }
        }
        let data = dir.join("data");
        std::fs::create_dir_all(&data).map_err(MapError::io(&data))?;
        let tables = self.figures.iter().map(|figure| (&figure.id, csv::of_figure(figure)));
        let maps = self.pictures.iter().map(|picture| (&picture.id, csv::of_picture(picture)));
        for (id, rows) in tables.chain(maps) {
            write_whole(&data.join(format!("{id}.csv")), [rows.as_bytes()])?;
        }
        write_whole(&dir.join("means.csv"), [csv::of_all(&self.figures).as_bytes()])?;
        let path = dir.join("report.json");
        let json = serde_json::to_vec_pretty(self)
            .map_err(|error| MapError::file(&path, error.to_string()))?;
        write_whole(&path, [json.as_slice()])?;
        write_whole(&dir.join("index.html"), [self.html().as_bytes()])
    }
}
