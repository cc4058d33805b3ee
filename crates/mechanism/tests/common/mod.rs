//! Maps that several tests use.

use lrgeo_geo::Coord;
use lrgeo_tiles::Epsilon;

/// An epsilon that is known to be valid.
pub fn per_km(value: f64) -> Epsilon {
    Epsilon::per_km(value).unwrap()
}

/// A square grid of places in Rome.
pub fn grid(side: u32, spacing_km: f64) -> Vec<Coord> {
    let corner = Coord::new(41.8, 12.4).unwrap();
    let at = |n: u32| spacing_km * f64::from(n);
    (0..side * side).map(|i| corner.offset_km(at(i / side), at(i % side))).collect()
}
