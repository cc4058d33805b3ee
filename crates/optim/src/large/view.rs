//! What the large engine sees of a problem: arcs in logarithms and an oracle for costs.

use std::sync::OnceLock;

use rayon::prelude::*;

use crate::cone::Graph;
use crate::cost::Cost;
use crate::error::Error;
use crate::problem::Problem;
use crate::settings::Stop;

/// Time is up or the caller has cancelled: what was being made is left unfinished.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stopped;

impl From<Stopped> for Error {
    fn from(_: Stopped) -> Self {
        Self::StoppedEarly
    }
}

/// Rows, arcs of length `eps * d` and costs; column k is anchored at row k, where its rays are 1.
pub(crate) struct View<'a> {
    pub(crate) graph: Graph,
    cost: &'a dyn Cost,
    stop: Option<Stop<'a>>,
    mean_cost: OnceLock<f64>,
}

impl<'a> View<'a> {
    /// The whole of an untied problem with as many columns as rows.
    pub(crate) fn new(problem: &'a Problem, stop: Option<Stop<'a>>) -> Result<Self, Error> {
        if problem.has_ties() {
            return Err(Error::Unsupported { engine: "large", feature: "ties" });
        }
        if !problem.bounds().is_empty() {
            return Err(Error::Unsupported { engine: "large", feature: "bounds" });
        }
        if problem.rows() != problem.columns() {
            let feature = "a number of columns other than the number of rows";
            return Err(Error::Unsupported { engine: "large", feature });
        }
        Ok(Self::accepted(problem, stop))
    }

    /// As [`Self::new`], for a part of a problem that was not refused.
    pub(crate) fn accepted(problem: &'a Problem, stop: Option<Stop<'a>>) -> Self {
        let arcs = problem.arcs().iter().map(|a| (a.i as u32, a.j as u32, problem.log_ratio(a)));
        let graph = Graph::symmetric(problem.rows(), arcs);
        Self { graph, cost: problem.cost(), stop, mean_cost: OnceLock::new() }
    }

    /// Asked between pieces of work of a few milliseconds, so that a stop is honoured at once.
    pub(crate) fn proceed(&self) -> Result<(), Stopped> {
        if self.stop.is_some_and(|stop| stop.requested()) { Err(Stopped) } else { Ok(()) }
    }

    pub(crate) fn rows(&self) -> usize {
        self.graph.nodes()
    }

    /// The costs of reporting `column` from each of `rows`.
    pub(crate) fn gather_costs(&self, column: usize, rows: &[u32], out: &mut [f64]) {
        self.cost.fill(column, rows, out);
    }

    /// Appends every column that costs less than `limit` from `row`, with that cost.
    pub(crate) fn columns_below(&self, row: usize, limit: f64, found: &mut Vec<(u32, f64)>) {
        self.cost.columns_below(row, limit, found);
    }

    /// The mean cost over all columns, summed over the rows.
    pub(crate) fn mean_cost(&self) -> Result<f64, Stopped> {
        if let Some(&known) = self.mean_cost.get() {
            return Ok(known);
        }
        let n = self.rows();
        let sums = match self.cost.row_sums(&vec![true; n]) {
            Some(sums) => sums,
            None => (0..n)
                .into_par_iter()
                .map_init(
                    || vec![0.0; n],
                    |costs, i| {
                        self.proceed()?;
                        self.cost.fill_row(i, costs);
                        Ok(costs.iter().sum())
                    },
                )
                .collect::<Result<_, Stopped>>()?,
        };
        Ok(*self.mean_cost.get_or_init(|| sums.iter().sum::<f64>() / n as f64))
    }
}
