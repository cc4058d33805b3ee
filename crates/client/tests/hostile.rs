//! The operator is the adversary: it signs everything correctly, and what it says is well-formed and weaker than it says.
//! Nothing of it is accepted with a worse guarantee than the owner's policy asks for.

mod common;

use std::sync::{Arc, OnceLock};

use common::operator::{Operator, Shown};
use common::{InMemory, Service, config, map, serve};
use lrgeo_client::draws::Rehearsal;
use lrgeo_client::policy::{Policy, Protects, Rule};
use lrgeo_client::{Client, ClientError, Learnt, Lie, Mode};
use lrgeo_map::geo::Coord;
use lrgeo_mechanism::publish::SecretKey;
use lrgeo_protocol::public::Range;
use serde_json::{Value, json};

fn service() -> &'static Service {
    static SERVICE: OnceLock<Service> = OnceLock::new();
    SERVICE.get_or_init(|| {
        let mut config = config();
        config.privacy.tile_places = 8;
        serve("hostile", map(500.0, 70), config)
    })
}

fn honest() -> Operator {
    static OPERATOR: OnceLock<Operator> = OnceLock::new();
    OPERATOR.get_or_init(|| Operator::of(service())).clone()
}

/// The place with the most others around it.
fn middle() -> u32 {
    let city = &service().catalogue.city;
    let near = |place: u32| (0..70).filter(|&other| city.distance_km(place, other) < 1.6).count();
    (0..70).max_by_key(|&place| near(place)).unwrap()
}

/// A metre from the middle: within reach of it however small the map is made.
fn here() -> Coord {
    service().catalogue.city.coords()[middle() as usize].offset_km(0.001, -0.0005)
}

/// An owner on a small map: fewer places will do, and what the paper's own modes promise.
fn owner(memory: &InMemory, shown: &Shown, seed: u64) -> Client<Rehearsal> {
    let mut kept = memory.reopen();
    kept.state.policy = Policy {
        protects: Protects::RelevantPlaces,
        least_likely_places: 20.0,
        ..Policy::default()
    };
    Client::rehearse(shown.clone(), kept, Rehearsal::seeded(seed))
}

/// What a phone says that sees this operator for the first time. Nothing leaves it.
fn refused_as(shown: &Shown, memory: &InMemory, mode: Mode, name: &str) -> ClientError {
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
enum Expect {
    /// The policy says no, by this rule.
    Policy(Rule),
    /// A lie, with these words.
    Lie(&'static str),
    /// Any refusal: several are possible.
    Refused,
}

fn expect(name: &str, mode: Mode, expected: Expect, lie: impl FnOnce(&mut Operator)) {
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
            for words in ["the server offers", "you want", "lrgeo"] {
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
fn set_rows(operator: &mut Operator, row: impl Fn(u32, usize) -> Vec<f64>) {
    let columns = operator.places.len();
    for (places, rows) in &mut operator.tiles {
        *rows = places.iter().map(|&place| row(place, columns)).collect();
    }
}

fn identity(place: u32, columns: usize) -> Vec<f64> {
    (0..columns).map(|k| if k == place as usize { 1.0 } else { 0.0 }).collect()
}

/// The exponential kernel over distances stretched by a factor.
fn stretched(operator: &mut Operator, factor: f64) {
    let at: Vec<Coord> = operator.places.iter().map(|p| Coord::new(p[0], p[1]).unwrap()).collect();
    set_rows(operator, |place, _| {
        let kernel = |to: &Coord| (-factor * at[place as usize].distance_km(*to)).exp();
        let weights: Vec<f64> = at.iter().map(kernel).collect();
        let sum: f64 = weights.iter().sum();
        weights.into_iter().map(|w| w / sum).collect()
    });
}

fn uniform(operator: &mut Operator) {
    set_rows(operator, |_, columns| vec![1.0 / columns as f64; columns]);
}

fn link(operator: &mut Operator, field: &str, value: Value) {
    operator.manifest["link"][field] = value;
}

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
    let mut rng = lrgeo_map::rng::SplitMix::new(14);
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

/// 3. One tile per place: the request would name the place.
#[test]
fn tiles_of_one_place_hide_as_well_as_others() {
    let mut operator = honest();
    let singles: Vec<(Vec<u32>, Vec<Vec<f64>>)> = operator
        .tiles
        .drain(..)
        .flat_map(|(places, rows)| places.into_iter().zip(rows))
        .map(|(place, row)| (vec![place], vec![row]))
        .collect();
    let entry = |_: &(Vec<u32>, Vec<Vec<f64>>)| json!({ "hash": "", "bytes": 0, "places": 1 });
    operator.manifest["tiles"] = singles.iter().map(entry).collect();
    // Squares so fine that every place has its own; the others belong to any tile.
    let bounds = |axis: usize| {
        let values = operator.places.iter().map(|p| p[axis]);
        (values.clone().fold(f64::INFINITY, f64::min), values.fold(f64::NEG_INFINITY, f64::max))
    };
    let ((south, north), (west, east)) = (bounds(0), bounds(1));
    let (rows, columns) = (120u32, 120u32);
    let step = [(north - south) / 118.0, (east - west) / 118.0];
    let corner = [south - step[0], west - step[1]];
    let mut named = vec![0u32; (rows * columns) as usize];
    for (number, (places, _)) in singles.iter().enumerate() {
        let [lat, lon, _] = operator.places[places[0] as usize];
        let cell = |value: f64, axis: usize| ((value - corner[axis]) / step[axis]).floor() as u32;
        named[(cell(lat, 0) * columns + cell(lon, 1)) as usize] = number as u32;
    }
    operator.manifest["grid"] = json!({
        "side_km": 0.1, "south_west": corner, "step": step, "rows": rows, "columns": columns, "tiles": named,
    });
    operator.tiles = singles;
    // `local` has one slice per tile; it is not what this is about.
    operator.manifest["description"] = Value::Null;
    let shown = operator.sign();
    let outcome =
        owner(&InMemory::default(), &shown, 5).obfuscate(here(), Mode::Published).unwrap();
    assert!(matches!(outcome.learnt, Learnt::Tiles { fetched: 70, of: 70, .. }));

    // Where all of them are too much, as many as leave enough likely places: never the one alone.
    let memory = InMemory::default();
    let mut phone = owner(&memory, &shown, 6);
    phone.policy_mut().fetch_all_bytes = 0;
    let outcome = phone.obfuscate(here(), Mode::Published).unwrap();
    let Learnt::Tiles { fetched, likely_places, .. } = outcome.learnt else { panic!("no tiles") };
    assert!((30..70).contains(&fetched) && likely_places >= 20.0, "{fetched}: {likely_places}");
    assert_eq!(memory.reopen().state.memory.hidden.len(), 1);

    // A field that claims a number is no field any more.
    operator.manifest["tiles"][0]["effective_places"] = json!(50.0);
    refused_as(&operator.sign(), &InMemory::default(), Mode::Published, "effective_places");
}

#[test]
fn one_spot_is_not_hidden_among_ever_new_tiles() {
    // The same map cut another way each time, and tiles that fail: what the sets share would be the user.
    let memory = InMemory::default();
    let (mut sets, mut shown, mut operator) = (Vec::new(), honest().sign(), honest());
    assert!(operator.tiles.len() > 2, "the map has several tiles");
    for version in 0..6u32 {
        operator = operator.following(&shown);
        // Prior and with it the list of places change a little; so does the hash of the tiling.
        operator.places[version as usize][2] *= 1.5;
        operator.spoil = Some(Arc::new(|name, bytes| {
            if name.starts_with("tile") {
                bytes.truncate(100);
            }
        }));
        shown = operator.sign();
        let mut phone = owner(&memory, &shown, u64::from(version)).consent(true);
        phone.policy_mut().fetch_all_bytes = 0;
        phone.policy_mut().least_likely_places = 5.0;
        let error = phone.obfuscate(here(), Mode::Published).unwrap_err();
        sets.push(error.to_string());
    }
    assert_eq!(memory.reopen().state.memory.hidden.len(), 3, "{sets:#?}");
    assert!(sets[5].contains("cut into tiles anew"), "{}", sets[5]);
}

/// 4. Programmes without privacy in them.
#[test]
fn programmes_without_privacy_are_not_solved() {
    let relevant = || Expect::Policy(Rule::RelevantPlaces);
    expect("relevant_max = 1", Mode::Local, relevant(), |o| {
        o.description.parameters.relevant_max = Some(1);
    });
    expect("relevant_max = 5", Mode::Local, relevant(), |o| {
        o.description.parameters.relevant_max = Some(5);
    });
    expect("gamma of a metre", Mode::Local, Expect::Refused, |o| {
        o.description.parameters.gamma_km = Some(0.001);
        o.description.parameters.relevant_km = 0.001;
    });
    expect("an LR set of one cell", Mode::Local, Expect::Refused, |o| {
        o.description.parameters.relevant_km = 0.1;
        o.description.parameters.gamma_km = Some(0.1);
    });
    expect("y = 0", Mode::Local, Expect::Refused, |o| {
        o.description.local.as_mut().unwrap().y.iter_mut().for_each(|y| *y = 0.0);
    });
    expect("the same, in offload", Mode::Offload, relevant(), |o| {
        o.description.parameters.relevant_max = Some(1);
    });
    expect("few rows per round", Mode::Offload, relevant(), |o| {
        o.description.rounds.most_relevant = 2;
    });
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

/// 6. Twelve shrinking grids: no fresh draw, one spend.
#[test]
fn fresh_versions_of_the_map_force_no_fresh_draws() {
    let memory = InMemory::default();
    let (mut shown, mut operator) = (honest().sign(), honest());
    let mut reports = Vec::new();
    let middle = service().catalogue.city.coords()[middle() as usize];
    for version in 0..12 {
        if version > 0 {
            operator = operator.following(&shown);
            for place in &mut operator.places {
                place[0] = middle.lat() + 0.9 * (place[0] - middle.lat());
                place[1] = middle.lon() + 0.9 * (place[1] - middle.lon());
            }
            let grid = &mut operator.manifest["grid"];
            for (axis, centre) in [middle.lat(), middle.lon()].into_iter().enumerate() {
                let corner = grid["south_west"][axis].as_f64().unwrap();
                grid["south_west"][axis] = json!(centre + 0.9 * (corner - centre));
                grid["step"][axis] = json!(0.9 * grid["step"][axis].as_f64().unwrap());
            }
            // Rows that are private however near.
            uniform(&mut operator);
        }
        shown = operator.sign();
        let mut phone = owner(&memory, &shown, version).consent(true);
        phone.policy_mut().least_likely_places = 5.0;
        let outcome = phone.obfuscate(here(), Mode::Published).unwrap();
        reports.push(outcome.spent_per_km);
    }
    assert_eq!(reports.iter().filter(|spent| **spent > 0.0).count(), 1, "{reports:?}");
    let state = memory.reopen().state;
    assert_eq!((state.ledger.spends.len(), state.memory.reports.len()), (1, 1));
    assert_eq!(
        state.servers[0].sequence,
        honest().manifest["link"]["sequence"].as_u64().unwrap() + 11
    );
}

/// 6. Two manifests under one number are evidence, and remembered.
#[test]
fn a_fork_is_reported_and_not_forgotten() {
    type Forking = fn(&Shown) -> Operator;
    let forks: [(&str, Forking); 3] = [
        ("other content, the same number", |_| {
            let mut operator = honest();
            operator.manifest["expected_cost"] = json!(0.5);
            operator
        }),
        ("the next number after something else", |first| {
            let mut operator = honest().following(first);
            operator.manifest["link"]["previous"] = json!("ab".repeat(32));
            operator
        }),
        ("two numbers on, along another branch", |_| {
            let mut other = honest();
            other.manifest["expected_cost"] = json!(0.5);
            let other = other.following(&other.sign());
            other.following(&other.sign())
        }),
    ];
    for (name, fork) in forks {
        let (memory, first) = (InMemory::default(), honest().sign());
        owner(&memory, &first, 5).obfuscate(here(), Mode::Published).unwrap();
        let error = refused_as(&fork(&first).sign(), &memory, Mode::Published, name);
        assert!(matches!(error, ClientError::Lie(Lie::Forked { .. })), "{name}: {error}");
        let state = memory.reopen().state;
        assert!(state.servers[0].fork.is_some(), "{name}");
        // The operator who goes back to the first is not believed any more either.
        let again = owner(&memory, &first, 5).obfuscate(here(), Mode::Published);
        assert!(matches!(again, Err(ClientError::Lie(Lie::Forked { .. }))), "{name}");
    }
}

#[test]
fn manifests_follow_one_another_and_keys_hand_over() {
    let (memory, first) = (InMemory::default(), honest().sign());
    owner(&memory, &first, 5).obfuscate(here(), Mode::Published).unwrap();
    // Five manifests later, each after the one before; in the third the key hands over.
    let (mut operator, mut shown) = (honest(), first.clone());
    let new_key = SecretKey::from_seed([7; 32]).unwrap().public();
    for step in 0..5 {
        operator = operator.following(&shown);
        if step == 2 {
            link(&mut operator, "next_key", json!(new_key));
        }
        if step == 3 {
            operator.seed = [7; 32];
        }
        shown = operator.sign();
    }
    let known = owner(&memory, &shown, 6).obfuscate(here(), Mode::Published).unwrap();
    assert!(known.remembered.is_some(), "the operator is the same one");
    let pinned = memory.reopen().state.servers[0].clone();
    assert_eq!((pinned.next_key, pinned.signer), (new_key, new_key));
    assert_ne!(pinned.key, new_key, "known by its first key");
    // The old key signs nothing any more, and a stranger's never did.
    for seed in [[42; 32], [9; 32]] {
        let mut other = operator.following(&shown);
        other.seed = seed;
        let error =
            refused_as(&other.sign(), &memory, Mode::Published, "not the key that was named");
        let known = matches!(error, ClientError::KeyChanged { .. } | ClientError::Lie(_));
        assert!(known, "{error}");
    }
    // Older ones are refused, forgotten ones in between too.
    let error = refused_as(&first, &memory, Mode::Published, "the first again");
    assert!(matches!(error, ClientError::Lie(_)), "{error}");
    let mut gap = operator.following(&shown);
    gap = gap.following(&gap.sign());
    gap.earlier.clear();
    let error = refused_as(&gap.sign(), &memory, Mode::Published, "a gap");
    assert!(matches!(error, ClientError::Transport(_)), "{error}");
}

#[test]
fn manifests_that_are_not_of_this_time_are_refused() {
    expect("the year 9999", Mode::Published, Expect::Lie("in the future"), |o| {
        link(o, "issued", json!("9998-01-01T00:00:00Z"));
        link(o, "expires", json!("9999-01-01T00:00:00Z"));
    });
    expect("expired", Mode::Published, Expect::Lie("expired"), |o| {
        link(o, "issued", json!("2024-01-01T00:00:00Z"));
        link(o, "expires", json!("2025-01-01T00:00:00Z"));
    });
    expect("good for ten years", Mode::Published, Expect::Lie("within two years"), |o| {
        link(o, "expires", json!("2036-01-01T00:00:00Z"));
    });
    expect("without a number", Mode::Published, Expect::Lie("link"), |o| {
        link(o, "sequence", json!(0))
    });
    expect("without the one before", Mode::Published, Expect::Lie("link"), |o| {
        link(o, "sequence", json!(7));
        link(o, "previous", Value::Null);
    });
}

type Change = fn(&mut Operator);

/// Signed, well-formed, weaker than it says: manifest, places and tiles.
#[test]
fn further_lies_about_what_is_published() {
    const PRIVATE: &str = "exceed the guarantee";
    let lies: Vec<(&str, Expect, Change)> = vec![
        ("a smaller epsilon than the rows have", Expect::Lie(PRIVATE), |o| {
            o.manifest["promise"]["epsilon_per_km"] = json!(1.5);
        }),
        ("next to no epsilon", Expect::Lie(PRIVATE), |o| {
            o.manifest["promise"]["epsilon_per_km"] = json!(1e-9);
        }),
        ("gamma of a kilometre", Expect::Policy(Rule::Notion), |o| {
            o.manifest["promise"]["gamma_km"] = json!(1.0);
        }),
        ("gamma of 1e308", Expect::Policy(Rule::Notion), |o| {
            o.manifest["promise"]["gamma_km"] = json!(1e308);
        }),
        ("violations that were found", Expect::Lie("violations"), |o| {
            o.manifest["check"]["violations"] = json!(3);
        }),
        ("the rows of two places exchanged", Expect::Lie(PRIVATE), |o| {
            stretched(o, 1.0);
            let last = o.tiles.len() - 1;
            let row = o.tiles[last].1[0].clone();
            o.tiles[last].1[0] = std::mem::replace(&mut o.tiles[0].1[0], row);
        }),
        ("a map half as wide", Expect::Refused, |o| {
            let [lat, lon, _] = o.places[middle() as usize];
            for place in &mut o.places {
                place[0] = lat + 0.5 * (place[0] - lat);
                place[1] = lon + 0.5 * (place[1] - lon);
            }
        }),
        ("one spot under two names", Expect::Lie("one spot twice"), |o| {
            o.places[3][0] = o.places[4][0];
            o.places[3][1] = o.places[4][1];
        }),
        ("places half a metre apart", Expect::Lie("one spot twice"), |o| {
            o.places[3][0] = o.places[4][0] + 4e-6;
            o.places[3][1] = o.places[4][1];
        }),
        ("a house with seventy doors", Expect::Policy(Rule::LikelyPlaces), |o| {
            house(o, 0.01);
            uniform(o);
        }),
        ("everybody at one place", Expect::Policy(Rule::LikelyPlaces), |o| {
            o.places.iter_mut().for_each(|place| place[2] = 1e-9);
            o.places[5][2] = 1.0;
        }),
        ("everybody at ten places", Expect::Policy(Rule::LikelyPlaces), |o| {
            o.places.iter_mut().skip(10).for_each(|place| place[2] = 0.0);
        }),
        ("a prior that is none", Expect::Lie("no weight"), |o| o.places[2][2] = f64::NAN),
        ("a negative prior", Expect::Lie("no weight"), |o| o.places[2][2] = -0.1),
        ("no prior at all", Expect::Lie("no weight"), |o| {
            o.places.iter_mut().for_each(|place| place[2] = 0.0);
        }),
        ("coordinates that are none", Expect::Lie("coordinates"), |o| o.places[2][0] = 91.0),
        ("a place fewer", Expect::Lie("places"), |o| {
            o.places.pop();
        }),
        ("one row that says where it is", Expect::Lie(PRIVATE), |o| {
            let (places, rows) = &mut o.tiles[0];
            rows[0] = identity(places[0], rows[0].len());
        }),
        ("rows alike within tiles, not between them", Expect::Lie(PRIVATE), |o| {
            for number in 0..o.tiles.len() {
                let (places, rows) = &mut o.tiles[number];
                let mut row = vec![0.0; rows[0].len()];
                places.iter().for_each(|&k| row[k as usize] = 1.0 / places.len() as f64);
                rows.iter_mut().for_each(|r| r.clone_from(&row));
            }
        }),
        ("a column that one tile has alone", Expect::Lie(PRIVATE), |o| {
            uniform(o);
            let columns = o.places.len() as f64;
            for (_, rows) in &mut o.tiles[1..] {
                for row in rows {
                    row[9] = 0.0;
                    row[10] = 2.0 / columns;
                }
            }
        }),
        ("a row that sums to less", Expect::Lie("sum to one"), |o| {
            o.tiles[0].1[0].iter_mut().for_each(|z| *z *= 0.999);
        }),
        ("sums that differ by what is let through", Expect::Lie(PRIVATE), uneven_sums),
        ("probabilities that cannot be drawn", Expect::Lie("rows"), |o| {
            uniform(o);
            for (_, rows) in &mut o.tiles {
                for row in rows {
                    row[1] += row[0] - 1e-300;
                    row[0] = 1e-300;
                }
            }
        }),
        ("a negative probability", Expect::Lie("no probability"), |o| o.tiles[0].1[0][0] = -0.1),
        ("a probability that is none", Expect::Lie("no probability"), |o| {
            o.tiles[0].1[0][0] = f64::NAN;
        }),
        ("rows in another order", Expect::Lie(PRIVATE), |o| o.tiles[0].1.reverse()),
        ("places of another tile", Expect::Lie("that the grid puts"), |o| {
            let last = o.tiles.len() - 1;
            o.tiles.swap(0, last);
            let places = o.manifest["tiles"][0]["places"].clone();
            o.manifest["tiles"][0]["places"] = o.manifest["tiles"][last]["places"].clone();
            o.manifest["tiles"][last]["places"] = places;
        }),
        ("a place in two tiles", Expect::Refused, |o| {
            let place = o.tiles[1].0[0];
            o.tiles[0].0[0] = place;
            o.tiles[0].0.sort_unstable();
        }),
        ("a place listed twice in a tile", Expect::Lie("out of order"), |o| {
            o.tiles[0].0[1] = o.tiles[0].0[0];
        }),
        ("a grid that sends everybody elsewhere", Expect::Lie("grid"), |o| {
            let tiles = o.manifest["grid"]["tiles"].as_array_mut().unwrap();
            tiles.rotate_left(1);
        }),
        ("a grid beside the map", Expect::Lie("grid"), |o| {
            o.manifest["grid"]["south_west"] = json!([0.0, 0.0]);
        }),
        ("something in the padding", Expect::Lie("padding"), |o| {
            o.spoil = Some(Arc::new(|name, bytes| {
                if name == "tile 0" {
                    bytes.extend([0, 0, 1]);
                }
            }));
        }),
        ("a tile of another mechanism", Expect::Lie("mechanism"), |o| {
            o.spoil = Some(Arc::new(|name, bytes| {
                if name == "tile 0" {
                    bytes[44] ^= 1;
                }
            }));
        }),
        ("a tile of another map", Expect::Lie("map version"), |o| {
            o.spoil = Some(Arc::new(|name, bytes| {
                if name == "tile 0" {
                    bytes[12] ^= 1;
                }
            }));
        }),
    ];
    for (name, expected, change) in lies {
        expect(name, Mode::Published, expected, change);
    }
}

/// All places within some metres of the middle.
fn house(operator: &mut Operator, factor: f64) {
    let [lat, lon, _] = operator.places[middle() as usize];
    for place in &mut operator.places {
        place[0] = lat + factor * (place[0] - lat);
        place[1] = lon + factor * (place[1] - lon);
    }
    let grid = &mut operator.manifest["grid"];
    for (axis, centre) in [lat, lon].into_iter().enumerate() {
        let corner = grid["south_west"][axis].as_f64().unwrap();
        grid["south_west"][axis] = json!(centre + factor * (corner - centre));
        grid["step"][axis] = json!(factor * grid["step"][axis].as_f64().unwrap());
    }
}

/// Two kinds of rows that are private as they stand, by a hair, and are not when each is scaled to a sum of one.
fn uneven_sums(operator: &mut Operator) {
    house(operator, 0.2);
    let columns = operator.places.len();
    let at: Vec<Coord> = operator.places.iter().map(|p| Coord::new(p[0], p[1]).unwrap()).collect();
    let nearest = |i: usize| {
        let others = (0..columns).filter(|&j| j != i).map(|j| at[i].distance_km(at[j]));
        others.fold(f64::INFINITY, f64::min)
    };
    let d = (0..columns).map(nearest).fold(f64::INFINITY, f64::min);
    operator.manifest["promise"]["epsilon_per_km"] = json!(1e-9 / d);
    // All rows are the same but for their sums: one part in 1e9 apart, which epsilon allows and scaling undoes; so the
    // first entry makes up for it.
    for (places, rows) in &mut operator.tiles {
        for (place, row) in places.iter().zip(rows) {
            let odd = f64::from(place % 2);
            let (share, sum) = (1.0 / columns as f64, 1.0 + 8e-10 * (odd - 0.5) * 2.0);
            *row = vec![share; columns];
            row[0] += sum - 1.0;
            if odd == 0.0 {
                row[1] += 1e-9 * share * 3.0;
                row[0] -= 1e-9 * share * 3.0;
            }
        }
    }
}

/// The same for description, y and slices.
#[test]
fn further_lies_about_programmes() {
    let lies: Vec<(&str, Mode, Expect, Change)> = vec![
        ("another description", Mode::Local, Expect::Lie("not the one"), |o| {
            // Shown after the manifest was signed.
            o.manifest["description"] = json!("00".repeat(32));
            o.spoil = Some(Arc::new(|name, bytes| {
                if name == "manifest" {
                    let text = String::from_utf8(bytes.clone()).unwrap();
                    let mut manifest: Value = serde_json::from_str(&text).unwrap();
                    manifest["description"] = json!("00".repeat(32));
                    *bytes = serde_json::to_vec(&manifest).unwrap();
                }
            }));
        }),
        ("a y that leaves no room", Mode::Local, Expect::Refused, |o| {
            o.description.local.as_mut().unwrap().y.iter_mut().for_each(|y| *y = *y * 1e3 + 1.0);
        }),
        ("a negative y", Mode::Local, Expect::Lie("y must be"), |o| {
            o.description.local.as_mut().unwrap().y[0] = -1.0;
        }),
        ("a y that is none", Mode::Local, Expect::Lie("y must be"), |o| {
            o.description.local.as_mut().unwrap().y[0] = f64::NAN;
        }),
        ("a y for fewer places", Mode::Local, Expect::Lie("y must be"), |o| {
            o.description.local.as_mut().unwrap().y.truncate(5);
        }),
        ("no y", Mode::Local, Expect::Refused, |o| o.description.local = None),
        ("range rule own", Mode::Local, Expect::Refused, |o| {
            o.description.parameters.range = Range::Own;
        }),
        ("another map", Mode::Local, Expect::Lie("another version of the map"), |o| {
            o.description.map = lrgeo_protocol::Digest([1; 32]);
        }),
        ("another protocol", Mode::Local, Expect::Lie("another version"), |o| {
            o.description.protocol = 99;
        }),
        ("infinite radii", Mode::Local, Expect::Lie("a phone cannot look"), |o| {
            o.description.parameters.obfuscation_km = f64::INFINITY;
        }),
        ("r_exp beyond r_obf", Mode::Local, Expect::Lie("exp-radius"), |o| {
            o.description.parameters.exponential_km = 1e3;
        }),
        ("an epsilon of nothing", Mode::Local, Expect::Refused, |o| {
            o.description.parameters.epsilon_per_km = 0.0;
        }),
        ("an epsilon that is none", Mode::Local, Expect::Refused, |o| {
            o.description.parameters.epsilon_per_km = f64::NAN;
        }),
        ("cells for fewer places", Mode::Local, Expect::Lie("a cell and an offset"), |o| {
            o.description.table.cells.truncate(2);
        }),
        ("costs without end", Mode::Local, Expect::Lie("ceiling"), |o| {
            o.description.table.ceiling = f64::INFINITY;
        }),
        ("a slice fewer", Mode::Local, Expect::Lie("one slice"), |o| drop(o.slices.pop())),
        ("slices of each other's tiles", Mode::Local, Expect::Lie("another version"), |o| {
            o.slices.rotate_left(1);
        }),
        ("a slice that lacks cells", Mode::Local, Expect::Lie("lack one"), |o| {
            for slice in &mut o.slices {
                slice.columns.truncate(1);
                let width = slice.rows.len();
                slice.beta.truncate(width);
            }
        }),
        ("a slice with costs that are none", Mode::Local, Expect::Lie("no cost"), |o| {
            o.slices.iter_mut().for_each(|slice| slice.beta[0] = f64::NAN);
        }),
        ("an epsilon above the owner's", Mode::Offload, Expect::Policy(Rule::Epsilon), |o| {
            o.description.parameters.epsilon_per_km = 3.0;
        }),
        ("no description", Mode::Offload, Expect::Refused, |o| {
            o.manifest["description"] = Value::Null;
        }),
    ];
    for (name, mode, expected, change) in lies {
        expect(name, mode, expected, change);
    }
}

/// Costs that lie change what a report costs, never how private it is: the matrix is checked as it is.
#[test]
fn costs_that_lie_cost_no_privacy() {
    let changes: [Change; 3] = [
        |o| o.slices.iter_mut().for_each(|slice| slice.beta.iter_mut().for_each(|b| *b = 0.0)),
        |o| {
            for slice in &mut o.slices {
                let width = slice.columns.len();
                slice.beta.iter_mut().enumerate().for_each(|(at, b)| {
                    *b = if at % width == (at / width) % width { 0.0 } else { 5.0 };
                });
            }
        },
        |o| o.description.table.offsets_mm.iter_mut().for_each(|offset| *offset = 4_000_000),
    ];
    for change in changes {
        let mut operator = honest();
        change(&mut operator);
        let result =
            owner(&InMemory::default(), &operator.sign(), 5).obfuscate(here(), Mode::Local);
        match result {
            Ok(outcome) => assert!(outcome.epsilon_per_km <= Policy::default().most_epsilon_per_km),
            Err(error) => {
                let known = matches!(error, ClientError::Policy(_) | ClientError::Mechanism(_));
                assert!(known, "{error}");
            }
        }
    }
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
