//! From the interior iterate to a solution: polished, strict, checked, and its bound proven.

use super::Run;
use super::master::Kind;
use super::tuning::TUNING;
use crate::bound::proven_nearby;
use crate::certificate::bound_of_flows;
use crate::cone::{Prices, Prover, Root, Scratch, node_weights, price_all};
use crate::error::Error;
use crate::matrix::DenseMatrix;
use crate::solution::relative_gap;

/// By how much of their size the duals are lowered before the bound is proven: from one to the next until the proof loses next
/// to nothing. At the duals of a vertex prices that ought to be zero are rounding errors, of the size of the smallest and the
/// largest entries alike. Where factors of ties are tiny, points are scaled to a y of one and their entries
/// reach 1e9; where eps d is large, flows do. What is missing there counts times the largest y, or as if the entry were 1, and
/// would undo the bound. Any margin makes them positive.
const MARGINS: [f64; 3] = [1e-11, 1e-10, 1e-9];

impl Run<'_> {
    /// Takes the matrix of the current iterate, its row sums put right to the last bits, if it is strict and better than what there is.
    /// The iterate itself is left as it was.
    pub(super) fn polish_incumbent(&mut self) -> Result<(), Error> {
        let weights = self.master.x.clone();
        let stop = self.stop;
        let residual = self.master.polish(|| stop.aborted());
        let (z, y) = self.matrix();
        self.master.x = weights;
        if stop.aborted() || residual > TUNING.polished_sums {
            return Err(Error::StoppedEarly);
        }
        self.offer(z, y)
    }

    /// Proves the bound of the best duals, and forgets what the proof does not confirm: it must not end the search.
    pub(super) fn prove(&mut self) {
        let (mu, bound) = self.proven_bound();
        if self.stop.aborted() {
            return;
        }
        self.lower_bound = self.lower_bound.min(bound);
        self.incumbent.prove(mu, bound);
    }

    /// The best duals, lowered by as little as their proof needs, and the bound that it proves.
    fn proven_bound(&mut self) -> (Vec<f64>, f64) {
        let mut best = self.proven_below(MARGINS[0]);
        for &margin in &MARGINS[1..] {
            if !self.is_lost(best.1) {
                break;
            }
            let next = self.proven_below(margin);
            if next.1 > best.1 {
                best = next;
            }
        }
        if self.is_lost(best.1) {
            best.1 = best.1.max(proven_nearby(self.problem, &best.0));
        }
        best
    }

    /// Whether a proof falls short of the bound by more than the gap wanted allows.
    fn is_lost(&self, proven: f64) -> bool {
        relative_gap(self.mean_cost, self.lower_bound, proven)
            > TUNING.proof_loss * self.settings.gap
    }

    /// The best duals, lowered by a margin and made feasible for every column, so that the bound is their sum, and that
    /// bound, proven by flows and rounded down.
    fn proven_below(&mut self, margin: f64) -> (Vec<f64>, f64) {
        let rows = self.best_mu.iter().zip(&self.unit);
        let mut mu: Vec<f64> = rows.map(|(mu, unit)| mu - margin * unit).collect();
        let prices = self.price_at(&mu);
        let (mut scratch, mut w) = (Scratch::default(), Vec::new());
        let blocks = self.blocks.blocks.iter().zip(&mut self.trees).zip(&prices.blocks);
        for ((block, tree), price) in blocks {
            if self.blocks.is_aborted() {
                break;
            }
            if block.root == Root::Cone && price.value < 0.0 {
                node_weights(block, &self.blocks, &mu, &mut w);
                tree.price(&block.graph, &w, &mut scratch);
                for top in tree.tops() {
                    mu[block.rows[top] as usize] += scratch.subtree[top].min(0.0);
                }
            }
        }
        if self.blocks.is_aborted() {
            return (mu, 0.0);
        }
        for (tied, rc) in self.blocks.tied.iter().zip(&prices.tied) {
            if let Some(tied) = tied {
                let largest = (0..tied.rows.len())
                    .max_by(|&a, &b| tied.factors[a].total_cmp(&tied.factors[b]))
                    .unwrap_or(0);
                mu[tied.rows[largest] as usize] += rc.min(0.0) / tied.factors[largest];
            }
        }
        let bound = self.bound_of(&mu);
        (mu, bound)
    }

    /// Prices every block, without asking for points.
    pub(super) fn price_at(&mut self, mu: &[f64]) -> Prices {
        let nowhere = vec![f64::NEG_INFINITY; self.trees.len()];
        price_all(&self.blocks, &mut self.trees, mu, &nowhere, self.settings.threads != 1)
    }

    /// The bound that flows prove for these duals, rounded down.
    pub(super) fn bound_of(&mut self, mu: &[f64]) -> f64 {
        self.price_at(mu);
        let flows = Prover::new(self.problem).flows(&self.blocks, &self.trees, mu);
        bound_of_flows(self.problem, mu, &flows).max(0.0)
    }

    /// The matrix and y of the current weights.
    pub(super) fn matrix(&self) -> (DenseMatrix, Vec<f64>) {
        let (rows, columns) = (self.problem.rows(), self.problem.columns());
        // Column by column, then turned: rays are columns of the matrix.
        let mut by_column = vec![0.0; rows * columns];
        let mut y = self.problem.fixed_y().map_or_else(|| vec![0.0; columns], <[f64]>::to_vec);
        let tied = (0..columns).filter(|&k| self.blocks.tied[k].is_some());
        for (j, k) in tied.enumerate() {
            y[k] = self.master.x[j];
        }
        for (column, &x) in self.master.columns.iter().zip(&self.master.x) {
            let (Kind::Ray { block } | Kind::Point { block, .. }) = column.kind else { continue };
            let block = &self.blocks.blocks[block];
            let slot = &mut by_column[block.column * rows..][..rows];
            column.add_to(x, slot);
        }
        for (k, tied) in self.blocks.inner.iter().enumerate() {
            if let Some(tied) = tied {
                // Rows of an inner y were added with the points; any of them gives y back.
                let row = tied.rows[0] as usize;
                y[k] = by_column[k * rows + row] / tied.factors[0];
            }
        }
        let mut z = DenseMatrix::zeros(rows, columns);
        for i in 0..rows {
            for (k, value) in z.row_mut(i).iter_mut().enumerate() {
                *value = match self.problem.tie(i, k) {
                    Some(factor) => y[k] * factor,
                    None => by_column[k * rows + i],
                };
            }
        }
        (z, y)
    }
}
