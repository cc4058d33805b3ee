//! Reports, ledger and file of a state.

use std::path::PathBuf;

use lrgeo_geo::Digest;
use lrgeo_geo::{Coord, PlaceId};
use lrgeo_tiles::{Epsilon, PublicKey, SecretKey};

use super::*;
use crate::Mode;
use crate::ground::Ground;

/// A directory that is gone when the test ends.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("lrgeo-state-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("deep").join("client.json")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const DAY: u64 = 86_400;

static POLICY: std::sync::LazyLock<Policy> = std::sync::LazyLock::new(Policy::default);

#[test]
fn the_cap_holds_within_every_period() {
    let mut ledger = Ledger::default();
    let now = 1_000_000;
    for i in 0..10 {
        ledger.spend(&POLICY, now + i, 2.0).unwrap();
    }
    let balance = ledger.balance(&POLICY, now + 10);
    assert_eq!((balance.spent_per_km, balance.left_per_km), (20.0, 0.0));
    let over = ledger.spend(&POLICY, now + 11, 0.001).unwrap_err();
    assert!(over.to_string().contains("`policy.per_period`"), "{over}");
    assert_eq!(ledger.spends.len(), 10, "a refused spend leaves no trace");
    // The first spend is a whole period old: exactly one more fits.
    assert!(ledger.allow(&POLICY, now + DAY - 1, 2.0).is_err());
    ledger.spend(&POLICY, now + DAY, 2.0).unwrap();
    assert!(ledger.allow(&POLICY, now + DAY, 0.001).is_err());
    // Everything is forgotten after a period without reports.
    assert!(ledger.allow(&POLICY, now + 3 * DAY, 20.0).is_ok());
    let alone = ledger.allow(&POLICY, now + 3 * DAY, 20.1).unwrap_err();
    assert!(alone.to_string().contains("epsilon alone"), "{alone}");
    assert!(ledger.allow(&POLICY, now + 3 * DAY, f64::NAN).is_err());
}

#[test]
fn nothing_spent_is_zero_without_a_sign() {
    let balance = Ledger::default().balance(&POLICY, 1_000);
    assert_eq!(balance.spent_per_km.to_bits(), 0f64.to_bits());
}

#[test]
fn tenths_add_up_to_the_cap() {
    let policy = Policy { per_period: Limit::new(1.0, DAY).unwrap(), ..Policy::default() };
    let mut ledger = Ledger::default();
    for i in 0..10 {
        ledger.spend(&policy, 1_000 + i, 0.1).unwrap();
    }
    assert!(ledger.spend(&policy, 2_000, 0.1).is_err());
}

#[test]
fn a_lifetime_is_a_lifetime() {
    let policy = Policy { lifetime_per_km: 50.0, ..Policy::default() };
    let mut ledger = Ledger::default();
    // Years apart: the spends themselves are forgotten, their sum is not.
    for year in 1..=25 {
        ledger.spend(&policy, year * 400 * DAY, 2.0).unwrap();
    }
    assert_eq!(ledger.spends.len(), 1);
    let over = ledger.spend(&policy, 26 * 400 * DAY, 0.1).unwrap_err();
    assert!(matches!(over, LedgerError::OverLifetime { .. }), "{over}");
    assert!(over.to_string().contains("`policy.lifetime_per_km`"));
    assert_eq!(ledger.balance(&policy, 26 * 400 * DAY).lifetime_left_per_km, 0.0);
    assert!(ledger.spend(&Policy::default(), 26 * 400 * DAY, 0.1).is_ok());
}

#[test]
fn a_clock_that_goes_backwards_stops_spending() {
    let mut ledger = Ledger::default();
    ledger.spend(&POLICY, 10 * DAY, 2.0).unwrap();
    assert!(matches!(ledger.spend(&POLICY, 9 * DAY, 2.0), Err(LedgerError::ClockBackwards { .. })));
    assert!(matches!(ledger.spend(&POLICY, 0, 2.0), Err(LedgerError::ClockBackwards { .. })));
    // A correction by seconds is not that, and does not move anything to the past.
    ledger.spend(&POLICY, 10 * DAY - 30, 2.0).unwrap();
    assert_eq!(ledger.spends[1].at, 10 * DAY);
    // Nor does looking from the past make old spends disappear.
    assert_eq!(ledger.balance(&POLICY, 0).spent_per_km, 4.0);
}

#[test]
fn limits_and_longer_periods_see_what_was_spent_before() {
    let mut ledger = Ledger::default();
    ledger.spend(&POLICY, 1_000, 5.0).unwrap();
    ledger.spend(&POLICY, 1_000 + 2 * DAY, 5.0).unwrap();
    assert_eq!(ledger.balance(&POLICY, 1_000 + 2 * DAY).spent_per_km, 5.0);
    let longer = Policy { per_period: Limit::new(8.0, 7 * DAY).unwrap(), ..Policy::default() };
    assert_eq!(ledger.balance(&longer, 1_000 + 2 * DAY).spent_per_km, 10.0);
    assert!(ledger.allow(&longer, 1_000 + 2 * DAY, 0.1).is_err());
    for (cap, period) in
        [(-1.0, DAY), (f64::NAN, DAY), (f64::INFINITY, DAY), (1.0, 0), (1.0, 400 * DAY)]
    {
        assert!(Limit::new(cap, period).is_err(), "{cap} per {period} s");
    }
    let nothing = Policy { per_period: Limit::new(0.0, DAY).unwrap(), ..Policy::default() };
    assert!(Ledger::default().allow(&nothing, 5, 1e-9).is_err());
}

/// Places `spacing_km` apart in a row, and the map version `version`.
fn ground(version: u8, spacing_km: f64, shift_km: f64, key: u8) -> Ground {
    let corner = Coord::new(64.1, -21.9).unwrap();
    let coords = (0..20).map(|i| corner.offset_km(0.0, shift_km + spacing_km * f64::from(i)));
    let epsilon = Epsilon::per_km(2.0).unwrap();
    Ground::new(operator(key), Digest([version; 32]), epsilon, coords.collect()).unwrap()
}

fn operator(seed: u8) -> PublicKey {
    SecretKey::from_seed([seed; 32]).unwrap().public()
}

fn at(ground: &Ground, place: u32) -> Coord {
    let [lat, lon] = ground.report_coord(PlaceId::new(place)).unwrap();
    Coord::new(lat, lon).unwrap()
}

/// A report drawn at 2/km at second 77, for 500 m.
fn drawn(report: u32) -> Recalled {
    Recalled {
        report: PlaceId::new(report),
        at: 77,
        epsilon_per_km: 2.0,
        radius_km: 0.5,
        accuracy_m: Some(900),
        mode: Mode::Published,
    }
}

#[test]
fn the_same_spot_gives_the_same_report() {
    let (map, mut memory) = (ground(1, 0.5, 0.0, 1), Memory::default());
    let here = at(&map, 7).offset_km(0.1, 0.1);
    assert_eq!(memory.recall(&map, here, 0), None);
    memory.remember(&map, here, &drawn(9));
    // Around it, on whichever side of the border of two cells; not farther away, nor for another operator.
    for (north, east) in [(0.0, 0.0), (0.01, -0.01), (-0.2, -0.2), (0.0, 0.3), (0.0, 0.499)] {
        assert_eq!(memory.recall(&map, here.offset_km(north, east), 0), Some(drawn(9)));
    }
    assert_eq!(memory.recall(&map, here.offset_km(0.0, 0.501), 0), None);
    assert_eq!(memory.recall(&ground(1, 0.5, 0.0, 2), here, 0), None);
    // Whatever the operator calls the same coordinates.
    assert_eq!(memory.recall(&ground(9, 0.5, 0.0, 1), here, 0), Some(drawn(9)));
}

#[test]
fn no_row_is_drawn_from_twice() {
    let (map, mut memory) = (ground(1, 0.5, 0.0, 1), Memory::default());
    let small = Recalled { radius_km: 0.05, ..drawn(9) };
    memory.remember(&map, at(&map, 7).offset_km(0.0, 0.2), &small);
    // The other end of the same cell; the neighbouring cell; off the map, where the nearest place is the same.
    let other_end = at(&map, 7).offset_km(0.2, -0.2);
    assert_eq!(memory.recall(&map, other_end, 0), Some(small.clone()));
    // What was reported from there is reported from there on every later map, though the draw was elsewhere.
    assert_eq!(
        memory.recall(&ground(2, 0.3, 0.2, 1), other_end, 0).map(|known| known.at),
        Some(77)
    );
    assert_eq!(memory.recall(&map, at(&map, 8).offset_km(0.0, -0.2), 0), None);
    assert_eq!(memory.recall(&map, at(&map, 7).offset_km(3.0, 0.0), 0), None);
}

#[test]
fn later_anchors_change_nothing_for_spots_that_were_reported() {
    let (map, mut memory) = (ground(1, 0.5, 0.0, 1), Memory::default());
    let here = at(&map, 7);
    memory.remember(&map, here, &drawn(9));
    let spot = here.offset_km(0.0, 0.4);
    let before = memory.recall(&map, spot, 0);
    // Somebody went on a little and drew there; the spot is nearer to that.
    memory.remember(&map, here.offset_km(0.0, 0.51), &drawn(3));
    assert_eq!(memory.recall(&map, spot, 0), before);
    assert_eq!(memory.recall(&map, here.offset_km(0.0, 0.6), 0), Some(drawn(3)));
}

#[test]
fn reports_are_moved_to_other_versions_of_the_map() {
    let (old, mut memory) = (ground(1, 0.5, 0.0, 1), Memory::default());
    let here = at(&old, 7);
    memory.remember(&old, here, &drawn(9));
    // The same name, other coordinates: 0.2 km to the east, so that the old report's nearest place is that of its number.
    let new = ground(1, 0.5, 0.2, 1);
    // What the radius around the old report holds, a radius that is 200 m longer holds around the new one.
    let moved = memory.recall(&new, here.offset_km(0.1, 0.2), 0).unwrap();
    assert!((1099..=1101).contains(&moved.accuracy_m.unwrap()), "{moved:?}");
    assert_eq!(Recalled { accuracy_m: Some(900), ..moved }, drawn(9));
    assert_eq!(memory.recall(&new, here.offset_km(0.0, 1.7), 0), None);
    assert_eq!(memory.reports.len(), 1, "nothing was written down");
    // An owner who wants a new draw on a better map gets one, not two, and the old one back on the old map.
    assert_eq!(memory.recall(&new, here, 1), None);
    memory.remember(&new, here, &drawn(3));
    assert_eq!(memory.recall(&new, here, 1), Some(drawn(3)));
    assert_eq!(memory.recall(&old, here, 1), Some(drawn(9)));
    assert!(memory.recall(&ground(2, 0.5, 0.1, 1), here, 1).is_some());
}

#[test]
fn no_sequence_of_maps_makes_one_spot_draw_twice() {
    let here = Coord::new(64.1, -21.9).unwrap().offset_km(0.0, 2.345);
    let (mut memory, mut draws) = (Memory::default(), 0);
    for version in 0..40u8 {
        // Shrinking, shifted, renamed and not.
        let (spacing, shift) = (0.6 * 0.93f64.powi(version.into()), 0.013 * f64::from(version));
        let map = ground(version % 3, spacing, 2.0 - 5.0 * spacing + shift, 1);
        if memory.recall(&map, here, 0).is_none() {
            draws += 1;
            memory.remember(&map, here, &drawn(5));
        }
    }
    assert_eq!(draws, 1);
}

#[test]
fn the_radius_is_the_owners_or_follows_epsilon() {
    let policy = Policy::default();
    let radii = [2.0, 0.01, 1000.0].map(|epsilon| policy.reuse_radius_km(epsilon));
    assert_eq!(radii, [0.5, 2.0, 0.05], "1/epsilon, above what a fix is off by");
    let owner = Policy { reuse_within_km: Some(0.3), ..policy };
    assert_eq!(owner.reuse_radius_km(2.0), 0.3);
    assert!(owner.validate().is_ok());
    for km in [0.0, 0.049, -1.0, f64::NAN, f64::INFINITY, 2.1] {
        assert!(Policy { reuse_within_km: Some(km), ..policy }.validate().is_err(), "{km}");
    }
}

#[test]
fn a_state_of_version_2_is_brought_up_to_date() {
    let map = ground(1, 0.5, 0.0, 1);
    let mut state = State::default();
    state.memory.remember(
        &map,
        at(&map, 3),
        &Recalled { radius_km: 0.36, accuracy_m: None, mode: Mode::Local, ..drawn(4) },
    );
    state.ledger.spend(&POLICY, 1_700_000_000, 2.0).unwrap();
    let text = String::from_utf8(state.to_bytes()).unwrap();
    let old = text
        .replace("\"version\": 3", "\"version\": 2")
        .replace("\"anchor\"", "\"place\"")
        .replace("\"radius_km\"", "\"reach_km\"")
        .replace("        \"accuracy_m\": null,\n", "")
        .replace(",\n    \"reuse_within_km\": null", "");
    assert!(!old.contains("anchor") && !old.contains("reuse") && old.contains("reach_km"));
    let mut read = State::from_bytes(old.as_bytes(), "old").unwrap();
    assert_eq!(read, state, "bit for bit");
    // Everywhere in the old cell the old report is given again.
    assert!(read.memory.recall(&map, at(&map, 3).offset_km(0.24, 0.24), 0).is_some());
    // Version 1 is refused, with what to do.
    let older = old.replace("\"version\": 2", "\"version\": 1");
    let refused = State::from_bytes(older.as_bytes(), "old").unwrap_err();
    assert!(matches!(refused, StateError::OtherVersion { found: 1, .. }), "{refused}");
    assert!(refused.to_string().contains("begin anew"), "{refused}");
    // A mixture of both is neither.
    let mixed = text.replace("\"version\": 3", "\"version\": 2");
    assert!(State::from_bytes(mixed.as_bytes(), "mixed").is_err());
}

#[test]
fn circles_are_asked_around_one_centre() {
    let (map, mut memory) = (ground(1, 0.5, 0.0, 1), Memory::default());
    let place = map.locate(at(&map, 7)).unwrap();
    let mut ask = |map: &Ground, place: u32, centre: u32| {
        let place = map.locate(at(map, place)).unwrap();
        memory.centre(map, &place, || Ok::<_, ()>(PlaceId::new(centre))).unwrap()
    };
    assert_eq!([ask(&map, 7, 5), ask(&map, 7, 6), ask(&map, 8, 6)], [5, 5, 6].map(PlaceId::new));
    assert_eq!(
        ask(&ground(2, 0.5, 0.1, 1), 7, 3),
        PlaceId::new(3),
        "numbers of another map mean nothing"
    );
    assert_eq!(map.locate(at(&map, 7)).unwrap().0, place.0);
}

#[test]
fn a_state_survives_the_file() {
    let scratch = Scratch::new("survives");
    let mut kept = StateFile::open(&scratch.file()).unwrap();
    let map = ground(1, 0.5, 0.0, 1);
    kept.state.ledger.spend(&POLICY, 1_700_000_000, 0.1 + 0.2).unwrap();
    kept.state.memory.remember(&map, at(&map, 3), &drawn(4));
    kept.state.offload_understood = true;
    kept.commit().unwrap();
    let state = kept.state.clone();
    drop(kept);
    let again = StateFile::open(&scratch.file()).unwrap();
    assert_eq!(again.state, state, "bit for bit");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        for entry in std::fs::read_dir(scratch.file().parent().unwrap()).unwrap() {
            let entry = entry.unwrap();
            let mode = entry.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{:?}", entry.file_name());
        }
    }
}

#[test]
#[cfg(unix)]
fn a_file_that_others_can_read_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new("exposed");
    let mut kept = StateFile::open(&scratch.file()).unwrap();
    kept.state.offload_understood = true;
    kept.commit().unwrap();
    drop(kept);
    for mode in [0o640, 0o604, 0o620] {
        std::fs::set_permissions(scratch.file(), PermissionsExt::from_mode(mode)).unwrap();
        let refused = StateFile::open(&scratch.file()).unwrap_err();
        assert!(matches!(refused, StateError::Exposed { .. }), "{mode:o}");
        assert!(refused.to_string().contains("chmod 600"));
    }
}

#[test]
fn damage_fails_closed() {
    let scratch = Scratch::new("damage");
    let map = ground(1, 0.5, 0.0, 1);
    let mut kept = StateFile::open(&scratch.file()).unwrap();
    kept.state.memory.remember(&map, at(&map, 3), &drawn(4));
    kept.state.ledger.spend(&POLICY, 1_700_000_000, 2.0).unwrap();
    kept.commit().unwrap();
    drop(kept);
    let text = std::fs::read_to_string(scratch.file()).unwrap();
    let latitude = format!("{}", at(&map, 3).lat());
    let planted = [
        String::new(),
        text[..text.len() / 2].to_owned(),
        text.replace("\"version\": 3", "\"version\": 4"),
        text.replace("\"spends\"", "\"spent\""),
        text.replace("lrgeo client state", "something else"),
        text.replace("\"cap_per_km\": 20.0", "\"cap_per_km\": -1.0"),
        text.replace("\"lifetime_per_km\": 2.0", "\"lifetime_per_km\": 0.0"),
        text.replace("\"lifetime_per_km\": 400.0", "\"lifetime_per_km\": -400.0"),
        text.replace(
            "\"epsilon_per_km\": 2.0\n      }\n    ]\n  },",
            "\"epsilon_per_km\": -2.0\n      }\n    ]\n  },",
        ),
        text.replace(&latitude, "164.5"),
        text.replace("{\n  \"format\"", "{\n  \"surprise\": 1,\n  \"format\""),
    ];
    for (number, bad) in planted.iter().enumerate() {
        assert_ne!(bad, &text, "lie {number} changes nothing");
        std::fs::write(scratch.file(), bad).unwrap();
        let refused = StateFile::open(&scratch.file());
        let refused = refused.err().unwrap_or_else(|| panic!("damage {number} was accepted"));
        assert!(!refused.to_string().contains(&latitude), "{refused}");
    }
    std::fs::write(scratch.file(), &text).unwrap();
    assert!(StateFile::open(&scratch.file()).is_ok());
}

#[test]
fn whoever_comes_second_waits_and_sees_what_the_first_did() {
    let scratch = Scratch::new("lock");
    let writers: Vec<_> = (0..8)
        .map(|_| {
            let path = scratch.file();
            std::thread::spawn(move || {
                let mut kept = StateFile::open(&path).unwrap();
                let seen = kept.state.ledger.spends.len() as u64;
                std::thread::sleep(std::time::Duration::from_millis(5));
                kept.state.ledger.spend(&POLICY, 1_000 + seen, 1.0).unwrap();
                kept.commit().unwrap();
            })
        })
        .collect();
    writers.into_iter().for_each(|writer| writer.join().unwrap());
    assert_eq!(StateFile::open(&scratch.file()).unwrap().state.ledger.spends.len(), 8);
}

#[test]
fn what_cannot_be_written_is_an_error() {
    struct Full;
    impl Keeper for Full {
        fn save(&mut self, _: &[u8]) -> Result<(), StateError> {
            let source = std::io::Error::from(std::io::ErrorKind::StorageFull);
            Err(StateError::Io { name: "disk".into(), source })
        }
    }
    let mut kept = Kept::new(State::default(), Full);
    kept.commit().unwrap();
    kept.state.offload_understood = true;
    assert!(kept.commit().is_err());
    assert!(kept.commit().is_err(), "it does not count as written the second time either");
}
