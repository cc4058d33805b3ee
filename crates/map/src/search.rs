//! Shortest ways: Dijkstra's algorithm from one node to all, with or without a limit.

use lrgeo_geo::parallel::*;
use lrgeo_geo::units::{Travel, UNREACHABLE};

use crate::graph::{Direction, Metric, StreetGraph};
use crate::heap::NodeHeap;
use crate::progress::Progress;

/// The working memory of a search; make one per thread and use it again and again.
pub struct Search<'g> {
    graph: &'g StreetGraph,
    metric: Metric,
    /// What the last search found.
    distance: Vec<Travel>,
    /// The nodes that the last search reached, if it had a limit: only they need to be forgotten.
    reached: Option<Vec<u32>>,
    heap: NodeHeap,
}

impl<'g> Search<'g> {
    /// A search on `graph` that minimises `metric`.
    pub fn new(graph: &'g StreetGraph, metric: Metric) -> Self {
        let distance = vec![UNREACHABLE; graph.node_count()];
        Self { graph, metric, distance, reached: Some(Vec::new()), heap: NodeHeap::default() }
    }

    /// Distances of all nodes from `source` (or to it, reversed), [`UNREACHABLE`] where there is
    /// no way.
    pub fn all(&mut self, source: u32, direction: Direction) -> &[Travel] {
        self.forget();
        self.run(source, direction, UNREACHABLE, |_| {});
        self.reached = None;
        &self.distance
    }

    /// The nodes within `limit` of `source` and their distances, in no particular order.
    pub fn within(
        &mut self,
        source: u32,
        direction: Direction,
        limit: Travel,
    ) -> Vec<(u32, Travel)> {
        self.forget();
        let mut reached = vec![source];
        self.run(source, direction, limit, |node| reached.push(node));
        let found = reached.iter().map(|&v| (v, self.distance[v as usize])).collect();
        self.reached = Some(reached);
        found
    }

    /// The distance of `node` in the last search; `None` if it was not reached.
    pub fn distance(&self, node: u32) -> Option<Travel> {
        Some(self.distance[node as usize]).filter(|&d| d != UNREACHABLE)
    }

    fn forget(&mut self) {
        match &self.reached {
            Some(nodes) => nodes.iter().for_each(|&v| self.distance[v as usize] = UNREACHABLE),
            None => self.distance.fill(UNREACHABLE),
        }
    }

    /// Dijkstra's algorithm; `on_first` is told each node when it is first reached. Entries of nodes
    /// that were reached again on a shorter way stay in the heap and are skipped when they come up.
    fn run(
        &mut self,
        source: u32,
        direction: Direction,
        limit: Travel,
        mut on_first: impl FnMut(u32),
    ) {
        let arcs = self.graph.arcs_by(direction, self.metric);
        self.distance[source as usize] = 0;
        self.heap.push(0, source);
        while let Some((here, node)) = self.heap.pop() {
            if here > self.distance[node as usize] {
                continue;
            }
            for arc in arcs.of(node) {
                let there = here.saturating_add(arc.cost);
                let known = &mut self.distance[arc.to as usize];
                if there < *known && there <= limit {
                    if *known == UNREACHABLE {
                        on_first(arc.to);
                    }
                    *known = there;
                    self.heap.push(there, arc.to);
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
