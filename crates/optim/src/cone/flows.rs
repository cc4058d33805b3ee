//! Flows from priced trees: the witness that the certificate judges.

use super::block::{Block, Blocks, LARGEST_VALUE, NO_ROW, Root};
use super::family::warm_start;
use super::pricing::{node_weights, price_all};
use super::tree::Tree;
use crate::certificate::ArcFlow;
use crate::error::Error;
use crate::problem::Problem;

/// What rounding may take off a residual when flows are added up again, as a share of the sizes it is a difference of: some
/// units in the last place for each of a few hundred terms.
const ROUNDING: f64 = 1e-13;

/// Flows, column by column, that prove the best bound known for `mu`; see [`crate::certificate::bound_of_flows`].
pub(crate) fn flows(problem: &Problem, mu: &[f64]) -> Result<Vec<Vec<ArcFlow>>, Error> {
    let mut blocks = Blocks::new(problem)?;
    let mut trees = blocks.first_trees(true);
    let nowhere = vec![f64::NEG_INFINITY; trees.len()];
    warm_start(&blocks, &mut trees, mu, true, || false);
    price_all(&blocks, &mut trees, mu, &nowhere, true);
    Ok(Prover::new(problem).flows(&blocks, &trees, mu))
}

/// Turns priced trees into flows on the arcs of the problem.
pub(crate) struct Prover<'a> {
    pub(super) problem: &'a Problem,
    /// The rows beside every row, in order.
    pub(super) neighbours: Vec<Vec<Beside>>,
}

/// A row beside another one, and the arc between them.
pub(super) struct Beside {
    pub row: u32,
    /// eps d, and its exponential.
    pub log: f64,
    pub factor: f64,
    arc: u32,
    /// Whether the arc, as the problem has it, leads to this row.
    towards: bool,
}

impl Beside {
    /// A flow on `z_here <= a z_row`, seen from the row that this one lies beside.
    pub fn flow_from_here(&self, amount: f64) -> ArcFlow {
        ArcFlow { arc: self.arc as usize, reversed: !self.towards, amount }
    }

    /// A flow on `z_row <= a z_here`.
    pub fn flow_to_here(&self, amount: f64) -> ArcFlow {
        ArcFlow { arc: self.arc as usize, reversed: self.towards, amount }
    }
}

/// One end of a tree link: a row, and how much of it one unit of the node is.
#[derive(Clone, Copy)]
struct End {
    row: u32,
    factor: f64,
}

/// The largest flow that took a negative residual to a node: `whole` of it arrived, `rate` times what left its child.
#[derive(Clone, Copy)]
struct Arrival {
    child: usize,
    flow: usize,
    rate: f64,
    whole: f64,
}

/// Takes so much off the flow that arrived at a node, and off what had arrived at its child, and so on; returns how
/// much less arrives.
fn give_back(
    too_much: f64,
    node: usize,
    arrivals: &[Option<Arrival>],
    flows: &mut [ArcFlow],
) -> f64 {
    let mut open = too_much;
    let mut returned = None;
    let mut next = arrivals[node];
    while let Some(Arrival { child, flow, rate, whole }) = next {
        let share = (open / whole).min(1.0);
        open = share * whole / rate;
        returned.get_or_insert(share * whole);
        flows[flow].amount *= 1.0 - share;
        next = arrivals[child];
    }
    returned.unwrap_or(0.0)
}

impl<'a> Prover<'a> {
    pub fn new(problem: &'a Problem) -> Self {
        let mut neighbours: Vec<Vec<Beside>> = Vec::new();
        neighbours.resize_with(problem.rows(), Vec::new);
        for (position, arc) in problem.arcs().iter().enumerate() {
            let log = problem.log_ratio(arc);
            let beside = |row: usize, towards| Beside {
                row: row as u32,
                log,
                factor: log.exp(),
                arc: position as u32,
                towards,
            };
            neighbours[arc.i].push(beside(arc.j, true));
            neighbours[arc.j].push(beside(arc.i, false));
        }
        neighbours.iter_mut().for_each(|rows| rows.sort_unstable_by_key(|beside| beside.row));
        Self { problem, neighbours }
    }

    /// How `other` lies beside `row`, if it does.
    pub(super) fn beside(&self, row: u32, other: u32) -> Option<&Beside> {
        let rows = &self.neighbours[row as usize];
        rows.binary_search_by_key(&other, |beside| beside.row).ok().map(|at| &rows[at])
    }

    /// Flows of every column from its blocks' trees, which must be priced at `mu`.
    pub fn flows(&self, blocks: &Blocks, trees: &[Tree], mu: &[f64]) -> Vec<Vec<ArcFlow>> {
        let mut flows = vec![Vec::new(); self.problem.columns()];
        let mut w = Vec::new();
        for (block, tree) in blocks.blocks.iter().zip(trees) {
            node_weights(block, blocks, mu, &mut w);
            let largest = match (&blocks.tied[block.column], block.root) {
                (Some(tied), Root::Y) => tied.largest,
                _ => 1.0,
            };
            self.add(block, tree, largest, &mut w, &mut flows[block.column]);
        }
        self.add_zeros(blocks, mu, &mut flows);
        flows
    }

    /// Carries every node's residual to its parent, leaves first. A residual of the wrong sign (noise
    /// of pricing) stays where it is when it is positive; when it is negative it stays as well, or takes the same
    /// arc the other way, whichever costs less while the root is no larger than `largest`.
    ///
    /// Whoever adds the flows up again rounds against us, and where z is small the residuals may be as large as
    /// e^(eps D) and count as if z were 1. So what rounding may take off is carried along with the rest, to where z is large;
    /// and what is too much for a node at its floor goes back to where it came from, smaller by as many orders of magnitude.
    fn add(
        &self,
        block: &Block,
        tree: &Tree,
        largest: f64,
        residual: &mut [f64],
        flows: &mut Vec<ArcFlow>,
    ) {
        // The sizes that every residual is a difference of.
        let mut size: Vec<f64> =
            residual.iter().zip(&block.cost).map(|(w, cost)| w.abs() + 2.0 * cost).collect();
        let mut arrivals: Vec<Option<Arrival>> = vec![None; residual.len()];
        let log_largest = largest.ln();
        flows.reserve(residual.len());
        for &node in tree.order().iter().rev() {
            let node = node as usize;
            let Some(parent) = tree.parent(node) else { continue };
            let mut left = residual[node] - ROUNDING * size[node];
            if left < 0.0 && !tree.is_at_ceiling(node) {
                left += give_back(-left, node, &arrivals, flows);
            }
            if left == 0.0 || (left > 0.0 && tree.is_at_ceiling(node)) {
                continue;
            }
            let Some((child, above)) = self.ends(block, node, parent, left < 0.0) else { continue };
            let Some(beside) = self.beside(child.row, above.row) else { continue };
            let factor = beside.factor;
            if left < 0.0 && !tree.is_at_ceiling(node) {
                let arriving = -left / child.factor * factor * above.factor;
                let has_room = residual[parent] - ROUNDING * size[parent] >= arriving;
                let is_cheap = tree.logs()[parent] + beside.log + log_largest <= 0.0;
                // A parent at its floor would pass on at a loss what it has no room for.
                let passes_on = tree.parent(parent).is_none() || tree.is_at_ceiling(parent);
                if !(has_room || (is_cheap && passes_on)) {
                    continue;
                }
            }
            if left < 0.0 {
                // z_child <= a z_parent
                let amount = -left / child.factor;
                let arriving = amount * factor * above.factor;
                residual[parent] -= arriving;
                size[parent] += arriving;
                let rate = factor * above.factor / child.factor;
                let arrival = Arrival { child: node, flow: flows.len(), rate, whole: arriving };
                if arrivals[parent].is_none_or(|other| other.whole < arriving) {
                    arrivals[parent] = Some(arrival);
                }
                flows.push(beside.flow_from_here(amount));
            } else {
                // z_parent <= a z_child
                let amount = left / (factor * child.factor);
                let arriving = amount * above.factor;
                residual[parent] += arriving;
                size[parent] += arriving;
                flows.push(beside.flow_to_here(amount));
            }
        }
    }

    /// The rows at both ends of a link; at a root or an inner y, the tied row that is tightest.
    /// `None` where a bound is the limit: its residual needs no arc.
    fn ends(&self, block: &Block, node: usize, parent: usize, up: bool) -> Option<(End, End)> {
        let own = |node: usize| {
            (block.rows[node] != NO_ROW).then(|| End { row: block.rows[node], factor: 1.0 })
        };
        match (own(node), own(parent)) {
            (Some(child), Some(above)) => Some((child, above)),
            (Some(child), None) => {
                let tied = self.tied_neighbour(block.column, child.row, up)?;
                let is_tie = match (block.root, block.inner_y) {
                    (Root::One, Some(y)) => parent == y,
                    (Root::One, None) => !self.bound_is_tighter(block.column, child.row, tied, up),
                    _ => true,
                };
                is_tie.then_some((child, tied))
            }
            // An inner y below a row: y <= a z / f wants the largest f, y >= z / (a f) likewise.
            (None, Some(above)) => {
                Some((self.tied_neighbour(block.column, above.row, !up)?, above))
            }
            (None, None) => None,
        }
    }

    /// Whether a bound on the entry (or the ceiling of all) limits it more than the fixed entry beside it.
    fn bound_is_tighter(&self, column: usize, row: u32, beside: End, up: bool) -> bool {
        let mut bounds = self.problem.bounds().iter();
        let bound = bounds.find(|b| b.row == row as usize && b.column == column);
        let (low, high) =
            bound.map_or((0.0, LARGEST_VALUE), |bound| (bound.low, bound.high.min(LARGEST_VALUE)));
        let Some(y) = self.problem.fixed_y().map(|y| y[column]) else { return true };
        let log = self.beside(row, beside.row).map_or(0.0, |beside| beside.log);
        let fixed = (y * beside.factor).ln();
        if up { high.ln() < fixed + log } else { low.ln() > fixed - log }
    }

    /// The tied row beside `row` that limits it most: from above (`up`) or from below.
    fn tied_neighbour(&self, column: usize, row: u32, up: bool) -> Option<End> {
        let tied = self.neighbours[row as usize].iter().filter_map(|beside| {
            let factor = self.problem.tie(beside.row as usize, column)?;
            let limit = if up { beside.log + factor.ln() } else { beside.log - factor.ln() };
            Some((limit, End { row: beside.row, factor }))
        });
        tied.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, end)| end)
    }
}
