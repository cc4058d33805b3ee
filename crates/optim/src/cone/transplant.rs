//! A tree of one window moved to another: where columns whose places lie together price almost the same weights, the tree that
//! one ended with is nearly the other's.

use std::collections::BinaryHeap;

use super::graph::Graph;
use super::search::Reached;
use super::tuning::TUNING;
use super::window::{Link, Pricer};

/// What rounding may leave of an arc that is tight.
const TIGHT: f64 = 1e-9;

/// Working memory for transplanting trees.
#[derive(Default)]
pub(crate) struct Transplant {
    /// Children of each position of the old window, one after the other.
    start: Vec<u32>,
    child: Vec<u32>,
    /// `ln z` of the new tree as far as it is known.
    log_z: Vec<f64>,
    tree: Vec<Link>,
    /// Rows that the old tree has too low for the new window.
    is_low: Vec<bool>,
    pending: Vec<usize>,
    heap: BinaryHeap<Reached>,
}

impl Transplant {
    /// The tree `old` of the window `from` for the window that `pricer` holds, rooted at that one's anchor; `None` where it
    /// does not fit. Rows that the new window does not have fall off; those that are not reached through common
    /// rows hang at the floor of the row that holds them highest.
    pub(crate) fn fit(&mut self, pricer: &Pricer, from: &[u32], old: &[Link]) -> Option<&[Link]> {
        let to = pricer.rows();
        let root = from.iter().position(|&i| i == to[0])?;
        self.list_children(old);
        self.is_low.clear();
        self.is_low.resize(to.len(), false);
        for _ in 0..TUNING.transplant_attempts {
            self.log_z.clear();
            self.log_z.resize(to.len(), f64::NEG_INFINITY);
            self.log_z[0] = 0.0;
            self.tree.clear();
            self.tree.resize(to.len(), Link::floor(0));
            self.keep_common(pricer, from, old, root);
            self.close(pricer.graph());
            if !self.find_low_rows(pricer.graph()) {
                return Some(&self.tree);
            }
        }
        None
    }

    fn list_children(&mut self, tree: &[Link]) {
        let Self { start, child, .. } = self;
        start.clear();
        start.resize(tree.len() + 2, 0);
        for link in &tree[1..] {
            start[link.parent() + 2] += 1;
        }
        for at in 2..start.len() {
            start[at] += start[at - 1];
        }
        child.clear();
        child.resize(tree.len() - 1, 0);
        for (at, link) in tree.iter().enumerate().skip(1) {
            let next = &mut start[link.parent() + 1];
            child[*next as usize] = at as u32;
            *next += 1;
        }
    }

    /// Follows the old tree outwards from its new root as long as it stays in the new window.
    fn keep_common(&mut self, pricer: &Pricer, from: &[u32], old: &[Link], root: usize) {
        let Self { start, child, log_z, tree, pending, is_low, .. } = self;
        pending.clear();
        pending.push(root);
        while let Some(at) = pending.pop() {
            let Some(here) = pricer.position(from[at]) else { continue };
            let children = &child[start[at] as usize..start[at + 1] as usize];
            let below = children.iter().map(|&c| (c as usize, old[c as usize].is_ceiling()));
            // Floor of its parent seen from the other end is ceiling of its child.
            let above = (at != 0).then(|| (old[at].parent(), !old[at].is_ceiling()));
            for (next, is_ceiling) in below.chain(above) {
                let Some(there) = pricer.position(from[next]) else { continue };
                if is_low[there] || log_z[there] > f64::NEG_INFINITY {
                    continue;
                }
                let length = pricer.graph().between(here, there);
                if is_ceiling {
                    (log_z[there], tree[there]) =
                        (log_z[here] + length, Link::ceiling(here as u32));
                } else {
                    (log_z[there], tree[there]) = (log_z[here] - length, Link::floor(here as u32));
                }
                pending.push(next);
            }
        }
    }

    /// Hangs the rows that have no place yet.
    fn close(&mut self, graph: &Graph) {
        let Self { log_z, tree, heap, .. } = self;
        heap.clear();
        let reach = |heap: &mut BinaryHeap<Reached>, log_z: &[f64], at: usize| {
            let is_open = |arc: &(u32, f64)| log_z[arc.0 as usize] == f64::NEG_INFINITY;
            for (row, length) in graph.arcs(at).filter(is_open) {
                heap.push(Reached { key: length - log_z[at], row, from: at as u32 });
            }
        };
        for at in (0..log_z.len()).filter(|&at| log_z[at] > f64::NEG_INFINITY) {
            reach(heap, log_z, at);
        }
        while let Some(Reached { key, row, from }) = heap.pop() {
            let at = row as usize;
            if log_z[at] == f64::NEG_INFINITY {
                (log_z[at], tree[at]) = (-key, Link::floor(from));
                reach(heap, log_z, at);
            }
        }
    }

    /// Finds rows below what their neighbours allow, if there are any. The old tree knew nothing of rows outside its window, by
    /// way of which two of its rows may be nearer to each other.
    fn find_low_rows(&mut self, graph: &Graph) -> bool {
        let (log_z, mut found) = (&self.log_z, false);
        for (at, is_low) in self.is_low.iter_mut().enumerate() {
            let mut arcs = graph.arcs(at);
            if arcs.any(|(next, length)| log_z[next as usize] - log_z[at] > length + TIGHT) {
                (*is_low, found) = (true, true);
            }
        }
        found
    }
}
