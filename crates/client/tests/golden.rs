//! Golden vectors: the same coordinate and seed give the same report in every language (`bindings/golden.json`, which node, Chromium and Python read too);
//! the state file, the description of a map and slices of its cost table are read and written as they were, and their malformed twins are refused.

#[allow(dead_code)]
#[path = "../../tiles/tests/golden/city.rs"]
mod city;
#[path = "golden/description.rs"]
mod description;
#[path = "../../tiles/tests/golden/files.rs"]
mod files;
#[path = "golden/state.rs"]
mod state;

use lrgeo_client::draws::{Draws, Rehearsal};
use lrgeo_geo::Coord;
use lrgeo_geo::units::Length;
use lrgeo_map::utility::UtilityKind;
use lrgeo_mechanism::City;
use lrgeo_mechanism::coordinates::noise_for;
use lrgeo_tiles::Epsilon;
use serde_json::{Value, json};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden");
const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bindings/golden.json");

#[test]
fn reports_are_the_golden_ones() {
    let map = lrgeo_show::demo::demo_map(1, Length::from_m(500.0).unwrap()).unwrap();
    let version = map.version();
    let city = City::new(map, version, UtilityKind::TravelDistance, &()).unwrap();
    let noise = noise_for(&city, Epsilon::per_km(2.0).unwrap(), &()).unwrap();
    let points = (0..12u32)
        .map(|n| (city.coords()[(20 * n) as usize + 7].offset_km(0.1, 0.05), u64::from(n) + 3));
    let report = |(at, seed): (Coord, u64)| {
        let row = noise.row_at(at).unwrap();
        let report = Rehearsal::seeded(seed).report(&row).unwrap();
        json!({ "lat": at.lat(), "lon": at.lon(), "seed": seed, "report": report })
    };
    let found = json!({
        "about": "demo city, cells of 500 m, noise for coordinates at 2/km; written by LRGEO_GOLDEN=write cargo test -p lrgeo-client --test golden",
        "reports": points.map(report).collect::<Vec<Value>>(),
    });
    if std::env::var_os("LRGEO_GOLDEN").is_some() {
        std::fs::write(PATH, serde_json::to_string_pretty(&found).unwrap() + "\n").unwrap();
    }
    let kept: Value = serde_json::from_slice(&std::fs::read(PATH).unwrap()).unwrap();
    assert_eq!(kept["reports"], found["reports"]);
}
