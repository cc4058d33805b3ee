//! What the golden files say: twelve places in a line, a kilometre apart, in two tiles. Every number is made by additions, products and quotients of
//! doubles alone, so that each machine makes the same bytes.

use lrgeo_geo::Coord;
use lrgeo_tiles::coordinates::{Lattice, LatticeNoise};
use lrgeo_tiles::{
    Check, Digest, Epsilon, FORMAT, FORMAT_NAME, FileEntry, Grid, Issued, Link, Manifest, Optimum,
    PlaceId, Places, Promise, SecretKey, SignedManifest, SparseMatrix, Tile, TileEntry,
    encode_noise,
};

pub const PLACES: u32 = 12;
/// The last place is never reported.
const REPORTED: usize = 11;
/// Places per tile.
pub const HALF: u32 = 6;
/// Reports this many places away or farther are equally likely: the tail of a row.
const FAR: u32 = 4;

pub fn map() -> Digest {
    Digest::of(b"golden map")
}

pub fn mechanism() -> Digest {
    Digest::of(b"golden mechanism")
}

/// The operator's first key, and the one that takes its place.
pub fn keys() -> [SecretKey; 2] {
    [[1; 32], [2; 32]].map(|seed| SecretKey::from_seed(seed).expect("a seed"))
}

pub fn coords() -> Vec<Coord> {
    let at = |n: u32| Coord::new(45.0, 7.0 + 0.0128 * f64::from(n));
    (0..PLACES).map(|n| at(n).expect("a coordinate")).collect()
}

pub fn prior() -> Vec<f64> {
    (1..=PLACES).map(|n| f64::from(n) / 78.0).collect()
}

pub fn places() -> Vec<u8> {
    Places::encode(map(), &coords(), &prior())
}

/// Halved with every place between, but for the tail.
fn weight(place: u32, report: u32) -> f64 {
    1.0 / f64::from(1u32 << place.abs_diff(report).min(FAR))
}

/// The first tile has all entries, the second lists those before the tail.
pub fn tile(number: u32) -> Tile {
    let places: Vec<u32> = (number * HALF..(number + 1) * HALF).collect();
    let reports = || 0..REPORTED as u32;
    let (mut start, mut column, mut value, mut tail) = (vec![0], vec![], vec![], vec![]);
    for &place in &places {
        let sum: f64 = reports().map(|report| weight(place, report)).sum();
        let listed = |report: &u32| number == 0 || place.abs_diff(*report) < FAR;
        for report in reports().filter(listed) {
            column.push(report);
            value.push(weight(place, report) / sum);
        }
        start.push(column.len());
        tail.push(if number == 0 { 0.0 } else { weight(0, FAR) / sum });
    }
    let present = (0..PLACES as usize).map(|k| k < REPORTED).collect();
    let rows = SparseMatrix { start, column, value, tail, present };
    let places = places.into_iter().map(PlaceId::new).collect();
    Tile { map: map(), mechanism: mechanism(), places, rows }
}

pub fn noise() -> LatticeNoise {
    let (spacing_km, side) = (1.0 / 16.0, 32);
    let (first, squares) = ([-320, -224], [20, 14]);
    let lattice = Lattice { spacing_km, tip_km: spacing_km / 2.0, first, squares, side };
    let nearest = |square: usize| (lattice.middle(square)[0] + 6.0).clamp(0.0, 11.0) as u32;
    let reports = (0..280).map(nearest).map(PlaceId::new).collect();
    let rate = Epsilon::per_km(1.25).expect("a rate");
    let centre = Coord::new(45.0, 7.0704).expect("a coordinate");
    LatticeNoise::from_parts(rate, centre, [-8.0, -1.5, 8.0, 1.5], lattice, reports, coords())
        .expect("noise")
}

pub fn noise_file() -> Vec<u8> {
    encode_noise(map(), &noise())
}

/// The first manifest, whose successor the second key signs.
pub fn manifest() -> Manifest {
    let issued = Issued::from_unix(1_800_000_000);
    let file = |bytes: &[u8]| FileEntry {
        hash: Digest::of(bytes),
        bytes: bytes.len() as u64,
        places: PLACES,
    };
    let tile = |number| {
        let bytes = tile(number).encode();
        TileEntry { hash: Digest::of(&bytes), bytes: bytes.len() as u64, places: HALF }
    };
    Manifest {
        format: FORMAT_NAME.into(),
        version: FORMAT,
        link: Link::first(issued, 365, keys()[1].public()),
        map: map(),
        mechanism: mechanism(),
        kind: "published".into(),
        promise: Promise { epsilon_per_km: 1.5, gamma_km: None },
        expected_cost: 0.625,
        unit: "km".into(),
        optimum: Some(Optimum { status: "gap".into(), cost: 0.625, lower_bound: 0.5, gap: 0.2 }),
        check: Check {
            method: "every pair".into(),
            pairs: 132,
            violations: 0,
            worst_log_excess: Some(-0.125),
            effective_epsilon_per_km: 1.375,
        },
        places: file(&places()),
        description: Some(Digest::of(b"golden description")),
        noise: Some(file(&noise_file())),
        grid: Some(Grid {
            side_km: 6.0,
            south_west: [44.99, 6.99],
            step: [0.02, 0.0768],
            rows: 1,
            columns: 2,
            tiles: vec![0, 1],
        }),
        tiles: [0, 1].map(tile).to_vec(),
    }
}

/// Both manifests: the second says the same a day later.
pub fn chain() -> [SignedManifest; 2] {
    let [first, second] = keys();
    let one = SignedManifest::sign(&manifest(), &first).expect("signed");
    let issued = one.link().issued.plus_days(1);
    let link = Link::after(&one, issued, 365, second.public());
    let two = SignedManifest::sign(&manifest().linked(link), &second).expect("signed");
    [one, two]
}
