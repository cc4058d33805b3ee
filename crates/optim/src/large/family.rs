//! Neighbouring columns learn from each other: the first tree of a column from that of a column nearby.
//!
//! Two columns whose places lie together price almost the same weights over the same cone, so the tree that one ended
//! with is nearly the other's. From the shortest-path tree a column of an uneven map may take thousands of pivots; from
//! its neighbour's it takes a part of them.

use std::collections::BinaryHeap;

use rayon::prelude::*;

use super::partition::partition;
use super::pricing::{Link, LocalArcs, Pricer};
use super::view::{Stopped, View};
use super::window::{Reached, Window};

/// Columns priced one after the other; families are priced in parallel.
const FAMILY: usize = 250;
/// How often rows that do not fit are taken out of a tree before it is given up.
const ATTEMPTS: usize = 4;
/// What rounding may leave of an arc that is tight.
const TIGHT: f64 = 1e-9;

/// A column, and which earlier one of its family it learns from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub(crate) column: u32,
    pub(crate) teacher: Option<u32>,
}

/// All columns in families of rows that lie together, each in an order where teachers come first.
pub(crate) fn families(view: &View<'_>) -> Result<Vec<Vec<Member>>, Stopped> {
    let parts = partition(&view.graph, FAMILY, 0.0);
    parts.par_iter().map(|part| view.proceed().map(|()| family(view, &part.core))).collect()
}

/// The cheapest tree from column to column: what two columns cost in any row differs at most by what it costs to report one
/// from the other's place.
fn family(view: &View<'_>, rows: &[u32]) -> Vec<Member> {
    let mut family: Vec<Member> = Vec::with_capacity(rows.len());
    // Prim: the rows not yet in the tree, each with its cheapest teacher.
    let mut waiting: Vec<(u32, f64, Option<u32>)> =
        rows.iter().map(|&i| (i, f64::INFINITY, None)).collect();
    let (mut names, mut costs) = (Vec::new(), Vec::new());
    while let Some(next) = (0..waiting.len()).min_by(|&a, &b| waiting[a].1.total_cmp(&waiting[b].1))
    {
        let (column, _, teacher) = waiting.swap_remove(next);
        names.clear();
        names.extend(waiting.iter().map(|w| w.0));
        costs.resize(names.len(), 0.0);
        view.gather_costs(column as usize, &names, &mut costs);
        for (row, &cost) in waiting.iter_mut().zip(&costs) {
            if cost < row.1 {
                (row.1, row.2) = (cost, Some(family.len() as u32));
            }
        }
        family.push(Member { column, teacher });
    }
    family
}

/// Working memory for transplanting trees.
#[derive(Default)]
pub(crate) struct Gardener {
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

impl Gardener {
    /// The tree `old` of the window `from` for the window that `pricer` holds, rooted at that one's anchor; `None` where it
    /// does not fit. Rows that the new window does not have fall off; those that are not reached through common
    /// rows hang at the floor of the row that holds them highest.
    pub(crate) fn transplant(
        &mut self,
        pricer: &Pricer,
        from: Window<'_>,
        old: &[Link],
        to: Window<'_>,
    ) -> Option<&[Link]> {
        let root = from.rows.iter().position(|&i| i == to.rows[0])?;
        self.list_children(old);
        self.is_low.clear();
        self.is_low.resize(to.rows.len(), false);
        for _ in 0..ATTEMPTS {
            self.log_z.clear();
            self.log_z.resize(to.rows.len(), f64::NEG_INFINITY);
            self.log_z[0] = 0.0;
            self.tree.clear();
            self.tree.resize(to.rows.len(), Link::floor(0));
            self.keep_common(pricer, from, old, root);
            self.close(pricer.arcs());
            if !self.find_low_rows(pricer.arcs()) {
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
    fn keep_common(&mut self, pricer: &Pricer, from: Window<'_>, old: &[Link], root: usize) {
        let Self { start, child, log_z, tree, pending, is_low, .. } = self;
        pending.clear();
        pending.push(root);
        while let Some(at) = pending.pop() {
            let Some(here) = pricer.position(from.rows[at]) else { continue };
            let children = &child[start[at] as usize..start[at + 1] as usize];
            let below = children.iter().map(|&c| (c as usize, old[c as usize].is_ceiling()));
            // Floor of its parent seen from the other end is ceiling of its child.
            let above = (at != 0).then(|| (old[at].parent(), !old[at].is_ceiling()));
            for (next, is_ceiling) in below.chain(above) {
                let Some(there) = pricer.position(from.rows[next]) else { continue };
                if is_low[there] || log_z[there] > f64::NEG_INFINITY {
                    continue;
                }
                let length = pricer.arcs().between(here, there);
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
    fn close(&mut self, arcs: &LocalArcs) {
        let Self { log_z, tree, heap, .. } = self;
        heap.clear();
        let reach = |heap: &mut BinaryHeap<Reached>, log_z: &[f64], at: usize| {
            for (next, length) in arcs.of(at).filter(|arc| log_z[arc.0] == f64::NEG_INFINITY) {
                let key = length - log_z[at];
                heap.push(Reached { key, row: next as u32, from: at as u32 });
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
    fn find_low_rows(&mut self, arcs: &LocalArcs) -> bool {
        let (log_z, mut found) = (&self.log_z, false);
        for (at, is_low) in self.is_low.iter_mut().enumerate() {
            if arcs.of(at).any(|(next, length)| log_z[next] - log_z[at] > length + TIGHT) {
                (*is_low, found) = (true, true);
            }
        }
        found
    }
}
