//! What the exponential mechanism's exponent amounts to, and which exponent to take for an epsilon.
//!
//! With `ln z_ik = -(a/2) s_ik - ln S_i`, the largest `ln z_ik - ln z_jk` over all columns k is
//! `(a/2) M_ij + ln S_j - ln S_i` with `M_ij = max_k (s_jk - s_ik)`, which does not depend on a. By
//! distance `M_ij = d_ij` (take k = i), hence the `a/2 + max |ln S_i - ln S_j| / d_ij` of `docs/specification.md`
//! section 8; by cost M is found once by looking at every column.

use std::borrow::Cow;

use lrgeo_geo::parallel::*;
use lrgeo_geo::{Coord, EARTH_RADIUS_KM};
use lrgeo_tiles::Epsilon;

use super::{Exponential, Score, scores};
use crate::MechanismError;

/// The scores of all pairs are kept up to this many places (200 MB); by distance they are worked out
/// anew for larger maps, by cost larger maps are refused.
const MOST_PLACES_KEPT: usize = 5_000;

/// More than the error of a logarithm, a normaliser and a distance in f64, and of whoever checks
/// the result, relative to the largest logarithm of a row.
const ROUNDING: f64 = 1e-12;

/// How finely the exponent is searched for: first this many steps over its range, then to this
/// relative width.
const STEPS: u32 = 12;
const WIDTH: f64 = 1e-7;
const MOST_TRIALS: u32 = 40;

/// The smallest epsilon, in 1/km, at which the mechanism satisfies Geo-Ind for every pair at most
/// `gamma_km` apart (infinity: all pairs), rounded up.
///
/// Infinite where two places at distance zero have different rows, which only happens by cost; zero
/// where no pair is that close. The constant added to every entry can only make the truth smaller.
pub fn real_epsilon(mechanism: &Exponential<'_>, gamma_km: f64) -> Result<f64, MechanismError> {
    let pairs = Pairs::new(mechanism.places, mechanism.score, gamma_km)?;
    Ok(pairs.real_epsilon(mechanism.exponent.value()))
}

/// The mechanism with the largest exponent whose real epsilon is at most `epsilon`, for the pairs
/// at most `gamma_km` apart (infinity: all pairs).
///
/// The real epsilon need not grow with the exponent everywhere. The range in which the answer must
/// lie is therefore searched from its upper end in steps, and the step where the promise begins to
/// hold is narrowed down; what is returned was itself measured, so the promise never rests on monotony.
pub fn calibrate<'a>(
    places: &'a [Coord],
    score: Score<'a>,
    epsilon: Epsilon,
    gamma_km: f64,
) -> Result<Exponential<'a>, MechanismError> {
    let pairs = Pairs::new(places, score, gamma_km)?;
    let asked = epsilon.value();
    let Some((low, high)) = pairs.range(asked)? else {
        return Ok(Exponential::new(places, score, epsilon));
    };
    let excess = |a: f64| pairs.real_epsilon(a) - asked;
    // From above: at `fails` the promise does not hold, at `kept`, the next step below, it does.
    let step = (high / low).powf(1.0 / f64::from(STEPS)).max(1.0 + WIDTH);
    let mut fails = Trial::at(high * step, excess);
    let mut kept = Trial::at(high, excess);
    let mut steps = 0;
    while kept.excess > 0.0 {
        // Below `low` only rounding stands in the way: strides get longer, but not for ever.
        steps += 1;
        if steps > 4 * STEPS {
            let reason = format!("{epsilon} is too small: the places are too close together");
            return Err(MechanismError::Invalid { field: "epsilon", reason });
        }
        let stride = if steps > STEPS { 2.0 } else { step };
        (fails, kept) = (kept, Trial::at(kept.exponent / stride, excess));
    }
    let kept = narrow(kept, fails, excess);
    Ok(Exponential::new(places, score, Epsilon::per_km(kept.exponent)?))
}

/// An exponent, and by how much its real epsilon is above the asked one.
#[derive(Clone, Copy)]
struct Trial {
    exponent: f64,
    excess: f64,
}

impl Trial {
    fn at(exponent: f64, excess: impl Fn(f64) -> f64) -> Self {
        Self { exponent, excess: excess(exponent) }
    }
}

/// Brings the two trials together by false position (the Illinois rule: an end that stays twice
/// counts half), which takes a third of the trials of halving.
fn narrow(mut kept: Trial, mut fails: Trial, excess: impl Fn(f64) -> f64) -> Trial {
    let (mut below, mut above) = (kept.excess, fails.excess);
    for _ in 0..MOST_TRIALS {
        let width = fails.exponent - kept.exponent;
        if width <= WIDTH * kept.exponent {
            break;
        }
        let position = below / (below - above);
        let inner = if position.is_finite() { position.clamp(1e-3, 1.0 - 1e-3) } else { 0.5 };
        let trial = Trial::at(kept.exponent + inner * width, &excess);
        if trial.excess <= 0.0 {
            (kept, below, above) = (trial, trial.excess, above / 2.0);
        } else {
            (fails, above, below) = (trial, trial.excess, below / 2.0);
        }
    }
    kept
}

/// The pairs of the notion and all that does not depend on the exponent.
struct Pairs<'a> {
    places: &'a [Coord],
    score: Score<'a>,
    gamma_km: f64,
    scores: Scores,
    /// By cost: for every i, its partners j > i.
    spreads: Vec<Vec<Spread>>,
}

/// The scores of all places.
enum Scores {
    /// Row by row.
    Kept(Vec<Vec<f64>>),
    /// Too many: distances, worked out from points on the unit sphere, which is quicker than the
    /// haversine and right up to [`CHORD_ERROR_KM`].
    WorkedOut(Vec<[f64; 3]>),
}

/// What a distance by way of the chord may be off: a few roundings of an Earth radius.
const CHORD_ERROR_KM: f64 = 1e-11;

impl Scores {
    fn row(&self, i: usize) -> Cow<'_, [f64]> {
        match self {
            Self::Kept(rows) => Cow::Borrowed(&rows[i]),
            Self::WorkedOut(points) => {
                let [x, y, z] = points[i];
                let distance = |&[a, b, c]: &[f64; 3]| {
                    let chord2 = (a - x).powi(2) + (b - y).powi(2) + (c - z).powi(2);
                    2.0 * EARTH_RADIUS_KM * (chord2.sqrt() / 2.0).min(1.0).asin()
                };
                Cow::Owned(points.iter().map(distance).collect())
            }
        }
    }

    fn error_km(&self) -> f64 {
        match self {
            Self::Kept(_) => 0.0,
            Self::WorkedOut(_) => CHORD_ERROR_KM,
        }
    }
}

/// A pair of places, seen from the one with the lower index.
#[derive(Clone, Copy)]
struct Spread {
    other: usize,
    distance: f64,
    /// `M_ij` and `M_ji`.
    up: f64,
    down: f64,
}

impl<'a> Pairs<'a> {
    fn new(places: &'a [Coord], score: Score<'a>, gamma_km: f64) -> Result<Self, MechanismError> {
        if gamma_km.is_nan() || gamma_km < 0.0 {
            let reason = format!("{gamma_km} km is not a distance");
            return Err(MechanismError::Invalid { field: "gamma", reason });
        }
        let everyone = || (0..places.len()).into_par_iter();
        let mut spreads = Vec::new();
        let scores = match score {
            Score::Distance if places.len() > MOST_PLACES_KEPT => {
                Scores::WorkedOut(places.iter().map(|&c| c.on_sphere()).collect())
            }
            Score::Cost(_) if places.len() > MOST_PLACES_KEPT => {
                let reason = format!(
                    "the real epsilon by cost takes every pair and column: at most {MOST_PLACES_KEPT} places, \
                     not {}",
                    places.len()
                );
                return Err(MechanismError::Invalid { field: "places", reason });
            }
            _ => {
                let rows: Result<Vec<Vec<f64>>, MechanismError> =
                    everyone().map(|i| scores(places, score, i)).collect();
                let rows = rows?;
                if let Score::Cost(_) = score {
                    spreads =
                        everyone().map(|i| spreads_by_cost(places, &rows, i, gamma_km)).collect();
                }
                Scores::Kept(rows)
            }
        };
        Ok(Self { places, score, gamma_km, scores, spreads })
    }

    /// The largest value of `of` over the pairs of the notion.
    fn largest(&self, of: impl Fn(usize, Spread) -> f64 + Sync) -> f64 {
        let from = |i: usize| -> f64 {
            let worst = |worst: f64, spread: Spread| worst.max(of(i, spread));
            if let Score::Cost(_) = self.score {
                return self.spreads[i].iter().copied().fold(0.0, worst);
            }
            let distances = self.scores.row(i);
            let partners = distances.iter().copied().enumerate().skip(i + 1);
            partners
                .filter(|&(_, d)| d <= self.gamma_km + self.scores.error_km())
                .map(|(other, d)| Spread { other, distance: d, up: d, down: d })
                .fold(0.0, worst)
        };
        (0..self.places.len()).into_par_iter().map(from).reduce(|| 0.0, f64::max)
    }

    fn real_epsilon(&self, exponent: f64) -> f64 {
        let rate = exponent / 2.0;
        let rows: Vec<Normaliser> =
            (0..self.places.len()).into_par_iter().map(|i| self.normaliser(i, rate)).collect();
        let error_km = self.scores.error_km();
        self.largest(|i, Spread { other, distance, up, down }| {
            if up == 0.0 && down == 0.0 {
                // Equal scores, hence equal rows.
                return 0.0;
            }
            let (here, there) = (rows[i], rows[other]);
            let difference = there.log - here.log;
            let ratio = (rate * up + difference).max(rate * down - difference);
            let rounding =
                ROUNDING * (here.largest_log + there.largest_log) + 3.0 * rate * error_km;
            let shortest = distance * (1.0 - ROUNDING) - error_km;
            if shortest > 0.0 { (ratio + rounding) / shortest } else { f64::INFINITY }
        })
    }

    fn normaliser(&self, i: usize, rate: f64) -> Normaliser {
        let row = self.scores.row(i);
        // The smallest score of a row is zero.
        let log = row.iter().map(|s| (-rate * s).exp()).sum::<f64>().ln();
        let most = row.iter().copied().fold(0.0, f64::max);
        Normaliser { log, largest_log: rate * most + log + 1.0 }
    }

    /// Where the exponent for `asked` must lie; `None` if every exponent will do.
    ///
    /// The real epsilon is at most `a max M/d`, and at least `a/4 max (M_ij + M_ji)/d`: the larger of
    /// two log-ratios is at least half of their sum, in which the normalisers cancel.
    fn range(&self, asked: f64) -> Result<Option<(f64, f64)>, MechanismError> {
        let steepest = self.largest(|_, s| match s.up.max(s.down) {
            0.0 => 0.0,
            up => up / s.distance,
        });
        let widest = self.largest(|_, s| match s.up + s.down {
            0.0 => 0.0,
            both => both / s.distance,
        });
        if steepest.is_infinite() {
            let reason = "two places at distance zero have different losses: no exponent makes \
                          their rows equal";
            return Err(MechanismError::Invalid { field: "losses", reason: reason.into() });
        }
        Ok((widest > 0.0).then(|| (asked / steepest, 4.0 * asked / widest)))
    }
}

/// By cost: the partners j > i of place i, each after looking at every column.
fn spreads_by_cost(places: &[Coord], scores: &[Vec<f64>], i: usize, gamma_km: f64) -> Vec<Spread> {
    (i + 1..places.len())
        .map(|other| (other, places[i].distance_km(places[other])))
        .filter(|&(_, distance)| distance <= gamma_km)
        .map(|(other, distance)| {
            let (up, down) = largest_differences(&scores[other], &scores[i]);
            Spread { other, distance, up, down }
        })
        .collect()
}

/// `ln S_i`, and an upper bound of the absolute value of any logarithm that goes into a ratio.
#[derive(Clone, Copy)]
struct Normaliser {
    log: f64,
    largest_log: f64,
}

/// `max_k (a_k - b_k)` and `max_k (b_k - a_k)`, in eight lanes so that the processor can take
/// them at once.
fn largest_differences(a: &[f64], b: &[f64]) -> (f64, f64) {
    let (mut up, mut down) = ([f64::NEG_INFINITY; 8], [f64::NEG_INFINITY; 8]);
    let (a_chunks, b_chunks) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest = a_chunks.remainder().iter().zip(b_chunks.remainder());
    for (lane, (x, y)) in rest.enumerate() {
        (up[lane], down[lane]) = (x - y, y - x);
    }
    for (a, b) in a_chunks.zip(b_chunks) {
        for lane in 0..8 {
            let difference = a[lane] - b[lane];
            up[lane] = if difference > up[lane] { difference } else { up[lane] };
            down[lane] = if -difference > down[lane] { -difference } else { down[lane] };
        }
    }
    let largest = |lanes: [f64; 8]| lanes.into_iter().fold(f64::NEG_INFINITY, f64::max);
    (largest(up), largest(down))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lrgeo_geo::rng::SplitMix;

    #[test]
    fn distances_worked_out_anew_give_the_same_real_epsilon_or_a_hair_more() {
        let mut rng = SplitMix::new(12);
        let mut places: Vec<Coord> = (0..80)
            .map(|_| Coord::new(-33.9 + 0.2 * rng.unit(), 151.0 + 0.2 * rng.unit()).unwrap())
            .collect();
        places[3] = places[70];
        for (exponent, gamma_km) in [(0.1, f64::INFINITY), (3.0, f64::INFINITY), (3.0, 2.0)] {
            let mut pairs = Pairs::new(&places, Score::Distance, gamma_km).unwrap();
            let kept = pairs.real_epsilon(exponent);
            pairs.scores = Scores::WorkedOut(places.iter().map(|&c| c.on_sphere()).collect());
            let worked_out = pairs.real_epsilon(exponent);
            assert!((kept..kept * (1.0 + 1e-9)).contains(&worked_out), "{kept}, {worked_out}");
        }
    }
}
