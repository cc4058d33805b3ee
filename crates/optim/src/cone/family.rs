//! Warm starts between columns: the tree that a column ends with is nearly that of a column with similar costs.
//!
//! Where costs of rows differ by orders of magnitude, rays are far from shortest-path trees: a column may take hundreds or
//! thousands of pivots from there, and a fraction of them from the tree of a column that has just been priced.

use super::block::{Blocks, Root};
use super::pricing::{for_each, node_weights};
use super::tree::{Scratch, Tree};
use super::tuning::TUNING;
use std::sync::Arc;

/// A column, and the earlier member of its family whose tree it may start from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub(crate) column: u32,
    pub(crate) starts_from: Option<u32>,
}

/// Takes a family of at most so many from those waiting, each after the one that it starts from: the cheapest tree (Prim's) from
/// column to column, by what `distances` finds between one and the others.
pub(crate) fn family(
    waiting: &mut Vec<u32>,
    most: usize,
    mut distances: impl FnMut(u32, &[u32], &mut [f64]),
) -> Vec<Member> {
    let mut family: Vec<Member> = Vec::with_capacity(most.min(waiting.len()));
    let mut nearest: Vec<(f64, Option<u32>)> = vec![(f64::INFINITY, None); waiting.len()];
    let mut distance = vec![0.0; waiting.len()];
    while family.len() < most {
        let by_distance = |&a: &usize, &b: &usize| nearest[a].0.total_cmp(&nearest[b].0);
        let Some(next) = (0..waiting.len()).min_by(by_distance) else { break };
        let column = waiting.swap_remove(next);
        let (_, starts_from) = nearest.swap_remove(next);
        distance.truncate(waiting.len());
        distances(column, waiting, &mut distance);
        for (nearest, &distance) in nearest.iter_mut().zip(&distance) {
            if distance < nearest.0 {
                *nearest = (distance, Some(family.len() as u32));
            }
        }
        family.push(Member { column, starts_from });
    }
    family
}

/// Prices every cone from its own tree or, where fewer subtrees of that one would rather move, from that of the member before it; until `is_over`,
/// after which trees stay as they are.
pub(crate) fn warm_start(
    blocks: &Blocks,
    trees: &mut [Tree],
    mu: &[f64],
    parallel: bool,
    is_over: impl Fn() -> bool + Sync + Send,
) {
    let families = families(blocks);
    let mut take = |member: &Member| std::mem::take(&mut trees[member.column as usize]);
    let mut classes: Vec<Vec<Tree>> =
        families.iter().map(|family| family.iter().map(&mut take).collect()).collect();
    let one = |(index, trees): (usize, &mut Vec<Tree>), work: &mut (Scratch, Vec<f64>)| {
        let (scratch, w) = work;
        for (at, member) in families[index].iter().enumerate() {
            if blocks.is_aborted() || is_over() {
                return;
            }
            let block = &blocks.blocks[member.column as usize];
            node_weights(block, blocks, mu, w);
            if let Some(other) = member.starts_from.map(|other| other as usize)
                && trees[other].improving_subtrees(w, scratch)
                    < trees[at].improving_subtrees(w, scratch)
            {
                trees[at] = trees[other].clone();
            }
            trees[at].price(&block.graph, w, scratch);
        }
    };
    for_each(&mut classes, parallel, one);
    for (member, tree) in families.iter().flatten().zip(classes.into_iter().flatten()) {
        trees[member.column as usize] = tree;
    }
}

/// The cones in families, by how much their costs differ; a member's column is a block.
fn families(blocks: &Blocks) -> Vec<Vec<Member>> {
    let mut families = Vec::new();
    for (graph, _) in &blocks.components {
        let is_alike = |block: &u32| {
            let block = &blocks.blocks[*block as usize];
            block.root == Root::Cone && Arc::ptr_eq(&block.graph, graph)
        };
        let mut waiting: Vec<u32> = (0..blocks.blocks.len() as u32).filter(is_alike).collect();
        let cost = |block: u32| &blocks.blocks[block as usize].cost;
        while !waiting.is_empty() {
            families.push(family(&mut waiting, TUNING.family, |block, others, distances| {
                for (distance, &other) in distances.iter_mut().zip(others) {
                    *distance = difference(cost(block), cost(other));
                }
            }));
        }
    }
    families
}

/// How much the costs of two columns differ, going by a part of the rows.
fn difference(a: &[f64], b: &[f64]) -> f64 {
    let every = a.len().div_ceil(TUNING.sampled_rows).max(1);
    a.iter().zip(b).step_by(every).map(|(a, b)| (a - b).abs()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cone::price_all;
    use crate::cost::DenseCost;
    use crate::problem::{Arc as Between, Problem, ProblemParts};

    /// Two rows of places apart from each other, 150 each: more than a family. Every third place matters a hundred times as much.
    fn two_streets() -> Problem {
        let (rows, street) = (300, 150);
        let place = |i: usize| (i % street) as f64 + 0.3 * ((i * i) as f64).sin();
        let weight = |i: usize| if i.is_multiple_of(3) { 1.0 } else { 0.01 };
        let cost: Vec<f64> = (0..rows * rows)
            .map(|at| weight(at / rows) * (place(at / rows) - place(at % rows)).abs())
            .collect();
        let neighbours = (0..rows).filter(|i| i % street != street - 1);
        let arcs = neighbours.map(|i| Between { i, j: i + 1, d: place(i + 1) - place(i) });
        let cost = DenseCost::new(rows, rows, cost).unwrap();
        Problem::new(ProblemParts::untied(0.8, cost, arcs.collect())).unwrap()
    }

    #[test]
    fn every_cone_is_in_one_family_after_the_one_it_starts_from() {
        let blocks = Blocks::new(&two_streets()).unwrap();
        let families = families(&blocks);
        let mut seen: Vec<usize> =
            families.iter().flatten().map(|member| member.column as usize).collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..blocks.blocks.len()).collect::<Vec<_>>());
        for family in &families {
            assert!(family.len() <= TUNING.family);
            for (at, member) in family.iter().enumerate() {
                assert_eq!(member.starts_from.is_some(), at > 0);
                assert!(member.starts_from.is_none_or(|other| (other as usize) < at));
            }
        }
    }

    #[test]
    fn a_taught_column_has_the_price_it_finds_by_itself() {
        let problem = two_streets();
        let mut blocks = Blocks::new(&problem).unwrap();
        let mu: Vec<f64> = (0..300).map(|i| 0.5 + 0.4 * (i as f64).cos()).collect();
        let nowhere = vec![f64::NEG_INFINITY; blocks.blocks.len()];
        let mut alone = blocks.first_trees(false);
        let mut taught = blocks.first_trees(false);
        warm_start(&blocks, &mut taught, &mu, true, || false);
        let alone = price_all(&blocks, &mut alone, &mu, &nowhere, false);
        let taught = price_all(&blocks, &mut taught, &mu, &nowhere, false);
        assert!(alone.bound < 0.0);
        for (alone, taught) in alone.blocks.iter().zip(&taught.blocks) {
            // A ray that costs something is never used: which one it is does not matter.
            let (alone, taught) = (alone.value.min(0.0), taught.value.min(0.0));
            assert!((alone - taught).abs() <= 1e-11 * alone.abs());
        }
    }
}
