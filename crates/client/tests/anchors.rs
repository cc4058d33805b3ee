//! Reports are remembered for where they were drawn: jitter, borders and walks against a real server.

mod common;

use std::collections::BTreeSet;

use common::{InMemory, Service, client, service};
use lrgeo_client::Mode;
use lrgeo_client::draws::Rehearsal;
use lrgeo_client::state::Limit;
use lrgeo_geo::rng::SplitMix;
use lrgeo_geo::{Coord, PlaceId};

/// What a good receiver is off by under an open sky, in kilometres; errors above three times this are left out.
const NOISE_KM: f64 = 0.01;

/// A fix of somebody at `here`: two normal deviates.
fn fix(here: Coord, random: &mut SplitMix) -> Coord {
    let radius = loop {
        let radius = (-2.0 * (1.0 - random.unit()).ln()).sqrt();
        if radius <= 3.0 {
            break NOISE_KM * radius;
        }
    };
    let angle = random.between(0.0, std::f64::consts::TAU);
    here.offset_km(radius * angle.cos(), radius * angle.sin())
}

/// The middle between two places of the middle of the city that stand `east` (or else north) of each other.
fn border(service: &Service, east: bool) -> Coord {
    let coords = service.catalogue.city.coords();
    let (mut lat, mut lon): (Vec<f64>, Vec<f64>) =
        coords.iter().map(|at| (at.lat(), at.lon())).unzip();
    lat.sort_by(f64::total_cmp);
    lon.sort_by(f64::total_cmp);
    let middle = Coord::new(lat[lat.len() / 2], lon[lon.len() / 2]).unwrap();
    let nearest = |to: Coord| {
        let by = |a: &&Coord, b: &&Coord| a.distance_km(to).total_cmp(&b.distance_km(to));
        *coords.iter().min_by(by).unwrap()
    };
    let one = nearest(middle);
    let spacing = service.catalogue.city.spacing_km();
    let (north_km, east_km) = if east { (0.0, spacing / 2.0) } else { (spacing / 2.0, 0.0) };
    one.offset_km(north_km, east_km)
}

/// The place that reports were remembered for before there were anchors.
fn cell(service: &Service, at: Coord) -> PlaceId {
    service.catalogue.city.nearest(at).unwrap().0
}

/// Somebody whom no budget stops.
fn unlimited(memory: &InMemory) -> lrgeo_client::state::Kept {
    let mut kept = memory.reopen();
    kept.state.policy.per_period = Limit::new(1e6, 86_400).unwrap();
    kept.state.policy.lifetime_per_km = 1e6;
    kept
}

#[test]
fn who_sits_at_a_border_reports_one_place_for_one_epsilon() {
    let service = service();
    let here = border(service, true);
    let (memory, mut random) = (InMemory::default(), SplitMix::new(1));
    let (mut cells, mut reports) = (BTreeSet::new(), BTreeSet::new());
    for number in 0..60 {
        let at = fix(here, &mut random);
        cells.insert(cell(service, at));
        // Every fix in a process of its own, with other randomness, in any of two modes.
        let mut user =
            client(&service.address, memory.reopen(), Rehearsal::seeded(number)).targets(0);
        let mode = if number % 2 == 0 { Mode::Published } else { Mode::Local };
        reports.insert(user.obfuscate(at, mode).unwrap().report);
    }
    assert!(cells.len() > 1, "the fixes must lie on both sides of the border");
    assert_eq!(reports.len(), 1);
    let state = memory.reopen().state;
    assert_eq!((state.memory.reports.len(), state.ledger.spends.len()), (1, 1));
    assert_eq!(state.ledger.lifetime_per_km, 2.0);
}

#[test]
fn beyond_the_radius_a_new_report_is_drawn_and_the_old_one_kept() {
    let service = service();
    // A little west of a border: no cell is drawn from twice, so beyond the radius is beyond the border too.
    let (here, memory) = (border(service, true).offset_km(0.0, -0.1), InMemory::default());
    let mut kept = unlimited(&memory);
    kept.state.policy.reuse_within_km = Some(0.2);
    let mut user = client(&service.address, kept, Rehearsal::seeded(2)).targets(0);
    let mut spends = Vec::new();
    for east_km in [0.0, 0.19, 0.21, 0.3, -0.3, 0.0] {
        let outcome = user.obfuscate(here.offset_km(0.0, east_km), Mode::Published).unwrap();
        assert_eq!(outcome.reused_within_km, 0.2);
        spends.push(outcome.spent_per_km);
    }
    assert_eq!(spends, [2.0, 0.0, 2.0, 0.0, 0.0, 0.0]);
}

/// The numbers that stand in docs/client.md.
#[test]
fn a_walk_draws_as_often_as_it_leaves_a_radius() {
    let service = service();
    let radius_km = 0.5;
    for (name, start, direction) in [
        ("along a border", border(service, false).offset_km(0.0, -1.25), (0.0, 1.0)),
        ("across", border(service, true).offset_km(-0.85, -0.9), (0.6, 0.8)),
    ] {
        let (memory, mut random) = (InMemory::default(), SplitMix::new(5));
        let mut user =
            client(&service.address, unlimited(&memory), Rehearsal::seeded(3)).targets(0);
        let mut cells = BTreeSet::new();
        for step in 0..500 {
            let km = 0.005 * f64::from(step);
            let at = fix(start.offset_km(km * direction.0, km * direction.1), &mut random);
            cells.insert(cell(service, at));
            user.obfuscate(at, Mode::Published).unwrap();
        }
        drop(user);
        let state = memory.reopen().state;
        let draws = state.ledger.spends.len();
        println!(
            "500 fixes {name}: {} draws for {}/km when remembered per cell, {draws} draws for {}/km per anchor",
            cells.len(),
            2 * cells.len(),
            state.ledger.lifetime_per_km
        );
        assert_eq!(state.ledger.lifetime_per_km, 2.0 * draws as f64, "reuse is free");
        // A new draw is a radius from the last one; both fixes may be off.
        let most = 1.0 + 0.005 * 499.0 / (radius_km - 6.0 * NOISE_KM);
        assert!(draws as f64 <= most && draws < cells.len(), "{name}: {draws}, at most {most:.1}");
    }
}
