//! The Bayesian adversary: who knows the mechanism and the prior, sees a report, and guesses.
//!
//! For a report k the adversary holds the weights `w_i = p_i z_ik`. Its best guess for being right
//! is the place with the largest weight; for being near, the place g with the smallest
//! `sum_i w_i d(g, i)`, found exactly: all places are candidates, and the triangle inequality says
//! which of them need not be looked at.

use std::collections::BTreeMap;

use lrgeo_geo::Coord;
use lrgeo_geo::index::SpatialIndex;
use lrgeo_map::progress::Progress;
use lrgeo_mechanism::{Built, Rows};
use rayon::prelude::*;

/// What the adversary achieves, on average over places (by the prior) and reports.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adversary {
    /// How far its guess is from the true place, in kilometres, when it guesses to be near.
    pub inference_error_km: f64,
    /// How often it is right, when it guesses to be right.
    pub hit_rate: f64,
    /// What it still does not know about the place after the report, in bits.
    pub entropy_bits: f64,
    /// How far off it is on average at the tenth of the places where it is nearest: an average over
    /// the map says little to those who live there.
    pub worst_decile_error_km: f64,
    /// How often it is right on average at the tenth of the places where it is right most often.
    pub worst_decile_hit_rate: f64,
}

/// What the adversary achieves on a mechanism, with the prior it believes in, one weight per place.
/// With one matrix per user it looks at each user's own matrix, knows that the user is at one of its
/// rows, and the result is the mean over users: what is known to the server of a round, and more than
/// others know.
pub fn adversary(built: &Built, prior: &[f64], progress: &dyn Progress) -> Adversary {
    let places = Places::new(&built.coords);
    match &built.rows {
        Rows::Users(round) => {
            progress.begin("inference attack", round.users.len() as u64);
            let attacks = round.users.iter().map(|user| {
                let weights = even_if_nothing(user.relevant.iter().map(|i| prior[i.index()]));
                let rows = user.relevant.iter().enumerate();
                let entries = rows.flat_map(|(at, &place)| {
                    let row = user.row(at).iter().enumerate();
                    row.map(move |(k, &z)| (k, place, at, z))
                });
                let joint = Joint::new(
                    round.columns.len(),
                    entries.map(|(k, place, at, z)| (k, place.number(), weights[at] * z)),
                    vec![0.0; built.coords.len()],
                );
                let attack = joint.attack(&places, &());
                progress.advance(1);
                attack
            });
            let attacks: Vec<Adversary> = attacks.collect();
            progress.end();
            mean(&attacks)
        }
        rows @ (Rows::Dense(_) | Rows::Noise(_)) => {
            let prior = even_if_nothing(prior.iter().copied());
            let count = rows.places();
            let entries = (0..count).flat_map(|i| {
                let mut row = vec![0.0; count];
                rows.fill(i, &mut row);
                let p = prior[i];
                row.into_iter().enumerate().map(move |(k, z)| (k, i as u32, p * z))
            });
            let nowhere = vec![0.0; count];
            Joint::new(count, entries, nowhere).attack(&places, progress)
        }
        Rows::Sparse(matrix) => {
            let prior = even_if_nothing(prior.iter().copied());
            let entries = (0..matrix.tail.len()).flat_map(|i| {
                let explicit = matrix.start[i]..matrix.start[i + 1];
                let (p, tail) = (prior[i], matrix.tail[i]);
                explicit.map(move |at| {
                    (matrix.column[at] as usize, i as u32, p * (matrix.value[at] - tail))
                })
            });
            let tail = prior.iter().zip(&matrix.tail).map(|(p, tail)| p * tail).collect();
            let joint = Joint::new(matrix.present.len(), entries, tail);
            joint.without(&matrix.present).attack(&places, progress)
        }
    }
}

/// What the same adversary achieves without seeing a report: the yardstick for everything else.
pub fn blind(coords: &[Coord], prior: &[f64]) -> Adversary {
    let prior = even_if_nothing(prior.iter().copied());
    let entries = prior.iter().enumerate().map(|(i, &p)| (0, i as u32, p));
    Joint::new(1, entries, vec![0.0; coords.len()]).attack(&Places::new(coords), &())
}

/// Whether all places are equally likely.
pub fn is_even(prior: &[f64]) -> bool {
    prior.windows(2).all(|pair| pair[0] == pair[1])
}

/// A prior that sums to one; even where it has no weight at all.
pub(crate) fn even_if_nothing(weights: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut weights: Vec<f64> = weights.collect();
    let total: f64 = weights.iter().sum();
    let count = weights.len() as f64;
    weights.iter_mut().for_each(|p| *p = if total > 0.0 { *p / total } else { 1.0 / count });
    weights
}

fn mean(attacks: &[Adversary]) -> Adversary {
    let of = |value: fn(&Adversary) -> f64| {
        attacks.iter().map(value).sum::<f64>() / attacks.len().max(1) as f64
    };
    Adversary {
        inference_error_km: of(|a| a.inference_error_km),
        hit_rate: of(|a| a.hit_rate),
        entropy_bits: of(|a| a.entropy_bits),
        worst_decile_error_km: of(|a| a.worst_decile_error_km),
        worst_decile_hit_rate: of(|a| a.worst_decile_hit_rate),
    }
}

/// Up to here all distances are kept (72 MB); above they are worked out when needed.
const TABLE_PLACES: usize = 3_000;

/// Where the places are, and how far apart.
struct Places<'a> {
    coords: &'a [Coord],
    index: SpatialIndex,
    table: Option<Vec<f64>>,
}

impl<'a> Places<'a> {
    fn new(coords: &'a [Coord]) -> Self {
        let line = |a: &Coord| coords.iter().map(|b| a.distance_km(*b)).collect::<Vec<f64>>();
        let table = (coords.len() <= TABLE_PLACES)
            .then(|| coords.par_iter().flat_map_iter(line).collect::<Vec<f64>>());
        Self { coords, index: SpatialIndex::new(coords), table }
    }

    fn km(&self, i: u32, j: u32) -> f64 {
        match &self.table {
            Some(table) => table[i as usize * self.coords.len() + j as usize],
            None => self.coords[i as usize].distance_km(self.coords[j as usize]),
        }
    }
}

/// The joint distribution of place and report, report by report: `tail[i]` for every report, plus
/// explicit weights.
struct Joint {
    start: Vec<usize>,
    place: Vec<u32>,
    weight: Vec<f64>,
    tail: Vec<f64>,
    possible: Vec<bool>,
}

impl Joint {
    /// From `(report, place, weight above the tail)` in any order.
    fn new(
        reports: usize,
        entries: impl Iterator<Item = (usize, u32, f64)> + Clone,
        tail: Vec<f64>,
    ) -> Self {
        let mut start = vec![0; reports + 1];
        let entries = entries.filter(|entry| entry.2 != 0.0);
        entries.clone().for_each(|(report, ..)| start[report + 1] += 1);
        for report in 0..reports {
            start[report + 1] += start[report];
        }
        let mut next = start.clone();
        let (mut place, mut weight) = (vec![0; start[reports]], vec![0.0; start[reports]]);
        for (report, at, value) in entries {
            (place[next[report]], weight[next[report]]) = (at, value);
            next[report] += 1;
        }
        Self { start, place, weight, tail, possible: vec![true; reports] }
    }

    /// Reports that are never made have no tail either.
    fn without(mut self, present: &[bool]) -> Self {
        self.possible = present.to_vec();
        self
    }

    fn attack(&self, places: &Places<'_>, progress: &dyn Progress) -> Adversary {
        let background = Background::new(&self.tail, places);
        progress.begin("inference attack", self.possible.len() as u64);
        let outcomes: Vec<Outcome> = (0..self.possible.len())
            .into_par_iter()
            .filter(|&report| self.possible[report])
            .map_init(
                || vec![0.0; self.tail.len()],
                |posterior, report| {
                    progress.advance(1);
                    self.guess(report, places, &background, posterior)
                },
            )
            .collect();
        progress.end();
        // One after the other, so that the sums do not depend on the number of threads.
        let sum = |of: fn(&Outcome) -> f64| outcomes.iter().map(of).sum::<f64>();
        let at_places = self.at_places(&outcomes, places);
        Adversary {
            inference_error_km: sum(|outcome| outcome.error),
            hit_rate: sum(|outcome| outcome.hit),
            entropy_bits: sum(|outcome| outcome.entropy),
            worst_decile_error_km: tenth(at_places.iter().map(|at| at.error).collect()),
            // Negated, so that the least are the most frequent.
            worst_decile_hit_rate: -tenth(at_places.iter().map(|at| -at.hit).collect()),
        }
    }

    /// What the guesses mean to somebody at each place that is possible at all.
    fn at_places(&self, outcomes: &[Outcome], places: &Places<'_>) -> Vec<AtPlace> {
        let mut at = vec![AtPlace::default(); self.tail.len()];
        let mut guesses = BTreeMap::<u32, f64>::new();
        for outcome in outcomes {
            *guesses.entry(outcome.nearest).or_default() += 1.0;
            let explicit = self.start[outcome.report]..self.start[outcome.report + 1];
            for (&i, &w) in self.place[explicit.clone()].iter().zip(&self.weight[explicit]) {
                let place = &mut at[i as usize];
                place.weight += w;
                place.error += w * places.km(outcome.nearest, i);
                place.hit += if outcome.mode == i { w } else { 0.0 };
            }
            at[outcome.mode as usize].hit += self.tail[outcome.mode as usize];
        }
        let guesses: Vec<(u32, f64)> = guesses.into_iter().collect();
        at.par_iter_mut().enumerate().for_each(|(i, place)| {
            let tail = self.tail[i];
            if tail > 0.0 {
                let away = guesses.iter().map(|&(g, times)| times * places.km(g, i as u32));
                place.error += tail * away.sum::<f64>();
                place.weight += tail * outcomes.len() as f64;
            }
            place.error /= place.weight;
            place.hit /= place.weight;
        });
        at.retain(|place| place.weight > 0.0);
        at
    }

    /// `posterior` is scratch of one slot per place, left as it was found: zero.
    fn guess(
        &self,
        report: usize,
        places: &Places<'_>,
        background: &Background,
        posterior: &mut [f64],
    ) -> Outcome {
        let explicit = self.start[report]..self.start[report + 1];
        let (near, above) = (&self.place[explicit.clone()], &self.weight[explicit]);
        let total = background.mass + above.iter().sum::<f64>();
        let mut entropy_sum = background.entropy;
        let (mut hit, mut mode) = (0.0, near.first().copied().unwrap_or(0));
        for (&i, &w) in near.iter().zip(above) {
            let tail = self.tail[i as usize];
            entropy_sum += plogp(tail + w) - plogp(tail);
            if tail + w > hit {
                (hit, mode) = (tail + w, i);
            }
            posterior[i as usize] = w;
        }
        for &i in &background.heaviest {
            // Explicit weights below the tail are negative here, so the sum is the true weight.
            let weight = self.tail[i as usize] + posterior[i as usize];
            if weight > hit {
                (hit, mode) = (weight, i);
            }
            if posterior[i as usize] == 0.0 {
                break;
            }
        }
        near.iter().for_each(|&i| posterior[i as usize] = 0.0);
        if total <= 0.0 {
            return Outcome { report, mode, nearest: mode, error: 0.0, hit: 0.0, entropy: 0.0 };
        }
        let error_of = |g: u32| {
            let above: f64 = near.iter().zip(above).map(|(&i, &w)| w * places.km(g, i)).sum();
            background.error(g) + above
        };
        let (nearest, error) = smallest_error(mode, total, error_of, places);
        let entropy = total * total.log2() - entropy_sum;
        Outcome { report, mode, nearest, error, hit, entropy }
    }
}

/// The place g with the smallest `f(g) = sum_i w_i d(g, i)`, and that. By the triangle inequality
/// `f(g) >= W d(g, h) - f(h)`, so only places with `W d(g, h) < f(h) + best` can be better.
fn smallest_error(
    first: u32,
    total: f64,
    error_of: impl Fn(u32) -> f64,
    places: &Places<'_>,
) -> (u32, f64) {
    let at_first = error_of(first);
    let (mut nearest, mut best) = (first, at_first);
    let radius_km = 2.0 * at_first / total * (1.0 + 1e-9);
    for (g, km) in places.index.within(places.coords[first as usize], radius_km) {
        if g != first && total * km < at_first + best {
            let error = error_of(g);
            if error < best {
                (nearest, best) = (g, error);
            }
        }
    }
    (nearest, best)
}

/// What all reports have in common: the tails.
struct Background {
    mass: f64,
    /// `sum_i t_i log2 t_i`.
    entropy: f64,
    /// `sum_i t_i d(g, i)` for every place g; empty without tails.
    errors: Vec<f64>,
    /// Places by falling tail; empty without tails.
    heaviest: Vec<u32>,
}

impl Background {
    fn new(tail: &[f64], places: &Places<'_>) -> Self {
        let mass: f64 = tail.iter().sum();
        if mass == 0.0 {
            return Self { mass, entropy: 0.0, errors: Vec::new(), heaviest: Vec::new() };
        }
        let all = 0..tail.len() as u32;
        let error = |g: u32| all.clone().map(|i| tail[i as usize] * places.km(g, i)).sum();
        let errors = all.clone().into_par_iter().map(error).collect();
        let mut heaviest: Vec<u32> = all.collect();
        heaviest.sort_by(|&a, &b| tail[b as usize].total_cmp(&tail[a as usize]));
        let entropy = tail.iter().map(|&t| plogp(t)).sum();
        Self { mass, entropy, errors, heaviest }
    }

    fn error(&self, g: u32) -> f64 {
        self.errors.get(g as usize).copied().unwrap_or(0.0)
    }
}

/// What one report contributes, its probability included.
#[derive(Clone, Copy)]
struct Outcome {
    report: usize,
    /// The guess for being right.
    mode: u32,
    /// The guess for being near.
    nearest: u32,
    error: f64,
    hit: f64,
    entropy: f64,
}

/// What the guesses mean to somebody at one place.
#[derive(Clone, Copy, Default)]
struct AtPlace {
    weight: f64,
    error: f64,
    hit: f64,
}

/// The mean of the smallest tenth, at least one.
fn tenth(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.truncate(values.len().div_ceil(10));
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn plogp(p: f64) -> f64 {
    if p > 0.0 { p * p.log2() } else { 0.0 }
}
