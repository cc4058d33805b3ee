//! All pairs of a large map, by chaining the measured bounds of a few.
//!
//! For every pair (i, j) of the witness the largest `ln(z_ik / z_jk)` over all reports k is measured,
//! in both directions. Along a path these add up, so the shortest path from i to j bounds
//! `ln(z_ik / z_jk)` for every k; where that is at most `eps d_ij` the pair is proven. Pairs that no
//! path proves are compared directly.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use lrgeo_map::progress::Progress;
use rayon::prelude::*;

use super::finding::{Finding, Pair};
use super::ratio::{allowed, log_up, worst_ratio};
use crate::Built;

/// More than the rounding of adding up the hops of any path.
const PATH_ROUNDING: f64 = 1e-12;

/// Proves every pair of places at the epsilon of the guarantee.
pub fn all_pairs(built: &Built, progress: &dyn Progress) -> Finding {
    let epsilon = built.guarantee.epsilon;
    let bounds = measure(built, progress);
    let places = built.coords.len();
    progress.begin("verifying all pairs of places", places as u64);
    let finding = (0..places)
        .into_par_iter()
        .map_init(
            || (vec![0.0; places], vec![0.0; places]),
            |(here, there), i| {
                let mut finding = Finding::default();
                let mut filled = false;
                let bound = shortest(&bounds, i);
                for (j, &bound) in bound.iter().enumerate().filter(|&(j, _)| j != i) {
                    let km = built.coords[i].distance_km(built.coords[j]);
                    let pair = Pair { at: (i as u32, j as u32), km };
                    let bound = bound * (1.0 + PATH_ROUNDING);
                    if bound <= allowed(epsilon.value(), km) {
                        finding.add_bound(pair, bound, places as u64, epsilon);
                        continue;
                    }
                    if !filled {
                        built.rows.fill(i, here);
                        filled = true;
                    }
                    built.rows.fill(j, there);
                    finding.add(pair, here, there, epsilon);
                }
                progress.advance(1);
                finding
            },
        )
        .reduce(Finding::default, Finding::merge);
    progress.end();
    finding
}

/// For every place its witnesses and the largest log-ratio towards them.
fn measure(built: &Built, progress: &dyn Progress) -> Vec<Vec<(u32, f64)>> {
    let places = built.coords.len();
    let mut near = vec![Vec::new(); places];
    for &[i, j] in &built.witness {
        near[i as usize].push(j);
        near[j as usize].push(i);
    }
    progress.begin("measuring neighbours", places as u64);
    let bounds = near
        .into_par_iter()
        .enumerate()
        .map_init(
            || (vec![0.0; places], vec![0.0; places]),
            |(here, there), (i, near)| {
                built.rows.fill(i, here);
                let towards = near.into_iter().map(|j| {
                    built.rows.fill(j as usize, there);
                    (j, log_up(worst_ratio(here, there)))
                });
                let towards = towards.collect();
                progress.advance(1);
                towards
            },
        )
        .collect();
    progress.end();
    bounds
}

/// Dijkstra's algorithm from one place; infinite where no path leads.
fn shortest(bounds: &[Vec<(u32, f64)>], source: usize) -> Vec<f64> {
    let mut best = vec![f64::INFINITY; bounds.len()];
    best[source] = 0.0;
    let mut queue = BinaryHeap::from([Open { bound: 0.0, place: source as u32 }]);
    while let Some(Open { bound, place }) = queue.pop() {
        if bound > best[place as usize] {
            continue;
        }
        for &(to, step) in &bounds[place as usize] {
            let there = bound + step;
            if there < best[to as usize] {
                best[to as usize] = there;
                queue.push(Open { bound: there, place: to });
            }
        }
    }
    best
}

/// The smallest bound comes out of the queue first.
#[derive(PartialEq)]
struct Open {
    bound: f64,
    place: u32,
}

impl Eq for Open {}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Open {
    fn cmp(&self, other: &Self) -> Ordering {
        other.bound.total_cmp(&self.bound).then(self.place.cmp(&other.place))
    }
}
