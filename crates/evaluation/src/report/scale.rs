//! Axes: from values to shares of a length, and where their ticks are.

/// How far apart numbers may be before arithmetic on them overflows.
const LARGEST: f64 = 1e150;

/// A range of values, linear or logarithmic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    pub log: bool,
    low: f64,
    high: f64,
}

/// Where an axis is marked.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Ticks {
    pub labelled: Vec<f64>,
    pub minor: Vec<f64>,
}

impl Scale {
    /// Exactly the values. Linear after all where none of them has a logarithm.
    pub fn tight(values: &[f64], log: bool) -> Self {
        let shown = |v: &f64| v.is_finite() && (!log || *v > 0.0);
        let mut range = values.iter().filter(|v| shown(v)).fold(None, |range, &v| {
            let (low, high) = range.unwrap_or((v, v));
            Some((f64::min(low, v), f64::max(high, v)))
        });
        if log && range.is_none() {
            return Self::tight(values, false);
        }
        let floor = if log { 1.0 / LARGEST } else { -LARGEST };
        range = range.map(|(low, high)| (low.clamp(floor, LARGEST), high.clamp(floor, LARGEST)));
        let (low, high) = match range {
            None => (0.0, 1.0),
            // Closer together, they would differ by rounding only.
            Some((low, high)) if high - low > 1e-9 * low.abs().max(high.abs()) => (low, high),
            Some((only, _)) if log => (only / 2.0, only * 2.0),
            Some((0.0, _)) => (-1.0, 1.0),
            Some((only, _)) => (only - only.abs() / 2.0, only + only.abs() / 2.0),
        };
        Self { log, low, high }
    }

    /// Widened to round numbers, and to zero where that is near.
    pub fn round(values: &[f64], log: bool) -> Self {
        let mut scale = Self::tight(values, log);
        if scale.log {
            if values.iter().any(|v| *v <= 0.0) {
                // The lower edge stands for these: nothing else may lie on it.
                scale.low /= 2.0;
            }
            let (low, high) = (scale.low * (1.0 + 1e-9), scale.high * (1.0 - 1e-9));
            scale.low = round_around(low).rfind(|&v| v <= low).unwrap_or(scale.low);
            scale.high = round_around(high).find(|&v| v >= high).unwrap_or(scale.high);
        } else {
            if scale.low > 0.0 && scale.low < scale.high / 2.0 {
                scale.low = 0.0;
            }
            let step = round_step((scale.high - scale.low) / 8.0);
            scale.low = (scale.low / step + 1e-9).floor() * step;
            scale.high = (scale.high / step - 1e-9).ceil() * step;
        }
        scale
    }

    /// From 0 at the low end to 1 at the high end, and never outside.
    pub fn share(&self, value: f64) -> f64 {
        let share = if self.log {
            (value.max(self.low) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        share.clamp(0.0, 1.0)
    }

    /// Whether a value lies below the low end.
    pub fn is_below(&self, value: f64) -> bool {
        value < self.low
    }

    /// About `wanted` round values within the range; on a logarithmic axis with small ticks between.
    pub fn ticks(&self, wanted: usize) -> Ticks {
        if !self.log {
            return Ticks { labelled: self.even(wanted), minor: Vec::new() };
        }
        let (first, last) = (power_below(self.low), power_below(self.high));
        let inside = |v: &f64| *v >= self.low * (1.0 - 1e-9) && *v <= self.high * (1.0 + 1e-9);
        let every = |multiples: &[i32], stride: usize| -> Vec<f64> {
            let powers = (first..=last).filter(|power| power.rem_euclid(stride as i32) == 0);
            let ticks = powers
                .flat_map(|power| multiples.iter().map(move |&m| decimal(f64::from(m), power)));
            ticks.filter(inside).collect()
        };
        let decades = (last - first) as usize;
        let mut labelled = every(&[1], 1 + decades / (wanted + 1));
        if labelled.len() < 4 {
            labelled = every(&[1, 2, 5], 1);
        }
        if labelled.len() < 3 {
            return Ticks { labelled: self.even(wanted), minor: Vec::new() };
        }
        let minor = if decades <= 4 { every(&[2, 3, 4, 5, 6, 7, 8, 9], 1) } else { every(&[1], 1) };
        Ticks { labelled, minor }
    }

    fn even(&self, wanted: usize) -> Vec<f64> {
        let step = round_step((self.high - self.low) / wanted as f64);
        let first = (self.low / step - 1e-9).ceil();
        let count = ((self.high / step + 1e-9).floor() - first).clamp(0.0, 3.0 * wanted as f64);
        // A sum of steps would not be round: 0.1 + 0.2 is not 0.3.
        (0..=count as usize).map(|i| (first + i as f64) * step).collect()
    }
}

/// The round number next above: 1, 2 or 5 times a power of ten.
pub(super) fn round_step(least: f64) -> f64 {
    let least = least * (1.0 - 1e-9);
    round_around(least).find(|&v| v >= least).unwrap_or(least)
}

/// 1, 2 and 5 times powers of ten below and above a positive number, ascending.
fn round_around(value: f64) -> impl DoubleEndedIterator<Item = f64> {
    let power = power_below(value);
    [(1.0, 0), (2.0, 0), (5.0, 0), (1.0, 1)]
        .into_iter()
        .map(move |(m, above)| decimal(m, power + above))
}

fn power_below(value: f64) -> i32 {
    (value.log10() + 1e-9).floor() as i32
}

/// A digit times a power of ten: the nearest number to 0.3, where 3 times 0.1 is not.
pub(super) fn decimal(digit: f64, power: i32) -> f64 {
    if power < 0 { digit / 10f64.powi(-power) } else { digit * 10f64.powi(power) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_within_the_range() {
        let linear = Scale::round(&[0.31, 1.42], false);
        assert_eq!(linear.ticks(5).labelled, [0.0, 0.5, 1.0, 1.5]);
        assert_eq!(linear.ticks(8).labelled.last(), Some(&1.6), "the upper end");
        let ratio = Scale::round(&[1.02, 1.17], false);
        assert_eq!(ratio.ticks(8).labelled.first(), Some(&1.02), "far from zero");
        let users = Scale::tight(&[2.0, 10.0], false);
        assert_eq!(users.ticks(5).labelled, [2.0, 4.0, 6.0, 8.0, 10.0]);
        let seconds = Scale::round(&[0.012, 1700.0], true);
        assert_eq!(seconds.ticks(6).labelled, [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]);
        let places = Scale::tight(&[100.0, 1600.0], true);
        assert_eq!(places.ticks(6).labelled, [100.0, 200.0, 500.0, 1000.0]);
    }

    #[test]
    fn shares_stay_on_the_axis() {
        let log = Scale::round(&[0.0, -3.0, 1.0, 1000.0], true);
        assert!(log.log);
        assert_eq!((log.share(0.0), log.share(-3.0), log.share(1000.0)), (0.0, 0.0, 1.0));
        assert!(log.share(1.0) > 0.0, "a true value apart from those that have no logarithm");
        assert!(
            (log.share(10.0) - log.share(1.0) - log.share(100.0) + log.share(10.0)).abs() < 1e-12
        );
        assert!(!Scale::round(&[0.0, -1.0], true).log, "nothing here has a logarithm");
    }

    #[test]
    fn no_range_is_too_odd_to_draw() {
        let odd: [&[f64]; 8] = [
            &[],
            &[0.0],
            &[5.0, 5.0],
            &[-7.0],
            &[f64::NAN, f64::INFINITY],
            &[f64::MIN, f64::MAX],
            &[f64::MIN_POSITIVE, f64::MAX],
            &[1.0, 1.0 + 1e-15],
        ];
        for values in odd {
            for log in [false, true] {
                for scale in [Scale::tight(values, log), Scale::round(values, log)] {
                    let ticks = scale.ticks(5);
                    assert!(ticks.labelled.len() <= 20, "{values:?}: {ticks:?}");
                    assert!(
                        values.iter().all(|v| (0.0..=1.0).contains(&scale.share(*v)) || v.is_nan())
                    );
                }
            }
        }
    }
}
