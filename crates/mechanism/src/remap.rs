//! Optimal remapping (Chatzikokolakis, ElSalamouny and Palamidessi, PETS 2017; `docs/specification.md` section 8).
//!
//! Each report k is replaced by the place that costs least given the prior and the mechanism:
//! `argmin_g sum_i p_i z_ik c(i, g)`. It looks at the report alone, never at where somebody is, so the guarantee stays; and since a
//! report may stay what it is, the cost never rises. An optimum of a programme cannot be improved in this way.

use lrgeo_geo::PlaceId;
use lrgeo_geo::parallel::*;
use lrgeo_map::progress::Progress;

use crate::{City, MechanismError, ObfuscationMatrix, Rows};

/// Outcomes worked on at a time: each row of losses is then read once for so many, and their sums stay in the cache.
const TOGETHER: usize = 16;

/// Places that are less likely than this share of the likeliest one do not change which report is best.
const NEGLIGIBLE: f64 = 1e-7;

/// Where the losses of all pairs are not kept, so many places around the likeliest one are tried.
const CANDIDATES: usize = 300;

/// The best report for each of `outcomes`: `likelihood` writes, for one outcome, how likely it is from every place, up to a factor.
/// Where all places are tried, `None` in place of an outcome that is impossible from everywhere.
pub fn best_reports(
    city: &City,
    outcomes: usize,
    likelihood: impl Fn(usize, &mut [f64]) + Sync,
    progress: &dyn Progress,
) -> Vec<Option<PlaceId>> {
    let prior = even_if_zero(city.prior());
    let all: Vec<usize> = (0..outcomes).collect();
    progress.begin("finding the best report for every outcome", outcomes as u64);
    let best: Vec<Vec<Option<PlaceId>>> = all
        .par_chunks(TOGETHER)
        .map(|together| {
            let weights: Vec<Vec<f64>> = together
                .iter()
                .map(|&outcome| {
                    let mut weights = vec![0.0; city.places()];
                    likelihood(outcome, &mut weights);
                    weights.iter_mut().zip(&prior).for_each(|(weight, p)| *weight *= p);
                    scaled(weights)
                })
                .collect();
            let best = match city.kept_losses() {
                Some(losses) => among_all(losses, &weights),
                None => weights.iter().map(|weights| nearby(city, weights)).collect(),
            };
            progress.advance(together.len() as u64);
            best
        })
        .collect();
    progress.end();
    best.concat()
}

/// Priors that are zero everywhere count as equal, as in costs.
fn even_if_zero(prior: &[f64]) -> Vec<f64> {
    match prior.iter().any(|p| *p > 0.0) {
        true => prior.to_vec(),
        false => vec![1.0; prior.len()],
    }
}

/// Weights with a largest one of 1, those that do not matter left out.
fn scaled(mut weights: Vec<f64>) -> Vec<f64> {
    let largest = weights.iter().copied().fold(0.0, f64::max);
    for weight in &mut weights {
        let share = *weight / largest;
        *weight = if share > NEGLIGIBLE { share } else { 0.0 };
    }
    weights
}

fn among_all(losses: &[f64], weights: &[Vec<f64>]) -> Vec<Option<PlaceId>> {
    let places = weights[0].len();
    let mut costs = vec![0.0; weights.len() * places];
    for (i, row) in losses.chunks_exact(places).enumerate() {
        for (cost, weights) in costs.chunks_exact_mut(places).zip(weights) {
            let weight = weights[i];
            if weight > 0.0 {
                cost.iter_mut().zip(row).for_each(|(cost, loss)| *cost += weight * loss);
            }
        }
    }
    let is_possible = |weights: &Vec<f64>| weights.iter().any(|weight| *weight > 0.0);
    let pairs = costs.chunks_exact(places).zip(weights);
    pairs.map(|(cost, weights)| is_possible(weights).then(|| PlaceId::at(smallest(cost)))).collect()
}

fn nearby(city: &City, weights: &[f64]) -> Option<PlaceId> {
    let likeliest = (0..weights.len()).max_by(|&a, &b| weights[a].total_cmp(&weights[b]))?;
    if weights[likeliest] == 0.0 {
        return None;
    }
    let centre = city.coords()[likeliest];
    let mut reach_km = 8.0 * city.spacing_km();
    let mut candidates = city.within(centre, reach_km);
    while candidates.len() < CANDIDATES.min(city.places()) {
        reach_km *= 1.5;
        candidates = city.within(centre, reach_km);
    }
    candidates.sort_by(|a, b| a.1.total_cmp(&b.1));
    candidates.truncate(CANDIDATES);
    let candidates: Vec<PlaceId> = candidates.into_iter().map(|(place, _)| place).collect();
    let rows: Vec<PlaceId> =
        PlaceId::all(weights.len()).filter(|i| weights[i.index()] > 0.0).collect();
    let losses = city.utility().losses(&rows, &candidates);
    let mut costs = vec![0.0; candidates.len()];
    for (row, i) in losses.chunks_exact(candidates.len()).zip(&rows) {
        let weight = weights[i.index()];
        costs.iter_mut().zip(row).for_each(|(cost, loss)| *cost += weight * loss);
    }
    Some(candidates[smallest(&costs)])
}

/// The first of the smallest.
fn smallest(costs: &[f64]) -> usize {
    let first = (0, f64::INFINITY);
    let least = costs.iter().enumerate().fold(
        first,
        |best, (k, &cost)| {
            if cost < best.1 { (k, cost) } else { best }
        },
    );
    least.0
}

/// A matrix with every report replaced by the best one, and how many were. A report stays what it is where that costs no more.
pub fn remapped(
    city: &City,
    rows: Rows,
    progress: &dyn Progress,
) -> Result<(Rows, usize), MechanismError> {
    let Rows::Dense(matrix) = &rows else {
        return match rows {
            // Its reports were chosen in this way when it was made.
            Rows::Noise(_) => Ok((rows, 0)),
            Rows::Users(_) => Err(MechanismError::invalid(
                "remap",
                "a round has no public matrix: which report is best would depend on where its user is, which is what must not be told",
            )),
            _ => Err(MechanismError::invalid(
                "remap",
                "this map is too large for a matrix that can be remapped; its optimum would stay what it is",
            )),
        };
    };
    let places = matrix.places();
    let column = |k: usize, out: &mut [f64]| {
        out.iter_mut().enumerate().for_each(|(i, slot)| *slot = matrix.row(i)[k]);
    };
    let best = best_reports(city, places, column, progress);
    let losses = city.kept_losses();
    // Ties and rounding must not move a report that is as good where it is.
    let stays = |k: usize, to: PlaceId| match losses {
        Some(losses) if k != to.index() => {
            let cost = |g: usize| -> f64 {
                let terms = city.prior().iter().enumerate();
                terms.map(|(i, p)| p * matrix.row(i)[k] * losses[i * places + g]).sum()
            };
            cost(k) <= cost(to.index()) * (1.0 + 1e-12)
        }
        _ => k == to.index(),
    };
    let target: Vec<usize> = best
        .par_iter()
        .enumerate()
        .map(|(k, &to)| match to {
            Some(to) if !stays(k, to) => to.index(),
            _ => k,
        })
        .collect();
    let moved = target.iter().enumerate().filter(|(k, to)| k != *to).count();
    let mut entries = vec![0.0; places * places];
    for (i, out) in entries.chunks_exact_mut(places).enumerate() {
        for (z, &to) in matrix.row(i).iter().zip(&target) {
            out[to] += z;
        }
    }
    Ok((Rows::Dense(ObfuscationMatrix::new(places, entries)?), moved))
}
