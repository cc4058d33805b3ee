//! The long-step rule: one pivot passes many constraints.
//!
//! A subtree that moves comes to rows that limit it. Those that are free to come along join it; members that can go no further stay
//! behind, held by what they came to; and the rest moves on, as long as that is worth it. On a fine map a subtree passes hundreds of
//! rows on its way, and each would be a pivot of its own: the first pricing of Reykjavik (2,503 places, 22 arcs each) took up to 32,000 pivots a
//! column without this rule, and takes 72 on average with it.

use super::{NONE, Scratch, Tree};
use crate::cone::graph::Graph;
use crate::cone::search::Reached;
use crate::cone::tuning::TUNING;
use std::collections::BinaryHeap;

impl Tree {
    /// Whether a node outside may come along, with all that hangs from it, when the subtree of `node` reaches it after `step`: whether it is free to
    /// move that way, and moving on is still worth it then (`sum` is what the members are worth at their start).
    pub(super) fn can_join(
        &self,
        node: u32,
        outside: u32,
        sum: f64,
        step: f64,
        up: bool,
        scratch: &Scratch,
    ) -> bool {
        let at = outside as usize;
        if self.parent[at] == NONE || self.at_ceiling[at] == up || step > TUNING.long_step {
            return false;
        }
        let sign = if up { 1.0 } else { -1.0 };
        let together = sum + scratch.subtree[at] * (-sign * step.max(0.0)).exp();
        if sign * together >= -1e-12 * sum.abs() {
            return false;
        }
        let mut ancestor = self.parent[node as usize];
        while ancestor != NONE {
            if ancestor == outside {
                return false;
            }
            ancestor = self.parent[ancestor as usize];
        }
        true
    }

    /// Moves on from limit to limit, nearest first. Returns where the step ends and at which two rows; logarithms and sums of who has joined are given as if it had
    /// been there from the start, those of who stayed behind are final.
    pub(super) fn go_on(
        &mut self,
        graph: &Graph,
        node: u32,
        up: bool,
        rim: &mut BinaryHeap<Reached>,
        scratch: &mut Scratch,
    ) -> (f64, u32, u32) {
        let sign = if up { 1.0 } else { -1.0 };
        let mut cap = self.nearest_cap(up, scratch);
        let mut last = (0.0, node, NONE);
        loop {
            let next = loop {
                let Some(known) = rim.pop() else { break None };
                if scratch.stamp[known.from as usize] != scratch.clock {
                    continue;
                }
                // Who has joined or stayed behind since then is elsewhere.
                match self.next_limit(graph, known.from, up, scratch) {
                    Some(next) if next.key <= known.key => break Some(next),
                    next => rim.extend(next),
                }
            };
            let Some(Reached { key, row, from }) = next.filter(|next| next.key < cap.0) else {
                return if cap.1 == NONE { last } else { (cap.0, cap.1, NONE) };
            };
            let step = key.max(last.0);
            last = (step, from, row);
            let changed = scratch.members.len();
            if self.can_join(node, row, scratch.subtree[node as usize], step, up, scratch) {
                self.join(node, row, from, (up, sign * step), scratch);
                rim.extend(self.next_limit(graph, from, up, scratch));
                for &member in &scratch.members[changed..] {
                    rim.extend(self.next_limit(graph, member, up, scratch));
                    if up && self.capped && -self.log[member as usize] < cap.0 {
                        cap = (-self.log[member as usize], member);
                    }
                }
            } else if self.can_leave(node, from, step, up, scratch) {
                self.leave(node, from, row, (up, sign * step), scratch);
                for &row in &scratch.members[changed..] {
                    rim.extend(self.limits_by(graph, row, up, scratch));
                }
                scratch.members.truncate(changed);
                if cap.1 != NONE && scratch.stamp[cap.1 as usize] != scratch.clock {
                    cap = self.nearest_cap(up, scratch);
                }
            } else {
                return last;
            }
        }
    }

    /// What limits the members, looked at from the smaller side: the first limit of each of them, or all by each row that is none.
    pub(super) fn fill_rim(
        &self,
        graph: &Graph,
        up: bool,
        scratch: &Scratch,
        rim: &mut Vec<Reached>,
    ) {
        rim.clear();
        if 2 * scratch.members.len() <= graph.nodes() {
            let limit = |&member: &u32| self.next_limit(graph, member, up, scratch);
            rim.extend(scratch.members.iter().filter_map(limit));
        } else {
            for row in (0..graph.nodes()).filter(|&row| scratch.stamp[row] != scratch.clock) {
                rim.extend(self.limits_by(graph, row as u32, up, scratch));
            }
        }
    }

    /// How far each member beside a row that is none can move before it is tight with that.
    fn limits_by<'a>(
        &'a self,
        graph: &'a Graph,
        row: u32,
        up: bool,
        scratch: &'a Scratch,
    ) -> impl Iterator<Item = Reached> + 'a {
        let (links, log) = (graph.links(row as usize), self.log[row as usize]);
        let (limits, sign) = if up { (links.down, 1.0) } else { (links.up, -1.0) };
        let is_member = |from: u32| scratch.stamp[from as usize] == scratch.clock;
        let beside = links.targets.iter().zip(limits).filter(move |(from, _)| is_member(**from));
        beside.map(move |(&from, &limit)| Reached {
            key: limit - sign * (self.log[from as usize] - log),
            row,
            from,
        })
    }

    /// How far a member can move before it is tight with a row that is none, and that row.
    #[inline(always)]
    fn next_limit(&self, graph: &Graph, from: u32, up: bool, scratch: &Scratch) -> Option<Reached> {
        let (links, log) = (graph.links(from as usize), self.log[from as usize]);
        let (limits, sign) = if up { (links.up, 1.0) } else { (links.down, -1.0) };
        let mut next = Reached { key: f64::INFINITY, row: NONE, from };
        for (&row, &limit) in links.targets.iter().zip(limits) {
            if scratch.stamp[row as usize] != scratch.clock {
                let key = limit - sign * (log - self.log[row as usize]);
                if key < next.key {
                    (next.key, next.row) = (key, row);
                }
            }
        }
        (next.row != NONE).then_some(next)
    }

    /// How far the members can rise before one is at 1, and which.
    pub(super) fn nearest_cap(&self, up: bool, scratch: &Scratch) -> (f64, u32) {
        let mut nearest = (f64::INFINITY, NONE);
        if up && self.capped {
            for &member in &scratch.members {
                let slack = -self.log[member as usize];
                if slack < nearest.0 && scratch.stamp[member as usize] == scratch.clock {
                    nearest = (slack, member);
                }
            }
        }
        nearest
    }

    /// Whether a member that can go no further may stay behind, with all that hangs from it, and moving the others is still worth it.
    pub(super) fn can_leave(
        &self,
        node: u32,
        inside: u32,
        step: f64,
        up: bool,
        scratch: &Scratch,
    ) -> bool {
        if inside == node || self.at_ceiling[inside as usize] != up || step > TUNING.long_step {
            return false;
        }
        let sign = if up { 1.0 } else { -1.0 };
        let sum = scratch.subtree[node as usize];
        sign * (sum - scratch.subtree[inside as usize]) < -1e-12 * sum.abs()
    }

    /// Hangs the member `inside`, and all that hangs from it, from `row`, which holds it after moving by `step`. They are listed once more at
    /// the end of the members.
    fn leave(
        &mut self,
        node: u32,
        inside: u32,
        row: u32,
        (up, step): (bool, f64),
        scratch: &mut Scratch,
    ) {
        let sum = scratch.subtree[inside as usize];
        self.add_above(self.parent[inside as usize], node, -sum, scratch);
        self.hang(inside, row, up);
        self.shift(inside, step, scratch.clock.wrapping_sub(1), scratch);
        self.add_above(row, NONE, sum * step.exp(), scratch);
    }

    /// Hangs `row`, and all that hangs from it, from the member `from`, which has reached it after moving by `step`.
    fn join(
        &mut self,
        node: u32,
        row: u32,
        from: u32,
        (up, step): (bool, f64),
        scratch: &mut Scratch,
    ) {
        let sum = scratch.subtree[row as usize];
        self.add_above(self.parent[row as usize], NONE, -sum, scratch);
        // It is where the member forces it to be: at its floor when that goes up, at its ceiling when it goes down.
        self.hang(row, from, !up);
        self.shift(row, -step, scratch.clock, scratch);
        self.add_above(from, node, sum * (-step).exp(), scratch);
    }

    /// Takes a node off its parent and hangs it from another.
    fn hang(&mut self, node: u32, parent: u32, at_ceiling: bool) {
        self.unlink_child(node);
        self.parent[node as usize] = parent;
        self.at_ceiling[node as usize] = at_ceiling;
        self.link_child(parent, node);
    }

    /// Moves a node and all that hangs from it, gives them a stamp, and lists them at the end of the members.
    fn shift(&mut self, node: u32, step: f64, stamp: u32, scratch: &mut Scratch) {
        let (scale, mut position) = (step.exp(), scratch.members.len());
        scratch.members.push(node);
        while position < scratch.members.len() {
            let member = scratch.members[position] as usize;
            scratch.stamp[member] = stamp;
            self.log[member] += step;
            scratch.subtree[member] *= scale;
            let mut child = self.first_child[member];
            while child != NONE {
                scratch.members.push(child);
                child = self.next[child as usize];
            }
            position += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reports differ over the rows of a fine grid: some gain, near and far, all others cost.
    fn weights(nodes: usize, seed: usize) -> Vec<f64> {
        let number = |i: usize| (((i + 17 * seed) * 2_654_435_761) % 1_000) as f64 / 1_000.0;
        (0..nodes)
            .map(|i| if number(i) < 0.06 { -4.0 * number(3 * i + 1) } else { 0.1 + number(i) })
            .collect()
    }

    /// Arcs to neighbours one and two steps away, so that many ways are nearly as short.
    fn grid(side: usize, spacing: f64) -> Graph {
        let mut pairs = Vec::new();
        for i in 0..side * side {
            for j in i + 1..side * side {
                let apart = |a: usize, b: usize| a.abs_diff(b) as f64;
                let (dx, dy) = (apart(i % side, j % side), apart(i / side, j / side));
                if dx.max(dy) <= 2.0 {
                    let length = spacing * dx.hypot(dy) * (1.0 + 1e-3 * ((i * j) as f64).sin());
                    pairs.push((i as u32, j as u32, length, length));
                }
            }
        }
        Graph::new(side * side, &pairs)
    }

    #[test]
    fn after_long_steps_every_link_is_tight_and_no_subtree_would_rather_move() {
        let graph = grid(14, 0.3);
        let nodes = graph.nodes();
        for seed in 0..20 {
            let w = weights(nodes, seed);
            let mut tree = Tree::shortest_paths(&graph, 7 * seed % nodes, true).unwrap();
            let mut scratch = Scratch::default();
            let value = tree.price(&graph, &w, &mut scratch);
            assert!(scratch.pivots > 0);
            let exact: f64 = tree.point().iter().zip(&w).map(|(z, w)| z * w).sum();
            assert!((value - exact).abs() <= 1e-11, "{value} is {exact}");
            for node in 0..nodes {
                let links = graph.links(node);
                for (&target, &limit) in links.targets.iter().zip(links.up) {
                    assert!(tree.log[node] - tree.log[target as usize] <= limit + 1e-11);
                }
                let Some(parent) = tree.parent(node) else {
                    assert!(tree.log[node].abs() <= 1e-11 || tree.tops().count() == 1);
                    continue;
                };
                let at =
                    links.targets.iter().position(|&target| target as usize == parent).unwrap();
                let apart = tree.log[node] - tree.log[parent];
                let tight = if tree.is_at_ceiling(node) { links.up[at] } else { -links.up[at] };
                assert!((apart - tight).abs() <= 1e-11, "row {node}: {apart}, not {tight}");
            }
            assert_eq!(tree.improving_subtrees(&w, &mut scratch), 0);
        }
    }
}
