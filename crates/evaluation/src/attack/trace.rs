//! A moving user: reports along a way, smoothed by a hidden Markov model (forward-backward).
//!
//! The attacker knows the mechanism, and how people move: at each step they stay, or go to a place
//! within reach, with a probability in proportion to the prior. That is also how traces are made here,
//! so this is the strongest attacker for them.

use lrgeo_map::progress::Progress;
use lrgeo_map::rng::SplitMix;
use lrgeo_mechanism::sample::SeededRandomness;
use lrgeo_mechanism::{Built, Geography, MechanismError};
use rayon::prelude::*;

use super::hidden::Reports;
use super::{Attack, Trial};

/// How people move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Walk {
    /// Reports per trace.
    pub steps: usize,
    /// How far somebody gets between two reports, in kilometres.
    pub reach_km: f64,
    /// The probability of staying.
    pub stay: f64,
}

/// For each place where somebody may go, with the probability.
type Moves = Vec<Vec<(u32, f64)>>;

fn moves(places: &Geography, walk: &Walk) -> Moves {
    let of = |v: usize| {
        let near = places.index().within(places.coords()[v], walk.reach_km);
        let others: Vec<u32> =
            near.into_iter().map(|(j, _)| j).filter(|&j| j as usize != v).collect();
        let weight = |j: u32| places.prior()[j as usize].max(1e-3 / places.places() as f64);
        let total: f64 = others.iter().map(|&j| weight(j)).sum();
        let stay = if others.is_empty() { 1.0 } else { walk.stay };
        let mut moves = vec![(v as u32, stay)];
        moves.extend(others.iter().map(|&j| (j, (1.0 - stay) * weight(j) / total)));
        moves
    };
    (0..places.places()).map(of).collect()
}

/// Three attackers: who looks at each report alone, who smooths the trace, and who smooths it when
/// reports are remembered per place.
pub fn traces(
    built: &Built,
    places: &Geography,
    starts: &[u32],
    edge: &[bool],
    walk: &Walk,
    seed: u64,
    progress: &dyn Progress,
) -> Result<Vec<Attack>, MechanismError> {
    let reports = Reports::new(built)?;
    let moves = moves(places, walk);
    progress.begin("traces", starts.len() as u64);
    let attack = |(number, &start): (usize, &u32)| {
        let mut random = SplitMix::new(seed.wrapping_add(number as u64));
        let mut draws = SeededRandomness::new(!seed.wrapping_add(number as u64));
        let way = wander(&moves, start, walk.steps, &mut random);
        let fresh: Vec<u32> = way.iter().map(|&v| reports.draw(v, &mut draws)).collect();
        let mut memory = std::collections::BTreeMap::new();
        let remembered: Vec<u32> = way
            .iter()
            .map(|&v| *memory.entry(v).or_insert_with(|| reports.draw(v, &mut draws)))
            .collect();
        let judge = |posterior: Vec<Vec<f64>>| -> Vec<Trial> {
            let trial = |(&truth, weights): (&u32, &Vec<f64>)| {
                let scores: Vec<(u32, f64)> =
                    weights.iter().enumerate().map(|(v, w)| (v as u32, -w)).collect();
                Trial::rank(places, truth, edge[truth as usize], &scores)
            };
            way.iter().zip(&posterior).map(trial).collect()
        };
        let alone = fresh.iter().map(|&report| evidence(&reports, places, report)).collect();
        let trials = [
            judge(alone),
            judge(smooth(&reports, places, &moves, &fresh)),
            judge(smooth(&reports, places, &moves, &remembered)),
        ];
        progress.advance(1);
        trials
    };
    let trials: Vec<[Vec<Trial>; 3]> = starts.par_iter().enumerate().map(attack).collect();
    progress.end();
    let names = [
        "each report alone",
        "the trace smoothed, fresh reports",
        "the trace smoothed, reports remembered per place",
    ];
    let attack = |(at, name): (usize, &str)| {
        let trials: Vec<Trial> = trials.iter().flat_map(|trials| trials[at].clone()).collect();
        Attack::of(name, &trials)
    };
    Ok(names.into_iter().enumerate().filter_map(attack).collect())
}

fn wander(moves: &Moves, start: u32, steps: usize, random: &mut SplitMix) -> Vec<u32> {
    let mut way = vec![start];
    while way.len() < steps {
        let here = way[way.len() - 1];
        let mut left = random.unit();
        let options = &moves[here as usize];
        let next = options.iter().find(|(_, p)| {
            left -= p;
            left <= 0.0
        });
        way.push(next.or(options.last()).map_or(here, |(v, _)| *v));
    }
    way
}

/// The weight of each place given one report.
fn evidence(reports: &Reports, places: &Geography, report: u32) -> Vec<f64> {
    let weight = |v: usize| places.prior()[v] * reports.log(v, report).exp();
    normalised((0..reports.places()).map(weight).collect())
}

/// The posterior of every step given all reports.
///
/// With remembered reports this is an approximation that an attacker would make too: equal reports
/// are taken for independent ones unless the place may be the same, so repeats are counted once.
fn smooth(reports: &Reports, places: &Geography, moves: &Moves, seen: &[u32]) -> Vec<Vec<f64>> {
    let steps = seen.len();
    let likelihood = |step: usize, v: usize| {
        let repeated = step > 0 && seen[step] == seen[step - 1];
        if repeated { 1.0 } else { reports.log(v, seen[step]).exp() }
    };
    let count = reports.places();
    let mut forward: Vec<Vec<f64>> = Vec::with_capacity(steps);
    let first = (0..count).map(|v| places.prior()[v] * likelihood(0, v)).collect();
    forward.push(normalised(first));
    for step in 1..steps {
        let mut next = vec![0.0; count];
        for (v, weight) in forward[step - 1].iter().enumerate() {
            moves[v].iter().for_each(|&(j, p)| next[j as usize] += weight * p);
        }
        next.iter_mut().enumerate().for_each(|(v, w)| *w *= likelihood(step, v));
        forward.push(normalised(next));
    }
    let mut backward = vec![1.0; count];
    for step in (0..steps).rev() {
        forward[step].iter_mut().zip(&backward).for_each(|(f, b)| *f *= b);
        forward[step] = normalised(std::mem::take(&mut forward[step]));
        let ahead: Vec<f64> = (0..count).map(|v| backward[v] * likelihood(step, v)).collect();
        let back = |v: usize| moves[v].iter().map(|&(j, p)| p * ahead[j as usize]).sum();
        backward = normalised((0..count).map(back).collect());
    }
    forward
}

fn normalised(mut weights: Vec<f64>) -> Vec<f64> {
    let total: f64 = weights.iter().sum();
    if total > 0.0 {
        weights.iter_mut().for_each(|w| *w /= total);
    }
    weights
}
