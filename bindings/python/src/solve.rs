//! `lrgeo.solve`: the optimiser on plain arrays.

use lrgeo_optim::{Arc, DenseCost, Problem, ProblemParts};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::{refused, work};

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
/// `arcs` is an array of three columns, or anything numpy makes one of. `progress` is called with a dict; Ctrl-C ends with the
/// best so far.
#[pyfunction]
#[pyo3(signature = (cost, arcs, epsilon, *, gap = 1e-6, time_limit = None, progress = None))]
pub fn solve(
    py: Python<'_>,
    cost: PyReadonlyArray2<'_, f64>,
    arcs: PyReadonlyArray2<'_, f64>,
    epsilon: f64,
    gap: f64,
    time_limit: Option<f64>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Solution> {
    let [rows, columns] = [cost.shape()[0], cost.shape()[1]];
    let costs = cost.as_array().iter().copied().collect();
    if arcs.shape()[1] != 3 {
        return Err(refused("arcs: must have three columns: i, j and the distance"));
    }
    let is_row = |x: f64| x >= 0.0 && x < rows as f64 && x.fract() == 0.0;
    let mut list = Vec::with_capacity(arcs.shape()[0]);
    for (at, arc) in arcs.as_array().rows().into_iter().enumerate() {
        if !(is_row(arc[0]) && is_row(arc[1])) {
            return Err(refused(format!("arcs: line {at} names no rows of the cost")));
        }
        list.push(Arc { i: arc[0] as usize, j: arc[1] as usize, d: arc[2] });
    }
    let cost = DenseCost::new(rows, columns, costs).map_err(refused)?;
    let problem = Problem::new(ProblemParts::untied(epsilon, cost, list)).map_err(refused)?;
    let solved = work::run(py, progress, time_limit, Some(gap), |settings| {
        let solution = lrgeo_optim::solve(&problem, &settings)?;
        let mut z = Vec::with_capacity(rows * columns);
        (0..rows).for_each(|row| z.extend(solution.z.row(row)));
        Ok::<_, lrgeo_optim::Error>((solution, z))
    })?;
    let (solution, z) = solved.map_err(refused)?;
    Ok(Solution {
        z: matrix(py, z, columns)?,
        objective: solution.objective,
        lower_bound: solution.lower_bound,
        gap: solution.gap,
        status: solution.status.as_str(),
        iterations: solution.iterations,
        seconds: solution.seconds,
        mu: PyArray1::from_vec(py, solution.certificate.mu).unbind(),
    })
}

/// A matrix of numpy's that takes the numbers over, without copying them.
pub fn matrix(py: Python<'_>, values: Vec<f64>, columns: usize) -> PyResult<Py<PyArray2<f64>>> {
    let rows = values.len() / columns.max(1);
    Ok(PyArray1::from_vec(py, values).reshape([rows, columns])?.unbind())
}
