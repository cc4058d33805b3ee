//! Cities whose people go different ways, and classes of places that upload the same, over a real server.

mod common;

use common::proxy::Proxy;
use common::{InMemory, Scratch, Service, client, config, map, serve};
use lrgeo_client::draws::Rehearsal;
use lrgeo_client::{ClientError, Mode};
use lrgeo_geo::PlaceId;
use lrgeo_map::build::same_places;
use lrgeo_map::map::TravelMode;
use lrgeo_mechanism::alike::classes;
use lrgeo_protocol::encoding::Encoding;
use lrgeo_protocol::offload::Join;
use lrgeo_server::config::WaySettings;
use lrgeo_show::demo::demo_city;

/// A server for drivers and pedestrians.
fn mixed() -> Service {
    let scratch = Scratch::new("ways");
    let city = map(500.0, 100);
    let streets = demo_city(1).streets.used_by(TravelMode::Walk);
    let file = scratch.0.join("walk.lrmap");
    same_places(&city, streets, TravelMode::Walk).unwrap().save(&file).unwrap();
    let mut config = config();
    config.ways = vec![WaySettings { name: "walk".into(), file, share: 0.4 }];
    serve("ways", city, config)
}

/// What a phone sends whose owner goes like this and reports `forced`.
fn sent(
    service: &Service,
    place: u32,
    mode: Mode,
    by: &[(&str, f64)],
    forced: u32,
) -> Vec<Vec<u8>> {
    let proxy = Proxy::honest(&service.address);
    let going = by.iter().map(|(name, share)| ((*name).to_owned(), *share)).collect();
    let draws = Rehearsal::seeded(3).forced([PlaceId::new(forced)]);
    let mut phone = client(&proxy.address, InMemory::default().reopen(), draws).going(going);
    phone.obfuscate(service.near(place), mode).unwrap();
    proxy.sent()
}

fn upload(sent: &[Vec<u8>]) -> Join {
    let join = sent.iter().find(|bytes| bytes.starts_with(b"POST /v1/rounds ")).unwrap();
    let body = join.windows(4).position(|w| w == b"\r\n\r\n").unwrap() + 4;
    Encoding::Cbor.decode::<Join>(&join[body..]).unwrap()
}

#[test]
fn how_somebody_goes_changes_the_matrix_and_no_byte_of_what_local_sends() {
    let service = mixed();
    let ways: Vec<&str> =
        service.catalogue.description.ways.iter().map(|w| w.name.as_str()).collect();
    assert_eq!(ways, ["drive", "walk"]);
    assert!((service.catalogue.description.ways[1].share - 0.4).abs() < 1e-9);
    let everybody = sent(&service, 7, Mode::Local, &[], 1);
    for by in [&[("walk", 1.0)][..], &[("drive", 1.0)], &[("walk", 1.0), ("drive", 3.0)]] {
        assert!(sent(&service, 7, Mode::Local, by, 1) == everybody, "{by:?} can be told apart");
    }
    // Costs of an upload are those of the way, which is what offload tells besides the place.
    let [walk, drive, both] =
        [&[("walk", 1.0)][..], &[("drive", 1.0)], &[("walk", 1.0), ("drive", 1.0)]]
            .map(|by| upload(&sent(&service, 7, Mode::Offload, by, 1)).cost);
    assert_ne!(walk, drive);
    for ((w, d), b) in walk.iter().zip(&drive).zip(&both) {
        assert!((0.5 * (w + d) - b).abs() < 1e-12, "who switches has a mixture");
    }
    // A way that nobody offers is refused before anything is sent that tells a place.
    let draws = Rehearsal::seeded(1);
    let mut phone = client(&service.address, InMemory::default().reopen(), draws);
    phone = phone.going(vec![("fly".into(), 1.0)]);
    let error = phone.obfuscate(service.near(7), Mode::Local).unwrap_err();
    assert!(
        matches!(&error, ClientError::UnknownWay { known } if known == "drive, walk"),
        "{error}"
    );
}

#[test]
fn users_of_one_class_upload_the_same_and_are_served() {
    let mut config = config();
    config.privacy.alike = Some(8);
    let service = serve("classes", map(500.0, 100), config);
    let parts = classes(service.catalogue.city.coords(), 8);
    let sorted = |place: PlaceId| {
        let Join { rows, columns, towards, cost, .. } =
            upload(&sent(&service, place.number(), Mode::Offload, &[], parts[2][0].number()));
        let width = columns.len();
        let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        let line =
            |i: usize| (bits(&cost[i * width..][..width]), bits(&towards[i * width..][..width]));
        let mut lines: Vec<_> = (0..rows as usize).map(line).collect();
        lines.sort_unstable();
        (columns, lines)
    };
    let first = sorted(parts[2][0]);
    for &place in &parts[2][1..] {
        assert!(sorted(place) == first, "place {place} uploads something else than its class");
    }
    assert!(sorted(parts[0][0]) != first, "another class does not");
}
