//! Where the master looks next: the central path of the whole problem, user by user.
//!
//! A subproblem's value is convex and piecewise linear in y, and infinite for most y: cuts at one vertex
//! after another need hundreds of iterations, nearly all of them about feasibility. With a logarithmic
//! barrier of weight tau it becomes smooth, its multipliers unique, and its curvature small in size
//! (Zhao 2001, "A log-barrier method with Benders decomposition"): every user eliminates its own entries,
//! in parallel, and the master takes Newton steps for y. What comes out is a y well inside the domain and, for
//! every user, row duals that fit those of the others; the cuts made of them bound the optimum by
//! about tau times the number of constraints.

use super::cholesky::{Factor, Symmetric};
use super::user::{Curvature, Move, Pair, Sides, User};
use crate::cone::for_each;
use crate::direct::{Multipliers, Program};

/// Steps between two guesses; more mean that rounding has taken over.
const MOST_STEPS: usize = 30;

/// How far towards the boundary a step goes.
const CLOSEST: f64 = 0.995;

/// Every walk takes the sum of all products down to this share of it, or further.
const LEAST_PROGRESS: f64 = 0.3;

/// Sums and slacks wrong by more than this share of the aim do not count as feasible.
const FEASIBLE: f64 = 1e-9;

/// A walk along the central path.
#[derive(Debug)]
pub(super) struct Path<'a> {
    users: Vec<User<'a>>,
    /// Every shared y in units of its largest, with the multiplier of `y >= 0`; others stay as they are.
    y: Vec<Pair>,
    units: Vec<Option<f64>>,
    y_moves: Vec<Move>,
    parallel: bool,
}

impl<'a> Path<'a> {
    /// Starts at any y above zero, feasible or not, with multipliers of the size of `dual`.
    pub(super) fn new(
        programs: impl Iterator<Item = &'a Program>,
        units: Vec<Option<f64>>,
        y: &[f64],
        dual: f64,
        parallel: bool,
    ) -> Self {
        let scaled = y.iter().zip(&units).map(|(y, unit)| unit.map_or(0.0, |unit| y / unit));
        let scaled: Vec<f64> = scaled.collect();
        let users = programs.map(|program| User::new(program, &units, &scaled, dual)).collect();
        let y_moves = vec![Move::default(); y.len()];
        let y = scaled.into_iter().map(|primal| Pair { primal, dual }).collect();
        Self { users, y, units, y_moves, parallel }
    }

    /// Where the path stands.
    pub(super) fn y(&self) -> Vec<f64> {
        self.y.iter().zip(&self.units).map(|(y, unit)| y.primal * unit.unwrap_or(0.0)).collect()
    }

    /// Each user's dual point.
    pub(super) fn multipliers(&self) -> impl Iterator<Item = Multipliers> {
        self.users.iter().map(User::multipliers)
    }

    /// Walks until the sum of all products is at most `target` and every sum holds. False when it
    /// no longer gets anywhere.
    pub(super) fn advance(&mut self, target: f64) -> bool {
        // Always some way on: where it stands no more is to be learnt.
        let target = target.min(LEAST_PROGRESS * self.complementarity().0);
        for _ in 0..MOST_STEPS {
            let (total, count) = self.complementarity();
            let scaled = self.scaled();
            let worst = self.users.iter().map(|u| u.infeasibility(&scaled)).fold(0.0, f64::max);
            if !total.is_finite() {
                return false;
            }
            if total <= target && worst <= FEASIBLE {
                return true;
            }
            self.step(total / count as f64, target / count as f64);
        }
        false
    }

    fn scaled(&self) -> Vec<f64> {
        self.y.iter().map(|y| y.primal).collect()
    }

    fn shared(&self) -> impl Iterator<Item = usize> {
        (0..self.y.len()).filter(|&k| self.units[k].is_some())
    }

    fn complementarity(&self) -> (f64, usize) {
        let own = self.shared().map(|k| (self.y[k].product(), 1));
        let users = self.users.iter().map(User::complementarity);
        own.chain(users).fold((0.0, 0), |sum, next| (sum.0 + next.0, sum.1 + next.1))
    }

    /// One Newton step: predicted without a barrier, then corrected (Mehrotra 1992).
    fn step(&mut self, now: f64, least: f64) {
        let curvatures = self.eliminate();
        let newton = Newton::new(&curvatures, &self.y, &self.units);
        let y = self.scaled();
        self.solve(&newton, &y, 0.0, false);
        let step = self.longest_step(1.0);
        let after = self.complementarity_after(step) / self.complementarity().1 as f64;
        // Not below the target: a guess from well inside is worth more than one from the edge.
        let aim = (now * (after / now).powi(3)).max(0.5 * least).min(now);
        let dmu = self.solve(&newton, &y, aim, true);
        let step = self.longest_step(CLOSEST);
        for (user, dmu) in self.users.iter_mut().zip(&dmu) {
            user.advance(dmu, step);
        }
        for (y, by) in self.y.iter_mut().zip(&self.y_moves) {
            y.advance(*by, step);
        }
    }

    fn eliminate(&mut self) -> Vec<Curvature> {
        for_each(&mut self.users, self.parallel, |(_, user), (): &mut ()| user.eliminate())
    }

    /// All moves for one aim; returns those of the row duals.
    fn solve(&mut self, newton: &Newton<'_>, y: &[f64], aim: f64, correct: bool) -> Vec<Vec<f64>> {
        let (forces, sides): (Vec<Vec<f64>>, Vec<Sides>) =
            self.users.iter().map(|user| user.sides(y, aim, correct)).unzip();
        let mut pull = vec![0.0; y.len()];
        for k in self.shared() {
            let last = if correct { self.y_moves[k] } else { Move::default() };
            pull[k] =
                self.y[k].dual_at(aim, last) + sides.iter().map(|side| side.y[k]).sum::<f64>();
        }
        let rows: Vec<&[f64]> = sides.iter().map(|side| side.rows.as_slice()).collect();
        let (dy, dmu) = newton.solve(&rows, &pull);
        let moves = self.y.iter().zip(&mut self.y_moves).zip(&self.units).zip(&dy);
        for (((y, by), _), dy) in moves.filter(|((_, unit), _)| unit.is_some()) {
            *by = y.with(*dy, aim, if correct { *by } else { Move::default() });
        }
        for ((user, force), dmu) in self.users.iter_mut().zip(&forces).zip(&dmu) {
            user.follow((y, &dy), dmu, force, aim, correct);
        }
        dmu
    }

    fn longest_step(&self, share: f64) -> Move {
        let unlimited = Move { primal: f64::MAX, dual: f64::MAX };
        let mut step = self.users.iter().fold(unlimited, |mut step, user| {
            user.shorten(&mut step);
            step
        });
        self.shared().for_each(|k| self.y[k].shorten(self.y_moves[k], &mut step));
        Move { primal: (share * step.primal).min(1.0), dual: (share * step.dual).min(1.0) }
    }

    fn complementarity_after(&self, step: Move) -> f64 {
        let own = self.shared().map(|k| {
            let mut pair = self.y[k];
            pair.advance(self.y_moves[k], step);
            pair.product()
        });
        own.sum::<f64>()
            + self.users.iter().map(|user| user.complementarity_after(step)).sum::<f64>()
    }
}

/// The master's Newton equations, y eliminated: `(S + B D^-1 B') dmu = t - B D^-1 u`.
struct Newton<'a> {
    curvatures: &'a [Curvature],
    /// 1 / D, zero where y is not a variable.
    give: Vec<f64>,
    factor: Factor,
}

impl<'a> Newton<'a> {
    fn new(curvatures: &'a [Curvature], y: &[Pair], units: &[Option<f64>]) -> Self {
        let give: Vec<f64> = (0..y.len())
            .map(|k| {
                let curvature: f64 = curvatures.iter().map(|c| c.diagonal[k].max(0.0)).sum();
                if units[k].is_some() { 1.0 / (curvature + y[k].stiffness()) } else { 0.0 }
            })
            .collect();
        let sizes: Vec<usize> = curvatures.iter().map(|c| c.by_y[0].len()).collect();
        let mut matrix = Symmetric::zeros(sizes.iter().sum());
        let mut first = 0;
        for (curvature, size) in curvatures.iter().zip(&sizes) {
            for i in 0..*size {
                matrix.row_mut(first + i)[first..=first + i]
                    .copy_from_slice(&curvature.rows.row(i)[..=i]);
            }
            first += size;
        }
        let mut stacked = Vec::new();
        for (k, give) in give.iter().enumerate().filter(|(_, give)| **give > 0.0) {
            stacked.clear();
            curvatures.iter().for_each(|c| stacked.extend_from_slice(&c.by_y[k]));
            for i in 0..stacked.len() {
                let scale = give * stacked[i];
                if scale != 0.0 {
                    let row = &mut matrix.row_mut(i)[..=i];
                    row.iter_mut().zip(&stacked).for_each(|(sum, b)| *sum += scale * b);
                }
            }
        }
        Self { curvatures, give, factor: matrix.factor() }
    }

    /// The moves of y and of every user's row duals.
    fn solve(&self, rows: &[&[f64]], pull: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
        let mut side: Vec<f64> = rows.concat();
        let mut first = 0;
        for (curvature, rows) in self.curvatures.iter().zip(rows) {
            let own = &mut side[first..first + rows.len()];
            for ((by_y, give), pull) in curvature.by_y.iter().zip(&self.give).zip(pull) {
                own.iter_mut().zip(by_y).for_each(|(side, b)| *side -= b * give * pull);
            }
            first += rows.len();
        }
        self.factor.solve(&mut side);
        let mut dmu = Vec::with_capacity(rows.len());
        let mut dy = pull.to_vec();
        let mut first = 0;
        for (curvature, rows) in self.curvatures.iter().zip(rows) {
            let own = side[first..first + rows.len()].to_vec();
            for (dy, by_y) in dy.iter_mut().zip(&curvature.by_y) {
                *dy += by_y.iter().zip(&own).map(|(b, d)| b * d).sum::<f64>();
            }
            first += rows.len();
            dmu.push(own);
        }
        dy.iter_mut().zip(&self.give).for_each(|(dy, give)| *dy *= give);
        (dy, dmu)
    }
}
