//! `published` as it is on large maps: sparse rows, from the city to the tile that a phone reads.

#[path = "common/city.rs"]
#[allow(dead_code)]
mod city;

use lrgeo_mechanism::publish::{Directory, publish};
use lrgeo_mechanism::published::Published;
use lrgeo_mechanism::verify::Verified;
use lrgeo_mechanism::{Plan, Rows, build};
use lrgeo_optim::Engine;
use lrgeo_tiles::{Epsilon, Link, Notion, SecretKey, check_rows};

#[test]
fn sparse_rows_are_built_saved_verified_published_and_read_back() {
    let city = city::block(3, 500.0, 220);
    let epsilon = Epsilon::per_km(1.0 / city.spacing_km()).unwrap();
    let mut plan = Plan { gap: Some(0.05), ..Plan::new(&city, epsilon) };
    plan.solver.engine = Engine::Large;
    let built = build(&Published, &city, &plan, &()).unwrap();
    assert!(matches!(built.rows, Rows::Sparse(_)));
    assert_eq!(built.guarantee.notion, Notion::AllPairs);
    let proof = built.proof.unwrap();
    assert!(proof.gap <= 0.05, "gap {}", proof.gap);
    // The dense engine's answer for the same map lies between the bounds.
    let mut plan = Plan { gap: Some(1e-4), ..plan };
    plan.solver.engine = Engine::Colgen;
    let dense = build(&Published, &city, &plan, &()).unwrap().proof.unwrap();
    assert!(proof.lower_bound <= dense.cost && dense.lower_bound <= proof.cost);

    let folder = std::env::temp_dir().join(format!("lrgeo-large-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("city.lrmech");
    let fingerprint = built.save(&file).unwrap();
    let (opened, again) = Verified::open(&file, &()).unwrap();
    assert_eq!(fingerprint, again);
    assert_eq!(opened.verdict().guaranteed.violations, 0);

    let key = SecretKey::from_seed([1; 32]).unwrap();
    let issued = "2026-11-16".parse().unwrap();
    let tiles = folder.join("tiles");
    let link = Link::first(issued, 365, key.public());
    publish(&opened, fingerprint, None, link, &key, &()).unwrap().write(&tiles).unwrap();
    let directory = Directory::open(&tiles, &key.public()).unwrap();
    let places = directory.places().unwrap();
    assert_eq!(places.coords(), built.coords);
    let mut read = 0;
    for (number, members) in directory.manifest().members(&places).unwrap().iter().enumerate() {
        let tile = directory.tile(number, members).unwrap();
        check_rows(std::slice::from_ref(&tile), &places, &built.guarantee).unwrap();
        for &place in &tile.places {
            assert_eq!(tile.row(place), built.row(place), "place {place}");
            read += 1;
        }
    }
    assert_eq!(read, city.places());
    std::fs::remove_dir_all(&folder).unwrap();
}
