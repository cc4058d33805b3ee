//! Costs `c_ik` (the prior p_i included, Eq. 3-5), without forcing a rows x columns array.

mod boxes;
mod distance_sums;
#[cfg(feature = "parallel")]
mod some_places;
mod weighted_l1;

#[cfg(feature = "parallel")]
pub(crate) use some_places::SomePlaces;
pub use weighted_l1::WeightedL1Cost;

use crate::error::{self, Error, length};

/// The costs of a problem. Implementations must be pure: the same entry is always the same number.
pub trait Cost: std::fmt::Debug + Send + Sync {
    /// Number of rows.
    fn rows(&self) -> usize;

    /// Number of columns.
    fn columns(&self) -> usize;

    /// The cost of reporting `column` from `row`.
    fn at(&self, row: usize, column: usize) -> f64;

    /// Writes the costs of `column` for the rows asked for: `out[r] = at(rows[r], column)`.
    fn fill(&self, column: usize, rows: &[u32], out: &mut [f64]) {
        for (slot, &row) in out.iter_mut().zip(rows) {
            *slot = self.at(row as usize, column);
        }
    }

    /// Writes the costs of `row` for every column.
    fn fill_row(&self, row: usize, out: &mut [f64]) {
        for (column, slot) in out.iter_mut().enumerate() {
            *slot = self.at(row, column);
        }
    }

    /// Appends every column that costs less than `limit` from `row`, with that cost, in any order. The default looks at
    /// every entry of the row.
    fn columns_below(&self, row: usize, limit: f64, found: &mut Vec<(u32, f64)>) {
        let mut costs = vec![0.0; self.columns()];
        self.fill_row(row, &mut costs);
        let below = (0..).zip(costs).filter(|&(_, cost)| cost < limit);
        found.extend(below);
    }

    /// The sum of every row over the columns chosen, where it can be had without looking at every entry; a relative 1e-12 off
    /// the sum of the entries at most, for rounding.
    fn row_sums(&self, is_chosen: &[bool]) -> Option<Vec<f64>> {
        let _ = is_chosen;
        None
    }

    /// The rows and the columns of these places alone, as plain numbers; `None` where that would take a number for every
    /// entry. For square costs, row i and column i being the same place.
    fn restricted(&self, places: &[u32]) -> Option<Box<dyn Cost>> {
        let _ = places;
        None
    }

    /// Every cost must be finite and not negative. The default looks at every entry.
    fn validate(&self) -> Result<(), Error> {
        for row in 0..self.rows() {
            for column in 0..self.columns() {
                error::cost("cost", &[row, column], self.at(row, column))?;
            }
        }
        Ok(())
    }
}

/// Costs given as a matrix, row by row.
#[derive(Debug, Clone, PartialEq)]
pub struct DenseCost {
    columns: usize,
    values: Vec<f64>,
}

impl DenseCost {
    /// `values` in row-major order; `values.len()` must be `rows * columns`.
    pub fn new(rows: usize, columns: usize, values: Vec<f64>) -> Result<Self, Error> {
        if rows == 0 || columns == 0 {
            return Err(Error::Empty { field: "cost" });
        }
        length("cost", &[], rows.saturating_mul(columns), values.len())?;
        Ok(Self { columns, values })
    }

    /// From nested rows, as in a problem file; ragged rows are an error.
    pub fn from_rows(rows: &[Vec<f64>]) -> Result<Self, Error> {
        let columns = rows.first().map_or(0, Vec::len);
        for (i, row) in rows.iter().enumerate() {
            length("cost", &[i], columns, row.len())?;
        }
        Self::new(rows.len(), columns, rows.concat())
    }

    /// One row of costs.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.columns..][..self.columns]
    }
}

impl Cost for DenseCost {
    fn rows(&self) -> usize {
        self.values.len() / self.columns
    }

    fn columns(&self) -> usize {
        self.columns
    }

    fn at(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.columns + column]
    }

    fn fill(&self, column: usize, rows: &[u32], out: &mut [f64]) {
        for (slot, &row) in out.iter_mut().zip(rows) {
            *slot = self.values[row as usize * self.columns + column];
        }
    }

    fn fill_row(&self, row: usize, out: &mut [f64]) {
        out.copy_from_slice(self.row(row));
    }
}
