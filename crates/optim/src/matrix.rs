//! The matrix z of a solution: dense, or rows made on demand.

use std::sync::Arc;

use crate::sparse_rows::SparseRows;

/// A matrix whose rows are made on demand, such as explicit entries with a closed-form tail.
/// Implementations must be pure: a row is the same, bit for bit, whenever it is asked for.
pub trait RowSource: std::fmt::Debug + Send + Sync {
    /// Number of rows.
    fn rows(&self) -> usize;

    /// Number of columns.
    fn columns(&self) -> usize;

    /// Writes one whole row; `out` has one slot per column.
    fn fill_row(&self, row: usize, out: &mut [f64]);

    /// One entry, the same number that `fill_row` writes.
    fn at(&self, row: usize, column: usize) -> f64;

    /// The matrix by its own type, where it is kept as explicit entries and tails.
    fn as_sparse(&self) -> Option<&SparseRows> {
        None
    }
}

/// A row-major matrix.
#[derive(Debug, Clone, PartialEq)]
pub struct DenseMatrix {
    rows: usize,
    columns: usize,
    values: Vec<f64>,
}

impl DenseMatrix {
    /// A matrix of zeros.
    pub fn zeros(rows: usize, columns: usize) -> Self {
        Self { rows, columns, values: vec![0.0; rows * columns] }
    }

    /// From row-major values; `None` when their number is not `rows * columns`.
    pub fn from_values(rows: usize, columns: usize, values: Vec<f64>) -> Option<Self> {
        (rows.checked_mul(columns) == Some(values.len())).then_some(Self { rows, columns, values })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// One entry.
    pub fn at(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.columns + column]
    }

    /// One entry, to be written.
    pub fn at_mut(&mut self, row: usize, column: usize) -> &mut f64 {
        &mut self.values[row * self.columns + column]
    }

    /// One row.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.columns..][..self.columns]
    }

    /// One row, to be written.
    pub fn row_mut(&mut self, row: usize) -> &mut [f64] {
        &mut self.values[row * self.columns..][..self.columns]
    }
}

/// The matrix of a solution.
#[derive(Debug, Clone)]
pub enum Matrix {
    /// All entries in memory.
    Dense(DenseMatrix),
    /// Rows on demand: memory need not be rows x columns.
    Rows(Arc<dyn RowSource>),
}

impl Matrix {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Self::Dense(matrix) => matrix.rows(),
            Self::Rows(source) => source.rows(),
        }
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        match self {
            Self::Dense(matrix) => matrix.columns(),
            Self::Rows(source) => source.columns(),
        }
    }

    /// One entry.
    pub fn at(&self, row: usize, column: usize) -> f64 {
        match self {
            Self::Dense(matrix) => matrix.at(row, column),
            Self::Rows(source) => source.at(row, column),
        }
    }

    /// Writes one whole row.
    pub fn fill_row(&self, row: usize, out: &mut [f64]) {
        match self {
            Self::Dense(matrix) => out.copy_from_slice(matrix.row(row)),
            Self::Rows(source) => source.fill_row(row, out),
        }
    }

    /// One whole row.
    pub fn row(&self, row: usize) -> Vec<f64> {
        let mut out = vec![0.0; self.columns()];
        self.fill_row(row, &mut out);
        out
    }

    /// All entries, row by row; a dense matrix gives its own away.
    pub fn into_values(self) -> Vec<f64> {
        if let Self::Dense(matrix) = self {
            return matrix.values;
        }
        let columns = self.columns();
        let mut values = vec![0.0; self.rows() * columns];
        for (row, out) in values.chunks_exact_mut(columns.max(1)).enumerate() {
            self.fill_row(row, out);
        }
        values
    }

    /// The matrix of explicit entries and tails, when it is one.
    pub fn as_sparse(&self) -> Option<&SparseRows> {
        match self {
            Self::Rows(rows) => rows.as_sparse(),
            Self::Dense(_) => None,
        }
    }

    /// The dense matrix, when it is one.
    pub fn as_dense(&self) -> Option<&DenseMatrix> {
        match self {
            Self::Dense(matrix) => Some(matrix),
            Self::Rows(_) => None,
        }
    }
}
