//! Proving a lower bound again, from the dual vector alone.
//!
//! The cone room finds flows for the duals, and the certificate room says what these prove: whatever the
//! engines did, the bound is one.

use crate::certificate::bound_of_flows;
use crate::cone;
use crate::error::{Error, length};
use crate::presolve::scaling::Scaled;
use crate::problem::Problem;

/// Beyond this `eps d` a flow of 1 has a rounding error above 1 at its other end.
const FAR: f64 = 40.0;

/// A lower bound of the optimum, proven for this `mu` (one entry per row).
pub fn proven_bound(problem: &Problem, mu: &[f64]) -> Result<f64, Error> {
    length("mu", &[], problem.rows(), mu.len())?;
    for (i, &value) in mu.iter().enumerate() {
        if !value.is_finite() {
            return Err(Error::NotFinite { field: "mu", index: vec![i], value });
        }
    }
    #[cfg(feature = "parallel")]
    if problem.rows() > crate::solve::SIZES.proven_whole && crate::large::applies(problem) {
        return crate::large::proven_bound(problem, mu);
    }
    match Scaled::of(problem)? {
        Some(scaled) => Ok(scaled.bound(proven_whole(&scaled.problem, &scaled.mu(mu))?)),
        None => proven_whole(problem, mu),
    }
}

fn proven_whole(problem: &Problem, mu: &[f64]) -> Result<f64, Error> {
    let flows = match cone::flows(problem, mu) {
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
            let flows = cone::flows(&nearby, mu).unwrap_or_default();
            bound_of_flows(&nearby, mu, &flows).max(0.0)
        }
        None => 0.0,
    }
}
