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
pub struct SolutionFile {
    /// How the solve ended.
    pub status: Status,
    /// What was found; `None` exactly when the status is [`Status::Infeasible`].
    pub found: Option<Found>,
}

/// The numbers of a solution file.
#[derive(Debug, Clone)]
pub struct Found {
    /// The cost of the matrix.
    pub objective: f64,
    /// Proven lower bound of the optimum.
    pub lower_bound: f64,
    /// Relative gap between the two.
    pub gap: f64,
    /// Iterations of the outer loop.
    pub iterations: usize,
    /// Columns (rays, cuts, variables) generated.
    pub columns: usize,
    /// Seconds of solving.
    pub seconds: f64,
    /// The matrix.
    pub z: Matrix,
    /// The shared factors.
    pub y: Vec<f64>,
    /// Worst `ln(z_ik / z_jk) - eps d_ij`.
    pub worst_log_excess: f64,
    /// Worst `|sum_k z_ik - 1|`.
    pub worst_row_sum_error: f64,
    /// The dual vector that proves the bound; empty when the file has none.
    pub mu: Vec<f64>,
}

impl SolutionFile {
    /// The file of an infeasible problem.
    pub fn infeasible() -> Self {
        Self { status: Status::Infeasible, found: None }
    }
}

impl From<Solution> for SolutionFile {
    fn from(solution: Solution) -> Self {
        let found = Found {
            objective: solution.objective,
            lower_bound: solution.lower_bound,
            gap: solution.gap,
            iterations: solution.iterations,
            columns: solution.columns,
            seconds: solution.seconds,
            z: solution.z,
            y: solution.y,
            worst_log_excess: solution.certificate.worst_log_excess,
            worst_row_sum_error: solution.certificate.worst_row_sum_error,
            mu: solution.certificate.mu,
        };
        Self { status: solution.status, found: Some(found) }
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
