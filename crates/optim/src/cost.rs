//! Costs `c_ik` (the prior p_i included, Eq. 3-5), without forcing a rows x columns array.

use crate::error::{Error, length, non_negative};
use std::sync::Arc;

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

    /// Every cost must be finite and not negative. The default looks at every entry.
    fn validate(&self) -> Result<(), Error> {
        for row in 0..self.rows() {
            for column in 0..self.columns() {
                non_negative("cost", &[row, column], self.at(row, column))?;
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

/// `c_ik = p_i * sum_l q_l |s_il - t_kl|`: the expected travel error over L targets (Eq. 3-5), from
/// the travel costs of rows and columns to each target. Memory is (rows + columns) x L.
#[derive(Debug, Clone)]
pub struct WeightedL1Cost {
    row_weight: Vec<f64>,
    target_weight: Vec<f64>,
    row_features: Arc<[f64]>,
    column_features: Arc<[f64]>,
    /// The column features once more, [`STRIP`] columns at a time and target by target within a
    /// strip, so that a row of costs is made in whole registers.
    strips: Arc<[[f64; STRIP]]>,
}

/// Columns whose costs are summed side by side; the last strip is filled up with zeros.
const STRIP: usize = 32;

impl WeightedL1Cost {
    /// `row_features` is rows x targets, `column_features` columns x targets, both row-major; they
    /// may be the same shared array.
    pub fn new(
        row_weight: Vec<f64>,
        target_weight: Vec<f64>,
        row_features: Arc<[f64]>,
        column_features: Arc<[f64]>,
    ) -> Result<Self, Error> {
        let targets = target_weight.len();
        if row_weight.is_empty() || column_features.is_empty() {
            return Err(Error::Empty { field: "cost" });
        }
        if targets == 0 {
            return Err(Error::Empty { field: "cost.target_weight" });
        }
        length("cost.row_features", &[], row_weight.len() * targets, row_features.len())?;
        if !column_features.len().is_multiple_of(targets) {
            let expected = column_features.len().div_ceil(targets) * targets;
            length("cost.column_features", &[], expected, column_features.len())?;
        }
        let mut strips = Vec::with_capacity(column_features.len().div_ceil(STRIP) + targets);
        for columns in column_features.chunks(STRIP * targets) {
            for l in 0..targets {
                let mut strip = [0.0; STRIP];
                for (slot, features) in strip.iter_mut().zip(columns.chunks_exact(targets)) {
                    *slot = features[l];
                }
                strips.push(strip);
            }
        }
        let strips = strips.into();
        Ok(Self { row_weight, target_weight, row_features, column_features, strips })
    }

    /// The travel costs of a row to every target.
    pub fn row_features(&self, row: usize) -> &[f64] {
        &self.row_features[row * self.target_weight.len()..][..self.target_weight.len()]
    }

    /// The travel costs of a column to every target.
    pub fn column_features(&self, column: usize) -> &[f64] {
        &self.column_features[column * self.target_weight.len()..][..self.target_weight.len()]
    }

    /// The prior of every row.
    pub fn row_weight(&self) -> &[f64] {
        &self.row_weight
    }
}

impl Cost for WeightedL1Cost {
    fn rows(&self) -> usize {
        self.row_weight.len()
    }

    fn columns(&self) -> usize {
        self.column_features.len() / self.target_weight.len()
    }

    fn at(&self, row: usize, column: usize) -> f64 {
        let (s, t) = (self.row_features(row), self.column_features(column));
        let mut sum = 0.0;
        for ((q, s), t) in self.target_weight.iter().zip(s).zip(t) {
            sum += q * (s - t).abs();
        }
        self.row_weight[row] * sum
    }

    /// Each cost is summed over the targets in the same order as by `at`, so the numbers are the
    /// same, on every processor.
    fn fill_row(&self, row: usize, out: &mut [f64]) {
        let (weight, features) = (self.row_weight[row], self.row_features(row));
        let targets = self.target_weight.len();
        pulp::Arch::new().dispatch(
            #[inline(always)]
            || {
                for (out, strips) in out.chunks_mut(STRIP).zip(self.strips.chunks_exact(targets)) {
                    let mut sum = [0.0; STRIP];
                    for ((q, s), strip) in self.target_weight.iter().zip(features).zip(strips) {
                        for (sum, t) in sum.iter_mut().zip(strip) {
                            *sum += q * (s - t).abs();
                        }
                    }
                    for (out, sum) in out.iter_mut().zip(sum) {
                        *out = weight * sum;
                    }
                }
            },
        );
    }

    fn validate(&self) -> Result<(), Error> {
        let fields: [(&'static str, &[f64]); 4] = [
            ("cost.row_weight", &self.row_weight),
            ("cost.target_weight", &self.target_weight),
            ("cost.row_features", &self.row_features),
            ("cost.column_features", &self.column_features),
        ];
        for (field, values) in fields {
            for (index, &value) in values.iter().enumerate() {
                non_negative(field, &[index], value)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_travel_errors_is_the_same_numbers_as_its_entries() {
        // More columns than a strip, and not a multiple of one.
        let (rows, columns, targets) = (3, 75, 7);
        let spread = |n: usize, step: f64| (0..n).map(move |v| (step * v as f64).sin().abs() * 9.0);
        let cost = WeightedL1Cost::new(
            vec![0.2, 0.5, 0.3],
            spread(targets, 0.7).collect(),
            spread(rows * targets, 1.3).collect(),
            spread(columns * targets, 0.37).collect(),
        )
        .unwrap();
        let mut row = vec![0.0; columns];
        for i in 0..rows {
            cost.fill_row(i, &mut row);
            for (k, &value) in row.iter().enumerate() {
                assert_eq!(value, cost.at(i, k), "row {i}, column {k}");
            }
        }
    }
}
