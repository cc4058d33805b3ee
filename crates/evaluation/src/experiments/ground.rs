//! Where experiments take place: Rome where the data is given, the demo city otherwise.

use std::path::Path;

use lrgeo_geo::units::Length;
use lrgeo_geo::{BoundingBox, Coord};
use lrgeo_map::build::{MapPlan, PlacePlan, PriorPlan, TargetPlan, build, same_places};
use lrgeo_map::import::{read_sites, read_streets};
use lrgeo_map::map::{Map, Source, TravelMode};
use lrgeo_map::places::Site;
use lrgeo_map::region::Region;
use lrgeo_map::streets::Streets;
use lrgeo_map::utility::UtilityKind;
use lrgeo_mechanism::{City, MechanismError};
use lrgeo_show::demo::demo_city;

/// Targets of an experiment.
const TARGETS: usize = 20;
/// Cells of the demo city: enough places for the largest experiments.
const DEMO_CELL_M: f64 = 400.0;
/// Cells over Rome where more places are needed than the authors have.
const ROME_CELL_M: f64 = 470.0;
/// How far that grid reaches beyond the authors' places.
const ROME_MARGIN_KM: f64 = 3.0;

/// South, west, north and east of the target region in section 5.1.1, and the cells along each side.
const PRINTED_BOX: [f64; 4] = [41.66, 12.24, 42.10, 12.81];
const PRINTED_SIDE: u32 = 40;

/// Where users of an experiment want to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Targets {
    /// To any of the K places alike: the paper's letter.
    Uniform,
    /// To twenty random street nodes.
    Random,
}

/// Streets, and the places of the authors where there are any.
pub struct Ground {
    /// What to call it.
    pub name: String,
    streets: Streets,
    source: Source,
    sites: Option<Vec<Site>>,
}

impl Ground {
    /// The demo city, generated.
    pub fn demo() -> Self {
        let streets = demo_city(1).streets;
        Self { name: "Demo city".into(), streets, source: Source::Demo(1), sites: None }
    }

    /// Whether it is the demo city.
    pub fn is_demo(&self) -> bool {
        matches!(self.source, Source::Demo(_))
    }

    /// Rome from a directory with the authors' places and the streets; `None` where it is not there.
    pub fn rome(data: &Path) -> Result<Option<Self>, MechanismError> {
        let sites = data.join("01-rome-grid-40x40/reget_rome_cell_node40x40.csv");
        let streets = |what: &str| data.join(format!("02-rome-streets/rome_full_{what}.csv"));
        if !sites.exists() || !streets("nodes").exists() || !streets("edges").exists() {
            return Ok(None);
        }
        let sites = Some(read_sites(&sites)?);
        let streets = read_streets(&streets("nodes"), &streets("edges"), true)?.0;
        Ok(Some(Self { name: "Rome".into(), streets, source: Source::Csv, sites }))
    }

    /// The block of `count` places in the middle, with random targets and an even prior.
    pub fn city(&self, count: usize, seed: u64) -> Result<City, MechanismError> {
        self.city_with(count, seed, Targets::Random)
    }

    /// The same with other targets.
    pub fn city_with(
        &self,
        count: usize,
        seed: u64,
        targets: Targets,
    ) -> Result<City, MechanismError> {
        let mut map = central_map(&self.map(count, seed)?, count);
        if targets == Targets::Uniform {
            map.aim_at_places();
        }
        city_of(map)
    }

    /// The same with random targets and another loss.
    pub fn city_by(
        &self,
        count: usize,
        seed: u64,
        loss: UtilityKind,
    ) -> Result<City, MechanismError> {
        let map = central_map(&self.map(count, seed)?, count);
        let version = map.version();
        City::new(map, version, loss, &())
    }

    /// The same block by car and on foot: one place set, two ways to go.
    pub fn on_foot_too(&self, count: usize, seed: u64) -> Result<[Map; 2], MechanismError> {
        let map = central_map(&self.map(count, seed)?, count);
        let streets = self.streets.clone().used_by(TravelMode::Walk);
        let walk = same_places(&map, streets, TravelMode::Walk)?;
        Ok([map, walk])
    }

    /// The grid that the paper prints, 40 x 40 cells over its box, with uniform targets; `None` but for Rome.
    pub fn printed_city(&self) -> Result<Option<City>, MechanismError> {
        if self.sites.is_none() {
            return Ok(None);
        }
        let [south, west, north, east] = PRINTED_BOX;
        let at = |from: f64, to: f64, cell: u32| {
            from + (to - from) * (f64::from(cell) + 0.5) / f64::from(PRINTED_SIDE)
        };
        let mut sites = Vec::new();
        for cell in 0..PRINTED_SIDE * PRINTED_SIDE {
            let (row, column) = (cell / PRINTED_SIDE, cell % PRINTED_SIDE);
            let coord = Coord::new(at(south, north, row), at(west, east, column))?;
            sites.push(Site { id: cell.to_string(), coord });
        }
        let mut map = self.build(PlacePlan::Sites(sites), Region::Everything, 0)?;
        map.aim_at_places();
        city_of(map).map(Some)
    }

    /// How many places there are at most.
    pub fn most_places(&self) -> Result<usize, MechanismError> {
        Ok(self.map(usize::MAX, 0)?.places.len())
    }

    /// The places of the authors, or those of the demo city, with random targets and an even prior.
    pub fn places(&self, seed: u64) -> Result<Map, MechanismError> {
        let places = match &self.sites {
            Some(sites) => PlacePlan::Sites(sites.clone()),
            None => PlacePlan::Grid(Length::from_m(DEMO_CELL_M)?),
        };
        self.build(places, Region::Everything, seed)
    }

    /// A grid on the same streets; where there are places of the authors, on their box grown by a margin.
    pub fn grid(&self, cell_m: f64, margin_km: f64, seed: u64) -> Result<Map, MechanismError> {
        let sites = self.sites.iter().flatten().map(|site| site.coord);
        let region = match BoundingBox::around(sites) {
            None => Region::Everything,
            Some(bounds) => {
                let [s, w, n, e] = bounds.to_array();
                let (north, east) = (margin_km / 111.2, margin_km / 82.8);
                Region::Box(BoundingBox::new(s - north, w - east, n + north, e + east)?)
            }
        };
        self.build(PlacePlan::Grid(Length::from_m(cell_m)?), region, seed)
    }

    fn map(&self, count: usize, seed: u64) -> Result<Map, MechanismError> {
        match &self.sites {
            Some(sites) if count > sites.len() => self.grid(ROME_CELL_M, ROME_MARGIN_KM, seed),
            _ => self.places(seed),
        }
    }

    fn build(&self, places: PlacePlan, region: Region, seed: u64) -> Result<Map, MechanismError> {
        let plan = MapPlan {
            source: self.source,
            travel: TravelMode::Drive,
            region,
            places,
            snap: None,
            prior: PriorPlan::Uniform,
            targets: TargetPlan::Random { count: TARGETS, seed },
        };
        Ok(build(self.streets.clone(), plan)?.0)
    }
}

/// The block of `count` places around the middle of a map, or all of them, with travel distances.
pub fn central_city(map: &Map, count: usize) -> Result<City, MechanismError> {
    city_of(central_map(map, count))
}

fn central_map(map: &Map, count: usize) -> Map {
    match count < map.places.len() {
        true => map.with_places(&map.central_block(count)),
        false => map.clone(),
    }
}

fn city_of(map: Map) -> Result<City, MechanismError> {
    let version = map.version();
    City::new(map, version, UtilityKind::TravelDistance, &())
}
