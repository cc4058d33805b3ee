//! Entries that nothing but zero satisfies, and the flows that prove it.
//!
//! Free entries joined to a zero (a tied entry whose y is zero, an upper bound of zero) are zero themselves, and
//! have no block. Their residuals may be negative all the same, and the bound counts a negative residual times
//! the largest value of its entry; so they are carried along the arcs to the zero, where they count nothing.
//! A y whose ties contradict each other is zero because a chain of arcs says `f_i y <= a f_j y` with `f_i > a f_j`.

use super::block::Blocks;
use super::flows::Prover;
use super::search::Reached;
use crate::certificate::ArcFlow;
use std::collections::BinaryHeap;

/// So much more than needed is carried on at every step: what is left over is then positive in spite of rounding,
/// and a positive residual costs nothing, whereas a negative one may have grown like e^(eps D) on its way.
const EXTRA: f64 = 1e-12;

/// A connected part of the free rows of a column that must be zero.
#[derive(Debug)]
pub(crate) struct ZeroPart {
    pub column: usize,
    pub rows: Vec<u32>,
}

/// How far rows lie from where a search began.
struct Reach {
    /// `eps D`, more than the start had already; infinite where the search did not come.
    distance: Vec<f64>,
    /// The next row on the way back.
    towards: Vec<Option<u32>>,
}

impl Prover<'_> {
    /// Adds the flows of every part that must be zero, and of every y that its ties hold at zero.
    pub(super) fn add_zeros(&self, blocks: &Blocks, mu: &[f64], flows: &mut [Vec<ArcFlow>]) {
        for part in &blocks.zero {
            self.add_zero_part(part, mu, &mut flows[part.column]);
        }
        for (column, flows) in flows.iter_mut().enumerate() {
            let is_variable = blocks.tied[column].is_some() || blocks.inner[column].is_some();
            if self.problem.fixed_y().is_none() && !is_variable {
                self.add_contradiction(column, mu, flows);
            }
        }
    }

    /// Carries the negative residuals of a part to the zeros beside it, the farthest first.
    fn add_zero_part(&self, part: &ZeroPart, mu: &[f64], flows: &mut Vec<ArcFlow>) {
        let beside = part.rows.iter().flat_map(|&row| &self.neighbours[row as usize]);
        let tied = beside.map(|beside| beside.row).filter(|&row| self.is_tied(row, part.column));
        let held = self.held_at_zero(part.column).filter(|row| part.rows.contains(row));
        let starts = tied.chain(held).map(|row| (row, 0.0));
        let reach = self.reach(part.column, starts);
        let mut residual = self.residuals(part.column, mu);
        let mut rows = part.rows.clone();
        rows.sort_by(|&a, &b| reach.distance[b as usize].total_cmp(&reach.distance[a as usize]));
        for row in rows {
            let left = residual[row as usize];
            if let Some(next) = reach.towards[row as usize]
                && left < 0.0
            {
                let amount = -left * (1.0 + EXTRA);
                residual[next as usize] -= amount * self.push(row, next, amount, flows);
            }
        }
    }

    /// Flow along a chain of arcs that leaves only y = 0, enough to make up for all that y is short of.
    fn add_contradiction(&self, column: usize, mu: &[f64], flows: &mut Vec<ArcFlow>) {
        let factor_of = |row: u32| self.problem.tie(row as usize, column);
        let tied: Vec<(u32, f64)> = (0..self.problem.rows() as u32)
            .filter_map(|row| factor_of(row).map(|factor| (row, factor)))
            .collect();
        let mut residual = self.residuals(column, mu);
        let mut moved = 0.0;
        for flow in flows.iter() {
            let arc = self.problem.arcs()[flow.arc];
            let (from, to) = if flow.reversed { (arc.j, arc.i) } else { (arc.i, arc.j) };
            let arriving = flow.amount * self.problem.log_ratio(&arc).exp();
            residual[from] += flow.amount;
            residual[to] -= arriving;
            moved += factor_of(from as u32).unwrap_or(0.0) * flow.amount;
            moved += factor_of(to as u32).unwrap_or(0.0) * arriving;
        }
        let short: f64 = tied.iter().map(|&(row, factor)| factor * residual[row as usize]).sum();
        let short = short - EXTRA * moved;
        if short >= 0.0 {
            return;
        }
        let starts = tied.iter().map(|&(row, factor)| (row, -factor.ln()));
        let reach = self.reach(column, starts);
        let Some((mut chain, excess)) = self.contradicting_chain(column, &tied, &reach) else {
            return;
        };
        while let Some(before) = reach.towards[chain[chain.len() - 1] as usize] {
            chain.push(before);
        }
        let start = chain[chain.len() - 1];
        let gain = factor_of(start).unwrap_or(0.0) * -(-excess).exp_m1();
        let mut amount = -short / gain * (1.0 + 1e-9);
        for pair in chain.windows(2).rev() {
            amount *= self.push(pair[1], pair[0], amount, flows) * (1.0 + EXTRA);
        }
    }

    /// The end of the chain that contradicts the ties most, backwards, and the logarithm of what it claims in
    /// excess: it arrives at a zero, or at a tied row above the row's own label.
    fn contradicting_chain(
        &self,
        column: usize,
        tied: &[(u32, f64)],
        reach: &Reach,
    ) -> Option<(Vec<u32>, f64)> {
        let mut zeros = self.held_at_zero(column);
        if let Some(zero) = zeros.find(|&row| reach.towards[row as usize].is_some()) {
            return Some((vec![zero], f64::INFINITY));
        }
        let mut worst: Option<(Vec<u32>, f64)> = None;
        for &(row, factor) in tied {
            for last in &self.neighbours[row as usize] {
                let excess = -reach.distance[last.row as usize] - last.log - factor.ln();
                if excess > worst.as_ref().map_or(0.0, |(_, most)| *most) {
                    worst = Some((vec![row, last.row], excess));
                }
            }
        }
        worst
    }

    /// The rows that an upper bound holds at zero.
    fn held_at_zero(&self, column: usize) -> impl Iterator<Item = u32> {
        let bounds = self.problem.bounds().iter();
        let held = bounds.filter(move |bound| bound.column == column && bound.high == 0.0);
        held.map(|bound| bound.row as u32)
    }

    fn is_tied(&self, row: u32, column: usize) -> bool {
        self.problem.tie(row as usize, column).is_some()
    }

    /// Reduced costs of a column's rows.
    fn residuals(&self, column: usize, mu: &[f64]) -> Vec<f64> {
        let rows: Vec<u32> = (0..self.problem.rows() as u32).collect();
        let mut residual = vec![0.0; rows.len()];
        self.problem.cost().fill(column, &rows, &mut residual);
        residual.iter_mut().zip(mu).for_each(|(residual, mu)| *residual -= mu);
        residual
    }

    /// Puts a flow on `z_from <= a z_to` and returns a.
    fn push(&self, from: u32, to: u32, amount: f64, flows: &mut Vec<ArcFlow>) -> f64 {
        let beside = self.beside(from, to).expect("rows on a way lie beside each other");
        flows.push(beside.flow_from_here(amount));
        beside.factor
    }

    /// Shortest ways from the starts, each with what it begins with, through the free rows of a column.
    fn reach(&self, column: usize, starts: impl Iterator<Item = (u32, f64)>) -> Reach {
        let mut distance = vec![f64::INFINITY; self.problem.rows()];
        let mut towards = vec![None; self.problem.rows()];
        let mut heap: BinaryHeap<Reached> =
            starts.map(|(row, key)| Reached { key, row, from: row }).collect();
        heap.iter().for_each(|start| distance[start.row as usize] = start.key);
        while let Some(Reached { key, row, .. }) = heap.pop() {
            if key > distance[row as usize] {
                continue;
            }
            for other in &self.neighbours[row as usize] {
                let next = key + other.log;
                if next < distance[other.row as usize] && !self.is_tied(other.row, column) {
                    distance[other.row as usize] = next;
                    towards[other.row as usize] = Some(row);
                    heap.push(Reached { key: next, row: other.row, from: row });
                }
            }
        }
        Reach { distance, towards }
    }
}
