//! Cities that several tests use: blocks of the demo city.

use lrgeo_geo::units::Length;
use lrgeo_map::map::Map;
use lrgeo_map::utility::UtilityKind;
use lrgeo_mechanism::City;

/// The demo city with the demand that comes with it.
pub fn demo_map(seed: u64, cell_m: f64) -> Map {
    lrgeo_show::demo::demo_map(seed, Length::from_m(cell_m).unwrap()).unwrap()
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
