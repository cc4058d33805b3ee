//! Row sums and links put right where projecting (`polish`) does not help.
//!
//! Near a degenerate vertex the large weights span only part of the equations and the rest hangs on
//! weights of 1e-10 that would have to fall below zero. Then the equations are
//! eliminated as they are. Every pivot is the entry that moves most in proportion to its weight, so
//! the multipliers stay below 1, no column loses its own relative precision, and what is missing is
//! taken by the weights that can best afford it. Equations that depend on others drop out.

use super::master::{Kind, Master};
use super::polish::SETTLED;
use super::tuning::TUNING;

/// A column of which elimination has left less than this share depends on the ones before.
const DEPENDENT: f64 = 1e-9;

impl Master {
    /// Moves as few weights as there are independent equations, so that all equations hold up to
    /// rounding. Returns the residual left.
    pub(super) fn settle(&mut self) -> f64 {
        let equations = self.right_side.len() + self.links.len();
        let mut last = self.worst_residual();
        if equations.saturating_pow(2).saturating_mul(self.columns.len()) > TUNING.most_elimination
        {
            return last;
        }
        let mut best = self.x.clone();
        for _ in 0..TUNING.elimination_rounds {
            let change = self.basic_correction();
            for (x, change) in self.x.iter_mut().zip(change) {
                *x = (*x + change).max(0.0);
            }
            let worst = self.worst_residual();
            if worst < last {
                last = worst;
                best.clone_from(&self.x);
            }
            if worst <= SETTLED || !worst.is_finite() {
                break;
            }
        }
        self.x = best;
        last
    }

    /// A change of the weights that meets the equations, zero outside a basis.
    fn basic_correction(&self) -> Vec<f64> {
        let left = self.primal_residuals(false);
        let mut residual: Vec<f64> = left.rows.into_iter().chain(left.links).collect();
        let mut columns = self.dense_columns();
        // Every equation in units of its largest term.
        for (i, residual) in residual.iter_mut().enumerate() {
            let terms = columns.iter().zip(&self.x).map(|(column, x)| (column[i] * x).abs());
            let unit = terms.fold(f64::MIN_POSITIVE, f64::max);
            *residual /= unit;
            columns.iter_mut().for_each(|column| column[i] /= unit);
        }
        let basis = eliminate(&mut columns, &self.x, &mut residual);
        let mut change = vec![0.0; self.x.len()];
        for &(i, j) in basis.iter().rev() {
            let step = residual[i] / columns[j][i];
            change[j] = step;
            for &(above, _) in &basis {
                residual[above] -= step * columns[j][above];
            }
        }
        change
    }

    /// Every column over row sums and links.
    fn dense_columns(&self) -> Vec<Vec<f64>> {
        let rows = self.right_side.len();
        let mut dense: Vec<Vec<f64>> = (self.columns.iter())
            .map(|column| {
                let mut values = vec![0.0; rows + self.links.len()];
                column.add_to(1.0, &mut values[..rows]);
                if let Kind::Point { link, .. } = column.kind {
                    values[rows + link] = column.beta;
                }
                values
            })
            .collect();
        for (index, link) in self.links.iter().enumerate() {
            if let Some(y) = link.y {
                dense[y][rows + index] = -1.0;
            }
        }
        dense
    }
}

/// Gaussian elimination; returns the pivots (equation, column) in order. A basic column keeps its
/// values as they were when it was chosen, zero in the equations eliminated with it.
fn eliminate(columns: &mut [Vec<f64>], x: &[f64], residual: &mut [f64]) -> Vec<(usize, usize)> {
    let largest_open = |column: &[f64], open: &[bool]| {
        let entries = column.iter().zip(open).enumerate().filter(|(_, (_, open))| **open);
        entries
            .fold((0.0, 0), |best, (i, (v, _))| if v.abs() > best.0 { (v.abs(), i) } else { best })
    };
    let mut open = vec![true; residual.len()];
    let mut left: Vec<usize> = (0..columns.len()).collect();
    let original: Vec<f64> = columns.iter().map(|column| largest_open(column, &open).0).collect();
    let mut basis: Vec<(usize, usize)> = Vec::new();
    loop {
        let mut best: Option<(f64, usize, usize)> = None;
        left.retain(|&j| {
            let (size, i) = largest_open(&columns[j], &open);
            let independent = size > DEPENDENT * original[j];
            if independent && best.is_none_or(|(score, ..)| size * x[j] > score) {
                best = Some((size * x[j], i, j));
            }
            independent
        });
        let Some((_, pivot, chosen)) = best else { return basis };
        left.retain(|&j| j != chosen);
        open[pivot] = false;
        basis.push((pivot, chosen));
        let own = columns[chosen][pivot];
        let entries = columns[chosen].iter_mut().zip(&open).enumerate();
        let factors: Vec<(usize, f64)> = entries
            .filter(|(_, (value, open))| **open && **value != 0.0)
            .map(|(i, (value, _))| (i, std::mem::take(value) / own))
            .collect();
        for &(i, factor) in &factors {
            residual[i] -= factor * residual[pivot];
        }
        for &j in &left {
            let column = &mut columns[j];
            let along = column[pivot];
            if along != 0.0 {
                factors.iter().for_each(|&(i, factor)| column[i] -= factor * along);
            }
        }
    }
}
