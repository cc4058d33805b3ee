//! Directed rounding: numbers that are on the safe side of the exact ones, whichever that is.
//!
//! Sums and products of `f64` are off by half a unit in the last place at most, so the next number is beyond the exact one. The
//! library's exponential and logarithm are within one unit; two are taken.

/// `epsilon * distance`, or less.
pub(crate) fn product_below(epsilon: f64, distance: f64) -> f64 {
    let product = epsilon * distance;
    // Fused multiply-add gives the rounding error itself.
    if f64::mul_add(epsilon, distance, -product) < 0.0 { product.next_down() } else { product }
}

/// `epsilon * distance`, or more.
pub(crate) fn product_above(epsilon: f64, distance: f64) -> f64 {
    -product_below(-epsilon, distance)
}

/// `exp(log)`, or less; a finite number where that overflows. Exact at zero.
pub(crate) fn exp_below(log: f64) -> f64 {
    match log.exp() {
        _ if log == 0.0 => 1.0,
        exp => exp.next_down().next_down().clamp(0.0, f64::MAX),
    }
}

/// `exp(log)`, or more.
pub(crate) fn exp_above(log: f64) -> f64 {
    log.exp().next_up().next_up()
}

/// A sum that is at most the exact one, rounded down term by term.
pub(crate) fn sum_below(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |sum, v| if v == 0.0 { sum } else { (sum + v).next_down() })
}

/// A sum with a running bound of its rounding error: cheaper than [`sum_below`] where there are many, and no number at all
/// where it overflows.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LowSum {
    sum: f64,
    magnitude: f64,
    terms: f64,
}

impl LowSum {
    pub(crate) fn add(&mut self, value: f64) {
        self.sum += value;
        self.magnitude += value.abs();
        self.terms += 1.0;
    }

    /// The sum as it was rounded, for what is proven elsewhere.
    #[cfg(feature = "direct")]
    pub(crate) fn nearest(self) -> f64 {
        self.sum
    }

    /// The sum, less all that rounding can have added. Every term may itself be one rounding off.
    pub(crate) fn low(self) -> f64 {
        self.sum - (self.terms + 3.0) * f64::EPSILON * self.magnitude
    }
}

impl Extend<f64> for LowSum {
    fn extend<I: IntoIterator<Item = f64>>(&mut self, values: I) {
        values.into_iter().for_each(|value| self.add(value));
    }
}

/// How far a row of probabilities is from summing up to 1: a sum in two parts, exact to about twice the precision of `f64`.
pub(crate) struct RowSum {
    high: f64,
    low: f64,
    terms: f64,
}

impl RowSum {
    pub(crate) fn new() -> Self {
        Self { high: -1.0, low: 0.0, terms: 1.0 }
    }

    pub(crate) fn of(row: &[f64]) -> Self {
        let mut sum = Self::new();
        row.iter().for_each(|&value| sum.add(value));
        sum
    }

    pub(crate) fn add(&mut self, value: f64) {
        let sum = self.high + value;
        let back = sum - self.high;
        self.low += (self.high - (sum - back)) + (value - back);
        self.high = sum;
        self.terms += 1.0;
    }

    /// Adds `a * b` without rounding the product.
    #[cfg(feature = "parallel")]
    pub(crate) fn add_product(&mut self, a: f64, b: f64) {
        let product = a * b;
        self.add(product);
        self.add(f64::mul_add(a, b, -product));
    }

    /// `sum - 1`, rounded once.
    pub(crate) fn excess(&self) -> f64 {
        self.high + self.low
    }

    /// An upper bound of its size, infinite where there is no sum: the low parts sum to at most `terms * u` with a
    /// rounding of u each, all partial sums being at most 2.
    pub(crate) fn error_above(&self) -> f64 {
        let slack = self.terms * self.terms * f64::EPSILON * f64::EPSILON;
        let error = (self.excess().abs() + slack).next_up();
        if error.is_nan() { f64::INFINITY } else { error }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_and_exponentials_are_bracketed() {
        for (a, b) in [(0.1, 0.1), (1.7, 0.3), (3.0, 1.0 / 3.0), (2.0, 0.75)] {
            let (low, high) = (product_below(a, b), product_above(a, b));
            assert!(low <= a * b && a * b <= high && high <= low.next_up());
        }
        // 2 * 0.75 needs no rounding.
        assert_eq!(product_below(2.0, 0.75), product_above(2.0, 0.75));
        assert_eq!(exp_below(0.0), 1.0);
        assert!(exp_below(1e3) < f64::INFINITY && exp_below(-1e3) == 0.0);
        assert!(exp_below(1.0) < std::f64::consts::E && exp_above(1.0) > std::f64::consts::E);
    }

    #[test]
    fn sums_stay_below_what_they_sum() {
        let terms = || (0..1000).map(|i| 0.1 * f64::from(i % 7) - 0.3);
        let exact: f64 = (0..1000).map(|i| f64::from(i % 7)).sum::<f64>() / 10.0 - 300.0;
        let mut low = LowSum::default();
        low.extend(terms());
        for sum in [low.low(), sum_below(terms())] {
            assert!(sum <= exact && sum > exact - 1e-9);
        }
    }
}
