//! The lower bound that duals and flows prove.
//!
//! For any mu, `sum c z = sum mu + sum_k (c_k - mu) . z_k` over feasible z. A *flow* on the arcs of
//! column k bounds the last term: for multipliers `amount >= 0` on constraints `z_from <= a z_to`,
//!
//! ```text
//! (c_k - mu) . z  =  sum amount (a z_to - z_from)  +  residual . z   >=   residual . z
//! ```
//! and the residual is bounded entry by entry: free entries lie in [0, 1] or within their bounds, tied
//! entries move with y_k. Whoever finds the flow need not be trusted: [`column_bound`] uses nothing but
//! the problem, and rounds downwards.

use super::rounding::{LowSum, exp_above, product_above};
use crate::problem::Problem;

/// A bound below this is no bound above zero: rounding errors are relative to what is rounded only as long as that is far
/// from the smallest numbers there are.
pub(super) const SMALLEST: f64 = 1e-150;

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

/// The bound that a flow for every column proves; not a number where numbers overflowed on the way.
pub fn bound_of_flows(problem: &Problem, mu: &[f64], flows: &[Vec<ArcFlow>]) -> f64 {
    let bounds = EntryLimits::new(problem);
    let mut total = LowSum::default();
    total.extend(mu.iter().copied());
    let mut work = Residual::new(problem.rows());
    let none = Vec::new();
    for column in 0..problem.columns() {
        let flow = flows.get(column).unwrap_or(&none);
        total.add(bounded_column(problem, &bounds, mu, column, flow, &mut work));
    }
    let low = total.low();
    if low < SMALLEST { low.min(0.0) } else { low }
}

/// What one column adds to the bound, given a flow on it.
pub fn column_bound(problem: &Problem, mu: &[f64], column: usize, flow: &[ArcFlow]) -> f64 {
    let bounds = EntryLimits::new(problem);
    bounded_column(problem, &bounds, mu, column, flow, &mut Residual::new(problem.rows()))
}

/// Residuals of one column, row by row.
struct Residual {
    rows: Vec<LowSum>,
    costs: Vec<f64>,
    all: Vec<u32>,
}

impl Residual {
    fn new(rows: usize) -> Self {
        Self {
            rows: vec![LowSum::default(); rows],
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
        *row = LowSum::default();
        row.add(cost);
        row.add(-mu);
    }
    for flow in flow {
        let (Some(arc), true) = (problem.arcs().get(flow.arc), flow.amount > 0.0) else { continue };
        let (from, to) = if flow.reversed { (arc.j, arc.i) } else { (arc.i, arc.j) };
        let arriving = flow.amount * exp_above(product_above(problem.epsilon(), arc.d));
        if arriving < f64::INFINITY {
            // Else no flow: any flow proves something, one that overflows proves nothing.
            work.rows[from].add(flow.amount);
            work.rows[to].add(-arriving);
        }
    }
    let limits = &bounds.by_column[column];
    let mut total = LowSum::default();
    let mut tied = LowSum::default();
    let (mut largest_y, mut is_tied) = (f64::INFINITY, false);
    for (row, residual) in work.rows.iter().enumerate() {
        let residual = residual.low();
        if let Some(factor) = problem.tie(row, column) {
            tied.add(residual * factor);
            largest_y = largest_y.min((1.0 / factor).next_up());
            is_tied = true;
        } else if !(residual >= 0.0 || limits.iter().any(|limit| limit.0 == row)) {
            total.add(residual); // negative, or not a number: then the sum is none either
        }
    }
    for &(row, low, high) in limits {
        let residual = work.rows[row].low();
        total.add(if residual < 0.0 { residual * high.min(1.0) } else { residual * low });
    }
    if is_tied {
        let tied = tied.low();
        match problem.fixed_y() {
            Some(y) => total.add(tied * y[column]),
            None if tied >= 0.0 => {}
            None => total.add(tied * largest_y),
        }
    }
    total.low()
}
