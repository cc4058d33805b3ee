//! The independent feasibility checker. It shares no code with the solvers.
//!
//! Every comparison is rounded against ourselves and there is no tolerance: a report that says
//! `worst_log_excess <= 0` means that, in real arithmetic, `z_ik <= exp(eps d_ij) z_jk` holds for the
//! very `f64` numbers given. Row sums of `f64` numbers cannot all be exactly 1, so for them the
//! report states the error (an upper bound of it) and the caller decides.

use crate::matrix::Matrix;
use crate::problem::{Arc, Problem};

/// What the checker found. `worst_*` are upper bounds of the true values.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Worst `ln(z_ik / z_jk) - eps d_ij` over all arcs, both ways, and all columns; infinite where
    /// a zero stands beside a non-zero; `-infinity` when there are no arcs.
    pub worst_log_excess: f64,
    /// Row i and column k of the worst excess.
    pub worst_entry: Option<(usize, usize)>,
    /// Worst `|sum_k z_ik - 1|`.
    pub worst_row_sum_error: f64,
    /// The row of the worst sum.
    pub worst_row: usize,
    /// First entry that is NaN, infinite, negative or above 1.
    pub not_a_probability: Option<(usize, usize)>,
    /// First tied entry that is not exactly `y_k * f_ik`, computed in `f64`.
    pub broken_tie: Option<(usize, usize)>,
    /// First bound (its position) that does not hold exactly.
    pub broken_bound: Option<usize>,
    /// First column whose y is not the fixed y, or not a finite number >= 0.
    pub broken_y: Option<usize>,
    /// The cost of the matrix.
    pub cost: f64,
}

impl Report {
    /// A report with nothing found yet, unless a matrix of this shape cannot belong to the problem:
    /// then it says so, as `not_a_probability`, and there is nothing more to look at.
    pub(crate) fn begin(problem: &Problem, rows: usize, columns: usize) -> Self {
        let report = Self {
            worst_log_excess: f64::NEG_INFINITY,
            worst_entry: None,
            worst_row_sum_error: 0.0,
            worst_row: 0,
            not_a_probability: None,
            broken_tie: None,
            broken_bound: None,
            broken_y: None,
            cost: 0.0,
        };
        if rows == problem.rows() && columns == problem.columns() {
            return report;
        }
        Self {
            not_a_probability: Some((rows.min(problem.rows()), columns.min(problem.columns()))),
            worst_log_excess: f64::INFINITY,
            worst_row_sum_error: f64::INFINITY,
            ..report
        }
    }

    /// Whether every constraint but the row sums holds exactly.
    pub fn is_strict(&self) -> bool {
        self.worst_log_excess <= 0.0
            && self.not_a_probability.is_none()
            && self.broken_tie.is_none()
            && self.broken_bound.is_none()
            && self.broken_y.is_none()
    }
}

/// Checks a matrix and its y against a problem. The shapes must agree; where they do not, the
/// report says `not_a_probability` at the first entry that is missing.
pub fn check(problem: &Problem, z: &Matrix, y: &[f64]) -> Report {
    let (rows, columns) = (problem.rows(), problem.columns());
    let mut report = Report::begin(problem, z.rows(), z.columns());
    if report.not_a_probability.is_some() {
        return report;
    }
    check_y(problem, y, &mut report);

    // Arcs by their first row, so that rows made on demand are made once per arc at most.
    let mut by_row: Vec<Vec<&Arc>> = vec![Vec::new(); rows];
    for arc in problem.arcs() {
        by_row[arc.i].push(arc);
    }
    let mut bounds_by_row: Vec<Vec<usize>> = vec![Vec::new(); rows];
    for (position, bound) in problem.bounds().iter().enumerate() {
        bounds_by_row[bound.row].push(position);
    }
    let (mut here, mut there) = (vec![0.0; columns], vec![0.0; columns]);
    let mut costs = vec![0.0; columns];
    for i in 0..rows {
        z.fill_row(i, &mut here);
        problem.cost().fill_row(i, &mut costs);
        check_row(problem, y, i, &here, &mut report);
        report.cost += here.iter().zip(&costs).map(|(z, c)| z * c).sum::<f64>();
        for &position in &bounds_by_row[i] {
            let bound = &problem.bounds()[position];
            let value = here[bound.column];
            if !(bound.low <= value && value <= bound.high) {
                report.broken_bound.get_or_insert(position);
            }
        }
        for arc in &by_row[i] {
            z.fill_row(arc.j, &mut there);
            let limit = ArcLimit::new(problem.epsilon(), arc.d);
            let mut harmless = limit.no_worse_than(report.worst_log_excess);
            for k in 0..columns {
                let (a, b) = (here[k], there[k]);
                if harmless.has(a.max(b), a.min(b)) {
                    continue; // holds, or something at least as bad is already recorded
                }
                let excess = limit.log_excess(a, b);
                if excess > report.worst_log_excess || excess.is_nan() {
                    report.worst_log_excess = if excess.is_nan() { f64::INFINITY } else { excess };
                    report.worst_entry = Some((if a >= b { arc.i } else { arc.j }, k));
                    harmless = limit.no_worse_than(report.worst_log_excess);
                }
            }
        }
    }
    report
}

fn check_y(problem: &Problem, y: &[f64], report: &mut Report) {
    for k in 0..problem.columns() {
        let valid = y.get(k).is_some_and(|&value| {
            value.is_finite() && value >= 0.0 && problem.fixed_y().is_none_or(|y| y[k] == value)
        });
        // A problem without ties has no use for y; an empty one is then as good as any.
        if !valid && (problem.has_ties() || !y.is_empty()) {
            report.broken_y.get_or_insert(k);
        }
    }
}

fn check_row(problem: &Problem, y: &[f64], i: usize, row: &[f64], report: &mut Report) {
    for (k, &value) in row.iter().enumerate() {
        if !(0.0..=1.0).contains(&value) {
            report.not_a_probability.get_or_insert((i, k));
        }
        if let Some(factor) = problem.tie(i, k)
            && y.get(k).is_none_or(|y| value != y * factor)
        {
            report.broken_tie.get_or_insert((i, k));
        }
    }
    let error = row_sum_error(row);
    if error > report.worst_row_sum_error || error.is_nan() {
        report.worst_row_sum_error = if error.is_nan() { f64::INFINITY } else { error };
        report.worst_row = i;
    }
}

/// An upper bound of `|sum - 1|`: the sum is exact up to one rounding (Neumaier), which is added.
fn row_sum_error(row: &[f64]) -> f64 {
    let (mut sum, mut low) = (-1.0_f64, 0.0_f64);
    for &value in row {
        let next = sum + value;
        low += if sum.abs() >= value.abs() { (sum - next) + value } else { (value - next) + sum };
        sum = next;
    }
    let error = (sum + low).abs();
    // Rounding errors of the corrections themselves: at most n * u^2 relative to the total mass.
    error.next_up() + row.len() as f64 * f64::EPSILON * f64::EPSILON * 4.0
}

/// One arc's limit on the ratio of two probabilities, rounded down.
struct ArcLimit {
    /// Lower bound of eps * d.
    log_low: f64,
    /// Lower bound of exp(eps * d); the largest finite number where that overflows.
    factor_low: f64,
}

impl ArcLimit {
    fn new(epsilon: f64, distance: f64) -> Self {
        let product = epsilon * distance;
        // The exact product is at least this: fused multiply-add gives the rounding error itself.
        let log_low = if f64::mul_add(epsilon, distance, -product) < 0.0 {
            product.next_down()
        } else {
            product
        };
        // The library's exp is within one unit in the last place; two are taken off. exp(0) is 1.
        let factor_low =
            if log_low > 0.0 { log_low.exp().next_down().next_down().max(1.0) } else { 1.0 };
        Self { log_low: log_low.max(0.0), factor_low: factor_low.min(f64::MAX) }
    }

    /// A lower bound of `exp(eps d) * z`.
    fn factor_times(&self, z: f64) -> f64 {
        if self.factor_low == 1.0 || z == 0.0 {
            return z;
        }
        (self.factor_low * z).next_down().max(z)
    }

    /// The pairs whose excess is at most `worst`.
    fn no_worse_than(&self, worst: f64) -> Harmless {
        // Rounded down: one unit for the sum, one for the library's exp, and some to spare.
        let log = (worst + self.log_low).next_down();
        Harmless { ratio: log.exp() * (1.0 - 8.0 * f64::EPSILON) }
    }

    /// An upper bound of `|ln(a / b)| - eps d`; at most zero exactly when the limit is proven.
    fn log_excess(&self, a: f64, b: f64) -> f64 {
        let (large, small) = (a.max(b), a.min(b));
        if !(small >= 0.0 && large.is_finite()) {
            return f64::INFINITY;
        }
        if large == 0.0 {
            return f64::NEG_INFINITY; // the whole pair is zero: nothing to compare
        }
        if small == 0.0 {
            return f64::INFINITY;
        }
        let log_high = if large == small { 0.0 } else { log_ratio_high(large, small) };
        let excess = (log_high - self.log_low).next_up();
        if large <= self.factor_times(small) {
            // Proven by multiplication; the logarithm's own rounding must not deny it.
            return if large == small && self.log_low == 0.0 { 0.0 } else { excess.min(0.0) };
        }
        // Not proven: even where the logarithms cannot tell, it counts as a violation.
        excess.max(f64::MIN_POSITIVE)
    }
}

/// Pairs that need no logarithm, because something at least as bad is known: nearly all of them.
struct Harmless {
    /// Lower bound of the largest ratio that is no worse.
    ratio: f64,
}

impl Harmless {
    /// Whether a pair is one of them for certain. Below the normal numbers products are too inexact to say.
    fn has(&self, large: f64, small: f64) -> bool {
        small >= f64::MIN_POSITIVE && large < f64::INFINITY && large <= self.ratio * small
    }
}

/// An upper bound of `ln(large / small)` for `large > small > 0`.
fn log_ratio_high(large: f64, small: f64) -> f64 {
    let ratio = (large / small).next_up();
    if ratio.is_finite() {
        return ratio.ln().next_up().next_up();
    }
    // The quotient overflows: the logarithms apart, each within one unit in the last place.
    let (log_large, log_small) = (large.ln(), small.ln());
    let slack = 4.0 * f64::EPSILON * (log_large.abs() + log_small.abs());
    log_large - log_small + slack
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::DenseCost;
    use crate::matrix::DenseMatrix;
    use crate::problem::ProblemParts;

    fn two_rows(epsilon: f64, d: f64) -> Problem {
        let cost = DenseCost::new(2, 2, vec![0.0, 1.0, 1.0, 0.0]).unwrap();
        Problem::new(ProblemParts::untied(epsilon, cost, vec![Arc { i: 0, j: 1, d }])).unwrap()
    }

    fn dense(values: [f64; 4]) -> Matrix {
        Matrix::Dense(DenseMatrix::from_values(2, 2, values.to_vec()).unwrap())
    }

    #[test]
    fn a_ratio_within_the_limit_is_strict_and_one_beyond_is_not() {
        let problem = two_rows(1.0, 1.0);
        let inside = check(&problem, &dense([0.7, 0.3, 0.3, 0.7]), &[]);
        assert!(inside.is_strict());
        assert!((inside.worst_log_excess - ((7.0_f64 / 3.0).ln() - 1.0)).abs() < 1e-14);
        let outside = check(&problem, &dense([0.75, 0.25, 0.25, 0.75]), &[]);
        assert!(!outside.is_strict());
        assert!((outside.worst_log_excess - (3.0_f64.ln() - 1.0)).abs() < 1e-14);
    }

    #[test]
    fn zero_beside_non_zero_is_infinitely_bad_even_at_the_smallest_number() {
        let problem = two_rows(1.0, 700.0);
        let report = check(&problem, &dense([1.0, 0.0, 1.0 - 1e-16, 5e-324]), &[]);
        assert_eq!(report.worst_log_excess, f64::INFINITY);
        assert_eq!(report.worst_entry, Some((1, 1)));
        assert!(check(&problem, &dense([1.0, 0.0, 1.0, 0.0]), &[]).is_strict());
    }

    #[test]
    fn rows_at_distance_zero_must_be_equal_to_the_last_bit() {
        let problem = two_rows(1.0, 0.0);
        assert!(check(&problem, &dense([0.5, 0.5, 0.5, 0.5]), &[]).is_strict());
        let off_by_one_bit = check(&problem, &dense([0.5, 0.5, 0.5_f64.next_up(), 0.5]), &[]);
        assert!(!off_by_one_bit.is_strict());
    }

    #[test]
    fn a_ratio_one_bit_beyond_the_exponential_is_caught() {
        let problem = two_rows(1.0, 2.0);
        let small = 0.1;
        let large = small * 2.0_f64.exp();
        let report = check(&problem, &dense([large.next_up(), 0.2, small, 0.2]), &[]);
        assert!(report.worst_log_excess > 0.0);
        let report = check(&problem, &dense([large * (1.0 - 2e-15), 0.2, small, 0.2]), &[]);
        assert!(report.worst_log_excess <= 0.0);
    }

    #[test]
    fn pairs_passed_over_are_no_worse_than_what_is_recorded() {
        for distance in [1e-3, 0.3, 5.0] {
            let limit = ArcLimit::new(1.7, distance);
            for worst in [f64::NEG_INFINITY, -2.0, -1e-3, -1e-12, 0.0, 0.5, f64::INFINITY] {
                let harmless = limit.no_worse_than(worst);
                let edge = (worst + limit.log_low).exp();
                for small in [1e-300, 0.1, 0.7] {
                    for step in -60..=20 {
                        let large = small * edge * (1.0 + f64::from(step) * f64::EPSILON);
                        if large < small || large.is_infinite() || (-40..=-4).contains(&step) {
                            continue;
                        }
                        // Where rounding might decide nothing is passed over.
                        assert_eq!(harmless.has(large, small), step < -40);
                    }
                }
            }
            assert!(!limit.no_worse_than(f64::INFINITY).has(f64::INFINITY, f64::INFINITY));
            assert!(!limit.no_worse_than(0.0).has(1e-323, 5e-324));
        }
    }

    #[test]
    fn row_sums_are_reported_with_their_error() {
        let report = check(&two_rows(1.0, 1.0), &dense([0.5, 0.5, 0.5, 0.5 + 1e-9]), &[]);
        assert!(report.worst_row_sum_error > 0.999e-9 && report.worst_row_sum_error < 1.1e-9);
        assert_eq!(report.worst_row, 1);
        let negative = check(&two_rows(1.0, 1.0), &dense([1.5, -0.5, 0.5, 0.5]), &[]);
        assert_eq!(negative.not_a_probability, Some((0, 0)));
    }
}
