//! Cities that several tests use: blocks of the demo city.

use lrgeo_map::build::{MapPlan, PlacePlan, PriorPlan, TargetPlan, Weights, build};
use lrgeo_map::demo::demo_city;
use lrgeo_map::map::{Map, Source, TravelMode};
use lrgeo_map::region::Region;
use lrgeo_map::units::Length;
use lrgeo_map::utility::UtilityKind;
use lrgeo_mechanism::City;

/// The demo city with the demand that comes with it.
pub fn demo_map(seed: u64, cell_m: f64) -> Map {
    let city = demo_city(seed);
    let targets = city.demand.targets.iter().map(|t| (t.at, t.weight)).collect();
    let plan = MapPlan {
        source: Source::Demo(seed),
        travel: TravelMode::Drive,
        region: Region::Everything,
        places: PlacePlan::Grid(Length::from_m(cell_m).unwrap()),
        snap: None,
        prior: PriorPlan::Density(Box::new(move |at| city.demand.weight(at))),
        targets: TargetPlan::Weights(Weights::At(targets)),
    };
    build(demo_city(seed).streets, plan).unwrap().0
}

/// Its `places` places in the middle.
pub fn block(seed: u64, cell_m: f64, places: usize) -> City {
    let map = demo_map(seed, cell_m);
    let map = map.with_places(&map.central_block(places));
    of(map)
}

/// A map as a city, with travel-distance losses.
pub fn of(map: Map) -> City {
    let version = map.version();
    City::new(map, version, UtilityKind::TravelDistance, &()).unwrap()
}
