//! Pricing one column on its window: the multiplicative network simplex.
//!
//! Over the cone `z_i <= exp(l_ij) z_j`, scaled to 1 at the anchor, minimise `sum w_i z_i`. An
//! extreme ray is a spanning tree of tight arcs: every row is at the floor (`z_parent / a`) or the
//! ceiling (`a z_parent`) of its parent. A subtree at its floor whose weighted sum `S` is negative
//! is scaled up as a whole, one at its ceiling with positive `S` scaled down, until an arc that
//! leaves the subtree becomes tight; it is re-hung there. All of it in `ln z`.
//!
//! Restricting the cone to a window drops constraints, hence is a relaxation: the minimum is a
//! valid lower bound for the whole column as soon as every weight outside the window is >= 0.

use super::graph::ArcGraph;
use super::window::Window;
use crate::certificate::window_bound;

/// How a row hangs off its parent in the tree: the parent's position in the window, and a bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link(u32);

impl Link {
    /// At the floor: `z = z_parent / a`.
    pub(crate) fn floor(parent: u32) -> Self {
        Self(parent << 1)
    }

    /// At the ceiling: `z = a z_parent`.
    pub(crate) fn ceiling(parent: u32) -> Self {
        Self(parent << 1 | 1)
    }

    /// The parent's position doubled, plus one at the ceiling.
    pub(crate) fn number(self) -> u32 {
        self.0
    }

    pub(crate) fn from_number(number: u32) -> Self {
        Self(number)
    }

    pub(crate) fn parent(self) -> usize {
        (self.0 >> 1) as usize
    }

    pub(crate) fn is_ceiling(self) -> bool {
        self.0 & 1 == 1
    }
}

const NONE: u32 = u32::MAX;

/// The arcs within a window, by position.
#[derive(Default)]
pub(crate) struct LocalArcs {
    start: Vec<u32>,
    head: Vec<u32>,
    length: Vec<f64>,
}

impl LocalArcs {
    /// The arcs that leave the row at a position, as `(position, length)`.
    pub(crate) fn of(&self, at: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.start[at] as usize..self.start[at + 1] as usize;
        let heads = self.head[range.clone()].iter().map(|&head| head as usize);
        heads.zip(self.length[range].iter().copied())
    }

    /// Length of the arc between two positions; of parallel arcs the shortest binds.
    pub(crate) fn between(&self, from: usize, to: usize) -> f64 {
        let lengths = self.of(from).filter(|arc| arc.0 == to).map(|arc| arc.1);
        lengths.fold(f64::INFINITY, f64::min)
    }
}

/// Working memory for pricing, one per thread; `load` a column, `plant` a tree, `optimise`, read the results.
pub(crate) struct Pricer {
    local: Vec<u32>,
    loaded: Vec<u32>,
    arcs: LocalArcs,
    weight: Vec<f64>,
    link: Vec<Link>,
    hang: Vec<f64>,
    log_z: Vec<f64>,
    sum: Vec<f64>,
    first_child: Vec<u32>,
    next_sibling: Vec<u32>,
    previous_sibling: Vec<u32>,
    subtree: Vec<u32>,
    inside: Vec<bool>,
    order: Vec<u32>,
}

impl Pricer {
    pub(crate) fn new(rows: usize) -> Self {
        Self {
            local: vec![NONE; rows],
            loaded: Vec::new(),
            arcs: LocalArcs::default(),
            weight: Vec::new(),
            link: Vec::new(),
            hang: Vec::new(),
            log_z: Vec::new(),
            sum: Vec::new(),
            first_child: Vec::new(),
            next_sibling: Vec::new(),
            previous_sibling: Vec::new(),
            subtree: Vec::new(),
            inside: Vec::new(),
            order: Vec::new(),
        }
    }

    /// Takes a column: its window and the weights `c - mu` on it.
    pub(crate) fn load(
        &mut self,
        graph: &ArcGraph,
        window: Window<'_>,
        weight: impl Iterator<Item = f64>,
    ) {
        for &i in &self.loaded {
            self.local[i as usize] = NONE;
        }
        self.loaded.clear();
        self.loaded.extend_from_slice(window.rows);
        for (at, &i) in window.rows.iter().enumerate() {
            self.local[i as usize] = at as u32;
        }
        let LocalArcs { start, head, length } = &mut self.arcs;
        start.clear();
        head.clear();
        length.clear();
        for &i in window.rows {
            start.push(head.len() as u32);
            for (j, l) in graph.arcs(i as usize) {
                let at = self.local[j as usize];
                if at != NONE {
                    head.push(at);
                    length.push(l);
                }
            }
        }
        start.push(head.len() as u32);
        self.weight.clear();
        self.weight.extend(weight);
        self.inside.clear();
        self.inside.resize(window.rows.len(), false);
    }

    /// Takes the tree to start from.
    pub(crate) fn plant(&mut self, tree: &[Link]) {
        self.link.clear();
        self.link.extend_from_slice(tree);
        self.hang.clear();
        self.hang.push(0.0);
        for at in 1..tree.len() {
            self.hang.push(self.arcs.between(at, self.link[at].parent()));
        }
        self.build_children();
        self.refresh();
    }

    /// The arcs within the window that is loaded.
    pub(crate) fn arcs(&self) -> &LocalArcs {
        &self.arcs
    }

    /// The position of a row in the window that is loaded.
    pub(crate) fn position(&self, row: u32) -> Option<usize> {
        let at = self.local[row as usize];
        (at != NONE).then_some(at as usize)
    }

    fn build_children(&mut self) {
        let m = self.link.len();
        for list in [&mut self.first_child, &mut self.next_sibling, &mut self.previous_sibling] {
            list.clear();
            list.resize(m, NONE);
        }
        for at in 1..m {
            self.attach(at, self.link[at].parent());
        }
    }

    fn attach(&mut self, child: usize, parent: usize) {
        let first = self.first_child[parent];
        self.next_sibling[child] = first;
        self.previous_sibling[child] = NONE;
        if first != NONE {
            self.previous_sibling[first as usize] = child as u32;
        }
        self.first_child[parent] = child as u32;
    }

    fn detach(&mut self, child: usize, parent: usize) {
        let (before, after) = (self.previous_sibling[child], self.next_sibling[child]);
        if before == NONE {
            self.first_child[parent] = after;
        } else {
            self.next_sibling[before as usize] = after;
        }
        if after != NONE {
            self.previous_sibling[after as usize] = before;
        }
    }

    /// Rows in an order where parents come first.
    fn sort_tree(&mut self) {
        self.order.clear();
        self.order.push(0);
        let mut read = 0;
        while read < self.order.len() {
            let mut child = self.first_child[self.order[read] as usize];
            while child != NONE {
                self.order.push(child);
                child = self.next_sibling[child as usize];
            }
            read += 1;
        }
    }

    /// Recomputes `ln z` and the subtree sums from the tree, free of accumulated rounding.
    fn refresh(&mut self) {
        self.sort_tree();
        let m = self.link.len();
        self.log_z.resize(m, 0.0);
        self.sum.resize(m, 0.0);
        self.log_z[0] = 0.0;
        for &at in &self.order[1..] {
            let at = at as usize;
            let (link, hang) = (self.link[at], self.hang[at]);
            self.log_z[at] =
                self.log_z[link.parent()] + if link.is_ceiling() { hang } else { -hang };
        }
        for at in 0..m {
            self.sum[at] = self.weight[at] * self.log_z[at].exp();
        }
        for &at in self.order[1..].iter().rev() {
            let parent = self.link[at as usize].parent();
            self.sum[parent] += self.sum[at as usize];
        }
    }

    /// Pivots until no subtree is worth moving by more than `tolerance`, or `limit` pivots are
    /// spent (ties on even grids can stall; every tree gives valid bounds and a valid ray).
    /// Returns the number of pivots.
    pub(crate) fn optimise(&mut self, tolerance: f64, limit: usize) -> usize {
        let m = self.link.len();
        let mut pivots = 0;
        for _ in 0..4 {
            let before = pivots;
            loop {
                let at_pass = pivots;
                for at in (1..m).rev() {
                    let wrong = if self.link[at].is_ceiling() { 1.0 } else { -1.0 };
                    if self.sum[at] * wrong > tolerance && pivots < limit {
                        self.pivot(at);
                        pivots += 1;
                    }
                }
                if pivots == at_pass {
                    break;
                }
            }
            if pivots == before {
                break;
            }
            self.refresh();
        }
        pivots
    }

    /// Pivots where a subtree is worth moving by more than `relative` for each unit of its own top.
    ///
    /// Far from where a ray is large a subtree may be on the wrong side and yet worth nothing, so that
    /// [`Self::optimise`] leaves it there. What it proves is multiplied on the way to the anchor,
    /// though, by as much as the ray decays: before a proof such subtrees are moved too.
    pub(crate) fn settle(&mut self, relative: f64, limit: usize) {
        let mut pivots = 0;
        loop {
            let before = pivots;
            for at in (1..self.link.len()).rev() {
                let wrong = if self.link[at].is_ceiling() { 1.0 } else { -1.0 };
                let worth = self.sum[at] * wrong;
                if worth > 0.0 && worth > relative * self.log_z[at].exp() && pivots < limit {
                    self.pivot(at);
                    pivots += 1;
                }
            }
            if pivots == before {
                return;
            }
            self.refresh();
        }
    }

    /// Scales the subtree of `top` until an arc that leaves it is tight, and re-hangs it there.
    fn pivot(&mut self, top: usize) {
        let up = !self.link[top].is_ceiling();
        let old_parent = self.link[top].parent();
        self.collect_subtree(top);
        let (mut step, mut joint, mut host, mut hang) = (f64::INFINITY, top, old_parent, 0.0);
        for &a in &self.subtree {
            let a = a as usize;
            for (b, length) in self.arcs.of(a) {
                if self.inside[b] {
                    continue;
                }
                let difference = self.log_z[b] - self.log_z[a];
                let slack = length + if up { difference } else { -difference };
                if slack < step {
                    (step, joint, host, hang) = (slack, a, b, length);
                }
            }
        }
        // Rounding may leave a tight arc a hair beyond tight.
        let step = step.max(0.0);
        let total = self.sum[top];
        let factor = if up { step } else { -step };
        let scale = factor.exp();
        for &a in &self.subtree {
            let a = a as usize;
            self.inside[a] = false;
            self.log_z[a] += factor;
            self.sum[a] *= scale;
        }
        self.add_to_ancestors(old_parent, -total);
        self.detach(top, old_parent);
        self.reroot(top, joint);
        self.link[joint] = if up { Link::ceiling(host as u32) } else { Link::floor(host as u32) };
        self.hang[joint] = hang;
        self.attach(joint, host);
        self.add_to_ancestors(host, total * scale);
    }

    fn collect_subtree(&mut self, top: usize) {
        self.subtree.clear();
        self.subtree.push(top as u32);
        self.inside[top] = true;
        let mut read = 0;
        while read < self.subtree.len() {
            let mut child = self.first_child[self.subtree[read] as usize];
            while child != NONE {
                self.inside[child as usize] = true;
                self.subtree.push(child);
                child = self.next_sibling[child as usize];
            }
            read += 1;
        }
    }

    /// Turns the links on the path from `joint` up to `top` around, so that `joint` is the top.
    fn reroot(&mut self, top: usize, joint: usize) {
        let total = self.sum[top];
        let (mut child, mut below) = (joint, 0.0);
        let mut link = self.link[joint];
        let mut hang = self.hang[joint];
        if joint != top {
            self.detach(joint, link.parent());
        }
        while child != top {
            let parent = link.parent();
            let next = (self.link[parent], self.hang[parent]);
            if parent != top {
                self.detach(parent, next.0.parent());
            }
            let old = self.sum[child];
            self.sum[child] = total - below;
            below = old;
            // Floor of its parent seen from the other end is ceiling of its child.
            self.link[parent] = if link.is_ceiling() {
                Link::floor(child as u32)
            } else {
                Link::ceiling(child as u32)
            };
            self.hang[parent] = hang;
            self.attach(parent, child);
            (link, hang) = next;
            child = parent;
        }
        self.sum[child] = total - below;
    }

    fn add_to_ancestors(&mut self, mut at: usize, amount: f64) {
        self.sum[at] += amount;
        while at != 0 {
            at = self.link[at].parent();
            self.sum[at] += amount;
        }
    }

    /// The value `sum w z` of the current ray.
    pub(crate) fn value(&self) -> f64 {
        self.sum[0]
    }

    /// `sum |w| z` of the current ray: what its value is to be measured by.
    pub(crate) fn magnitude(&self) -> f64 {
        self.weight.iter().zip(&self.log_z).map(|(w, u)| w.abs() * u.exp()).sum()
    }

    /// The current tree.
    pub(crate) fn tree(&self) -> &[Link] {
        &self.link
    }

    /// `ln z` of the current ray on the window.
    pub(crate) fn log_ray(&self) -> &[f64] {
        &self.log_z
    }

    /// A lower bound of `sum w z` over the cone that rounding cannot break.
    pub(crate) fn proven_value(&mut self) -> f64 {
        self.sort_tree();
        let Self { weight, link, hang, order, sum, .. } = self;
        let upwards = order[1..].iter().rev().map(|&at| at as usize);
        window_bound(weight, upwards.map(|at| (at, link[at].parent(), hang[at])), sum)
    }
}
