//! The obfuscation matrix Z (section 2.1 of the paper).

use lrgeo_tiles::Distribution;

use crate::MechanismError;

/// A K x K stochastic matrix: entry (i, k) is the probability of reporting k while at i.
#[derive(Clone, Debug, PartialEq)]
pub struct ObfuscationMatrix {
    places: usize,
    entries: Vec<f64>,
}

impl ObfuscationMatrix {
    /// From row-major entries; every row must be a distribution.
    pub fn new(places: usize, entries: Vec<f64>) -> Result<Self, MechanismError> {
        if places == 0 || entries.len() != places * places {
            let reason = format!("{} entries are not a {places} x {places} matrix", entries.len());
            return Err(MechanismError::Invalid { field: "matrix", reason });
        }
        for (row, values) in entries.chunks_exact(places).enumerate() {
            Distribution::check(values).map_err(MechanismError::row(row))?;
        }
        Ok(Self { places, entries })
    }

    /// K.
    pub fn places(&self) -> usize {
        self.places
    }

    /// The distribution of the reports of a user at place `i`.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.entries[i * self.places..(i + 1) * self.places]
    }

    /// The expected cost per report (Eq. 4), in the unit of the losses: `losses` is row-major
    /// without the prior.
    pub fn expected_cost(&self, prior: &[f64], losses: &[f64]) -> f64 {
        let rows = losses.chunks_exact(self.places).zip(prior).enumerate();
        let cost: f64 = rows
            .map(|(i, (losses, p))| {
                p * self.row(i).iter().zip(losses).map(|(z, c)| z * c).sum::<f64>()
            })
            .sum();
        cost / prior.iter().sum::<f64>()
    }
}
