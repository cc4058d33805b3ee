//! What the server's own page (`web/`) needs besides the interface: its files, the streets to draw, what wrong reports cost,
//! rounds of invented users.
//!
//! Everything here is the same for everybody and fetched whole, so that nothing that the page fetches tells where somebody looks.

mod bundle;
mod costs;
mod invented;
mod streets;

use std::sync::Arc;

use serde::Serialize;

use crate::catalogue::{Catalogue, File};
use crate::config::{Landmark, PageSettings};
use lrgeo_protocol::Digest;

pub use bundle::{Asset, asset};
pub use invented::{Event as InventedEvent, Invented, ROUND_SIZES};

/// What the page is made of on this server.
pub struct Page {
    /// What it shows.
    pub index: Index,
    /// The streets, as lines.
    pub streets: File,
    /// Travel from all places to all targets, where the operator shows it.
    pub costs: Option<File>,
    /// Rounds of invented users, where the operator allows them.
    pub rounds: Option<Arc<Invented>>,
}

/// What the page begins with (`GET /v1/page`).
#[derive(Serialize, utoipa::ToSchema)]
pub struct Index {
    /// The version of lrgeo.
    version: &'static str,
    /// The version of the map.
    #[schema(value_type = String)]
    map: Digest,
    /// How many places.
    places: usize,
    /// From a place to its nearest neighbour, in kilometres.
    spacing_km: f64,
    /// Side of the cells that the places are, where they are cells.
    cell_km: Option<f64>,
    /// South, west, north, east of streets and places.
    bounds: [f64; 4],
    /// The file of the streets.
    #[schema(value_type = String)]
    streets: Digest,
    /// The file of travel costs; absent where the operator does not show it.
    #[schema(value_type = Option<String>)]
    costs: Option<Digest>,
    /// Sizes of the rounds of invented users that may be looked at.
    rounds: &'static [usize],
    /// Whether `GET /v1/page/operation` answers.
    operation: bool,
    /// Names to put on the map.
    landmarks: Vec<Landmark>,
}

impl Index {
    /// Whether figures of the operation are shown.
    pub fn operation(&self) -> bool {
        self.operation
    }
}

impl Page {
    /// The page of a server; `None` where the operator does not want one.
    pub fn new(catalogue: &Arc<Catalogue>, settings: &PageSettings) -> Option<Self> {
        if !settings.serve {
            return None;
        }
        let city = &catalogue.city;
        let map = city.map();
        let streets = File::new(streets::encode(&map.graph));
        let costs = settings.costs.then(|| costs::encode(catalogue)).flatten().map(File::new);
        let all = map.graph.coords().iter().chain(city.coords()).copied();
        let bounds = lrgeo_geo::BoundingBox::around(all).map_or([0.0; 4], |b| b.to_array());
        let rounds = settings.rounds.then(|| Arc::new(Invented::new(catalogue.clone())));
        let index = Index {
            version: env!("CARGO_PKG_VERSION"),
            map: catalogue.map(),
            places: city.places(),
            spacing_km: city.spacing_km(),
            cell_km: map.cell.map(|cell| cell.km()),
            bounds,
            streets: streets.hash,
            costs: costs.as_ref().map(|file| file.hash),
            rounds: if rounds.is_some() { &ROUND_SIZES } else { &[] },
            operation: settings.operation,
            landmarks: settings.landmarks.clone(),
        };
        Some(Self { index, streets, costs, rounds })
    }

    /// One of its data files.
    pub fn file(&self, hash: Digest) -> Option<&File> {
        [Some(&self.streets), self.costs.as_ref()].into_iter().flatten().find(|f| f.hash == hash)
    }
}
