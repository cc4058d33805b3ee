//! The exponential mechanism keeps its promise, and the verifier notices when one does not.

use lrgeo_map::geo::Coord;
use lrgeo_map::rng::SplitMix;
use lrgeo_mechanism::{Epsilon, ObfuscationMatrix, exponential, verify};

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
    let (i, j, column) = verdict.worst_at;
    assert!(i == row || j == row, "blamed rows {i} and {j}");
    assert!([7, 22].contains(&column), "blamed report {column}");
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
