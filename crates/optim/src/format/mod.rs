//! Problem and solution files, as `docs/problem-format.md` describes them: JSON, and numpy's `.npz`
//! for large ones. Pure functions from and to bytes; no file is opened here.

mod error;
mod json;
mod npy;
mod npz;
#[cfg(test)]
mod tests;

pub use error::FormatError;
pub use json::{problem_to_json, solution_to_json};
pub use npz::{problem_to_npz, solution_to_npz};

use crate::error::Error;
use crate::matrix::{DenseMatrix, Matrix};
use crate::problem::Problem;
use crate::solution::{Solution, Status};

/// The version of both files.
pub const VERSION: u64 = 1;

/// What a file may hold at most; checked before anything large is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Size of the file, and of each array once unpacked.
    pub bytes: usize,
    /// Rows times columns.
    pub entries: usize,
    /// Arcs, and bounds.
    pub arcs: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 2 << 30, entries: 200_000_000, arcs: 50_000_000 }
    }
}

impl Limits {
    fn at_most(field: &'static str, found: usize, limit: usize) -> Result<(), FormatError> {
        if found > limit {
            return Err(Error::TooLarge { field, found, limit }.into());
        }
        Ok(())
    }
}

/// A solution file: what a solver found, or that there is nothing to find.
#[derive(Debug, Clone)]
pub enum SolutionFile {
    /// A solution; the trace of its bounds is not part of files.
    Found(Solution),
    /// The problem has none.
    Infeasible,
}

impl SolutionFile {
    /// How the solve ended.
    pub fn status(&self) -> Status {
        self.found().map_or(Status::Infeasible, |solution| solution.status)
    }

    /// The solution, if there is one.
    pub fn found(&self) -> Option<&Solution> {
        match self {
            Self::Found(solution) => Some(solution),
            Self::Infeasible => None,
        }
    }
}

impl From<Solution> for SolutionFile {
    fn from(solution: Solution) -> Self {
        Self::Found(solution)
    }
}

/// Reads a problem, JSON or `.npz` by its first bytes.
pub fn read_problem(bytes: &[u8], limits: &Limits) -> Result<Problem, FormatError> {
    Limits::at_most("file", bytes.len(), limits.bytes)?;
    if npz::is_npz(bytes) {
        npz::read_problem(bytes, limits)
    } else {
        json::read_problem(bytes, limits)
    }
}

/// Reads a solution, JSON or `.npz` by its first bytes.
pub fn read_solution(bytes: &[u8], limits: &Limits) -> Result<SolutionFile, FormatError> {
    Limits::at_most("file", bytes.len(), limits.bytes)?;
    if npz::is_npz(bytes) {
        npz::read_solution(bytes, limits)
    } else {
        json::read_solution(bytes, limits)
    }
}

/// JSON and numpy readers alike: numbers where a float may be any f64 are still never NaN here.
fn finite(field: &'static str, values: &[f64]) -> Result<(), FormatError> {
    match values.iter().position(|value| !value.is_finite()) {
        Some(at) => Err(Error::NotFinite { field, index: vec![at], value: values[at] }.into()),
        None => Ok(()),
    }
}

/// The matrix of nested or flat values, ragged rows already excluded.
fn matrix(rows: usize, columns: usize, values: Vec<f64>) -> Result<Matrix, FormatError> {
    let (expected, found) = (rows.saturating_mul(columns), values.len());
    let length = Error::Length { field: "z", index: vec![], expected, found };
    DenseMatrix::from_values(rows, columns, values).map(Matrix::Dense).ok_or(length.into())
}

/// JSON has no infinities, and a file of numbers should not either.
fn written(value: f64) -> f64 {
    value.clamp(f64::MIN, f64::MAX)
}
