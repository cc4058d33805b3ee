//! Mechanisms survive being saved, bit for bit, and damage is noticed.

#[path = "common/city.rs"]
mod city;

use std::path::PathBuf;

use lrgeo_geo::PlaceId;
use lrgeo_mechanism::{Built, Plan, REGISTRY, Rows, build, by_name};
use lrgeo_tiles::{Epsilon, SparseMatrix};

fn scratch(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("lrgeo-mechanism-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}

#[test]
fn every_kind_comes_back_as_it_was() {
    let city = city::block(2, 500.0, 50);
    let mut plan = Plan::new(&city, Epsilon::per_km(3.0).unwrap());
    plan.users = [1, 20, 40].map(PlaceId::new).to_vec();
    for kind in REGISTRY {
        let built = build(*kind, &city, &plan, &()).unwrap();
        let path = scratch(kind.name());
        built.save(&path).unwrap();
        let (back, _) = Built::open(&path).unwrap();
        assert_eq!(back.rows, built.rows, "{}", kind.name());
        assert_eq!(back.guarantee, built.guarantee);
        assert_eq!(back.proof, built.proof);
        assert_eq!((back.map, &back.ids, &back.prior), (built.map, &built.ids, &built.prior));
        assert_eq!((&back.witness, &back.notes), (&built.witness, &built.notes));
        assert_eq!(back.floor, built.floor);
        assert_eq!(back.expected_cost, built.expected_cost);
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn sparse_rows_come_back_as_they_were() {
    let city = city::block(1, 500.0, 12);
    let plan = Plan::new(&city, Epsilon::per_km(2.0).unwrap());
    let built = build(by_name("laplace").unwrap(), &city, &plan, &()).unwrap();
    // Two explicit entries per row, one column that is never reported, the rest a tail.
    let matrix = SparseMatrix {
        start: (0..=12).map(|row| 2 * row).collect(),
        column: (0..12).flat_map(|row| if row < 6 { [0, 3] } else { [2, 11] }).collect(),
        value: [0.3, 0.25].repeat(12),
        tail: vec![0.05; 12],
        present: (0..12).map(|k| k != 7).collect(),
    };
    matrix.validate().unwrap();
    let sparse = Built { rows: Rows::Sparse(matrix), ..built.into_built() };
    let path = scratch("sparse");
    sparse.save(&path).unwrap();
    let (back, _) = Built::open(&path).unwrap();
    assert_eq!(back.rows, sparse.rows);
    let row = back.row(PlaceId::new(3)).unwrap();
    assert_eq!((row[0], row[3], row[7], row[8]), (0.3, 0.25, 0.0, 0.05));
    std::fs::remove_file(path).unwrap();
}

#[test]
fn damage_is_noticed_wherever_it_is() {
    let city = city::block(3, 500.0, 12);
    let mut plan = Plan::new(&city, Epsilon::per_km(3.0).unwrap());
    plan.users = [1, 5].map(PlaceId::new).to_vec();
    for name in ["laplace", "lr-geo"] {
        let kind = by_name(name).unwrap();
        let path = scratch(&format!("damage-{name}"));
        build(kind, &city, &plan, &()).unwrap().save(&path).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        for at in (0..bytes.len()).step_by(7) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x40;
            std::fs::write(&path, &damaged).unwrap();
            assert!(Built::open(&path).is_err(), "{name}: byte {at}");
        }
        for length in [0, 7, 40, bytes.len() / 2, bytes.len() - 1] {
            std::fs::write(&path, &bytes[..length]).unwrap();
            assert!(Built::open(&path).is_err(), "{name}: cut to {length}");
        }
        std::fs::remove_file(path).unwrap();
    }
}
