//! What one arc allows: the comparison of two probabilities, rounded against ourselves.

use super::rounding::{exp_below, product_below};

/// One arc's limit on the ratio of two probabilities, rounded down.
pub(super) struct ArcLimit {
    /// Lower bound of eps * d.
    log_low: f64,
    /// Lower bound of exp(eps * d); the largest finite number where that overflows.
    factor_low: f64,
}

/// The pair of an arc that breaks its limit most, among those that are worse than what is known already.
pub(super) struct Worst {
    limit: ArcLimit,
    /// The worst excess so far, this arc's or one known before.
    pub(super) log_excess: f64,
    /// The column of this arc's worst pair, and whether its first row has the larger entry.
    pub(super) found: Option<(usize, bool)>,
    harmless: Harmless,
}

impl Worst {
    pub(super) fn new(limit: ArcLimit, log_excess: f64) -> Self {
        let harmless = limit.no_worse_than(log_excess);
        Self { limit, log_excess, found: None, harmless }
    }

    /// Looks at the entries of both rows in column k.
    #[inline]
    pub(super) fn compare(&mut self, a: f64, b: f64, k: usize) {
        if self.harmless.has(a.max(b), a.min(b)) {
            return; // holds, or something at least as bad is already recorded
        }
        let excess = self.limit.log_excess(a, b);
        if excess > self.log_excess || excess.is_nan() {
            self.log_excess = if excess.is_nan() { f64::INFINITY } else { excess };
            self.found = Some((k, a >= b));
            self.harmless = self.limit.no_worse_than(self.log_excess);
        }
    }
}

impl ArcLimit {
    pub(super) fn new(epsilon: f64, distance: f64) -> Self {
        let log_low = product_below(epsilon, distance);
        Self { log_low, factor_low: exp_below(log_low).max(1.0) }
    }

    /// A lower bound of `exp(eps d) * z`.
    fn factor_times(&self, z: f64) -> f64 {
        if self.factor_low == 1.0 || z == 0.0 {
            return z;
        }
        (self.factor_low * z).next_down().max(z)
    }

    /// The pairs whose excess is at most `worst`.
    fn no_worse_than(&self, worst: f64) -> Harmless {
        // Rounded down: one unit for the sum, one for the library's exp, and some to spare.
        let log = (worst + self.log_low).next_down();
        Harmless { ratio: log.exp() * (1.0 - 8.0 * f64::EPSILON) }
    }

    /// An upper bound of `|ln(a / b)| - eps d`; at most zero exactly when the limit is proven.
    fn log_excess(&self, a: f64, b: f64) -> f64 {
        let (large, small) = (a.max(b), a.min(b));
        if !(small >= 0.0 && large.is_finite()) {
            return f64::INFINITY;
        }
        if large == 0.0 {
            return f64::NEG_INFINITY; // the whole pair is zero: nothing to compare
        }
        if small == 0.0 {
            return f64::INFINITY;
        }
        let log_high = if large == small { 0.0 } else { log_ratio_high(large, small) };
        let excess = (log_high - self.log_low).next_up();
        if large <= self.factor_times(small) {
            // Proven by multiplication; the logarithm's own rounding must not deny it.
            return if large == small && self.log_low == 0.0 { 0.0 } else { excess.min(0.0) };
        }
        // Not proven: even where the logarithms cannot tell, it counts as a violation.
        excess.max(f64::MIN_POSITIVE)
    }
}

/// Pairs that need no logarithm, because something at least as bad is known: nearly all of them.
struct Harmless {
    /// Lower bound of the largest ratio that is no worse.
    ratio: f64,
}

impl Harmless {
    /// Whether a pair is one of them for certain. Below the normal numbers products are too inexact to say.
    fn has(&self, large: f64, small: f64) -> bool {
        small >= f64::MIN_POSITIVE && large < f64::INFINITY && large <= self.ratio * small
    }
}

/// An upper bound of `ln(large / small)` for `large > small > 0`.
fn log_ratio_high(large: f64, small: f64) -> f64 {
    let ratio = (large / small).next_up();
    if ratio.is_finite() {
        return ratio.ln().next_up().next_up();
    }
    // The quotient overflows: the logarithms apart, each within one unit in the last place.
    let (log_large, log_small) = (large.ln(), small.ln());
    let slack = 4.0 * f64::EPSILON * (log_large.abs() + log_small.abs());
    log_large - log_small + slack
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_passed_over_are_no_worse_than_what_is_recorded() {
        for distance in [1e-3, 0.3, 5.0] {
            let limit = ArcLimit::new(1.7, distance);
            for worst in [f64::NEG_INFINITY, -2.0, -1e-3, -1e-12, 0.0, 0.5, f64::INFINITY] {
                let harmless = limit.no_worse_than(worst);
                let edge = (worst + limit.log_low).exp();
                for small in [1e-300, 0.1, 0.7] {
                    for step in -60..=20 {
                        let large = small * edge * (1.0 + f64::from(step) * f64::EPSILON);
                        if large < small || large.is_infinite() || (-40..=-4).contains(&step) {
                            continue;
                        }
                        // Where rounding might decide nothing is passed over.
                        assert_eq!(harmless.has(large, small), step < -40);
                    }
                }
            }
            assert!(!limit.no_worse_than(f64::INFINITY).has(f64::INFINITY, f64::INFINITY));
            assert!(!limit.no_worse_than(0.0).has(1e-323, 5e-324));
        }
    }
}
