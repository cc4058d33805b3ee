//! Proving a lower bound again, from the dual vector alone.
//!
//! For any mu, `sum c z = sum mu + sum_k (c_k - mu) . z_k` over feasible z. A *flow* on the arcs of
//! column k bounds the last term: for multipliers `amount >= 0` on constraints `z_from <= a z_to`,
//!
//! ```text
//! (c_k - mu) . z  =  sum amount (a z_to - z_from)  +  residual . z   >=   residual . z
//! ```
//! and the residual is bounded entry by entry: free entries lie in [0, 1] or within their bounds, tied
//! entries move with y_k. Whoever finds the flow need not be trusted: [`column_bound`] uses nothing but
//! the problem, and rounds downwards. [`proven_bound`] lets the pricing of the engine find the flows.

use crate::colgen;
use crate::error::{Error, length};
use crate::problem::Problem;

/// More rows than this are proven on windows where that is possible.
#[cfg(feature = "parallel")]
const LARGEST_WHOLE: usize = 3_000;

/// A multiplier on one arc in one direction: on `z_i <= a z_j`, or on `z_j <= a z_i` when reversed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ArcFlow {
    /// Position of the arc in the problem.
    pub arc: usize,
    /// Whether the constraint bounds row j by row i.
    pub reversed: bool,
    /// The multiplier; must not be negative (a negative one is taken as zero).
    pub amount: f64,
}

/// A lower bound of the optimum, proven for this `mu` (one entry per row).
pub fn proven_bound(problem: &Problem, mu: &[f64]) -> Result<f64, Error> {
    length("mu", &[], problem.rows(), mu.len())?;
    for (i, &value) in mu.iter().enumerate() {
        if !value.is_finite() {
            return Err(Error::NotFinite { field: "mu", index: vec![i], value });
        }
    }
    // Trees over all rows for every column would fill the memory: on large maps they live on windows.
    #[cfg(feature = "parallel")]
    if problem.rows() > LARGEST_WHOLE && crate::large::applies(problem) {
        return crate::large::proven_bound(problem, mu);
    }
    let flows = colgen::flows(problem, mu)?;
    // No cost is negative.
    Ok(bound_of_flows(problem, mu, &flows).max(0.0))
}

/// The bound that a flow for every column proves.
pub fn bound_of_flows(problem: &Problem, mu: &[f64], flows: &[Vec<ArcFlow>]) -> f64 {
    let bounds = EntryLimits::new(problem);
    let mut total = Low::default();
    mu.iter().for_each(|&mu| total.add(mu));
    let mut work = Residual::new(problem.rows());
    let none = Vec::new();
    for column in 0..problem.columns() {
        let flow = flows.get(column).unwrap_or(&none);
        total.add(bounded_column(problem, &bounds, mu, column, flow, &mut work));
    }
    total.low()
}

/// What one column adds to the bound, given a flow on it.
pub fn column_bound(problem: &Problem, mu: &[f64], column: usize, flow: &[ArcFlow]) -> f64 {
    let bounds = EntryLimits::new(problem);
    bounded_column(problem, &bounds, mu, column, flow, &mut Residual::new(problem.rows()))
}

/// A sum with a running bound of its rounding error.
#[derive(Debug, Clone, Copy, Default)]
struct Low {
    sum: f64,
    magnitude: f64,
    terms: f64,
}

impl Low {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.magnitude += value.abs();
        self.terms += 1.0;
    }

    /// The sum, less all that rounding can have added. Every term may itself be one rounding off.
    fn low(self) -> f64 {
        self.sum - (self.terms + 3.0) * f64::EPSILON * self.magnitude
    }
}

/// Residuals of one column, row by row.
struct Residual {
    rows: Vec<Low>,
    costs: Vec<f64>,
    all: Vec<u32>,
}

impl Residual {
    fn new(rows: usize) -> Self {
        Self {
            rows: vec![Low::default(); rows],
            costs: vec![0.0; rows],
            all: (0..rows as u32).collect(),
        }
    }
}

/// The bounds of a problem, by column.
struct EntryLimits {
    by_column: Vec<Vec<(usize, f64, f64)>>,
}

impl EntryLimits {
    fn new(problem: &Problem) -> Self {
        let mut by_column = vec![Vec::new(); problem.columns()];
        for bound in problem.bounds() {
            by_column[bound.column].push((bound.row, bound.low, bound.high));
        }
        Self { by_column }
    }
}

fn bounded_column(
    problem: &Problem,
    bounds: &EntryLimits,
    mu: &[f64],
    column: usize,
    flow: &[ArcFlow],
    work: &mut Residual,
) -> f64 {
    problem.cost().fill(column, &work.all, &mut work.costs);
    for (row, (&cost, &mu)) in work.rows.iter_mut().zip(work.costs.iter().zip(mu)) {
        *row = Low::default();
        row.add(cost);
        row.add(-mu);
    }
    for flow in flow {
        let (Some(arc), true) = (problem.arcs().get(flow.arc), flow.amount > 0.0) else { continue };
        let (from, to) = if flow.reversed { (arc.j, arc.i) } else { (arc.i, arc.j) };
        // exp(eps d) from above: the exponent's rounding and the library's, two units each.
        let log = problem.epsilon() * arc.d;
        let factor = (log * (1.0 + f64::EPSILON)).exp() * (1.0 + 4.0 * f64::EPSILON);
        work.rows[from].add(flow.amount);
        work.rows[to].add(-flow.amount * factor);
    }
    let limits = &bounds.by_column[column];
    let mut total = Low::default();
    let mut tied = Low::default();
    let mut largest_y = f64::INFINITY;
    for (row, residual) in work.rows.iter().enumerate() {
        let residual = residual.low();
        if let Some(factor) = problem.tie(row, column) {
            tied.add(residual * factor);
            largest_y = largest_y.min((1.0 / factor).next_up());
        } else if residual < 0.0 && !limits.iter().any(|limit| limit.0 == row) {
            total.add(residual);
        }
    }
    for &(row, low, high) in limits {
        let residual = work.rows[row].low();
        total.add(if residual < 0.0 { residual * high.min(1.0) } else { residual * low });
    }
    if largest_y.is_finite() {
        let tied = tied.low();
        match problem.fixed_y() {
            Some(y) => total.add(tied * y[column]),
            None => total.add(tied.min(0.0) * largest_y),
        }
    }
    total.low()
}
