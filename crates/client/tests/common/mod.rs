//! A real server on a real socket, and a proxy in front of it that writes down what clients send and can lie
//! about what the server answers.
#![allow(dead_code)]

pub mod operator;
pub mod proxy;

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use lrgeo_client::Client;
use lrgeo_client::draws::Rehearsal;
use lrgeo_client::ground::Ground;
use lrgeo_client::http::Http;
use lrgeo_client::policy::Protects;
use lrgeo_client::state::{Keeper, Kept, State, StateError};
use lrgeo_geo::units::Length;
use lrgeo_geo::{Coord, PlaceId};
use lrgeo_map::map::Map;
use lrgeo_mechanism::publish::save_new_key;
use lrgeo_server::{Catalogue, Config, Home, Server};
use lrgeo_show::demo::demo_map;
use lrgeo_tiles::{Manifest, Places, SecretKey};

/// A directory that is gone when the test ends.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("lrgeo-client-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The middle of the demo city.
pub fn map(cell_m: f64, places: usize) -> Map {
    let map = demo_map(1, Length::from_m(cell_m).unwrap()).unwrap();
    map.with_places(&map.central_block(places))
}

/// A running server; it runs until the test process ends.
pub struct Service {
    pub address: String,
    pub catalogue: Arc<Catalogue>,
    /// What it signs with.
    pub key: SecretKey,
    pub manifest: Manifest,
}

/// Starts a server on an empty data directory.
pub fn serve(name: &str, map: Map, config: Config) -> Service {
    let data = std::env::temp_dir().join(format!("lrgeo-serve-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&data);
    std::fs::create_dir_all(&data).unwrap();
    let key_path = data.join("test.key");
    let key = SecretKey::from_seed([42; 32]).unwrap();
    save_new_key(&key, &key_path).unwrap();
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let home = Home {
                data: &data,
                tiles: None,
                key: Some(&key_path),
                retiring_key: None,
                solving: None,
            };
            let server = Server::open(map, &home, &config, "127.0.0.1:0", &()).await.unwrap();
            // Everything is in memory or open by now; nothing is left behind.
            let _ = std::fs::remove_dir_all(&data);
            tell.send((server.address(), server.catalogue())).unwrap();
            server.run().await;
        });
    });
    let (address, catalogue) = told.recv().expect("the server starts");
    let manifest = catalogue.tiles.clone();
    Service { address: address.to_string(), catalogue, key, manifest }
}

/// One server for all tests of a file: 150 places, rounds of one user or half a second.
pub fn service() -> &'static Service {
    static SERVICE: OnceLock<Service> = OnceLock::new();
    SERVICE.get_or_init(|| serve("main", map(500.0, 150), config()))
}

pub fn config() -> Config {
    let mut config = Config::default();
    config.privacy.lr_radius = Some("1.6km".into());
    // Small programmes, quickly solved, whose reports may be as far off as they like.
    config.privacy.gamma = Some("1.1km".into());
    config.privacy.exp_radius = Some("0.9km".into());
    config.privacy.obf_radius = Some("2.2km".into());
    config.privacy.most_tail = 1.0;
    config.privacy.tile_places = 20;
    config.rounds.window_seconds = 0.3;
    config
}

impl Service {
    /// The places of a tile that has enough of them.
    pub fn tile(&self) -> Vec<u32> {
        let coords = self.catalogue.city.coords();
        let of = |place: u32| self.manifest.tile_of(coords[place as usize]).unwrap();
        let places = 0..coords.len() as u32;
        let largest = (0..self.manifest.tiles.len()).max_by_key(|&t| self.manifest.tiles[t].places);
        places.filter(|&place| Some(of(place)) == largest).collect()
    }

    /// Places that are so far from each other that a report for one is none for another.
    pub fn apart(&self, km: f64) -> Vec<u32> {
        let city = &self.catalogue.city;
        let distance_km = |a, b| city.distance_km(PlaceId::new(a), PlaceId::new(b));
        let mut apart: Vec<u32> = Vec::new();
        for place in 0..city.places() as u32 {
            if apart.iter().all(|&other| distance_km(place, other) > km) {
                apart.push(place);
            }
        }
        apart
    }

    /// The list of places as a phone reads it.
    pub fn places(&self) -> Places {
        let file = &self.catalogue.files[&self.manifest.places.hash];
        self.manifest.open_places(&file.bytes).unwrap()
    }

    /// The file of the noise for coordinates.
    pub fn noise(&self) -> Vec<u8> {
        let entry = self.manifest.noise.as_ref().expect("servers offer noise");
        self.catalogue.files[&entry.hash].bytes.to_vec()
    }

    /// The places as a phone finds its own among them.
    pub fn ground(&self) -> Ground {
        let epsilon = self.manifest.guarantee().unwrap().epsilon;
        let coords = self.catalogue.city.coords().to_vec();
        Ground::new(self.key.public(), self.catalogue.map(), epsilon, coords).unwrap()
    }

    /// Somewhere near a place, not on it.
    pub fn near(&self, place: u32) -> Coord {
        self.catalogue.city.coords()[place as usize].offset_km(0.0123456789, -0.0234567891)
    }
}

/// Keeps a state in memory, and nothing after that.
#[derive(Clone, Default)]
pub struct InMemory(pub Arc<std::sync::Mutex<Option<State>>>);

impl Keeper for InMemory {
    fn save(&mut self, text: &[u8]) -> Result<(), StateError> {
        *self.0.lock().unwrap() = Some(State::from_bytes(text, "memory")?);
        Ok(())
    }
}

impl InMemory {
    /// What was saved last, as a new process would find it.
    pub fn reopen(&self) -> Kept {
        Kept::new(self.0.lock().unwrap().clone().unwrap_or_default(), self.clone())
    }
}

/// A client with a new state that reports `forced`.
pub fn rehearsing(address: &str, forced: impl IntoIterator<Item = u32>) -> Client<Rehearsal> {
    let draws = Rehearsal::seeded(7).forced(forced.into_iter().map(PlaceId::new));
    client(address, InMemory::default().reopen(), draws)
}

/// Somebody who agrees to what the paper's own modes promise, at the edge of the map too.
pub fn client(address: &str, mut kept: Kept, draws: Rehearsal) -> Client<Rehearsal> {
    kept.state.policy.protects = Protects::RelevantPlaces;
    kept.state.policy.least_relevant_places = 3;
    let http = Http::new(&format!("http://{address}")).unwrap();
    let mut client = Client::rehearse(http, kept, draws).targets(3);
    client.understand_offload().unwrap();
    client
}
