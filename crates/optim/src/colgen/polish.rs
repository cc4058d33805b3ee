//! Row sums and links of the weights put right to the last bits.

use super::dense::{axpy, dot};
use super::master::Master;
use super::sweep::Equations;
use super::tuning::TUNING;

/// Residuals up to this are left as they are: rounding of the sums themselves is not much smaller.
pub(super) const SETTLED: f64 = 1e-13;

/// Residuals that are nothing but rounding.
const EXACT: f64 = 2e-15;

fn inner(a: &Equations, b: &Equations) -> f64 {
    dot(&a.rows, &b.rows) + dot(&a.links, &b.links)
}

impl Master {
    /// Projects the weights onto the row sums in the metric of x^2, without artificials, until the
    /// residual no longer shrinks, or until nobody wants it any more. Returns the residual left.
    pub fn polish(&mut self, is_aborted: impl Fn() -> bool) -> f64 {
        let (mut least, mut idle) = (f64::INFINITY, 0);
        let mut best = self.x.clone();
        for round in 1..=TUNING.polish_rounds {
            let worst = self.worst_residual();
            // Rounding itself is left in peace: where hardly more than that is missing, one idle round is enough.
            idle = if worst < 0.5 * least { 0 } else { idle + 1 };
            if worst < least {
                least = worst;
                best.clone_from(&self.x);
            }
            let is_idle = idle >= TUNING.idle_polish_rounds || (idle > 0 && least <= SETTLED);
            if is_idle || worst <= EXACT || round == TUNING.polish_rounds || is_aborted() {
                break;
            }
            let change = self.projection();
            for (x, change) in self.x.iter_mut().zip(change) {
                // Clipped component by component: one step length for all would stall.
                *x = (*x + change).max(0.01 * *x);
            }
        }
        self.x = best;
        if least > SETTLED && !is_aborted() { self.settle() } else { least }
    }

    /// The smallest change in the metric of x^2 that meets the equations, by conjugate gradients. The Cholesky
    /// factor alone is not exact enough near a vertex, where x^2 spans twenty orders of magnitude; as a
    /// preconditioner it need not be.
    fn projection(&mut self) -> Vec<f64> {
        let scaling: Vec<f64> = self.x.iter().map(|x| x * x).collect();
        let links = self.prepare(&scaling, &vec![0.0; self.right_side.len()]);
        let mut residual = self.primal_residuals(false);
        let wanted = 1e-17 * self.right_side.len() as f64;
        let mut solved = self.eliminate(&residual, &links);
        let mut towards = solved.clone();
        let mut slope = inner(&residual, &solved);
        let mut change = vec![0.0; self.x.len()];
        for _ in 0..TUNING.polish_steps {
            let duals = Some(towards.as_duals());
            let (along, [carried]) = self.sweep(duals, |j, along| [scaling[j] * along]);
            let moved: Vec<f64> = scaling.iter().zip(&along).map(|(d, along)| d * along).collect();
            let curvature = dot(&moved, &along);
            let length = slope / curvature;
            if !length.is_finite() || slope <= 0.0 {
                break;
            }
            axpy(length, &moved, &mut change);
            let before = residual.clone();
            residual.add(-length, &carried);
            if residual.largest() <= wanted {
                break;
            }
            solved = self.eliminate(&residual, &links);
            let next = inner(&residual, &solved);
            // After Polak and Ribiere: forgets what the rounding of the preconditioner has spoiled.
            let keep = ((next - inner(&before, &solved)) / slope).max(0.0);
            slope = next;
            let parts = [(&mut towards.rows, &solved.rows), (&mut towards.links, &solved.links)];
            for (towards, solved) in parts {
                towards.iter_mut().zip(solved).for_each(|(t, s)| *t = s + keep * *t);
            }
        }
        change
    }

    /// Largest residual of row sums and links without artificials.
    pub(super) fn worst_residual(&self) -> f64 {
        self.measured_residuals(false).largest()
    }
}
