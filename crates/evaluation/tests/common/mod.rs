//! Small random cities with one-way streets.
#![allow(missing_docs)]

use lrgeo_geo::Coord;
use lrgeo_geo::rng::SplitMix;
use lrgeo_geo::units::Length;
use lrgeo_map::build::{MapPlan, PlacePlan, PriorPlan, TargetPlan, build};
use lrgeo_map::map::{Source, TravelMode};
use lrgeo_map::places::Site;
use lrgeo_map::region::Region;
use lrgeo_map::streets::Streets;
use lrgeo_map::utility::UtilityKind;
use lrgeo_mechanism::City;

/// `places` random places within four kilometres, on streets that a one-way ring makes connected;
/// a fifth of the places has prior zero.
pub fn random_city(seed: u64, places: usize) -> City {
    let mut rng = SplitMix::new(seed);
    let centre = Coord::new(41.9, 12.5).unwrap();
    let mut streets = Streets::default();
    let nodes = 4 * places;
    for _ in 0..nodes {
        streets.nodes.push(centre.offset_km(rng.between(-2.0, 2.0), rng.between(-2.0, 2.0)));
    }
    for from in 0..nodes {
        for to in [(from + 1) % nodes, rng.below(nodes)] {
            let straight = streets.nodes[from].distance_km(streets.nodes[to]);
            let length = straight * rng.between(1.0, 1.5);
            streets.add(from as u32, to as u32, length, 30.0, rng.unit() < 0.5);
        }
    }
    let sites = (0..places)
        .map(|i| {
            let coord = centre.offset_km(rng.between(-1.8, 1.8), rng.between(-1.8, 1.8));
            Site { id: format!("p{i}"), coord }
        })
        .collect();
    let plan = MapPlan {
        source: Source::Csv,
        travel: TravelMode::Drive,
        region: Region::Everything,
        places: PlacePlan::Sites(sites),
        snap: Some(Length::from_km(5.0).unwrap()),
        prior: PriorPlan::Uniform,
        targets: TargetPlan::Random { count: 5, seed },
    };
    let (mut map, _) = build(streets, plan).unwrap();
    for place in &mut map.places {
        place.prior = if rng.below(5) == 0 { 0.0 } else { rng.unit() };
    }
    let total: f64 = map.places.iter().map(|place| place.prior).sum();
    map.places.iter_mut().for_each(|place| place.prior /= total);
    let version = map.version();
    City::new(map, version, UtilityKind::TravelDistance, &()).unwrap()
}
