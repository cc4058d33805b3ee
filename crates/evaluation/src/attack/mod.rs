//! What leaks besides the report: the attacks that the paper leaves out (`docs/specification.md` section 9).
//!
//! Every attack names a user's place from what it sees, and is judged alike ([`Success`]): how often the
//! first guess or one of five is right, how many places explain the observation as well, how far off the
//! guess is, and what guessing without looking would have achieved. Places near the edge of the map are
//! judged apart, because edges give away more.

pub mod exact;
mod hidden;
pub mod repeat;
pub mod request;
mod streets;
pub mod suite;
pub mod targets;
pub mod trace;
pub mod upload;

use lrgeo_geo::PlaceId;
use lrgeo_map::neighbours::NeighbourGraph;
use lrgeo_mechanism::relevant::relevant_places;
use lrgeo_mechanism::{Geography, Plan};
use serde::Serialize;

/// `1 request`, `2 requests`.
fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// One attacked user: how the true place stood among all candidates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trial {
    /// How many candidates explain what was seen better than the truth does.
    pub better: usize,
    /// How many explain it as well, the truth included.
    pub tied: usize,
    /// How far the first guess is from the truth, in kilometres; the mean over equally good ones.
    pub error_km: f64,
    /// Whether the user is near the edge of the map.
    pub edge: bool,
}

impl Trial {
    /// Ranks candidates by a score, the lower the better; equal scores are ties. Chance among ties is
    /// counted, not drawn.
    pub fn rank(places: &Geography, truth: PlaceId, edge: bool, scores: &[(PlaceId, f64)]) -> Self {
        let own = scores.iter().find(|(v, _)| *v == truth).map_or(f64::INFINITY, |(_, s)| *s);
        let better = scores.iter().filter(|(_, s)| *s < own).count();
        let tied = scores.iter().filter(|(_, s)| *s == own).count().max(1);
        let best = scores.iter().map(|(_, s)| *s).fold(f64::INFINITY, f64::min);
        let guesses = || scores.iter().filter(|(_, s)| *s == best);
        let km: f64 = guesses().map(|(v, _)| places.distance_km(*v, truth)).sum();
        Self { better, tied, error_km: km / guesses().count().max(1) as f64, edge }
    }

    /// The probability that the truth is among the first `n` guesses.
    fn among_first(&self, n: usize) -> f64 {
        (n.saturating_sub(self.better) as f64 / self.tied as f64).min(1.0)
    }
}

/// How well an attack does.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Success {
    /// How many users were attacked.
    pub users: usize,
    /// How often the first guess is right.
    pub top_1: f64,
    /// How often one of five is.
    pub top_5: f64,
    /// How many places explain what was seen at least as well as the truth: the median,
    pub anonymity_median: f64,
    /// and the 5th percentile.
    pub anonymity_low: f64,
    /// How far off the first guess is on average, in kilometres.
    pub error_km: f64,
}

impl Success {
    /// Of some trials; `None` of none.
    pub fn of<'a>(trials: impl IntoIterator<Item = &'a Trial>) -> Option<Self> {
        let trials: Vec<&Trial> = trials.into_iter().collect();
        let users = trials.len();
        if users == 0 {
            return None;
        }
        let mean =
            |of: &dyn Fn(&Trial) -> f64| trials.iter().map(|t| of(t)).sum::<f64>() / users as f64;
        let mut sizes: Vec<usize> = trials.iter().map(|t| t.better + t.tied).collect();
        sizes.sort_unstable();
        Some(Self {
            users,
            top_1: mean(&|t| t.among_first(1)),
            top_5: mean(&|t| t.among_first(5)),
            anonymity_median: sizes[users / 2] as f64,
            anonymity_low: sizes[users / 20] as f64,
            error_km: mean(&|t| t.error_km),
        })
    }
}

/// An attack on everybody, and on those inside and at the edge apart.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Attack {
    /// What the attacker sees, and what was done against it.
    #[serde(rename = "sees")]
    pub name: String,
    /// All users.
    pub all: Success,
    /// Those whose surroundings are complete.
    pub interior: Option<Success>,
    /// Those near the edge of the map.
    pub edge: Option<Success>,
}

impl Attack {
    /// Of some trials; `None` of none.
    pub fn of(name: impl Into<String>, trials: &[Trial]) -> Option<Self> {
        Some(Self {
            name: name.into(),
            all: Success::of(trials)?,
            interior: Success::of(trials.iter().filter(|t| !t.edge)),
            edge: Success::of(trials.iter().filter(|t| t.edge)),
        })
    }
}

/// What guessing achieves that sees nothing but the prior.
pub fn chance(places: &Geography, users: &[PlaceId], edge: &[bool]) -> Option<Attack> {
    let scores: Vec<(PlaceId, f64)> =
        PlaceId::all(places.places()).map(|v| (v, -places.prior()[v.index()])).collect();
    let trial = |&user: &PlaceId| Trial::rank(places, user, edge[user.index()], &scores);
    Attack::of("nothing but the prior", &users.iter().map(trial).collect::<Vec<_>>())
}

/// A place is at the edge when its relevant places lie to one side of it: their mean is farther away
/// than this part of Gamma.
const LOPSIDED: f64 = 0.1;

/// Which places are near the edge of the map.
pub fn edges(places: &Geography, graph: Option<&NeighbourGraph>, plan: &Plan) -> Vec<bool> {
    let whole =
        Plan { radii: lrgeo_mechanism::Radii { relevant_max: None, ..plan.radii }, ..plan.clone() };
    let lopsided = |v: PlaceId| {
        let near = relevant_places(places, graph, &whole, v);
        let here = places.coords()[v.index()];
        let shrink = here.lat().to_radians().cos();
        let mean = |of: &dyn Fn(PlaceId) -> f64| {
            near.iter().map(|&j| of(j)).sum::<f64>() / near.len() as f64
        };
        let north = mean(&|j| places.coords()[j.index()].lat() - here.lat());
        let east = mean(&|j| (places.coords()[j.index()].lon() - here.lon()) * shrink);
        let degrees = (north * north + east * east).sqrt();
        degrees.to_radians() * lrgeo_geo::EARTH_RADIUS_KM > LOPSIDED * plan.radii.relevant
    };
    PlaceId::all(places.places()).map(lopsided).collect()
}
