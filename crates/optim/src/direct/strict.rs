//! From a solver's nearly feasible numbers to a matrix that satisfies every constraint: mix in a little of a point from the middle of the feasible set, whose slack covers the
//! solver's errors, and put each row sum right with the room that this gives.

use super::interior::{self, Answer, Limits, Shared};
use super::program::Program;
use crate::certificate::rounding::RowSum;
use crate::certificate::{Report, check};
use crate::colgen::repair::close;
use crate::error::Error;
use crate::matrix::{DenseMatrix, Matrix};
use crate::presolve::components::connected;
use crate::problem::Problem;

/// Row sums further from 1 than this are not accepted.
const ROW_SUM_ERROR: f64 = 1e-13;

/// Entries and y of a matrix that need not be feasible.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    pub(crate) z: DenseMatrix,
    pub(crate) y: Vec<f64>,
}

impl Draft {
    /// From the values of a program over all rows of the problem.
    pub(crate) fn new(program: &Program, values: &[f64]) -> Self {
        let mut z = DenseMatrix::zeros(program.rows.len(), program.columns);
        for (p, sum) in program.sums.iter().enumerate() {
            for (k, &(v, factor)) in sum.iter().enumerate() {
                *z.at_mut(program.rows[p], k) = (factor * values[v]).clamp(0.0, 1.0);
            }
        }
        let y = values[program.entries.len()..].iter().map(|y| y.max(0.0)).collect();
        Self { z, y }
    }
}

/// A point from the middle of the feasible set: with no costs at all, an interior-point method
/// walks to the analytic centre. `None` when the set has no inside or the solver gave up.
pub(crate) fn centre(problem: &Problem, program: &Program, limits: Limits) -> Option<Draft> {
    let tied_or_bounded = problem.has_ties() || !problem.bounds().is_empty();
    if !tied_or_bounded {
        let (rows, columns) = (problem.rows(), problem.columns());
        let z =
            DenseMatrix::from_values(rows, columns, vec![1.0 / columns as f64; rows * columns])?;
        return Some(Draft { z, y: vec![0.0; columns] });
    }
    let shared = problem.fixed_y().map_or(Shared::Free, Shared::Held);
    match interior::solve(&program.without_costs(), shared, limits) {
        Answer::Point { values, .. } => Some(Draft::new(program, &values)),
        Answer::Ray(_) | Answer::Nothing => None,
    }
}

/// The strict matrix nearest to `draft`, on the way to `centre`, that the checker passes.
pub(crate) fn strict(
    problem: &Problem,
    draft: &Draft,
    centre: &Draft,
) -> Result<(Matrix, Vec<f64>, Report), Error> {
    // Rows at distance zero must be equal to the last bit.
    let zero = problem.arcs().iter().filter(|arc| problem.epsilon() * arc.d == 0.0);
    let coincident = connected(problem.rows(), zero.map(|arc| (arc.i, arc.j)));
    let mut share = 1e-12;
    loop {
        let mut mixed = mix(problem, draft, centre, share);
        // Closing the columns moves the sums a little, putting the sums right opens a few columns.
        for _ in 0..4 {
            close(problem, &mut mixed.z);
            make_equal(problem, &mut mixed, &coincident);
            correct_sums(problem, &mut mixed, centre, &coincident);
        }
        let z = Matrix::Dense(mixed.z);
        let report = check(problem, &z, &mixed.y);
        if report.is_strict() && report.worst_row_sum_error <= ROW_SUM_ERROR {
            return Ok((z, mixed.y, report));
        }
        if share >= 1.0 {
            let (row, column) = report.worst_entry.unwrap_or((report.worst_row, 0));
            let worst_log_excess = report.worst_log_excess;
            return Err(Error::NotStrict { worst_log_excess, row, column });
        }
        share = f64::min(share * 4.0, 1.0);
    }
}

fn mix(problem: &Problem, draft: &Draft, centre: &Draft, share: f64) -> Draft {
    let between = |a: f64, b: f64| a + share * (b - a);
    let y: Vec<f64> = match problem.fixed_y() {
        Some(y) => y.to_vec(),
        None => draft.y.iter().zip(&centre.y).map(|(a, b)| between(*a, *b)).collect(),
    };
    let mut z = DenseMatrix::zeros(problem.rows(), problem.columns());
    for i in 0..problem.rows() {
        for (k, &y) in y.iter().enumerate() {
            *z.at_mut(i, k) = match problem.tie(i, k) {
                Some(factor) => y * factor,
                None => between(draft.z.at(i, k), centre.z.at(i, k)),
            };
        }
    }
    for bound in problem.bounds() {
        let entry = z.at_mut(bound.row, bound.column);
        *entry = entry.clamp(bound.low, bound.high);
    }
    Draft { z, y }
}

/// Puts each row sum right with the row's free entries, in proportion to what the centre lends them.
fn correct_sums(problem: &Problem, mixed: &mut Draft, centre: &Draft, classes: &[Vec<usize>]) {
    let columns = problem.columns();
    let mut range = vec![(0.0, 1.0); problem.rows() * columns];
    for bound in problem.bounds() {
        range[bound.row * columns + bound.column] = (bound.low, bound.high);
    }
    for members in classes {
        let first = members[0];
        let mut lent: Vec<f64> = (0..columns)
            .map(|k| match members.iter().any(|&i| problem.tie(i, k).is_some()) {
                true => 0.0,
                false => centre.z.at(first, k),
            })
            .collect();
        // Large entries only: what a sum lacks may be more than all of a tiny entry.
        let largest = lent.iter().copied().fold(0.0, f64::max);
        for lent in lent.iter_mut().filter(|lent| **lent < 0.01 * largest) {
            *lent = 0.0;
        }
        let total: f64 = lent.iter().sum();
        if total <= 0.0 {
            continue;
        }
        // The first pass takes the solver's error, the later ones what bounds and rounding left.
        let mut row = mixed.z.row(first).to_vec();
        for _ in 0..6 {
            let missing = -RowSum::of(&row).excess();
            for (k, (value, lent)) in row.iter_mut().zip(&lent).enumerate() {
                if *lent > 0.0 {
                    *value += missing * (lent / total);
                    for &i in members {
                        let (low, high) = range[i * columns + k];
                        *value = value.clamp(low, high);
                    }
                }
            }
        }
        for &i in members {
            mixed.z.row_mut(i).copy_from_slice(&row);
        }
    }
}

/// A tied entry rules over the free ones of its class, else the first row does.
fn make_equal(problem: &Problem, mixed: &mut Draft, classes: &[Vec<usize>]) {
    for members in classes.iter().filter(|members| members.len() > 1) {
        for k in 0..problem.columns() {
            let ruler = members.iter().find(|&&i| problem.tie(i, k).is_some());
            let value = mixed.z.at(*ruler.unwrap_or(&members[0]), k);
            for &i in members {
                *mixed.z.at_mut(i, k) = value;
            }
        }
    }
}
