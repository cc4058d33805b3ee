//! Rows at distance zero, solved as one.
//!
//! `d_ij = 0` says that two rows are equal in every column. Their row sums are then one equation written
//! twice, and the normal equations of an interior point have no inverse. So such rows become one row, with
//! the sum of their costs, and each gets a copy of what is found for it.

use crate::cost::{Cost, DenseCost};
use crate::error::Error;
use crate::matrix::{DenseMatrix, Matrix};
use crate::problem::{Arc, Problem, ProblemParts};
use crate::solution::Solution;

/// A problem in which rows at distance zero are one.
pub(crate) struct Merged {
    pub(crate) problem: Problem,
    /// For each row of the whole problem its row here.
    row: Vec<usize>,
}

impl Merged {
    /// `None` where no rows are twins, or where entries are tied or bounded: those may differ between twins.
    pub(crate) fn of(problem: &Problem) -> Result<Option<Self>, Error> {
        let plain = !problem.has_ties() && problem.bounds().is_empty();
        if !plain || problem.arcs().iter().all(|arc| arc.d > 0.0) {
            return Ok(None);
        }
        let row = numbered(problem);
        let rows = row.iter().max().map_or(0, |last| last + 1);
        let columns = problem.columns();
        let mut cost = vec![0.0; rows * columns];
        let mut whole = vec![0.0; columns];
        let mut groups = vec![0; rows];
        for (i, &at) in row.iter().enumerate() {
            groups[at] = problem.groups()[i];
            problem.cost().fill_row(i, &mut whole);
            let sum = &mut cost[at * columns..][..columns];
            sum.iter_mut().zip(&whole).for_each(|(sum, cost)| *sum += cost);
        }
        let mut arcs: Vec<Arc> = problem.arcs().to_vec();
        for arc in &mut arcs {
            let (i, j) = (row[arc.i], row[arc.j]);
            (arc.i, arc.j) = (i.min(j), i.max(j));
        }
        // Of arcs that now join the same rows the shortest binds.
        arcs.retain(|arc| arc.i != arc.j);
        arcs.sort_by(|a, b| (a.i, a.j).cmp(&(b.i, b.j)).then(a.d.total_cmp(&b.d)));
        arcs.dedup_by_key(|arc| (arc.i, arc.j));
        let cost: Box<dyn Cost> = Box::new(DenseCost::new(rows, columns, cost)?);
        let (epsilon, fixed_y) = (problem.epsilon(), problem.fixed_y().map(<[f64]>::to_vec));
        let parts =
            ProblemParts { epsilon, groups, cost, arcs, ties: None, bounds: Vec::new(), fixed_y };
        Ok(Some(Self { problem: Problem::new(parts)?, row }))
    }

    /// The solution of the whole problem: copies of rows, and duals shared between twins.
    pub(crate) fn expand(&self, solution: Solution) -> Solution {
        let columns = self.problem.columns();
        let mut z = DenseMatrix::zeros(self.row.len(), columns);
        let mut twins = vec![0.0; self.problem.rows()];
        for (i, &at) in self.row.iter().enumerate() {
            solution.z.fill_row(at, z.row_mut(i));
            twins[at] += 1.0;
        }
        let mut certificate = solution.certificate;
        // Between twins nothing is left: the logarithm of one, less zero.
        certificate.worst_log_excess = certificate.worst_log_excess.max(0.0);
        if !certificate.mu.is_empty() {
            certificate.mu = self.row.iter().map(|&at| certificate.mu[at] / twins[at]).collect();
        }
        Solution { z: Matrix::Dense(z), certificate, ..solution }
    }
}

/// Numbers rows from zero, twins alike.
fn numbered(problem: &Problem) -> Vec<usize> {
    let mut first: Vec<usize> = (0..problem.rows()).collect();
    fn root(first: &[usize], mut i: usize) -> usize {
        while first[i] != i {
            i = first[i];
        }
        i
    }
    for arc in problem.arcs().iter().filter(|arc| arc.d == 0.0) {
        let (i, j) = (root(&first, arc.i), root(&first, arc.j));
        first[i.max(j)] = i.min(j);
    }
    let mut row = vec![0; first.len()];
    let mut rows = 0;
    for i in 0..first.len() {
        // The first of twins has the lowest number, and so is numbered before the others.
        let root = root(&first, i);
        if root == i {
            row[i] = rows;
            rows += 1;
        } else {
            row[i] = row[root];
        }
    }
    row
}
