//! `lrgeo.solve`: the optimiser on plain arrays.

use lrgeo_optim::{Arc, DenseCost, Problem, ProblemParts};
use numpy::{
    AllowTypeChange, PyArray1, PyArray2, PyArrayLike2, PyArrayMethods, PyUntypedArrayMethods,
};
use pyo3::prelude::*;

use crate::work::{self, Callback};
use crate::{refused, seconds};

/// A matrix, or what numpy makes one of.
pub type Matrix<'py> = PyArrayLike2<'py, f64, AllowTypeChange>;

/// A solved problem: a matrix that keeps every constraint exactly, and a proven bound.
#[pyclass(frozen, module = "lrgeo")]
pub struct Solution {
    /// The matrix, rows by columns.
    #[pyo3(get)]
    z: Py<PyArray2<f64>>,
    /// Its cost.
    #[pyo3(get)]
    objective: f64,
    /// No matrix costs less.
    #[pyo3(get)]
    lower_bound: f64,
    /// Relative.
    #[pyo3(get)]
    gap: f64,
    /// `optimal`, `gap` or `limit`.
    #[pyo3(get)]
    status: &'static str,
    /// Iterations of the outer loop.
    #[pyo3(get)]
    iterations: usize,
    /// Seconds of solving.
    #[pyo3(get)]
    seconds: f64,
    /// The dual vector that proves the bound.
    #[pyo3(get)]
    mu: Py<PyArray1<f64>>,
}

#[pymethods]
impl Solution {
    fn __repr__(&self) -> String {
        format!(
            "Solution(status='{}', objective={:.6}, lower_bound={:.6}, gap={:.1e}, iterations={}, seconds={:.2})",
            self.status, self.objective, self.lower_bound, self.gap, self.iterations, self.seconds
        )
    }
}

/// The cheapest matrix `z` whose rows are distributions and for which `z[i, k] <= exp(epsilon * d) * z[j, k]` for every arc
/// `(i, j, d)`, both ways, and every column `k`; `cost[i, k]` has the prior in it.
///
/// `arcs` is an array of three columns. Both may be anything that numpy makes an array of. `progress=True` shows a bar
/// (tqdm), a callable gets a dict. Ctrl-C ends with the best so far.
#[pyfunction]
#[pyo3(signature = (cost, arcs, epsilon, *, gap = 1e-6, time_limit = None, progress = None))]
pub fn solve(
    py: Python<'_>,
    cost: Matrix<'_>,
    arcs: Matrix<'_>,
    epsilon: f64,
    gap: f64,
    time_limit: Option<f64>,
    progress: Callback<'_, '_>,
) -> PyResult<Solution> {
    let [rows, columns] = [cost.shape()[0], cost.shape()[1]];
    let time_limit = seconds("time_limit", time_limit)?;
    // The one copy on the way in: other threads of Python may write into the array while the interpreter's lock is released.
    let cost = DenseCost::new(rows, columns, numbers(cost)).map_err(refused)?;
    let arcs = list(arcs, rows)?;
    let problem = Problem::new(ProblemParts::untied(epsilon, cost, arcs)).map_err(refused)?;
    let solved = work::solve(py, progress, |worker| {
        lrgeo_optim::solve(&problem, &worker.settings(time_limit, Some(gap)))
    })?;
    let solution = solved.map_err(refused)?;
    Ok(Solution {
        z: matrix(py, solution.z.into_values(), columns)?,
        objective: solution.objective,
        lower_bound: solution.lower_bound,
        gap: solution.gap,
        status: solution.status.as_str(),
        iterations: solution.iterations,
        seconds: solution.seconds,
        mu: PyArray1::from_vec(py, solution.certificate.mu).unbind(),
    })
}

/// The numbers of an array, row by row. The array is let go of: where numpy had to convert it, that copy ends here.
pub fn numbers(array: Matrix<'_>) -> Vec<f64> {
    match array.as_slice() {
        Ok(plain) => plain.to_vec(),
        Err(_) => array.as_array().iter().copied().collect(),
    }
}

fn list(arcs: Matrix<'_>, rows: usize) -> PyResult<Vec<Arc>> {
    if arcs.shape()[1] != 3 {
        return Err(refused("arcs: must have three columns: i, j and the distance"));
    }
    let is_row = |x: f64| x >= 0.0 && x < rows as f64 && x.fract() == 0.0;
    let arc = |(at, arc): (usize, numpy::ndarray::ArrayView1<'_, f64>)| match is_row(arc[0])
        && is_row(arc[1])
    {
        true => Ok(Arc { i: arc[0] as usize, j: arc[1] as usize, d: arc[2] }),
        false => Err(refused(format!("arcs: line {at} names no rows of the cost"))),
    };
    arcs.as_array().rows().into_iter().enumerate().map(arc).collect()
}

/// A matrix of numpy's that takes the numbers over, without copying them.
pub fn matrix(py: Python<'_>, values: Vec<f64>, columns: usize) -> PyResult<Py<PyArray2<f64>>> {
    let rows = values.len() / columns.max(1);
    Ok(PyArray1::from_vec(py, values).reshape([rows, columns])?.unbind())
}
