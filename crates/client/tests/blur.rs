//! Noise without a service: what is remembered, spent, reported and refused.

use lrgeo_client::ClientError;
use lrgeo_client::blur::{Blur, BlurState, PublicPlaces};
use lrgeo_client::draws::Rehearsal;
use lrgeo_client::state::LedgerError;
use lrgeo_geo::Coord;
use lrgeo_tiles::sample::SystemRandomness;

const NOW: u64 = 1_800_000_000;

fn blur() -> Blur {
    Blur::new(&"factor 2 within 300 m".parse().unwrap()).unwrap()
}

fn here() -> Coord {
    Coord::new(64.14, -21.92).unwrap()
}

#[test]
fn staying_spends_nothing_and_leaving_draws_anew() {
    let (blur, mut state) = (blur(), BlurState::default());
    let mut report = |at| blur.report(&mut state, at, NOW, &mut SystemRandomness).unwrap();
    let first = report(here());
    assert!(first.spent_per_km == blur.epsilon_per_km() && first.remembered.is_none());
    let radius = blur.reuse_radius_km();
    for km in [0.0, 0.2 * radius, 0.99 * radius] {
        let again = report(here().offset_km(km, 0.0));
        assert_eq!((again.at, again.spent_per_km, again.remembered), (first.at, 0.0, Some(NOW)));
        assert_eq!(again.accuracy_m, first.accuracy_m);
    }
    let left = report(here().offset_km(1.01 * radius, 0.0));
    assert!(left.spent_per_km > 0.0 && left.at != first.at);
    // Back between both, the oldest counts.
    assert_eq!(report(here().offset_km(0.6 * radius, 0.0)).at, first.at);
    let kept = BlurState::from_bytes(&state.to_bytes(), "storage").unwrap();
    assert_eq!((kept.anchors.len(), kept), (2, state));
}

#[test]
fn whoever_asks_for_less_privacy_gets_a_closer_report_and_for_more_the_one_that_is_known() {
    let mut state = BlurState::default();
    let mut with = |words: &str| {
        let blur = Blur::new(&words.parse().unwrap()).unwrap();
        blur.report(&mut state, here(), NOW, &mut SystemRandomness).unwrap()
    };
    let first = with("factor 2 within 300 m");
    assert_eq!(with("factor 2 within 1 km").at, first.at);
    let closer = with("factor 2 within 100 m");
    assert!(closer.spent_per_km > 6.0 && closer.accuracy_m < first.accuracy_m);
}

#[test]
fn the_account_ends_it() {
    let blur = blur().policy(|policy| policy.per_period.cap_per_km = 5.0).unwrap();
    let mut state = BlurState::default();
    let mut report =
        |km| blur.report(&mut state, here().offset_km(km, 0.0), NOW, &mut SystemRandomness);
    assert!(report(0.0).is_ok() && report(5.0).is_ok());
    let refused = report(10.0);
    assert!(
        matches!(refused, Err(ClientError::Ledger(LedgerError::OverCap { .. }))),
        "{refused:?}"
    );
    assert_eq!(report(0.1).unwrap().spent_per_km, 0.0);
    assert_eq!(state.anchors.len(), 2);
}

#[test]
fn public_places_are_reported_and_hold_who_is_there() {
    // A grid of 300 m, twice as likely in the east.
    let grid =
        |k: i32| here().offset_km(0.3 * f64::from(k / 40 - 20), 0.3 * f64::from(k % 40 - 20));
    let coords: Vec<Coord> = (0..1600).map(grid).collect();
    let prior = (0..1600).map(|k| if k % 40 > 20 { 2.0 } else { 1.0 }).collect();
    let places = PublicPlaces::new(coords.clone(), prior).unwrap();
    let blur = blur().places(places).policy(|p| p.per_period.cap_per_km = 1e4).unwrap();
    let blur = blur.policy(|p| p.lifetime_per_km = 1e5).unwrap();
    let mut draws = Rehearsal::seeded(3);
    let mut held = 0;
    for k in 0..60 {
        let at = coords[(k * 577 + 13) % 1600].offset_km(0.05, 0.1);
        let told = blur.report(&mut BlurState::default(), at, NOW, &mut draws).unwrap();
        let told_at = Coord::new(told.at[0], told.at[1]).unwrap();
        assert!(coords.iter().any(|place| place.distance_km(told_at) < 1e-6), "no place");
        held += u32::from(told_at.distance_km(at) * 1000.0 <= told.accuracy_m as f64);
    }
    assert!(held >= 54, "{held} of 60");
    // Far from all places it is a point of the lattice.
    let far = here().offset_km(300.0, 0.0);
    let told = blur.report(&mut BlurState::default(), far, NOW, &mut draws).unwrap();
    assert!(Coord::new(told.at[0], told.at[1]).unwrap().distance_km(far) < 20.0);
}

#[test]
fn nonsense_is_refused_by_name() {
    assert!(Blur::new(&"factor 2 within 1 m".parse().unwrap()).is_err());
    assert!(blur().policy(|policy| policy.reuse_within_km = Some(f64::NAN)).is_err());
    let two = vec![here(), here().offset_km(1.0, 0.0)];
    for prior in [vec![1.0], vec![0.0, 0.0], vec![1.0, f64::NAN], vec![2.0, -1.0]] {
        assert_eq!(PublicPlaces::new(two.clone(), prior).unwrap_err().field, "places");
    }
    let pole = Coord::new(89.0, 0.0).unwrap();
    assert!(blur().report(&mut BlurState::default(), pole, NOW, &mut SystemRandomness).is_err());
    let mut broken = BlurState::default();
    broken.ledger.lifetime_per_km = -1.0;
    assert!(BlurState::from_bytes(&broken.to_bytes(), "storage").is_err());
    for text in ["", "{}", "[1]", "{\"format\":\"lrgeo client state\"}"] {
        assert!(BlurState::from_bytes(text.as_bytes(), "storage").is_err());
    }
}
