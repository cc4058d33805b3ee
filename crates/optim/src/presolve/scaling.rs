//! Costs and factors of ties brought near 1, where engines can square and divide them.
//!
//! Only the proportions of costs matter, and only the proportions of the factors of a column: y makes up for the rest. So a
//! problem whose numbers are out of the ordinary is multiplied by powers of two, which no digit is lost by, before an engine
//! sees it. Costs far below the largest count as nothing: the bound is then that of a cheaper problem, which is still one.
//! Ordinary problems are left as they are.

use crate::cost::DenseCost;
use crate::error::Error;
use crate::matrix::{DenseMatrix, Matrix};
use crate::problem::Problem;
use crate::solution::{Solution, TracePoint};

/// Largest costs within this and its inverse are ordinary.
const ORDINARY: f64 = 1e60;

/// Costs below this share of the largest are rounding of rounding.
const NOTHING: f64 = 1e-150;

/// Factors of a column that all are smaller than this are scaled.
const TINY_FACTOR: f64 = 1e-100;

/// More costs than this are not looked at one by one: at that size they come from a map, and the checkers look at what comes
/// of them anyway.
const MOST_COSTS: usize = 20_000_000;

/// A problem with ordinary numbers that has the same solutions as another.
pub(crate) struct Scaled {
    pub(crate) problem: Problem,
    /// What costs were multiplied by.
    cost: f64,
    /// What the factors of every column were multiplied by; empty where nothing is tied.
    factors: Vec<f64>,
}

impl Scaled {
    /// Whether there are too many costs to look at all of them.
    pub(crate) fn is_too_large(problem: &Problem) -> bool {
        problem.rows().saturating_mul(problem.columns()) > MOST_COSTS
    }

    /// `None` where the numbers are ordinary as they are.
    pub(crate) fn of(problem: &Problem) -> Result<Option<Self>, Error> {
        if Self::is_too_large(problem) {
            return Ok(None);
        }
        let (least, largest) = extremes(problem);
        let is_ordinary = largest == 0.0
            || (largest < ORDINARY && largest > 1.0 / ORDINARY && least >= NOTHING * largest);
        let cost = if is_ordinary { 1.0 } else { to_one(largest) };
        let factors = factor_scales(problem);
        let is_tame = factors.iter().all(|scale| *scale == 1.0);
        if is_ordinary && is_tame {
            return Ok(None);
        }
        let mut scaled = problem.clone();
        if !is_ordinary {
            scaled = scaled.with_cost(scaled_costs(problem, cost)?)?;
        }
        let mut applied = Vec::new();
        if let Some(tied) = scaled.with_factors_scaled(&factors).filter(|_| !is_tame) {
            (scaled, applied) = (tied, factors);
        }
        Ok(Some(Self { problem: scaled, cost, factors: applied }))
    }

    /// A dual vector in the units of the scaled problem.
    pub(crate) fn mu(&self, mu: &[f64]) -> Vec<f64> {
        mu.iter().map(|mu| (mu * self.cost).clamp(f64::MIN, f64::MAX)).collect()
    }

    /// A bound in the units of the problem that was scaled, rounded down where that is below the normal numbers.
    pub(crate) fn bound(&self, bound: f64) -> f64 {
        let bound = bound / self.cost;
        if bound < f64::MIN_POSITIVE { bound.next_down().max(0.0) } else { bound }
    }

    /// The solution in the units of the problem that was scaled. Tied entries are made afresh, so that they are products to
    /// the last bit; the checker decides what the rest is worth.
    pub(crate) fn undo(&self, whole: &Problem, mut solution: Solution) -> Solution {
        let cost = |value: f64| value / self.cost;
        let point = |point: &TracePoint| TracePoint {
            upper_bound: cost(point.upper_bound),
            lower_bound: cost(point.lower_bound),
            ..*point
        };
        solution.objective = cost(solution.objective);
        solution.lower_bound = self.bound(solution.lower_bound);
        solution.trace = solution.trace.iter().map(point).collect();
        solution.certificate.mu.iter_mut().for_each(|mu| *mu = cost(*mu));
        if !self.factors.is_empty() {
            solution.y.iter_mut().zip(&self.factors).for_each(|(y, scale)| *y *= scale);
            if let Some(y) = whole.fixed_y() {
                solution.y = y.to_vec();
            }
            let mut z = DenseMatrix::zeros(whole.rows(), whole.columns());
            for i in 0..whole.rows() {
                solution.z.fill_row(i, z.row_mut(i));
                for (k, y) in solution.y.iter().enumerate() {
                    if let Some(factor) = whole.tie(i, k) {
                        *z.at_mut(i, k) = y * factor;
                    }
                }
            }
            solution.z = Matrix::Dense(z);
        }
        solution
    }
}

/// The least cost above zero and the largest; both zero where nothing costs anything.
fn extremes(problem: &Problem) -> (f64, f64) {
    let mut row = vec![0.0; problem.columns()];
    let (mut least, mut largest) = (f64::INFINITY, 0.0_f64);
    for i in 0..problem.rows() {
        problem.cost().fill_row(i, &mut row);
        for &cost in row.iter().filter(|cost| **cost > 0.0) {
            least = least.min(cost);
            largest = largest.max(cost);
        }
    }
    if largest == 0.0 { (0.0, 0.0) } else { (least, largest) }
}

/// The power of two that brings a number into [1/2, 1], or as near as one number can.
fn to_one(number: f64) -> f64 {
    let exponent = number.log2().ceil().clamp(-1022.0, 1022.0);
    2_f64.powi(-exponent as i32)
}

fn scaled_costs(problem: &Problem, scale: f64) -> Result<DenseCost, Error> {
    let (rows, columns) = (problem.rows(), problem.columns());
    let mut costs = vec![0.0; rows * columns];
    for (i, row) in costs.chunks_exact_mut(columns).enumerate() {
        problem.cost().fill_row(i, row);
    }
    let largest = costs.iter().fold(0.0_f64, |largest, cost| largest.max(*cost)) * scale;
    for cost in &mut costs {
        *cost *= scale;
        if *cost < NOTHING * largest {
            *cost = 0.0;
        }
    }
    DenseCost::new(rows, columns, costs)
}

/// By column, what brings its largest factor near 1 where that is tiny.
fn factor_scales(problem: &Problem) -> Vec<f64> {
    if !problem.has_ties() {
        return Vec::new();
    }
    let largest =
        |k: usize| (0..problem.rows()).filter_map(|i| problem.tie(i, k)).fold(0.0_f64, f64::max);
    let scale = |k: usize| match largest(k) {
        factor if factor > 0.0 && factor < TINY_FACTOR => to_one(factor),
        _ => 1.0,
    };
    (0..problem.columns()).map(scale).collect()
}
