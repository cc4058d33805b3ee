//! From a solver's multipliers to a bound that holds whatever the solver did.

use super::program::Program;
use crate::certificate::ArcFlow;
use crate::certificate::rounding::LowSum;

/// Multipliers of a program: any numbers, `arcs` taken as zero where negative.
#[derive(Debug, Clone)]
pub(crate) struct Multipliers {
    /// One per row sum.
    pub(crate) mu: Vec<f64>,
    /// One per inequality.
    pub(crate) lambda: Vec<f64>,
}

/// `cost(z, y) >= constant + sum_k slope_k y_k` for every z that is feasible with y >= 0.
#[derive(Debug, Clone)]
pub(crate) struct AffineBound {
    pub(crate) constant: f64,
    /// One per column.
    pub(crate) slope: Vec<f64>,
    /// The row duals behind it, one per row of the program.
    pub(crate) mu: Vec<f64>,
}

impl AffineBound {
    /// The bound at a given y, rounded down.
    pub(crate) fn at(&self, y: &[f64]) -> f64 {
        let mut sum = LowSum::default();
        sum.add(self.constant);
        sum.extend(self.slope.iter().zip(y).map(|(slope, y)| slope * y));
        sum.low()
    }

    /// The same in another unit: `factor` times as large.
    pub(crate) fn scale(&mut self, factor: f64) {
        self.constant *= factor;
        self.slope.iter_mut().chain(&mut self.mu).for_each(|value| *value *= factor);
    }
}

/// What rounding may take off a reduced cost, as a share of the sizes it is a difference of.
const ROUNDING: f64 = 1e-13;

/// Whether costs count (a bound of the optimum) or not (a proof of infeasibility, a Farkas ray).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Costs {
    Counted,
    Ignored,
}

impl Program {
    /// The Lagrangian bound of the multipliers, made valid (not a number where they overflow): where a free entry's reduced cost is
    /// negative, its row's mu is lowered by as much, which costs at most that amount since the row
    /// sums to 1. Every rounding goes against us.
    pub(crate) fn affine_bound(&self, multipliers: &Multipliers, costs: Costs) -> AffineBound {
        let mut mu = multipliers.mu.clone();
        let mut reduced = vec![LowSum::default(); self.variables()];
        if costs == Costs::Counted {
            reduced.iter_mut().zip(&self.cost).for_each(|(sum, &cost)| sum.add(cost));
        }
        let mut constant = LowSum::default();
        for (inequality, &lambda) in self.inequalities.iter().zip(&multipliers.lambda) {
            let lambda = lambda.max(0.0);
            for (v, coefficient) in inequality.terms {
                if coefficient != 0.0 {
                    reduced[v].add(coefficient * lambda);
                }
            }
            constant.add(-inequality.at_most * lambda);
        }
        for (sum, &mu) in self.sums.iter().zip(&mu) {
            for &(v, factor) in sum {
                reduced[v].add(-factor * mu);
            }
        }
        let low = |v: usize| reduced[v].low();
        if (0..self.variables()).any(|v| low(v).is_nan()) {
            constant.add(f64::NAN); // overflow proves nothing, and comparing would not show it
        }
        let mut lowered = vec![0.0_f64; mu.len()];
        for (v, &(p, _)) in self.entries.iter().enumerate() {
            lowered[p] = lowered[p].max(-low(v));
        }
        let mut slope: Vec<f64> = (0..self.columns).map(|k| low(self.y(k))).collect();
        for (p, &lowered) in lowered.iter().enumerate().filter(|(_, lowered)| **lowered > 0.0) {
            mu[p] = (mu[p] - lowered).next_down();
            for (k, &(v, factor)) in self.sums[p].iter().enumerate() {
                if v == self.y(k) {
                    slope[k] = (slope[k] + (factor * lowered).next_down()).next_down();
                }
            }
        }
        constant.extend(mu.iter().copied());
        AffineBound { constant: constant.low(), slope, mu }
    }

    /// The multipliers of row duals and flows on the arcs; each bound takes what is left of its entry's reduced cost, and
    /// what rounding may take off it: beside a bound of 1e-13 a flow may be 1e13 times the costs, and its rounding as large as these.
    pub(crate) fn multipliers_of_flows(&self, mu: &[f64], flows: &[Vec<ArcFlow>]) -> Multipliers {
        let mut lambda = vec![0.0; self.inequalities.len()];
        for (column, flows) in flows.iter().enumerate() {
            for flow in flows {
                let direction = &self.arcs[flow.arc][usize::from(flow.reversed)];
                if let Some((first, ratio)) = direction
                    && let Some(h) = self.position[first + column]
                {
                    lambda[h] += flow.amount.max(0.0) * ratio;
                }
            }
        }
        let (mut reduced, mut size) = (self.cost.clone(), self.cost.clone());
        let mut add = |v: usize, amount: f64| {
            reduced[v] += amount;
            size[v] += amount.abs();
        };
        for (inequality, lambda) in self.inequalities.iter().zip(&lambda) {
            inequality.terms.iter().for_each(|&(v, coefficient)| add(v, coefficient * lambda));
        }
        for (sum, mu) in self.sums.iter().zip(mu) {
            sum.iter().for_each(|&(v, factor)| add(v, -factor * mu));
        }
        for (inequality, lambda) in self.inequalities.iter().zip(&mut lambda) {
            let [(v, sign), (_, other)] = inequality.terms;
            if other == 0.0 && v < self.entries.len() {
                *lambda = (-sign * (reduced[v] - ROUNDING * size[v])).max(0.0);
            }
        }
        Multipliers { mu: mu.to_vec(), lambda }
    }

    /// The flows on the arcs that multipliers of a program over all rows stand for, column by column.
    pub(crate) fn flows(&self, multipliers: &Multipliers) -> Vec<Vec<ArcFlow>> {
        let mut flows = vec![Vec::new(); self.columns];
        for (arc, directions) in self.arcs.iter().enumerate() {
            for (direction, reversed) in directions.iter().zip([false, true]) {
                let Some((first, ratio)) = direction else { continue };
                for (column, flows) in flows.iter_mut().enumerate() {
                    let lambda =
                        self.position[first + column].map_or(0.0, |h| multipliers.lambda[h]);
                    if lambda > 0.0 {
                        flows.push(ArcFlow { arc, reversed, amount: lambda / ratio });
                    }
                }
            }
        }
        flows
    }

    /// The same bound made independent of y: where a slope is negative, mu is lowered at the tied
    /// row with the largest factor until it is not.
    pub(crate) fn bound_for_all_y(&self, mut bound: AffineBound) -> AffineBound {
        for k in 0..self.columns {
            if bound.slope[k] < 0.0
                && let Some((p, factor)) = self.anchor[k]
            {
                let lowering = (-bound.slope[k] / factor).next_up();
                bound.mu[p] = (bound.mu[p] - lowering).next_down();
                bound.constant = (bound.constant - lowering).next_down();
            }
            bound.slope[k] = 0.0;
        }
        bound
    }
}
