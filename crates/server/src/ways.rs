//! The ways that an operator's settings name.

use std::path::Path;
use std::sync::Arc;

use lrgeo_geo::Digest;
use lrgeo_map::import::read_losses;
use lrgeo_map::map::Map;
use lrgeo_map::utility::{UtilityKind, UtilitySource};
use lrgeo_mechanism::Losses;

use crate::ServerError;
use crate::config::{Config, WaySettings};

/// Names with their losses, how many people go each at every place, and what tells their files from others.
pub struct Ways {
    /// Names and losses, those of the map first.
    pub ways: Vec<(String, Losses)>,
    /// For each way, the share at every place.
    pub split: Vec<Vec<f64>>,
    /// What is measured where losses are.
    pub kind: UtilityKind,
    /// Hashes of the files.
    pub files: Vec<Digest>,
}

impl Ways {
    /// Opens the files.
    pub fn open(config: &Config, map: &Map) -> Result<Self, ServerError> {
        let places = map.places.len();
        let mut files = Vec::new();
        let hash = |file: &Path| {
            std::fs::read(file).map(|bytes| Digest::of(&bytes)).map_err(ServerError::io(file))
        };
        let given = |file: &Path| -> Result<Losses, ServerError> {
            Ok(Losses::Given(Arc::new(read_losses(file, places)?)))
        };
        let (first, kind) = match config.utility()? {
            UtilitySource::Measured(kind) => (Losses::Measured(kind), kind),
            UtilitySource::File(file) => {
                files.push(hash(&file)?);
                (given(&file)?, UtilityKind::default())
            }
        };
        let mut ways = vec![(map.travel.name().to_owned(), first)];
        let mut split = vec![vec![1.0 - config.ways_share(); places]];
        for WaySettings { name, file, share } in &config.ways {
            files.push(hash(file)?);
            let losses = match file.extension().is_some_and(|end| end == "lrmap") {
                true => Losses::On(Box::new(Map::open(file)?.0), kind),
                false => given(file)?,
            };
            ways.push((name.clone(), losses));
            split.push(vec![*share; places]);
        }
        Ok(Self { ways, split, kind, files })
    }
}
