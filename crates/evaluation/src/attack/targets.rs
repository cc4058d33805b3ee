//! The target distribution from the cost table (`docs/specification.md` section 3): `beta(i,k) = sum_l q_l |tc(i,l) - tc(k,l)|` is
//! linear in q, and tc is public, so non-negative least squares on enough of the table gives q.

use lrgeo_geo::rng::SplitMix;
use lrgeo_map::MapError;
use lrgeo_map::graph::Metric;
use lrgeo_map::map::{Map, Target};
use lrgeo_map::progress::Progress;
use lrgeo_map::travel::{Origin, TravelMatrix};
use rayon::prelude::*;
use serde::Serialize;

/// What the attacker found out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recovered {
    /// How many targets there are.
    pub targets: usize,
    /// How many street nodes might have been targets: the true ones, and others at random.
    pub candidates: usize,
    /// How many entries of the table were used.
    pub equations: usize,
    /// How many of them can be told apart by any table at all.
    pub distinct: usize,
    /// Half the sum of `|q - found|` over those: 0 is everything, 1 nothing.
    pub total_variation: f64,
    /// The share of the probability that was found at nodes which are targets.
    pub mass_on_targets: f64,
    /// Whether the likeliest target was named.
    pub likeliest_named: bool,
    /// How far, on average over q, the nearest node with a tenth of the target's probability is.
    pub error_km: f64,
    /// The total variation of guessing that all candidates are equally likely.
    pub chance: f64,
}

/// Attacks a map with so many entries of its table, and `decoys` street nodes besides the targets that
/// are taken for possible.
pub fn recover(
    map: &Map,
    decoys: usize,
    equations: usize,
    seed: u64,
    progress: &dyn Progress,
) -> Result<Recovered, MapError> {
    let mut random = SplitMix::new(seed);
    let nodes = map.streets()?.node_count();
    let mut candidates: Vec<u32> = map.targets.iter().map(|target| target.node).collect();
    let extra = random.choose(nodes, decoys.min(nodes));
    candidates.extend(extra.into_iter().map(|node| node as u32));
    candidates.sort_unstable();
    candidates.dedup();

    // The public travel costs to every candidate, and the private table.
    let origins: Vec<Origin> =
        map.places.iter().map(|place| Origin { node: place.node, leg: place.leg }).collect();
    let weight = 1.0 / candidates.len() as f64;
    let possible: Vec<Target> = candidates.iter().map(|&node| Target { node, weight }).collect();
    let measure = |targets: &[Target]| {
        TravelMatrix::new(&map.graph, map.travel, Metric::Distance, &origins, targets, progress)
    };
    let (public, private) = (measure(&possible)?, measure(&map.targets)?);

    let places = origins.len();
    let pair = |_| (random.below(places) as u32, random.below(places) as u32);
    let pairs: Vec<(u32, u32)> = (0..equations).map(pair).filter(|(i, k)| i != k).collect();
    let rows: Vec<Vec<f64>> = pairs
        .par_iter()
        .map(|&(i, k)| {
            let (a, b) = (public.row(i as usize), public.row(k as usize));
            a.iter().zip(b).map(|(x, y)| f64::from(x.abs_diff(*y)) * public.scale()).collect()
        })
        .collect();
    let seen: Vec<f64> = pairs.iter().map(|&(i, k)| private.beta(&[i], &[k])[0]).collect();
    let found = non_negative(&rows, &seen, progress);

    // Nodes whose ways from all places differ by a constant (one behind the other) have the same column:
    // no table tells them apart, and the first stands for all of them.
    let profile = |at: usize| -> Vec<i64> {
        let way = |place: usize| i64::from(public.row(place)[at]);
        (0..places).map(|place| way(place) - way(0)).collect()
    };
    let mut first = std::collections::HashMap::new();
    let same: Vec<usize> =
        (0..candidates.len()).map(|at| *first.entry(profile(at)).or_insert(at)).collect();
    let merged = |weights: &[f64]| {
        let mut sums = vec![0.0; weights.len()];
        weights.iter().zip(&same).for_each(|(weight, &at)| sums[at] += weight);
        sums
    };
    let mut truth = vec![0.0; candidates.len()];
    for target in &map.targets {
        if let Ok(at) = candidates.binary_search(&target.node) {
            truth[at] += target.weight;
        }
    }
    let (truth, found) = (merged(&truth), merged(&found));
    let even = merged(&vec![weight; candidates.len()]);
    let variation = |other: &dyn Fn(usize) -> f64| {
        let apart = truth.iter().enumerate().map(|(at, q)| (q - other(at)).abs());
        0.5 * apart.sum::<f64>()
    };
    let likeliest = (0..truth.len()).max_by(|&a, &b| truth[a].total_cmp(&truth[b])).unwrap_or(0);
    let named = (0..found.len()).max_by(|&a, &b| found[a].total_cmp(&found[b])).unwrap_or(0);
    let at = |node: usize| map.graph.coords()[candidates[node] as usize];
    let error = |l: usize| {
        let near = (0..found.len()).filter(|&v| found[v] >= 0.1 * truth[l]);
        near.map(|v| at(v).distance_km(at(l))).fold(f64::INFINITY, f64::min).min(50.0)
    };
    let weighted = truth.iter().enumerate().filter(|(_, q)| **q > 0.0);
    Ok(Recovered {
        targets: map.targets.len(),
        candidates: candidates.len(),
        distinct: first.len(),
        equations: rows.len(),
        total_variation: variation(&|v| found[v]),
        mass_on_targets: (0..found.len()).filter(|&v| truth[v] > 0.0).map(|v| found[v]).sum(),
        likeliest_named: likeliest == named,
        error_km: weighted.map(|(l, q)| q * error(l)).sum(),
        chance: variation(&|v| even[v]),
    })
}

/// A gradient below this part of the largest at the start counts as zero.
const FLAT: f64 = 1e-11;

/// `argmin |A x - b|^2, x >= 0` by Lawson and Hanson's active set: few targets, few steps.
fn non_negative(rows: &[Vec<f64>], b: &[f64], progress: &dyn Progress) -> Vec<f64> {
    let n = rows.first().map_or(0, Vec::len);
    let (gram, right) = normal_equations(rows, b, n);
    let (mut x, mut passive) = (vec![0.0; n], Vec::<usize>::new());
    let flat = FLAT * right.iter().copied().fold(0.0, f64::max);
    progress.begin("least squares", 0);
    for _ in 0..3 * n {
        let slope =
            |i: usize| right[i] - passive.iter().map(|&j| gram[i * n + j] * x[j]).sum::<f64>();
        let free = (0..n).filter(|i| !passive.contains(i));
        let steepest = free.map(|i| (i, slope(i))).max_by(|a, b| a.1.total_cmp(&b.1));
        let Some((enter, _)) = steepest.filter(|(_, slope)| *slope > flat) else { break };
        passive.push(enter);
        loop {
            let Some(solved) = solve(&gram, &right, n, &passive) else {
                // It depends on those that are in already.
                passive.pop();
                break;
            };
            // As far towards the solution as nothing becomes negative.
            let blocking = passive.iter().zip(&solved).filter(|(_, s)| **s <= 0.0);
            let ratio = |(&j, &s): (&usize, &f64)| x[j] / (x[j] - s);
            let step = blocking.map(ratio).filter(|r| r.is_finite()).fold(1.0, f64::min);
            let all = solved.iter().all(|s| *s > 0.0);
            for (&j, s) in passive.iter().zip(&solved) {
                x[j] += (if all { 1.0 } else { step }) * (s - x[j]);
            }
            if all {
                break;
            }
            x.iter_mut().filter(|x| **x <= 1e-15).for_each(|x| *x = 0.0);
            passive.retain(|&j| x[j] > 0.0);
        }
        progress.advance(1);
    }
    progress.end();
    x
}

/// A'A, row-major, and A'b.
fn normal_equations(rows: &[Vec<f64>], b: &[f64], n: usize) -> (Vec<f64>, Vec<f64>) {
    let columns: Vec<Vec<f64>> =
        (0..n).into_par_iter().map(|i| rows.iter().map(|row| row[i]).collect()).collect();
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let line = |i: usize| columns.iter().map(|other| dot(&columns[i], other)).collect::<Vec<_>>();
    let gram = (0..n).into_par_iter().flat_map_iter(line).collect();
    (gram, columns.iter().map(|column| dot(column, b)).collect())
}

/// The normal equations of some unknowns alone, by Cholesky; `None` where they depend on each other.
fn solve(gram: &[f64], right: &[f64], n: usize, chosen: &[usize]) -> Option<Vec<f64>> {
    let m = chosen.len();
    let mut lower = vec![0.0; m * m];
    for i in 0..m {
        for j in 0..=i {
            let known: f64 = (0..j).map(|k| lower[i * m + k] * lower[j * m + k]).sum();
            let rest = gram[chosen[i] * n + chosen[j]] - known;
            if i == j {
                if rest <= 1e-13 * gram[chosen[i] * n + chosen[i]] {
                    return None;
                }
                lower[i * m + i] = rest.sqrt();
            } else {
                lower[i * m + j] = rest / lower[j * m + j];
            }
        }
    }
    let mut x: Vec<f64> = chosen.iter().map(|&i| right[i]).collect();
    for i in 0..m {
        let known: f64 = (0..i).map(|k| lower[i * m + k] * x[k]).sum();
        x[i] = (x[i] - known) / lower[i * m + i];
    }
    for i in (0..m).rev() {
        let known: f64 = (i + 1..m).map(|k| lower[k * m + i] * x[k]).sum();
        x[i] = (x[i] - known) / lower[i * m + i];
    }
    Some(x)
}
