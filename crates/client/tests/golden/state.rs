//! The state file: `state.json` as it is written now, `state-2.json` as the version before wrote it.

use std::collections::BTreeMap;

use lrgeo_client::Mode;
use lrgeo_client::policy::Terms;
use lrgeo_client::state::{
    Asked, Fork, Hidden, Ledger, Memory, Pinned, Remembered, Spend, State, StateError, StateKey,
};
use lrgeo_geo::PlaceId;
use lrgeo_protocol::Digest;
use lrgeo_tiles::Issued;
use serde_json::{Value, json};

use super::files::golden;
use super::{FOLDER, city};

const THEN: u64 = 1_800_000_000;

/// One of everything that can be remembered.
fn state() -> State {
    let [first, second] = city::keys().map(|key| key.public());
    let (operator, grid) = (first.to_string(), Digest([7; 32]));
    let terms = Terms { epsilon_per_km: 1.5, reach_km: 0.75, likely_places: 10.5 };
    let pinned = Pinned {
        server: "https://places.example".into(),
        key: first,
        since: THEN,
        sequence: 2,
        manifest: Digest([8; 32]),
        issued: Issued::from_unix(THEN + 86_400),
        signer: second,
        next_key: second,
        terms: BTreeMap::from([(Mode::Coordinates, terms), (Mode::Published, terms)]),
        fork: Some(Fork { sequence: 2, known: Digest([8; 32]), other: Digest([9; 32]) }),
    };
    let spend = |at, epsilon_per_km| Spend { at, epsilon_per_km };
    let reported = |mode, accuracy_m| Remembered {
        operator: operator.clone(),
        grid,
        anchor: [45.0001, 7.0129],
        radius_km: 0.625,
        report: [45.0, 7.0256],
        epsilon_per_km: 1.5,
        accuracy_m,
        mode,
        at: THEN + 60,
    };
    let mut state = State::default();
    state.policy.reuse_within_km = Some(0.5);
    state.ledger = Ledger {
        lifetime_per_km: 3.0,
        latest: THEN + 120,
        spends: vec![spend(THEN + 60, 1.5), spend(THEN + 120, 1.25)],
    };
    state.servers = vec![pinned];
    state.offload_understood = true;
    state.memory = Memory {
        reports: vec![reported(Mode::Coordinates, Some(1_250)), reported(Mode::Offload, None)],
        asked: vec![Asked {
            operator: operator.clone(),
            grid,
            place: [45.0, 7.0128],
            centre: PlaceId::new(3),
        }],
        hidden: vec![Hidden { operator, tiling: grid, place: [45.0, 7.0128], tiles: vec![0, 4] }],
    };
    state
}

/// The same by the version before, which kept reports by place.
fn before(text: &[u8]) -> Vec<u8> {
    let mut old: Value = serde_json::from_slice(text).unwrap();
    old["version"] = json!(2);
    for report in old["memory"]["reports"].as_array_mut().unwrap() {
        for (new, old) in [("anchor", "place"), ("radius_km", "reach_km")] {
            let value = report.as_object_mut().unwrap().remove(new).unwrap();
            report[old] = value;
        }
    }
    serde_json::to_vec_pretty(&old).unwrap()
}

#[test]
fn the_state_of_this_version_and_of_the_one_before() {
    let kept = golden(FOLDER, "state.json", &state().to_bytes());
    assert_eq!(State::from_bytes(&kept, "golden").unwrap(), state());
    let old = golden(FOLDER, "state-2.json", &before(&kept));
    assert_eq!(State::from_bytes(&old, "golden").unwrap(), state(), "nothing is forgotten");
}

/// Sealing draws a nonce, so nobody writes this file twice: what was sealed once must open for ever.
#[test]
fn a_state_that_was_sealed_opens_with_its_key_alone() {
    let key = StateKey::new([3; 32]);
    let path = format!("{FOLDER}/state-sealed.json");
    if std::env::var_os("LRGEO_GOLDEN").is_some() && !std::path::Path::new(&path).exists() {
        std::fs::write(&path, key.seal(&state().to_bytes()).unwrap()).unwrap();
    }
    let kept = std::fs::read(&path).unwrap();
    let text = key.open(&kept, "golden").unwrap();
    assert_eq!(State::from_bytes(&text, "golden").unwrap(), state());
    assert!(State::is_sealed(&kept) && !State::is_sealed(&text));
    assert_eq!(kind(&kept), "sealed");
    let refused = StateKey::new([4; 32]).open(&kept, "golden").unwrap_err();
    assert!(matches!(refused, StateError::OtherKey { .. }), "{refused}");
}

/// What a test says about an error.
fn kind(bytes: &[u8]) -> String {
    match State::from_bytes(bytes, "golden") {
        Ok(_) => "accepted".into(),
        Err(StateError::Damaged { reason, .. }) => reason,
        Err(StateError::OtherVersion { found, .. }) => format!("version {found}"),
        Err(StateError::Sealed { .. }) => "sealed".into(),
        Err(other) => format!("{other:?}"),
    }
}

#[test]
fn malformed_states_are_refused() {
    let kept = state().to_bytes();
    let whole: Value = serde_json::from_slice(&kept).unwrap();
    let policy = "epsilons of the policy must be positive numbers per kilometre";
    let (spends, lifetime) = (
        "the ledger holds spends that cannot be",
        "the ledger has spent less in a lifetime than in a year",
    );
    let place = "it remembers something that is no place";
    // A decoder might quote a place: all that is said is the line, and these texts have one.
    let text = "line 1";
    let twins = [
        ("/format", json!("lrgeo tiles"), "it is another kind of file"),
        ("/version", json!(1), "version 1"),
        ("/version", json!(4), "sealed"),
        ("/version", json!(5), "version 5"),
        ("/version", json!(u64::MAX), "version 18446744073709551615"),
        ("/version", json!(2), "its reports are not those of version 2"),
        ("/version", json!("3"), text),
        ("/policy/most_epsilon_per_km", json!(0.0), policy),
        ("/policy/lifetime_per_km", json!(-1.0), policy),
        (
            "/policy/per_period/period_seconds",
            json!(0),
            "the period must lie between a second and 366 days",
        ),
        (
            "/policy/least_likely_places",
            json!(0.5),
            "the least number of likely places must be at least 1",
        ),
        ("/policy/protects", json!("nobody"), text),
        ("/ledger/lifetime_per_km", json!(2.0), lifetime),
        ("/ledger/spends/0/epsilon_per_km", json!(-1.5), spends),
        ("/ledger/spends/0/epsilon_per_km", json!(null), text),
        ("/ledger/spends/0/at", json!(THEN + 121), spends),
        ("/ledger/spends/0/at", json!(THEN + 120), "accepted"),
        ("/ledger/latest", json!(THEN), spends),
        ("/servers/0/key", json!("ed25519:00"), text),
        ("/servers/0/manifest", json!("08"), text),
        ("/servers/0/issued", json!("yesterday"), text),
        ("/servers/0/terms", json!({ "telepathy": {} }), text),
        ("/memory/reports/0/anchor/0", json!(91.0), place),
        ("/memory/reports/0/report/1", json!(-181.0), place),
        ("/memory/reports/0/radius_km", json!(-0.5), place),
        ("/memory/reports/0/mode", json!("telepathy"), text),
        ("/memory/reports/0/grid", json!(null), text),
        ("/memory/asked/0/place/0", json!(-91.0), place),
        ("/memory/hidden/0/place/1", json!(200.0), place),
        ("/memory/hidden/0/tiles/0", json!(-1), text),
    ];
    for (field, value, expected) in twins {
        let mut twin = whole.clone();
        *twin.pointer_mut(field).unwrap_or_else(|| panic!("no {field}")) = value.clone();
        assert_eq!(kind(&serde_json::to_vec(&twin).unwrap()), expected, "{field} {value}");
    }
    for length in (0..kept.len() - 1).step_by(11) {
        assert!(kind(&kept[..length]).starts_with("line "), "cut at {length}");
    }
    let doubled = [&kept[..], &kept[..]].concat();
    assert!(kind(&doubled).starts_with("line "));
    let not_numbers = String::from_utf8(kept).unwrap().replace("0.625", "NaN");
    assert!(kind(not_numbers.as_bytes()).starts_with("line "));
    for field in whole.as_object().unwrap().keys() {
        let mut twin = whole.clone();
        twin.as_object_mut().unwrap().remove(field);
        assert_eq!(kind(&serde_json::to_vec(&twin).unwrap()), text, "without {field}");
    }
    let mut twin = whole;
    twin["more"] = json!(1);
    assert_eq!(kind(&serde_json::to_vec(&twin).unwrap()), text, "with a field too many");
}
