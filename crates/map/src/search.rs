//! Shortest ways: Dijkstra's algorithm from one node to all, with or without a limit.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rayon::prelude::*;

use crate::graph::{Direction, Metric, StreetGraph};
use crate::progress::Progress;
use crate::units::{Travel, UNREACHABLE};

/// The working memory of a search; make one per thread and use it again and again.
pub struct Search<'g> {
    graph: &'g StreetGraph,
    metric: Metric,
    /// Tentative distances; all [`UNREACHABLE`] between searches.
    distance: Vec<Travel>,
    /// The nodes whose distance was set, in the order they were first reached.
    touched: Vec<u32>,
    /// Distance in the upper half, node in the lower: one comparison orders both.
    heap: BinaryHeap<Reverse<u64>>,
}

impl<'g> Search<'g> {
    /// A search on `graph` that minimises `metric`.
    pub fn new(graph: &'g StreetGraph, metric: Metric) -> Self {
        let distance = vec![UNREACHABLE; graph.node_count()];
        Self { graph, metric, distance, touched: Vec::new(), heap: BinaryHeap::new() }
    }

    /// Distances of all nodes from `source` (or to it, reversed), [`UNREACHABLE`] where there is
    /// no way.
    pub fn all(&mut self, source: u32, direction: Direction) -> &[Travel] {
        self.run(source, direction, UNREACHABLE);
        &self.distance
    }

    /// The nodes within `limit` of `source` and their distances, in no particular order.
    pub fn within(
        &mut self,
        source: u32,
        direction: Direction,
        limit: Travel,
    ) -> Vec<(u32, Travel)> {
        self.run(source, direction, limit);
        self.touched.iter().map(|&v| (v, self.distance[v as usize])).collect()
    }

    /// The distance of `node` in the last search; `None` if it was not reached.
    pub fn distance(&self, node: u32) -> Option<Travel> {
        Some(self.distance[node as usize]).filter(|&d| d != UNREACHABLE)
    }

    fn run(&mut self, source: u32, direction: Direction, limit: Travel) {
        match self.metric {
            Metric::Distance => self.run_by(source, direction, limit, |arc| arc.mm),
            Metric::Time => self.run_by(source, direction, limit, |arc| arc.ms),
        }
    }

    /// The metric is a type parameter so that the inner loop has no branch on it.
    fn run_by(
        &mut self,
        source: u32,
        direction: Direction,
        limit: Travel,
        cost: impl Fn(&crate::graph::Arc) -> Travel,
    ) {
        for v in self.touched.drain(..) {
            self.distance[v as usize] = UNREACHABLE;
        }
        let adjacency = self.graph.adjacency(direction);
        self.distance[source as usize] = 0;
        self.touched.push(source);
        self.heap.push(Reverse(u64::from(source)));
        while let Some(Reverse(entry)) = self.heap.pop() {
            let (here, node) = ((entry >> 32) as Travel, entry as u32);
            if here > self.distance[node as usize] {
                continue; // an older, longer entry of a node that is settled
            }
            for arc in adjacency.of(node) {
                let there = here.saturating_add(cost(arc));
                let known = &mut self.distance[arc.to as usize];
                if there < *known && there <= limit {
                    if *known == UNREACHABLE {
                        self.touched.push(arc.to);
                    }
                    *known = there;
                    self.heap.push(Reverse(u64::from(there) << 32 | u64::from(arc.to)));
                }
            }
        }
    }
}

/// One full search per source, in parallel: `read` is given the index of the source and the
/// distances of all nodes, and keeps what it needs. Memory is one distance array per thread; the
/// progress advances by one per source.
pub fn search_all<T: Send>(
    graph: &StreetGraph,
    metric: Metric,
    direction: Direction,
    sources: &[u32],
    progress: &dyn Progress,
    read: impl Fn(usize, &[Travel]) -> T + Sync,
) -> Vec<T> {
    sources
        .par_iter()
        .enumerate()
        .map_init(
            || Search::new(graph, metric),
            |search, (index, &source)| {
                let result = read(index, search.all(source, direction));
                progress.advance(1);
                result
            },
        )
        .collect()
}
