//! What the exponential mechanism's exponent amounts to, and which exponent to take for an epsilon.
//!
//! With `ln z_ik = -(a/2) s_ik - ln S_i`, the largest `ln z_ik - ln z_jk` over all columns k is
//! `(a/2) M_ij + ln S_j - ln S_i` with `M_ij = max_k (s_jk - s_ik)`, which does not depend on a. By
//! distance `M_ij = d_ij` (take k = i), hence the `a/2 + max |ln S_i - ln S_j| / d_ij` of spec
//! section 8; by cost M is found once by looking at every column.

use lrgeo_map::geo::Coord;
use rayon::prelude::*;

use super::{Exponential, Score, scores};
use crate::{Epsilon, MechanismError};

/// The scores of all pairs are kept up to this many places (200 MB); by distance they are worked out
/// anew for larger maps, by cost larger maps are refused.
const MOST_PLACES_KEPT: usize = 5_000;

/// More than the error of a logarithm, a normaliser and a distance in f64, and of whoever checks
/// the result, relative to the largest logarithm of a row.
const ROUNDING: f64 = 1e-12;

/// How finely the exponent is searched for: first this many steps over its range, then halving.
const STEPS: u32 = 12;
const HALVINGS: u32 = 20;

/// The smallest epsilon, in 1/km, at which the mechanism satisfies Geo-Ind for every pair at most
/// `gamma_km` apart (infinity: all pairs), rounded up.
///
/// Infinite where two places at distance zero have different rows, which only happens by cost; zero
/// where no pair is that close. The constant added to every entry can only make the truth smaller.
pub fn real_epsilon(mechanism: &Exponential<'_>, gamma_km: f64) -> Result<f64, MechanismError> {
    let pairs = Pairs::new(mechanism.places, mechanism.score, gamma_km)?;
    pairs.real_epsilon(mechanism.exponent.value())
}

/// The mechanism with the largest exponent whose real epsilon is at most `epsilon`, for the pairs
/// at most `gamma_km` apart (infinity: all pairs).
///
/// The real epsilon need not grow with the exponent everywhere. The range in which the answer must
/// lie is therefore searched from its upper end in steps, and the step where the promise begins to
/// hold is halved; what is returned was itself measured, so the promise never rests on monotony.
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
    let holds = |a: f64| Ok::<bool, MechanismError>(pairs.real_epsilon(a)? <= asked);
    // From above: `fails` does not hold, `kept` is the next step below that does.
    let step = (high / low).powf(1.0 / f64::from(STEPS));
    let (mut fails, mut kept) = (high * step, high);
    let mut steps = 0;
    while !holds(kept)? {
        // Below `low` only rounding stands in the way: strides get longer, but not for ever.
        steps += 1;
        if steps > 4 * STEPS {
            let reason = format!("{epsilon} is too small: the places are too close together");
            return Err(MechanismError::Invalid { field: "epsilon", reason });
        }
        fails = kept;
        kept /= if steps > STEPS { 2.0 } else { step };
    }
    for _ in 0..HALVINGS {
        let middle = (kept + fails) / 2.0;
        *(if holds(middle)? { &mut kept } else { &mut fails }) = middle;
    }
    Ok(Exponential::new(places, score, Epsilon::per_km(kept)?))
}

/// The pairs of the notion and all that does not depend on the exponent.
struct Pairs<'a> {
    places: &'a [Coord],
    score: Score<'a>,
    gamma_km: f64,
    /// All scores, row by row, unless there are too many.
    scores: Option<Vec<Vec<f64>>>,
    /// By cost: for every i, its partners j > i.
    spreads: Vec<Vec<Spread>>,
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
        let few = places.len() <= MOST_PLACES_KEPT;
        let by_cost = matches!(score, Score::Cost(_));
        if by_cost && !few {
            let reason = format!(
                "the real epsilon by cost takes every pair and column: at most {MOST_PLACES_KEPT} places, not {}",
                places.len()
            );
            return Err(MechanismError::Invalid { field: "places", reason });
        }
        let mut pairs = Self { places, score, gamma_km, scores: None, spreads: Vec::new() };
        if few {
            let rows: Result<_, _> =
                (0..places.len()).into_par_iter().map(|i| scores(places, score, i)).collect();
            pairs.scores = Some(rows?);
        }
        if by_cost {
            pairs.spreads =
                (0..places.len()).into_par_iter().map(|i| pairs.spreads_by_cost(i)).collect();
        }
        Ok(pairs)
    }

    /// Looks at every column.
    fn spreads_by_cost(&self, i: usize) -> Vec<Spread> {
        let Some(scores) = &self.scores else { return Vec::new() };
        let partners = (i + 1..self.places.len()).map(|j| (j, self.distance(i, j)));
        partners
            .filter(|&(_, distance)| distance <= self.gamma_km)
            .map(|(other, distance)| {
                let (up, down) = largest_differences(&scores[other], &scores[i]);
                Spread { other, distance, up, down }
            })
            .collect()
    }

    fn distance(&self, i: usize, j: usize) -> f64 {
        self.places[i].distance_km(self.places[j])
    }

    /// The largest value of `of` over the pairs of the notion.
    fn largest(&self, of: impl Fn(usize, Spread) -> f64 + Sync) -> f64 {
        let from = |i: usize| -> f64 {
            let worst = |worst: f64, spread: Spread| worst.max(of(i, spread));
            if let Score::Cost(_) = self.score {
                return self.spreads[i].iter().copied().fold(0.0, worst);
            }
            let kept = self.scores.as_ref().map(|scores| &scores[i]);
            (i + 1..self.places.len())
                .map(|j| (j, kept.map_or_else(|| self.distance(i, j), |row| row[j])))
                .filter(|&(_, d)| d <= self.gamma_km)
                .map(|(other, d)| Spread { other, distance: d, up: d, down: d })
                .fold(0.0, worst)
        };
        (0..self.places.len()).into_par_iter().map(from).reduce(|| 0.0, f64::max)
    }

    fn real_epsilon(&self, exponent: f64) -> Result<f64, MechanismError> {
        let rate = exponent / 2.0;
        let rows: Result<Vec<Normaliser>, MechanismError> =
            (0..self.places.len()).into_par_iter().map(|i| self.normaliser(i, rate)).collect();
        let rows = rows?;
        Ok(self.largest(|i, Spread { other, distance, up, down }| {
            let (here, there) = (rows[i], rows[other]);
            let difference = there.log - here.log;
            let ratio = (rate * up + difference).max(rate * down - difference);
            if distance == 0.0 {
                // Equal rows are fine; so are equal scores, whose normalisers are equal too.
                return if up == 0.0 && down == 0.0 { 0.0 } else { f64::INFINITY };
            }
            let rounding = ROUNDING * (here.largest_log + there.largest_log);
            (ratio + rounding) / distance * (1.0 + ROUNDING)
        }))
    }

    fn normaliser(&self, i: usize, rate: f64) -> Result<Normaliser, MechanismError> {
        let worked_out;
        let row = match &self.scores {
            Some(scores) => &scores[i],
            None => {
                worked_out = scores(self.places, self.score, i)?;
                &worked_out
            }
        };
        // The smallest score of a row is zero.
        let log = row.iter().map(|s| (-rate * s).exp()).sum::<f64>().ln();
        let most = row.iter().copied().fold(0.0, f64::max);
        Ok(Normaliser { log, largest_log: rate * most + log + 1.0 })
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
