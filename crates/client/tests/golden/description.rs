//! The description of a map and slices of its cost table, for the golden city of `tiles`: a phone makes a report of them, and of no malformed twin.

use std::collections::HashMap;
use std::time::Duration;

use lrgeo_client::draws::Rehearsal;
use lrgeo_client::policy::Protects;
use lrgeo_client::state::State;
use lrgeo_client::transport::{Answer, TransportError};
use lrgeo_client::{Caught, ClientError, Described, Lie, Mode, Outcome, Phone, Step};
use lrgeo_geo::PlaceId;
use lrgeo_protocol::encoding::Encoding;
use lrgeo_protocol::public::{
    Local, MapDescription, Parameters, PublicFile, Range, Received, Rounds, TablePart, TableTile,
    WayDescription,
};
use lrgeo_protocol::quiet::Request;
use lrgeo_protocol::{Digest, VERSION, path};
use lrgeo_tiles::{Manifest, SignedManifest};

use super::files::golden;
use super::{FOLDER, city};

fn slice(tile: u32) -> TableTile {
    let cells: Vec<u32> = (0..city::PLACES).collect();
    let pairs = cells.iter().flat_map(|&row| cells.iter().map(move |&column| (row, column)));
    let beta = pairs.map(|(row, column)| f64::from(row.abs_diff(column))).collect();
    let ways = vec![TablePart { rows: cells.clone(), columns: cells, beta }];
    TableTile { map: city::map(), tile, ways }
}

fn description(slices: &[Vec<u8>]) -> MapDescription {
    let places = city::PLACES as usize;
    let file = |bytes: &Vec<u8>| PublicFile { hash: Digest::of(bytes), bytes: bytes.len() as u64 };
    MapDescription {
        protocol: VERSION,
        map: city::map(),
        parameters: Parameters {
            epsilon_per_km: 1.5,
            gamma_km: None,
            relevant_km: 20.0,
            relevant_max: None,
            exponential_km: 20.0,
            obfuscation_km: 20.0,
            range: Range::Each,
            alike: None,
        },
        ways: vec![WayDescription {
            name: "drive".into(),
            share: 1.0,
            cell_km: 0.125,
            cells: (0..city::PLACES).collect(),
            offsets: vec![0.0625; places],
        }],
        ceiling: 12.5,
        local: Some(Local {
            y: vec![0.0078125; places],
            cost: 1.25,
            lower_bound: 1.125,
            table_tiles: slices.iter().map(file).collect(),
        }),
        rounds: Rounds { users: 4, window_seconds: 2.0, keep_seconds: 600.0, most_relevant: 80 },
    }
}

/// The golden files: two slices and the description that names them.
fn kept() -> (Vec<Vec<u8>>, Vec<u8>) {
    let read = |tile: u32| {
        let name = format!("slice-{tile}.cbor.hex");
        let bytes = golden(FOLDER, &name, &Encoding::Cbor.encode(&slice(tile)));
        assert_eq!(Encoding::Cbor.decode::<TableTile>(&bytes).unwrap(), slice(tile));
        bytes
    };
    let slices: Vec<Vec<u8>> = [0, 1].map(read).to_vec();
    let said = description(&slices);
    let bytes = golden(FOLDER, "description.cbor.hex", &Encoding::Cbor.encode(&said));
    assert_eq!(Encoding::Cbor.decode::<MapDescription>(&bytes).unwrap(), said);
    (slices, bytes)
}

/// The manifest that speaks of this description.
fn manifest(description: &[u8]) -> Manifest {
    Manifest { description: Some(Digest::of(description)), ..city::manifest() }
}

/// What a phone in the middle of the city makes of these files.
fn report(slices: &[Vec<u8>], description: &[u8]) -> Result<Outcome, ClientError> {
    let signed = SignedManifest::sign(&manifest(description), &city::keys()[0]).unwrap();
    let sealed = signed.envelope().clone();
    let named = |folder: &str, bytes: Vec<u8>| (path::file(folder, Digest::of(&bytes)), bytes);
    let mut files = HashMap::from([
        (path::MANIFEST.to_owned(), sealed.bytes),
        (path::SIGNATURE.to_owned(), sealed.signature),
        (path::MAP.to_owned(), description.to_vec()),
        named(path::PLACES, city::places()),
    ]);
    files.extend(slices.iter().map(|bytes| named(path::TABLE_TILES, bytes.clone())));
    let mut state = State::default();
    state.policy.protects = Protects::RelevantPlaces;
    state.policy.least_likely_places = 5.0;
    let clock = || Duration::from_secs(1_800_003_600);
    let mut phone = Phone::rehearse("http://golden", state, clock, Rehearsal::seeded(1));
    let at = city::coords()[4].offset_km(0.1, 0.1);
    let mut steps = phone.obfuscate(at, Mode::Local);
    loop {
        match steps.next() {
            Step::Ask { request: Request::Report(_), .. } => {
                let body = Encoding::Cbor.encode(&Received { reports: 1 });
                steps.answer(Ok(Answer { body, key: None }));
            }
            Step::Ask { request, .. } => {
                let key = Some(city::keys()[0].public().to_string());
                let body = files.get(&request.path()).cloned();
                let missing = TransportError::Status { status: 404 };
                steps.answer(body.map(|body| Answer { body, key }).ok_or(missing));
            }
            Step::Keep(_) => steps.kept(Ok(())),
            Step::Done(outcome) => return *outcome,
        }
    }
}

/// What a test says about a lie: where it stands and, of content, in which field.
fn kind(lie: &Lie) -> String {
    let field = lie.offered.split(' ').next().unwrap_or_default();
    match lie.caught {
        Caught::Bytes => format!("other bytes: {}", lie.what),
        Caught::Version => format!("other map: {}", lie.what),
        Caught::Content => format!("{}: {field}", lie.what),
        _ => format!("{lie:?}"),
    }
}

#[test]
fn a_phone_makes_a_report_of_the_golden_files() {
    let (slices, description) = kept();
    let outcome = report(&slices, &description).unwrap();
    assert!(outcome.epsilon_per_km <= 1.5 && outcome.report < PlaceId::new(city::PLACES));
}

#[test]
fn malformed_descriptions_are_refused() {
    type Change = fn(&mut MapDescription);
    let twins: [(Change, &str); 22] = [
        (|d| d.protocol = 1, "protocol"),
        (|d| d.protocol = 3, "protocol"),
        (|d| d.ways.clear(), "ways"),
        (|d| d.ceiling = f64::NAN, "ways"),
        (|d| d.ceiling = -1.0, "ways"),
        (|d| d.ways[0].cells.truncate(11), "ways"),
        (|d| d.ways[0].offsets.push(0.0), "ways"),
        (|d| d.ways[0].offsets[3] = f64::INFINITY, "ways"),
        (|d| d.ways[0].offsets[3] = -0.1, "ways"),
        (|d| d.ways[0].cell_km = f64::NAN, "ways"),
        (|d| d.ways[0].share = 0.0, "ways"),
        (|d| d.local.as_mut().unwrap().y.truncate(11), "y"),
        (|d| d.local.as_mut().unwrap().y[0] = f64::NAN, "y"),
        (|d| d.local.as_mut().unwrap().y[0] = -1e-9, "y"),
        (|d| d.parameters.epsilon_per_km = 0.0, "parameters"),
        (|d| d.parameters.epsilon_per_km = f64::NAN, "parameters"),
        (|d| d.parameters.gamma_km = Some(-1.0), "parameters"),
        (|d| d.parameters.relevant_km = f64::INFINITY, "parameters"),
        (|d| d.parameters.exponential_km = f64::NAN, "parameters"),
        (|d| d.parameters.obfuscation_km = -1.0, "parameters"),
        (|d| d.parameters.relevant_max = Some(0), "parameters"),
        (|d| d.parameters.alike = Some(0), "parameters"),
    ];
    let (slices, kept) = kept();
    let places = city::manifest().open_places(&city::places()).unwrap();
    let open = |bytes: &[u8], manifest: &Manifest| {
        Described::open(bytes, manifest, &places).err().map(|lie| kind(&lie))
    };
    assert_eq!(open(&kept, &manifest(&kept)), None);
    for (at, (change, field)) in twins.into_iter().enumerate() {
        let mut twin = description(&slices);
        change(&mut twin);
        let bytes = Encoding::Cbor.encode(&twin);
        let expected = format!("map description: {field}");
        assert_eq!(open(&bytes, &manifest(&bytes)), Some(expected), "twin {at}");
    }
    let mut other = description(&slices);
    other.map = Digest([0; 32]);
    let bytes = Encoding::Cbor.encode(&other);
    assert_eq!(open(&bytes, &manifest(&bytes)).unwrap(), "other map: map description");
    assert_eq!(open(&kept, &city::manifest()).unwrap(), "other bytes: map description");
    for bytes in [&kept[..kept.len() - 1], &[&kept[..], &[0]].concat()] {
        let expected = "map description: message";
        assert_eq!(open(bytes, &manifest(bytes)).unwrap(), expected);
    }
}

#[test]
fn malformed_slices_are_refused() {
    type Change = fn(&mut TableTile);
    const WHAT: &str = "slice of the cost table";
    let twins: [(Change, &str); 11] = [
        (|s| s.map = Digest([0; 32]), "other map"),
        (|s| s.tile = 1, "tile"),
        (|s| s.ways.clear(), "ways"),
        (|s| s.ways.push(s.ways[0].clone()), "ways"),
        (|s| s.ways[0].rows.swap(0, 1), "cells"),
        (|s| s.ways[0].columns[1] = 0, "cells"),
        (|s| s.ways[0].rows[11] = 99, "cells"),
        (|s| s.ways[0].beta.truncate(143), "beta"),
        (|s| s.ways[0].beta[5] = f64::NAN, "beta"),
        (|s| s.ways[0].beta[5] = -0.5, "beta"),
        (|s| s.ways[0].beta[5] = f64::INFINITY, "beta"),
    ];
    let (slices, kept) = kept();
    let said = |own: Vec<u8>| {
        let slices = [own, slices[1].clone()];
        match report(&slices, &Encoding::Cbor.encode(&description(&slices))) {
            Err(ClientError::Lie(lie)) => kind(&lie),
            other => format!("{other:?}"),
        }
    };
    for (at, (change, field)) in twins.into_iter().enumerate() {
        let mut twin = slice(0);
        change(&mut twin);
        let expected = match field {
            "other map" => format!("other map: {WHAT}"),
            field => format!("{WHAT}: {field}"),
        };
        assert_eq!(said(Encoding::Cbor.encode(&twin)), expected, "twin {at}");
    }
    let whole = &slices[0];
    assert_eq!(said(whole[..whole.len() - 1].to_vec()), format!("{WHAT}: message"));
    assert_eq!(said([&whole[..], &[0]].concat()), format!("{WHAT}: message"));
    // Not the bytes that the description speaks of.
    let mut exchanged = slices.clone();
    exchanged[0][40] ^= 1;
    let missing = report(&exchanged, &kept).unwrap_err();
    assert!(matches!(missing, ClientError::Transport(_)), "{missing}");
}
