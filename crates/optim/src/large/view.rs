//! What the large engine sees of a problem: arcs in logarithms and an oracle for costs.

use super::graph::ArcGraph;
use crate::cost::Cost;
use crate::error::Error;
use crate::problem::Problem;

/// Rows, arcs of length `eps * d` and costs; column k is anchored at row k, where its rays are 1.
///
/// A view may cover part of a problem (a tile): then `places` maps its rows and columns to the
/// problem's.
pub(crate) struct View<'a> {
    pub(crate) graph: ArcGraph,
    cost: &'a dyn Cost,
    places: Option<Vec<u32>>,
}

impl<'a> View<'a> {
    /// The whole of an untied problem with as many columns as rows.
    pub(crate) fn new(problem: &'a Problem) -> Result<Self, Error> {
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
        Ok(Self { graph, cost: problem.cost(), places: None })
    }

    /// The part of this view on `places`, renumbered by position.
    pub(crate) fn restrict(&self, places: &[u32]) -> View<'a> {
        let mut local = vec![u32::MAX; self.rows()];
        for (at, &i) in places.iter().enumerate() {
            local[i as usize] = at as u32;
        }
        let graph = self.graph.restrict(places, &local);
        let places = places.iter().map(|&i| self.place(i as usize) as u32).collect();
        View { graph, cost: self.cost, places: Some(places) }
    }

    fn place(&self, row: usize) -> usize {
        self.places.as_ref().map_or(row, |places| places[row] as usize)
    }

    pub(crate) fn rows(&self) -> usize {
        self.graph.rows()
    }

    /// The costs of reporting `column` from each of `rows`.
    pub(crate) fn gather_costs(&self, column: usize, rows: &[u32], out: &mut [f64]) {
        match &self.places {
            None => self.cost.fill(column, rows, out),
            Some(places) => {
                let rows: Vec<u32> = rows.iter().map(|&i| places[i as usize]).collect();
                self.cost.fill(places[column] as usize, &rows, out);
            }
        }
    }

    /// The costs of one row in every column; only for whole problems.
    pub(crate) fn cost_row(&self, row: usize, out: &mut [f64]) {
        debug_assert!(self.places.is_none());
        self.cost.fill_row(row, out);
    }
}
