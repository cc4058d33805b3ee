//! An operator that signs what it is told to, an owner in front of it, and what is expected of the owner.

use std::sync::OnceLock;

use lrgeo_client::draws::Rehearsal;
use lrgeo_client::policy::{Policy, Protects, Rule};
use lrgeo_client::{Client, ClientError, Mode};
use lrgeo_geo::{Coord, PlaceId};
use serde_json::Value;

use crate::common::operator::{Operator, Shown};
use crate::common::{InMemory, Service, config, map, serve};

pub fn service() -> &'static Service {
    static SERVICE: OnceLock<Service> = OnceLock::new();
    SERVICE.get_or_init(|| {
        let mut config = config();
        config.privacy.tile_places = 8;
        serve("hostile", map(500.0, 70), config)
    })
}

pub fn honest() -> Operator {
    static OPERATOR: OnceLock<Operator> = OnceLock::new();
    OPERATOR.get_or_init(|| Operator::of(service())).clone()
}

/// The place with the most others around it.
pub fn middle() -> u32 {
    let city = &service().catalogue.city;
    let near = |place: u32| {
        (0..70)
            .filter(|&other| city.distance_km(PlaceId::new(place), PlaceId::new(other)) < 1.6)
            .count()
    };
    (0..70).max_by_key(|&place| near(place)).unwrap()
}

/// A metre from the middle: within reach of it however small the map is made.
pub fn here() -> Coord {
    service().catalogue.city.coords()[middle() as usize].offset_km(0.001, -0.0005)
}

/// An owner on a small map: fewer places will do, and what the paper's own modes promise.
pub fn owner(memory: &InMemory, shown: &Shown, seed: u64) -> Client<Rehearsal> {
    let mut kept = memory.reopen();
    kept.state.policy = Policy {
        protects: Protects::RelevantPlaces,
        least_likely_places: 20.0,
        ..Policy::default()
    };
    Client::rehearse(shown.clone(), kept, Rehearsal::seeded(seed))
}

/// What a phone says that sees this operator for the first time. Nothing leaves it.
pub fn refused_as(shown: &Shown, memory: &InMemory, mode: Mode, name: &str) -> ClientError {
    let (before, reports) = (memory.reopen().state, shown.reports());
    let result = owner(memory, shown, 5).obfuscate(here(), mode);
    let error = match result {
        Ok(outcome) => panic!("{name} ({mode}): accepted at {}/km", outcome.epsilon_per_km),
        Err(error) => error,
    };
    assert_eq!(shown.reports(), reports, "{name}: reported in spite of {error}");
    let after = memory.reopen().state;
    assert_eq!((&after.ledger, &after.memory.reports), (&before.ledger, &before.memory.reports));
    let text = error.to_string();
    let [lat, lon] = [here().lat(), here().lon()].map(|degrees| format!("{degrees:.3}"));
    assert!(!text.contains(&lat) && !text.contains(&lon), "{name}: {text}");
    error
}

#[derive(Debug)]
pub enum Expect {
    /// The policy says no, by this rule.
    Policy(Rule),
    /// A lie, with these words.
    Lie(&'static str),
    /// Any refusal: several are possible.
    Refused,
}

pub fn expect(name: &str, mode: Mode, expected: Expect, lie: impl FnOnce(&mut Operator)) {
    let mut operator = honest();
    lie(&mut operator);
    let memory = InMemory::default();
    let mut kept = memory.reopen();
    kept.state.offload_understood = true;
    kept.commit().unwrap();
    drop(kept);
    let error = refused_as(&operator.sign(), &memory, mode, name);
    let text = error.to_string();
    match expected {
        Expect::Policy(rule) => {
            let ClientError::Policy(refused) = &error else { panic!("{name}: {text}") };
            assert_eq!(refused.rule, rule, "{name}: {text}");
            for words in ["the server offers", "you want", "`policy."] {
                assert!(rule == Rule::Notion || text.contains(words), "{name}: {text}");
            }
        }
        Expect::Lie(words) => {
            assert!(matches!(error, ClientError::Lie(_)), "{name}: {text}");
            assert!(text.contains(words), "{name}: expected `{words}` in: {text}");
        }
        Expect::Refused => {}
    }
}

/// A row for every place, from where it is and where it says that it is.
pub fn set_rows(operator: &mut Operator, row: impl Fn(u32, usize) -> Vec<f64>) {
    let columns = operator.places.len();
    for (places, rows) in &mut operator.tiles {
        *rows = places.iter().map(|&place| row(place, columns)).collect();
    }
}

pub fn identity(place: u32, columns: usize) -> Vec<f64> {
    (0..columns).map(|k| if k == place as usize { 1.0 } else { 0.0 }).collect()
}

/// The exponential kernel over distances stretched by a factor.
pub fn stretched(operator: &mut Operator, factor: f64) {
    let at: Vec<Coord> = operator.places.iter().map(|p| Coord::new(p[0], p[1]).unwrap()).collect();
    set_rows(operator, |place, _| {
        let kernel = |to: &Coord| (-factor * at[place as usize].distance_km(*to)).exp();
        let weights: Vec<f64> = at.iter().map(kernel).collect();
        let sum: f64 = weights.iter().sum();
        weights.into_iter().map(|w| w / sum).collect()
    });
}

pub fn uniform(operator: &mut Operator) {
    set_rows(operator, |_, columns| vec![1.0 / columns as f64; columns]);
}

pub fn link(operator: &mut Operator, field: &str, value: Value) {
    operator.manifest["link"][field] = value;
}
