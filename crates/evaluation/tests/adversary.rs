//! The Bayesian adversary against a plain loop over all guesses.

mod common;

use common::random_city;
use lrgeo_evaluation::adversary::{Adversary, adversary, blind};
use lrgeo_geo::rng::SplitMix;
use lrgeo_geo::{Coord, PlaceId};
use lrgeo_mechanism::rows::{Round, UserMatrix};
use lrgeo_mechanism::{Built, ObfuscationMatrix, Plan, Rows, build, by_name};
use lrgeo_tiles::{Epsilon, SparseMatrix};

/// Every guess for every report, `joint[i][k]` being the probability of place i and report k.
fn by_hand(coords: &[Coord], places: &[PlaceId], joint: &[Vec<f64>]) -> Adversary {
    let (mut errors, mut hits) = (vec![0.0; places.len()], vec![0.0; places.len()]);
    let mut entropy_bits = 0.0;
    for k in 0..joint[0].len() {
        let weights: Vec<f64> = joint.iter().map(|row| row[k]).collect();
        let total: f64 = weights.iter().sum();
        let far = |i: PlaceId, guess: &Coord| coords[i.index()].distance_km(*guess);
        let error = |guess: &Coord| -> f64 {
            places.iter().zip(&weights).map(|(&i, w)| w * far(i, guess)).sum()
        };
        let nearest = coords.iter().min_by(|a, b| error(a).total_cmp(&error(b))).unwrap();
        let mode = (0..places.len()).max_by(|&a, &b| weights[a].total_cmp(&weights[b])).unwrap();
        for (at, (&i, w)) in places.iter().zip(&weights).enumerate() {
            errors[at] += w * far(i, nearest);
        }
        hits[mode] += weights[mode];
        let positive = weights.iter().filter(|w| **w > 0.0);
        entropy_bits -= positive.map(|w| w * (w / total).log2()).sum::<f64>();
    }
    let prior: Vec<f64> = joint.iter().map(|row| row.iter().sum()).collect();
    let tenth = |values: &[f64], sign: f64| {
        let given = values.iter().zip(&prior).filter(|(_, p)| **p > 0.0);
        let mut given: Vec<f64> = given.map(|(v, p)| sign * v / p).collect();
        given.sort_by(f64::total_cmp);
        let count = given.len().div_ceil(10);
        sign * given[..count].iter().sum::<f64>() / count as f64
    };
    Adversary {
        inference_error_km: errors.iter().sum(),
        hit_rate: hits.iter().sum(),
        entropy_bits,
        worst_decile_error_km: tenth(&errors, 1.0),
        worst_decile_hit_rate: tenth(&hits, -1.0),
    }
}

fn assert_same(found: Adversary, expected: Adversary) {
    let pairs = [
        (found.inference_error_km, expected.inference_error_km),
        (found.hit_rate, expected.hit_rate),
        (found.entropy_bits, expected.entropy_bits),
        (found.worst_decile_error_km, expected.worst_decile_error_km),
        (found.worst_decile_hit_rate, expected.worst_decile_hit_rate),
    ];
    assert!(pairs.iter().all(|(a, b)| (a - b).abs() < 1e-9), "{found:?} {expected:?}");
}

fn laplace(seed: u64, places: usize) -> Built {
    let city = random_city(seed, places);
    let plan = Plan::new(&city, Epsilon::per_km(1.5).unwrap());
    build(by_name("laplace-places").unwrap(), &city, &plan, &()).unwrap().into_built()
}

fn random_row(rng: &mut SplitMix, columns: usize, zeros: usize) -> Vec<f64> {
    let mut row: Vec<f64> = (0..columns)
        .map(|_| if rng.below(10) < zeros { 0.0 } else { rng.unit().powi(4) })
        .collect();
    row[0] += 0.01;
    let total: f64 = row.iter().sum();
    row.iter_mut().for_each(|z| *z /= total);
    row
}

#[test]
fn one_matrix_is_attacked_as_by_hand() {
    for seed in 0..20 {
        let mut built = laplace(seed, 14);
        if seed % 2 == 1 {
            let mut rng = SplitMix::new(seed);
            let entries = (0..14).flat_map(|_| random_row(&mut rng, 14, 6)).collect();
            built.rows = Rows::Dense(ObfuscationMatrix::new(14, entries).unwrap());
        }
        let places: Vec<PlaceId> = PlaceId::all(14).collect();
        let joint = |i: PlaceId| -> Vec<f64> {
            let row = built.row(i).unwrap();
            row.iter().map(|z| built.prior[i.index()] * z).collect()
        };
        let joint: Vec<Vec<f64>> = places.iter().map(|&i| joint(i)).collect();
        assert_same(adversary(&built, &built.prior, &()), by_hand(&built.coords, &places, &joint));
    }
}

#[test]
fn tails_count_as_the_entries_that_they_stand_for() {
    for seed in 0..20 {
        let mut built = laplace(seed, 12);
        let mut rng = SplitMix::new(100 + seed);
        let present: Vec<bool> = (0..12).map(|k| k % 4 != 3).collect();
        let (mut start, mut column, mut value, mut tail) = (vec![0], vec![], vec![], vec![]);
        for _ in 0..12 {
            let explicit: Vec<u32> =
                (0..12).filter(|&k| present[k as usize] && rng.below(3) == 0).collect();
            let others = 9 - explicit.len();
            // Some explicit entries lie below the tail.
            let rest = rng.between(0.1, 0.9);
            tail.push(if others == 0 { 0.0 } else { rest / others as f64 });
            let share = if others == 0 { 1.0 } else { 1.0 - rest };
            if explicit.is_empty() {
                tail.pop();
                tail.push(1.0 / 9.0);
            } else {
                let parts = random_row(&mut rng, explicit.len(), 0);
                value.extend(parts.iter().map(|z| z * share));
            }
            column.extend(explicit);
            start.push(column.len());
        }
        let matrix = SparseMatrix { start, column, value, tail, present };
        matrix.validate().unwrap();
        built.rows = Rows::Sparse(matrix);
        let places: Vec<PlaceId> = PlaceId::all(12).collect();
        let joint: Vec<Vec<f64>> = places
            .iter()
            .map(|&i| built.row(i).unwrap().iter().map(|z| built.prior[i.index()] * z).collect())
            .collect();
        assert_same(adversary(&built, &built.prior, &()), by_hand(&built.coords, &places, &joint));
    }
}

#[test]
fn users_are_attacked_one_by_one_over_their_own_rows() {
    let mut built = laplace(3, 16);
    let mut rng = SplitMix::new(7);
    let columns = [0, 2, 3, 9, 15].map(PlaceId::new);
    let city = random_city(3, 16);
    let plan = Plan::new(&city, Epsilon::per_km(1.5).unwrap());
    let ties = lrgeo_mechanism::relevant::TieRule::of(&plan, &city).unwrap();
    let users: Vec<UserMatrix> = [vec![4, 1, 2, 8], vec![9, 10, 11], vec![0]]
        .into_iter()
        .map(|relevant: Vec<u32>| {
            let relevant: Vec<PlaceId> = relevant.into_iter().map(PlaceId::new).collect();
            let values =
                relevant.iter().flat_map(|_| random_row(&mut rng, columns.len(), 2)).collect();
            UserMatrix { place: relevant[0], shares: Vec::new(), relevant, values }
        })
        .collect();
    let expected = users.iter().map(|user| {
        let mass: f64 = user.relevant.iter().map(|&i| built.prior[i.index()]).sum();
        let even = 1.0 / user.relevant.len() as f64;
        let prior = |i: PlaceId| if mass > 0.0 { built.prior[i.index()] / mass } else { even };
        let rows = user.relevant.iter().enumerate();
        let joint: Vec<Vec<f64>> =
            rows.map(|(at, &i)| user.row(at).iter().map(|z| prior(i) * z).collect()).collect();
        by_hand(&built.coords, &user.relevant, &joint)
    });
    let expected: Vec<Adversary> = expected.collect();
    let mean = |of: fn(&Adversary) -> f64| expected.iter().map(of).sum::<f64>() / 3.0;
    let expected = Adversary {
        inference_error_km: mean(|a| a.inference_error_km),
        hit_rate: mean(|a| a.hit_rate),
        entropy_bits: mean(|a| a.entropy_bits),
        worst_decile_error_km: mean(|a| a.worst_decile_error_km),
        worst_decile_hit_rate: mean(|a| a.worst_decile_hit_rate),
    };
    built.rows = Rows::Users(Round { places: 16, columns: columns.into(), users, ties });
    assert_same(adversary(&built, &built.prior, &()), expected);
}

#[test]
fn a_report_helps_and_without_one_the_prior_is_all_there_is() {
    let built = laplace(5, 30);
    let (seen, unseen) = (adversary(&built, &built.prior, &()), blind(&built.coords, &built.prior));
    let joint: Vec<Vec<f64>> = built.prior.iter().map(|&p| vec![p]).collect();
    let places: Vec<PlaceId> = PlaceId::all(30).collect();
    assert_same(unseen, by_hand(&built.coords, &places, &joint));
    assert!(seen.inference_error_km < unseen.inference_error_km);
    assert!(seen.hit_rate > unseen.hit_rate);
    assert!(seen.entropy_bits < unseen.entropy_bits);
}
