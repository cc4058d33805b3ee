//! Promises that are none, and positions that no promise covers.

use std::sync::Arc;

use lrgeo_client::policy::Rule;
use lrgeo_client::{ClientError, Learnt, Mode};
use lrgeo_geo::Coord;
use serde_json::json;

use crate::common::InMemory;
use crate::common::operator::Operator;
use crate::scene::{
    Expect, expect, here, honest, identity, owner, refused_as, service, set_rows, stretched,
};

#[test]
fn the_honest_operator_is_accepted_in_both_modes() {
    for mode in [Mode::Published, Mode::Local] {
        let shown = honest().sign();
        let outcome = owner(&InMemory::default(), &shown, 5).obfuscate(here(), mode).unwrap();
        assert_eq!(shown.reports(), 1);
        assert!(matches!(outcome.learnt, Learnt::Tiles { fetched, of, .. } if fetched == of));
    }
}

/// 1. No pair is compared within a metre, and the rows say where everybody is.
#[test]
fn a_promise_between_nobody_is_no_promise() {
    expect("gamma of a metre", Mode::Published, Expect::Policy(Rule::Notion), |o| {
        o.manifest["promise"]["gamma_km"] = json!(0.001);
        set_rows(o, identity);
    });
    expect(
        "the same said of all pairs",
        Mode::Published,
        Expect::Lie("exceed the guarantee"),
        |o| {
            set_rows(o, identity);
        },
    );
}

/// 2. Tiles have no coordinates of their own any more: rows are compared at the distances of the list.
#[test]
fn distances_are_those_of_the_list_of_places() {
    expect("rows for a map five times as wide", Mode::Published, Expect::Lie("exceed"), |o| {
        stretched(o, 5.0);
    });
    expect("a tile of the first format", Mode::Published, Expect::Lie("format version 1"), |o| {
        o.spoil = Some(Arc::new(|name, bytes| {
            if name.starts_with("tile") {
                bytes[8] = 1;
            }
        }));
    });
    // 500 lists with the same rows and other coordinates: accepted only where rows are private at those distances.
    let mut rng = lrgeo_geo::rng::SplitMix::new(14);
    let (mut accepted, mut lies) = (0, 0);
    for case in 0..500 {
        let mut operator = honest();
        let far = [1e-4, 1e-3, 1e-2][case % 3];
        if case % 2 == 0 {
            // Some rows with room to spare, so that not everything is refused.
            stretched(&mut operator, 0.95);
        }
        for _ in 0..1 + case % 7 {
            let place = (rng.bits() % 70) as usize;
            operator.places[place][0] += far * (rng.unit() - 0.5);
            operator.places[place][1] += far * (rng.unit() - 0.5);
        }
        let shown = operator.sign();
        let result = owner(&InMemory::default(), &shown, 5).obfuscate(here(), Mode::Published);
        let excess = worst_excess(&operator, 2.0);
        match result {
            Ok(_) => assert!(excess <= 0.0, "list {case} was accepted at {excess}"),
            Err(ClientError::OffTheMap { .. }) => {}
            Err(error) => {
                lies += 1;
                assert!(excess > -1e-9 || error.to_string().contains("places"), "{case}: {error}");
            }
        }
        accepted += shown.reports();
    }
    assert!(accepted > 20 && lies > 100, "{accepted} accepted, {lies} refused");
}

/// The largest `ln(z_ik / z_jk) - eps d_ij` over all pairs, worked out the slow way.
fn worst_excess(operator: &Operator, epsilon: f64) -> f64 {
    let at = |place: u32| {
        let [lat, lon, _] = operator.places[place as usize];
        Coord::new(lat, lon).unwrap()
    };
    let rows: Vec<(Coord, &Vec<f64>)> = operator
        .tiles
        .iter()
        .flat_map(|(places, rows)| places.iter().map(|&p| at(p)).zip(rows))
        .collect();
    let mut worst = f64::NEG_INFINITY;
    for (here, a) in &rows {
        for (there, b) in &rows {
            if here == there {
                continue;
            }
            let ratio = a.iter().zip(*b).filter(|(x, _)| **x > 0.0).map(|(x, y)| (x / y).ln());
            let ratio = ratio.fold(f64::NEG_INFINITY, f64::max);
            worst = worst.max(ratio - epsilon * here.distance_km(*there));
        }
    }
    worst
}

/// 5. An epsilon that the day's cap would allow, and one that rises without a word.
#[test]
fn no_report_above_the_owners_epsilon_and_no_silent_rise() {
    for epsilon in [2.4, 9.0, 20.0] {
        expect("a large epsilon", Mode::Published, Expect::Policy(Rule::Epsilon), |o| {
            o.manifest["promise"]["epsilon_per_km"] = json!(epsilon);
            stretched(o, epsilon / 2.0);
        });
        for mode in [Mode::Local, Mode::Offload] {
            expect("a large epsilon", mode, Expect::Policy(Rule::Epsilon), |o| {
                o.description.parameters.epsilon_per_km = epsilon;
            });
        }
    }
    let (memory, first) = (InMemory::default(), honest().sign());
    owner(&memory, &first, 5).obfuscate(here(), Mode::Published).unwrap();
    for (epsilon, rule) in [(2.2, Rule::Weaker), (9.0, Rule::Epsilon)] {
        let mut operator = honest().following(&first);
        operator.manifest["promise"]["epsilon_per_km"] = json!(epsilon);
        let shown = operator.sign();
        let error = refused_as(&shown, &memory, Mode::Published, "a silent rise");
        let ClientError::Policy(refused) = error else { panic!("{error}") };
        assert_eq!(refused.rule, rule);
    }
    // With consent the first is accepted, for good; the second never is.
    let mut operator = honest().following(&first);
    operator.manifest["promise"]["epsilon_per_km"] = json!(2.2);
    let shown = operator.sign();
    owner(&memory, &shown, 5).consent(true).obfuscate(here(), Mode::Published).unwrap();
    owner(&memory, &shown, 5).obfuscate(here(), Mode::Published).unwrap();
    let mut operator = operator.following(&shown);
    operator.manifest["promise"]["epsilon_per_km"] = json!(9.0);
    let refused =
        owner(&memory, &operator.sign(), 5).consent(true).obfuscate(here(), Mode::Published);
    assert!(matches!(refused, Err(ClientError::Policy(no)) if no.rule == Rule::Epsilon));
}

#[test]
fn a_position_that_the_promise_does_not_cover_is_refused() {
    let shown = honest().sign();
    let ground = service().ground();
    let coords = service().catalogue.city.coords();
    let (mut accepted, mut refused) = (0, 0);
    // All around the map, holes included.
    for step in 0..400 {
        let from = coords[step % 70];
        let at = from.offset_km(0.07 * (step / 20) as f64 - 0.7, 0.07 * (step % 20) as f64 - 0.7);
        let nearest = coords.iter().map(|c| c.distance_km(at)).fold(f64::INFINITY, f64::min);
        let covered = nearest <= ground.reach_km;
        match ground.locate(at) {
            Ok(_) => accepted += usize::from(covered),
            Err(ClientError::OffTheMap { .. }) => refused += usize::from(!covered),
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(accepted + refused, 400, "exactly those within reach");
    assert!(accepted > 100 && refused > 20, "{accepted} {refused}");
    let outcome =
        owner(&InMemory::default(), &shown, 5).obfuscate(here(), Mode::Published).unwrap();
    let expected = (2.0 * 2.0 * ground.reach_km).exp();
    assert!((outcome.off_grid_factor / expected - 1.0).abs() < 1e-12);
}
