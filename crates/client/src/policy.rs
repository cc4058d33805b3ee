//! What the owner of a phone accepts: *the operator is the adversary*.
//!
//! A signature says who, never that it is true. So nothing here looks at what a server claims about its own
//! privacy: epsilon is that of the rows as they are drawn from, likely places are counted from the public list,
//! relevant places are those of the user's own programme. A refusal says which rule, what was offered and what
//! to do.

use lrgeo_geo::index::SpatialIndex;
use lrgeo_geo::{Coord, PlaceId};
use serde::{Deserialize, Serialize};

use crate::Mode;
use crate::state::Limit;

/// Between whom the owner wants the promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protects {
    /// Every two places of the map: mode `published`.
    #[default]
    AllPairs,
    /// Every two relevant places of the user's own programme, and no others (Theorem 4.4 of the paper): the modes
    /// `local` and `offload` too.
    RelevantPlaces,
}

/// The owner's rules. Kept in the state, so that they hold for every server and every run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// The most epsilon that one report may have, in 1/km.
    pub most_epsilon_per_km: f64,
    /// Between whom.
    pub protects: Protects,
    /// As many likely places as whoever sees which tiles are fetched must at least be left with.
    pub least_likely_places: f64,
    /// As many places as the LR set of `local` and `offload` must at least have.
    pub least_relevant_places: u32,
    /// The most epsilon per period, all reports together.
    pub per_period: Limit,
    /// The most epsilon ever, all reports together.
    pub lifetime_per_km: f64,
    /// How often a place may be drawn anew when the operator changes the map; otherwise the old report is moved.
    pub redraws: u32,
    /// All tiles are fetched where they have no more bytes than this together.
    pub fetch_all_bytes: u64,
    /// How far from where it was drawn a report is given again, in kilometres; `None` for as far as its epsilon says
    /// ([`Policy::reuse_radius_km`]).
    pub reuse_within_km: Option<f64>,
}

/// A fix is off by 5 to 15 m, by more between houses: a smaller radius would draw anew for somebody who sits still.
pub const LEAST_REUSE_KM: f64 = 0.05;
/// Whoever is farther from where a report was drawn wants another one, however small an operator's epsilon.
pub const MOST_REUSE_KM: f64 = 2.0;

impl Default for Policy {
    fn default() -> Self {
        Self {
            // "factor 2 within 300 m"
            most_epsilon_per_km: std::f64::consts::LN_2 / 0.3,
            protects: Protects::default(),
            least_likely_places: 50.0,
            least_relevant_places: 10,
            per_period: Limit::default(),
            lifetime_per_km: 400.0,
            redraws: 0,
            fetch_all_bytes: 16 << 20,
            reuse_within_km: None,
        }
    }
}

/// Which rule of the owner's a server breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rule {
    /// [`Policy::most_epsilon_per_km`].
    Epsilon,
    /// [`Policy::protects`].
    Notion,
    /// [`Policy::least_likely_places`].
    LikelyPlaces,
    /// [`Policy::least_relevant_places`].
    RelevantPlaces,
    /// What was accepted before may not get weaker without consent.
    Weaker,
}

impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Epsilon => "epsilon per report",
            Self::Notion => "all pairs of places",
            Self::LikelyPlaces => "likely places",
            Self::RelevantPlaces => "relevant places",
            Self::Weaker => "nothing weaker without consent",
        })
    }
}

/// Why the owner's policy says no. No field carries where the user is.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "your policy says no (rule: {rule}): the server offers {offered}, you want {wanted}. {advice}"
)]
#[non_exhaustive]
pub struct Refused {
    /// Which rule.
    pub rule: Rule,
    /// What the server offers, as it was measured here.
    pub offered: String,
    /// What the rule asks for.
    pub wanted: String,
    /// What to do.
    pub advice: String,
}

/// `factor 2 within 300 m`: what an epsilon says about the distance within which no report is more than twice as
/// likely from one place as from another.
pub fn in_words(epsilon_per_km: f64) -> String {
    let metres = 1000.0 * std::f64::consts::LN_2 / epsilon_per_km;
    format!("{}/km, factor 2 within {metres:.0} m", (epsilon_per_km * 1e4).round() / 1e4)
}

impl Policy {
    /// Refuses numbers that are no rules.
    pub fn validate(&self) -> Result<(), &'static str> {
        Limit::new(self.per_period.cap_per_km, self.per_period.period_seconds)?;
        let positive = |x: f64| x.is_finite() && x > 0.0;
        if !positive(self.most_epsilon_per_km) || !positive(self.lifetime_per_km) {
            return Err("epsilons of the policy must be positive numbers per kilometre");
        }
        let reuse = LEAST_REUSE_KM..=MOST_REUSE_KM;
        if self.reuse_within_km.is_some_and(|km| !reuse.contains(&km)) {
            return Err(
                "reports are reused within 50 m to 2 km of where they were drawn; a fix may be off by 50 m",
            );
        }
        match self.least_likely_places.is_finite() && self.least_likely_places >= 1.0 {
            true => Ok(()),
            false => Err("the least number of likely places must be at least 1"),
        }
    }

    /// How far from where it was drawn a report with this epsilon is given again.
    ///
    /// By default 1/epsilon: from anywhere within, the report is at most e times as likely or unlikely as from where it
    /// was drawn, and such a step is half of what the mechanism adds on average anyway (planar Laplace noise: 2/epsilon).
    /// Half of that would double what a walk spends, and hardly make reports better.
    pub fn reuse_radius_km(&self, epsilon_per_km: f64) -> f64 {
        let by_epsilon = || (1.0 / epsilon_per_km).min(MOST_REUSE_KM);
        self.reuse_within_km.unwrap_or_else(by_epsilon).max(LEAST_REUSE_KM)
    }

    /// No report above the owner's epsilon, whatever the day's budget.
    pub fn allow_epsilon(&self, epsilon: f64) -> Result<(), Refused> {
        // Written so that what is not a number is refused.
        if epsilon > 0.0 && epsilon <= self.most_epsilon_per_km {
            return Ok(());
        }
        Err(Refused {
            rule: Rule::Epsilon,
            offered: in_words(epsilon),
            wanted: format!("at most {}", in_words(self.most_epsilon_per_km)),
            advice: format!(
                "Use another server, or allow it: raise `policy.most_epsilon_per_km` to {epsilon}/km"
            ),
        })
    }

    /// Whether a mode protects whom the owner wants protected.
    pub fn allow_mode(&self, mode: Mode) -> Result<(), Refused> {
        if matches!(mode, Mode::Coordinates | Mode::Published)
            || self.protects == Protects::RelevantPlaces
        {
            return Ok(());
        }
        Err(Refused {
            rule: Rule::Notion,
            offered: format!("in mode `{mode}` a promise between your relevant places only"),
            wanted: "one between all pairs of places".into(),
            advice: "Use mode `published`, or allow it: set `policy.protects` to relevant-places"
                .into(),
        })
    }

    /// A promise of `published` must be for all pairs.
    pub fn allow_reach(&self, reach_km: f64) -> Result<(), Refused> {
        if reach_km == f64::INFINITY {
            return Ok(());
        }
        Err(Refused {
            rule: Rule::Notion,
            offered: format!("a promise between places at most {reach_km} km apart"),
            wanted: "one between all pairs of places".into(),
            advice: "Ask the operator to publish a mechanism for all pairs".into(),
        })
    }

    /// Enough likely places behind what the server sees of the tiles.
    pub fn allow_likely(&self, likely: f64, tiles: &str) -> Result<(), Refused> {
        if likely >= self.least_likely_places {
            return Ok(());
        }
        Err(Refused {
            rule: Rule::LikelyPlaces,
            offered: format!("{likely:.1} likely places behind {tiles}"),
            wanted: format!("at least {}", self.least_likely_places),
            advice: format!(
                "The map is too small or too uneven to hide you; use another server, or accept fewer: \
                 lower `policy.least_likely_places` to {}",
                likely.floor().max(1.0)
            ),
        })
    }

    /// Enough relevant places in a programme; a map with fewer places must have all of them relevant.
    pub fn allow_relevant(&self, relevant: usize, places: usize) -> Result<(), Refused> {
        let least = (self.least_relevant_places as usize).min(places);
        if relevant >= least {
            return Ok(());
        }
        Err(Refused {
            rule: Rule::RelevantPlaces,
            offered: format!("a programme with {relevant} relevant places"),
            wanted: format!("at least {least}"),
            advice: "Use mode `published`, or accept fewer: lower `policy.least_relevant_places`"
                .into(),
        })
    }
}

/// What was accepted of a server in one mode, as it was measured here.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Terms {
    /// The epsilon of a report, in 1/km.
    pub epsilon_per_km: f64,
    /// How far a fix may be from its place: what the promise between places lacks for people.
    pub reach_km: f64,
    /// Likely places on the whole map.
    pub likely_places: f64,
}

/// Numbers within this share of each other are the same terms.
const SAME: f64 = 0.01;

impl Terms {
    /// Refuses terms that are weaker than those accepted before, each difference in words.
    pub fn no_weaker_than(&self, before: &Self) -> Result<(), Refused> {
        let more = |new: f64, old: f64| new > old * (1.0 + SAME);
        let mut offered = Vec::new();
        let mut wanted = Vec::new();
        if more(self.epsilon_per_km, before.epsilon_per_km) {
            offered.push(format!("{}/km", self.epsilon_per_km));
            wanted.push(format!("{}/km as before", before.epsilon_per_km));
        }
        if more(self.reach_km, before.reach_km) {
            offered.push(format!("places up to {:.0} m from you", 1000.0 * self.reach_km));
            wanted.push(format!("up to {:.0} m as before", 1000.0 * before.reach_km));
        }
        if more(before.likely_places, self.likely_places) {
            offered.push(format!("{:.1} likely places", self.likely_places));
            wanted.push(format!("{:.1} as before", before.likely_places));
        }
        if offered.is_empty() {
            return Ok(());
        }
        Err(Refused {
            rule: Rule::Weaker,
            offered: offered.join(", "),
            wanted: wanted.join(", "),
            advice: "If you agree, say so once (`consent`)".into(),
        })
    }
}

/// Places nearer to each other than this hide nobody from each other: together they count as one.
pub const DISTINCT_KM: f64 = 0.1;

/// How many equally likely places would hide as well as `some` of these: the exponential of the entropy of the prior,
/// places less than [`DISTINCT_KM`] apart taken as one. Counted here, whatever anybody claims.
pub fn likely_places(coords: &[Coord], prior: &[f64], some: &[PlaceId]) -> f64 {
    let weights = merged(coords, prior, some);
    let total: f64 = weights.iter().sum();
    // Where nobody is ever, anybody may be anywhere.
    if total <= 0.0 {
        return weights.len() as f64;
    }
    let shares = weights.iter().map(|w| w / total).filter(|p| *p > 0.0);
    shares.map(|p| -p * p.ln()).sum::<f64>().exp()
}

/// How many of `some` places there are, those less than [`DISTINCT_KM`] apart taken as one.
pub fn distinct_places(coords: &[Coord], some: &[PlaceId]) -> usize {
    merged(coords, &vec![1.0; coords.len()], some).len()
}

/// The weights of `some` places, each taking those near it with it.
fn merged(coords: &[Coord], prior: &[f64], some: &[PlaceId]) -> Vec<f64> {
    let at: Vec<Coord> = some.iter().map(|place| coords[place.index()]).collect();
    let index = SpatialIndex::new(&at);
    let mut taken = vec![false; some.len()];
    let mut weights = Vec::new();
    for here in 0..some.len() {
        if taken[here] {
            continue;
        }
        let mut weight = 0.0;
        for (there, _) in index.within(at[here], DISTINCT_KM) {
            if !std::mem::replace(&mut taken[there as usize], true) {
                weight += prior[some[there as usize].index()];
            }
        }
        weights.push(weight);
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_in_force_in_words_too() {
        let policy = Policy::default();
        policy.validate().unwrap();
        let words = "factor 2 within 300 m".parse::<lrgeo_tiles::Epsilon>().unwrap();
        assert_eq!(words.value(), policy.most_epsilon_per_km);
        assert!(policy.allow_epsilon(2.0).is_ok());
        for much in [2.4, 9.0, 20.0, f64::NAN, 0.0, f64::INFINITY] {
            let refused = policy.allow_epsilon(much).unwrap_err();
            assert_eq!(refused.rule, Rule::Epsilon);
        }
        let refused = policy.allow_epsilon(9.0).unwrap_err().to_string();
        for words in [
            "epsilon per report",
            "9/km",
            "within 77 m",
            "within 300 m",
            "`policy.most_epsilon_per_km`",
        ] {
            assert!(refused.contains(words), "{words}: {refused}");
        }
    }

    #[test]
    fn places_that_hide_nobody_are_not_counted() {
        let corner = Coord::new(41.9, 12.5).unwrap();
        let far: Vec<Coord> = (0..60).map(|i| corner.offset_km(0.0, 0.5 * f64::from(i))).collect();
        let all: Vec<PlaceId> = PlaceId::all(60).collect();
        assert!((likely_places(&far, &[1.0; 60], &all) - 60.0).abs() < 1e-9);
        assert!((likely_places(&far, &[1.0; 60], &all[..7]) - 7.0).abs() < 1e-9);
        assert_eq!(likely_places(&far, &[0.0; 60], &all), 60.0);
        // One house with sixty doors.
        let near: Vec<Coord> =
            (0..60).map(|i| corner.offset_km(0.0, 1e-3 * f64::from(i))).collect();
        assert!((likely_places(&near, &[1.0; 60], &all) - 1.0).abs() < 1e-9);
        assert_eq!((distinct_places(&near, &all), distinct_places(&far, &all)), (1, 60));
        // Sixty places of which one is where everybody is.
        let mut prior = [1e-9; 60];
        prior[5] = 1.0;
        assert!(likely_places(&far, &prior, &all) < 1.01);
    }

    #[test]
    fn only_what_is_weaker_needs_consent() {
        let before = Terms { epsilon_per_km: 2.0, reach_km: 0.36, likely_places: 200.0 };
        let better = Terms { epsilon_per_km: 1.5, reach_km: 0.2, likely_places: 300.0 };
        assert!(better.no_weaker_than(&before).is_ok() && before.no_weaker_than(&before).is_ok());
        for weaker in [
            Terms { epsilon_per_km: 2.1, ..better },
            Terms { reach_km: 0.4, ..better },
            Terms { likely_places: 190.0, ..better },
        ] {
            assert_eq!(weaker.no_weaker_than(&before).unwrap_err().rule, Rule::Weaker);
        }
    }
}
