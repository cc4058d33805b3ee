//! The program handed to a general interior-point solver (`clarabel`), in its dual form:
//!
//! ```text
//! maximise   sum_i mu_i - sum_h lambda_h b_h    subject to  c + A' lambda - E' mu >= 0, lambda >= 0
//! ```
//!
//! where the multipliers of the first inequality are the entries z and y. Nothing that comes back
//! is trusted: matrices go through the repair, multipliers through [`Program::affine_bound`].

use super::dual::Multipliers;
use super::program::Program;
use crate::settings::{Settings, Stop};
use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettings, DefaultSolution, DefaultSolver, IPSolver, NonnegativeConeT, SolverStatus,
    SupportedConeT,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// When the solver must give up.
#[derive(Debug, Clone)]
pub(crate) struct Limits {
    cancel: Option<Arc<AtomicBool>>,
    seconds_left: f64,
}

impl Limits {
    /// What is left of a solve that is under way.
    pub(crate) fn of(settings: &Settings, stop: &Stop<'_>) -> Self {
        Self { cancel: settings.cancel.clone(), seconds_left: stop.seconds_left().max(0.0) }
    }
}

/// What y is during a solve.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shared<'a> {
    /// Variables of the program.
    Free,
    /// Constants, one per column.
    Held(&'a [f64]),
}

/// What the solver said, unverified.
#[derive(Debug)]
pub(crate) enum Answer {
    /// A point near the optimum.
    Point {
        /// Free entries, then one y per column.
        values: Vec<f64>,
        multipliers: Multipliers,
        iterations: usize,
    },
    /// Multipliers along which the dual grows for ever: no matrix exists.
    Ray(Multipliers),
    /// Neither (time limit, cancellation, or a breakdown before any progress).
    Nothing,
}

/// Solves a program with y free or held.
pub(crate) fn solve(program: &Program, shared: Shared<'_>, limits: Limits) -> Answer {
    let dual = DualForm::new(program, shared);
    // As far as it gets: a stall near this is judged by our own bounds, not by its status.
    let Some(solution) = minimise(&dual.objective, &dual.matrix, &dual.limits, 1e-11, &limits)
    else {
        return Answer::Nothing;
    };
    let (mu, lambda) = solution.x.split_at(program.rows.len());
    let multipliers = Multipliers { mu: mu.to_vec(), lambda: lambda.to_vec() };
    match solution.status {
        SolverStatus::DualInfeasible | SolverStatus::AlmostDualInfeasible => {
            Answer::Ray(multipliers)
        }
        SolverStatus::Unsolved | SolverStatus::CallbackTerminated => Answer::Nothing,
        _ => {
            let mut values = solution.z[..dual.variables].to_vec();
            match shared {
                Shared::Free => {}
                Shared::Held(y) => values.extend_from_slice(y),
            }
            Answer::Point { values, multipliers, iterations: solution.iterations as usize }
        }
    }
}

/// The solver's `x` with the least `objective . x` and `matrix x <= right`, and multipliers `z`; `None` where it breaks down.
pub(crate) fn minimise(
    objective: &[f64],
    matrix: &CscMatrix<f64>,
    right: &[f64],
    tolerance: f64,
    limits: &Limits,
) -> Option<DefaultSolution<f64>> {
    let options = DefaultSettings {
        verbose: false,
        max_threads: 1,
        max_iter: 200,
        time_limit: limits.seconds_left,
        tol_gap_abs: 0.01 * tolerance,
        tol_gap_rel: tolerance,
        tol_feas: tolerance,
        ..DefaultSettings::default()
    };
    let quadratic = CscMatrix::zeros((objective.len(), objective.len()));
    let cones: [SupportedConeT<f64>; 1] = [NonnegativeConeT(right.len())];
    let mut solver =
        DefaultSolver::new(&quadratic, objective, matrix, right, &cones, options).ok()?;
    if let Some(cancel) = limits.cancel.clone() {
        solver.set_termination_callback(move |_| cancel.load(Ordering::Relaxed));
    }
    solver.solve();
    let solution = solver.solution;
    let is_finite = solution.x.iter().chain(&solution.z).all(|value| value.is_finite());
    is_finite.then_some(solution)
}

/// A ray of the dual with y held: multipliers along which it grows for ever, as much as it can for their sum, hence a corner of
/// all of them and with it an extreme ray (appendix C, case 1). They are the multipliers of the least `t` by which all constraints
/// must give way. The solver's own certificate of infeasibility is a ray too, but one from the middle, which proves little more than what
/// was asked: cuts of such rays hardly cut.
pub(crate) fn extreme_ray(program: &Program, y: &[f64], limits: &Limits) -> Option<Multipliers> {
    let free = program.entries.len();
    let held = |terms: &[(usize, f64)]| -> f64 {
        let tied = terms.iter().filter(|(v, _)| *v >= free);
        tied.map(|(v, factor)| factor * y[v - free]).sum()
    };
    let own = |terms: &[(usize, f64)], sign: f64| -> Vec<(usize, f64)> {
        let terms = terms.iter().filter(|(v, _)| *v < free).map(|(v, factor)| (*v, sign * factor));
        terms.chain([(free, -1.0)]).collect()
    };
    let mut rows = Inequalities::default();
    (0..=free).for_each(|v| rows.at_most([(v, -1.0)], 0.0));
    for sum in &program.sums {
        let missing = 1.0 - held(sum);
        rows.at_most(own(sum, 1.0), missing);
        rows.at_most(own(sum, -1.0), -missing);
    }
    for inequality in &program.inequalities {
        rows.at_most(own(&inequality.terms, 1.0), inequality.at_most - held(&inequality.terms));
    }
    let mut least = vec![0.0; free + 1];
    least[free] = 1.0;
    let matrix = rows.matrix(free + 1);
    let solution = minimise(&least, &matrix, &rows.limits, 1e-10, limits)?;
    let (sums, lambda) = solution.z[free + 1..].split_at(2 * program.sums.len());
    let mu = sums.chunks_exact(2).map(|pair| pair[1] - pair[0]).collect();
    Some(Multipliers { mu, lambda: lambda.to_vec() })
}

/// Inequalities `a x <= b`, row by row.
#[derive(Debug, Default)]
pub(crate) struct Inequalities {
    row: Vec<usize>,
    column: Vec<usize>,
    value: Vec<f64>,
    /// The right-hand sides.
    pub(crate) limits: Vec<f64>,
}

impl Inequalities {
    /// One more, from terms (variable, coefficient).
    pub(crate) fn at_most(&mut self, terms: impl IntoIterator<Item = (usize, f64)>, limit: f64) {
        for (column, value) in terms {
            if value != 0.0 {
                self.row.push(self.limits.len());
                self.column.push(column);
                self.value.push(value);
            }
        }
        self.limits.push(limit);
    }

    /// The left-hand sides over so many variables; takes them out.
    pub(crate) fn matrix(&mut self, columns: usize) -> CscMatrix<f64> {
        let take = std::mem::take::<Vec<usize>>;
        CscMatrix::new_from_triplets(
            self.limits.len(),
            columns,
            take(&mut self.row),
            take(&mut self.column),
            std::mem::take(&mut self.value),
        )
    }
}

/// `min objective . x` subject to `matrix x + s = limits`, `s >= 0`, with x = (mu, lambda).
struct DualForm {
    objective: Vec<f64>,
    matrix: CscMatrix<f64>,
    limits: Vec<f64>,
    /// Number of primal variables, hence of leading rows of `matrix`.
    variables: usize,
}

impl DualForm {
    fn new(program: &Program, shared: Shared<'_>) -> Self {
        let free_entries = program.entries.len();
        let variables = match shared {
            Shared::Free => program.variables(),
            Shared::Held(_) => free_entries,
        };
        // A held y moves to the right-hand side.
        let held = |terms: &[(usize, f64)]| match shared {
            Shared::Free => 0.0,
            Shared::Held(y) => terms
                .iter()
                .filter(|(v, _)| *v >= free_entries)
                .map(|(v, factor)| factor * y[v - free_entries])
                .sum::<f64>(),
        };
        let (mut objective, mut start) = (Vec::new(), vec![0]);
        let (mut row, mut value) = (Vec::new(), Vec::new());
        for sum in &program.sums {
            objective.push(held(sum) - 1.0);
            for &(v, factor) in sum.iter().filter(|(v, _)| *v < variables) {
                row.push(v);
                value.push(factor);
            }
            start.push(row.len());
        }
        for (h, inequality) in program.inequalities.iter().enumerate() {
            objective.push(inequality.at_most - held(&inequality.terms));
            let mut terms = inequality.terms;
            terms.sort_by_key(|(v, _)| *v);
            for (v, factor) in terms {
                if factor != 0.0 && v < variables {
                    row.push(v);
                    value.push(-factor);
                }
            }
            row.push(variables + h);
            value.push(-1.0);
            start.push(row.len());
        }
        let mut limits = program.cost[..variables].to_vec();
        limits.resize(variables + program.inequalities.len(), 0.0);
        let matrix = CscMatrix::new(limits.len(), objective.len(), start, row, value);
        Self { objective, matrix, limits, variables }
    }
}
