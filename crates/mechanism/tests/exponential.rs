//! The exponential mechanism keeps its promise, and the verifier notices when one does not.

use lrgeo_geo::Coord;
use lrgeo_geo::rng::SplitMix;
use lrgeo_mechanism::exponential::real::{calibrate, real_epsilon};
use lrgeo_mechanism::exponential::{Exponential, Score};
use lrgeo_mechanism::{ObfuscationMatrix, exponential, verify};
use lrgeo_tiles::{Distribution, Epsilon, sample};

fn random_places(seed: u64, count: usize) -> Vec<Coord> {
    let mut rng = SplitMix::new(seed);
    (0..count)
        .map(|_| Coord::new(41.8 + 0.1 * rng.unit(), 12.4 + 0.1 * rng.unit()).unwrap())
        .collect()
}

fn entries(matrix: &ObfuscationMatrix) -> Vec<f64> {
    (0..matrix.places()).flat_map(|i| matrix.row(i).to_vec()).collect()
}

#[test]
fn is_private_for_every_pair_at_its_epsilon_and_not_at_half_of_it() {
    for (seed, epsilon) in [(1, 0.1), (2, 2.0), (3, 10.0)] {
        let places = random_places(seed, 60);
        let at = |value| Epsilon::per_km(value).unwrap();
        let matrix = exponential::by_distance(&places, at(epsilon)).unwrap();
        let verdict = verify::all_pairs(&matrix, &places, at(epsilon));
        assert!(verdict.is_private(), "seed {seed}: {verdict:?}");
        assert_eq!(verdict.checked, 60 * 59 * 60);
        assert!(!verify::all_pairs(&matrix, &places, at(epsilon / 2.0)).is_private());
    }
}

#[test]
fn one_planted_violation_is_caught_and_located() {
    let places = random_places(4, 40);
    let epsilon = Epsilon::per_km(2.0).unwrap();
    let matrix = exponential::by_distance(&places, epsilon).unwrap();
    let honest = verify::all_pairs(&matrix, &places, epsilon);
    let mut entries = entries(&matrix);
    // Move a third of one row's largest probability to another report.
    let (row, k) = (7, matrix.places());
    let moved = matrix.row(row)[row] / 3.0;
    entries[row * k + row] -= moved;
    entries[row * k + 22] += moved;
    let mutant = ObfuscationMatrix::new(k, entries).unwrap();
    let verdict = verify::all_pairs(&mutant, &places, epsilon);
    assert!(honest.is_private() && !verdict.is_private());
    let (i, j) = verdict.worst_at;
    assert!(i == row as u32 || j == row as u32, "blamed rows {i} and {j}");
}

#[test]
fn a_zero_beside_a_probability_is_an_infinite_violation() {
    let places = random_places(5, 3);
    let matrix =
        ObfuscationMatrix::new(3, vec![0.5, 0.5, 0.0, 0.5, 0.4, 0.1, 0.5, 0.4, 0.1]).unwrap();
    let verdict = verify::all_pairs(&matrix, &places, Epsilon::per_km(50.0).unwrap());
    assert_eq!(verdict.worst_log_excess, f64::INFINITY);
}

#[test]
fn rows_that_are_no_distributions_are_refused() {
    for bad in [[f64::NAN, 1.0], [-0.5, 1.5], [0.5, 0.4], [f64::INFINITY, 0.0]] {
        assert!(ObfuscationMatrix::new(2, [bad, [0.5, 0.5]].concat()).is_err(), "{bad:?}");
    }
    assert!(ObfuscationMatrix::new(2, vec![1.0; 3]).is_err());
}

/// The largest `|ln z_ik - ln z_jk| / d_ij` over pairs and columns, the slow way.
fn steepest(matrix: &ObfuscationMatrix, places: &[Coord], gamma_km: f64) -> f64 {
    let mut steepest = 0.0f64;
    for i in 0..places.len() {
        for j in (0..places.len()).filter(|&j| j != i) {
            let distance = places[i].distance_km(places[j]);
            for (a, b) in matrix.row(i).iter().zip(matrix.row(j)) {
                if distance <= gamma_km {
                    steepest = steepest.max((a.ln() - b.ln()) / distance);
                }
            }
        }
    }
    steepest
}

/// A loss that is no distance: the difference of a bumpy function of the place, and some of the way.
fn loss(places: &[Coord]) -> impl Fn(usize) -> Vec<f64> + Sync {
    let height = |c: &Coord| 3.0 * (c.lat() * 90.0).sin() + 2.0 * (c.lon() * 70.0).cos();
    move |i| {
        let from = &places[i];
        let to = |c: &Coord| (height(c) - height(from)).abs() + 0.3 * c.distance_km(*from);
        places.iter().map(to).collect()
    }
}

#[test]
fn the_real_epsilon_is_the_largest_ratio_of_any_pair_and_column() {
    let places = random_places(6, 50);
    let losses = loss(&places);
    for score in [Score::Distance, Score::Cost(&losses)] {
        for (epsilon, gamma) in [(0.2, f64::INFINITY), (2.0, f64::INFINITY), (2.0, 3.0)] {
            let mechanism = Exponential::new(&places, score, Epsilon::per_km(epsilon).unwrap());
            let real = real_epsilon(&mechanism, gamma).unwrap();
            let slow = steepest(&mechanism.matrix().unwrap(), &places, gamma);
            assert!(real >= slow, "{real} < {slow}");
            assert!(real <= slow * (1.0 + 1e-8), "{real} is not {slow}");
        }
    }
}

#[test]
fn calibrated_it_spends_exactly_what_was_asked_for() {
    let places = random_places(7, 60);
    let losses = loss(&places);
    for score in [Score::Distance, Score::Cost(&losses)] {
        for asked in [0.1, 1.0, 8.0] {
            let epsilon = Epsilon::per_km(asked).unwrap();
            let mechanism = calibrate(&places, score, epsilon, f64::INFINITY).unwrap();
            let matrix = mechanism.matrix().unwrap();
            assert!(verify::all_pairs(&matrix, &places, epsilon).is_private());
            let less = Epsilon::per_km(asked * 0.9999).unwrap();
            assert!(!verify::all_pairs(&matrix, &places, less).is_private());
            if let Score::Distance = score {
                let exponent = mechanism.exponent().value();
                assert!((asked..2.0 * asked).contains(&exponent), "{exponent} for {asked}");
            }
        }
    }
}

#[test]
fn calibrated_within_gamma_the_pairs_within_gamma_hold() {
    let places = random_places(8, 60);
    let losses = loss(&places);
    let epsilon = Epsilon::per_km(1.5).unwrap();
    for score in [Score::Distance, Score::Cost(&losses)] {
        let near = calibrate(&places, score, epsilon, 1.5).unwrap();
        let all = calibrate(&places, score, epsilon, f64::INFINITY).unwrap();
        assert!(near.exponent() >= all.exponent());
        assert!(steepest(&near.matrix().unwrap(), &places, 1.5) < 1.5);
        assert!(real_epsilon(&near, 1.5).unwrap() > 1.5 * (1.0 - 1e-5));
    }
}

#[test]
fn two_places_at_one_spot_are_alike_by_distance_and_betrayed_by_cost() {
    let mut places = random_places(9, 20);
    places[13] = places[4];
    let epsilon = Epsilon::per_km(2.0).unwrap();
    let by_distance = calibrate(&places, Score::Distance, epsilon, f64::INFINITY).unwrap();
    assert_eq!(by_distance.row(4).unwrap(), by_distance.row(13).unwrap());
    assert!(real_epsilon(&by_distance, f64::INFINITY).unwrap() <= 2.0);
    let matrix = by_distance.matrix().unwrap();
    assert!(verify::all_pairs(&matrix, &places, epsilon).is_private());

    let losses = |i: usize| (0..20).map(|k| (i as f64 - k as f64).abs()).collect::<Vec<f64>>();
    let by_cost = Exponential::new(&places, Score::Cost(&losses), epsilon);
    assert_eq!(real_epsilon(&by_cost, f64::INFINITY).unwrap(), f64::INFINITY);
    assert!(calibrate(&places, Score::Cost(&losses), epsilon, f64::INFINITY).is_err());
    // A loss that is the same for both, up to a constant of the row, gives nobody away.
    let losses = |i: usize| (0..20).map(|k| (k + i % 9) as f64).collect::<Vec<f64>>();
    let by_cost = Exponential::new(&places, Score::Cost(&losses), epsilon);
    assert!(real_epsilon(&by_cost, f64::INFINITY).unwrap() < 1e-6);
}

#[test]
fn one_place_has_nothing_to_hide_and_bad_losses_are_refused() {
    let places = random_places(10, 2);
    let epsilon = Epsilon::per_km(2.0).unwrap();
    let alone = calibrate(&places[..1], Score::Distance, epsilon, f64::INFINITY).unwrap();
    assert_eq!(alone.row(0).unwrap(), [1.0]);
    assert!(alone.row(1).is_err());
    let (short, infinite) = (|_: usize| vec![0.0], |_: usize| vec![0.0, f64::INFINITY]);
    for losses in [&short as &(dyn Fn(usize) -> Vec<f64> + Sync), &infinite] {
        assert!(Exponential::new(&places, Score::Cost(losses), epsilon).matrix().is_err());
    }
    assert!(calibrate(&places, Score::Distance, epsilon, f64::NAN).is_err());
}

#[test]
fn a_map_so_wide_that_numbers_vanish_still_has_no_zeros() {
    let at = |lon: f64| Coord::new(45.0, lon).unwrap();
    let places: Vec<Coord> = (0..40).map(|i| at(f64::from(i))).collect();
    let epsilon = Epsilon::per_km(5.0).unwrap();
    let matrix = calibrate(&places, Score::Distance, epsilon, f64::INFINITY).unwrap();
    let matrix = matrix.matrix().unwrap();
    assert!((0..40).all(|i| matrix.row(i).iter().all(|z| *z > 0.0)));
    assert!(verify::all_pairs(&matrix, &places, epsilon).is_private());
}

#[test]
fn the_whole_numbers_themselves_are_private() {
    let mut rng = SplitMix::new(8);
    let places: Vec<Coord> = (0..50)
        .map(|_| Coord::new(41.8 + 0.2 * rng.unit(), 12.4 + 0.2 * rng.unit()).unwrap())
        .collect();
    for asked in [0.05, 2.0, 20.0] {
        let epsilon = Epsilon::per_km(asked).unwrap();
        let matrix = exponential::by_distance(&places, epsilon).unwrap();
        let rows = integers(&matrix);
        // Not by luck: the matrix uses between half and all of its epsilon.
        assert_eq!(violations(&rows, &places, asked), 0);
        assert!(violations(&rows, &places, 0.49 * asked) > 0);
    }
}

fn drawn(row: &[f64]) -> Vec<u128> {
    sample::weights(&Distribution::new(row.to_vec()).unwrap()).unwrap()
}

fn integers(matrix: &ObfuscationMatrix) -> Vec<Vec<u128>> {
    (0..matrix.places()).map(|i| drawn(matrix.row(i))).collect()
}

/// How many `w_ik <= exp(eps d_ij) w_jk` fail, the factor rounded down and the rest exact.
fn violations(rows: &[Vec<u128>], places: &[Coord], epsilon: f64) -> usize {
    let pairs = (0..rows.len()).flat_map(|i| (0..rows.len()).map(move |j| (i, j)));
    pairs
        .map(|(i, j)| {
            let allowed = (epsilon * places[i].distance_km(places[j])).exp() * (1.0 - 1e-13);
            let allowed = if i == j { 1.0 } else { allowed };
            let columns = rows[i].iter().zip(&rows[j]);
            columns.filter(|&(&a, &b)| !sample::exact::at_most(a, allowed, b)).count()
        })
        .sum()
}
