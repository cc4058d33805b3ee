//! Pricing every block at given duals, in parallel, and the bound that follows.

use super::block::{Block, Blocks, NO_ROW, Root, TiedColumn};
use super::tree::{Scratch, Tree};

/// What rounding may have added to the reduced cost of a y, as a share of the sizes that it is a difference of: the
/// logarithms of a tree have gone through many pivots. It counts times the largest y there can be, which is as large
/// as e^(eps r / 2) where factors are tiny.
const NOISE: f64 = 1e-12;

/// One block priced.
#[derive(Debug)]
pub(crate) struct BlockPrice {
    /// Minimum of the reduced cost over the block, its root at 1 or a cone capped at 1.
    pub value: f64,
    /// What rounding may have added to it; needed, and known, only where a y is the root.
    pub noise: f64,
    /// The minimiser, node by node, where it is worth adding to the master.
    pub point: Option<Vec<f64>>,
}

/// All blocks priced at one dual vector.
#[derive(Debug)]
pub(crate) struct Prices {
    pub blocks: Vec<BlockPrice>,
    /// The lower bound that these duals prove.
    pub bound: f64,
    /// Reduced cost of every tied column's y with its blocks at their minimum, and what rounding may have added.
    pub tied: Vec<f64>,
    pub noise: Vec<f64>,
}

/// Reduced costs `c - mu` of a block's nodes.
pub(crate) fn node_weights(block: &Block, blocks: &Blocks, mu: &[f64], w: &mut Vec<f64>) {
    w.clear();
    w.extend(block.rows.iter().zip(&block.cost).map(|(&row, &cost)| match row {
        NO_ROW => cost,
        row => cost - mu[row as usize],
    }));
    if let (Some(node), Some(tied)) = (block.inner_y, &blocks.inner[block.column]) {
        w[node] -=
            tied.rows.iter().zip(&tied.factors).map(|(&r, f)| mu[r as usize] * f).sum::<f64>();
    }
}

/// What rounding may have added to a block's value at a point.
pub(crate) fn noise(block: &Block, w: &[f64], z: &[f64]) -> f64 {
    // A weight is a cost less a dual, neither larger than this.
    let sizes = z.iter().zip(w).zip(&block.cost).map(|((z, w), c)| z * (w.abs() + 2.0 * c));
    NOISE * sizes.sum::<f64>()
}

impl TiedColumn {
    /// Reduced cost of y by itself, without the blocks that hang on it, and what rounding may have added.
    pub(crate) fn own_price(&self, mu: &[f64]) -> (f64, f64) {
        let duals = self.rows.iter().zip(&self.factors).map(|(&row, f)| mu[row as usize] * f);
        let (dual, size) = duals.fold((0.0, self.cost), |(sum, size), d| (sum + d, size + d.abs()));
        (self.cost - dual, NOISE * size)
    }

    /// What a reduced cost may take off the bound: zero or a negative number.
    pub(crate) fn shortage(&self, reduced: f64, noise: f64) -> f64 {
        (reduced - noise).min(0.0) * self.largest
    }
}

/// Prices every block; points are kept where the value is below `threshold[block]`.
pub(crate) fn price_all(
    blocks: &Blocks,
    trees: &mut [Tree],
    mu: &[f64],
    threshold: &[f64],
    parallel: bool,
) -> Prices {
    let one = |(index, tree): (usize, &mut Tree), work: &mut (Scratch, Vec<f64>)| {
        let block = &blocks.blocks[index];
        let (scratch, w) = work;
        if blocks.is_aborted() {
            return BlockPrice { value: f64::NEG_INFINITY, noise: 0.0, point: None };
        }
        node_weights(block, blocks, mu, w);
        let value = tree.price(&block.graph, w, scratch);
        let point = (value < threshold[index]).then(|| scratch.z.clone());
        let noise = if block.root == Root::Y { noise(block, w, &scratch.z) } else { 0.0 };
        BlockPrice { value, noise, point }
    };
    let priced = for_each(trees, parallel, one);
    let mut bound = blocks.fixed_cost;
    bound += mu.iter().zip(&blocks.right_side).map(|(mu, b)| mu * b).sum::<f64>();
    let own =
        |tied: &Option<TiedColumn>| tied.as_ref().map_or((0.0, 0.0), |tied| tied.own_price(mu));
    let (mut tied, mut noise): (Vec<f64>, Vec<f64>) = blocks.tied.iter().map(own).unzip();
    for (block, price) in blocks.blocks.iter().zip(&priced) {
        match block.root {
            Root::Cone => bound += price.value.min(0.0),
            Root::One => bound += price.value,
            Root::Y => {
                tied[block.column] += price.value;
                noise[block.column] += price.noise;
            }
        }
    }
    for (column, (reduced, noise)) in blocks.tied.iter().zip(tied.iter().zip(&noise)) {
        bound += column.as_ref().map_or(0.0, |column| column.shortage(*reduced, *noise));
    }
    Prices { blocks: priced, bound, tied, noise }
}

/// Does the same to every item, with working memory for each thread.
#[cfg(feature = "parallel")]
pub(crate) fn for_each<T: Send, W: Default, R: Send>(
    items: &mut [T],
    parallel: bool,
    one: impl Fn((usize, &mut T), &mut W) -> R + Sync + Send,
) -> Vec<R> {
    use rayon::prelude::*;
    if parallel {
        return items
            .par_iter_mut()
            .enumerate()
            .map_init(W::default, |w, item| one(item, w))
            .collect();
    }
    sequentially(items, one)
}

/// Does the same to every item.
#[cfg(not(feature = "parallel"))]
pub(crate) fn for_each<T, W: Default, R>(
    items: &mut [T],
    _parallel: bool,
    one: impl Fn((usize, &mut T), &mut W) -> R,
) -> Vec<R> {
    sequentially(items, one)
}

fn sequentially<T, W: Default, R>(
    items: &mut [T],
    one: impl Fn((usize, &mut T), &mut W) -> R,
) -> Vec<R> {
    let mut work = W::default();
    items.iter_mut().enumerate().map(|item| one(item, &mut work)).collect()
}
