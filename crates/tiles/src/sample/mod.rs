//! Drawing a report: from whole-number weights, with the operating system's randomness (`docs/specification.md`
//! section 6).
//!
//! Floating-point samplers leak through the gaps between their numbers. Here each probability
//! becomes a whole number of units of 2^-127, every row adds up to exactly 2^127, and 127 uniform
//! bits pick a unit: nothing is rounded at the moment of drawing, and since the total is a power of
//! two nothing has to be rejected either. What is promised about a matrix can be checked on its
//! [`weights`], with whole numbers only: [`exact::at_most`].
//!
//! A seeded generator is a different type with a different method ([`Urn::rehearse`]), so code that
//! reports for a person cannot be handed one.

pub mod exact;
mod randomness;

use randomness::Bits;
pub use randomness::{ManyDraws, SeededRandomness, SystemRandomness};

use crate::{Distribution, DrawError};

/// Every row of weights adds up to 2 to this power. Not 128: the total itself must fit.
pub const TOTAL_BITS: u32 = 127;

/// What the weights of every row add up to.
pub const TOTAL: u128 = 1 << TOTAL_BITS;

/// No positive probability may become fewer units than this: then the rounding to whole units
/// moves no ratio by more than one part in 2^20.
pub const SMALLEST_WEIGHT: u128 = 1 << 20;

/// The constant that mechanisms add to every probability of every row (`docs/specification.md` section 6): 2^-80.
///
/// Adding the same constant everywhere keeps Geo-Ind: `z_i + t <= e^(eps d) (z_j + t)` follows from
/// `z_i <= e^(eps d) z_j`. It is so small that a row of a million places still adds up to one in
/// f64, and so large that every weight has 2^47 units: as fine as the f64 it comes from.
pub const FLOOR: f64 = 1.0 / (1u128 << 80) as f64;

/// The weights of a row in units of 2^-127, adding up to exactly [`TOTAL`]. The same row always
/// gives the same weights; zero stays zero.
///
/// A row of f64 adds up to one only nearly. What is missing is spread in proportion, so that all
/// ratios within the row stay and those to other rows move by the rounding of the sum only; the few
/// units that remain go to the largest weight.
pub fn weights(row: &Distribution) -> Result<Vec<u128>, DrawError> {
    let units = TOTAL as f64;
    // Scaling by a power of two is exact, and so is dropping the fraction of a unit.
    let mut weights: Vec<u128> = row.iter().map(|z| (z * units) as u128).collect();
    // At most TOTAL * (1 + SUM_ERROR): far from overflow.
    let sum: u128 = weights.iter().sum();
    // The difference is far below 2^127 either way, so it fits although the two do not.
    let missing = TOTAL.wrapping_sub(sum) as i128;
    let share = missing as f64 / sum as f64;
    for weight in &mut weights {
        *weight = weight.saturating_add_signed((*weight as f64 * share) as i128);
    }
    let sum: u128 = weights.iter().sum();
    let largest = (0..weights.len()).max_by_key(|&k| weights[k]).unwrap_or(0);
    weights[largest] = weights[largest].saturating_add_signed(TOTAL.wrapping_sub(sum) as i128);
    let too_small = |(z, weight): (&f64, &u128)| *z > 0.0 && *weight < SMALLEST_WEIGHT;
    if row.iter().zip(&weights).any(too_small) {
        return Err(DrawError::TooExtreme);
    }
    Ok(weights)
}

/// The weights of one row, ready to be drawn from many times.
#[derive(Clone, Debug)]
pub struct Urn {
    /// How many units lie at or before each report; the last is [`TOTAL`].
    up_to: Vec<u128>,
}

impl Urn {
    /// From a row of a matrix.
    pub fn new(row: &Distribution) -> Result<Self, DrawError> {
        let running = |sum: &mut u128, weight: u128| {
            *sum += weight;
            Some(*sum)
        };
        Ok(Self { up_to: weights(row)?.into_iter().scan(0, running).collect() })
    }

    /// Draws a report.
    pub fn draw(&self, randomness: &mut SystemRandomness) -> Result<usize, DrawError> {
        self.pick(randomness)
    }

    /// Draws one of many reports.
    pub fn draw_one_of(&self, many: &mut ManyDraws) -> Result<usize, DrawError> {
        self.pick(many)
    }

    /// Draws as an experiment or a test does: the same seed, the same reports. Never for a person.
    pub fn rehearse(&self, randomness: &mut SeededRandomness) -> usize {
        let Ok(report) = self.pick(randomness);
        report
    }

    fn pick<B: Bits>(&self, randomness: &mut B) -> Result<usize, B::Failure> {
        let unit = randomness.bits()? >> (128 - TOTAL_BITS);
        // Units are numbered from 0; the first report whose units reach beyond this one has it.
        Ok(self.up_to.partition_point(|&up_to| up_to <= unit))
    }
}

#[cfg(test)]
mod tests;
