//! Comparing weights without rounding.

/// Whether `a <= factor * b`, decided on the exact values of all three.
///
/// A factor that is no positive finite number bounds nothing: infinity allows all, the others only
/// `a = 0`.
pub fn at_most(a: u128, factor: f64, b: u128) -> bool {
    if a == 0 || (factor == f64::INFINITY && b > 0) {
        return true;
    }
    if !(factor.is_finite() && factor > 0.0) || b == 0 {
        return false;
    }
    let (mantissa, exponent) = parts(factor);
    // mantissa * b has at most 53 + 128 bits.
    let right = Wide::product(u128::from(mantissa), b);
    let left = Wide { high: 0, low: a };
    if exponent <= 0 {
        // a * 2^-exponent; where that leaves 256 bits it is larger than anything on the right.
        left.shifted(exponent.unsigned_abs()).is_some_and(|left| left <= right)
    } else {
        right.shifted(exponent.unsigned_abs()).is_none_or(|right| left <= right)
    }
}

/// `factor = mantissa * 2^exponent`, exactly, for a positive finite factor.
fn parts(factor: f64) -> (u64, i32) {
    let bits = factor.to_bits();
    let (fraction, exponent) = (bits & ((1 << 52) - 1), (bits >> 52) as i32);
    if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) }
}

/// A whole number of 256 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Wide {
    high: u128,
    low: u128,
}

impl Wide {
    /// `small * large`, where `small` is below 2^64.
    fn product(small: u128, large: u128) -> Self {
        let (upper, lower) = (small * (large >> 64), small * (large & u128::from(u64::MAX)));
        let (low, carry) = lower.overflowing_add(upper << 64);
        Self { high: (upper >> 64) + u128::from(carry), low }
    }

    /// Times 2^bits, unless that leaves 256 bits.
    fn shifted(self, bits: u32) -> Option<Self> {
        match bits {
            0 => Some(self),
            1..128 if self.high.leading_zeros() >= bits => {
                let high = self.high << bits | self.low >> (128 - bits);
                Some(Self { high, low: self.low << bits })
            }
            128..256 if self.high == 0 && self.low.leading_zeros() >= bits - 128 => {
                Some(Self { high: self.low << (bits - 128), low: 0 })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_unit_decides() {
        let big = 1u128 << 126;
        assert!(at_most(big, 1.0, big) && !at_most(big + 1, 1.0, big));
        assert!(at_most(3 << 100, 1.5, 2 << 100) && !at_most((3 << 100) + 1, 1.5, 2 << 100));
        // A factor one step above one allows exactly big * 2^-52 more.
        let step = 1.0 + f64::EPSILON;
        assert!(at_most(big + (big >> 52), step, big));
        assert!(!at_most(big + (big >> 52) + 1, step, big));
        assert!(at_most(1 << 20, 0.25, 1 << 22) && !at_most((1 << 20) + 1, 0.25, 1 << 22));
    }

    #[test]
    fn extreme_factors_are_still_compared() {
        assert!(at_most(u128::MAX, f64::MAX, 1) && at_most(1, f64::INFINITY, 1));
        assert!(at_most(u128::MAX, 2f64.powi(200), 1));
        assert!(!at_most(1, f64::MIN_POSITIVE, u128::MAX) && !at_most(1, f64::NAN, 1));
        assert!(!at_most(1, 1e300, 0) && at_most(0, 1.0, 0) && !at_most(1, f64::INFINITY, 0));
        let (high, low) = (1u128 << 127, 1u128);
        assert!(at_most(high, 2f64.powi(127), low) && !at_most(high + 1, 2f64.powi(127), low));
    }
}
