//! Random street networks for tests, and the OpenStreetMap files that hold them.
#![allow(dead_code, missing_docs)]

pub mod pbf;

use lrgeo_geo::Coord;
use lrgeo_geo::rng::SplitMix;
use lrgeo_geo::units::Length;
use lrgeo_map::build::{MapPlan, PlacePlan, PriorPlan, TargetPlan, build};
use lrgeo_map::map::{Map, Source, TravelMode};
use lrgeo_map::places::Site;
use lrgeo_map::region::Region;
use lrgeo_map::streets::Streets;

pub const CENTRE: (f64, f64) = (41.9, 12.5);

/// `nodes` random nodes over a few kilometres and about three arcs each, half of them one-way;
/// nothing is promised about connectivity.
pub fn random_streets(rng: &mut SplitMix, nodes: usize) -> Streets {
    let centre = Coord::new(CENTRE.0, CENTRE.1).unwrap();
    let mut streets = Streets::default();
    for _ in 0..nodes {
        streets.nodes.push(centre.offset_km(rng.between(-2.0, 2.0), rng.between(-2.0, 2.0)));
    }
    for _ in 0..(nodes * 2) {
        let (from, to) = (rng.below(nodes), rng.below(nodes));
        let straight = streets.nodes[from].distance_km(streets.nodes[to]);
        let length = straight * rng.between(1.0, 1.6);
        let speed = rng.between(20.0, 90.0);
        streets.add(from as u32, to as u32, length, speed, rng.unit() < 0.5);
    }
    streets
}

/// The same with a one-way cycle through all nodes: strongly connected, far from symmetric.
pub fn random_city(rng: &mut SplitMix, nodes: usize) -> Streets {
    let mut streets = random_streets(rng, nodes);
    for from in 0..nodes {
        let to = (from + 1) % nodes;
        let length = streets.nodes[from].distance_km(streets.nodes[to]) * rng.between(1.0, 1.3);
        streets.add(from as u32, to as u32, length, 30.0, true);
    }
    streets
}

/// A map of `places` random places on a random one-way city, with random weights.
pub fn random_map(seed: u64, nodes: usize, places: usize, targets: usize) -> Map {
    let mut rng = SplitMix::new(seed);
    let streets = random_city(&mut rng, nodes);
    let centre = Coord::new(CENTRE.0, CENTRE.1).unwrap();
    let sites = (0..places)
        .map(|i| Site {
            id: format!("p{i}"),
            coord: centre.offset_km(rng.between(-1.8, 1.8), rng.between(-1.8, 1.8)),
        })
        .collect();
    let plan = MapPlan {
        source: Source::Csv,
        travel: TravelMode::Drive,
        region: Region::Everything,
        places: PlacePlan::Sites(sites),
        snap: Some(Length::from_km(5.0).unwrap()),
        prior: PriorPlan::Uniform,
        targets: TargetPlan::Random { count: targets, seed },
    };
    build(streets, plan).unwrap().0
}

/// A directory that is gone when the test ends.
pub struct Scratch(pub std::path::PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("lrgeo-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> std::path::PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    pub fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Real data, where the checkout has it beside it.
pub fn shared_data(path: &str) -> Option<std::path::PathBuf> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    Some(root.join(path)).filter(|path| path.exists())
}
