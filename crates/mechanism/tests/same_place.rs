//! Places listed twice that come through the library: whatever is asked for ends, with an answer or a reason.

#[allow(dead_code)]
#[path = "common/city.rs"]
mod city;

use lrgeo_geo::{Coord, PlaceId};
use lrgeo_map::map::Map;
use lrgeo_map::utility::UtilityKind;
use lrgeo_mechanism::laplace::Laplace;
use lrgeo_mechanism::publish::publish;
use lrgeo_mechanism::spanner::Spanner;
use lrgeo_mechanism::verify::verify;
use lrgeo_mechanism::{City, Geography, MechanismError, Plan, REGISTRY, build, connecting_gamma};
use lrgeo_tiles::{Epsilon, Issued, Link, Notion, SecretKey};

fn per_km(value: f64) -> Epsilon {
    Epsilon::per_km(value).unwrap()
}

/// The middle of the demo city, the last `crowd` of its places moved to where the first is.
fn crowded(places: usize, crowd: usize) -> Map {
    let map = city::demo_map(2, 500.0);
    let mut map = map.with_places(&map.central_block(places));
    let spot = map.places[0].clone();
    for place in map.places.iter_mut().skip(places - crowd) {
        (place.coord, place.node, place.leg) = (spot.coord, spot.node, spot.leg);
    }
    map
}

#[test]
fn every_kind_ends_where_most_places_are_at_one_spot() {
    for places in [60, 130] {
        let city = city::of(crowded(places, places - 20));
        assert!((city.spacing_km() - 0.5).abs() < 0.05, "{}", city.spacing_km());
        for notion in [None, Some(Notion::AllPairs)] {
            let mut plan = Plan::new(&city, per_km(2.0));
            plan.notion = notion.unwrap_or(plan.notion);
            plan.users = [3, 30].map(PlaceId::new).to_vec();
            for kind in REGISTRY {
                match build(*kind, &city, &plan, &()) {
                    Ok(built) => assert!(verify(&built, &()).holds(), "{}", kind.name()),
                    Err(error) => panic!("{} on {places}: {error}", kind.name()),
                }
            }
        }
    }
}

#[test]
fn places_listed_twice_are_not_published() {
    let city = city::of(crowded(60, 2));
    let plan = Plan::new(&city, per_km(2.0));
    let laplace = lrgeo_mechanism::by_name("laplace-places").unwrap();
    let built = build(laplace, &city, &plan, &()).unwrap();
    let key = SecretKey::generate().unwrap();
    let link = Link::first(Issued::from_unix(0), 1, key.public());
    // A phone could not say at which of the two it is; the cut itself comes to an end.
    let error = publish(&built, city.version(), None, link, &key, &()).unwrap_err();
    assert!(error.to_string().contains("one spot twice"), "{error}");
}

#[test]
fn one_spot_is_no_city() {
    let map = crowded(30, 30);
    let version = map.version();
    let error = City::new(map, version, UtilityKind::StraightLine, &()).err().unwrap();
    assert!(matches!(error, MechanismError::Invalid { field: "places", .. }), "{error}");
    assert!(error.to_string().contains("all 30 are at one spot"), "{error}");
}

#[test]
fn gamma_is_found_from_nothing_and_arcs_without_a_length() {
    let city = city::of(crowded(40, 10));
    for start_km in [0.0, -1.0, f64::NAN, 1e-300] {
        let gamma_km = connecting_gamma(&city, start_km);
        assert!((0.4..1.0).contains(&gamma_km), "{gamma_km} from {start_km}");
    }
    let spanner = Spanner::greedy(&city, 1.05, &());
    assert!(spanner.stretch <= 1.05);
}

#[test]
fn noise_between_places_a_hair_apart_is_refused() {
    let here = Coord::new(41.9, 12.5).unwrap();
    let hair = Coord::new(41.9f64.next_up(), 12.5).unwrap();
    let coords = [here, hair, here.offset_km(1.0, 0.0)];
    assert!(matches!(Laplace::new(&coords, per_km(2.0)), Err(MechanismError::Invalid { .. })));
    // As places of a geography they are one, and the third tells how far apart places are.
    let places = Geography::new(coords.to_vec(), vec![1.0; 3]).unwrap();
    assert!((places.spacing_km() - 1.0).abs() < 1e-9);
}
