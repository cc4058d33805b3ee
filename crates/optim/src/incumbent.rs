//! What a solve would hand out now: the best strict matrix so far, never dearer than before, with the best proof; and what is told of
//! them on the way.

use crate::certificate::Report;
use crate::error::Error;
use crate::matrix::Matrix;
use crate::settings::{Progress, Settings, Stop};
use crate::solution::{Certificate, Solution, Status, TracePoint, relative_gap};
use crate::verified::ROW_SUM_ERROR;

/// What an iterate promises.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Estimate {
    /// The gap of the matrix and the bound that may come of it.
    pub(crate) gap: f64,
    /// A bound that its duals give but for rounding; zero where they have yet to be repaired.
    pub(crate) bound: f64,
    /// Columns in the master.
    pub(crate) columns: usize,
}

/// The best matrix and the best proof so far.
#[derive(Debug)]
pub(crate) struct Incumbent<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) stop: Stop<'a>,
    pub(crate) mean_cost: f64,
    /// The matrix, its y, and what the checker says of them.
    pub(crate) matrix: Option<(Matrix, Vec<f64>, Report)>,
    /// Duals and the bound that they prove, rounding included.
    pub(crate) mu: Vec<f64>,
    pub(crate) lower_bound: f64,
    pub(crate) iterations: usize,
    trace: Vec<TracePoint>,
}

impl<'a> Incumbent<'a> {
    /// No matrix yet, and the bound that no cost is negative.
    pub(crate) fn new(settings: &'a Settings, stop: Stop<'a>, rows: usize, mean_cost: f64) -> Self {
        Self {
            settings,
            stop,
            mean_cost,
            matrix: None,
            mu: vec![0.0; rows],
            lower_bound: 0.0,
            iterations: 0,
            trace: Vec::new(),
        }
    }

    /// What the matrix costs; infinite before there is one.
    pub(crate) fn cost(&self) -> f64 {
        self.matrix.as_ref().map_or(f64::INFINITY, |(.., report)| report.cost)
    }

    /// The gap between what the matrix costs and what is proven.
    pub(crate) fn gap(&self) -> f64 {
        relative_gap(self.mean_cost, self.cost(), self.lower_bound)
    }

    /// Whether gap and row sums are good enough, the latter unless nothing better is to be expected.
    pub(crate) fn is_good_enough(&self, with_any_sums: bool) -> bool {
        let sums_hold = |(.., report): &(_, _, Report)| holds(report) || with_any_sums;
        self.gap() <= self.settings.gap && self.matrix.as_ref().is_some_and(sums_hold)
    }

    /// Whether the matrix would be good enough with a bound that is not proven yet.
    pub(crate) fn would_do(&self, bound: f64) -> bool {
        let holds = self.matrix.as_ref().is_some_and(|(.., report)| holds(report));
        holds && relative_gap(self.mean_cost, self.cost(), bound) <= self.settings.gap
    }

    /// Takes a matrix that is strict and better than what there is; `bound` is one that is about to be proven. An error where it is not
    /// strict.
    pub(crate) fn offer(
        &mut self,
        z: Matrix,
        y: Vec<f64>,
        report: Report,
        bound: f64,
    ) -> Result<(), Error> {
        if !report.is_strict() {
            let (row, column) = report.worst_entry.unwrap_or((report.worst_row, 0));
            let worst_log_excess = report.worst_log_excess;
            return Err(Error::NotStrict { worst_log_excess, row, column });
        }
        let best = self.matrix.as_ref();
        if best.is_none_or(|(.., best)| self.is_better(&report, best, bound)) {
            self.matrix = Some((z, y, report));
        }
        Ok(())
    }

    /// Whether row sums are what the checker accepts and another's are not; else whether it costs less or, where both cost little enough,
    /// has the smaller error of row sums.
    fn is_better(&self, report: &Report, than: &Report, bound: f64) -> bool {
        if holds(report) != holds(than) {
            return holds(report);
        }
        let open = |report: &Report| match holds(report) {
            true => report.cost,
            false => relative_gap(self.mean_cost, report.cost, bound.max(self.lower_bound))
                .max(self.settings.gap),
        };
        let error = |report: &Report| report.worst_row_sum_error;
        open(report) < open(than) || (open(report) == open(than) && error(report) < error(than))
    }

    /// Takes a proven bound if it is better than what is proven.
    pub(crate) fn prove(&mut self, mu: Vec<f64>, bound: f64) {
        if bound > self.lower_bound {
            (self.mu, self.lower_bound) = (mu, bound);
        }
    }

    /// Writes a line of the trace, and tells the caller.
    pub(crate) fn report(&mut self, estimate: &Estimate) {
        let (iteration, seconds) = (self.iterations, self.stop.seconds());
        let (upper_bound, lower_bound) = (self.cost(), self.lower_bound.max(estimate.bound));
        self.trace.push(TracePoint { iteration, upper_bound, lower_bound, seconds });
        let gap = relative_gap(self.mean_cost, upper_bound, lower_bound);
        self.stop.report(Progress {
            iteration,
            upper_bound,
            lower_bound,
            gap,
            promised: estimate.gap.min(gap),
            columns: estimate.columns,
            seconds,
        });
    }

    /// The matrix and what is proven about it, after so many columns; `None` where there is no matrix.
    pub(crate) fn solution(&mut self, columns: usize) -> Option<Solution> {
        let gap = self.gap();
        let (z, y, report) = self.matrix.take()?;
        Some(Solution {
            status: Status::of_gap(gap, self.settings.gap),
            objective: report.cost,
            lower_bound: self.lower_bound.min(report.cost),
            gap,
            iterations: self.iterations,
            columns,
            seconds: self.stop.seconds(),
            z,
            y,
            certificate: Certificate {
                worst_log_excess: report.worst_log_excess,
                worst_row_sum_error: report.worst_row_sum_error,
                mu: std::mem::take(&mut self.mu),
            },
            trace: std::mem::take(&mut self.trace),
        })
    }
}

/// Whether row sums are one up to rounding.
fn holds(report: &Report) -> bool {
    report.worst_row_sum_error <= ROW_SUM_ERROR
}
