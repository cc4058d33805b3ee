//! The same check for a sparse matrix: every arc in every column, tails included.
//!
//! Why this covers every column of an arc (i, j): a column explicit in at least one of the two rows
//! is met when their explicit lists are merged, the tail standing in on the other side; a column
//! explicit in neither is either absent, zero in both, or has the ratio `tail_i / tail_j`, one
//! comparison for all of them.

use std::convert::Infallible;

use rayon::prelude::*;

use super::arc_limit::{ArcLimit, Worst};
use super::check::Report;
use super::rounding::RowSum;
use crate::matrix::RowSource;
use crate::problem::{Arc, Problem};
use crate::sparse_rows::SparseRows;

/// Checks a sparse matrix against an untied problem; the same report as [`super::check()`].
pub fn check_sparse(problem: &Problem, z: &SparseRows) -> Report {
    let Ok(report) = check_while(problem, z, || Ok::<(), Infallible>(()));
    report
}

/// As [`check_sparse`], given up as soon as `proceed` fails.
pub(crate) fn check_while<E: Send>(
    problem: &Problem,
    z: &SparseRows,
    proceed: impl Fn() -> Result<(), E> + Sync,
) -> Result<Report, E> {
    let mut report = Report::begin(problem, z.rows(), z.columns());
    if report.not_a_probability.is_some() {
        return Ok(report);
    }
    let present = z.present().iter().filter(|&&p| p).count();
    // A constant tail costs what its columns cost together.
    let sums = problem.cost().row_sums(z.present());
    let rows: Vec<RowCheck> = (0..z.rows())
        .into_par_iter()
        .map_init(
            || vec![0.0; z.columns()],
            |costs, i| {
                let sum = sums.as_ref().map(|sums| sums[i]);
                proceed().map(|()| RowCheck::new(problem, z, i, present, sum, costs))
            },
        )
        .collect::<Result<_, E>>()?;
    for (i, row) in rows.iter().enumerate() {
        report.cost += row.cost;
        report.add_row_sum(i, &row.sum);
        if let (None, Some(k)) = (report.not_a_probability, row.not_a_probability) {
            report.not_a_probability = Some((i, k));
        }
    }
    let worst: Vec<Worst> = problem
        .arcs()
        .par_iter()
        .map(|arc| {
            proceed()?;
            Ok(worst_pair(z, arc, ArcLimit::new(problem.epsilon(), arc.d)))
        })
        .collect::<Result<_, E>>()?;
    problem.arcs().iter().zip(&worst).for_each(|(arc, worst)| report.add_arc(arc, worst));
    Ok(report)
}

struct RowCheck {
    sum: RowSum,
    cost: f64,
    not_a_probability: Option<usize>,
}

impl RowCheck {
    /// Row i as a whole: its explicit entries and its tail in all other present columns. `cost_sum` is what all present
    /// columns cost together, where that is known.
    fn new(
        problem: &Problem,
        z: &SparseRows,
        i: usize,
        present: usize,
        cost_sum: Option<f64>,
        costs: &mut [f64],
    ) -> Self {
        let (columns, values) = z.explicit(i);
        let tail = z.tail(i);
        let others = present - columns.len().min(present);
        // The sum may stand for the entries where most are tail: then its rounding is nothing beside the mean cost.
        let cost_sum = cost_sum.filter(|_| columns.len() <= others);
        // Without a tail only the explicit entries cost anything.
        let tail_sum = if tail == 0.0 { Some(0.0) } else { cost_sum };
        if tail_sum.is_some() {
            columns.iter().for_each(|&k| costs[k as usize] = problem.cost().at(i, k as usize));
        } else {
            problem.cost().fill_row(i, costs);
        }
        let mut explicit_sum = 0.0;
        let valid = |value: f64| (0.0..=1.0).contains(&value);
        let mut not_a_probability = (!valid(tail)).then_some(0);
        let mut sum = RowSum::new();
        let mut cost = 0.0;
        let mut previous = None;
        for (&k, &value) in columns.iter().zip(values) {
            let at = k as usize;
            sum.add(value);
            cost += costs[at] * value;
            explicit_sum += costs[at];
            costs[at] = 0.0;
            // Out of order, an entry could be counted twice; absent, its column would not be zero.
            if !valid(value) || !z.present()[at] || previous.is_some_and(|last| last >= k) {
                not_a_probability.get_or_insert(at);
            }
            previous = Some(k);
        }
        sum.add_product(tail, others as f64);
        let in_tail = match tail_sum {
            Some(all) => (all - explicit_sum).max(0.0),
            None => costs.iter().zip(z.present()).map(|(c, &p)| if p { *c } else { 0.0 }).sum(),
        };
        Self { sum, cost: cost + tail * in_tail, not_a_probability }
    }
}

/// The pair of entries of two rows, over all columns, that breaks their limit most.
fn worst_pair(z: &SparseRows, arc: &Arc, limit: ArcLimit) -> Worst {
    let ((ki, vi), (kj, vj)) = (z.explicit(arc.i), z.explicit(arc.j));
    let (mut a, mut b) = (0, 0);
    let (tail_i, tail_j) = (z.tail(arc.i), z.tail(arc.j));
    let mut worst = Worst::new(limit, f64::NEG_INFINITY);
    if let Some(k) = z.present().iter().position(|&p| p) {
        worst.compare(tail_i, tail_j, k);
    }
    while a < ki.len() || b < kj.len() {
        let left = ki.get(a).copied().unwrap_or(u32::MAX);
        let right = kj.get(b).copied().unwrap_or(u32::MAX);
        let k = left.min(right);
        let (mut at_i, mut at_j) = (tail_i, tail_j);
        if left == k {
            at_i = vi[a];
            a += 1;
        }
        if right == k {
            at_j = vj[b];
            b += 1;
        }
        worst.compare(at_i, at_j, k as usize);
    }
    worst
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::DenseCost;
    use crate::problem::{Arc, ProblemParts};

    /// Two rows at eps * d = 1 and three columns; column 2 is explicit nowhere.
    fn problem() -> Problem {
        let cost = DenseCost::new(2, 3, vec![1.0; 6]).unwrap();
        Problem::new(ProblemParts::untied(1.0, cost, vec![Arc { i: 0, j: 1, d: 1.0 }])).unwrap()
    }

    fn matrix(
        values: [f64; 3],
        columns: [u32; 3],
        tail: [f64; 2],
        present: [bool; 3],
    ) -> SparseRows {
        SparseRows::new(
            vec![0, 2, 3],
            columns.to_vec(),
            values.to_vec(),
            tail.to_vec(),
            present.to_vec(),
        )
    }

    #[test]
    fn explicit_entries_tails_and_absent_columns_are_all_compared() {
        let all = [true; 3];
        let good =
            check_sparse(&problem(), &matrix([0.5, 0.25, 0.5], [0, 1, 0], [0.25, 0.25], all));
        assert!(good.is_strict() && good.worst_row_sum_error < 1e-15);
        assert!((good.cost - 2.0).abs() < 1e-15);
        // Explicit against explicit: 0.5 / 0.1 is beyond e.
        let bad = check_sparse(&problem(), &matrix([0.5, 0.25, 0.1], [0, 1, 0], [0.25, 0.45], all));
        assert!((bad.worst_log_excess - (5.0_f64.ln() - 1.0)).abs() < 1e-12);
        // Explicit against tail.
        let bad = check_sparse(&problem(), &matrix([0.5, 0.05, 0.5], [0, 1, 0], [0.45, 0.25], all));
        assert_eq!(bad.worst_entry, Some((1, 1)));
        // Tail against tail, in a column that is explicit in neither row.
        let bad = check_sparse(&problem(), &matrix([0.5, 0.3, 0.5], [0, 1, 0], [0.05, 0.25], all));
        assert!(!bad.is_strict());
        // An explicit entry in a column that is declared absent.
        let absent = [true, false, true];
        let bad =
            check_sparse(&problem(), &matrix([0.5, 0.25, 0.5], [0, 1, 0], [0.25, 0.25], absent));
        assert_eq!(bad.not_a_probability, Some((0, 1)));
    }

    #[test]
    fn row_sums_entries_and_order_are_checked() {
        let all = [true; 3];
        let short =
            check_sparse(&problem(), &matrix([0.5, 0.25, 0.5], [0, 1, 0], [0.25, 0.2], all));
        assert!((short.worst_row_sum_error - 0.1).abs() < 1e-12);
        assert_eq!(short.worst_row, 1);
        let unordered = matrix([0.25, 0.5, 0.5], [1, 0, 0], [0.25, 0.25], all);
        assert!(check_sparse(&problem(), &unordered).not_a_probability.is_some());
        let nan = matrix([f64::NAN, 0.25, 0.5], [0, 1, 0], [0.25, 0.25], all);
        assert!(!check_sparse(&problem(), &nan).is_strict());
        let zero = matrix([0.75, 0.0, 0.5], [0, 1, 0], [0.25, 0.25], all);
        assert_eq!(check_sparse(&problem(), &zero).worst_log_excess, f64::INFINITY);
    }
}
