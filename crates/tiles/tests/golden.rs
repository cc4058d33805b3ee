//! Golden vectors of everything that is published, and their malformed twins, each with the error that it must give.

#[path = "golden/city.rs"]
mod city;
#[path = "golden/files.rs"]
mod files;
#[path = "golden/manifests.rs"]
mod manifests;
#[path = "golden/twin.rs"]
mod twin;

use city::PLACES;
use files::golden;
use lrgeo_geo::PlaceId;
use lrgeo_tiles::{Digest, FileEntry, Manifest, Places, Tile, TileError, check_rows, encode_noise};
use twin::{Twin, one_bit_off};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden");

/// What a test says about an error: its variant, and the file and field at fault.
fn kind(error: &TileError) -> String {
    match error {
        TileError::Signature => "signature".into(),
        TileError::OtherFormat { file, .. } => format!("other format: {file}"),
        TileError::OtherMap { file, .. } => format!("other map: {file}"),
        TileError::Older { .. } => "older".into(),
        TileError::HashMismatch { file, .. } => format!("hash: {file}"),
        TileError::Truncated { file, .. } => format!("truncated: {file}"),
        TileError::Malformed { file, field, .. } => format!("{file}: {field}"),
        TileError::NotPrivate { .. } => "not private".into(),
        other => format!("{other:?}"),
    }
}

/// Each twin gives the error that stands beside it.
fn refused<T>(twins: &[(Twin, &str)], bytes: &[u8], open: impl Fn(&[u8]) -> Result<T, TileError>) {
    for (at, (twin, expected)) in twins.iter().enumerate() {
        match open(&twin.of(bytes)) {
            Ok(_) => panic!("twin {at}, `{expected}`, was accepted"),
            Err(error) => assert_eq!(kind(&error), *expected, "twin {at}: {error}"),
        }
    }
}

/// Whatever is accepted of the twins that differ in one bit is written back as it was read: no two files mean the same.
fn one_spelling(bytes: &[u8], rewrite: impl Fn(&[u8]) -> Option<Vec<u8>>) {
    for twin in one_bit_off(bytes) {
        if let Some(written) = rewrite(&twin) {
            assert!(written == twin, "two spellings of one file");
        }
    }
}

fn the_places() -> Places {
    city::manifest().open_places(&city::places()).expect("places")
}

#[test]
fn the_list_of_places() {
    let kept = golden(FOLDER, "places.hex", &city::places());
    let read = city::manifest().open_places(&kept).unwrap();
    assert_eq!((read.coords(), read.prior()), (&*city::coords(), &*city::prior()));

    // magic 0, version 8, map 12, count 44, then latitude, longitude and prior from 48 on.
    let signed_for = |bytes: &[u8]| {
        let places =
            FileEntry { hash: Digest::of(bytes), bytes: bytes.len() as u64, places: PLACES };
        Manifest { places, ..city::manifest() }.open_places(bytes)
    };
    let twins = [
        (Twin::Cut(0), "places: beginning"),
        (Twin::Cut(7), "places: beginning"),
        (Twin::Put(0, b"LRTILE\r\n".to_vec()), "places: beginning"),
        (Twin::Cut(11), "places: format version"),
        (Twin::word(8, 2), "other format: places"),
        (Twin::word(8, 4), "other format: places"),
        (Twin::Cut(43), "places: map version"),
        (Twin::Put(12, vec![0; 32]), "other map: places"),
        (Twin::Cut(47), "places: count"),
        (Twin::word(44, PLACES + 1), "places: coordinates"),
        (Twin::word(44, u32::MAX), "places: coordinates"),
        (Twin::word(44, PLACES - 1), "places: end"),
        (Twin::Cut(kept.len() - 1), "places: coordinates"),
        (Twin::More(vec![0]), "places: end"),
        (Twin::number(48, f64::NAN), "places: coordinates"),
        (Twin::number(48, 90.5), "places: coordinates"),
        (Twin::number(56, f64::INFINITY), "places: coordinates"),
        (Twin::number(56, -181.0), "places: coordinates"),
        // The second where the first is.
        (Twin::Put(72, kept[48..64].to_vec()), "places: coordinates"),
        (Twin::number(64, f64::NAN), "places: prior"),
        (Twin::number(64, -0.1), "places: prior"),
        (Twin::number(64, f64::INFINITY), "places: prior"),
    ];
    refused(&twins, &kept, signed_for);
    let nobody = Places::encode(city::map(), &city::coords(), &[0.0; PLACES as usize]);
    assert_eq!(kind(&signed_for(&nobody).unwrap_err()), "places: prior");
    let fewer = Places::encode(city::map(), &city::coords()[1..], &city::prior()[1..]);
    assert_eq!(kind(&signed_for(&fewer).unwrap_err()), "places: count");

    let open = |bytes: &[u8]| city::manifest().open_places(bytes);
    refused(
        &[(Twin::Cut(100), "truncated: places"), (Twin::More(vec![7]), "hash: places")],
        &kept,
        open,
    );
    one_bit_off(&kept).for_each(|twin| assert_eq!(kind(&open(&twin).unwrap_err()), "hash: places"));
    let rewrite = |places: Places| Places::encode(city::map(), places.coords(), places.prior());
    one_spelling(&kept, |twin| signed_for(twin).ok().map(rewrite));
}

/// A tile that the manifest speaks of by hash, whatever it says.
fn open_tile(bytes: &[u8]) -> Result<Tile, TileError> {
    Tile::open(bytes, Digest::of(bytes))
}

#[test]
fn a_tile_with_all_entries() {
    let kept = golden(FOLDER, "tile-all.hex", &city::tile(0).encode());
    let read = city::manifest().open_tile(0, &[0, 1, 2, 3, 4, 5].map(PlaceId::new), &kept).unwrap();
    assert_eq!(read, city::tile(0));

    // magic 0, version 8, map 12, mechanism 44, columns 76, rows 80, places 84, marks 108, tails 110, encoding 158, values 162.
    let off = |at: usize, by: f64| {
        let old = f64::from_le_bytes(kept[at..at + 8].try_into().expect("eight bytes"));
        Twin::number(at, old + by)
    };
    let twins = [
        (Twin::Cut(0), "tile: beginning"),
        (Twin::Put(0, b"LRPLACES".to_vec()), "tile: beginning"),
        (Twin::Put(6, b"\n".to_vec()), "tile: beginning"),
        (Twin::Cut(9), "tile: format version"),
        (Twin::word(8, 2), "other format: tile"),
        (Twin::word(8, u32::MAX), "other format: tile"),
        (Twin::Cut(43), "tile: map version"),
        (Twin::Cut(75), "tile: mechanism"),
        (Twin::Cut(79), "tile: map's places"),
        (Twin::word(76, 5), "tile: places"),
        (Twin::word(76, u32::MAX), "tile: present columns"),
        (Twin::Cut(83), "tile: number of places"),
        (Twin::word(80, 0), "tile: number of places"),
        (Twin::word(80, 2_001), "tile: number of places"),
        (Twin::word(80, u32::MAX), "tile: number of places"),
        (Twin::word(80, 2_000), "tile: places"),
        (Twin::Cut(107), "tile: places"),
        (Twin::word(84, 1), "tile: places"),
        (Twin::word(84, 9), "tile: places"),
        (Twin::word(104, PLACES), "tile: places"),
        (Twin::Cut(109), "tile: present columns"),
        (Twin::Put(109, vec![0xff]), "tile: present columns"),
        // One column less: values are left over.
        (Twin::Put(109, vec![0x03]), "tile: padding"),
        // One more: there are too few.
        (Twin::Put(109, vec![0x0f]), "tile: values"),
        (Twin::Cut(157), "tile: tails"),
        (Twin::number(110, f64::NAN), "tile: rows"),
        (Twin::number(110, -1e-300), "tile: rows"),
        (Twin::Cut(161), "tile: encoding"),
        (Twin::word(158, 2), "tile: encoding"),
        (Twin::word(158, 1), "tile: columns"),
        (Twin::Cut(kept.len() - 1), "tile: values"),
        (Twin::number(162, f64::NAN), "tile: rows"),
        (Twin::number(162, f64::INFINITY), "tile: rows"),
        (Twin::number(162, -0.25), "tile: rows"),
        (off(162, 1e-8), "tile: rows"),
        (off(kept.len() - 8, -1e-8), "tile: rows"),
        (Twin::More(vec![0, 1]), "tile: padding"),
    ];
    refused(&twins, &kept, open_tile);
    // Tiles are padded to few sizes; more zeros are no other tile.
    assert_eq!(open_tile(&Twin::More(vec![0; 64]).of(&kept)).unwrap(), city::tile(0));
    one_spelling(&kept, |twin| open_tile(twin).ok().map(|tile| tile.encode()));
}

#[test]
fn a_tile_with_listed_entries() {
    let kept = golden(FOLDER, "tile-listed.hex", &city::tile(1).encode());
    let read =
        city::manifest().open_tile(1, &[6, 7, 8, 9, 10, 11].map(PlaceId::new), &kept).unwrap();
    assert_eq!(read, city::tile(1));

    // As above up to the encoding at 158, then row lengths from 162, columns from 186, values.
    let lengths = read.rows.column.len();
    let values = 186 + 4 * lengths;
    let twins = [
        (Twin::Cut(185), "tile: row lengths"),
        (Twin::word(162, u32::MAX), "tile: columns"),
        (Twin::Cut(values - 1), "tile: columns"),
        (Twin::Cut(values + 3), "tile: values"),
        // Out of order, doubled, never reported, not on the map.
        (Twin::word(186, read.rows.column[1] + 1), "tile: rows"),
        (Twin::word(186, read.rows.column[1]), "tile: rows"),
        (Twin::word(186 + 4 * (lengths - 1), 11), "tile: rows"),
        (Twin::word(186 + 4 * (lengths - 1), PLACES), "tile: rows"),
        (Twin::number(110, 0.0), "tile: rows"),
        (Twin::number(110, f64::INFINITY), "tile: rows"),
        (Twin::number(values, f64::NAN), "tile: rows"),
        (Twin::More(vec![1]), "tile: padding"),
    ];
    refused(&twins, &kept, open_tile);
    one_spelling(&kept, |twin| open_tile(twin).ok().map(|tile| tile.encode()));
}

#[test]
fn tiles_are_those_of_the_manifest_and_keep_its_promise() {
    let manifest = city::manifest();
    let members = manifest.members(&the_places()).unwrap();
    let files = [0, 1].map(|number| city::tile(number).encode());
    let open = |tile: usize, bytes: &[u8]| manifest.open_tile(tile, &members[tile], bytes);
    refused(
        &[(Twin::Cut(500), "truncated: tile"), (Twin::More(vec![0]), "hash: tile")],
        &files[0],
        |b| open(0, b),
    );
    one_bit_off(&files[0])
        .for_each(|twin| assert_eq!(kind(&open(0, &twin).unwrap_err()), "hash: tile"));
    assert_eq!(kind(&manifest.open_tile(2, &[], &files[1]).unwrap_err()), "tile: number");

    // Signed for, and yet of another map or mechanism, or with other places.
    let signed_for = |tile: &Tile| {
        let bytes = tile.encode();
        let mut manifest = city::manifest();
        manifest.tiles[0].hash = Digest::of(&bytes);
        manifest.tiles[0].bytes = bytes.len() as u64;
        kind(&manifest.open_tile(0, &members[0], &bytes).unwrap_err())
    };
    let other = Digest::of(b"another");
    assert_eq!(signed_for(&Tile { map: other, ..city::tile(0) }), "other map: tile");
    assert_eq!(signed_for(&Tile { mechanism: other, ..city::tile(0) }), "tile: mechanism");
    assert_eq!(signed_for(&city::tile(1)), "tile: places");
    let mut wider = city::tile(0);
    wider.rows.present.push(false);
    assert_eq!(signed_for(&wider), "tile: number of places");

    let tiles = [0, 1].map(city::tile);
    let guarantee = manifest.guarantee().unwrap();
    check_rows(&tiles, &the_places(), &guarantee).unwrap();
    let mut swapped = tiles.clone();
    swapped[0].places.swap(0, 5);
    let error = check_rows(&swapped, &the_places(), &guarantee).unwrap_err();
    assert_eq!(kind(&error), "not private");
}

#[test]
fn the_noise_for_coordinates() {
    let places = the_places();
    let kept = golden(FOLDER, "noise.hex", &city::noise_file());
    let (read, proven) = city::manifest().open_noise(&kept, &places).unwrap();
    assert_eq!(read, city::noise());
    assert!(1.25 < proven && proven < 1.5, "{proven}");

    // magic 0, version 8, map 12, rate 44, centre 52, area 68, spacing 100, tip 108, first 116, squares 132, side 140, reports 144.
    let signed_for = |bytes: &[u8]| {
        let noise =
            FileEntry { hash: Digest::of(bytes), bytes: bytes.len() as u64, places: PLACES };
        Manifest { noise: Some(noise), ..city::manifest() }.open_noise(bytes, &places)
    };
    let twins = [
        (Twin::Cut(3), "noise: beginning"),
        (Twin::Put(7, vec![b'2']), "noise: beginning"),
        (Twin::word(8, 2), "other format: noise"),
        (Twin::Cut(40), "noise: map version"),
        (Twin::Put(12, vec![0]), "other map: noise"),
        (Twin::Cut(131), "noise: numbers"),
        (Twin::number(44, f64::NAN), "noise: numbers"),
        (Twin::number(44, -1.25), "noise: numbers"),
        // Sharper noise than what was promised.
        (Twin::number(44, 1.75), "noise: rate"),
        (Twin::number(52, 91.0), "noise: centre"),
        (Twin::number(60, f64::NAN), "noise: centre"),
        (Twin::number(68, 9.0), "noise: numbers"),
        (Twin::number(68, f64::NEG_INFINITY), "noise: numbers"),
        // People beyond the outcomes.
        (Twin::number(68, -21.0), "noise: numbers"),
        (Twin::number(100, 0.0), "noise: numbers"),
        (Twin::number(100, f64::NAN), "noise: numbers"),
        (Twin::number(108, -1.0), "noise: numbers"),
        // A tip so sharp that nothing can be proven.
        (Twin::number(108, 1e-9), "noise: numbers"),
        (Twin::number(116, 1e300), "noise: numbers"),
        (Twin::number(116, f64::NAN), "noise: numbers"),
        (Twin::number(116, -319.5), "noise: numbers"),
        (Twin::Cut(143), "noise: counts"),
        (Twin::word(132, u32::MAX), "noise: reports"),
        (Twin::word(132, 0), "noise: end"),
        (Twin::word(140, 0), "noise: numbers"),
        (Twin::word(140, u32::MAX), "noise: numbers"),
        (Twin::word(144, PLACES), "noise: numbers"),
        (Twin::Cut(kept.len() - 4), "noise: reports"),
        (Twin::More(vec![0; 4]), "noise: end"),
    ];
    refused(&twins, &kept, signed_for);

    let open = |bytes: &[u8]| city::manifest().open_noise(bytes, &places);
    refused(
        &[(Twin::Cut(200), "truncated: noise"), (Twin::More(vec![0]), "hash: noise")],
        &kept,
        open,
    );
    let none = Manifest { noise: None, ..city::manifest() };
    let error = none.open_noise(&kept, &places).unwrap_err();
    assert_eq!(kind(&error), "manifest: noise");
    one_spelling(&kept, |twin| {
        signed_for(twin).ok().map(|(noise, _)| encode_noise(city::map(), &noise))
    });
}
