//! Repeated requests for circles of the cost table, each around a fresh random relevant place v_a: the
//! user is relevant to all of the centres (spec section 9).

use lrgeo_map::neighbours::NeighbourGraph;
use lrgeo_map::progress::Progress;
use lrgeo_map::rng::SplitMix;
use lrgeo_mechanism::relevant::relevant_places;
use lrgeo_mechanism::{Geography, Plan};
use rayon::prelude::*;

use super::{Attack, Trial};

/// The attack after each number of requests in `counts`, which ascend.
///
/// Given centres `a_1 .. a_n` a candidate v has the likelihood `prod 1 / |N_v|` if all of them are relevant
/// to it and 0 otherwise; the attacker weighs that with the prior.
#[allow(clippy::too_many_arguments)] // All of them are the attack's own terms.
pub fn requests(
    places: &Geography,
    graph: Option<&NeighbourGraph>,
    plan: &Plan,
    users: &[u32],
    edge: &[bool],
    counts: &[usize],
    seed: u64,
    progress: &dyn Progress,
) -> Vec<Attack> {
    progress.begin("relevant places", places.places() as u64);
    let relevant: Vec<Vec<u32>> = (0..places.places() as u32)
        .into_par_iter()
        .map(|v| {
            let mut near = relevant_places(places, graph, plan, v);
            near.sort_unstable();
            progress.advance(1);
            near
        })
        .collect();
    progress.end();
    let trials = |&user: &u32| -> Vec<Trial> {
        let mut random = SplitMix::new(seed ^ u64::from(user).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let own = &relevant[user as usize];
        let mut candidates: Vec<u32> = (0..places.places() as u32).collect();
        let mut asked = 0;
        let after = |&count: &usize| {
            while asked < count {
                let centre = own[random.below(own.len())];
                candidates.retain(|&v| relevant[v as usize].binary_search(&centre).is_ok());
                asked += 1;
            }
            let score = |&v: &u32| {
                let likelihood = count as f64 * (relevant[v as usize].len() as f64).ln();
                (v, likelihood - places.prior()[v as usize].max(f64::MIN_POSITIVE).ln())
            };
            let scores: Vec<(u32, f64)> = candidates.iter().map(score).collect();
            Trial::rank(places, user, edge[user as usize], &scores)
        };
        counts.iter().map(after).collect()
    };
    let trials: Vec<Vec<Trial>> = users.par_iter().map(trials).collect();
    let attack = |(at, count): (usize, &usize)| {
        let trials: Vec<Trial> = trials.iter().map(|trials| trials[at]).collect();
        Attack::of(format!("{count} requests with fresh centres"), &trials)
    };
    counts.iter().enumerate().filter_map(attack).collect()
}
