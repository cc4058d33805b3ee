//! The problem cut into blocks: per column, the connected parts of its free entries.
//!
//! A column without ties or bounds is a *cone*: any multiple of a ray is allowed. Where entries are
//! tied, the shared y_k is a root of known scale for each connected part of the free entries, and the
//! parts are priced apart (rays split per column and user). Where entries are fixed or bounded, the
//! root is the constant 1.

use super::graph::Graph;
use super::pricing::for_each;
use super::tree::Tree;
use super::zero::ZeroPart;
use crate::error::{Error, Infeasibility};
use crate::problem::Problem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A row index that stands for no row: the root of a block, or an inner y.
pub(crate) const NO_ROW: u32 = u32::MAX;

/// Floor of an entry whose lower bound is zero: trees need a logarithm. Far below what a cost can
/// show, far above rounding; the proof of the bound does not use it.
const SMALLEST_FLOOR: f64 = 1e-13;

/// Limits against tied, fixed and bounded values are solved this much tighter (in log z), so that
/// rounding the result finds room. The proof of the bound does not use it.
const ROUNDING_ROOM: f64 = 1e-12;

/// Ceiling of every entry of a block whose root is the constant 1. Without one, points may reach
/// e^(eps D): no row sum lets a matrix use them, and they drown all else. It is not the 1 that row sums
/// imply, for then the duals would lean on it where they could use the arcs, and cuts made of
/// them (Benders) would be weaker at any other y.
pub(crate) const LARGEST_VALUE: f64 = 10.0;

/// What scales a block's points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Root {
    /// Nothing: a cone.
    Cone,
    /// The variable y of this column.
    Y,
    /// The constant 1.
    One,
}

/// One connected part of one column.
#[derive(Debug)]
pub(crate) struct Block {
    pub column: usize,
    pub root: Root,
    pub graph: Arc<Graph>,
    /// The row of every node; the last node of a rooted block is the root, without a row.
    pub rows: Arc<[u32]>,
    /// The cost of every node's row (zero for nodes without one).
    pub cost: Vec<f64>,
    /// Node of y inside the block (columns with bounds and unfixed ties), with the tied rows.
    pub inner_y: Option<usize>,
    /// Where the first tree grows from: the root, or the cheapest row of a cone.
    start: usize,
    /// The first tree, where it was needed to see that the block has a point at all.
    tree: Option<Tree>,
}

impl Block {
    /// The tree of the smallest point, or of the shortest paths from the cheapest row.
    fn first_tree(&mut self) -> Tree {
        self.tree.take().unwrap_or_else(|| {
            let is_capped = self.root == Root::Cone;
            let tree = Tree::shortest_paths(&self.graph, self.start, is_capped);
            // Connected, with finite links both ways, or seen to have a point.
            tree.expect("every node is reached")
        })
    }
}

/// The tied rows of one column, `z = y f`.
#[derive(Debug, Clone, Default)]
pub(crate) struct TiedColumn {
    pub rows: Vec<u32>,
    pub factors: Vec<f64>,
    pub cost: f64,
    /// The largest y that no row sum forbids.
    pub largest: f64,
}

/// The whole problem in blocks.
#[derive(Debug)]
pub(crate) struct Blocks {
    pub blocks: Vec<Block>,
    /// Per column: y with its tied rows, when y is a variable of the master.
    pub tied: Vec<Option<TiedColumn>>,
    /// Per column: tied rows of a y inside a block.
    pub inner: Vec<Option<TiedColumn>>,
    /// Per column: its blocks that hang on y.
    pub of_column: Vec<Vec<usize>>,
    /// Free entries that must be zero; they have no block.
    pub zero: Vec<ZeroPart>,
    /// Row sums left to fill once the fixed entries are taken off.
    pub right_side: Vec<f64>,
    /// Cost of the fixed entries.
    pub fixed_cost: f64,
    /// The connected parts of the rows, whatever is tied.
    pub components: Vec<(Arc<Graph>, Arc<[u32]>)>,
    /// Raised by a caller who wants no result any more (`Settings::abort`).
    pub abort: Option<Arc<AtomicBool>>,
}

/// The two nodes a column may have besides its free rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Special {
    Y,
    One,
}

impl Blocks {
    /// Whether pricing is a waste of time. Whatever is priced from then on is not right, and not used.
    pub fn is_aborted(&self) -> bool {
        self.abort.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    pub fn new(problem: &Problem) -> Result<Self, Error> {
        let builder = Builder::new(problem);
        let shared = builder.shared_components();
        let columns = problem.columns();
        let mut all = Self {
            blocks: Vec::new(),
            tied: vec![None; columns],
            inner: vec![None; columns],
            of_column: vec![Vec::new(); columns],
            zero: Vec::new(),
            right_side: vec![1.0; problem.rows()],
            fixed_cost: 0.0,
            components: Vec::new(),
            abort: None,
        };
        for column in 0..columns {
            let bounded = !builder.bounds_of[column].is_empty();
            if !problem.has_ties() && !bounded {
                for (graph, rows) in &shared {
                    all.blocks.push(builder.cone(column, graph.clone(), rows.clone()));
                }
            } else {
                builder.add_column(column, &mut all)?;
            }
        }
        for (index, block) in all.blocks.iter().enumerate() {
            if block.root == Root::Y {
                all.of_column[block.column].push(index);
            }
        }
        all.components = shared;
        for (row, &left) in all.right_side.iter().enumerate() {
            if left < -1e-12 {
                return Err(Error::Infeasible { row, reason: Infeasibility::RowTooLarge });
            }
        }
        Ok(all)
    }

    /// The trees that blocks begin with.
    pub fn first_trees(&mut self, parallel: bool) -> Vec<Tree> {
        for_each(&mut self.blocks, parallel, |(_, block), ()| block.first_tree())
    }
}

struct Builder<'a> {
    problem: &'a Problem,
    neighbours: Vec<Vec<(u32, f64)>>,
    bounds_of: Vec<Vec<usize>>,
}

impl<'a> Builder<'a> {
    fn new(problem: &'a Problem) -> Self {
        let mut neighbours = vec![Vec::new(); problem.rows()];
        for arc in problem.arcs() {
            let log = problem.log_ratio(arc);
            neighbours[arc.i].push((arc.j as u32, log));
            neighbours[arc.j].push((arc.i as u32, log));
        }
        let mut bounds_of = vec![Vec::new(); problem.columns()];
        for (position, bound) in problem.bounds().iter().enumerate() {
            bounds_of[bound.column].push(position);
        }
        Self { problem, neighbours, bounds_of }
    }

    /// The connected parts of the rows, shared by all columns where everything is free.
    fn shared_components(&self) -> Vec<(Arc<Graph>, Arc<[u32]>)> {
        let free = vec![true; self.problem.rows()];
        let part = self.parts(&free);
        self.lists(&part).into_iter().map(|rows| self.free_graph(rows)).collect()
    }

    fn free_graph(&self, rows: Vec<u32>) -> (Arc<Graph>, Arc<[u32]>) {
        let mut node_of = vec![NO_ROW; self.problem.rows()];
        for (node, &row) in rows.iter().enumerate() {
            node_of[row as usize] = node as u32;
        }
        let pairs = self.free_pairs(&rows, &node_of);
        (Arc::new(Graph::new(rows.len(), &pairs)), rows.into())
    }

    fn free_pairs(&self, rows: &[u32], node_of: &[u32]) -> Vec<(u32, u32, f64, f64)> {
        let mut pairs = Vec::new();
        for (node, &row) in rows.iter().enumerate() {
            for &(other, log) in &self.neighbours[row as usize] {
                if other > row && node_of[other as usize] != NO_ROW {
                    pairs.push((node as u32, node_of[other as usize], log, log));
                }
            }
        }
        pairs
    }

    /// A cone, to be begun at its cheapest row.
    fn cone(&self, column: usize, graph: Arc<Graph>, rows: Arc<[u32]>) -> Block {
        let mut cost = vec![0.0; rows.len()];
        self.problem.cost().fill(column, &rows, &mut cost);
        let cheapest = (0..cost.len()).min_by(|&a, &b| cost[a].total_cmp(&cost[b])).unwrap_or(0);
        let (start, tree) = (cheapest, None);
        Block { column, root: Root::Cone, graph, rows, cost, inner_y: None, start, tree }
    }

    /// Labels of connected parts among the free rows; `NO_ROW` elsewhere.
    fn parts(&self, free: &[bool]) -> Vec<u32> {
        let mut part = vec![NO_ROW; free.len()];
        let mut stack = Vec::new();
        let mut count = 0;
        for seed in 0..free.len() {
            if !free[seed] || part[seed] != NO_ROW {
                continue;
            }
            part[seed] = count;
            stack.push(seed as u32);
            while let Some(row) = stack.pop() {
                for &(other, _) in &self.neighbours[row as usize] {
                    if free[other as usize] && part[other as usize] == NO_ROW {
                        part[other as usize] = count;
                        stack.push(other);
                    }
                }
            }
            count += 1;
        }
        part
    }

    fn lists(&self, part: &[u32]) -> Vec<Vec<u32>> {
        let mut lists: Vec<Vec<u32>> = Vec::new();
        for (row, &label) in part.iter().enumerate() {
            if label != NO_ROW {
                let label = label as usize;
                lists.resize_with(lists.len().max(label + 1), Vec::new);
                lists[label].push(row as u32);
            }
        }
        lists
    }

    /// A column with tied or bounded entries.
    fn add_column(&self, column: usize, all: &mut Blocks) -> Result<(), Error> {
        let problem = self.problem;
        let free: Vec<bool> =
            (0..problem.rows()).map(|row| problem.tie(row, column).is_none()).collect();
        let parts = self.lists(&self.parts(&free));
        let tied = self.tied_column(column);
        let contradiction = self.contradicting_row(column);
        let mut held = problem.fixed_y().map(|y| y[column]);
        if let (Some(row), Some(y)) = (contradiction, held)
            && y > 0.0
        {
            return Err(Error::Infeasible { row, reason: Infeasibility::BoundsContradict });
        }
        if held.is_none() && !tied.rows.is_empty() {
            let before = (all.blocks.len(), all.zero.len());
            if contradiction.is_none() && self.add_tied(column, &tied, &parts, all)? {
                return Ok(());
            }
            all.blocks.truncate(before.0);
            all.zero.truncate(before.1);
            held = Some(0.0); // nothing else satisfies the ties
        }
        if let Some(y) = held {
            self.fix_tied(column, &tied, y, all);
        }
        for rows in parts {
            self.add_part(column, rows, held, None, all)?;
        }
        Ok(())
    }

    /// A column whose y is a variable; `false` where only y = 0 is possible.
    fn add_tied(
        &self,
        column: usize,
        tied: &TiedColumn,
        parts: &[Vec<u32>],
        all: &mut Blocks,
    ) -> Result<bool, Error> {
        let tied = TiedColumn { cost: self.tied_cost(column, tied), ..tied.clone() };
        if self.bounds_of[column].is_empty() {
            for rows in parts {
                if !self.add_part(column, rows.clone(), None, None, all)? {
                    return Ok(false);
                }
            }
            all.tied[column] = Some(tied);
            return Ok(true);
        }
        let mut together = Vec::new();
        for rows in parts {
            if !self.has_zero_bound(column, rows) {
                together.extend(rows);
            } else if self.touches_ties(column, rows) {
                return Ok(false); // the zero reaches y
            } else {
                self.add_part(column, rows.clone(), None, None, all)?;
            }
        }
        together.sort_unstable();
        let possible = self.add_part(column, together, None, Some(&tied), all)?;
        if possible {
            all.inner[column] = Some(tied);
        }
        Ok(possible)
    }

    fn has_zero_bound(&self, column: usize, rows: &[u32]) -> bool {
        let bounds =
            self.bounds_of[column].iter().map(|&position| &self.problem.bounds()[position]);
        bounds.filter(|bound| bound.high == 0.0).any(|bound| rows.contains(&(bound.row as u32)))
    }

    fn touches_ties(&self, column: usize, rows: &[u32]) -> bool {
        let mut beside = rows.iter().flat_map(|&row| &self.neighbours[row as usize]);
        beside.any(|&(other, _)| self.problem.tie(other as usize, column).is_some())
    }

    fn tied_column(&self, column: usize) -> TiedColumn {
        let mut tied = TiedColumn { largest: f64::INFINITY, ..TiedColumn::default() };
        for row in 0..self.problem.rows() {
            if let Some(factor) = self.problem.tie(row, column) {
                tied.rows.push(row as u32);
                tied.factors.push(factor);
                tied.largest = tied.largest.min(1.0 / factor);
            }
        }
        tied
    }

    fn tied_cost(&self, column: usize, tied: &TiedColumn) -> f64 {
        let mut cost = vec![0.0; tied.rows.len()];
        self.problem.cost().fill(column, &tied.rows, &mut cost);
        cost.iter().zip(&tied.factors).map(|(c, f)| c * f).sum()
    }

    /// A row whose tied entry contradicts one beside it, so that only y = 0 satisfies both.
    fn contradicting_row(&self, column: usize) -> Option<usize> {
        let problem = self.problem;
        problem.arcs().iter().find_map(|arc| {
            let (f, g) = (problem.tie(arc.i, column)?, problem.tie(arc.j, column)?);
            let log = problem.log_ratio(arc);
            let holds = f == g || (f.ln() - g.ln()).abs() <= log;
            (!holds).then_some(arc.i)
        })
    }

    fn fix_tied(&self, column: usize, tied: &TiedColumn, y: f64, all: &mut Blocks) {
        all.fixed_cost += y * self.tied_cost(column, tied);
        for (&row, &factor) in tied.rows.iter().zip(&tied.factors) {
            all.right_side[row as usize] -= y * factor;
        }
    }

    /// One connected part of free rows, rooted where ties, fixed entries or bounds touch it.
    /// `fixed` is the column's y when it is a constant; `inner` its ties when y is to be a node.
    /// `false` where ties or bounds around it leave only y = 0.
    fn add_part(
        &self,
        column: usize,
        rows: Vec<u32>,
        fixed: Option<f64>,
        inner: Option<&TiedColumn>,
        all: &mut Blocks,
    ) -> Result<bool, Error> {
        let problem = self.problem;
        let mut node_of = vec![NO_ROW; problem.rows()];
        for (node, &row) in rows.iter().enumerate() {
            node_of[row as usize] = node as u32;
        }
        let mut pairs = self.free_pairs(&rows, &node_of);
        // Limits against y and against 1, per node: (ceiling of log z, floor of log z).
        let unlimited = (f64::INFINITY, f64::NEG_INFINITY);
        // With y as an inner node parts may be joined by nothing else: 0 <= z <= 1 joins them.
        let by_one = if inner.is_some() { (0.0, SMALLEST_FLOOR.ln()) } else { unlimited };
        let mut limits: Vec<[(f64, f64); 2]> = vec![[unlimited, by_one]; rows.len()];
        let mut touched = [false; 2];
        let mut forced_zero = false;
        for (node, &row) in rows.iter().enumerate() {
            for &(other, log) in &self.neighbours[row as usize] {
                let Some(factor) = problem.tie(other as usize, column) else { continue };
                let (special, base) = match fixed {
                    Some(y) => (Special::One, y * factor),
                    None => (Special::Y, factor),
                };
                forced_zero |= base == 0.0;
                touched[special as usize] = true;
                let limit = &mut limits[node][special as usize];
                limit.0 = limit.0.min(log + base.ln());
                limit.1 = limit.1.max(base.ln() - log);
            }
        }
        for &position in &self.bounds_of[column] {
            let bound = &problem.bounds()[position];
            let node = node_of[bound.row];
            if node == NO_ROW {
                continue;
            }
            forced_zero |= bound.high == 0.0;
            touched[Special::One as usize] = true;
            let limit = &mut limits[node as usize][Special::One as usize];
            let high = bound.high.max(1e-300);
            limit.0 = limit.0.min(high.ln());
            limit.1 = limit.1.max(bound.low.max(SMALLEST_FLOOR.min(1e-3 * high)).ln());
        }
        if forced_zero && self.zero_is_contradicted(column, &rows, fixed) {
            let row = rows[0] as usize;
            return Err(Error::Infeasible { row, reason: Infeasibility::BoundsContradict });
        }
        if forced_zero {
            // A zero beside them makes every entry of the part zero.
            all.zero.push(ZeroPart { column, rows });
            return Ok(true);
        }
        let mut node_rows = rows.clone();
        let mut inner_y = None;
        let root = if inner.is_some() || touched[Special::One as usize] {
            Root::One
        } else if touched[Special::Y as usize] {
            Root::Y
        } else {
            Root::Cone
        };
        if root == Root::Cone {
            let graph = Arc::new(Graph::new(rows.len(), &pairs));
            all.blocks.push(self.cone(column, graph, rows.into()));
            return Ok(true);
        }
        if let Some(tied) = inner {
            inner_y = Some(node_rows.len());
            node_rows.push(NO_ROW);
            limits.push([unlimited, (tied.largest.ln(), SMALLEST_FLOOR.ln())]);
        }
        if root == Root::One {
            for limit in &mut limits[..rows.len()] {
                let ceiling = &mut limit[Special::One as usize].0;
                *ceiling = ceiling.min(LARGEST_VALUE.ln());
            }
        }
        let root_node = node_rows.len() as u32;
        node_rows.push(NO_ROW);
        for (node, limit) in limits.iter().enumerate() {
            for special in [Special::Y, Special::One] {
                let (mut ceiling, mut floor) = limit[special as usize];
                if ceiling - floor > 4.0 * ROUNDING_ROOM {
                    ceiling -= ROUNDING_ROOM;
                    floor += ROUNDING_ROOM;
                }
                let target = match (special, inner_y) {
                    (Special::Y, Some(y)) => y as u32,
                    _ => root_node,
                };
                if ceiling < f64::INFINITY || floor > f64::NEG_INFINITY {
                    pairs.push((node as u32, target, ceiling, -floor));
                }
            }
        }
        let graph = Arc::new(Graph::new(node_rows.len(), &pairs));
        let mut cost = vec![0.0; node_rows.len()];
        problem.cost().fill(column, &rows, &mut cost[..rows.len()]);
        if let (Some(node), Some(tied)) = (inner_y, inner) {
            cost[node] = tied.cost;
        }
        let tree = Tree::shortest_paths(&graph, root_node as usize, false);
        let too_high = tree.as_ref().map(|tree| {
            // log z_target <= down + log z_root
            let links = graph.links(root_node as usize);
            let mut ceilings = links.targets.iter().zip(links.down);
            let broken =
                ceilings.find(|(target, down)| tree.logs()[**target as usize] > **down + 1e-9);
            broken.map(|(target, _)| node_rows[*target as usize])
        });
        let (Some(tree), Some(None)) = (tree, too_high) else {
            if root == Root::Y || inner.is_some() {
                return Ok(false);
            }
            let blamed = too_high.flatten().filter(|&row| row != NO_ROW).or(rows.first().copied());
            let row = blamed.unwrap_or(0) as usize;
            return Err(Error::Infeasible { row, reason: Infeasibility::BoundsContradict });
        };
        let (rows, start, tree) = (node_rows.into(), root_node as usize, Some(tree));
        all.blocks.push(Block { column, root, graph, rows, cost, inner_y, start, tree });
        Ok(true)
    }

    /// Whether a part that must be zero also has a positive lower bound or fixed neighbour.
    fn zero_is_contradicted(&self, column: usize, rows: &[u32], fixed: Option<f64>) -> bool {
        let bounded = self.bounds_of[column].iter().any(|&position| {
            let bound = &self.problem.bounds()[position];
            bound.low > 0.0 && rows.contains(&(bound.row as u32))
        });
        let beside_positive = fixed.is_some_and(|y| {
            rows.iter().any(|&row| {
                self.neighbours[row as usize].iter().any(|&(other, _)| {
                    self.problem.tie(other as usize, column).is_some_and(|f| y * f > 0.0)
                })
            })
        });
        bounded || beside_positive
    }
}
