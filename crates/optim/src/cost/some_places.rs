//! Some places of a square cost, looked up in the whole.

use std::sync::Arc;

use super::Cost;
use crate::error::Error;

/// The rows and columns of `places`.
#[derive(Debug)]
pub(crate) struct SomePlaces {
    pub(crate) cost: Arc<dyn Cost>,
    pub(crate) places: Vec<u32>,
}

impl Cost for SomePlaces {
    fn rows(&self) -> usize {
        self.places.len()
    }

    fn columns(&self) -> usize {
        self.places.len()
    }

    fn at(&self, row: usize, column: usize) -> f64 {
        self.cost.at(self.places[row] as usize, self.places[column] as usize)
    }

    fn fill(&self, column: usize, rows: &[u32], out: &mut [f64]) {
        let rows: Vec<u32> = rows.iter().map(|&i| self.places[i as usize]).collect();
        self.cost.fill(self.places[column] as usize, &rows, out);
    }

    fn fill_row(&self, row: usize, out: &mut [f64]) {
        let mut whole = vec![0.0; self.cost.columns()];
        self.cost.fill_row(self.places[row] as usize, &mut whole);
        for (slot, &k) in out.iter_mut().zip(&self.places) {
            *slot = whole[k as usize];
        }
    }

    /// The whole is valid.
    fn validate(&self) -> Result<(), Error> {
        Ok(())
    }
}
