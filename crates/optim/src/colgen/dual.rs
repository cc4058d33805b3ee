//! Dual repair: from the master's duals to duals that are feasible for every column.
//!
//! Lowering mu never hurts a column, so one pass over the columns that price out is enough: each is
//! priced again at the duals its predecessors have left, and the rows where its ray is largest pay for
//! what is still missing. What one column pays, its neighbours save. The sum of the result is a bound, the
//! result is the centre from which the interior point goes on, and the rays met on the way join too.

use super::tuning::TUNING;
use std::collections::VecDeque;
use std::sync::Arc;

use crate::cone::{Blocks, NO_ROW, Prices, Root, Scratch, Tree, for_each, node_weights, noise};

/// Duals feasible for every column.
pub(super) struct FeasibleDual {
    pub mu: Vec<f64>,
    /// Proven lower bound.
    pub bound: f64,
    /// Points met while repairing: block and values by node.
    pub found: Vec<(usize, Vec<f64>)>,
}

pub(super) fn make_feasible(
    blocks: &Blocks,
    trees: &mut [Tree],
    start: &[f64],
    prices: &Prices,
    tolerance: f64,
    parallel: bool,
) -> FeasibleDual {
    let mut repair = Repair {
        blocks,
        trees,
        mu: start.to_vec(),
        values: prices.blocks.iter().map(|price| price.value).collect(),
        found: Vec::new(),
        scratch: Scratch::default(),
        w: Vec::new(),
    };
    let mut missing = 0.0;
    let mut columns: Vec<(f64, usize)> = Vec::new();
    for (k, tied) in blocks.tied.iter().enumerate() {
        let Some(tied) = tied else { continue };
        let shortage = tied.shortage(prices.tied[k], prices.noise[k]);
        if shortage < -TUNING.tied_tolerances * tolerance {
            columns.push((prices.tied[k], k));
        } else {
            missing += shortage;
        }
    }
    let violating = blocks.blocks.iter().zip(&prices.blocks).enumerate();
    let violating = violating
        .filter(|(_, (block, price))| block.root == Root::Cone && price.value < -tolerance)
        .map(|(index, (_, price))| (price.value, index));
    let mut cones: Vec<(f64, usize)> = violating.collect();
    // Worst first.
    for list in [&mut columns, &mut cones] {
        list.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    let mut cones: VecDeque<usize> = cones.into_iter().map(|(_, index)| index).collect();
    while !cones.is_empty() && !blocks.is_aborted() {
        repair.cones(&mut cones, tolerance, parallel && start.len() >= TUNING.rows_worth_threads);
    }
    for (_, column) in columns {
        if blocks.is_aborted() {
            break;
        }
        missing += repair.tied(column, tolerance);
    }
    let Repair { mu, values, found, .. } = repair;
    let mut bound = blocks.fixed_cost + missing - tolerance * blocks.blocks.len() as f64;
    bound += mu.iter().zip(&blocks.right_side).map(|(mu, b)| mu * b).sum::<f64>();
    for (block, value) in blocks.blocks.iter().zip(&values) {
        if block.root == Root::One {
            bound += value;
        }
    }
    FeasibleDual { mu, bound, found }
}

struct Repair<'a> {
    blocks: &'a Blocks,
    trees: &'a mut [Tree],
    mu: Vec<f64>,
    values: Vec<f64>,
    found: Vec<(usize, Vec<f64>)>,
    scratch: Scratch,
    w: Vec<f64>,
}

impl Repair<'_> {
    /// Prices one block at the current duals; returns its largest entry and the row of it.
    fn price(&mut self, index: usize) -> (f64, u32) {
        let block = &self.blocks.blocks[index];
        node_weights(block, self.blocks, &self.mu, &mut self.w);
        self.values[index] = self.trees[index].price(&block.graph, &self.w, &mut self.scratch);
        let rows = block.rows.iter().zip(&self.scratch.z).filter(|(row, _)| **row != NO_ROW);
        rows.fold((0.0, 0), |best, (&row, &z)| if z > best.0 { (z, row) } else { best })
    }

    /// Makes the next few cones feasible: the row of every top pays what its tree is short of, after which no subtree
    /// would rather move. This is the dual of pricing within `z <= 1`, so no payment is cheaper. Cones that hardly touch are priced at the same
    /// duals; should others have paid for them meanwhile, they pay too much, which is no less feasible.
    fn cones(&mut self, waiting: &mut VecDeque<usize>, tolerance: f64, parallel: bool) {
        let next = self.apart(waiting);
        let take = |index: usize| (index, std::mem::take(&mut self.trees[index]));
        let mut trees: Vec<(usize, Tree)> = next.into_iter().map(take).collect();
        let (blocks, mu) = (self.blocks, &self.mu);
        let price = |(_, (index, tree)): (usize, &mut (usize, Tree)),
                     (scratch, w): &mut (Scratch, Vec<f64>)| {
            let block = &blocks.blocks[*index];
            node_weights(block, blocks, mu, w);
            let value = tree.price(&block.graph, w, scratch);
            let is_short = value < -tolerance;
            let pays = |top: usize| (block.rows[top], scratch.subtree[top].min(0.0));
            let payments: Vec<(u32, f64)> = match is_short {
                true => tree.tops().map(pays).collect(),
                false => Vec::new(),
            };
            let point = (is_short && scratch.pivots > 0).then(|| scratch.z.clone());
            (value, point, payments)
        };
        let priced = for_each(&mut trees, parallel, price);
        for ((index, tree), (value, point, payments)) in trees.into_iter().zip(priced) {
            self.trees[index] = tree;
            self.values[index] = value;
            self.found.extend(point.map(|point| (index, point)));
            for (row, payment) in payments {
                self.mu[row as usize] += payment;
            }
        }
    }

    /// Takes a few of those waiting, the first among them, whose rays are small where the others have their tops.
    fn apart(&self, waiting: &mut VecDeque<usize>) -> Vec<usize> {
        let mut taken: Vec<usize> = Vec::with_capacity(TUNING.cones_at_once);
        let touches = |one: usize, other: usize| {
            let [a, b] = [one, other].map(|index| &self.blocks.blocks[index]);
            let ray = self.trees[other].point();
            let share = Arc::ptr_eq(&a.graph, &b.graph);
            !share || self.trees[one].tops().any(|top| ray[top] > TUNING.touching)
        };
        let mut left = VecDeque::new();
        while taken.len() < TUNING.cones_at_once && left.len() < TUNING.cones_looked_at {
            let Some(index) = waiting.pop_front() else { break };
            if taken.iter().any(|&other| touches(index, other) || touches(other, index)) {
                left.push_back(index);
            } else {
                taken.push(index);
            }
        }
        while let Some(index) = left.pop_back() {
            waiting.push_front(index);
        }
        taken
    }

    /// Makes a tied column feasible, its y with every block at its minimum; returns what is still
    /// missing (zero or a negative number).
    ///
    /// What is missing in the end counts times the largest y there can be, which is huge where factors
    /// are tiny, so it must vanish, and be seen to in spite of rounding. Lowering all rows by `-reduced / sum z`
    /// is Newton's method (after Dinkelbach) for a concave, piecewise linear function: it ends after a few rounds.
    fn tied(&mut self, column: usize, tolerance: f64) -> f64 {
        let Some(tied) = &self.blocks.tied[column] else { return 0.0 };
        let members = &self.blocks.of_column[column];
        let mut shortage = 0.0;
        for round in 0..=TUNING.repair_rounds {
            if self.blocks.is_aborted() {
                break;
            }
            let (mut reduced, mut rounding) = tied.own_price(&self.mu);
            let pairs = tied.rows.iter().zip(&tied.factors);
            let mut largest =
                pairs.fold((0.0, 0), |best, (&row, &f)| if f > best.0 { (f, row) } else { best });
            let mut sum: f64 = tied.factors.iter().sum();
            let mut points = Vec::new();
            for &index in members {
                let found = self.price(index);
                if found.0 > largest.0 {
                    largest = found;
                }
                let block = &self.blocks.blocks[index];
                let rows = block.rows.iter().zip(&self.scratch.z);
                sum += rows.filter(|(row, _)| **row != NO_ROW).map(|(_, z)| z).sum::<f64>();
                reduced += self.values[index];
                rounding += noise(block, &self.w, &self.scratch.z);
                points.push((index, self.scratch.z.clone()));
            }
            shortage = tied.shortage(reduced, rounding);
            if shortage >= -TUNING.tied_tolerances * tolerance {
                if round > 0 {
                    self.found.extend(points);
                }
                return shortage;
            }
            let lacking = reduced - 2.0 * rounding;
            if round < TUNING.single_payers {
                self.mu[largest.1 as usize] += lacking / largest.0;
            } else if round < TUNING.repair_rounds {
                let blocks =
                    members.iter().flat_map(|&index| self.blocks.blocks[index].rows.iter());
                for &row in tied.rows.iter().chain(blocks.filter(|row| **row != NO_ROW)) {
                    self.mu[row as usize] += lacking / sum;
                }
            }
        }
        shortage
    }
}
