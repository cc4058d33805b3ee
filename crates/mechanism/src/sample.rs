//! Drawing a report: from whole-number weights, with the operating system's randomness.
//!
//! Floating-point samplers leak through the gaps between their numbers. Here each probability
//! becomes a whole number of units of 2^-96 and a uniform 96-bit number picks one of them.

use crate::MechanismError;

/// Where uniform bits come from. Only tests and experiments bring their own.
pub trait Randomness {
    /// 128 uniform bits.
    fn bits(&mut self) -> Result<u128, MechanismError>;
}

/// The operating system's generator.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemRandomness;

impl Randomness for SystemRandomness {
    fn bits(&mut self) -> Result<u128, MechanismError> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        Ok(u128::from_le_bytes(bytes))
    }
}

const UNIT_BITS: u32 = 96;

/// The weights of a row in units of 2^-96. They sum to exactly 2^96: what rounding leaves over goes
/// to the largest, where it changes the least.
fn weights(row: &[f64]) -> Vec<u128> {
    let units = (1u128 << UNIT_BITS) as f64;
    let mut weights: Vec<u128> = row.iter().map(|z| (z * units) as u128).collect();
    let largest = (0..row.len()).max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap_or(0);
    let others: u128 =
        weights.iter().enumerate().filter(|(k, _)| *k != largest).map(|(_, w)| w).sum();
    weights[largest] = (1u128 << UNIT_BITS).saturating_sub(others);
    weights
}

/// Draws a report from a row of a matrix.
pub fn draw(row: &[f64], randomness: &mut dyn Randomness) -> Result<usize, MechanismError> {
    let mut left = randomness.bits()? >> (128 - UNIT_BITS);
    for (report, weight) in weights(row).into_iter().enumerate() {
        match left.checked_sub(weight) {
            Some(rest) => left = rest,
            None => return Ok(report),
        }
    }
    Err(MechanismError::Invalid { field: "row", reason: "is empty".into() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lrgeo_map::rng::SplitMix;

    struct Seeded(SplitMix);

    impl Randomness for Seeded {
        fn bits(&mut self) -> Result<u128, MechanismError> {
            Ok(u128::from(self.0.bits()) << 64 | u128::from(self.0.bits()))
        }
    }

    #[test]
    fn weights_sum_to_a_power_of_two() {
        for row in [vec![1.0], vec![0.1, 0.2, 0.7], vec![1e-12, 1.0 - 1e-12, 0.0]] {
            assert_eq!(weights(&row).iter().sum::<u128>(), 1 << UNIT_BITS);
        }
    }

    #[test]
    fn reports_come_as_often_as_they_should() {
        let row = [0.5, 0.0, 0.2, 0.05, 0.25];
        let mut randomness = Seeded(SplitMix::new(11));
        let (draws, mut counts) = (200_000, [0u32; 5]);
        for _ in 0..draws {
            counts[draw(&row, &mut randomness).unwrap()] += 1;
        }
        // Chi-square with three degrees of freedom: above 16.3 once in a thousand seeds.
        let chi2: f64 = row
            .iter()
            .zip(counts)
            .filter(|(p, _)| **p > 0.0)
            .map(|(p, n)| (f64::from(n) - p * f64::from(draws)).powi(2) / (p * f64::from(draws)))
            .sum();
        assert!(chi2 < 16.3, "chi2 = {chi2}, counts = {counts:?}");
        assert_eq!(counts[1], 0);
    }

    #[test]
    fn the_system_gives_different_numbers() {
        let mut system = SystemRandomness;
        assert_ne!(system.bits().unwrap(), system.bits().unwrap());
    }
}
