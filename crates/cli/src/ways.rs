//! `--way` and `--split`: cities whose people go by different means.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use clap::Args;
use lrgeo_geo::Digest;
use lrgeo_map::import::{read_losses, read_shares};
use lrgeo_map::map::Map;
use lrgeo_map::utility::{UtilityKind, UtilitySource};
use lrgeo_mechanism::{City, Losses, MechanismError};

use crate::failure::Failure;
use crate::ui::Ui;

/// What a wrong report costs, and whom.
#[derive(Args, Clone, Debug, Default)]
pub struct Ways {
    /// What a wrong report costs: travel-distance (km), travel-time (min), straight-line (km), or a
    /// matrix file (.npy, .csv).
    #[arg(long, default_value = "travel-distance")]
    utility: UtilitySource,
    /// Another way that people go, by name: a map of the same places with other streets (walk=walk.lrmap), or what a wrong
    /// report costs them (bus=costs.npy). May be repeated; the map itself is the first way, named after how one travels on it.
    #[arg(long, value_name = "NAME=FILE")]
    way: Vec<NamedFile>,
    /// How many people go each way: drive:0.7,walk:0.3, or a CSV file with a column per way and a line per place [default:
    /// all ways alike].
    #[arg(long, value_name = "SHARES|FILE.csv", requires = "way")]
    split: Option<String>,
}

/// `NAME=FILE`.
#[derive(Clone, Debug)]
struct NamedFile {
    name: String,
    path: PathBuf,
}

impl FromStr for NamedFile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((name, path)) if is_name(name) && !path.is_empty() => {
                Ok(Self { name: name.to_owned(), path: path.into() })
            }
            _ => Err("must be NAME=FILE, like walk=walk.lrmap".into()),
        }
    }
}

/// Names stand beside numbers and commas.
fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    !name.is_empty() && name.chars().all(plain)
}

impl Ways {
    /// The city of a map with these ways.
    pub fn city(&self, map: Map, version: Digest, ui: &Ui) -> Result<City, Failure> {
        let places = map.places.len();
        let own = |path: &Path| -> Result<Losses, Failure> {
            Ok(Losses::Given(Arc::new(read_losses(path, places)?)))
        };
        let (first, kind) = match &self.utility {
            UtilitySource::Measured(kind) => (Losses::Measured(*kind), *kind),
            UtilitySource::File(path) => (own(path)?, UtilityKind::default()),
        };
        let mut ways = vec![(map.travel.name().to_owned(), first)];
        for NamedFile { name, path } in &self.way {
            let losses = match path.extension().is_some_and(|end| end == "lrmap") {
                true => Losses::On(Box::new(Map::open(path)?.0), kind),
                false => own(path)?,
            };
            ways.push((name.clone(), losses));
        }
        let names: Vec<&str> = ways.iter().map(|(name, _)| name.as_str()).collect();
        let split = match &self.split {
            None => Vec::new(),
            Some(text) => match shares(text, &names) {
                Ok(shares) => shares.into_iter().map(|share| vec![share; places]).collect(),
                Err(_) if text.contains('.') && !text.contains(':') => {
                    read_shares(Path::new(text), &names, places)?
                }
                Err(reason) => return Err(MechanismError::invalid("split", reason).into()),
            },
        };
        Ok(City::with_ways(map, version, ways, split, ui)?)
    }
}

/// The shares that a text names, in the order of the ways: `walk`, or `drive:0.7,walk:0.3`.
pub fn shares(text: &str, ways: &[&str]) -> Result<Vec<f64>, String> {
    let mut shares = vec![0.0; ways.len()];
    for part in text.split(',') {
        let (name, share) = part.split_once(':').unwrap_or((part, "1"));
        let known = ways.iter().position(|way| *way == name.trim());
        let Some(way) = known else {
            return Err(format!("`{name}` is none of the ways {}", ways.join(", ")));
        };
        shares[way] += share.trim().parse::<f64>().map_err(|_| format!("`{share}` is no share"))?;
    }
    Ok(shares)
}
