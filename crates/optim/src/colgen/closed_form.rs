//! The closed form: every ray a shortest-path ray, which at large eps is nearly the optimum.
//!
//! Row i is served by its cheapest column k(i) with the ray `E_ij = exp(-eps D_ij)` rooted at i. If no
//! other ray prices out, the optimum is `E x = 1` with the duals `E mu = c_bar`: one linear solve. Where
//! it is not the optimum it is still the best place to begin from: at eps*spacing of 1 about one per
//! cent off. Ties and bounds are not looked at: repairing the duals takes care of them.

use super::tuning::TUNING;
use crate::cone::{Blocks, Root, Tree};
use crate::problem::Problem;
use faer::linalg::solvers::Solve;
use faer::{Mat, MatRef};
use std::collections::HashMap;

/// Duals, and the weights of the rays where nothing ties or bounds them.
pub(super) struct ClosedForm {
    pub mu: Vec<f64>,
    /// What a row's ray costs per row that it serves.
    pub smooth: Vec<f64>,
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

/// Solves both linear systems, component by component; `None` where one is singular. `trees` are the first ones.
pub(super) fn closed_form(
    problem: &Problem,
    blocks: &Blocks,
    trees: &[Tree],
) -> Option<ClosedForm> {
    let mut cones: HashMap<(usize, u32), usize> = HashMap::new();
    // First trees by the row that they start from: most rows are the cheapest of some column.
    let mut first_trees: HashMap<u32, &Tree> = HashMap::new();
    for (index, (block, tree)) in blocks.blocks.iter().zip(trees).enumerate() {
        if block.root == Root::Cone {
            cones.insert((block.column, block.rows[0]), index);
            first_trees.extend(tree.tops().map(|top| (block.rows[top], tree)));
        }
    }
    let mut all = ClosedForm {
        mu: vec![0.0; problem.rows()],
        smooth: vec![0.0; problem.rows()],
        rays: Vec::new(),
    };
    for (graph, rows) in &blocks.components {
        let size = rows.len();
        let mut rays = Vec::with_capacity(size * size);
        for node in 0..size {
            let known = first_trees.get(&rows[node]).filter(|tree| tree.point().len() == size);
            match known {
                Some(tree) => rays.extend_from_slice(tree.point()),
                None => {
                    let tree = Tree::shortest_paths(graph, node, true)?;
                    rays.extend_from_slice(tree.point());
                }
            }
        }
        let rays_by_row = MatRef::from_row_major_slice(&rays, size, size);
        let cheapest = cheapest_columns(problem, rows, rays_by_row);
        let mut right = Mat::<f64>::zeros(size, 2);
        let mut served = Vec::with_capacity(size);
        for (node, &(column, cost)) in cheapest.iter().enumerate() {
            let cone = cones.get(&(column, rows[0])).copied();
            let cone = cone.filter(|&cone| blocks.blocks[cone].rows.len() == size);
            let first = cone.filter(|&cone| trees[cone].tops().next() == Some(node));
            right[(node, 0)] = cost;
            right[(node, 1)] = 1.0;
            served.push((cone, first.is_some()));
            let sum: f64 = rays[node * size..][..size].iter().sum();
            all.smooth[rows[node] as usize] = cost / sum;
        }
        // D is symmetric, so the same factor serves the rays and their transpose.
        let solved = rays_by_row.partial_piv_lu().solve(&right);
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

/// For the ray rooted at every row its cheapest column, and what it costs there. A row's own costs do not
/// say: of a place that nobody visits they are all zero.
fn cheapest_columns(problem: &Problem, rows: &[u32], rays: MatRef<'_, f64>) -> Vec<(usize, f64)> {
    let size = rows.len();
    let mut cheapest = vec![(0, f64::INFINITY); size];
    let mut costs = vec![0.0; size * TUNING.columns_at_once];
    let columns: Vec<usize> = (0..problem.columns()).collect();
    for columns in columns.chunks(TUNING.columns_at_once) {
        for (&column, costs) in columns.iter().zip(costs.chunks_exact_mut(size)) {
            problem.cost().fill(column, rows, costs);
        }
        let costs =
            MatRef::from_column_major_slice(&costs[..size * columns.len()], size, columns.len());
        let priced = rays * costs;
        for (position, &column) in columns.iter().enumerate() {
            for (node, best) in cheapest.iter_mut().enumerate() {
                if priced[(node, position)] < best.1 {
                    *best = (column, priced[(node, position)]);
                }
            }
        }
    }
    cheapest
}
