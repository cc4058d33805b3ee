//! What the large engine sees of a problem: arcs in logarithms and an oracle for costs.

use super::graph::ArcGraph;
use crate::cost::Cost;
use crate::error::Error;
use crate::problem::Problem;
use crate::settings::Stop;

/// Time is up or the caller has cancelled: what was being made is left unfinished.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stopped;

/// Rows, arcs of length `eps * d` and costs; column k is anchored at row k, where its rays are 1.
pub(crate) struct View<'a> {
    pub(crate) graph: ArcGraph,
    cost: &'a dyn Cost,
    stop: Option<Stop<'a>>,
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
        let arcs: Vec<_> = problem
            .arcs()
            .iter()
            .map(|a| (a.i as u32, a.j as u32, problem.epsilon() * a.d))
            .collect();
        let graph = ArcGraph::new(problem.rows(), &arcs);
        Ok(Self { graph, cost: problem.cost(), stop })
    }

    /// Asked between pieces of work of a few milliseconds, so that a stop is honoured at once.
    pub(crate) fn proceed(&self) -> Result<(), Stopped> {
        if self.stop.is_some_and(|stop| stop.requested()) { Err(Stopped) } else { Ok(()) }
    }

    pub(crate) fn rows(&self) -> usize {
        self.graph.rows()
    }

    /// The costs of reporting `column` from each of `rows`.
    pub(crate) fn gather_costs(&self, column: usize, rows: &[u32], out: &mut [f64]) {
        self.cost.fill(column, rows, out);
    }

    /// The costs of one row in every column.
    pub(crate) fn cost_row(&self, row: usize, out: &mut [f64]) {
        self.cost.fill_row(row, out);
    }
}
