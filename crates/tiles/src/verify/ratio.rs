//! The worst ratio of two rows, and its logarithm rounded up.

/// The largest `a_k / b_k`: infinite where b is zero and a is not; two zeros satisfy anything.
pub fn worst_ratio(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 8;
    let mut worst = [0.0f64; LANES];
    let (a_blocks, b_blocks) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest = a_blocks.remainder().iter().zip(b_blocks.remainder());
    for (&x, &y) in rest {
        worst[0] = larger(x / y, worst[0]);
    }
    for (a, b) in a_blocks.zip(b_blocks) {
        for lane in 0..LANES {
            worst[lane] = larger(a[lane] / b[lane], worst[lane]);
        }
    }
    worst.into_iter().fold(0.0, larger)
}

/// The larger of the two, and `kept` where the ratio is 0 / 0.
fn larger(ratio: f64, kept: f64) -> f64 {
    if ratio > kept { ratio } else { kept }
}

/// An upper bound of the logarithm of a ratio whose last bit may be wrong: both the division and
/// the logarithm are rounded away from us. A ratio of one or less promises nothing worse than zero.
pub fn log_up(ratio: f64) -> f64 {
    match ratio <= 1.0 {
        true => 0.0,
        false => ratio.next_up().ln().next_up().next_up(),
    }
}

/// More than the relative error of a haversine distance in f64, many times over.
pub const ROUNDING: f64 = 1e-13;

/// `eps * d`, rounded down.
pub fn allowed(epsilon: f64, km: f64) -> f64 {
    (epsilon * km * (1.0 - ROUNDING)).next_down().max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_ratio_is_found_in_every_lane_and_zeros_are_told_apart() {
        for k in 0..19 {
            let mut a = vec![0.25; 19];
            a[k] = 0.5;
            assert_eq!(worst_ratio(&a, &[0.25; 19]), 2.0);
            let mut b = vec![0.25; 19];
            b[k] = 0.0;
            assert_eq!(worst_ratio(&[0.25; 19], &b), f64::INFINITY);
            let both: Vec<f64> = (0..19).map(|i| if i == k { 0.0 } else { 0.25 }).collect();
            assert_eq!(worst_ratio(&both, &both), 1.0);
        }
    }

    #[test]
    fn rounding_is_against_ourselves() {
        assert_eq!(log_up(1.0), 0.0);
        assert!(log_up(1.0f64.next_up()) > 0.0);
        assert!(log_up(2.0) > std::f64::consts::LN_2);
        assert!(allowed(2.0, 0.5) < 1.0);
        assert_eq!(allowed(2.0, 0.0), 0.0);
    }
}
