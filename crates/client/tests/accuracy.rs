//! Honest accuracy: of people drawn by the prior, spread over their cells, 95 % are within the radius that comes with their report; and the
//! radius says nothing about their place that the report does not say.

mod common;

use common::{InMemory, Service, client, config, map, rehearsing, serve, service};
use lrgeo_client::draws::Rehearsal;
use lrgeo_client::{Accuracy, Mode};
use lrgeo_geo::Coord;
use lrgeo_geo::rng::SplitMix;

/// Somebody by the prior, anywhere in the cell.
fn somebody(service: &Service, rng: &mut SplitMix) -> Coord {
    let city = &service.catalogue.city;
    let total: f64 = city.prior().iter().sum();
    let mut left = rng.unit() * total;
    let place = city.prior().iter().position(|p| {
        left -= p;
        left <= 0.0
    });
    let half = city.spacing_km() / 2.0;
    let at = city.coords()[place.unwrap_or(0)];
    at.offset_km(rng.between(-half, half), rng.between(-half, half))
}

/// The share of people whom the radius holds, and the radii.
fn held(service: &Service, mode: Mode, people: u64) -> (f64, Vec<u64>) {
    let mut rng = SplitMix::new(31);
    let (mut inside, mut radii) = (0, Vec::new());
    for seed in 0..people {
        let at = somebody(service, &mut rng);
        let kept = InMemory::default().reopen();
        let mut phone = client(&service.address, kept, Rehearsal::seeded(seed)).targets(0);
        let outcome = phone.obfuscate(at, mode).unwrap();
        let Accuracy { metres, meaning, .. } = outcome.accuracy.unwrap();
        assert!(meaning.contains("95 %"), "{meaning}");
        let [lat, lon] = outcome.at;
        let km = at.distance_km(Coord::new(lat, lon).unwrap());
        inside += usize::from(km <= metres as f64 / 1000.0);
        radii.push(metres);
    }
    (inside as f64 / people as f64, radii)
}

#[test]
fn the_radius_of_published_holds_the_truth() {
    let (share, radii) = held(service(), Mode::Published, 150);
    assert!((0.91..=1.0).contains(&share), "{share}");
    // Not a constant, and no larger than it must be: the city is 7 km wide.
    assert!(
        radii.iter().min() < radii.iter().max() && radii.iter().all(|m| *m < 6_000),
        "{radii:?}"
    );
}

#[test]
fn the_radius_of_local_holds_the_truth() {
    // Radii as a server chooses them; those of the other tests let most of a row lie far away.
    let mut config = config();
    (config.privacy.gamma, config.privacy.exp_radius, config.privacy.obf_radius) =
        (None, None, None);
    let service = serve("accuracy", map(700.0, 100), config);
    let (share, radii) = held(&service, Mode::Local, 60);
    assert!((0.88..=1.0).contains(&share), "{share}");
    assert!(
        radii.iter().min() < radii.iter().max() && radii.iter().all(|m| *m < 6_000),
        "{radii:?}"
    );
}

#[test]
fn the_radius_tells_nothing_that_the_report_does_not() {
    let service = service();
    for mode in [Mode::Coordinates, Mode::Published, Mode::Local, Mode::Offload] {
        let radius = |place: u32, forced: u32| {
            let outcome =
                rehearsing(&service.address, [forced]).obfuscate(service.near(place), mode);
            outcome.unwrap().accuracy.unwrap()
        };
        let from_all: Vec<Accuracy> = [3, 40, 90].map(|place| radius(place, 41)).to_vec();
        assert!(from_all.windows(2).all(|pair| pair[0] == pair[1]), "{mode}: {from_all:?}");
    }
}

#[test]
fn a_remembered_report_has_the_radius_that_it_was_drawn_with() {
    let (service, memory) = (service(), InMemory::default());
    let ask = |mode: Mode| {
        let mut phone = client(&service.address, memory.reopen(), Rehearsal::seeded(3));
        phone.obfuscate(service.near(60), mode).unwrap()
    };
    let drawn = ask(Mode::Local);
    let again = ask(Mode::Published);
    assert!(again.remembered.is_some());
    assert_eq!((again.report, again.accuracy), (drawn.report, drawn.accuracy));
}
