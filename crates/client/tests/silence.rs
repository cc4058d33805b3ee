//! What leaves the device: captured on a real socket.

mod common;

use common::proxy::Proxy;
use common::{InMemory, client, rehearsing, service};
use lrgeo_client::draws::Rehearsal;
use lrgeo_client::{ClientError, Described, Mode, offload};
use lrgeo_geo::Digest;
use lrgeo_geo::PlaceId;
use lrgeo_mechanism::relevant::{geo_ind_graph, relevant_places};
use lrgeo_protocol::encoding::Encoding;
use lrgeo_protocol::offload::Join;
use lrgeo_protocol::public::Range;

/// Everything a client with a new state sends for somebody near a place who reports `forced`.
fn traffic(place: u32, mode: Mode, forced: u32) -> Vec<Vec<u8>> {
    let service = service();
    let proxy = Proxy::honest(&service.address);
    let outcome = rehearsing(&proxy.address, [forced]).obfuscate(service.near(place), mode);
    assert_eq!(outcome.unwrap().report, PlaceId::new(forced));
    proxy.sent()
}

#[test]
fn where_all_tiles_are_fetched_all_places_make_the_same_bytes() {
    let service = service();
    let places = service.catalogue.city.places() as u32;
    let tiles = service.manifest.tiles.len();
    for mode in [Mode::Published, Mode::Local] {
        let forced = 1;
        let first = traffic(0, mode, forced);
        // Manifest, signature, places, perhaps the description, every tile, the report, targets.
        assert_eq!(first.len(), tiles + if mode == Mode::Local { 6 } else { 5 }, "{mode}");
        for place in (0..places).step_by(19) {
            let bytes = traffic(place, mode, forced);
            assert!(bytes == first, "{mode}: place {place} sends something else");
        }
        // The comparison can fail: another report does not make the same bytes.
        assert_ne!(traffic(0, mode, 2), first);
    }
}

/// The same for somebody who fetches few tiles.
fn frugal(place: u32, mode: Mode, seed: u64) -> Vec<Vec<u8>> {
    let service = service();
    let proxy = Proxy::honest(&service.address);
    let mut kept = InMemory::default().reopen();
    kept.state.policy.fetch_all_bytes = 0;
    kept.state.policy.least_likely_places = 20.0;
    let draws = Rehearsal::seeded(seed).forced([PlaceId::new(1)]);
    client(&proxy.address, kept, draws).obfuscate(service.near(place), mode).unwrap();
    proxy.sent()
}

#[test]
fn places_of_one_tile_make_the_same_bytes() {
    let service = service();
    let tile = service.tile();
    let others = (0..service.catalogue.city.places() as u32).find(|place| !tile.contains(place));
    let other = others.expect("there are several tiles");
    for mode in [Mode::Published, Mode::Local] {
        let first = frugal(tile[0], mode, 7);
        assert!(first.len() < traffic(tile[0], mode, 1).len(), "{mode}: fewer than all");
        for &place in tile.iter().step_by(tile.len() / 6) {
            assert!(frugal(place, mode, 7) == first, "{mode}: place {place} sends something else");
        }
        // The comparison can fail: another tile and other draws do not make the same bytes.
        assert_ne!(frugal(other, mode, 7), first);
        assert!((8..20).any(|seed| frugal(tile[0], mode, seed) != first));
    }
}

#[test]
fn headers_are_fixed() {
    let service = service();
    for bytes in traffic(service.tile()[0], Mode::Published, 3) {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let head = text.split("\r\n\r\n").next().unwrap();
        let mut names: Vec<String> =
            head.lines().skip(1).map(|l| l.split(':').next().unwrap().to_lowercase()).collect();
        names.retain(|name| !["content-type", "content-length"].contains(&name.as_str()));
        names.sort();
        assert_eq!(names, ["accept", "host", "user-agent"], "{head}");
        assert!(head.to_lowercase().contains("user-agent: lrgeo\r\n"), "{head}");
    }
}

/// How a coordinate could be written down.
fn spellings(value: f64) -> Vec<Vec<u8>> {
    let texts =
        [format!("{value}"), format!("{value:.5}"), format!("{value:.6}"), format!("{value:.7}")];
    let degrees = texts.into_iter().map(String::into_bytes);
    let (radians, single) = (value.to_radians(), value as f32);
    let numbers = [value, radians]
        .into_iter()
        .flat_map(|v| [v.to_le_bytes().to_vec(), v.to_be_bytes().to_vec()]);
    let singles = [single.to_le_bytes().to_vec(), single.to_be_bytes().to_vec()];
    degrees.chain(numbers).chain(singles).collect()
}

fn contains(bytes: &[u8], what: &[u8]) -> bool {
    bytes.windows(what.len()).any(|window| window == what)
}

#[test]
fn the_coordinates_given_never_leave() {
    let service = service();
    for mode in [Mode::Published, Mode::Local, Mode::Offload] {
        let place = service.tile()[9];
        let at = service.near(place);
        let sent = traffic(place, mode, 3).concat();
        for value in [at.lat(), at.lon(), at.lat().abs(), at.lon().abs()] {
            for spelling in spellings(value) {
                assert!(!contains(&sent, &spelling), "{mode}: a coordinate was sent");
            }
        }
        // What is sent can be found: the version of the map in the report.
        assert!(contains(&sent, service.catalogue.map().to_string().as_bytes()));
    }
}

/// The uploads for one place by clients with different randomness.
fn uploads(place: u32, seeds: std::ops::Range<u64>) -> Vec<Join> {
    let service = service();
    let upload = |seed| {
        let proxy = Proxy::honest(&service.address);
        let kept = InMemory::default().reopen();
        let mut phone = client(&proxy.address, kept, Rehearsal::seeded(seed));
        phone.obfuscate(service.near(place), Mode::Offload).unwrap();
        let sent = proxy.sent();
        let join = sent.iter().find(|bytes| bytes.starts_with(b"POST /v1/rounds ")).unwrap();
        let body = join.windows(4).position(|w| w == b"\r\n\r\n").unwrap() + 4;
        Encoding::Cbor.decode::<Join>(&join[body..]).unwrap()
    };
    seeds.map(upload).collect()
}

#[test]
fn rows_of_an_upload_come_in_random_order() {
    let place = service().tile()[9];
    let uploads = uploads(place, 0..6);
    let width = uploads[0].columns.len();
    // The place of a row is the column at no distance from it.
    let row_places = |join: &Join| -> Vec<PlaceId> {
        let nearest = |row: &[f64]| join.columns[row.iter().position(|km| *km == 0.0).unwrap()];
        join.towards.chunks(width).map(nearest).collect()
    };
    let mut firsts: Vec<PlaceId> = uploads.iter().map(|join| row_places(join)[0]).collect();
    firsts.sort_unstable();
    firsts.dedup();
    assert!(firsts.len() >= 4, "the first row is nearly always the same: {firsts:?}");
    for join in &uploads {
        assert_eq!(join.columns, uploads[0].columns);
        let places = row_places(join);
        let mut sorted = places.clone();
        sorted.sort_unstable();
        let mut expected = row_places(&uploads[0]);
        expected.sort_unstable();
        assert_eq!(sorted, expected, "the same places, whatever their order");
        // The three matrices were shuffled alike.
        for (i, row) in join.towards.chunks(width).enumerate() {
            for (j, other) in places.iter().enumerate() {
                let column = join.columns.binary_search(other).unwrap();
                assert_eq!(join.between[i * places.len() + j], row[column]);
            }
            let known = row_places(&uploads[0]).iter().position(|p| *p == places[i]).unwrap();
            let cost = &uploads[0].cost[known * width..(known + 1) * width];
            assert_eq!(&join.cost[i * width..(i + 1) * width], cost);
        }
    }
}

#[test]
fn a_failed_round_is_asked_for_again_around_the_same_centre() {
    let service = service();
    let place = service.tile()[9];
    let memory = InMemory::default();
    let mut circles = Vec::new();
    for seed in 0..5 {
        let busy = Proxy::lying(&service.address, |path, reply| {
            if path == "/v1/rounds" {
                reply.status = "HTTP/1.1 503 Service Unavailable".into();
            }
        });
        let mut phone = client(&busy.address, memory.reopen(), Rehearsal::seeded(seed));
        let refused = phone.obfuscate(service.near(place), Mode::Offload);
        assert!(matches!(refused, Err(ClientError::Transport(_))));
        let lines = busy.lines().into_iter().filter(|line| line.contains("/v1/table/circle"));
        circles.extend(lines);
    }
    assert_eq!(circles.len(), 5);
    assert!(circles.windows(2).all(|w| w[0] == w[1]), "{circles:?}");
}

/// Proposition 4.3: whichever relevant place is v_a, the circle holds everything that is needed.
#[test]
fn circles_cover_what_is_needed() {
    let service = service();
    let places = service.places();
    let ground = service.ground();
    for range in [Range::Each, Range::Own] {
        let mut description = service.catalogue.description.clone();
        description.parameters.range = range;
        let bytes = Encoding::Cbor.encode(&description);
        let mut manifest = service.manifest.clone();
        manifest.description = Some(Digest::of(&bytes));
        let described = Described::open(&bytes, &manifest, &places).unwrap();
        let graph = geo_ind_graph(&described.geography, &described.plan);
        let (mut tried, mut short) = (0, 0);
        for user in (0..described.geography.places() as u32).step_by(13) {
            let place = ground.locate(service.near(user)).unwrap();
            let relevant = relevant_places(
                &described.geography,
                graph.as_deref(),
                &described.plan,
                PlaceId::new(user),
            );
            for v_a in relevant {
                let circle = offload::circle(&described, v_a);
                let table = service.catalogue.circle(&circle).unwrap();
                offload::prepare(&described, &place, table, &mut Rehearsal::seeded(1))
                    .map(|upload| assert!(upload.join.columns.contains(&PlaceId::new(user))))
                    .unwrap_or_else(|error| panic!("{range:?}: {error}"));
                // A smaller circle does not do: the test can fail.
                let small =
                    lrgeo_protocol::offload::Circle { radius_km: 0.7 * circle.radius_km, ..circle };
                let table = service.catalogue.circle(&small).unwrap();
                tried += 1;
                short += usize::from(
                    offload::prepare(&described, &place, table, &mut Rehearsal::seeded(1)).is_err(),
                );
            }
        }
        assert!(tried > 100 && short > 0, "{range:?}: {short} of {tried}");
    }
}
