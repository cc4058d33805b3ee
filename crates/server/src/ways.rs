//! The ways that an operator's settings name.

use std::sync::Arc;

use lrgeo_geo::Digest;
use lrgeo_map::import::read_losses;
use lrgeo_map::map::Map;
use lrgeo_map::utility::UtilityKind;
use lrgeo_mechanism::Losses;

use crate::ServerError;
use crate::config::{Config, WaySettings};

/// Names with their losses, how many people go each at every place, and what tells their files from others.
pub struct Ways {
    /// Names and losses, those of the map first.
    pub ways: Vec<(String, Losses)>,
    /// For each way, the share at every place.
    pub split: Vec<Vec<f64>>,
    /// Hashes of the files.
    pub files: Vec<Digest>,
}

impl Ways {
    /// Opens the files.
    pub fn open(config: &Config, map: &Map) -> Result<Self, ServerError> {
        let places = map.places.len();
        let mut ways = vec![(map.travel.name().to_owned(), Losses::Measured(KIND))];
        let mut split = vec![vec![1.0 - config.ways_share(); places]];
        let mut files = Vec::new();
        for WaySettings { name, file, share } in &config.ways {
            files.push(Digest::of(&std::fs::read(file).map_err(ServerError::io(file))?));
            let losses = match file.extension().is_some_and(|end| end == "lrmap") {
                true => Losses::On(Box::new(Map::open(file)?.0), KIND),
                false => Losses::Given(Arc::new(read_losses(file, places)?)),
            };
            ways.push((name.clone(), losses));
            split.push(vec![*share; places]);
        }
        Ok(Self { ways, split, files })
    }
}

/// What the service is about: ways to its targets.
const KIND: UtilityKind = UtilityKind::TravelDistance;
