//! The incumbent: the best strict matrix so far, there from the first second on and never dearer than before.
//!
//! The iterate that prices columns is not fit to be handed out: artificial columns box its duals and take part in its row sums. So from
//! time to time the same rays are mixed once more from nothing, in a box so wide that artificials do not pay; a few interior
//! steps bring all row sums but a handful to one, and `normalise` does the rest.

use super::Run;
use super::closed_form::ClosedForm;
use super::normalise::normalise;
use super::repair;
use crate::certificate::{Report, check};
use crate::error::Error;
use crate::matrix::{DenseMatrix, Matrix};
use crate::solution::relative_gap;
use crate::verified::ROW_SUM_ERROR;

/// Radius of the box around the duals while rays are mixed, in units of each row. At 30 one row in a hundred is left short by more than
/// 1e-3 on a fine map, at 100 by 4e-4.
const WIDE: f64 = 100.0;

/// Interior steps of one attempt; most take seven.
const STEPS: usize = 12;

/// Part of what is open between incumbent and bound that the mixing may leave.
const LEFT_OPEN: f64 = 0.1;

/// Row sums are off by no more than this before they are normalised, but for the artificials.
const NEARLY_ONE: f64 = 1e-5;

/// Halvings in the search for the largest exponent of the exponential mechanism.
const HALVINGS: usize = 8;

/// A matrix that the checker has accepted.
#[derive(Debug, Clone)]
pub(super) struct Incumbent {
    pub z: DenseMatrix,
    pub y: Vec<f64>,
    pub report: Report,
}

impl Run<'_> {
    /// What would be handed out now costs this much.
    pub(super) fn upper_bound(&self) -> f64 {
        self.incumbent.as_ref().map_or(f64::INFINITY, |incumbent| incumbent.report.cost)
    }

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
        if !report.is_strict() {
            let (row, column) = report.worst_entry.unwrap_or((0, 0));
            let worst_log_excess = report.worst_log_excess;
            return Err(Error::NotStrict { worst_log_excess, row, column });
        }
        let Matrix::Dense(z) = z else { return Ok(()) };
        if self.incumbent.as_ref().is_none_or(|best| self.is_better(&report, &best.report)) {
            self.incumbent = Some(Incumbent { z, y, report });
        }
        Ok(())
    }

    /// Whether row sums are what the checker accepts and another's are not; else whether it costs less or, where both cost little enough,
    /// has the smaller error of row sums.
    fn is_better(&self, report: &Report, than: &Report) -> bool {
        let error = |report: &Report| report.worst_row_sum_error;
        let holds = |report: &Report| error(report) <= ROW_SUM_ERROR;
        if holds(report) != holds(than) {
            return holds(report);
        }
        let open = |report: &Report| match holds(report) {
            true => report.cost,
            false => self.gap_to(report.cost).max(self.settings.gap),
        };
        open(report) < open(than) || (open(report) == open(than) && error(report) < error(than))
    }

    /// The relative gap between a cost and what is proven, or about to be.
    pub(super) fn gap_to(&self, cost: f64) -> f64 {
        relative_gap(self.mean_cost, cost, self.proof.1.max(self.lower_bound))
    }

    /// Mixes the rays there are into a matrix. The iterate itself is left as it was.
    pub(super) fn improve_incumbent(&mut self) {
        let begun = self.stop.seconds();
        let master = &mut self.master;
        let iterate = (
            (master.x.clone(), master.s.clone(), master.mu.clone()),
            (master.short.clone(), master.over.clone(), master.penalty.clone()),
        );
        let open = (self.best_estimate - self.lower_bound).min(self.lower_bound);
        let least = self.settings.gap * self.lower_bound;
        let target = LEFT_OPEN * open.max(least);
        master.penalty = self.unit.iter().map(|unit| WIDE * unit).collect();
        master.start(0.1 * (self.mean_cost / self.problem.rows() as f64).max(f64::MIN_POSITIVE));
        for _ in 0..STEPS {
            let left = master.step(0.8 * target);
            let is_met = left <= NEARLY_ONE && master.complementarity() <= target;
            if is_met || self.stop.aborted() {
                break;
            }
        }
        if !self.stop.aborted() {
            let (mut z, y) = self.matrix();
            if normalise(self.problem, &mut z, self.settings.threads != 1) {
                // What does not hold is not taken.
                let _ = self.offer(z, y);
            }
        }
        let master = &mut self.master;
        ((master.x, master.s, master.mu), (master.short, master.over, master.penalty)) = iterate;
        self.spent += self.stop.seconds() - begun;
    }

    /// The exponential mechanism along the arcs, at the largest exponent that keeps them, each report remapped to the one that costs least:
    /// what can be had without any optimiser.
    pub(super) fn remapped_exponential(&mut self, closed: &ClosedForm) {
        let (rows, arcs) = (self.problem.rows(), self.problem.arcs());
        let logs: Vec<(usize, Vec<f64>)> = (closed.rays.iter())
            .map(|ray| {
                let column = self.blocks.blocks[ray.block].column;
                (column, ray.values.iter().map(|value| value.ln()).collect())
            })
            .collect();
        if logs.iter().any(|(_, logs)| logs.len() != rows) {
            return; // rows in parts, which presolve solves one by one
        }
        let sums = |power: f64| {
            let mut sums = vec![0.0; rows];
            for (_, logs) in &logs {
                sums.iter_mut().zip(logs).for_each(|(sum, log)| *sum += (power * log).exp());
            }
            sums
        };
        let keeps_arcs = |power: f64, sums: &[f64]| {
            arcs.iter().all(|arc| {
                let length = self.problem.log_ratio(arc);
                power * length + (sums[arc.i].ln() - sums[arc.j].ln()).abs() <= length * (1.0 - 1e-9)
            })
        };
        // A sum varies along an arc by no more than its terms do, so half of epsilon is always enough.
        let (mut power, mut above) = (0.5 - 1e-8, 1.0);
        let mut best = sums(power);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (power + above);
            let tried = sums(middle);
            if keeps_arcs(middle, &tried) {
                (power, best) = (middle, tried);
            } else {
                above = middle;
            }
        }
        let mut z = DenseMatrix::zeros(rows, self.problem.columns());
        for (column, logs) in &logs {
            for (i, log) in logs.iter().enumerate() {
                *z.at_mut(i, *column) += (power * log).exp() / best[i];
            }
        }
        let y = vec![0.0; self.problem.columns()];
        // What does not hold is not taken.
        let _ = self.offer(z, y);
    }
}
