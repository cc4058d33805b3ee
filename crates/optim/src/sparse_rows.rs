//! The matrix of a large solution: explicit entries, and a tail that is constant in each row.

use crate::error::{Error, length};
use crate::matrix::RowSource;

/// A rows x columns matrix in memory linear in the explicit entries: what is not explicit in row i
/// is exactly `tail(i)`, the same number in every column that is present, and 0 in the others.
///
/// The tail is exact, not an approximation: a column of the Geo-Ind cone stays in it when its
/// entries are raised to a common constant t, because the cone holds constants and is closed under
/// maxima. Row i is then scaled to sum to 1, its tail t with it.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseRows {
    start: Vec<usize>,
    column: Vec<u32>,
    value: Vec<f64>,
    tail: Vec<f64>,
    present: Vec<bool>,
}

impl SparseRows {
    /// From rows of explicit entries, columns ascending within each row and present; one tail per
    /// row, and per column whether it is ever reported.
    #[cfg(feature = "parallel")]
    pub(crate) fn new(
        start: Vec<usize>,
        column: Vec<u32>,
        value: Vec<f64>,
        tail: Vec<f64>,
        present: Vec<bool>,
    ) -> Self {
        Self { start, column, value, tail, present }
    }

    /// From parts that somebody else wrote: checked for shape and order, not for what they mean.
    pub fn from_parts(
        start: Vec<usize>,
        column: Vec<usize>,
        value: Vec<f64>,
        tail: Vec<f64>,
        present: Vec<bool>,
    ) -> Result<Self, Error> {
        length("z_start", &[], tail.len() + 1, start.len())?;
        length("z_column", &[], start[tail.len()], column.len())?;
        length("z_value", &[], column.len(), value.len())?;
        let unordered = |field, at: usize, value: usize| {
            let (index, value) = (vec![at], value as f64);
            Error::OutOfRange { field, index, value, range: "the ascending order" }
        };
        if start[0] != 0 {
            return Err(unordered("z_start", 0, start[0]));
        }
        for row in 0..tail.len() {
            if start[row] > start[row + 1] || start[row + 1] > column.len() {
                return Err(unordered("z_start", row + 1, start[row + 1]));
            }
            for at in start[row]..start[row + 1] {
                let limit = present.len();
                if column[at] >= limit {
                    let (field, index, value) = ("z_column", vec![at], column[at]);
                    return Err(Error::IndexOutOfRange { field, index, value, limit });
                }
                if at > start[row] && column[at - 1] >= column[at] {
                    return Err(unordered("z_column", at, column[at]));
                }
            }
        }
        let column = column.into_iter().map(|k| k as u32).collect();
        Ok(Self { start, column, value, tail, present })
    }

    /// The matrix that reports one column, whatever the row.
    #[cfg(feature = "parallel")]
    pub(crate) fn constant(rows: usize, column: usize) -> Self {
        Self {
            start: (0..=rows).collect(),
            column: vec![column as u32; rows],
            value: vec![1.0; rows],
            tail: vec![0.0; rows],
            present: (0..rows).map(|k| k == column).collect(),
        }
    }

    /// The explicit entries of a row: columns, ascending, and values.
    pub fn explicit(&self, row: usize) -> (&[u32], &[f64]) {
        let range = self.start[row]..self.start[row + 1];
        (&self.column[range.clone()], &self.value[range])
    }

    /// The value of a row in every present column where it is not explicit.
    pub fn tail(&self, row: usize) -> f64 {
        self.tail[row]
    }

    /// Whether each column is present; an absent one is zero in every row.
    pub fn present(&self) -> &[bool] {
        &self.present
    }

    /// Number of explicit entries.
    pub fn explicit_entries(&self) -> usize {
        self.value.len()
    }
}

impl RowSource for SparseRows {
    fn rows(&self) -> usize {
        self.start.len() - 1
    }

    fn columns(&self) -> usize {
        self.present.len()
    }

    fn fill_row(&self, row: usize, out: &mut [f64]) {
        for (slot, &present) in out.iter_mut().zip(&self.present) {
            *slot = if present { self.tail[row] } else { 0.0 };
        }
        let (columns, values) = self.explicit(row);
        for (&k, &z) in columns.iter().zip(values) {
            out[k as usize] = z;
        }
    }

    fn as_sparse(&self) -> Option<&SparseRows> {
        Some(self)
    }

    fn at(&self, row: usize, column: usize) -> f64 {
        let (columns, values) = self.explicit(row);
        match columns.binary_search(&(column as u32)) {
            Ok(at) => values[at],
            Err(_) if self.present[column] => self.tail[row],
            Err(_) => 0.0,
        }
    }
}
