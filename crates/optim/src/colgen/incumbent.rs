//! The incumbent: the best strict matrix so far, never dearer than before, and on maps of some size there before the first iteration.
//!
//! The iterate that prices columns is not fit to be handed out: artificial columns box its duals and take part in its row sums. So from
//! time to time the same rays, and the columns of the incumbent, are mixed once more from nothing, in a box so wide that artificials do not pay; a few interior
//! steps bring all row sums but a handful to one, and `normalise` does the rest.

use super::Run;
use super::closed_form::ClosedForm;
use super::dense::{axpy, dot};
use super::normalise::normalise;
use super::repair;
use super::tuning::TUNING;
use crate::certificate::check;
use crate::cone::Block;
use crate::error::Error;
use crate::matrix::{DenseMatrix, Matrix};

impl Run<'_> {
    /// Whether rows are coupled by arcs and row sums alone, so that rows can be normalised.
    pub(super) fn is_plain(&self) -> bool {
        !self.problem.has_ties() && self.problem.bounds().is_empty()
    }

    /// Takes a matrix with row sums of one if it is strict and better than what there is.
    pub(super) fn offer(&mut self, mut z: DenseMatrix, y: Vec<f64>) -> Result<(), Error> {
        if self.is_plain() {
            repair::mix_uniform(&mut z);
        }
        repair::close(self.problem, &mut z);
        let z = Matrix::Dense(z);
        let report = check(self.problem, &z, &y);
        self.incumbent.offer(z, y, report, self.lower_bound)
    }

    /// Mixes the rays there are into a matrix. The iterate itself is left as it was.
    pub(super) fn improve_incumbent(&mut self) {
        let begun = self.stop.seconds();
        let generated = self.master.columns.len();
        let master = &self.master;
        let iterate = (
            (master.x.clone(), master.s.clone(), master.mu.clone()),
            (master.short.clone(), master.over.clone(), master.penalty.clone()),
        );
        let scale = self.scale();
        self.master.penalty =
            self.unit.iter().map(|unit| TUNING.wide_box * unit.max(scale)).collect();
        self.begin_with_incumbent();
        self.mix();
        if !self.stop.aborted() {
            let (mut z, y) = self.matrix();
            if normalise(self.problem, &mut z, self.settings.threads != 1) {
                // What does not hold is not taken.
                let _ = self.offer(z, y);
            }
        }
        let master = &mut self.master;
        ((master.x, master.s, master.mu), (master.short, master.over, master.penalty)) = iterate;
        master.columns.truncate(generated);
        master.x.truncate(generated);
        master.s.truncate(generated);
        self.attempt_seconds = self.stop.seconds() - begun;
        self.spent += self.attempt_seconds;
    }

    /// Interior steps until little is open and row sums are nearly one.
    fn mix(&mut self) {
        let open = (self.best_estimate - self.lower_bound).min(self.lower_bound);
        let least = self.settings.gap * self.lower_bound;
        let target = TUNING.left_open * open.max(least);
        let is_small = self.problem.rows() < TUNING.many_rows;
        let steps = if is_small { TUNING.mixing_steps } else { TUNING.mixing_steps_of_many };
        for _ in 0..steps {
            let left = self.master.step(0.8 * target);
            let is_met = left <= TUNING.nearly_one && self.master.complementarity() <= target;
            if is_met || self.stop.aborted() {
                break;
            }
        }
    }

    /// Begins with most of the incumbent, whose columns join, and a little of every ray.
    fn begin_with_incumbent(&mut self) {
        let (generated, scale) = (self.master.columns.len(), self.scale());
        let weights = self.push_incumbent();
        let master = &mut self.master;
        master.mu.clone_from(&self.centre);
        master.start(0.1 * scale);
        if !weights.is_empty() {
            master.x.iter_mut().for_each(|x| *x *= 1.0 - TUNING.kept_share);
            for (x, weight) in master.x[generated..].iter_mut().zip(weights) {
                *x = TUNING.kept_share * weight;
            }
            master.short.x.fill(TUNING.left_short);
            master.over.x.fill(TUNING.left_short);
        }
    }

    /// Adds the columns of the incumbent, which meet every row sum: mixed with them, no row is left short for want of a ray. Returns their weights.
    fn push_incumbent(&mut self) -> Vec<f64> {
        let Some((z, ..)) = &self.incumbent.matrix else { return Vec::new() };
        let ray = |(index, block): (usize, &Block)| -> (usize, Vec<f64>, f64) {
            let ray: Vec<f64> =
                block.rows.iter().map(|&row| z.at(row as usize, block.column)).collect();
            let weight = ray.iter().fold(0.0, |most: f64, value| most.max(*value));
            (index, ray, weight)
        };
        let mut rays: Vec<_> = self.blocks.blocks.iter().enumerate().map(ray).collect();
        rays.retain(|(.., weight)| *weight > 0.0);
        for (index, ray, weight) in &rays {
            let column = self.column(*index, ray);
            self.master.push(column, *weight, 1.0);
        }
        rays.into_iter().map(|(.., weight)| weight).collect()
    }

    /// What can be had without any optimiser: a mixture of exponential kernels, one around every row, each reported where it costs
    /// least, with weights that bring all row sums near one.
    ///
    /// The weights are found by expectation maximisation (`E x = 1` after Richardson and Lucy), which keeps them positive where the closed form
    /// does not. On 400 Rome places at eps 1 the matrix costs 15 % more than the optimum, the exponential mechanism along the arcs 67 %. Normalising
    /// takes most of the time, some seconds at 2,500 places with 22 arcs each.
    pub(super) fn mix_kernels(&mut self, closed: &ClosedForm) {
        let rows = self.problem.rows();
        let kernels = &closed.rays;
        if kernels.len() < rows || kernels.iter().any(|kernel| kernel.values.len() != rows) {
            return; // tied columns, or rows in parts, which presolve solves one by one
        }
        let mass: Vec<f64> = kernels.iter().map(|kernel| kernel.values.iter().sum()).collect();
        let mut x = vec![1.0; rows];
        for _ in 0..TUNING.expectation_rounds {
            let mut sums = vec![0.0; rows];
            for (kernel, x) in kernels.iter().zip(&x) {
                axpy(*x, &kernel.values, &mut sums);
            }
            sums.iter_mut().for_each(|sum| *sum = sum.recip());
            for ((x, kernel), mass) in x.iter_mut().zip(kernels).zip(&mass) {
                *x *= dot(&kernel.values, &sums) / mass;
            }
        }
        let mut z = DenseMatrix::zeros(rows, self.problem.columns());
        for (kernel, x) in kernels.iter().zip(&x) {
            let column = self.blocks.blocks[kernel.block].column;
            for (i, value) in kernel.values.iter().enumerate() {
                *z.at_mut(i, column) += x * value;
            }
        }
        if normalise(self.problem, &mut z, self.settings.threads != 1) {
            // What does not hold is not taken.
            let _ = self.offer(z, vec![0.0; self.problem.columns()]);
        }
        self.report(f64::INFINITY);
    }
}
