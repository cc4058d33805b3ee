//! Whether a matrix is feasible, constraint by constraint. A report that says
//! `worst_log_excess <= 0` means that, in real arithmetic, `z_ik <= exp(eps d_ij) z_jk` holds for the
//! very `f64` numbers given. Row sums of `f64` numbers cannot all be exactly 1, so for them the
//! report states the error (an upper bound of it) and the caller decides.

use super::arc_limit::{ArcLimit, Worst};
use super::rounding::RowSum;
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
    pub(super) fn begin(problem: &Problem, rows: usize, columns: usize) -> Self {
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

    pub(super) fn add_row_sum(&mut self, row: usize, sum: &RowSum) {
        let error = sum.error_above();
        if error > self.worst_row_sum_error {
            (self.worst_row_sum_error, self.worst_row) = (error, row);
        }
    }

    pub(super) fn add_arc(&mut self, arc: &Arc, worst: &Worst) {
        if let Some((k, first_is_larger)) = worst.found
            && worst.log_excess > self.worst_log_excess
        {
            self.worst_log_excess = worst.log_excess;
            self.worst_entry = Some((if first_is_larger { arc.i } else { arc.j }, k));
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
            let mut worst = Worst::new(limit, report.worst_log_excess);
            here.iter().zip(&there).enumerate().for_each(|(k, (a, b))| worst.compare(*a, *b, k));
            report.add_arc(arc, &worst);
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
    report.add_row_sum(i, &RowSum::of(row));
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
    fn row_sums_are_reported_with_their_error() {
        let report = check(&two_rows(1.0, 1.0), &dense([0.5, 0.5, 0.5, 0.5 + 1e-9]), &[]);
        assert!(report.worst_row_sum_error > 0.999e-9 && report.worst_row_sum_error < 1.1e-9);
        assert_eq!(report.worst_row, 1);
        let negative = check(&two_rows(1.0, 1.0), &dense([1.5, -0.5, 0.5, 0.5]), &[]);
        assert_eq!(negative.not_a_probability, Some((0, 0)));
    }
}
