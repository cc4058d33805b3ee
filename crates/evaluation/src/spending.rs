//! What reports cost those who make them: on average, at the worst place, and in bad luck.

use lrgeo_geo::PlaceId;
use lrgeo_mechanism::{City, Rows};

/// How costs are spread over places and reports, in the unit of the city's costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spending {
    /// The mean over places, by their prior, and reports (Eq. 6).
    pub expected: f64,
    /// The mean over the reports of the place where it is largest, among those that anybody is at.
    pub worst_place: f64,
    /// Which of the rows in use that is.
    pub worst_row: usize,
    /// Nineteen reports of twenty cost at most this; exact to the width of a `Histogram` bin, from
    /// above.
    pub at_95_percent: f64,
}

/// Works it out over the rows that are in use, with the true losses. Priors that are zero everywhere
/// count as equal, as in [`lrgeo_mechanism::expected_cost`].
pub fn spending(city: &City, rows: &Rows) -> Spending {
    let columns: Vec<PlaceId> = PlaceId::all(city.places()).collect();
    let deployed = rows.deployed();
    let even = deployed.iter().all(|i| city.prior()[i.index()] == 0.0);
    let mut row = vec![0.0; city.places()];
    let mut costs = Histogram::new();
    let (mut total, mut weight) = (0.0, 0.0);
    let (mut worst_row, mut worst_place) = (0, f64::NEG_INFINITY);
    for (index, &place) in deployed.iter().enumerate() {
        let p = if even { 1.0 } else { city.prior()[place.index()] };
        if p == 0.0 {
            continue;
        }
        rows.fill(index, &mut row);
        let losses = city.utility().losses(&[place], &columns);
        let mean: f64 = row.iter().zip(&losses).map(|(z, c)| z * c).sum();
        row.iter().zip(&losses).for_each(|(z, c)| costs.add(*c, p * z));
        if mean > worst_place {
            (worst_row, worst_place) = (index, mean);
        }
        total += p * mean;
        weight += p;
    }
    Spending {
        expected: total / weight,
        worst_place,
        worst_row,
        at_95_percent: costs.quantile(0.95),
    }
}

/// The mass of costs in bins that are narrow against their value: K^2 of them need not be kept.
struct Histogram {
    mass: Vec<f64>,
}

/// Bits of the mantissa that tell bins apart: a bin is 2^-11 of its value wide.
const MANTISSA_BITS: u32 = 11;
const DROPPED_BITS: u32 = f64::MANTISSA_DIGITS - 1 - MANTISSA_BITS;

impl Histogram {
    fn new() -> Self {
        // Of numbers that are not negative the bits ascend with the value.
        Self { mass: vec![0.0; (f64::INFINITY.to_bits() >> DROPPED_BITS) as usize + 1] }
    }

    fn add(&mut self, value: f64, mass: f64) {
        self.mass[(value.max(0.0).to_bits() >> DROPPED_BITS) as usize] += mass;
    }

    /// The upper edge of the bin in which the share is reached; exactly zero where that is enough.
    fn quantile(&self, share: f64) -> f64 {
        let wanted = share * self.mass.iter().sum::<f64>();
        let mut below = 0.0;
        let reached = self.mass.iter().position(|mass| {
            below += mass;
            below >= wanted
        });
        match reached.unwrap_or(0) as u64 {
            0 => 0.0,
            bin => f64::from_bits((bin + 1) << DROPPED_BITS),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_the_sorted_one_up_to_a_bin() {
        let mut histogram = Histogram::new();
        let values: Vec<f64> = (0..1000).map(|at| f64::from(at * at) * 1e-3).collect();
        values.iter().for_each(|&value| histogram.add(value, 0.5));
        for share in [0.05, 0.5, 0.95] {
            let exact = values[(share * 1000.0) as usize - 1];
            let found = histogram.quantile(share);
            assert!(found >= exact && found <= exact * (1.0 + 1e-3), "{share}: {found} {exact}");
        }
        assert_eq!(histogram.quantile(1e-9), 0.0);
    }
}
