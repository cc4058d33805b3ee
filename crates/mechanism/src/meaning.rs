//! What an epsilon means, in words that people use.

use std::fmt;

use lrgeo_geo::Coord;
use lrgeo_geo::parallel::*;
use lrgeo_geo::spacing::reach_km;
use lrgeo_geo::units::Length;
use lrgeo_tiles::{Epsilon, Notion, Privacy};

use crate::MechanismError;
use crate::laplace::quantile;

/// What an epsilon means on a map with a given distance between neighbouring places.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Meaning {
    /// The privacy parameter.
    pub epsilon: Epsilon,
    /// From a place to its nearest neighbour, in kilometres.
    pub spacing_km: f64,
    /// Between whom the promise is.
    pub notion: Notion,
    /// What a mechanism really does, if its rows were looked at.
    pub observed: Option<Observed>,
}

/// What the rows of a mechanism do, weighted by how often people are where.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observed {
    /// 95 % of the reports are at most this far from the true place, in kilometres; rounded up.
    pub error_radius_km: f64,
    /// How often someone who knows the mechanism and the prior guesses the true place from a
    /// report: `sum_k max_i p_i z_ik`.
    pub hit_rate: f64,
    /// How often they are right without seeing the report: `max_i p_i`.
    pub blind_hit_rate: f64,
}

/// Something to think about before using an epsilon.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Warning {
    /// The promise is between places, and people stand anywhere.
    BetweenPlaces {
        /// How far apart two people are.
        km: f64,
        /// How many times as likely a report may then be from one as from the other.
        factor: f64,
        /// What it is between places.
        between_places: f64,
        /// Cells that suit this epsilon, where those of the map are much coarser.
        finer_km: Option<f64>,
    },
    /// Even neighbouring places are told apart.
    NearlyNoPrivacy {
        /// How many times as likely a report may be from a place as from its neighbour.
        neighbour_factor: f64,
    },
    /// A report gives the true place away more often than not.
    EasilyGuessed {
        /// See [`Observed::hit_rate`].
        hit_rate: f64,
        /// See [`Observed::blind_hit_rate`].
        blind_hit_rate: f64,
    },
    /// Reports are so far off that they say next to nothing about the place.
    NothingLocal {
        /// See [`Meaning::error_radius_km`].
        error_radius_km: f64,
    },
}

/// Epsilon times the spacing of places that suit it: finer ones cost an optimiser much time and gain little, coarser ones tell people apart
/// who stand on either side of a border.
pub const SCALED_SPACING: f64 = 0.5;
/// Places this many times as far apart as suits are worth a word.
const COARSE: f64 = 1.5;
/// The share of reports that an error radius speaks of.
const SHARE: f64 = 0.95;
/// Neighbours told apart by more than this factor have nearly no privacy.
const LARGEST_NEIGHBOUR_FACTOR: f64 = 10.0;
/// Guessed more often than this is guessed easily.
const LARGEST_HIT_RATE: f64 = 0.5;
/// Below this epsilon x spacing, reports scatter over hundreds of places: nothing is local.
const SMALLEST_SCALED_SPACING: f64 = 0.02;
/// A report that does not improve the best guess by this factor says nothing.
const LEAST_GAIN: f64 = 1.05;

impl Meaning {
    /// Of `epsilon` between places, of which neighbours are `spacing_km` apart.
    pub fn new(epsilon: Epsilon, spacing_km: f64) -> Result<Self, MechanismError> {
        if spacing_km.is_finite() && spacing_km > 0.0 {
            return Ok(Self { epsilon, spacing_km, notion: Notion::AllPairs, observed: None });
        }
        let reason = format!("{spacing_km} km between places is not a positive length");
        Err(MechanismError::Invalid { field: "spacing", reason })
    }

    /// The same for a promise of another kind.
    pub fn with_notion(self, notion: Notion) -> Self {
        Self { notion, ..self }
    }

    /// The same, with what the rows of a mechanism do; `row` gives the row of a place.
    pub fn with_rows(
        self,
        places: &[Coord],
        prior: &[f64],
        row: &(dyn Fn(usize) -> Result<Vec<f64>, MechanismError> + Sync),
    ) -> Result<Self, MechanismError> {
        Ok(Self { observed: Some(observe(places, prior, row)?), ..self })
    }

    /// `eps * spacing`: the one number that says how private neighbours are.
    pub fn scaled_spacing(&self) -> f64 {
        self.epsilon.value() * self.spacing_km
    }

    /// How many times as likely a report may be from a place as from its neighbour.
    pub fn neighbour_factor(&self) -> f64 {
        self.scaled_spacing().exp()
    }

    /// The distance within which no report is more than `factor` times as likely from one place as
    /// from another: `ln(factor) / eps`, in kilometres. With factor 2, the protected radius.
    pub fn radius_of_factor_km(&self, factor: f64) -> f64 {
        factor.ln() / self.epsilon.value()
    }

    /// How many times as likely a report may be from one person as from another who is at most `km` away, wherever both stand.
    /// Of a mechanism on places it is `exp(eps (d + rho + rho'))` (`docs/specification.md` section 1), which does not go to one.
    pub fn factor_between_people(&self, km: f64) -> f64 {
        let along = (self.epsilon.value() * km).exp();
        match self.notion {
            Notion::Coordinates => along,
            _ => along * self.off_grid_factor(),
        }
    }

    /// The distance up to which no report is more than twice as likely from one person as from another; zero where there is none.
    pub fn protected_radius_km(&self) -> f64 {
        let doubled = self.radius_of_factor_km(2.0);
        match self.notion {
            Notion::Coordinates => doubled,
            _ => (doubled - 2.0 * reach_km(self.spacing_km)).max(0.0),
        }
    }

    /// What people get, in the words in which it was asked for or, where it was not, at the radius of a factor of 2 between places.
    pub fn between_people(&self, asked: Option<Privacy>) -> String {
        let radius = match asked.and_then(|asked| asked.words) {
            Some((_, radius)) => radius.km(),
            None => self.radius_of_factor_km(2.0),
        };
        let given = format!(
            "between people: factor {} within {}",
            times(self.factor_between_people(radius)),
            length(radius)
        );
        match asked {
            Some(asked) => format!("asked: {asked}; {given}"),
            None => given,
        }
    }

    /// 95 % of the reports are at most this far off, in kilometres: of the rows if they were looked
    /// at, else of planar Laplace noise at this epsilon, as a yardstick.
    pub fn error_radius_km(&self) -> f64 {
        let yardstick = quantile(SHARE) / self.epsilon.value();
        self.observed.map_or(yardstick, |observed| observed.error_radius_km)
    }

    /// By how much the bound grows for people who are not exactly at a place: `exp(eps (rho + rho'))`, rho the
    /// farthest that somebody may be from the place that they count as being at. Who is farther is refused.
    pub fn off_grid_factor(&self) -> f64 {
        (2.0 * self.epsilon.value() * reach_km(self.spacing_km)).exp()
    }

    /// What to think about before using this.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        if self.notion != Notion::Coordinates {
            let km = self.radius_of_factor_km(2.0);
            let factor = self.factor_between_people(km);
            let good_km = SCALED_SPACING / self.epsilon.value();
            let finer_km = (self.spacing_km > COARSE * good_km).then_some(good_km);
            warnings.push(Warning::BetweenPlaces { km, factor, between_places: 2.0, finer_km });
        }
        let neighbour_factor = self.neighbour_factor();
        // Between coordinates neighbouring places mean nothing.
        if neighbour_factor > LARGEST_NEIGHBOUR_FACTOR && self.notion != Notion::Coordinates {
            warnings.push(Warning::NearlyNoPrivacy { neighbour_factor });
        }
        let mut says_nothing = self.scaled_spacing() < SMALLEST_SCALED_SPACING;
        if let Some(Observed { hit_rate, blind_hit_rate, .. }) = self.observed {
            if hit_rate > LARGEST_HIT_RATE {
                warnings.push(Warning::EasilyGuessed { hit_rate, blind_hit_rate });
            }
            says_nothing = hit_rate < LEAST_GAIN * blind_hit_rate;
        }
        if says_nothing {
            warnings.push(Warning::NothingLocal { error_radius_km: self.error_radius_km() });
        }
        warnings
    }
}

/// How finely distances are sorted: into this many steps up to the largest, which is less than a
/// metre over a city.
const STEPS: usize = 1 << 16;

fn observe(
    places: &[Coord],
    prior: &[f64],
    row: &(dyn Fn(usize) -> Result<Vec<f64>, MechanismError> + Sync),
) -> Result<Observed, MechanismError> {
    let total: f64 = prior.iter().sum();
    let sound = prior.iter().all(|p| p.is_finite() && *p >= 0.0) && total > 0.0;
    if prior.len() != places.len() || !sound {
        let reason = format!("must be {} probabilities, not all zero", places.len());
        return Err(MechanismError::Invalid { field: "prior", reason });
    }
    // No two places are farther apart than twice the way to the one farthest from the first.
    let reach = places.iter().map(|p| p.distance_km(places[0])).fold(0.0, f64::max);
    let step_km = (2.0 * reach).max(1e-9) / STEPS as f64;
    let look = |mut seen: Seen, i: usize| {
        let entries = row(i)?;
        if entries.len() != places.len() {
            return Err(MechanismError::Row { row: i, reason: "has the wrong length" });
        }
        for (k, z) in entries.into_iter().enumerate() {
            let weight = prior[i] / total * z;
            let step = (places[i].distance_km(places[k]) / step_km).ceil() as usize;
            seen.by_distance[step.min(STEPS)] += weight;
            seen.best[k] = seen.best[k].max(weight);
        }
        Ok(seen)
    };
    let seen = (0..places.len())
        .into_par_iter()
        .with_min_len(64)
        .filter(|&i| prior[i] > 0.0)
        .try_fold(|| Seen::nothing(places.len()), look)
        .try_reduce(|| Seen::nothing(places.len()), |a, b| Ok(a.and(b)))?;
    let mut sum = 0.0;
    let within = seen.by_distance.iter().position(|weight| {
        sum += weight;
        sum >= SHARE
    });
    Ok(Observed {
        error_radius_km: within.unwrap_or(STEPS) as f64 * step_km,
        hit_rate: seen.best.iter().sum(),
        blind_hit_rate: prior.iter().copied().fold(0.0, f64::max) / total,
    })
}

/// What some of the rows add up to.
struct Seen {
    /// The mass of the reports by their distance from the true place, in steps rounded up.
    by_distance: Vec<f64>,
    /// For every report, `max_i p_i z_ik`.
    best: Vec<f64>,
}

impl Seen {
    fn nothing(places: usize) -> Self {
        Self { by_distance: vec![0.0; STEPS + 1], best: vec![0.0; places] }
    }

    fn and(mut self, other: Self) -> Self {
        self.by_distance.iter_mut().zip(other.by_distance).for_each(|(a, b)| *a += b);
        self.best.iter_mut().zip(other.best).for_each(|(a, b)| *a = a.max(b));
        self
    }
}

impl fmt::Display for Meaning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spacing = length(self.spacing_km);
        writeln!(
            f,
            "epsilon {}, places {spacing} apart (epsilon x spacing {:.2})",
            self.epsilon,
            self.scaled_spacing()
        )?;
        writeln!(f, "  protected radius  {}", self.protected_words())?;
        if self.notion != Notion::Coordinates {
            writeln!(
                f,
                "  between places    neighbours told apart by a factor of {}; twice as likely up to {}",
                times(self.neighbour_factor()),
                length(self.radius_of_factor_km(2.0))
            )?;
        }
        let of = if self.observed.is_some() { "reports" } else { "planar Laplace reports" };
        writeln!(
            f,
            "  error radius      95 % of {of} are within {} of the true place",
            length(self.error_radius_km())
        )?;
        if let Some(observed) = self.observed {
            writeln!(
                f,
                "  best guess        right {} of the time, {} without the report",
                percent(observed.hit_rate),
                percent(observed.blind_hit_rate)
            )?;
        }
        write!(f, "  people            {}", self.between_people(None))
    }
}

impl Meaning {
    fn protected_words(&self) -> String {
        match self.protected_radius_km() {
            0.0 => "none: two people a metre apart may be told apart by more than a factor of 2, where a border runs between \
                    them"
                .to_owned(),
            radius => format!(
                "{}: up to there no report is more than twice as likely from one person as from another",
                length(radius)
            ),
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::BetweenPlaces { km, factor, between_places, finer_km } => {
                write!(
                    f,
                    "the promise is between places: people {} apart may be told apart by a factor of {}, not {}; the kind `laplace` keeps \
                     it between people",
                    length(km),
                    times(factor),
                    times(between_places)
                )?;
                match finer_km {
                    Some(km) => write!(
                        f,
                        ", and finer places come nearer to it: cells of {} suit this epsilon",
                        length((100.0 * km).round().max(1.0) / 100.0)
                    ),
                    None => Ok(()),
                }
            }
            Self::NearlyNoPrivacy { neighbour_factor } => write!(
                f,
                "nearly no privacy: a report may be {} times as likely from a place as from its \
                 neighbour; choose a smaller epsilon",
                times(neighbour_factor)
            ),
            Self::EasilyGuessed { hit_rate, blind_hit_rate } => write!(
                f,
                "easily guessed: the best guess from a report is right {} of the time ({} without \
                 it); choose a smaller epsilon",
                percent(hit_rate),
                percent(blind_hit_rate)
            ),
            Self::NothingLocal { error_radius_km } => write!(
                f,
                "nothing is local: reports are up to {} off and say next to nothing about the place; \
                 choose a larger epsilon",
                length(error_radius_km)
            ),
        }
    }
}

fn length(km: f64) -> String {
    let rounded =
        if km < 1.0 { (km * 1000.0).round() / 1000.0 } else { (km * 100.0).round() / 100.0 };
    Length::from_km(rounded).map_or_else(|_| format!("{km:e} km"), |length| length.to_string())
}

fn times(factor: f64) -> String {
    if factor < 1000.0 { format!("{factor:.1}") } else { format!("{factor:.0e}") }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}
