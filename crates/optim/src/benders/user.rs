//! One user's part of the central path: its free entries, its multipliers, and what is left of its
//! Newton equations once its own unknowns are eliminated.
//!
//! A column's free entries meet nothing but y_k and the row sums, so they are eliminated column by
//! column. What remains is the user's curvature in terms of y and of its row duals: all that the master needs.

use super::cholesky::{Factor, Symmetric};
use crate::direct::{Multipliers, Program};

/// A pair of numbers, each at least zero, whose product falls along the path.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    pub(super) primal: f64,
    pub(super) dual: f64,
}

/// How a pair moves.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Move {
    pub(super) primal: f64,
    pub(super) dual: f64,
}

impl Pair {
    pub(super) fn product(self) -> f64 {
        self.primal * self.dual
    }

    /// `dual / primal`: what the pair adds to the curvature.
    pub(super) fn stiffness(self) -> f64 {
        self.dual / self.primal
    }

    /// What the dual becomes if the primal stays: the product is to be `aim`, less what the last
    /// move got wrong (Mehrotra's correction).
    pub(super) fn dual_at(self, aim: f64, last: Move) -> f64 {
        (aim - last.primal * last.dual) / self.primal
    }

    /// The move that goes with a move of the primal.
    pub(super) fn with(self, primal: f64, aim: f64, last: Move) -> Move {
        let dual = self.dual_at(aim, last) - self.dual - self.stiffness() * primal;
        Move { primal, dual }
    }

    /// Shortens steps so that neither number reaches zero.
    pub(super) fn shorten(self, by: Move, step: &mut Move) {
        if by.primal < 0.0 {
            step.primal = step.primal.min(-self.primal / by.primal);
        }
        if by.dual < 0.0 {
            step.dual = step.dual.min(-self.dual / by.dual);
        }
    }

    pub(super) fn advance(&mut self, by: Move, step: Move) {
        self.primal += step.primal * by.primal;
        self.dual += step.dual * by.dual;
    }
}

/// The free entries of one column.
#[derive(Debug)]
struct Block {
    column: usize,
    /// Variables of the program and the positions of their rows.
    entries: Vec<(usize, usize)>,
    factor: Factor,
    /// Coupling to y, and the same divided by the block's curvature.
    coupling: Vec<f64>,
    reached: Vec<f64>,
}

/// What the master sees of a user at one point of the path.
#[derive(Debug)]
pub(super) struct Curvature {
    /// Over the row sums: `S dmu + B dy = t`.
    pub(super) rows: Symmetric,
    /// B by column, one number per row.
    pub(super) by_y: Vec<Vec<f64>>,
    /// The user's share of the curvature in each y.
    pub(super) diagonal: Vec<f64>,
}

/// The same for one right-hand side.
#[derive(Debug)]
pub(super) struct Sides {
    pub(super) rows: Vec<f64>,
    pub(super) y: Vec<f64>,
}

/// One user on the path.
#[derive(Debug)]
pub(super) struct User<'a> {
    program: &'a Program,
    /// The unit of every y; zero where y is no variable.
    unit: Vec<f64>,
    blocks: Vec<Block>,
    /// Every free entry with the multiplier of `z >= 0`, every inequality's slack with its own.
    entries: Vec<Pair>,
    slacks: Vec<Pair>,
    mu: Vec<f64>,
    entry_moves: Vec<Move>,
    slack_moves: Vec<Move>,
}

impl<'a> User<'a> {
    /// Starts with even free entries and every multiplier at `dual`.
    pub(super) fn new(program: &'a Program, units: &[Option<f64>], y: &[f64], dual: f64) -> Self {
        let unit = units.iter().map(|unit| unit.unwrap_or(0.0)).collect();
        let mut of_column: Vec<Vec<(usize, usize)>> = vec![Vec::new(); program.columns];
        for (v, &(p, k)) in program.entries.iter().enumerate() {
            of_column[k].push((v, p));
        }
        let blocks = of_column.into_iter().enumerate().filter(|(_, entries)| !entries.is_empty());
        let blocks = blocks.map(|(column, entries)| Block {
            column,
            factor: Symmetric::zeros(0).factor(),
            coupling: vec![0.0; entries.len()],
            reached: vec![0.0; entries.len()],
            entries,
        });
        let entry = 1.0 / program.columns as f64;
        let mut user = Self {
            program,
            unit,
            blocks: blocks.collect(),
            entries: vec![Pair { primal: entry, dual }; program.entries.len()],
            slacks: Vec::new(),
            mu: vec![dual; program.rows.len()],
            entry_moves: vec![Move::default(); program.entries.len()],
            slack_moves: vec![Move::default(); program.inequalities.len()],
        };
        user.slacks = (0..program.inequalities.len())
            .map(|h| Pair { primal: user.room(h, y).max(entry), dual })
            .collect();
        user
    }

    /// A variable's value, y in its unit.
    fn value(&self, v: usize, y: &[f64]) -> f64 {
        match v.checked_sub(self.entries.len()) {
            None => self.entries[v].primal,
            Some(k) => y[k] * self.unit[k],
        }
    }

    /// What an inequality leaves open.
    fn room(&self, h: usize, y: &[f64]) -> f64 {
        let inequality = &self.program.inequalities[h];
        inequality.at_most
            - inequality.terms.iter().map(|&(v, a)| a * self.value(v, y)).sum::<f64>()
    }

    /// What the row sums lack of 1.
    fn missing(&self, y: &[f64]) -> impl Iterator<Item = f64> {
        self.program
            .sums
            .iter()
            .map(move |sum| 1.0 - sum.iter().map(|&(v, f)| f * self.value(v, y)).sum::<f64>())
    }

    /// The user's dual point.
    pub(super) fn multipliers(&self) -> Multipliers {
        let lambda = self.slacks.iter().map(|slack| slack.dual).collect();
        Multipliers { mu: self.mu.clone(), lambda }
    }

    /// The sum of all products, and their number.
    pub(super) fn complementarity(&self) -> (f64, usize) {
        let pairs = self.entries.iter().chain(&self.slacks);
        (pairs.map(|pair| pair.product()).sum(), self.entries.len() + self.slacks.len())
    }

    /// The worst error of sums and slacks.
    pub(super) fn infeasibility(&self, y: &[f64]) -> f64 {
        let sums = self.missing(y).map(f64::abs);
        let slacks =
            self.slacks.iter().enumerate().map(|(h, s)| (self.room(h, y) - s.primal).abs());
        sums.chain(slacks).fold(0.0, f64::max)
    }

    /// Eliminates the entries: factors every column, and adds up what is left.
    pub(super) fn eliminate(&mut self) -> Curvature {
        let (program, rows) = (self.program, self.program.rows.len());
        let free = program.entries.len();
        // Where each free entry stands within its block.
        let mut place = vec![0; free];
        let mut block_of = vec![usize::MAX; program.columns];
        let mut matrices: Vec<Symmetric> = Vec::with_capacity(self.blocks.len());
        for (b, block) in self.blocks.iter_mut().enumerate() {
            block_of[block.column] = b;
            block.coupling.fill(0.0);
            let mut matrix = Symmetric::zeros(block.entries.len());
            for (at, &(v, _)) in block.entries.iter().enumerate() {
                place[v] = at;
                matrix.add(at, at, self.entries[v].stiffness());
            }
            matrices.push(matrix);
        }
        let mut diagonal = vec![0.0; program.columns];
        for (inequality, slack) in program.inequalities.iter().zip(&self.slacks) {
            let stiffness = slack.stiffness();
            let [(u, a), (v, b)] = inequality.terms;
            let column = |v: usize| if v < free { program.entries[v].1 } else { v - free };
            let k = column(u);
            let mut add = |u: usize, v: usize, weight: f64| match (u < free, v < free) {
                _ if weight == 0.0 => {}
                (true, true) => matrices[block_of[k]].add(place[u], place[v], weight),
                (true, false) => {
                    self.blocks[block_of[k]].coupling[place[u]] += weight * self.unit[k]
                }
                (false, true) => {
                    self.blocks[block_of[k]].coupling[place[v]] += weight * self.unit[k]
                }
                (false, false) => diagonal[k] += weight * self.unit[k] * self.unit[k],
            };
            add(u, u, a * a * stiffness);
            add(u, v, a * b * stiffness);
            add(v, v, b * b * stiffness);
        }
        let mut sum = Symmetric::zeros(rows);
        let mut by_y: Vec<Vec<f64>> = (0..program.columns)
            .map(|k| {
                let tied = |p: usize| {
                    let (v, f) = program.sums[p][k];
                    if v < free { 0.0 } else { f * self.unit[k] }
                };
                (0..rows).map(tied).collect()
            })
            .collect();
        for (block, matrix) in self.blocks.iter_mut().zip(matrices) {
            block.factor = matrix.factor();
            let k = block.column;
            block.reached.clone_from(&block.coupling);
            block.factor.solve(&mut block.reached);
            let pairs = block.coupling.iter().zip(&block.reached);
            diagonal[k] -= pairs.map(|(h, r)| h * r).sum::<f64>();
            for (&(_, p), reached) in block.entries.iter().zip(&block.reached) {
                by_y[k][p] -= reached;
            }
            let mut unit = vec![0.0; block.entries.len()];
            for (at, &(_, p)) in block.entries.iter().enumerate() {
                unit.fill(0.0);
                unit[at] = 1.0;
                block.factor.solve(&mut unit);
                for (&(_, q), value) in block.entries[..=at].iter().zip(&unit) {
                    sum.add(p, q, *value);
                }
            }
        }
        Curvature { rows: sum, by_y, diagonal }
    }

    /// The right-hand sides when products aim at `aim`, corrected for the last moves if asked.
    pub(super) fn sides(&self, y: &[f64], aim: f64, correct: bool) -> (Vec<f64>, Sides) {
        let program = self.program;
        let free = program.entries.len();
        let force = self.force(y, aim, correct);
        let mut rows: Vec<f64> = self.missing(y).collect();
        let mut on_y: Vec<f64> =
            (0..program.columns).map(|k| force[free + k] * self.unit[k]).collect();
        for block in &self.blocks {
            let mut moved: Vec<f64> = block.entries.iter().map(|&(v, _)| force[v]).collect();
            block.factor.solve(&mut moved);
            for ((&(_, p), moved), coupling) in
                block.entries.iter().zip(&moved).zip(&block.coupling)
            {
                rows[p] -= moved;
                on_y[block.column] -= coupling * moved;
            }
        }
        (force, Sides { rows, y: on_y })
    }

    /// What pulls each variable of the program: the negative of the Lagrangian's slope.
    fn force(&self, y: &[f64], aim: f64, correct: bool) -> Vec<f64> {
        let program = self.program;
        let last = |moves: &[Move], at: usize| if correct { moves[at] } else { Move::default() };
        let mut force: Vec<f64> = program.cost.iter().map(|c| -c).collect();
        for (sum, mu) in program.sums.iter().zip(&self.mu) {
            sum.iter().for_each(|&(v, f)| force[v] += f * mu);
        }
        for (h, (inequality, slack)) in program.inequalities.iter().zip(&self.slacks).enumerate() {
            let short = self.room(h, y) - slack.primal;
            let dual = slack.dual_at(aim, last(&self.slack_moves, h)) - slack.stiffness() * short;
            inequality.terms.iter().for_each(|&(v, a)| force[v] -= a * dual);
        }
        for (v, entry) in self.entries.iter().enumerate() {
            force[v] += entry.dual_at(aim, last(&self.entry_moves, v));
        }
        force
    }

    /// The moves of entries and slacks that go with those of y and of the row duals.
    pub(super) fn follow(
        &mut self,
        (y, dy): (&[f64], &[f64]),
        dmu: &[f64],
        force: &[f64],
        aim: f64,
        correct: bool,
    ) {
        let program = self.program;
        let mut change = vec![0.0; program.variables()];
        for (k, dy) in dy.iter().enumerate() {
            change[program.y(k)] = dy * self.unit[k];
        }
        for block in &self.blocks {
            let mut moved: Vec<f64> =
                block.entries.iter().map(|&(v, p)| force[v] + dmu[p]).collect();
            block.factor.solve(&mut moved);
            for ((&(v, _), moved), reached) in block.entries.iter().zip(moved).zip(&block.reached) {
                change[v] = moved - reached * dy[block.column];
            }
        }
        let last = |by: Move| if correct { by } else { Move::default() };
        for ((entry, by), change) in self.entries.iter().zip(&mut self.entry_moves).zip(&change) {
            *by = entry.with(*change, aim, last(*by));
        }
        for h in 0..self.slacks.len() {
            let moved: f64 =
                program.inequalities[h].terms.iter().map(|&(v, a)| a * change[v]).sum();
            let short = self.room(h, y) - self.slacks[h].primal;
            self.slack_moves[h] =
                self.slacks[h].with(short - moved, aim, last(self.slack_moves[h]));
        }
    }

    /// Shortens a step to where no number of this user turns negative.
    pub(super) fn shorten(&self, step: &mut Move) {
        self.moves().for_each(|(pair, by)| pair.shorten(by, step));
    }

    /// The sum of products after a step.
    pub(super) fn complementarity_after(&self, step: Move) -> f64 {
        let after = |(mut pair, by): (Pair, Move)| {
            pair.advance(by, step);
            pair.product()
        };
        self.moves().map(after).sum()
    }

    fn moves(&self) -> impl Iterator<Item = (Pair, Move)> {
        let entries = self.entries.iter().zip(&self.entry_moves);
        entries.chain(self.slacks.iter().zip(&self.slack_moves)).map(|(pair, by)| (*pair, *by))
    }

    pub(super) fn advance(&mut self, dmu: &[f64], step: Move) {
        self.mu.iter_mut().zip(dmu).for_each(|(mu, d)| *mu += step.dual * d);
        let entries = self.entries.iter_mut().zip(&self.entry_moves);
        let slacks = self.slacks.iter_mut().zip(&self.slack_moves);
        entries.chain(slacks).for_each(|(pair, by)| pair.advance(*by, step));
    }
}
