//! Mode `coordinates` against a real server, and against an operator who lies about the noise and signs it.

mod common;

use common::operator::Operator;
use common::proxy::Proxy;
use common::{InMemory, rehearsing, service};
use lrgeo_client::draws::Rehearsal;
use lrgeo_client::{Client, ClientError, Learnt, Mode};
use lrgeo_geo::Coord;

#[test]
fn the_server_learns_the_report_and_nothing_else() {
    let service = service();
    let drawn = rehearsing(&service.address, []).obfuscate(service.near(3), Mode::default());
    let drawn = drawn.unwrap();
    assert_eq!((drawn.mode, drawn.learnt), (Mode::Coordinates, Learnt::Report));
    assert_eq!((drawn.spent_per_km, drawn.off_grid_factor), (2.0, 1.0));
    assert!(drawn.compared.unwrap().to_string().contains("every two coordinates"));
    let accuracy = drawn.accuracy.unwrap();
    assert!(accuracy.meaning.contains("95 %") && accuracy.metres > 300);
}

fn traffic(at: Coord, forced: u32) -> Vec<Vec<u8>> {
    let proxy = Proxy::honest(&service().address);
    rehearsing(&proxy.address, [forced]).obfuscate(at, Mode::Coordinates).unwrap();
    proxy.sent()
}

#[test]
fn wherever_somebody_stands_the_bytes_are_the_same() {
    let service = service();
    let first = traffic(service.near(0), 1);
    // Manifest, signature, places, noise, report, targets.
    assert_eq!(first.len(), 6);
    for place in (0..service.catalogue.city.places() as u32).step_by(29) {
        let at = service.catalogue.city.coords()[place as usize];
        for at in [at, at.offset_km(0.2, 0.2), at.offset_km(-0.24, 0.1)] {
            assert!(traffic(at, 1) == first, "somebody sends something else");
        }
    }
    assert_ne!(traffic(service.near(0), 2), first);
}

#[test]
fn whoever_stands_beside_a_border_draws_from_nearly_the_same_row() {
    // The same randomness, a metre apart on either side of a border between cells: nearly always the same report.
    let service = service();
    let (a, b) = (service.catalogue.city.coords()[10], service.catalogue.city.coords()[11]);
    let middle = Coord::new((a.lat() + b.lat()) / 2.0, (a.lon() + b.lon()) / 2.0).unwrap();
    let report = |at: Coord, seed: u64| {
        let kept = InMemory::default().reopen();
        let mut client = common::client(&service.address, kept, Rehearsal::seeded(seed));
        client.obfuscate(at, Mode::Coordinates).unwrap().report
    };
    let step = |t: f64| middle.offset_km(t * 0.0005, t * 0.0005);
    let same = (0..12).filter(|&seed| report(step(-1.0), seed) == report(step(1.0), seed)).count();
    assert!(same >= 11, "{same} of 12");
}

#[test]
fn lies_about_the_noise_are_refused_and_nothing_is_reported() {
    let service = service();
    let honest = Operator::of(service);
    let number =
        |bytes: &[u8], at: usize| f64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    // After magic, version and map: rate, centre, area, spacing, tip, first column and row, then counts and reports.
    const RATE: usize = 44;
    type Lie = (&'static str, fn(&mut Vec<u8>, f64));
    fn set(bytes: &mut [u8], at: usize, value: f64) {
        bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
    }
    let lies: [Lie; 9] = [
        ("steeper noise", |bytes, rate| set(bytes, RATE, 1.01 * rate)),
        ("no noise at all", |bytes, _| set(bytes, RATE, 1e6)),
        ("no number", |bytes, _| set(bytes, RATE, f64::NAN)),
        ("a spacing of its own", |bytes, _| set(bytes, RATE + 56, 0.5)),
        ("a sharp tip", |bytes, _| set(bytes, RATE + 64, 1e-4)),
        ("a lattice elsewhere", |bytes, _| set(bytes, RATE + 72, 1e5)),
        ("an area beyond the lattice", |bytes, _| set(bytes, RATE + 40, 90.0)),
        ("an unknown place", |bytes, _| {
            let end = bytes.len();
            bytes[end - 4..].copy_from_slice(&9_999u32.to_le_bytes());
        }),
        ("a file that ends early", |bytes, _| bytes.truncate(bytes.len() - 3)),
    ];
    assert!(number(&honest.noise, RATE) < 2.0);
    let ask = |operator: &Operator| {
        let shown = operator.sign();
        let kept = InMemory::default().reopen();
        let mut client = Client::rehearse(shown.clone(), kept, Rehearsal::seeded(1));
        (client.obfuscate(service.near(5), Mode::Coordinates), shown.reports())
    };
    let (answer, reports) = ask(&honest);
    assert!(answer.is_ok() && reports == 1, "{:?}", answer.err());
    for (what, lie) in lies {
        let mut operator = honest.clone();
        let rate = number(&operator.noise, RATE);
        lie(&mut operator.noise, rate);
        let (answer, reports) = ask(&operator);
        let error = answer.err().unwrap_or_else(|| panic!("{what} was believed"));
        assert!(!matches!(error, ClientError::OffTheMap { .. }), "{what}: {error}");
        assert_eq!(reports, 0, "{what}");
    }
    let mut operator = honest.clone();
    operator.manifest["noise"] = serde_json::Value::Null;
    let refused = ask(&operator).0.unwrap_err();
    assert!(
        matches!(refused, ClientError::NotOffered { mode: Mode::Coordinates, .. }),
        "{refused}"
    );
}
