//! Published tiles: what comes out is what went in, and nothing that was touched is believed.

#[path = "common/city.rs"]
#[allow(dead_code)]
mod city;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use lrgeo_geo::Digest;
use lrgeo_geo::{Coord, PlaceId};
use lrgeo_mechanism::publish::{
    Directory, Publication, PublishError, Written, open_key, publish, save_new_key,
};
use lrgeo_mechanism::verify::Verified;
use lrgeo_mechanism::{Built, City, MechanismError, Plan, Rows, build, by_name};
use lrgeo_tiles::{
    Cover, Distribution, Envelope, Epsilon, Guarantee, Issued, Link, Manifest, Notion, Places,
    PublicKey, SecretKey, SignedManifest, SparseMatrix, Tile, TileError, check_rows, likely_places,
};
use serde_json::{Value, json};

const FINGERPRINT: Digest = Digest([7; 32]);

/// Fewer than by default: the maps here are small, and several tiles are wanted.
const FEW: usize = 8;

fn key() -> SecretKey {
    SecretKey::from_seed([1; 32]).unwrap()
}

fn today() -> Issued {
    "2026-11-16".parse().unwrap()
}

fn first(issued: Issued) -> Link {
    Link::first(issued, 365, key().public())
}

/// A manifest that `key` signed.
fn verify(text: &[u8], signature: &[u8], key: &PublicKey) -> Result<Manifest, TileError> {
    let envelope = Envelope { bytes: text.to_vec(), signature: signature.to_vec() };
    envelope.open(key).map(|signed| signed.manifest().clone())
}

/// The demo city in cells of 1 km, with its own uneven prior.
fn demo() -> City {
    city::of(city::demo_map(1, 1000.0))
}

/// The mechanism that people are meant to publish.
static DENSE: LazyLock<Verified> = LazyLock::new(|| {
    let city = demo();
    let plan = Plan::new(&city, Epsilon::per_km(1.5).unwrap());
    build(by_name("published").unwrap(), &city, &plan, &()).unwrap()
});

/// `z_ik` proportional to `exp(-eps/2 min(d_ik, r))`: explicit near i, one tail elsewhere. The
/// kernel and its sum both change by at most `exp(eps/2 d)`, so all pairs keep epsilon.
static SPARSE: LazyLock<Verified> = LazyLock::new(|| {
    let (side, spacing_km, epsilon, radius_km) = (24u32, 0.5, 2.0, 1.3);
    let corner = Coord::new(41.8, 12.4).unwrap();
    let at = |n: u32| spacing_km * f64::from(n);
    let coords: Vec<Coord> =
        (0..side * side).map(|i| corner.offset_km(at(i / side), at(i % side))).collect();
    let places = coords.len();
    // One column that nobody ever reports.
    let present: Vec<bool> = (0..places).map(|k| k != 100).collect();
    let (mut start, mut column, mut value, mut tail) = (vec![0], vec![], vec![], vec![]);
    for here in &coords {
        let near = |k: &usize| present[*k] && here.distance_km(coords[*k]) < radius_km;
        let near: Vec<usize> = (0..places).filter(near).collect();
        let weight = |km: f64| (-epsilon / 2.0 * km).exp();
        let weights: Vec<f64> = near.iter().map(|&k| weight(here.distance_km(coords[k]))).collect();
        let rest = (places - 1 - near.len()) as f64 * weight(radius_km);
        let sum = weights.iter().sum::<f64>() + rest;
        column.extend(near.iter().map(|&k| k as u32));
        value.extend(weights.iter().map(|w| w / sum));
        tail.push(weight(radius_km) / sum);
        start.push(column.len());
    }
    let epsilon = Epsilon::per_km(epsilon).unwrap();
    let notion = Notion::AllPairs;
    let built = Built {
        kind: "published".into(),
        map: Digest([3; 32]),
        ids: (0..places).map(|place| place.to_string()).collect(),
        prior: vec![1.0 / places as f64; places],
        coords,
        guarantee: Guarantee { notion, epsilon, cover: Cover::WholeMap },
        rows: Rows::Sparse(SparseMatrix { start, column, value, tail, present }),
        expected_cost: 0.7,
        unit: "km".into(),
        proof: None,
        floor: None,
        witness: Vec::new(),
        notes: Vec::new(),
    };
    Verified::new(built, &()).unwrap()
});

fn published(built: &Verified, least: Option<usize>) -> Publication {
    publish(built, FINGERPRINT, least, first(today()), &key(), &()).unwrap()
}

static DENSE_TILES: LazyLock<Publication> = LazyLock::new(|| published(&DENSE, Some(FEW)));
static SPARSE_TILES: LazyLock<Publication> = LazyLock::new(|| published(&SPARSE, None));

fn likely(built: &Built, places: &[PlaceId]) -> f64 {
    likely_places(places.iter().map(|&place| built.prior[place.index()]))
}

fn file(publication: &Publication, name: &str) -> Vec<u8> {
    publication.files().find(|(path, _)| path == name).unwrap().1.to_vec()
}

fn tile_bytes(publication: &Publication, number: usize) -> Vec<u8> {
    file(publication, &publication.signed.manifest().tile_path(number).unwrap())
}

/// A manifest with something changed and signed again by the operator's own key.
fn resigned(
    publication: &Publication,
    change: impl FnOnce(&mut Value),
) -> Result<Manifest, TileError> {
    let mut manifest: Value = serde_json::from_slice(&file(publication, "manifest.json")).unwrap();
    change(&mut manifest);
    let text = serde_json::to_vec(&manifest).unwrap();
    verify(&text, &key().sign(&text), &key().public())
}

/// The list of places of a publication.
fn places_of(publication: &Publication) -> Places {
    let manifest = publication.signed.manifest();
    manifest.open_places(&file(publication, &manifest.places_path())).unwrap()
}

/// Reads a tile as a phone does that fetches no other.
fn open_tile(
    publication: &Publication,
    manifest: &Manifest,
    number: usize,
    bytes: &[u8],
) -> Result<Tile, TileError> {
    let places = places_of(publication);
    let members = manifest.members(&places)?;
    let none = Vec::new();
    let tile = manifest.open_tile(number, members.get(number).unwrap_or(&none), bytes)?;
    check_rows(std::slice::from_ref(&tile), &places, &manifest.guarantee()?)?;
    Ok(tile)
}

/// What a reader says to a tile that the operator changed, with its right hash and signature.
fn tampered(publication: &Publication, number: usize, bytes: &[u8]) -> TileError {
    let manifest = resigned(publication, |manifest| {
        manifest["tiles"][number]["hash"] = json!(Digest::of(bytes));
        manifest["tiles"][number]["bytes"] = json!(bytes.len());
    });
    open_tile(publication, &manifest.unwrap(), number, bytes).unwrap_err()
}

/// A directory that is gone when the test ends.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("lrgeo-tiles-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Every file and what it holds.
    fn content(&self) -> Vec<(PathBuf, Vec<u8>)> {
        fn collect(path: &Path, all: &mut Vec<(PathBuf, Vec<u8>)>) {
            for entry in std::fs::read_dir(path).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => collect(&path, all),
                    false => all.push((path.clone(), std::fs::read(&path).unwrap())),
                }
            }
        }
        let mut all = Vec::new();
        collect(&self.0, &mut all);
        all.sort();
        all
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn check_round_trip(built: &Built, publication: &Publication) {
    let [text, signature] = ["manifest.json", "manifest.sig"].map(|name| file(publication, name));
    let manifest = verify(&text, &signature, &key().public()).unwrap();
    assert_eq!(&manifest, publication.signed.manifest());
    assert_eq!(manifest.guarantee().unwrap(), built.guarantee);
    assert_eq!(manifest.map, built.map);
    assert_eq!(manifest.expected_cost.to_bits(), built.expected_cost.to_bits());
    let places = manifest.open_places(&file(publication, &manifest.places_path())).unwrap();
    assert_eq!(places.coords(), built.coords);
    assert!(manifest.tiles.len() > 3);
    let mut seen = vec![0; built.coords.len()];
    for number in 0..manifest.tiles.len() {
        let bytes = tile_bytes(publication, number);
        let tile = open_tile(publication, &manifest, number, &bytes).unwrap();
        assert!(likely(built, &publication.members[number]) >= FEW as f64 - 1e-5);
        assert_eq!(manifest.tiles[number].places as usize, tile.places.len());
        for &place in &tile.places {
            seen[place.index()] += 1;
            let bits = |row: Distribution| row.into_iter().map(f64::to_bits).collect::<Vec<_>>();
            assert_eq!(bits(tile.row(place).unwrap()), bits(built.row(place).unwrap()));
            // What a phone does: its place from the list, its tile from the manifest.
            let here = built.coords[place.index()].offset_km(0.01, -0.01);
            let (nearest, _) = places.nearest(here).unwrap();
            assert_eq!(nearest, place);
            assert_eq!(manifest.tile_of(places.coords()[nearest.index()]), Some(number));
        }
        let other = PlaceId::all(built.coords.len()).find(|place| !tile.places.contains(place));
        assert_eq!(tile.row(other.unwrap()), None);
    }
    assert!(seen.into_iter().all(|n| n == 1), "every place is in exactly one tile");
}

#[test]
fn dense_rows_come_back_bit_for_bit() {
    check_round_trip(&DENSE, &DENSE_TILES);
    let manifest = DENSE_TILES.signed.manifest();
    assert_eq!(manifest.check.violations, 0);
    assert!(manifest.optimum.as_ref().unwrap().lower_bound > 0.0);
    // The prior of the demo city is uneven, and the tiles show it.
    let uneven = |places: &Vec<PlaceId>| likely(&DENSE, places) < 0.9 * places.len() as f64;
    assert!(DENSE_TILES.members.iter().any(uneven));
    let places = places_of(&DENSE_TILES);
    assert!(places.prior().iter().zip(&DENSE.prior).all(|(a, b)| a.to_bits() == b.to_bits()));
}

#[test]
fn sparse_rows_come_back_bit_for_bit_in_small_files() {
    check_round_trip(&SPARSE, &SPARSE_TILES);
    let Rows::Sparse(matrix) = &SPARSE.rows else { panic!("not sparse") };
    let bytes: u64 = SPARSE_TILES.signed.manifest().tiles.iter().map(|tile| tile.bytes).sum();
    let places = matrix.tail.len();
    let entries = 12 * matrix.value.len();
    let per_place = 4 + 8 + 4;
    let per_tile = 8 + 4 + 64 + 8 + 4 + places.div_ceil(8);
    let tiles = &SPARSE_TILES.signed.manifest().tiles;
    let content = entries + per_place * places + per_tile * tiles.len();
    // Padding at most doubles what is linear in explicit entries, and leaves few lengths.
    assert!((content..2 * content).contains(&(bytes as usize)), "{content} of {bytes}");
    let mut lengths: Vec<u64> = tiles.iter().map(|tile| tile.bytes).collect();
    lengths.sort_unstable();
    lengths.dedup();
    assert!(lengths.len() <= 3, "{lengths:?}");
}

#[test]
fn names_are_hashes_and_the_same_input_gives_the_same_bytes() {
    for (name, bytes) in DENSE_TILES.files().skip(2) {
        let stem = Path::new(&name).file_stem().unwrap().to_str().unwrap().to_owned();
        assert_eq!(stem, Digest::of(bytes).to_string());
    }
    let again = published(&DENSE, Some(FEW));
    assert!(DENSE_TILES.files().eq(again.files()));
    let later = "2026-11-17T08:00:00Z".parse().unwrap();
    let later = publish(&DENSE, FINGERPRINT, Some(FEW), first(later), &key(), &()).unwrap();
    let changed: Vec<String> = DENSE_TILES
        .files()
        .zip(later.files())
        .filter(|(a, b)| a != b)
        .map(|((name, _), _)| name)
        .collect();
    assert_eq!(changed, ["manifest.json", "manifest.sig"]);
}

#[test]
fn one_changed_byte_anywhere_is_refused() {
    let publication = &*DENSE_TILES;
    let manifest = publication.signed.manifest();
    let [text, signature] = ["manifest.json", "manifest.sig"].map(|name| file(publication, name));
    let public = key().public();
    let refused = |bytes: &[u8], open: &dyn Fn(&[u8]) -> Result<(), TileError>| {
        let mut bytes = bytes.to_vec();
        for at in 0..bytes.len() {
            for flip in [0x01, 0x80] {
                bytes[at] ^= flip;
                assert!(open(&bytes).is_err(), "byte {at} of {}", bytes.len());
                bytes[at] ^= flip;
            }
        }
        open(&bytes).unwrap();
    };
    refused(&text, &|bytes| verify(bytes, &signature, &public).map(drop));
    refused(&signature, &|bytes| verify(&text, bytes, &public).map(drop));
    let places = file(publication, &manifest.places_path());
    refused(&places, &|bytes| manifest.open_places(bytes).map(drop));
    for number in 0..manifest.tiles.len() {
        let members = manifest.members(&places_of(publication)).unwrap();
        let open = |bytes: &[u8]| manifest.open_tile(number, &members[number], bytes).map(drop);
        refused(&tile_bytes(publication, number), &open);
    }
}

#[test]
fn a_tile_says_what_is_wrong_with_it() {
    let manifest = DENSE_TILES.signed.manifest();
    let bytes = tile_bytes(&DENSE_TILES, 0);
    let open = |number: usize, bytes: &[u8]| open_tile(&DENSE_TILES, manifest, number, bytes);
    let refuse = |bytes: &[u8]| open(0, bytes).unwrap_err();
    for length in [0, 1, 20, bytes.len() / 2, bytes.len() - 1] {
        let error = refuse(&bytes[..length]);
        assert!(matches!(error, TileError::Truncated { file: "tile", .. }), "{error}");
    }
    let longer = [bytes.as_slice(), &[0]].concat();
    assert!(matches!(refuse(&longer), TileError::HashMismatch { .. }));
    let other = tile_bytes(&DENSE_TILES, 1);
    let error = open(1, &bytes).unwrap_err();
    let (hash, truncated) = (
        matches!(error, TileError::HashMismatch { .. }),
        matches!(error, TileError::Truncated { .. }),
    );
    assert!(if bytes.len() < other.len() { truncated } else { hash }, "{error}");
    assert!(matches!(Tile::open(&other, Digest::of(&bytes)), Err(TileError::HashMismatch { .. })));
    let places = file(&DENSE_TILES, &manifest.places_path());
    let error = manifest.open_places(&places[..places.len() - 8]).unwrap_err();
    assert!(matches!(error, TileError::Truncated { file: "places", .. }), "{error}");
    assert!(open(manifest.tiles.len(), &bytes).is_err());
}

#[test]
fn other_keys_and_cut_signatures_are_refused() {
    let [text, signature] = ["manifest.json", "manifest.sig"].map(|name| file(&DENSE_TILES, name));
    let other = SecretKey::from_seed([2; 32]).unwrap();
    let refuse =
        |signature: &[u8], key: &SecretKey| verify(&text, signature, &key.public()).unwrap_err();
    assert!(matches!(refuse(&signature, &other), TileError::Signature));
    assert!(matches!(refuse(&other.sign(&text), &key()), TileError::Signature));
    assert!(matches!(refuse(&signature[..63], &key()), TileError::Signature));
    assert!(matches!(refuse(&[], &key()), TileError::Signature));
    verify(&text, &signature, &key().public()).unwrap();
}

#[test]
fn stale_manifests_are_refused() {
    let manifest = DENSE_TILES.signed.manifest();
    manifest.expect_map(DENSE.map).unwrap();
    let error = manifest.expect_map(Digest([9; 32])).unwrap_err();
    assert!(matches!(error, TileError::OtherMap { file: "manifest", .. }), "{error}");
}

#[test]
fn manifests_follow_one_another() {
    let first = &DENSE_TILES.signed;
    let other = SecretKey::from_seed([2; 32]).unwrap();
    let later = today().plus_days(30);
    let next = |link: Link, key: &SecretKey| {
        SignedManifest::sign(&first.manifest().clone().linked(link), key).unwrap()
    };
    // The second names another key, which signs the third.
    let second = next(Link::after(first, later, 365, other.public()), &key());
    assert_eq!(first.tip().next(second.envelope().clone()).unwrap(), second);
    assert_eq!(second.signer(), key().public());
    assert_eq!(second.envelope().claimed_link().unwrap(), second.link());
    let third = next(Link::after(&second, today(), 365, other.public()), &other);
    assert_eq!(third.link().issued, later, "a clock that went back does not");
    second.tip().next(third.envelope().clone()).unwrap();
    let refuse = |link: Link, key: &SecretKey| {
        let text = serde_json::to_vec(&first.manifest().clone().linked(link)).unwrap();
        first.tip().next(Envelope::seal(text, key)).unwrap_err()
    };
    let good = second.link();
    assert!(matches!(refuse(good, &other), TileError::Signature));
    for wrong in [
        Link { sequence: 3, ..good },
        Link { previous: Some(Digest([1; 32])), ..good },
        Link { sequence: 0, ..good },
        Link { previous: None, ..good },
        Link { expires: good.issued, ..good },
        Link { expires: good.issued.plus_days(1_000), ..good },
    ] {
        let error = refuse(wrong, &key());
        assert!(matches!(error, TileError::Malformed { file: "manifest", .. }), "{error}");
    }
    let before = Link { issued: "2026-01-01".parse().unwrap(), ..good };
    assert!(matches!(refuse(before, &key()), TileError::Older { .. }));
    assert!(first.tip().next(third.envelope().clone()).is_err());
}

#[test]
fn other_format_versions_are_refused_by_name() {
    let error = resigned(&DENSE_TILES, |m| m["version"] = json!(2)).unwrap_err();
    assert!(
        matches!(error, TileError::OtherFormat { file: "manifest", found: 2, reads: 3 }),
        "{error}"
    );
    let mut bytes = tile_bytes(&DENSE_TILES, 0);
    bytes[8..12].copy_from_slice(&2u32.to_le_bytes());
    let error = tampered(&DENSE_TILES, 0, &bytes);
    assert!(
        matches!(error, TileError::OtherFormat { file: "tile", found: 2, reads: 3 }),
        "{error}"
    );
    let mut places = file(&DENSE_TILES, &DENSE_TILES.signed.manifest().places_path());
    places[8..12].copy_from_slice(&7u32.to_le_bytes());
    let manifest = resigned(&DENSE_TILES, |m| m["places"]["hash"] = json!(Digest::of(&places)));
    let error = manifest.unwrap().open_places(&places).unwrap_err();
    assert!(
        matches!(error, TileError::OtherFormat { file: "places", found: 7, reads: 3 }),
        "{error}"
    );
}

#[test]
fn signed_nonsense_is_refused_too() {
    type Change = fn(&mut Value);
    let changes: [(&str, Change); 11] = [
        ("another kind", |m| m["format"] = json!("something else")),
        ("an unknown field", |m| m["extra"] = json!(1)),
        ("no epsilon", |m| m["promise"]["epsilon_per_km"] = json!(0.0)),
        ("a negative gamma", |m| m["promise"]["gamma_km"] = json!(-1.0)),
        ("an unlisted tile", |m| m["grid"]["tiles"][0] = json!(4000)),
        ("a grid too large", |m| m["grid"]["rows"] = json!(4_000_000_000u32)),
        ("squares without size", |m| m["grid"]["step"][0] = json!(0.0)),
        ("a place too many", |m| m["tiles"][0]["places"] = json!(1999)),
        ("an empty tile", |m| m["tiles"][0]["places"] = json!(0)),
        ("a hash in capitals", |m| m["map"] = json!("A".repeat(64))),
        ("violations", |m| m["check"]["violations"] = json!(1)),
    ];
    for (what, change) in changes {
        let error = resigned(&DENSE_TILES, change).expect_err(what);
        assert!(matches!(error, TileError::Malformed { file: "manifest", .. }), "{what}: {error}");
    }
    let text = b"{ not json";
    let error = verify(text, &key().sign(text), &key().public()).unwrap_err();
    assert!(matches!(error, TileError::Malformed { .. }), "{error}");
}

/// Where the last row of a tile of the dense mechanism begins; padding follows it.
fn last_row_at(bytes: &[u8]) -> usize {
    let columns = DENSE.coords.len();
    let rows = u32::from_le_bytes(bytes[80..84].try_into().unwrap()) as usize;
    84 + 4 * rows + columns.div_ceil(8) + 8 * rows + 4 + 8 * columns * (rows - 1)
}

fn last_row(bytes: &[u8]) -> Vec<f64> {
    let values = bytes[last_row_at(bytes)..].chunks_exact(8).take(DENSE.coords.len());
    values.map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect()
}

fn with_last_row(bytes: &[u8], row: &[f64]) -> Vec<u8> {
    let (at, mut changed) = (last_row_at(bytes), bytes.to_vec());
    let values: Vec<u8> = row.iter().flat_map(|z| z.to_le_bytes()).collect();
    changed[at..at + values.len()].copy_from_slice(&values);
    changed
}

#[test]
fn a_lying_operator_is_refused() {
    let bytes = tile_bytes(&DENSE_TILES, 0);
    let row = last_row(&bytes);
    let tile = open_tile(&DENSE_TILES, DENSE_TILES.signed.manifest(), 0, &bytes).unwrap();
    let last = tile.row(*tile.places.last().unwrap()).map(Distribution::into_vec);
    assert_eq!(Some(&row), last.as_ref(), "every column present");
    let order = |a: &usize, b: &usize| row[*a].total_cmp(&row[*b]);
    let (low, high) =
        ((0..row.len()).min_by(order).unwrap(), (0..row.len()).max_by(order).unwrap());

    let mut swapped = row.clone();
    swapped.swap(low, high);
    let error = tampered(&DENSE_TILES, 0, &with_last_row(&bytes, &swapped));
    assert!(
        matches!(error, TileError::NotPrivate { worst_log_excess } if worst_log_excess > 0.0),
        "{error}"
    );

    let mut nudged = row.clone();
    nudged[high] *= 1.01;
    let error = tampered(&DENSE_TILES, 0, &with_last_row(&bytes, &nudged));
    assert!(error.to_string().contains("does not sum to one"), "{error}");

    for bad in [f64::NAN, f64::INFINITY, -0.1] {
        let mut wrong = row.clone();
        wrong[low] = bad;
        let error = tampered(&DENSE_TILES, 0, &with_last_row(&bytes, &wrong));
        assert!(error.to_string().contains("no probability"), "{error}");
    }

    let mut other = bytes.clone();
    other[12..44].copy_from_slice(&[9; 32]);
    let error = tampered(&DENSE_TILES, 0, &other);
    assert!(matches!(error, TileError::OtherMap { file: "tile", .. }), "{error}");
    let mut other = bytes;
    other[44..76].copy_from_slice(&[9; 32]);
    let error = tampered(&DENSE_TILES, 0, &other);
    assert!(error.to_string().contains("mechanism"), "{error}");
}

#[test]
fn a_signed_tile_that_ends_anywhere_is_refused() {
    for publication in [&*DENSE_TILES, &*SPARSE_TILES] {
        let bytes = tile_bytes(publication, 0);
        // Padding may end anywhere; what is before it may not.
        let content = bytes.len() - bytes.iter().rev().take_while(|byte| **byte == 0).count();
        let ends = (0..300).chain((300..content - 8).step_by(211));
        for end in ends {
            let error = Tile::open(&bytes[..end], Digest::of(&bytes[..end])).unwrap_err();
            assert!(matches!(error, TileError::Malformed { .. }), "{end}: {error}");
        }
    }
}

#[test]
fn what_must_not_be_published_is_refused() {
    let mut violating = SPARSE.clone().into_built();
    let Rows::Sparse(matrix) = &mut violating.rows else { panic!("not sparse") };
    let (a, b) = (matrix.start[40], matrix.start[41] - 1);
    let largest = (a..=b).max_by(|&x, &y| matrix.value[x].total_cmp(&matrix.value[y])).unwrap();
    matrix.value.swap(a, largest);
    // It cannot become what may be published.
    let error = Verified::new(violating, &()).unwrap_err();
    assert!(matches!(error, MechanismError::NotPrivate { .. }), "{error}");

    let city = demo();
    let plan = Plan {
        users: [3, 10].map(PlaceId::new).to_vec(),
        ..Plan::new(&city, Epsilon::per_km(1.5).unwrap())
    };
    let round = build(by_name("lr-geo").unwrap(), &city, &plan, &()).unwrap();
    let error = publish(&round, FINGERPRINT, None, first(today()), &key(), &()).unwrap_err();
    assert!(matches!(error, MechanismError::Publish(PublishError::PerUser { .. })), "{error}");
    assert!(error.to_string().contains("lr-geo"), "{error}");
}

#[test]
fn a_directory_is_written_once_and_never_changed() {
    let scratch = Scratch::new("once");
    let dir = scratch.0.join("tiles");
    assert_eq!(DENSE_TILES.write(&dir).unwrap(), Written::New);
    let before = scratch.content();
    assert_eq!(before.len(), 3 + DENSE_TILES.signed.manifest().tiles.len());

    let opened = Directory::open(&dir, &key().public()).unwrap();
    let places = opened.places().unwrap();
    assert_eq!(places.coords(), DENSE.coords);
    let members = opened.manifest().members(&places).unwrap();
    let tile = opened.tile(1, &members[1]).unwrap();
    assert_eq!(tile.row(tile.places[0]), DENSE.row(tile.places[0]));

    assert_eq!(DENSE_TILES.write(&dir).unwrap(), Written::Already(today()));
    let later = "2027-01-01".parse().unwrap();
    let later = publish(&DENSE, FINGERPRINT, Some(FEW), first(later), &key(), &()).unwrap();
    assert_eq!(later.write(&dir).unwrap(), Written::Already(today()));

    let other_key = SecretKey::from_seed([2; 32]).unwrap();
    let others = [
        published(&DENSE, Some(2 * FEW)),
        publish(&DENSE, Digest([8; 32]), Some(FEW), first(today()), &key(), &()).unwrap(),
        publish(&DENSE, FINGERPRINT, Some(FEW), first(today()), &other_key, &()).unwrap(),
    ];
    for other in others {
        let error = other.write(&dir).unwrap_err();
        assert!(matches!(error, PublishError::Occupied { .. }), "{error}");
    }
    assert_eq!(scratch.content(), before, "nothing changed, nothing left behind");

    let victim = dir.join(DENSE_TILES.signed.manifest().tile_path(0).unwrap());
    std::fs::write(&victim, b"damaged").unwrap();
    let error = DENSE_TILES.write(&dir).unwrap_err();
    assert!(error.to_string().contains("damaged"), "{error}");
    assert!(matches!(
        opened.tile(0, &members[0]),
        Err(PublishError::Tiles(TileError::Truncated { .. }))
    ));
}

#[test]
fn nothing_is_left_behind_on_failure() {
    let scratch = Scratch::new("failure");
    assert!(DENSE_TILES.write(&scratch.0.join("absent/tiles")).is_err());
    assert!(DENSE_TILES.write(Path::new("/")).is_err());
    // A file in the way, and a file where the temporary directory would be.
    std::fs::write(scratch.0.join("file"), b"mine").unwrap();
    assert!(matches!(
        DENSE_TILES.write(&scratch.0.join("file")),
        Err(PublishError::Occupied { .. })
    ));
    let part = scratch.0.join(format!(".tiles.{}.part", std::process::id()));
    std::fs::write(&part, b"mine").unwrap();
    assert!(matches!(DENSE_TILES.write(&scratch.0.join("tiles")), Err(PublishError::Io { .. })));
    let content = scratch.content();
    assert_eq!(content.len(), 2);
    assert!(content.iter().all(|(_, bytes)| bytes == b"mine"));
}

#[test]
fn keys_are_kept_for_their_owner() {
    let scratch = Scratch::new("keys");
    let path = scratch.0.join("operator.key");
    let secret = SecretKey::generate().unwrap();
    save_new_key(&secret, &path).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let before = std::fs::read(&path).unwrap();
    assert!(matches!(
        save_new_key(&SecretKey::generate().unwrap(), &path),
        Err(PublishError::Key(_))
    ));
    assert_eq!(std::fs::read(&path).unwrap(), before);
    let opened = open_key(&path).unwrap();
    assert_eq!(opened.public(), secret.public());
    assert_eq!(opened.sign(b"tile"), secret.sign(b"tile"));
    let text = secret.public().to_string();
    assert_eq!(text.parse::<PublicKey>().unwrap(), secret.public());
    let seed = String::from_utf8(before).unwrap().lines().nth(1).unwrap().to_owned();
    assert!(!format!("{secret:?}").contains(&seed), "a secret was printed");

    for bad in ["", "ed25519:", "ed25519:00", &text[8..], &format!("ed25519:{}", "0".repeat(64))] {
        assert!(bad.parse::<PublicKey>().is_err(), "{bad} was accepted");
    }
    std::fs::write(&path, "not a key\n").unwrap();
    assert!(matches!(open_key(&path), Err(PublishError::Key(_))));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        let error = open_key(&path).unwrap_err().to_string();
        assert!(error.contains("read by others"), "{error}");
    }
}
