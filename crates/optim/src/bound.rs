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
use crate::scaled::Scaled;

/// More rows than this are proven on windows where that is possible.
#[cfg(feature = "parallel")]
const LARGEST_WHOLE: usize = 3_000;

/// Beyond this `eps d` a flow of 1 has a rounding error above 1 at its other end.
const FAR: f64 = 40.0;

/// A bound below this is no bound above zero: rounding errors are relative to what is rounded only as long as that is far
/// from the smallest numbers there are.
pub(crate) const SMALLEST: f64 = 1e-150;

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
    match Scaled::of(problem)? {
        Some(scaled) => Ok(scaled.bound(proven_whole(&scaled.problem, &scaled.mu(mu))?)),
        None => proven_whole(problem, mu),
    }
}

fn proven_whole(problem: &Problem, mu: &[f64]) -> Result<f64, Error> {
    let flows = match colgen::flows(problem, mu) {
        // Pricing keeps entries away from zero and may find no room for that; without any flow there still is a bound.
        Err(Error::Infeasible { .. }) => Vec::new(),
        flows => flows?,
    };
    // No cost is negative. What is not a number at all proves nothing.
    let bound = bound_of_flows(problem, mu, &flows).max(0.0);
    Ok(bound.max(proven_nearby(problem, mu)))
}

/// The bound that `mu` proves without the arcs so long that a flow on them is nothing but its own rounding; zero where there
/// are none. Fewer constraints allow no less, so it is one for the problem as it is.
pub(crate) fn proven_nearby(problem: &Problem, mu: &[f64]) -> f64 {
    match problem.without_arcs_beyond(FAR) {
        Some(nearby) => {
            let flows = colgen::flows(&nearby, mu).unwrap_or_default();
            bound_of_flows(&nearby, mu, &flows).max(0.0)
        }
        None => 0.0,
    }
}

/// The bound that a flow for every column proves; not a number where numbers overflowed on the way.
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
    let low = total.low();
    if low < SMALLEST { low.min(0.0) } else { low }
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
        let arriving = flow.amount * factor;
        if arriving < f64::INFINITY {
            // Else no flow: any flow proves something, one that overflows proves nothing.
            work.rows[from].add(flow.amount);
            work.rows[to].add(-arriving);
        }
    }
    let limits = &bounds.by_column[column];
    let mut total = Low::default();
    let mut tied = Low::default();
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
