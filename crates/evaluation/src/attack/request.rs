//! Repeated requests for circles of the cost table, each around a fresh random relevant place v_a: the
//! user is relevant to all of the centres (`docs/specification.md` section 9).

use lrgeo_geo::PlaceId;
use lrgeo_geo::rng::SplitMix;
use lrgeo_map::neighbours::NeighbourGraph;
use lrgeo_map::progress::Progress;
use lrgeo_mechanism::relevant::relevant_places;
use lrgeo_mechanism::{Geography, Plan};
use rayon::prelude::*;

use super::{Attack, Trial, counted};

/// How a client chooses the centre of its next request among its relevant places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Centres {
    /// Every time among all of them, as the paper has it.
    DrawnAnew,
    /// Never twice the same before all have been asked for.
    NeverTwice,
}

/// Who intersects the relevant places of the centres.
pub struct Intersection<'a> {
    places: &'a Geography,
    /// The relevant places of every place, ascending.
    relevant: Vec<Vec<PlaceId>>,
}

impl<'a> Intersection<'a> {
    /// Works out what is relevant to whom.
    pub fn new(
        places: &'a Geography,
        graph: Option<&NeighbourGraph>,
        plan: &Plan,
        progress: &dyn Progress,
    ) -> Self {
        progress.begin("relevant places", places.places() as u64);
        let relevant = (0..places.places())
            .into_par_iter()
            .map(|v| {
                let mut near = relevant_places(places, graph, plan, PlaceId::at(v));
                near.sort_unstable();
                progress.advance(1);
                near
            })
            .collect();
        progress.end();
        Self { places, relevant }
    }

    /// The attack after each number of requests in `counts`, which ascend.
    ///
    /// Given centres `a_1 .. a_n` a candidate v has the likelihood `prod 1 / |N_v|` if all of them are
    /// relevant to it and 0 otherwise, with one less to choose from each time where none is asked for
    /// twice; the attacker weighs that with the prior.
    pub fn attack(
        &self,
        users: &[PlaceId],
        edge: &[bool],
        counts: &[usize],
        centres: Centres,
        seed: u64,
    ) -> Vec<Attack> {
        let (places, relevant) = (self.places, &self.relevant);
        let trials = |&user: &PlaceId| -> Vec<Trial> {
            let mut random =
                SplitMix::new(seed ^ u64::from(user.number()).wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let own = &relevant[user.index()];
            let mut unasked: Vec<PlaceId> = Vec::new();
            let mut centre = || match centres {
                Centres::DrawnAnew => own[random.below(own.len())],
                Centres::NeverTwice => {
                    if unasked.is_empty() {
                        unasked.clone_from(own);
                    }
                    unasked.swap_remove(random.below(unasked.len()))
                }
            };
            let mut candidates: Vec<PlaceId> = PlaceId::all(places.places()).collect();
            let mut asked = 0;
            let after = |&count: &usize| {
                while asked < count {
                    let centre = centre();
                    candidates.retain(|&v| relevant[v.index()].binary_search(&centre).is_ok());
                    asked += 1;
                }
                let score = |&v: &PlaceId| {
                    let choices = relevant[v.index()].len();
                    let unlikely: f64 = match centres {
                        Centres::DrawnAnew => count as f64 * (choices as f64).ln(),
                        Centres::NeverTwice => {
                            (0..count).map(|t| ((choices - t % choices) as f64).ln()).sum()
                        }
                    };
                    (v, unlikely - places.prior()[v.index()].max(f64::MIN_POSITIVE).ln())
                };
                let scores: Vec<(PlaceId, f64)> = candidates.iter().map(score).collect();
                Trial::rank(places, user, edge[user.index()], &scores)
            };
            counts.iter().map(after).collect()
        };
        let trials: Vec<Vec<Trial>> = users.par_iter().map(trials).collect();
        let how = match centres {
            Centres::DrawnAnew => "centres drawn anew",
            Centres::NeverTwice => "no centre twice",
        };
        let attack = |(at, count): (usize, &usize)| {
            let trials: Vec<Trial> = trials.iter().map(|trials| trials[at]).collect();
            Attack::of(format!("{}, {how}", counted(*count, "request")), &trials)
        };
        counts.iter().enumerate().filter_map(attack).collect()
    }
}
