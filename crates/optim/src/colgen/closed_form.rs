//! The closed form: every ray a shortest-path ray (engine notes, "Large eps is nearly closed form").
//!
//! Row i is served by its cheapest column k(i) with the ray `E_ij = exp(-eps D_ij)` rooted at i. If no
//! other ray prices out, the optimum is `E x = 1` with the duals `E mu = c_bar`: one linear solve. Where
//! it is not the optimum it is still the best place to begin from: at eps*spacing of 1 about one per
//! cent off. Ties and bounds are not looked at: repairing the duals takes care of them.

use super::block::{Blocks, Root};
use super::tree::Tree;
use crate::problem::Problem;
use faer::linalg::solvers::Solve;
use faer::{Mat, MatRef};
use std::collections::HashMap;

/// Duals, and the weights of the rays where nothing ties or bounds them.
pub(super) struct ClosedForm {
    pub mu: Vec<f64>,
    pub rays: Vec<WeightedRay>,
}

/// A shortest-path ray of a cone block.
pub(super) struct WeightedRay {
    pub block: usize,
    /// Whether it is the ray of the tree that the block starts with.
    pub is_first: bool,
    pub values: Vec<f64>,
    /// Its weight; negative where the closed form is not the optimum.
    pub weight: f64,
}

/// Solves both linear systems, component by component; `None` where one is singular.
pub(super) fn closed_form(problem: &Problem, blocks: &Blocks) -> Option<ClosedForm> {
    let mut cones: HashMap<(usize, u32), usize> = HashMap::new();
    for (index, block) in blocks.blocks.iter().enumerate() {
        if block.root == Root::Cone {
            cones.insert((block.column, block.rows[0]), index);
        }
    }
    let mut all = ClosedForm { mu: vec![0.0; problem.rows()], rays: Vec::new() };
    let mut row_cost = vec![0.0; problem.columns()];
    for (graph, rows) in &blocks.components {
        let size = rows.len();
        let mut rays = Vec::with_capacity(size * size);
        let mut right = Mat::<f64>::zeros(size, 2);
        let mut served = Vec::with_capacity(size);
        let mut costs = vec![0.0; size];
        for (node, &row) in rows.iter().enumerate() {
            problem.cost().fill_row(row as usize, &mut row_cost);
            let column = (0..row_cost.len())
                .min_by(|&a, &b| row_cost[a].total_cmp(&row_cost[b]))
                .unwrap_or(0);
            let cone = cones.get(&(column, rows[0])).copied();
            let cone = cone.filter(|&cone| blocks.blocks[cone].rows.len() == size);
            let first = cone.filter(|&cone| blocks.blocks[cone].tree.root() == node);
            match first {
                Some(cone) => {
                    let logs = blocks.blocks[cone].tree.logs();
                    rays.extend(logs.iter().map(|log| log.exp()));
                }
                None => {
                    let tree = Tree::shortest_paths(graph, node)?;
                    rays.extend(tree.logs().iter().map(|log| log.exp()));
                }
            }
            problem.cost().fill(column, rows, &mut costs);
            let ray = &rays[node * size..];
            right[(node, 0)] = ray.iter().zip(&costs).map(|(ray, cost)| ray * cost).sum();
            right[(node, 1)] = 1.0;
            served.push((cone, first.is_some()));
        }
        // D is symmetric, so the same factor serves the rays and their transpose.
        let solved = MatRef::from_row_major_slice(&rays, size, size).partial_piv_lu().solve(&right);
        for (node, &row) in rows.iter().enumerate() {
            let (mu, weight) = (solved[(node, 0)], solved[(node, 1)]);
            if !mu.is_finite() || !weight.is_finite() {
                return None;
            }
            all.mu[row as usize] = mu;
            if let (Some(block), is_first) = served[node] {
                let values = rays[node * size..][..size].to_vec();
                all.rays.push(WeightedRay { block, is_first, values, weight });
            }
        }
    }
    Some(all)
}
