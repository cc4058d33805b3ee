//! A moving user: fixes along streets, reported in three ways, followed by whoever knows everything but the way.
//!
//! The attacker knows the mechanism, the streets, how people move (`Streets`), the rule that reports are remembered by,
//! and of each report whether it was drawn just now: a phone that draws asks for tiles, one that remembers does not. It
//! follows the user with particles: possible users who move like the true one, each with the memory that it would have
//! by now. What does not fit what was seen loses weight, so *when* a new report is drawn counts as well as *what* it
//! says. Each fix is guessed from everything seen until then.

use lrgeo_geo::PlaceId;
use lrgeo_geo::rng::SplitMix;
use lrgeo_map::map::Map;
use lrgeo_map::progress::Progress;
use lrgeo_mechanism::{Built, Geography, MechanismError};
use lrgeo_tiles::sample::SeededRandomness;
use rayon::prelude::*;
use serde::Serialize;

use super::hidden::Reports;
use super::streets::{Mover, Streets, distance};
use super::{Attack, Trial};

/// How people move and how their reports are remembered.
#[derive(Clone, Debug, PartialEq)]
pub struct Journey {
    /// What they do: `walk`, `drive`.
    pub name: &'static str,
    /// How fast, in km/h.
    pub speed_kmh: f64,
    /// Fixes per journey.
    pub fixes: usize,
    /// From one to the next.
    pub every_seconds: f64,
    /// What a fix is off by in each direction (standard deviation).
    pub noise_km: f64,
    /// How far from its anchor a report is given again.
    pub reuse_km: f64,
    /// How hard it is attacked.
    pub effort: Effort,
}

/// When a report is given again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Never.
    Fresh,
    /// At the same place of the map.
    PerPlace,
    /// Within a radius of where it was drawn, and at the same place: what phones do.
    PerAnchor,
}

/// One rule, attacked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Followed {
    /// How well the attack does, over all fixes of all journeys.
    #[serde(flatten)]
    pub attack: Attack,
    /// Reports drawn per journey.
    #[serde(rename = "draws_per_journey")]
    pub draws: f64,
    /// Epsilon spent per journey, in 1/km.
    #[serde(rename = "journey_spent_per_km")]
    pub spent_per_km: f64,
}

/// How hard the attacker works.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Possible users who are followed.
    pub particles: usize,
    /// The weight, at each fix, of a possible user whose memory would have said something else. Not nothing: there are few
    /// of them, and the true one is between them.
    pub misfit: f64,
}

/// A few seconds per hundred journeys. Who looks at the moments of drawing gains by more particles (16,000 on the demo city: errors
/// up to a tenth smaller), so what this finds is the least that an attacker can do.
impl Default for Effort {
    fn default() -> Self {
        Self { particles: 4_000, misfit: 0.2 }
    }
}

/// What the server sees of a fix.
#[derive(Clone, Copy)]
struct Seen {
    report: PlaceId,
    drawn: bool,
}

/// Reports with what they are remembered for.
#[derive(Clone, Default)]
struct Memory(Vec<([f64; 2], PlaceId, PlaceId)>);

impl Memory {
    fn recall(
        &mut self,
        rule: Rule,
        radius_km: f64,
        at: [f64; 2],
        place: impl Fn() -> PlaceId,
    ) -> Option<PlaceId> {
        if rule == Rule::Fresh || self.0.is_empty() {
            return None;
        }
        let here = place();
        let is_around = |anchor: [f64; 2]| distance(anchor, at) <= radius_km;
        let around = |&&(anchor, ..): &&([f64; 2], PlaceId, PlaceId)| {
            rule == Rule::PerAnchor && is_around(anchor)
        };
        let near = self.0.iter().find(around);
        let &(anchor, _, report) = near.or_else(|| self.0.iter().find(|known| known.1 == here))?;
        // Like a phone: what is reported for the cell's sake has an anchor here from now on.
        if rule == Rule::PerAnchor && !is_around(anchor) {
            self.0.push((at, here, report));
        }
        Some(report)
    }
}

struct World<'a> {
    places: &'a Geography,
    streets: Streets,
    reports: Reports,
    /// The prior, added up.
    until: Vec<f64>,
    journey: &'a Journey,
    progress: &'a dyn Progress,
}

/// Attacks journeys of people who start at `starts`: one line per rule, and one more for an attacker who does not look at
/// when reports are drawn where they are remembered.
pub fn follow(
    built: &Built,
    places: &Geography,
    map: &Map,
    (starts, edge): (&[PlaceId], &[bool]),
    journey: &Journey,
    seed: u64,
    progress: &dyn Progress,
) -> Result<Vec<Followed>, MechanismError> {
    map.streets()?;
    let mut sum = 0.0;
    let until = places.prior().iter().map(|p| {
        sum += p;
        sum
    });
    let world = World {
        places,
        streets: Streets::new(map, places),
        reports: Reports::new(built)?,
        until: until.collect(),
        journey,
        progress,
    };
    let cases = [
        ("every fix drawn anew", Rule::Fresh, true),
        ("remembered per place", Rule::PerPlace, true),
        ("the same, moments of drawing not looked at", Rule::PerPlace, false),
        ("remembered per anchor", Rule::PerAnchor, true),
        ("the same, moments of drawing not looked at", Rule::PerAnchor, false),
    ];
    progress.begin("journeys", starts.len() as u64);
    let one = |(number, &start): (usize, &PlaceId)| {
        let seed = seed.wrapping_mul(1_000_003).wrapping_add(number as u64);
        let trials = cases.map(|(_, rule, timed)| world.attack(start, rule, timed, edge, seed));
        progress.advance(1);
        trials
    };
    let all: Vec<[(Vec<Trial>, usize); 5]> = starts.par_iter().enumerate().map(one).collect();
    progress.end();
    let followed = |(at, (name, ..)): (usize, &(&str, Rule, bool))| {
        let trials: Vec<Trial> = all.iter().flat_map(|journey| journey[at].0.clone()).collect();
        let draws =
            all.iter().map(|journey| journey[at].1).sum::<usize>() as f64 / all.len() as f64;
        let attack = Attack::of(format!("{}: {name}", journey.name), &trials)?;
        Some(Followed { attack, draws, spent_per_km: draws * built.guarantee.epsilon.value() })
    };
    Ok(cases.iter().enumerate().filter_map(followed).collect())
}

impl World<'_> {
    fn place(&self, at: [f64; 2]) -> PlaceId {
        let nearest = self.places.nearest(self.streets.coord(at));
        nearest.map_or(PlaceId::default(), |(place, _)| place)
    }

    fn step_km(&self) -> f64 {
        self.journey.speed_kmh * self.journey.every_seconds / 3600.0
    }

    /// A journey, what is seen of it, and the attack; with how many reports were drawn.
    fn attack(
        &self,
        start: PlaceId,
        rule: Rule,
        timed: bool,
        edge: &[bool],
        seed: u64,
    ) -> (Vec<Trial>, usize) {
        let Journey { fixes, noise_km, reuse_km, .. } = *self.journey;
        // The same journeys and the same possible users for every rule.
        let (mut way, mut guess) = (SplitMix::new(seed), SplitMix::new(!seed));
        let mut draws = SeededRandomness::new(seed ^ 0x5eed);
        let mut user = self.streets.start(start, &mut way);
        let mut memory = Memory::default();
        let mut crowd = Crowd::new(self, rule, timed, &mut guess);
        let (mut trials, mut drawn) = (Vec::with_capacity(fixes), 0);
        for number in 0..fixes {
            // A journey may take long, and whoever listens may want to end here.
            self.progress.advance(0);
            if number > 0 {
                self.streets.advance(&mut user, self.step_km(), &mut way);
            }
            let at = self.streets.at(&user);
            let fix = [at[0] + noise_km * normal(&mut way), at[1] + noise_km * normal(&mut way)];
            let place = self.place(fix);
            let known = memory.recall(rule, reuse_km, fix, || place);
            let report = known.unwrap_or_else(|| {
                drawn += 1;
                let report = self.reports.draw(place, &mut draws);
                memory.0.push((fix, place, report));
                report
            });
            crowd.step(Seen { report, drawn: known.is_none() }, number > 0, &mut guess);
            trials.push(crowd.judge(at, self.place(at), edge));
        }
        (trials, drawn)
    }
}

/// Possible users with their weights.
struct Crowd<'a> {
    world: &'a World<'a>,
    rule: Rule,
    timed: bool,
    users: Vec<(Mover, Memory)>,
    weights: Vec<f64>,
}

impl<'a> Crowd<'a> {
    fn new(world: &'a World<'a>, rule: Rule, timed: bool, random: &mut SplitMix) -> Self {
        let total = world.until.last().copied().unwrap_or(1.0);
        let one = |_| {
            let drawn = random.unit() * total;
            let place = world.until.partition_point(|sum| *sum < drawn).min(world.until.len() - 1);
            (world.streets.start(PlaceId::at(place), random), Memory::default())
        };
        let count = world.journey.effort.particles.max(1);
        let users = (0..count).map(one).collect();
        Self { world, rule, timed, users, weights: vec![1.0 / count as f64; count] }
    }

    fn step(&mut self, seen: Seen, moved: bool, random: &mut SplitMix) {
        let count = self.users.len() as f64;
        let World { streets, reports, journey, .. } = self.world;
        for ((user, memory), weight) in self.users.iter_mut().zip(&mut self.weights) {
            if moved {
                streets.advance(user, self.world.step_km(), random);
            }
            let at = streets.at(user);
            let place = || streets.place(at);
            if self.timed {
                let known = memory.recall(self.rule, journey.reuse_km, at, place);
                let fits = match known {
                    Some(report) => !seen.drawn && report == seen.report,
                    None => seen.drawn,
                };
                *weight *= if fits { 1.0 } else { journey.effort.misfit };
            }
            if seen.drawn {
                let here = place();
                *weight *= reports.log(here.index(), seen.report).exp();
                if self.rule != Rule::Fresh {
                    memory.0.push((at, here, seen.report));
                }
            }
        }
        let total: f64 = self.weights.iter().sum();
        match total > 0.0 {
            true => self.weights.iter_mut().for_each(|w| *w /= total),
            false => self.weights.fill(1.0 / count),
        }
        let effective = 1.0 / self.weights.iter().map(|w| w * w).sum::<f64>();
        if effective < count / 2.0 {
            self.resample(random);
        }
    }

    /// As many of each as its weight says, all of one weight again.
    fn resample(&mut self, random: &mut SplitMix) {
        let count = self.users.len();
        let (offset, mut sum, mut at) = (random.unit(), self.weights[0], 0);
        let mut chosen = Vec::with_capacity(count);
        for number in 0..count {
            let wanted = (number as f64 + offset) / count as f64;
            while sum < wanted && at + 1 < count {
                at += 1;
                sum += self.weights[at];
            }
            chosen.push(self.users[at].clone());
        }
        self.users = chosen;
        self.weights.fill(1.0 / count as f64);
    }

    /// The likeliest place against the true one, and the mean position against the true one.
    fn judge(&self, truth: [f64; 2], place: PlaceId, edge: &[bool]) -> Trial {
        let (mut mean, mut scores) = ([0.0; 2], vec![0.0; self.world.places.places()]);
        for ((user, _), weight) in self.users.iter().zip(&self.weights) {
            let at = self.world.streets.at(user);
            mean = [mean[0] + weight * at[0], mean[1] + weight * at[1]];
            scores[self.world.streets.place(at).index()] -= weight;
        }
        let scores: Vec<(PlaceId, f64)> =
            scores.into_iter().enumerate().map(|(v, score)| (PlaceId::at(v), score)).collect();
        let ranked = Trial::rank(self.world.places, place, edge[place.index()], &scores);
        Trial { error_km: distance(mean, truth), ..ranked }
    }
}

/// A normal deviate (Box and Muller).
fn normal(random: &mut SplitMix) -> f64 {
    let radius = (-2.0 * (1.0 - random.unit()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.unit()).cos()
}
