//! Manifests one after the other: new maps, forks, keys, dates.

use lrgeo_client::{Caught, ClientError, Mode};
use lrgeo_tiles::SecretKey;
use serde_json::{Value, json};

use crate::common::InMemory;
use crate::common::operator::{Operator, Shown};
use crate::scene::{
    Expect, expect, here, honest, link, middle, owner, refused_as, service, uniform,
};

/// What a server was caught in.
fn caught(error: &ClientError) -> Option<Caught> {
    match error {
        ClientError::Lie(lie) => Some(lie.caught),
        _ => None,
    }
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
        assert_eq!(caught(&error), Some(Caught::Fork), "{name}: {error}");
        let state = memory.reopen().state;
        assert!(state.servers[0].fork.is_some(), "{name}");
        // The operator who goes back to the first is not believed any more either.
        let again = owner(&memory, &first, 5).obfuscate(here(), Mode::Published);
        assert_eq!(again.err().as_ref().and_then(caught), Some(Caught::Fork), "{name}");
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
        let known = matches!(caught(&error), Some(Caught::Key | Caught::Signature));
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
