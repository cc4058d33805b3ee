//! Proving that no matrix exists, from the problem alone.
//!
//! Every entry lies between a floor and a ceiling: those of its bounds and ties, and what the arcs make of the floors and
//! ceilings of other rows. A floor above a ceiling, a row of ceilings that cannot sum up to 1, or a row of floors that
//! exceeds it, is a proof. It shares no code with the engines, which claim such things where numbers are merely too small for
//! them, and it looks at one column at a time: that rows contradict each other only all together takes multipliers, which
//! engines prove themselves ([`Infeasibility::RowsContradict`]).

use super::rounding::product_above;
use crate::error::Infeasibility;
use crate::problem::Problem;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Logarithms that differ by no more than this, relative to their size, may be equal.
const ROUNDING: f64 = 1e-10;

/// Row sums that differ by no more than this from 1 may be 1.
const SUM_ROUNDING: f64 = 5e-13;

/// Rounds in which a y and the limits of its entries tighten each other.
const ROUNDS: usize = 4;

/// A row, and why no matrix has it; `None` where this proves nothing.
pub(crate) fn proof(problem: &Problem) -> Option<(usize, Infeasibility)> {
    let ways = Ways::new(problem);
    let rows = problem.rows();
    let (mut least, mut most) = (vec![0.0; rows], vec![0.0; rows]);
    for column in 0..problem.columns() {
        let Limits { floor, ceiling } = Limits::of(problem, &ways, column);
        for row in 0..rows {
            let (low, high) = (floor[row], ceiling[row]);
            if is_above(low, high) {
                return Some((row, Infeasibility::BoundsContradict));
            }
            least[row] += low.exp();
            most[row] += high.exp();
        }
    }
    let too_large = |row: &usize| least[*row] > 1.0 + SUM_ROUNDING;
    let too_small = |row: &usize| most[*row] < 1.0 - SUM_ROUNDING;
    let overfull = (0..rows).find(too_large).map(|row| (row, Infeasibility::RowTooLarge));
    overfull.or((0..rows).find(too_small).map(|row| (row, Infeasibility::RowTooSmall)))
}

/// Whether one logarithm is above another for certain.
fn is_above(a: f64, b: f64) -> bool {
    if b == f64::NEG_INFINITY {
        return a > b;
    }
    a > b + ROUNDING * (1.0 + a.abs() + b.abs())
}

/// Logarithms of the least and the largest value of every entry of a column.
struct Limits {
    floor: Vec<f64>,
    ceiling: Vec<f64>,
}

impl Limits {
    fn of(problem: &Problem, ways: &Ways, column: usize) -> Self {
        let rows = problem.rows();
        let mut own = Self { floor: vec![f64::NEG_INFINITY; rows], ceiling: vec![0.0; rows] };
        for bound in problem.bounds().iter().filter(|bound| bound.column == column) {
            own.floor[bound.row] = bound.low.ln();
            own.ceiling[bound.row] = own.ceiling[bound.row].min(bound.high.ln());
        }
        let tied: Vec<(usize, f64)> =
            (0..rows).filter_map(|row| Some((row, problem.tie(row, column)?))).collect();
        if let Some(y) = problem.fixed_y() {
            for &(row, factor) in &tied {
                let value = (y[column] * factor).ln();
                (own.floor[row], own.ceiling[row]) = (value, value);
            }
            return own.spread(ways);
        }
        let mut y = (f64::NEG_INFINITY, f64::INFINITY);
        if contradict(&tied, ways, rows) {
            y.1 = f64::NEG_INFINITY;
        }
        for _ in 0..ROUNDS {
            for &(row, factor) in &tied {
                own.floor[row] = own.floor[row].max(y.0 + factor.ln());
                own.ceiling[row] = own.ceiling[row].min(y.1 + factor.ln());
            }
            own = own.spread(ways);
            let before = y;
            for &(row, factor) in &tied {
                y.0 = y.0.max(own.floor[row] - factor.ln());
                y.1 = y.1.min(own.ceiling[row] - factor.ln());
            }
            if y == before {
                break;
            }
        }
        own
    }

    /// What the arcs make of them.
    fn spread(self, ways: &Ways) -> Self {
        let ceiling = ways.least(self.ceiling);
        // z_i >= z_j / a: the ceilings of 1 / z.
        let floor = ways.least(self.floor.into_iter().map(|floor| -floor).collect());
        Self { floor: floor.into_iter().map(|floor| -floor).collect(), ceiling }
    }
}

/// Whether the ties of a column leave only y = 0, because the arcs allow one of them less than its factor.
fn contradict(tied: &[(usize, f64)], ways: &Ways, rows: usize) -> bool {
    let mut per_y = vec![f64::INFINITY; rows];
    tied.iter().for_each(|&(row, factor)| per_y[row] = factor.ln());
    let per_y = ways.least(per_y);
    tied.iter().any(|&(row, factor)| is_above(factor.ln(), per_y[row]))
}

/// The arcs, as logarithms rounded up.
struct Ways {
    beside: Vec<Vec<(usize, f64)>>,
}

impl Ways {
    fn new(problem: &Problem) -> Self {
        let mut beside = vec![Vec::new(); problem.rows()];
        for arc in problem.arcs() {
            let log = product_above(problem.epsilon(), arc.d);
            beside[arc.i].push((arc.j, log));
            beside[arc.j].push((arc.i, log));
        }
        Self { beside }
    }

    /// For every row the least of its own number and those of all others plus the way there.
    fn least(&self, mut numbers: Vec<f64>) -> Vec<f64> {
        let entry = |number: f64, row: usize| Reverse((ordered(number), row));
        let mut heap: BinaryHeap<_> =
            numbers.iter().enumerate().map(|(row, number)| entry(*number, row)).collect();
        while let Some(Reverse((key, row))) = heap.pop() {
            let number = numbers[row];
            if key > ordered(number) {
                continue;
            }
            for &(other, log) in &self.beside[row] {
                // Zero is zero however far away: minus infinity plus infinity would be nothing.
                let next = if number == f64::NEG_INFINITY { number } else { number + log };
                if next < numbers[other] {
                    numbers[other] = next;
                    heap.push(entry(next, other));
                }
            }
        }
        numbers
    }
}

/// Whole numbers in the order of the numbers they stand for.
fn ordered(number: f64) -> i64 {
    let bits = number.to_bits().cast_signed();
    if bits < 0 { bits ^ i64::MAX } else { bits }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::DenseCost;
    use crate::problem::{Arc, EntryBound, ProblemParts, Ties};

    /// Two rows at eps d = 1 and two columns.
    fn parts() -> ProblemParts {
        let cost = DenseCost::new(2, 2, vec![0.0, 1.0, 1.0, 0.0]).unwrap();
        ProblemParts::untied(1.0, cost, vec![Arc { i: 0, j: 1, d: 1.0 }])
    }

    fn proven(parts: ProblemParts) -> Option<(usize, Infeasibility)> {
        proof(&Problem::new(parts).unwrap())
    }

    fn bound(row: usize, column: usize, low: f64, high: f64) -> EntryBound {
        EntryBound { row, column, low, high }
    }

    #[test]
    fn what_has_a_solution_is_not_proven_to_have_none() {
        assert_eq!(proven(parts()), None);
        // The smallest number there is beside the largest, and an arc that only just allows it.
        let arcs = vec![Arc { i: 0, j: 1, d: 744.5 }];
        let bounds = vec![bound(0, 0, 1.0, 1.0), bound(1, 0, 0.0, 5e-324)];
        assert_eq!(proven(ProblemParts { arcs, bounds, ..parts() }), None);
    }

    #[test]
    fn floors_and_ceilings_reach_across_arcs() {
        let apart = |high| vec![bound(0, 0, 0.9, 1.0), bound(1, 0, 0.0, high)];
        assert_eq!(proven(ProblemParts { bounds: apart(0.34), ..parts() }), None);
        let found = proven(ProblemParts { bounds: apart(0.33), ..parts() });
        assert!(matches!(found, Some((_, Infeasibility::BoundsContradict))));
        let vanishes = vec![bound(0, 0, 0.0, 0.0), bound(1, 1, 0.0, 0.5)];
        let found = proven(ProblemParts { bounds: vanishes, ..parts() });
        assert_eq!(found, Some((1, Infeasibility::RowTooSmall)));
    }

    #[test]
    fn ties_that_contradict_each_other_leave_nothing() {
        let tied = |other| Some(Ties::new(2, 2, &[Some(1.0), None, Some(other), None]).unwrap());
        let bounds = vec![bound(0, 1, 0.0, 0.5)];
        let found = proven(ProblemParts { ties: tied(0.3), bounds, ..parts() });
        assert_eq!(found, Some((0, Infeasibility::RowTooSmall)));
        let bounds = vec![bound(0, 1, 0.0, 0.5)];
        assert_eq!(proven(ProblemParts { ties: tied(0.4), bounds, ..parts() }), None);
    }

    #[test]
    fn a_fixed_y_may_overfill_a_row() {
        let ties = Some(Ties::new(2, 2, &[Some(1.0), Some(0.5), None, None]).unwrap());
        let found = proven(ProblemParts { ties, fixed_y: Some(vec![0.6, 0.9]), ..parts() });
        assert_eq!(found, Some((0, Infeasibility::RowTooLarge)));
    }
}
