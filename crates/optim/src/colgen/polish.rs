//! Row sums and links of the weights put right to the last bits.

use super::dense::{axpy, dot};
use super::master::{Kind, Master, largest};

/// Residuals up to this are left as they are: rounding of the sums themselves is not much smaller.
pub(super) const SETTLED: f64 = 1e-13;

/// Residuals that are nothing but rounding.
const EXACT: f64 = 2e-15;

/// Rounds of projection: each begins with weights that the one before has moved.
const MOST_ROUNDS: usize = 6;

/// Steps of conjugate gradients in one projection.
const MOST_STEPS: usize = 20;

/// Values of the row sums and of the links.
type Equations = (Vec<f64>, Vec<f64>);

fn inner(a: &Equations, b: &Equations) -> f64 {
    dot(&a.0, &b.0) + dot(&a.1, &b.1)
}

impl Master {
    /// Projects the weights onto the row sums in the metric of x^2, without artificials, until the
    /// residual no longer shrinks. Returns the residual left.
    pub fn polish(&mut self) -> f64 {
        let mut last = f64::INFINITY;
        let mut best = self.x.clone();
        for round in 1..=MOST_ROUNDS {
            let worst = self.worst_residual();
            if worst < last {
                best.clone_from(&self.x);
            }
            if worst >= 0.5 * last || worst <= EXACT || round == MOST_ROUNDS {
                last = last.min(worst);
                break;
            }
            last = worst;
            let change = self.projection();
            for (x, change) in self.x.iter_mut().zip(change) {
                // Clipped component by component: one step length for all would stall.
                *x = (*x + change).max(0.01 * *x);
            }
        }
        self.x = best;
        if last > SETTLED { self.settle() } else { last }
    }

    /// The smallest change in the metric of x^2 that meets the equations, by conjugate gradients. The Cholesky
    /// factor alone is not exact enough near a vertex, where x^2 spans twenty orders of magnitude; as a
    /// preconditioner it need not be.
    fn projection(&mut self) -> Vec<f64> {
        let scaling: Vec<f64> = self.x.iter().map(|x| x * x).collect();
        let links = self.prepare(&scaling, &vec![0.0; self.right_side.len()]);
        let mut residual = self.primal_residuals(false);
        let wanted = 1e-17 * self.right_side.len() as f64;
        let mut solved = self.eliminate(residual.0.clone(), &residual.1, &links);
        let mut towards = solved.clone();
        let mut slope = inner(&residual, &solved);
        let mut change = vec![0.0; self.x.len()];
        for _ in 0..MOST_STEPS {
            let along = self.along(&towards.0, &towards.1);
            let moved: Vec<f64> = scaling.iter().zip(&along).map(|(d, along)| d * along).collect();
            let curvature = dot(&moved, &along);
            let length = slope / curvature;
            if !length.is_finite() || slope <= 0.0 {
                break;
            }
            axpy(length, &moved, &mut change);
            let before = residual.clone();
            let carried = self.met_by(&moved);
            axpy(-length, &carried.0, &mut residual.0);
            axpy(-length, &carried.1, &mut residual.1);
            let worst = largest(&residual.0).max(largest(&residual.1));
            if worst <= wanted {
                break;
            }
            solved = self.eliminate(residual.0.clone(), &residual.1, &links);
            let next = inner(&residual, &solved);
            // After Polak and Ribiere: forgets what the rounding of the preconditioner has spoiled.
            let keep = ((next - inner(&before, &solved)) / slope).max(0.0);
            slope = next;
            for (towards, solved) in [(&mut towards.0, &solved.0), (&mut towards.1, &solved.1)] {
                towards.iter_mut().zip(solved).for_each(|(t, s)| *t = s + keep * *t);
            }
        }
        change
    }

    /// Largest residual of row sums and links without artificials.
    pub(super) fn worst_residual(&self) -> f64 {
        let (primal, link) = self.primal_residuals(false);
        largest(&primal).max(largest(&link))
    }

    /// What a change of the weights adds to the row sums and links.
    fn met_by(&self, change: &[f64]) -> Equations {
        let (mut rows, mut links) = (vec![0.0; self.right_side.len()], vec![0.0; self.links.len()]);
        for (column, &change) in self.columns.iter().zip(change) {
            column.add_to(change, &mut rows);
            if let Kind::Point { link, .. } = column.kind {
                links[link] += column.beta * change;
            }
        }
        for (met, link) in links.iter_mut().zip(&self.links) {
            if let Some(y) = link.y {
                *met -= change[y];
            }
        }
        (rows, links)
    }
}
