//! How far the planar Laplace mechanism throws a report: its radius and the Lambert W function.

use std::f64::consts::E;

/// `e` is not a floating-point number; this is what is missing.
const E_REST: f64 = 1.445_646_891_729_250_2e-16;

/// The lower branch `W_{-1}` of the inverse of `w e^w`, for `-1/e <= x < 0`; NaN elsewhere.
pub fn lambert_w_minus_one(x: f64) -> f64 {
    if !(-1.0 / E..0.0).contains(&x) {
        return f64::NAN;
    }
    // With w = -1 - s the equation is (1 + s) e^-s = -e x, and 1 + e x is what it lacks to one.
    let lacking = E_REST.mul_add(x, E.mul_add(x, 1.0)).max(0.0);
    -1.0 - scaled_radius(lacking, -E * x)
}

/// The p-quantile of `eps r` (CCS 2013, section 5): `C(r) = 1 - (1 + eps r) e^(-eps r)` solved for
/// `C = p`, which is `-(W_{-1}((p - 1)/e) + 1)`.
pub fn quantile(p: f64) -> f64 {
    scaled_radius(p, 1.0 - p)
}

/// The s with `C(s) = p`, where `q = 1 - p`; given both so that neither end loses digits.
pub(super) fn scaled_radius(p: f64, q: f64) -> f64 {
    if p <= 0.0 {
        return 0.0;
    }
    if q <= 0.0 {
        return f64::INFINITY;
    }
    if p < 0.5 {
        // Around the branch point: its series, then Newton on C(s) = p, where C' = s e^-s.
        let root = (2.0 * p).sqrt();
        let mut s = root * (1.0 + root * (1.0 / 3.0 + root * (11.0 / 72.0)));
        for _ in 0..6 {
            s -= (inside(s) - p) / (s * (-s).exp());
        }
        s
    } else {
        // Far out: Newton on s - ln(1 + s) = -ln q, whose derivative is s / (1 + s).
        let target = -q.ln();
        let mut s = target + (2.0 + target).ln();
        for _ in 0..8 {
            s -= (s - s.ln_1p() - target) * (1.0 + s) / s;
        }
        s
    }
}

/// `1 - (1 + s) e^-s`, the probability of a scaled radius below s, to full relative precision.
pub(super) fn inside(s: f64) -> f64 {
    if s < SERIES_UP_TO { s * s * inside_over_square(s) } else { 1.0 - (1.0 + s) * (-s).exp() }
}

/// Up to here [`inside_over_square`] is good.
pub(super) const SERIES_UP_TO: f64 = 1.5;

/// `(1 - (1 + s) e^-s) / s^2` as `e^-s (1/2! + s/3! + s^2/4! + ...)`: no term cancels another.
pub(super) fn inside_over_square(s: f64) -> f64 {
    const TERMS: usize = 19;
    const COEFFICIENTS: [f64; TERMS] = {
        let mut coefficients = [0.5; TERMS];
        let mut n = 1;
        while n < TERMS {
            coefficients[n] = coefficients[n - 1] / (n + 2) as f64;
            n += 1;
        }
        coefficients
    };
    COEFFICIENTS.iter().rev().fold(0.0, |sum, c| s.mul_add(sum, *c)) * (-s).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-12, "{found} is not {expected}");
    }

    #[test]
    fn inverts_w_times_its_exponential() {
        for w in [-1.001, -1.1, -1.5, -2.0, -3.0, -5.0, -20.0, -100.0, -600.0] {
            close(lambert_w_minus_one(w * f64::exp(w)), w);
        }
        // Known values: W_{-1}(-0.1) and W_{-1}(-0.25), from the literature.
        close(lambert_w_minus_one(-0.1), -3.577_152_063_957_297);
        close(lambert_w_minus_one(-0.25), -2.153_292_364_110_35);
        assert!((lambert_w_minus_one(-1.0 / E) + 1.0).abs() < 1e-7);
        assert!(lambert_w_minus_one(-0.4).is_nan() && lambert_w_minus_one(0.1).is_nan());
        assert!(lambert_w_minus_one(0.0).is_nan() && lambert_w_minus_one(f64::NAN).is_nan());
    }

    #[test]
    fn the_quantile_has_its_probability() {
        for s in [1e-9, 1e-4, 0.1, 1.0, 1.4999, 1.5001, 1.7, 3.0, 4.7, 30.0] {
            close(scaled_radius(inside(s), (1.0 + s) * f64::exp(-s)), s);
        }
        close(quantile(0.95), 4.743_864_518_390_578);
        close(quantile(0.3), -(lambert_w_minus_one((0.3 - 1.0) / E) + 1.0));
        assert_eq!((quantile(0.0), quantile(1.0)), (0.0, f64::INFINITY));
    }

    #[test]
    fn both_forms_of_the_inside_agree_where_they_meet() {
        let direct = |s: f64| 1.0 - (1.0 + s) * (-s).exp();
        for s in [1.0, 1.3, 1.4999] {
            close(s * s * inside_over_square(s), direct(s));
        }
    }
}
