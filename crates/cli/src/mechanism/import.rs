//! `lrgeo mechanism import`: a matrix that another program made.

use std::path::PathBuf;

use clap::Args;
use lrgeo_geo::units::Length;
use lrgeo_map::import::read_square;
use lrgeo_map::map::Map;
use lrgeo_mechanism::import::import;
use lrgeo_tiles::{Epsilon, Notion};

use super::info;
use crate::failure::Failure;
use crate::ui::Ui;
use crate::ways::Ways;

/// Make a mechanism of your own matrix: verified, then taken like any other by verify, compare, evaluate, attack and publish.
#[derive(Args)]
#[command(after_help = "\
Examples:
  lrgeo mechanism import matrix.npy --map city.lrmap -o own.lrmech
  lrgeo mechanism import matrix.csv --map city.lrmap --epsilon 2/km -o own.lrmech
One row per place, in the order of `lrgeo map export --places-csv`, each the probabilities of reporting every place from there. Without --epsilon
the promise is the least epsilon that the matrix keeps; with it, a matrix that does not is refused.")]
pub struct Import {
    /// The matrix: .npy (numpy, 64-bit floats) or CSV without a header.
    matrix: PathBuf,
    /// The map that it is for.
    #[arg(long, value_name = "FILE")]
    map: PathBuf,
    /// The epsilon that it must keep.
    #[arg(long, allow_hyphen_values = true)]
    epsilon: Option<Epsilon>,
    /// Only pairs of places up to this far apart are promised anything [default: all pairs].
    #[arg(long, value_name = "LENGTH", allow_hyphen_values = true)]
    gamma: Option<Length>,
    #[command(flatten)]
    ways: Ways,
    /// Where to write the mechanism.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Print the account as JSON.
    #[arg(long)]
    json: bool,
}

impl Import {
    pub fn run(self, ui: &Ui) -> Result<(), Failure> {
        let (map, version) = Map::open(&self.map)?;
        let values = read_square(&self.matrix, map.places.len())?;
        let city = self.ways.city(map, version, ui)?;
        let within = |gamma: Length| Notion::Within { gamma_km: gamma.km() };
        let notion = self.gamma.map_or(Notion::AllPairs, within);
        let built = import(&city, values, self.epsilon, notion, ui)?;
        built.save(&self.output)?;
        match self.json {
            true => ui.json(&info::as_json(&built)?),
            false => {
                ui.lines(&info::lines(&built)?);
                info::warn(&built, ui)?;
                ui.remark(format!("verified; wrote {}", self.output.display()));
            }
        }
        Ok(())
    }
}
