//! Shortest paths over the links of a graph: the smallest and the largest points of its cone.

use super::graph::{Graph, Links};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A row in a heap, the smallest key first: how far it is, and from where it was reached.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reached {
    pub(crate) key: f64,
    pub(crate) row: u32,
    pub(crate) from: u32,
}

impl Ord for Reached {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key.total_cmp(&self.key).then(other.row.cmp(&self.row))
    }
}

impl PartialOrd for Reached {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Reached {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Reached {}

/// The largest point with `z_root = 1`, along the ceilings; `None` where some node has none.
pub(crate) fn largest_point(graph: &Graph, root: usize) -> Option<Vec<f64>> {
    // log z_target <= down + log z_node.
    let paths = Paths::from(graph, root, |links| links.down)?;
    Some(paths.distance.iter().map(|distance| distance.exp()).collect())
}

/// Shortest paths from a root.
pub(super) struct Paths {
    pub(super) distance: Vec<f64>,
    /// The node before; the root's own is `u32::MAX`.
    pub(super) parent: Vec<u32>,
}

impl Paths {
    /// With the lengths that `lengths` takes from every node's links; `None` when some node cannot be reached.
    pub(super) fn from(
        graph: &Graph,
        root: usize,
        lengths: impl for<'a> Fn(&Links<'a>) -> &'a [f64],
    ) -> Option<Self> {
        let nodes = graph.nodes();
        let mut paths =
            Self { distance: vec![f64::INFINITY; nodes], parent: vec![u32::MAX; nodes] };
        paths.distance[root] = 0.0;
        let mut heap = BinaryHeap::from([Reached { key: 0.0, row: root as u32, from: u32::MAX }]);
        let mut settled = 0;
        // Labels are lowered until nothing changes: links out of a root may be negative, so a node
        // may be settled twice, but never more often than its label falls.
        let budget = 64 * nodes.max(16);
        while let Some(Reached { key, row, from }) = heap.pop() {
            if key > paths.distance[row as usize] {
                continue;
            }
            paths.parent[row as usize] = from;
            settled += 1;
            if settled > budget {
                return None; // labels that fall for ever: the limits contradict each other
            }
            let links = graph.links(row as usize);
            for (&target, &length) in links.targets.iter().zip(lengths(&links)) {
                let label = key + length;
                if label < paths.distance[target as usize] - 1e-13 && target != root as u32 {
                    paths.distance[target as usize] = label;
                    heap.push(Reached { key: label, row: target, from: row });
                }
            }
        }
        let all = paths.parent.iter().filter(|&&parent| parent == u32::MAX).count() == 1;
        all.then_some(paths)
    }
}
