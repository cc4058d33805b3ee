//! Coincident rows, those at distance zero, solved as one.
//!
//! `d_ij = 0` says that two rows are equal in every column. Their row sums are then one equation written
//! twice, and the normal equations of an interior point have no inverse. So such rows become one row, with
//! the sum of their costs, and each gets a copy of what is found for it. Rows that are all but equal ([`SAME`]) are no better
//! for an interior point, and equal rows satisfy their arcs as well; only the bound must then be proven for the arcs as they are.

use crate::bound::proven_bound;
use crate::cost::{Cost, DenseCost};
use crate::error::{Error, Infeasibility};
use crate::matrix::{DenseMatrix, Matrix};
use crate::presolve::components::connected;
use crate::problem::{Arc, EntryBound, Problem, ProblemParts, Ties};
use crate::settings::Settings;
use crate::solution::{Solution, Status, relative_gap};
use std::collections::HashMap;

/// Up to this `eps d` rows are made equal: what they could differ by is a millionth of the gaps that are asked for.
const SAME: f64 = 1e-12;

/// A problem in which coincident rows are one.
pub(crate) struct Merged {
    pub(crate) problem: Problem,
    /// For each row of the whole problem its row here.
    row: Vec<usize>,
    /// Whether all of them are at distance zero, so that the bound is the same.
    is_exact: bool,
}

fn is_same(problem: &Problem, arc: &Arc) -> bool {
    problem.log_ratio(arc) <= SAME
}

/// An entry of coincident rows.
#[derive(Debug, Clone, Copy)]
struct Entry {
    tie: Option<f64>,
    /// Lower and upper bound, where there are any.
    bound: Option<(f64, f64)>,
}

impl Entry {
    /// What both say together. `None` where one row cannot say it: two factors leave only y = 0, and a tied
    /// entry has no bounds. Bounds may end up empty.
    fn and(self, other: Self) -> Option<Self> {
        let tie = match (self.tie, other.tie) {
            (Some(own), Some(others)) if own != others => return None,
            (own, others) => own.or(others),
        };
        let bound = match (self.bound, other.bound) {
            (Some(own), Some(others)) => Some((own.0.max(others.0), own.1.min(others.1))),
            (own, others) => own.or(others),
        };
        (tie.is_none() || bound.is_none()).then_some(Self { tie, bound })
    }
}

/// Solves a problem with coincident rows as one.
pub(crate) fn solve(
    problem: &Problem,
    settings: &Settings,
    engine: impl Fn(&Problem) -> Result<Solution, Error>,
) -> Result<Solution, Error> {
    match Merged::of(problem)? {
        Some(merged) => match engine(&merged.problem) {
            Ok(solution) => merged.expand(problem, settings, solution),
            Err(Error::Infeasible { row, reason }) => {
                let row = merged.row.iter().position(|&at| at == row).unwrap_or(0);
                Err(Error::Infeasible { row, reason })
            }
            Err(error) => Err(error),
        },
        None => engine(problem),
    }
}

impl Merged {
    /// `None` where no rows coincide.
    pub(crate) fn of(problem: &Problem) -> Result<Option<Self>, Error> {
        if problem.arcs().iter().all(|arc| !is_same(problem, arc)) {
            return Ok(None);
        }
        let columns = problem.columns();
        let (row, entries) = merged_entries(problem);
        let rows = entries.len() / columns;
        if rows == problem.rows() {
            return Ok(None);
        }
        let mut cost = vec![0.0; rows * columns];
        let mut whole = vec![0.0; columns];
        let mut groups = vec![0; rows];
        for (i, &at) in row.iter().enumerate() {
            groups[at] = problem.groups()[i];
            problem.cost().fill_row(i, &mut whole);
            let sum = &mut cost[at * columns..][..columns];
            sum.iter_mut().zip(&whole).for_each(|(sum, cost)| *sum += cost);
        }
        let mut bounds = Vec::new();
        for (at, entry) in entries.iter().enumerate() {
            let Some((low, high)) = entry.bound else { continue };
            if low > high {
                let row = row.iter().position(|&row| row == at / columns).unwrap_or(0);
                return Err(Error::Infeasible { row, reason: Infeasibility::BoundsContradict });
            }
            bounds.push(EntryBound { row: at / columns, column: at % columns, low, high });
        }
        let factors: Vec<Option<f64>> = entries.iter().map(|entry| entry.tie).collect();
        let ties = problem.has_ties().then(|| Ties::new(rows, columns, &factors)).transpose()?;
        let cost: Box<dyn Cost> = Box::new(DenseCost::new(rows, columns, cost)?);
        let (epsilon, fixed_y) = (problem.epsilon(), problem.fixed_y().map(<[f64]>::to_vec));
        let arcs = merged_arcs(problem, &row);
        let parts = ProblemParts { epsilon, groups, cost, arcs, ties, bounds, fixed_y };
        let is_exact = problem.arcs().iter().all(|arc| arc.d == 0.0 || !is_same(problem, arc));
        Ok(Some(Self { problem: Problem::new(parts)?, row, is_exact }))
    }

    /// The solution of the whole problem: copies of rows, and duals shared out among them.
    fn expand(
        &self,
        whole: &Problem,
        settings: &Settings,
        solution: Solution,
    ) -> Result<Solution, Error> {
        let columns = self.problem.columns();
        let mut z = DenseMatrix::zeros(self.row.len(), columns);
        let mut copies = vec![0.0; self.problem.rows()];
        for (i, &at) in self.row.iter().enumerate() {
            solution.z.fill_row(at, z.row_mut(i));
            copies[at] += 1.0;
        }
        let mut certificate = solution.certificate;
        // Between copies nothing is left: the logarithm of one, less zero.
        certificate.worst_log_excess = certificate.worst_log_excess.max(0.0);
        if !certificate.mu.is_empty() {
            certificate.mu = self.row.iter().map(|&at| certificate.mu[at] / copies[at]).collect();
        }
        let mut solution = Solution { z: Matrix::Dense(z), certificate, ..solution };
        if !self.is_exact {
            let proven = match solution.certificate.mu.is_empty() {
                true => 0.0,
                false => proven_bound(whole, &solution.certificate.mu)?,
            };
            solution.lower_bound = solution.lower_bound.min(proven);
            solution.gap =
                relative_gap(whole.mean_cost(), solution.objective, solution.lower_bound);
            solution.status = Status::of_gap(solution.gap, settings.gap);
        }
        Ok(solution)
    }
}

/// The arcs between merged rows; of those that now join the same rows the shortest binds.
fn merged_arcs(problem: &Problem, row: &[usize]) -> Vec<Arc> {
    let mut arcs: Vec<Arc> = problem.arcs().to_vec();
    for arc in &mut arcs {
        let (i, j) = (row[arc.i], row[arc.j]);
        (arc.i, arc.j) = (i.min(j), i.max(j));
    }
    arcs.retain(|arc| arc.i != arc.j);
    arcs.sort_by(|a, b| (a.i, a.j).cmp(&(b.i, b.j)).then(a.d.total_cmp(&b.d)));
    arcs.dedup_by_key(|arc| (arc.i, arc.j));
    arcs
}

/// The merged row of every row, and what the entries of merged rows say, row by row. Coincident rows that one row cannot
/// stand for stay apart.
fn merged_entries(problem: &Problem) -> (Vec<usize>, Vec<Entry>) {
    let columns = problem.columns();
    let zero = problem.arcs().iter().filter(|arc| is_same(problem, arc));
    let classes = connected(problem.rows(), zero.map(|arc| (arc.i, arc.j)));
    let mut bound_of: HashMap<(usize, usize), (f64, f64)> = HashMap::new();
    for bound in problem.bounds() {
        bound_of.insert((bound.row, bound.column), (bound.low, bound.high));
    }
    let entries_of = |i: usize| -> Vec<Entry> {
        let bound = |k| bound_of.get(&(i, k)).copied();
        (0..columns).map(|k| Entry { tie: problem.tie(i, k), bound: bound(k) }).collect()
    };
    let (mut row, mut entries) = (vec![0; problem.rows()], Vec::new());
    let mut rows = 0;
    for class in classes {
        let mut together = entries_of(class[0]);
        let fits = class[1..].iter().all(|&other| {
            together
                .iter_mut()
                .zip(entries_of(other))
                .all(|(entry, other)| entry.and(other).map(|both| *entry = both).is_some())
        });
        for &i in &class {
            row[i] = rows;
            if !fits {
                entries.extend(entries_of(i));
                rows += 1;
            }
        }
        if fits {
            entries.extend(together);
            rows += 1;
        }
    }
    (row, entries)
}
