//! The whole LP handed to a general solver: the oracle of the tests and the baseline of benchmarks.
//!
//! The solver's word counts for nothing: the matrix is made strict and checked, the bound is proven
//! again from the multipliers ([`bound_of_flows`]), and infeasibility from the ray (`Program::affine_bound`).

mod dual;
pub(crate) mod interior;
mod program;
mod strict;
#[cfg(test)]
mod tests;

pub(crate) use dual::{AffineBound, Costs, Multipliers};
pub(crate) use interior::{Answer, Limits, Shared};
pub(crate) use program::Program;
pub(crate) use strict::{Draft, centre, strict};

use crate::certificate::bound_of_flows;
use crate::error::{Error, Infeasibility};
use crate::incumbent::{Estimate, Incumbent};
use crate::presolve::coincident;
use crate::problem::Problem;
use crate::settings::Settings;
use crate::solution::Solution;
use crate::verified;

/// What errors call this engine.
pub(crate) const NAME: &str = "direct";

/// The largest program accepted: entries times (1 + arcs per row), beyond which memory runs out.
const SIZE_LIMIT: usize = 50_000_000;

/// Growth along a ray below this may be what is left of numbers that were too small to be told apart. Rays are of size 1.
pub(crate) const LEAST_GROWTH: f64 = 1e-100;

/// Solves a problem as one linear program.
pub fn solve(problem: &Problem, settings: &Settings) -> Result<Solution, Error> {
    verified::solve(problem, settings, NAME, |problem| attempt(problem, settings))
}

/// As [`solve`], unverified.
pub(crate) fn attempt(problem: &Problem, settings: &Settings) -> Result<Solution, Error> {
    coincident::solve(problem, settings, |merged| solve_merged(merged, settings))
}

fn solve_merged(problem: &Problem, settings: &Settings) -> Result<Solution, Error> {
    let stop = settings.start_watch()?;
    let per_column = problem.rows() + 2 * problem.arcs().len();
    let size = per_column.saturating_mul(problem.columns());
    if size > SIZE_LIMIT {
        return Err(Error::TooLarge { field: "direct.size", found: size, limit: SIZE_LIMIT });
    }
    let program = Program::new(problem, (0..problem.rows()).collect());
    let shared = problem.fixed_y().map_or(Shared::Free, Shared::Held);
    let limits = || Limits::of(settings, &stop);
    let (values, multipliers, iterations) = match interior::solve(&program, shared, limits()) {
        Answer::Point { values, multipliers, iterations } => (values, multipliers, iterations),
        Answer::Ray(ray) => return Err(infeasible(problem, &program, &ray)),
        Answer::Nothing => return Err(Error::StoppedEarly),
    };
    let Some(centre) = centre(problem, &program, limits()) else {
        return Err(Error::StoppedEarly);
    };
    let (z, y, report) = strict(problem, &Draft::new(&program, &values), &centre)?;

    let bound = program.affine_bound(&multipliers, Costs::Counted);
    let mu = match problem.fixed_y() {
        Some(_) => bound.mu,
        None => program.bound_for_all_y(bound).mu,
    };
    // Costs are not negative, so neither is the optimum.
    let lower_bound = bound_of_flows(problem, &mu, &program.flows(&multipliers)).max(0.0);
    let mut found = Incumbent::new(settings, stop, problem.rows(), problem.mean_cost());
    found.offer(z, y, report, lower_bound)?;
    found.prove(mu, lower_bound);
    found.iterations = iterations;
    found.report(&Estimate { gap: found.gap(), bound: 0.0, columns: program.variables() });
    found.solution(program.variables()).ok_or(Error::StoppedEarly)
}

/// The error that a ray proves; without a proof the solver has merely failed.
fn infeasible(problem: &Problem, program: &Program, ray: &Multipliers) -> Error {
    let bound = program.affine_bound(ray, Costs::Ignored);
    let growth = match problem.fixed_y() {
        Some(y) => bound.at(y),
        None => program.bound_for_all_y(bound.clone()).constant,
    };
    if !(LEAST_GROWTH..f64::INFINITY).contains(&growth) {
        return Error::StoppedEarly;
    }
    Error::Infeasible { row: program.blamed(&bound), reason: Infeasibility::RowsContradict }
}

impl Program {
    /// The row that carries the largest share of a proof of infeasibility.
    pub(crate) fn blamed(&self, ray: &AffineBound) -> usize {
        let share = |p: &usize| ray.mu[*p].abs();
        let blamed = (0..self.rows.len()).max_by(|p, q| share(p).total_cmp(&share(q)));
        blamed.map_or(0, |p| self.rows[p])
    }
}
