//! Pricing one column on its window: a part of the rows, loaded as a graph of its own, its first row the anchor where z is 1.
//!
//! Restricting the cone to a window drops constraints, hence is a relaxation: the minimum is a
//! valid lower bound for the whole column as soon as every weight outside the window is >= 0.

use super::graph::Graph;
use super::tree::{Scratch, Tree};
use super::tuning::TUNING;
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

/// Not in the window.
const NOWHERE: u32 = u32::MAX;

/// Working memory for pricing, one per thread; `load` a column, `plant` a tree, `optimise`, read the results.
pub(crate) struct Pricer {
    /// Position of every row in the window.
    local: Vec<u32>,
    loaded: Vec<u32>,
    graph: Graph,
    weight: Vec<f64>,
    tree: Tree,
    scratch: Scratch,
}

impl Pricer {
    pub(crate) fn new(rows: usize) -> Self {
        Self {
            local: vec![NOWHERE; rows],
            loaded: Vec::new(),
            graph: Graph::default(),
            weight: Vec::new(),
            tree: Tree::default(),
            scratch: Scratch::default(),
        }
    }

    /// Takes a column: the rows of its window and the weights `c - mu` on them.
    pub(crate) fn load(&mut self, whole: &Graph, rows: &[u32], weight: impl Iterator<Item = f64>) {
        for &i in &self.loaded {
            self.local[i as usize] = NOWHERE;
        }
        self.loaded.clear();
        self.loaded.extend_from_slice(rows);
        for (at, &i) in rows.iter().enumerate() {
            self.local[i as usize] = at as u32;
        }
        self.graph.become_part(whole, rows, &self.local);
        self.weight.clear();
        self.weight.extend(weight);
    }

    /// Takes the tree to start from.
    pub(crate) fn plant(&mut self, links: &[Link]) {
        let links = links.iter().map(|link| (link.parent() as u32, link.is_ceiling()));
        self.tree.plant(&self.graph, links);
    }

    /// The rows of the window that is loaded.
    pub(crate) fn rows(&self) -> &[u32] {
        &self.loaded
    }

    /// The arcs among them, by position.
    pub(crate) fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The position of a row in the window.
    pub(crate) fn position(&self, row: u32) -> Option<usize> {
        let at = self.local[row as usize];
        (at != NOWHERE).then_some(at as usize)
    }

    /// Pivots until no subtree is worth moving by more than `precision` of `sum |w| z`, or `limit` pivots are
    /// spent (ties on even grids can stall; every tree gives valid bounds and a valid ray). Returns the value of the ray.
    pub(crate) fn optimise(&mut self, precision: f64, limit: usize) -> f64 {
        let Self { graph, weight, tree, scratch, .. } = self;
        let tolerance = precision * tree.sum_subtrees(weight, scratch);
        let mut pivots = 0;
        for _ in 0..TUNING.last_sweeps {
            let before = pivots;
            loop {
                let more =
                    tree.sweep(graph, inwards(weight), limit - pivots, scratch, |tree, at, s| {
                        tree.gain(at as usize, s) > tolerance
                    });
                pivots += more;
                if more == 0 {
                    break;
                }
            }
            if pivots == before {
                break;
            }
            tree.sum_subtrees(weight, scratch);
        }
        scratch.subtree[0]
    }

    /// Pivots where a subtree is worth moving by more than `relative` for each unit of its own top.
    ///
    /// Far from where a ray is large a subtree may be on the wrong side and yet worth nothing, so that
    /// [`Self::optimise`] leaves it there. What it proves is multiplied on the way to the anchor,
    /// though, by as much as the ray decays: before a proof such subtrees are moved too.
    pub(crate) fn settle(&mut self, relative: f64, limit: usize) {
        let Self { graph, weight, tree, scratch, .. } = self;
        let mut pivots = 0;
        loop {
            tree.sum_subtrees(weight, scratch);
            let more =
                tree.sweep(graph, inwards(weight), limit - pivots, scratch, |tree, at, s| {
                    let gain = tree.gain(at as usize, s);
                    gain > 0.0 && gain > relative * tree.logs()[at as usize].exp()
                });
            pivots += more;
            if more == 0 {
                return;
            }
        }
    }

    /// The current tree.
    pub(crate) fn links(&self) -> impl Iterator<Item = Link> {
        let link = |at| match (self.tree.parent(at), self.tree.is_at_ceiling(at)) {
            (None, _) => Link::floor(0),
            (Some(parent), false) => Link::floor(parent as u32),
            (Some(parent), true) => Link::ceiling(parent as u32),
        };
        (0..self.weight.len()).map(link)
    }

    /// The ray of the current tree.
    pub(crate) fn ray(&self) -> &[f64] {
        self.tree.point()
    }

    /// A lower bound of `sum w z` over the cone that rounding cannot break.
    pub(crate) fn proven_value(&mut self) -> f64 {
        let Self { graph, weight, tree, scratch, .. } = self;
        let upwards = tree.order()[1..].iter().rev().map(|&at| at as usize);
        let links = upwards.filter_map(|at| {
            let parent = tree.parent(at)?;
            Some((at, parent, graph.between(at, parent)))
        });
        window_bound(weight, links, &mut scratch.subtree)
    }
}

/// The rows of a window but its anchor, the farthest first.
fn inwards(window: &[f64]) -> impl Iterator<Item = u32> {
    (1..window.len() as u32).rev()
}
