//! Fine maps: neighbours so near that epsilon times their distance is far below one.

use super::{Arc, DenseCost, Point, Problem, ProblemParts, Random, arcs, distance};

/// How reports lie beside places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reports {
    /// At the places.
    Places,
    /// At every tenth place.
    Few,
    /// At the places and half as many others.
    More,
}

/// A map of about `rows` places with neighbours one apart: an even, jittered or triangular lattice by the seed. Arcs to
/// eight neighbours or farther, the mean error in distance to twelve targets as its cost, priors even or over four orders of
/// magnitude with zeros among them.
pub fn fine(seed: u64, eps_spacing: f64, rows: usize, reports: Reports) -> Problem {
    let mut random = Random::new(seed.wrapping_mul(1_000_003).wrapping_add(77));
    let width = (rows as f64).sqrt().round() as usize;
    let layout = random.between(0, 2);
    let places: Vec<Point> = (0..rows)
        .map(|v| ((v % width) as f64, v / width))
        .map(|(x, y)| match layout {
            0 => (x, y as f64),
            1 => (x + 0.6 * random.unit(), y as f64 + 0.6 * random.unit()),
            _ => (x + 0.5 * (y % 2) as f64, 0.75_f64.sqrt() * y as f64),
        })
        .collect();
    let reach = random.pick(&[1.5, 1.8, 2.3]);
    let side = width as f64;
    let mut anywhere = |count: usize| -> Vec<Point> {
        (0..count).map(|_| (side * random.unit(), side * random.unit())).collect()
    };
    let targets = anywhere(12);
    let reported = match reports {
        Reports::Places => places.clone(),
        Reports::Few => places.iter().copied().step_by(10).collect(),
        Reports::More => [places.clone(), anywhere(rows / 2)].concat(),
    };
    let is_even = random.chance(0.5);
    let mut prior: Vec<f64> = (0..rows)
        .map(|_| match (is_even, random.chance(0.05)) {
            (true, _) => 1.0,
            (false, true) => 0.0,
            (false, false) => 10_f64.powf(-4.0 * random.unit()),
        })
        .collect();
    let total: f64 = prior.iter().sum();
    prior.iter_mut().for_each(|p| *p /= total);
    let error = |a: Point, b: Point| {
        let errors = targets.iter().map(|&t| (distance(a, t) - distance(b, t)).abs());
        errors.sum::<f64>() / targets.len() as f64
    };
    let pairs = places.iter().zip(&prior).flat_map(|(&i, p)| {
        let error = &error;
        reported.iter().map(move |&k| p * error(i, k))
    });
    let cost = DenseCost::new(rows, reported.len(), pairs.collect()).unwrap();
    let all: Vec<usize> = (0..rows).collect();
    let near: Vec<Arc> = arcs(&places, &all, reach, 0);
    Problem::new(ProblemParts::untied(eps_spacing, cost, near)).unwrap()
}
