//! Pricing: the multiplicative network simplex.
//!
//! An extreme ray of one column's cone is a spanning tree of tight constraints. Every node hangs
//! below its parent at its *floor* (`z_parent <= a z` is tight) or at its *ceiling*
//! (`z <= a z_parent` is tight). With `S` the sum of `w z` over a subtree, a subtree at its floor with
//! S < 0 is scaled up as a whole, one at its ceiling with S > 0 scaled down, until a constraint that
//! leaves the subtree becomes tight; there it is hung again. All of it in `ln z`.
//!
//! A cone is priced within `z <= 1`, which every row sum implies: several trees then hang side by side, each
//! from a *top* at that ceiling. Without it a wrong dual would send its rays as far as e^(eps D) from the
//! root. What a top's tree sums up to is the least by which the dual of its row must be lowered (`dual`).

mod long_step;

use super::graph::Graph;
use super::search::{Paths, Reached};
use std::collections::BinaryHeap;

const NONE: u32 = u32::MAX;

/// What rounding leaves of sums over a tree, as a share of the sizes summed up.
const ROUNDING: f64 = 1e-14;

/// A spanning tree of tight constraints with the logarithms of its ray, kept between pricings.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tree {
    /// First of the nodes that hang from no other, chained like children: the root, or the tops.
    first_top: u32,
    /// Whether nodes stop at `z = 1`; otherwise the one top is the root of all.
    capped: bool,
    parent: Vec<u32>,
    first_child: Vec<u32>,
    next: Vec<u32>,
    previous: Vec<u32>,
    at_ceiling: Vec<bool>,
    log: Vec<f64>,
    /// Nodes from the tops down, and z itself: as of the last pricing, which most others find unchanged.
    order: Vec<u32>,
    z: Vec<f64>,
    is_current: bool,
}

/// Working memory of one thread, reused from block to block.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// The point after pricing.
    pub z: Vec<f64>,
    /// How many pivots it took; none: the point is the one before.
    pub pivots: usize,
    /// Sum of `w z` over every node's subtree.
    pub subtree: Vec<f64>,
    members: Vec<u32>,
    stamp: Vec<u32>,
    clock: u32,
    path: Vec<u32>,
    rim: Vec<Reached>,
}

impl Tree {
    /// The smallest point with `z_root = 1`: shortest paths along the floors, `z_i = exp(-eps D)`.
    /// `None` when some node cannot be reached. With `capped` no node will rise above 1, the root being
    /// just the first to be there.
    pub fn shortest_paths(graph: &Graph, root: usize, capped: bool) -> Option<Self> {
        let nodes = graph.nodes();
        // log z_node <= up + log z_target, so the target's floor is log - up.
        let Paths { distance, parent } = Paths::from(graph, root, |links| links.up)?;
        let mut tree = Self {
            first_top: root as u32,
            capped,
            parent,
            first_child: vec![NONE; nodes],
            next: vec![NONE; nodes],
            previous: vec![NONE; nodes],
            at_ceiling: vec![false; nodes],
            log: distance.into_iter().map(|distance| 0.0 - distance).collect(),
            order: Vec::with_capacity(nodes),
            z: Vec::with_capacity(nodes),
            is_current: false,
        };
        tree.at_ceiling[root] = true;
        for node in (0..nodes).filter(|&node| node != root) {
            tree.link_child(tree.parent[node], node as u32);
        }
        tree.refresh();
        Some(tree)
    }

    /// The nodes that hang from no other.
    pub fn tops(&self) -> impl Iterator<Item = usize> {
        let first = (self.first_top != NONE).then_some(self.first_top as usize);
        std::iter::successors(first, |&top| {
            (self.next[top] != NONE).then_some(self.next[top] as usize)
        })
    }

    pub fn parent(&self, node: usize) -> Option<usize> {
        (self.parent[node] != NONE).then_some(self.parent[node] as usize)
    }

    pub fn is_at_ceiling(&self, node: usize) -> bool {
        self.at_ceiling[node]
    }

    pub fn logs(&self) -> &[f64] {
        &self.log
    }

    /// The point as of the last pricing or, before the first one, where the tree began.
    pub fn point(&self) -> &[f64] {
        debug_assert!(self.is_current);
        &self.z
    }

    /// Nodes from the tops down, parents before children, likewise.
    pub fn order(&self) -> &[u32] {
        debug_assert!(self.is_current);
        &self.order
    }

    /// The same tree for another epsilon: all logarithms scale alike, tight links stay tight.
    pub fn scale_logs(&mut self, ratio: f64) {
        self.log.iter_mut().for_each(|log| *log *= ratio);
        self.refresh();
    }

    /// Becomes the tree in which every node but the first, which is its root, hangs from `(parent, at the ceiling?)`.
    #[cfg(feature = "parallel")]
    pub(super) fn plant(&mut self, graph: &Graph, links: impl Iterator<Item = (u32, bool)>) {
        self.parent.clear();
        self.at_ceiling.clear();
        for (parent, at_ceiling) in links {
            self.parent.push(parent);
            self.at_ceiling.push(at_ceiling);
        }
        (self.parent[0], self.at_ceiling[0], self.capped) = (NONE, true, false);
        let nodes = self.parent.len();
        for list in [&mut self.first_child, &mut self.next, &mut self.previous] {
            list.clear();
            list.resize(nodes, NONE);
        }
        self.first_top = 0;
        for node in 1..nodes {
            self.link_child(self.parent[node], node as u32);
        }
        self.sort();
        self.log.resize(nodes, 0.0);
        self.log[0] = 0.0;
        for &node in &self.order[1..] {
            let (node, parent) = (node as usize, self.parent[node as usize] as usize);
            let length = graph.between(node, parent);
            self.log[node] =
                self.log[parent] + if self.at_ceiling[node] { length } else { -length };
        }
        self.raise();
    }

    /// Brings order and point up to date.
    fn refresh(&mut self) {
        self.sort();
        self.raise();
    }

    fn sort(&mut self) {
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        order.extend(self.tops().map(|top| top as u32));
        let mut position = 0;
        while position < order.len() {
            let mut child = self.first_child[order[position] as usize];
            while child != NONE {
                order.push(child);
                child = self.next[child as usize];
            }
            position += 1;
        }
        self.order = order;
    }

    fn raise(&mut self) {
        self.z.clear();
        self.z.extend(self.log.iter().map(|log| log.exp()));
        self.is_current = true;
    }

    /// Minimises `w . z` over the cone, scaled to 1 at the root or capped at 1, from the current tree. The
    /// point is left in `scratch.z`, the number of pivots in `scratch.pivots`.
    pub fn price(&mut self, graph: &Graph, w: &[f64], scratch: &mut Scratch) -> f64 {
        let limit = 200 * graph.nodes() + 1000;
        let mut pivots = 0;
        loop {
            let tolerance = ROUNDING * self.sum_subtrees(w, scratch);
            let improves = |tree: &Self, node: u32, scratch: &mut Scratch| {
                !tree.is_last_top(node) && tree.improves(node, w, tolerance, scratch)
            };
            let before = pivots;
            let order = std::mem::take(&mut self.order);
            loop {
                // Leaves first: small subtrees settle before the large ones that contain them.
                let nodes = order.iter().rev().copied();
                let more = self.sweep(graph, nodes, usize::MAX, scratch, improves);
                pivots += more;
                if more == 0 || pivots > limit {
                    break;
                }
            }
            self.order = order;
            if pivots == before {
                break;
            }
            if pivots > limit {
                self.sum_subtrees(w, scratch);
                break;
            }
        }
        scratch.pivots = pivots;
        self.tops().map(|top| scratch.subtree[top]).sum()
    }

    /// Moves every subtree that `improves` says, node by node, but no more than `limit` of them; returns how many.
    pub(super) fn sweep(
        &mut self,
        graph: &Graph,
        nodes: impl Iterator<Item = u32>,
        limit: usize,
        scratch: &mut Scratch,
        improves: impl Fn(&Self, u32, &mut Scratch) -> bool,
    ) -> usize {
        let mut pivots = 0;
        for node in nodes {
            if pivots < limit && improves(self, node, scratch) {
                self.pivot(graph, node, !self.at_ceiling[node as usize], scratch);
                pivots += 1;
            }
        }
        pivots
    }

    /// Whether all others hang below: a root stays where it is, and the last top is the scale of its ray.
    fn is_last_top(&self, node: u32) -> bool {
        self.first_top == node && self.next[node as usize] == NONE
    }

    /// Whether moving the subtree of `node` away from its tight link lowers `w . z`. Sums below the
    /// tolerance of the whole tree still count when they are clear within their own subtree: a far
    /// basin of low cost weighs next to nothing until it has been scaled up, and what hangs above it
    /// at a ceiling must come down first.
    fn improves(&self, node: u32, w: &[f64], tolerance: f64, scratch: &mut Scratch) -> bool {
        let sum = scratch.subtree[node as usize];
        // Away from the tight link: up from a floor, down from a ceiling.
        let sign = if self.at_ceiling[node as usize] { -1.0 } else { 1.0 };
        if sign * sum >= 0.0 || sum.abs() > tolerance {
            return sign * sum < 0.0;
        }
        // Summed afresh: what was added and taken off above the tolerance has left its rounding here.
        let (mut fresh, mut magnitude) = (0.0, 0.0);
        scratch.members.clear();
        scratch.members.push(node);
        while let Some(member) = scratch.members.pop() {
            let term = w[member as usize] * self.log[member as usize].exp();
            fresh += term;
            magnitude += term.abs();
            let mut child = self.first_child[member as usize];
            while child != NONE {
                scratch.members.push(child);
                child = self.next[child as usize];
            }
        }
        scratch.subtree[node as usize] = fresh;
        sign * fresh < -1e-12 * magnitude
    }

    /// Number of subtrees that would rather move than stay where they are.
    pub fn improving_subtrees(&mut self, w: &[f64], scratch: &mut Scratch) -> usize {
        let tolerance = ROUNDING * self.sum_subtrees(w, scratch);
        let nodes = 0..w.len();
        let moves =
            |&node: &usize| self.parent(node).is_some() && self.gain(node, scratch) > tolerance;
        nodes.filter(moves).count()
    }

    /// What moving the subtree of a node away from its tight link is worth.
    pub(super) fn gain(&self, node: usize, scratch: &Scratch) -> f64 {
        let sum = scratch.subtree[node];
        if self.at_ceiling[node] { sum } else { -sum }
    }

    /// Fresh z and subtree sums; returns `sum |w| z`, by which they are to be measured.
    pub(super) fn sum_subtrees(&mut self, w: &[f64], scratch: &mut Scratch) -> f64 {
        if !self.is_current {
            self.refresh();
        }
        scratch.stamp.resize(scratch.stamp.len().max(w.len()), 0);
        scratch.z.clone_from(&self.z);
        scratch.subtree.clear();
        scratch.subtree.extend(scratch.z.iter().zip(w).map(|(z, w)| z * w));
        let magnitude: f64 = scratch.subtree.iter().map(|v| v.abs()).sum();
        for &node in self.order.iter().rev() {
            let parent = self.parent[node as usize];
            if parent != NONE {
                scratch.subtree[parent as usize] += scratch.subtree[node as usize];
            }
        }
        magnitude
    }

    /// Scales the subtree of `node` (up or down) until a constraint across its rim is tight.
    fn pivot(&mut self, graph: &Graph, node: u32, up: bool, scratch: &mut Scratch) {
        scratch.clock = scratch.clock.wrapping_add(1);
        self.collect(node, scratch);
        self.is_current = false;
        let mut rim = std::mem::take(&mut scratch.rim);
        self.fill_rim(graph, up, scratch, &mut rim);
        let (cap, capped) = self.nearest_cap(up, scratch);
        let (mut step, mut inside, mut outside) = (cap, capped, NONE);
        for next in &rim {
            if next.key < step {
                (step, inside, outside) = (next.key, next.from, next.row);
            }
        }
        if inside == NONE {
            scratch.rim = rim;
            return; // only possible when the rim has no constraint this way: nothing to gain
        }
        let old_sum = scratch.subtree[node as usize];
        if outside != NONE
            && (self.can_join(node, outside, old_sum, step, up, scratch)
                || self.can_leave(node, inside, step, up, scratch))
        {
            let mut heap = BinaryHeap::from(rim);
            (step, inside, outside) = self.go_on(graph, node, up, &mut heap, scratch);
            self.collect(node, scratch);
            rim = heap.into_vec();
        }
        scratch.rim = rim;
        let step = if up { step.max(0.0) } else { -step.max(0.0) };
        let factor = step.exp();
        self.add_above(self.parent[node as usize], NONE, -old_sum, scratch);
        for &member in &scratch.members {
            self.log[member as usize] += step;
            scratch.subtree[member as usize] *= factor;
        }
        self.unlink_child(node);
        let total = scratch.subtree[node as usize];
        let mut path = std::mem::take(&mut scratch.path);
        self.reverse_path(inside, node, &mut path);
        // New sums along the reversed path: everything but what used to hang below.
        let mut below = total;
        for &q in &path {
            let old = scratch.subtree[q as usize];
            scratch.subtree[q as usize] = if q == inside { total } else { total - below };
            below = old;
        }
        scratch.path = path;
        self.parent[inside as usize] = outside;
        self.at_ceiling[inside as usize] = up;
        self.link_child(outside, inside); // from nowhere at the ceiling of all: a top
        self.add_above(outside, NONE, total, scratch);
    }

    /// Adds to the sums of a node and of all above it, up to `last` or its top.
    fn add_above(&self, node: u32, last: u32, sum: f64, scratch: &mut Scratch) {
        let mut ancestor = node;
        while ancestor != NONE {
            scratch.subtree[ancestor as usize] += sum;
            if ancestor == last {
                break;
            }
            ancestor = self.parent[ancestor as usize];
        }
    }

    /// The members: a node and all that hangs from it.
    fn collect(&self, node: u32, scratch: &mut Scratch) {
        let stamp = scratch.clock;
        scratch.members.clear();
        scratch.members.push(node);
        scratch.stamp[node as usize] = stamp;
        let mut position = 0;
        while position < scratch.members.len() {
            let mut child = self.first_child[scratch.members[position] as usize];
            while child != NONE {
                scratch.stamp[child as usize] = stamp;
                scratch.members.push(child);
                child = self.next[child as usize];
            }
            position += 1;
        }
    }

    /// Turns the path from `bottom` up to `top` around, so that `bottom` is the top of its part;
    /// the path is left in `path`, from `bottom` on. The tight link is the same seen from below, so
    /// floor and ceiling swap.
    fn reverse_path(&mut self, bottom: u32, top: u32, path: &mut Vec<u32>) {
        path.clear();
        let mut node = bottom;
        loop {
            path.push(node);
            if node == top {
                break;
            }
            node = self.parent[node as usize];
        }
        for i in (1..path.len()).rev() {
            let (above, below) = (path[i], path[i - 1]);
            self.unlink_child(below);
            self.at_ceiling[above as usize] = !self.at_ceiling[below as usize];
            self.parent[above as usize] = below;
        }
        for i in 1..path.len() {
            self.link_child(path[i - 1], path[i]);
        }
    }

    /// The first node that hangs from `parent`.
    fn first_below(&mut self, parent: u32) -> &mut u32 {
        match parent {
            NONE => &mut self.first_top,
            parent => &mut self.first_child[parent as usize],
        }
    }

    fn link_child(&mut self, parent: u32, child: u32) {
        let first = std::mem::replace(self.first_below(parent), child);
        self.next[child as usize] = first;
        self.previous[child as usize] = NONE;
        if first != NONE {
            self.previous[first as usize] = child;
        }
    }

    fn unlink_child(&mut self, child: u32) {
        let (previous, next) = (self.previous[child as usize], self.next[child as usize]);
        if previous != NONE {
            self.next[previous as usize] = next;
        } else {
            *self.first_below(self.parent[child as usize]) = next;
        }
        if next != NONE {
            self.previous[next as usize] = previous;
        }
    }
}
