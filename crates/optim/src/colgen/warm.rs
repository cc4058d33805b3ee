//! Warm starts: what a solve leaves for the next one of a similar problem.

use super::Run;
use super::master::{Column, Kind};
use super::round::Round;
use super::tuning::TUNING;
use crate::cone::Tree;
use crate::problem::Problem;

/// What a solve leaves for the next: duals, trees, and the rays in use. Opaque; the default is empty.
///
/// It fits problems of the same structure (arcs, ties, bounds, fixed y). Costs may differ in any way.
/// Epsilon may differ where nothing is tied or bounded: logarithms of rays scale with it.
#[derive(Debug, Clone, Default)]
pub struct WarmStart {
    structure: Option<Structure>,
    mu: Vec<f64>,
    unit: Vec<f64>,
    pi: Vec<f64>,
    trees: Vec<Tree>,
    columns: Vec<(Column, f64)>,
}

/// What must agree for a warm start to fit.
#[derive(Debug, Clone, PartialEq)]
struct Structure {
    rows: usize,
    columns: usize,
    fingerprint: u64,
    scalable: bool,
    epsilon: f64,
}

impl Structure {
    fn of(problem: &Problem) -> Self {
        // FNV-1a over everything but costs and epsilon.
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let mut add = |value: u64| {
            hash = (hash ^ value).wrapping_mul(0x0100_0000_01b3);
        };
        problem.groups().iter().for_each(|&group| add(group as u64));
        for arc in problem.arcs() {
            [arc.i as u64, arc.j as u64, arc.d.to_bits()].into_iter().for_each(&mut add);
        }
        for bound in problem.bounds() {
            [bound.row as u64, bound.column as u64, bound.low.to_bits(), bound.high.to_bits()]
                .into_iter()
                .for_each(&mut add);
        }
        if problem.has_ties() {
            for i in 0..problem.rows() {
                for k in 0..problem.columns() {
                    add(problem.tie(i, k).map_or(0, f64::to_bits));
                }
            }
        }
        for y in problem.fixed_y().unwrap_or(&[]) {
            add(y.to_bits());
        }
        Self {
            rows: problem.rows(),
            columns: problem.columns(),
            fingerprint: hash,
            scalable: !problem.has_ties() && problem.bounds().is_empty(),
            epsilon: problem.epsilon(),
        }
    }
}

impl WarmStart {
    /// Whether a solve of `problem` can start from here.
    pub fn fits(&self, problem: &Problem) -> bool {
        let Some(own) = &self.structure else { return false };
        let other = Structure::of(problem);
        let same = Structure { epsilon: own.epsilon, ..other.clone() } == *own;
        same && (own.scalable || own.epsilon == other.epsilon)
    }

    fn ratio(&self, problem: &Problem) -> f64 {
        self.structure.as_ref().map_or(1.0, |own| problem.epsilon() / own.epsilon)
    }
}

impl Run<'_> {
    /// Takes over duals, trees and columns, and goes on from duals feasible for the new costs.
    pub(super) fn start_warm(&mut self, warm: &WarmStart) {
        let ratio = warm.ratio(self.problem);
        self.trees.clone_from(&warm.trees);
        if ratio != 1.0 {
            self.trees.iter_mut().for_each(|tree| tree.scale_logs(ratio));
        }
        let mut y_columns = self.blocks.tied.iter().flatten();
        for (column, x) in &warm.columns {
            let mut column = column.clone();
            if ratio != 1.0 {
                column.values.iter_mut().for_each(|value| *value = value.powf(ratio));
            }
            column.cost = match column.kind {
                Kind::Y => y_columns.next().map_or(0.0, |tied| tied.cost),
                Kind::Ray { block } | Kind::Point { block, .. } => self.cost_of(block, &column),
            };
            self.master.push(column, *x, 1.0);
        }
        // Costs of rays, and with them the duals, grow with the reach 1 / eps.
        self.master.mu = warm.mu.iter().map(|mu| mu / ratio).collect();
        self.master.pi.clone_from(&warm.pi);
        self.unit = warm.unit.iter().map(|unit| unit / ratio).collect();
        let (feasible, found) = self.separate();
        for x in self.master.short.x.iter_mut().chain(&mut self.master.over.x) {
            *x = 0.0;
        }
        let estimate = self.estimate().max(feasible.bound * (1.0 + TUNING.warm_gap));
        self.target = TUNING.master_share * (estimate - feasible.bound);
        self.add_columns(Round { feasible, found, estimate });
    }

    /// The cost of a column whose values are given by row.
    fn cost_of(&self, block: usize, column: &Column) -> f64 {
        let rows = &self.point_rows[block];
        let mut costs = vec![0.0; rows.len()];
        self.problem.cost().fill(self.blocks.blocks[block].column, rows, &mut costs);
        costs.iter().zip(&column.values).map(|(c, v)| c * v).sum()
    }

    /// Leaves what the next solve may start from: the columns that carry anything.
    pub(super) fn leave(&self, warm: &mut WarmStart) {
        let master = &self.master;
        let most = 2 * self.problem.rows() + 3 * master.links.len() + self.problem.columns();
        let mut weight: Vec<f64> = master.x.iter().zip(&master.s).map(|(x, s)| x / s).collect();
        for (weight, column) in weight.iter_mut().zip(&master.columns) {
            if column.kind == Kind::Y {
                *weight = f64::INFINITY;
            }
        }
        let mut sorted = weight.clone();
        sorted.sort_by(|a, b| b.total_cmp(a));
        let least = sorted.get(most).copied().unwrap_or(0.0);
        let kept = master.columns.iter().zip(&master.x).zip(&weight);
        let kept = kept.filter(|(_, weight)| **weight >= least).map(|((c, x), _)| (c.clone(), *x));
        *warm = WarmStart {
            structure: Some(Structure::of(self.problem)),
            mu: self.best_mu.clone(),
            unit: self.unit.clone(),
            pi: master.pi.clone(),
            trees: self.trees.clone(),
            columns: kept.collect(),
        };
    }
}
