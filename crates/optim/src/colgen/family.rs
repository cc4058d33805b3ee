//! Warm starts of cones from the trees of others, family by family.

use super::block::{Blocks, Root};
use super::pricing::{for_each, node_weights};
use crate::cone::{Member, Scratch, Tree, family};
use std::sync::Arc;

/// Columns priced one after the other; families are priced in parallel.
const FAMILY: usize = 128;

/// Rows by which the costs of columns are compared.
const SAMPLED_ROWS: usize = 48;

/// Prices every cone from its own tree or, where fewer subtrees of that one would rather move, from that of the member before it.
pub(super) fn teach(blocks: &Blocks, trees: &mut [Tree], mu: &[f64], parallel: bool) {
    let families = families(blocks);
    let mut take = |member: &Member| std::mem::take(&mut trees[member.column as usize]);
    let mut classes: Vec<Vec<Tree>> =
        families.iter().map(|family| family.iter().map(&mut take).collect()).collect();
    let one = |(index, trees): (usize, &mut Vec<Tree>), work: &mut (Scratch, Vec<f64>)| {
        let (scratch, w) = work;
        for (at, member) in families[index].iter().enumerate() {
            if blocks.is_aborted() {
                return;
            }
            let block = &blocks.blocks[member.column as usize];
            node_weights(block, blocks, mu, w);
            if let Some(other) = member.starts_from.map(|other| other as usize)
                && trees[other].restless(w, scratch) < trees[at].restless(w, scratch)
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
            families.push(family(&mut waiting, FAMILY, |block, others, distances| {
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
    let every = a.len().div_ceil(SAMPLED_ROWS).max(1);
    a.iter().zip(b).step_by(every).map(|(a, b)| (a - b).abs()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colgen::pricing::price_all;
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
            assert!(family.len() <= FAMILY);
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
        teach(&blocks, &mut taught, &mu, true);
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
