//! Pricing every block at given duals, in parallel, and the bound that follows.

use super::block::{Block, Blocks, NO_ROW, Root};
use super::tree::{Scratch, Tree};

/// One block priced.
#[derive(Debug)]
pub(crate) struct BlockPrice {
    /// Minimum of the reduced cost over the block, its root at 1 or a cone capped at 1.
    pub value: f64,
    /// The minimiser, node by node, where it is worth adding to the master.
    pub point: Option<Vec<f64>>,
}

/// All blocks priced at one dual vector.
#[derive(Debug)]
pub(crate) struct Prices {
    pub blocks: Vec<BlockPrice>,
    /// The proven lower bound (spec section 4, "Bounds" in the engine notes).
    pub bound: f64,
    /// Reduced cost of every tied column's y with its blocks at their minimum.
    pub tied: Vec<f64>,
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
        node_weights(block, blocks, mu, w);
        let value = tree.price(&block.graph, w, scratch);
        let point = (value < threshold[index]).then(|| scratch.z.clone());
        BlockPrice { value, point }
    };
    let priced = for_each(trees, parallel, one);
    let mut bound = blocks.fixed_cost;
    bound += mu.iter().zip(&blocks.right_side).map(|(mu, b)| mu * b).sum::<f64>();
    let mut tied: Vec<f64> = vec![0.0; blocks.tied.len()];
    for (block, price) in blocks.blocks.iter().zip(&priced) {
        match block.root {
            Root::Cone => bound += price.value.min(0.0),
            Root::One => bound += price.value,
            Root::Y => tied[block.column] += price.value,
        }
    }
    for (rc, column) in tied.iter_mut().zip(&blocks.tied) {
        if let Some(column) = column {
            let dual: f64 =
                column.rows.iter().zip(&column.factors).map(|(&r, f)| mu[r as usize] * f).sum();
            *rc += column.cost - dual;
            bound += rc.min(0.0) * column.largest;
        }
    }
    Prices { blocks: priced, bound, tied }
}

/// Does the same to every item, with working memory for each thread.
#[cfg(feature = "parallel")]
pub(super) fn for_each<T: Send, W: Default, R: Send>(
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
pub(super) fn for_each<T, W: Default, R>(
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
