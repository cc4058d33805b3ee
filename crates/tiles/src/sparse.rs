//! Rows of a matrix in memory linear in what is explicit in them: what a tile holds.

use lrgeo_geo::Invalid;

use crate::{Distribution, DrawError};

/// A matrix whose row i is explicit in some columns and `tail[i]` in all others that are present; a
/// column that is not present is zero in every row.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseMatrix {
    /// Where the explicit entries of each row begin; one more than rows.
    pub start: Vec<usize>,
    /// The columns of explicit entries, ascending within a row.
    pub column: Vec<u32>,
    /// Their values.
    pub value: Vec<f64>,
    /// The value of each row elsewhere.
    pub tail: Vec<f64>,
    /// Which columns are ever reported.
    pub present: Vec<bool>,
}

impl SparseMatrix {
    /// Checks the shape, that every entry is a probability and that every row sums to one.
    pub fn validate(&self) -> Result<(), DrawError> {
        let invalid = |reason: &str| Err(Invalid::new("matrix", reason).into());
        let (rows, columns) = (self.tail.len(), self.present.len());
        let sorted = self.start.windows(2).all(|w| w[0] <= w[1]);
        if self.start.len() != rows + 1 || self.start[0] != 0 || !sorted {
            return invalid("the starts of its rows are broken");
        }
        if self.start[rows] != self.column.len() || self.column.len() != self.value.len() {
            return invalid("columns and values disagree in number");
        }
        let present = self.present.iter().filter(|p| **p).count();
        for row in 0..rows {
            let range = self.start[row]..self.start[row + 1];
            let columns_of = &self.column[range.clone()];
            let ascending = columns_of.windows(2).all(|w| w[0] < w[1]);
            let known =
                columns_of.iter().all(|&k| (k as usize) < columns && self.present[k as usize]);
            if !ascending || !known {
                return Err(DrawError::Row { row, reason: "has columns out of order or absent" });
            }
            let values = &self.value[range];
            Distribution::check_sparse(values, self.tail[row], present - values.len())
                .map_err(|error| DrawError::Row { row, reason: error.reason() })?;
        }
        Ok(())
    }

    /// Writes one whole row.
    pub fn fill_row(&self, row: usize, out: &mut [f64]) {
        let tail = self.tail[row];
        for (slot, &present) in out.iter_mut().zip(&self.present) {
            *slot = if present { tail } else { 0.0 };
        }
        for at in self.start[row]..self.start[row + 1] {
            out[self.column[at] as usize] = self.value[at];
        }
    }
}
