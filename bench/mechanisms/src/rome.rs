//! Maps of Rome: the authors' places, or a grid of one's own, on the real streets.

use std::path::{Path, PathBuf};

use lrgeo_map::build::{MapPlan, PlacePlan, PriorPlan, TargetPlan, build};
use lrgeo_map::geo::BoundingBox;
use lrgeo_map::import::{read_sites, read_streets};
use lrgeo_map::map::{Map, Source, TravelMode};
use lrgeo_map::region::Region;
use lrgeo_map::units::Length;
use lrgeo_map::utility::UtilityKind;
use lrgeo_mechanism::City;

const TARGETS: usize = 20;

/// Where the data is.
pub struct Rome(pub PathBuf);

impl Rome {
    /// Whether it is there.
    pub fn present(&self) -> bool {
        self.sites().exists() && self.streets("nodes").exists()
    }

    fn sites(&self) -> PathBuf {
        self.0.join("01-rome-grid-40x40/reget_rome_cell_node40x40.csv")
    }

    fn streets(&self, what: &str) -> PathBuf {
        self.0.join(format!("02-rome-streets/rome_full_{what}.csv"))
    }

    /// The 1,331 places of the authors, 20 random targets.
    pub fn authors(&self, seed: u64) -> Map {
        let sites = read_sites(Path::new(&self.sites())).expect("places");
        self.map(PlacePlan::Sites(sites), Region::Everything, seed)
    }

    /// A grid over the box of the authors' places.
    pub fn grid(&self, cell_m: f64, grown_km: f64, seed: u64) -> Map {
        let sites = read_sites(&self.sites()).expect("places");
        let [s, w, n, e] =
            BoundingBox::around(sites.iter().map(|s| s.coord)).expect("places").to_array();
        let (north, east) = (grown_km / 111.2, grown_km / 82.8);
        let bounds = BoundingBox::new(s - north, w - east, n + north, e + east).expect("a box");
        let cell = Length::from_m(cell_m).expect("a cell");
        self.map(PlacePlan::Grid(cell), Region::Box(bounds), seed)
    }

    fn map(&self, places: PlacePlan, region: Region, seed: u64) -> Map {
        let (nodes, edges) = (self.streets("nodes"), self.streets("edges"));
        let streets = read_streets(&nodes, &edges, true).expect("streets");
        let plan = MapPlan {
            source: Source::Csv,
            travel: TravelMode::Drive,
            region,
            places,
            snap: None,
            prior: PriorPlan::Uniform,
            targets: TargetPlan::Random { count: TARGETS, seed },
        };
        build(streets, plan).expect("a map").0
    }
}

/// The block of `count` places around the middle, or all of them.
pub fn city(map: &Map, count: usize) -> City {
    let map = map.with_places(&map.central_block(count));
    let version = map.version();
    City::new(map, version, UtilityKind::TravelDistance, &()).expect("a city")
}
