//! Stage 2: one subproblem per group (user), which checks the master's y and answers with a cut.
//!
//! With y held, column generation finds the group's matrix and its row duals; pricing at these duals
//! gives flows on the arcs. Together they are a point of the dual (Eq. in appendix C), and
//! [`Program::affine_bound`] turns any such point into a cut that is valid by construction. Where column
//! generation finds no matrix, a general LP solver decides: a point, or a Farkas ray.

use crate::direct::{
    AffineBound, Answer, Costs, Draft, Limits, Program, Shared, centre, interior, strict,
};
use crate::error::Error;
use crate::matrix::Matrix;
use crate::problem::{Problem, ProblemParts};
use crate::settings::Settings;
use crate::verified::ROW_SUM_ERROR;
use crate::{colgen, cone};

/// What a subproblem says about a y.
#[derive(Debug)]
pub(super) enum Verdict {
    /// Case 2: a dual solution, hence an optimality cut; and, where one was found, the group's strictly
    /// feasible matrix with its cost (the tied part included).
    Bounded { cut: AffineBound, matrix: Option<(Matrix, f64)> },
    /// Case 1: an extreme ray, hence a feasibility cut.
    Unbounded { ray: AffineBound },
    /// Stopped by the clock or by the caller.
    Stopped,
}

/// One group of the problem.
#[derive(Debug)]
pub(super) struct Subproblem {
    /// The group's rows, y held at whatever was asked last.
    problem: Problem,
    /// The same as a program whose y_k are variables.
    pub(super) program: Program,
    /// The sum of all costs: no matrix costs more.
    dearest: f64,
}

impl Subproblem {
    /// The groups of a problem, in order of their first rows.
    pub(super) fn all(problem: &Problem) -> Result<Vec<Self>, Error> {
        let mut rows_of: Vec<(usize, Vec<usize>)> = Vec::new();
        for (row, &group) in problem.groups().iter().enumerate() {
            match rows_of.iter_mut().find(|(g, _)| *g == group) {
                Some((_, rows)) => rows.push(row),
                None => rows_of.push((group, vec![row])),
            }
        }
        rows_of.into_iter().map(|(_, rows)| Self::new(problem, rows)).collect()
    }

    fn new(whole: &Problem, rows: Vec<usize>) -> Result<Self, Error> {
        let parts = whole.parts_of_rows(&rows)?;
        let problem = Problem::new(ProblemParts { fixed_y: None, ..parts })?;
        let program = Program::new(whole, rows);
        let dearest = problem.mean_cost() * problem.columns() as f64;
        Ok(Self { problem, program, dearest })
    }

    /// Solves the group with y held.
    pub(super) fn judge(&self, y: &[f64], settings: &Settings, limits: &Limits) -> Verdict {
        let held = match self.problem.with_fixed_y(y.to_vec()) {
            Ok(problem) => problem,
            Err(_) => return Verdict::Stopped,
        };
        if let Ok(solution) = colgen::attempt(&held, settings)
            && solution.certificate.worst_row_sum_error <= ROW_SUM_ERROR
            && let Ok(cut) = self.cut(y, &solution.certificate.mu)
        {
            return Verdict::Bounded { cut, matrix: Some((solution.z, solution.objective)) };
        }
        if let Some(ray) = interior::extreme_ray(&self.program, y, limits) {
            let ray = self.program.affine_bound(&ray, Costs::Ignored);
            if ray.at(y) > 0.0 {
                return Verdict::Unbounded { ray };
            }
        }
        let Answer::Point { values, multipliers, .. } =
            interior::solve(&self.program, Shared::Held(y), limits.clone())
        else {
            return Verdict::Stopped;
        };
        let cut = self.program.affine_bound(&multipliers, Costs::Counted);
        // Next to the edge of the domain multipliers may grow until they say nothing about costs.
        if !(0.0..=self.dearest).contains(&cut.at(y)) {
            return Verdict::Stopped;
        }
        let local = Program::new(&held, (0..held.rows()).collect());
        let matrix = centre(&held, &local, limits.clone())
            .and_then(|centre| strict(&held, &Draft::new(&local, &values), &centre).ok())
            .map(|(z, _, report)| (z, report.cost));
        Verdict::Bounded { cut, matrix }
    }

    /// The optimality cut of any row duals: pricing finds the flows that go with them, so that no other cut
    /// with these duals lies higher, at any y. With bounds the best flows depend on y: those of this y make the
    /// cut exact here (strong duality), and valid at any other.
    pub(super) fn cut(&self, y: &[f64], mu: &[f64]) -> Result<AffineBound, Error> {
        let flows = if self.problem.bounds().is_empty() {
            cone::flows(&self.problem, mu)?
        } else {
            // At a y of zero any flow onto tied entries is as good as another, however steep the cut becomes beside
            // it. Those of a small y are exact there, and off by no more than slope times that y at zero.
            let largest = self.program.anchor.iter().map(|tied| tied.map_or(1.0, |(_, f)| 1.0 / f));
            let lifted = y.iter().zip(largest).map(|(y, largest)| y.max(1e-6 * largest)).collect();
            cone::flows(&self.problem.with_fixed_y(lifted)?, mu)?
        };
        let multipliers = self.program.multipliers_of_flows(mu, &flows);
        Ok(self.program.affine_bound(&multipliers, Costs::Counted))
    }
}
