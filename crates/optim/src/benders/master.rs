//! Stage 1: the master program over y and w (appendix C).
//!
//! ```text
//! minimise   sum_k alpha_k y_k + sum_m w_m
//! subject to the cut set H,  0 <= y_k <= 1 / max_i f_ik,  w_m >= 0
//! ```
//!
//! Ours: the row sums' own cuts (`sum_k f_ik y_k <= 1` over tied entries, the Farkas rays everybody
//! knows in advance) are in H from the start. The minimiser leaps from corner to corner, so its value is
//! used (the lower bound), and the next y comes from `path`; `plain` has it as the paper has it.

use super::subproblem::Subproblem;
use crate::certificate::rounding::LowSum;
use crate::direct::interior::{Inequalities, minimise};
use crate::direct::{AffineBound, Costs, LEAST_GROWTH, Limits, Multipliers};
use clarabel::solver::{DefaultSolution, SolverStatus};

/// A cut without a multiplier for so many iterations rests until it is violated again.
const MOST_IDLE: u32 = 1;

/// A member of the cut set H.
#[derive(Debug)]
struct Cut {
    group: usize,
    /// Optimality cuts bound the group's cost, feasibility cuts bound zero.
    bounds_cost: bool,
    bound: AffineBound,
    /// Iterations since it last had a multiplier.
    idle: u32,
}

impl Cut {
    fn is_active(&self) -> bool {
        self.idle <= MOST_IDLE
    }
}

/// What the master finds.
#[derive(Debug)]
pub(super) enum Stage1 {
    /// Proven lower bound of the whole problem, the row duals behind it, and the minimiser.
    Guess {
        lower_bound: f64,
        mu: Vec<f64>,
        y: Vec<f64>,
    },
    /// The feasibility cuts contradict each other: no y at all. The row with the largest share.
    Infeasible {
        row: usize,
    },
    Stopped,
}

/// The master program.
#[derive(Debug)]
pub(super) struct Master {
    rows: usize,
    groups: usize,
    /// Rows of each group, and alpha_k over them.
    group_rows: Vec<Vec<usize>>,
    alpha: Vec<Vec<f64>>,
    /// The columns whose y is a variable, and the largest y each can take.
    shared: Vec<usize>,
    largest: Vec<f64>,
    /// By column: the tied row with the largest factor, and that factor.
    anchor: Vec<Option<(usize, f64)>>,
    fixed_y: Vec<f64>,
    cuts: Vec<Cut>,
}

impl Master {
    /// With the cuts of the row sums, which need nobody's advice.
    pub(super) fn new(subproblems: &[Subproblem], fixed_y: Option<&[f64]>) -> Self {
        let mut master = Self::without_cuts(subproblems, fixed_y);
        for (m, program) in subproblems.iter().map(|subproblem| &subproblem.program).enumerate() {
            if master.shared.is_empty() {
                break;
            }
            for p in 0..program.rows.len() {
                let mut mu = vec![0.0; program.rows.len()];
                mu[p] = -1.0;
                let ray = Multipliers { mu, lambda: vec![0.0; program.inequalities.len()] };
                master.forbid(m, program.affine_bound(&ray, Costs::Ignored));
            }
        }
        master
    }

    /// With an empty cut set, as in appendix C.
    pub(super) fn without_cuts(subproblems: &[Subproblem], fixed_y: Option<&[f64]>) -> Self {
        let programs = || subproblems.iter().map(|subproblem| &subproblem.program);
        let columns = programs().next().map_or(0, |program| program.columns);
        let mut anchor: Vec<Option<(usize, f64)>> = vec![None; columns];
        for program in programs() {
            for (best, own) in anchor.iter_mut().zip(&program.anchor) {
                if let Some((p, f)) = *own
                    && best.is_none_or(|(_, largest)| f > largest)
                {
                    *best = Some((program.rows[p], f));
                }
            }
        }
        let free = fixed_y.is_none();
        let shared: Vec<usize> = (0..columns).filter(|&k| free && anchor[k].is_some()).collect();
        Self {
            rows: programs().map(|program| program.rows.len()).sum(),
            groups: subproblems.len(),
            group_rows: programs().map(|program| program.rows.clone()).collect(),
            alpha: programs()
                .map(|program| (0..columns).map(|k| program.cost[program.y(k)]).collect())
                .collect(),
            largest: shared.iter().map(|&k| 1.0 / anchor[k].map_or(1.0, |(_, f)| f)).collect(),
            shared,
            anchor,
            fixed_y: fixed_y.map_or_else(|| vec![0.0; columns], <[f64]>::to_vec),
            cuts: Vec::new(),
        }
    }

    /// Adds the optimality cut `w_m + alpha^m y >= bound(y)`.
    pub(super) fn require(&mut self, group: usize, bound: AffineBound) {
        self.cuts.push(Cut { group, bounds_cost: true, bound, idle: 0 });
    }

    /// Adds the feasibility cut `bound(y) <= 0`. Rays come in any size, and the solver wants cuts of like sizes; a power of two
    /// rounds nothing.
    pub(super) fn forbid(&mut self, group: usize, mut bound: AffineBound) {
        let slopes =
            self.shared.iter().zip(&self.largest).map(|(&k, y)| (bound.slope[k] * y).abs());
        let size = slopes.fold(bound.constant.abs(), f64::max);
        if size.is_normal() {
            bound.scale(2.0_f64.powi(-(size.log2() as i32)));
        }
        self.cuts.push(Cut { group, bounds_cost: false, bound, idle: 0 });
    }

    /// Whether any y is a variable.
    pub(super) fn has_shared(&self) -> bool {
        !self.shared.is_empty()
    }

    /// By column: the largest y that no row sum forbids, where y is a variable.
    pub(super) fn units(&self) -> Vec<Option<f64>> {
        let mut units = vec![None; self.fixed_y.len()];
        self.shared.iter().zip(&self.largest).for_each(|(&k, largest)| units[k] = Some(*largest));
        units
    }

    /// Number of cuts.
    pub(super) fn cuts(&self) -> usize {
        self.cuts.len()
    }

    /// A y with room in every row: the same share of each column's largest.
    pub(super) fn start(&self) -> Vec<f64> {
        let fullest = |y: &[f64]| {
            let filled = self.cuts.iter().map(|cut| cut.bound.at(y) - cut.bound.constant);
            filled.fold(f64::MIN_POSITIVE, f64::max)
        };
        let y = self.spread(&vec![1.0; self.shared.len()]);
        let share = 0.5 / fullest(&y).max(1.0);
        self.spread(&vec![share; self.shared.len()])
    }

    /// Minimises over y and w, and proves the lower bound from the multipliers of the cuts.
    pub(super) fn solve(&mut self, limits: &Limits) -> Stage1 {
        let Some(solution) = self.optimise(limits) else { return Stage1::Stopped };
        let multipliers = &solution.z[self.first_cut()..];
        match solution.status {
            SolverStatus::PrimalInfeasible | SolverStatus::AlmostPrimalInfeasible => {
                let proof = self.combine(multipliers, Costs::Ignored);
                if !(LEAST_GROWTH..f64::INFINITY).contains(&proof.constant) {
                    return Stage1::Stopped;
                }
                let share = |row: &usize| proof.mu[*row].abs();
                let row = (0..self.rows).max_by(|a, b| share(a).total_cmp(&share(b)));
                Stage1::Infeasible { row: row.unwrap_or(0) }
            }
            _ => {
                let proof = self.combine(multipliers, Costs::Counted);
                let (y, w) = solution.x.split_at(self.shared.len());
                let y = self.spread(y);
                self.rest_and_wake(multipliers, &y, w);
                Stage1::Guess { lower_bound: proof.constant.max(0.0), mu: proof.mu, y }
            }
        }
    }

    /// Cuts that do nothing rest, so that the master stays small; those that the guess violates wake.
    fn rest_and_wake(&mut self, multipliers: &[f64], y: &[f64], w: &[f64]) {
        let mut multipliers = multipliers.iter();
        for cut in &mut self.cuts {
            if cut.is_active() {
                let used = multipliers.next().is_some_and(|lambda| *lambda > 1e-8);
                cut.idle = if used { 0 } else { cut.idle + 1 };
            }
            let tied: f64 = self.alpha[cut.group].iter().zip(y).map(|(a, y)| a * y).sum();
            let allowed = if cut.bounds_cost { w[cut.group] + tied } else { 0.0 };
            if cut.bound.at(y) > allowed + 1e-9 * (1.0 + allowed) {
                cut.idle = 0;
            }
        }
    }

    fn active(&self) -> impl Iterator<Item = &Cut> {
        self.cuts.iter().filter(|cut| cut.is_active())
    }

    /// From the scaled variables to one y per column.
    fn spread(&self, scaled: &[f64]) -> Vec<f64> {
        let mut y = self.fixed_y.clone();
        for ((&k, largest), u) in self.shared.iter().zip(&self.largest).zip(scaled) {
            y[k] = u.clamp(0.0, 1.0) * largest;
        }
        y
    }

    fn first_cut(&self) -> usize {
        2 * self.shared.len() + self.groups
    }

    /// The program for the interior-point solver: y scaled to [0, 1], then w; cuts as rows.
    fn optimise(&self, limits: &Limits) -> Option<DefaultSolution<f64>> {
        let (n, groups) = (self.shared.len(), self.groups);
        let mut rows = Inequalities::default();
        (0..n).for_each(|v| rows.at_most([(v, -1.0)], 0.0));
        (0..n).for_each(|v| rows.at_most([(v, 1.0)], 1.0));
        (0..groups).for_each(|m| rows.at_most([(n + m, -1.0)], 0.0));
        for Cut { group, bounds_cost, bound, .. } in self.active() {
            let alpha = |k: usize| if *bounds_cost { self.alpha[*group][k] } else { 0.0 };
            let terms = self.shared.iter().zip(&self.largest).enumerate();
            let terms = terms.map(|(v, (&k, largest))| (v, (bound.slope[k] - alpha(k)) * largest));
            // What is fixed of y counts as a constant.
            let fixed: Vec<f64> = self.fixed_y.clone();
            let constant =
                bound.at(&fixed) - (0..fixed.len()).map(|k| alpha(k) * fixed[k]).sum::<f64>();
            let w = bounds_cost.then_some((n + group, -1.0));
            rows.at_most(terms.chain(w), -constant);
        }
        let alpha: Vec<f64> = self
            .shared
            .iter()
            .zip(&self.largest)
            .map(|(&k, largest)| self.alpha.iter().map(|alpha| alpha[k]).sum::<f64>() * largest)
            .collect();
        let cost: Vec<f64> = alpha.into_iter().chain((0..groups).map(|_| 1.0)).collect();
        let matrix = rows.matrix(n + groups);
        minimise(&cost, &matrix, &rows.limits, 1e-10, limits)
    }

    /// The cuts weighted by the master's multipliers: a dual point of the whole problem, whatever the
    /// multipliers are. What a group's weights lack of 1 goes to `w_m >= 0`; a negative slope in y_k
    /// is made up for at the tied row with the largest factor.
    fn combine(&self, multipliers: &[f64], costs: Costs) -> AffineBound {
        let mut weight = vec![0.0; self.groups];
        for (cut, lambda) in self.active().zip(multipliers).filter(|(cut, _)| cut.bounds_cost) {
            weight[cut.group] += lambda.max(0.0);
        }
        let columns = self.fixed_y.len();
        let (mut constant, mut mu) = (LowSum::default(), vec![0.0; self.rows]);
        let mut slopes = vec![LowSum::default(); columns];
        let mut total_weight = vec![0.0; self.groups];
        for (cut, lambda) in self.active().zip(multipliers) {
            let lambda = match (cut.bounds_cost, costs) {
                (true, Costs::Ignored) => continue,
                (true, Costs::Counted) => {
                    // Rounded down, so that weights never add up to more than 1.
                    let scale = weight[cut.group].max(1.0) * (1.0 + 1e-12);
                    lambda.max(0.0) / scale
                }
                (false, _) => lambda.max(0.0),
            };
            if lambda == 0.0 {
                continue;
            }
            if cut.bounds_cost {
                total_weight[cut.group] += lambda;
            }
            constant.add(lambda * cut.bound.constant);
            for (total, slope) in slopes.iter_mut().zip(&cut.bound.slope) {
                total.add(lambda * slope);
            }
            for (&row, own) in self.group_rows[cut.group].iter().zip(&cut.bound.mu) {
                mu[row] += lambda * own;
            }
        }
        if costs == Costs::Counted {
            for (alpha, weight) in self.alpha.iter().zip(&total_weight) {
                for (total, alpha) in slopes.iter_mut().zip(alpha) {
                    total.add((1.0 - weight).max(0.0) * alpha);
                }
            }
        }
        // What rounding may have added counts over the smallest factor there is. A bound is proven again; a ray is not.
        let rounded = |slope: LowSum| match costs {
            Costs::Counted => slope.nearest(),
            Costs::Ignored => slope.low(),
        };
        let slope: Vec<f64> = slopes.into_iter().map(rounded).collect();
        for (k, &slope) in slope.iter().enumerate() {
            if self.shared.binary_search(&k).is_err() {
                constant.add(slope * self.fixed_y[k]);
            } else if slope < 0.0
                && let Some((row, factor)) = self.anchor[k]
            {
                mu[row] += slope / factor;
                constant.add(slope / factor);
            }
        }
        AffineBound { constant: constant.low(), slope, mu }
    }
}
