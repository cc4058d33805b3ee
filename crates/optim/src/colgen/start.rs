//! Where a solve begins: first columns, and duals and weights from the closed form where it is near.

use super::Run;
use super::closed_form::{ClosedForm, closed_form};
use super::master::{Column, Kind};
use super::round::Round;
use super::tuning::TUNING;
use crate::cone::{Root, Scratch, largest_point, node_weights, warm_start};
use crate::generate::Generator;
use crate::solution::relative_gap;

impl Run<'_> {
    /// First columns: every y, every block's first point, and one flat ray per set of rows. Returns whether
    /// the closed form is the optimum already.
    pub(super) fn start_cold(&mut self) -> bool {
        self.trees = self.blocks.first_trees(self.settings.threads != 1);
        self.add_first_columns();
        self.add_flat_rays();
        self.master.start(self.scale());
        if self.stop.aborted() {
            return false;
        }
        let Some(closed) = closed_form(self.problem, &self.blocks, &self.trees) else {
            return false;
        };
        let cones_only = self.master.links.is_empty();
        if cones_only {
            self.set_units(&closed.smooth);
        }
        let is_near = self.is_near(&closed);
        if is_near && self.start_closed_form(&closed) {
            return true;
        }
        if self.is_plain() && self.problem.rows() >= TUNING.early_incumbent {
            self.mix_kernels(&closed);
        }
        if cones_only && !is_near && !self.stop.requested() && !self.start_level(&closed.smooth) {
            self.start_smooth(closed.smooth);
        }
        false
    }

    /// Measures every row in its smooth dual, and those that have none in a trace of the mean cost.
    fn set_units(&mut self, smooth: &[f64]) {
        let least = TUNING.least_unit * self.scale();
        self.unit = smooth.iter().map(|unit| unit.max(least)).collect();
        self.master.penalty = self.unit.iter().map(|unit| TUNING.box_radius * unit).collect();
    }

    /// Begins from the smooth duals, made feasible: about nine tenths of the optimum even where costs of rows
    /// differ by orders of magnitude, and near enough everywhere for pricing to be cheap.
    pub(super) fn start_smooth(&mut self, smooth: Vec<f64>) {
        // Far from every shortest-path tree.
        if !self.price_first(&smooth) {
            return;
        }
        self.master.mu = smooth;
        let (feasible, found) = self.separate();
        for (index, point) in &found {
            let column = self.column(*index, point);
            self.master.push(column, 1.0, 1.0);
        }
        self.master.mu = feasible.mu;
        self.master.box_centre.clone_from(&self.master.mu);
        self.master.start(0.1 * self.scale());
    }

    /// Prices every column for the first time, which may take longer than there is; `false` where time is over and there is a matrix to hand out.
    pub(super) fn price_first(&mut self, mu: &[f64]) -> bool {
        let (stop, has_matrix) = (self.stop, self.incumbent.matrix.is_some());
        let is_over = || has_matrix && stop.requested();
        let parallel = self.settings.threads != 1;
        warm_start(&self.blocks, &mut self.trees, mu, parallel, is_over);
        !is_over()
    }

    fn add_first_columns(&mut self) {
        for tied in self.blocks.tied.iter().flatten() {
            let mut values = vec![0.0; self.problem.rows()];
            for (&row, &factor) in tied.rows.iter().zip(&tied.factors) {
                values[row as usize] = factor;
            }
            let column = Column { kind: Kind::Y, rows: None, values, cost: tied.cost, beta: 1.0 };
            self.master.push(column, 1.0, 1.0);
        }
        for index in 0..self.blocks.blocks.len() {
            let column = self.column(index, self.trees[index].point());
            self.master.push(column, 1.0, 1.0);
            let block = &self.blocks.blocks[index];
            if block.root == Root::Cone {
                continue;
            }
            // The largest point as well: with both, row sums can be met from either side.
            let root = self.trees[index].tops().next().unwrap_or(0);
            if let Some(largest) = largest_point(&block.graph, root) {
                let column = self.column(index, &largest);
                self.master.push(column, 1.0, 1.0);
            }
        }
    }

    /// For every set of connected rows the constant ray of its cheapest column: with it alone the
    /// master is feasible where nothing is tied.
    fn add_flat_rays(&mut self) {
        let mut cheapest: std::collections::HashMap<u32, (f64, usize)> = Default::default();
        for (index, block) in self.blocks.blocks.iter().enumerate() {
            if block.root == Root::Cone {
                let cost = block.cost.iter().sum();
                let entry = cheapest.entry(block.rows[0]).or_insert((f64::INFINITY, 0));
                if cost < entry.0 {
                    *entry = (cost, index);
                }
            }
        }
        let mut flat: Vec<usize> = cheapest.into_values().map(|(_, index)| index).collect();
        flat.sort_unstable();
        for index in flat {
            let ones = vec![1.0; self.blocks.blocks[index].rows.len()];
            let column = self.column(index, &ones);
            self.master.push(column, 1.0, 1.0);
        }
    }

    /// Whether most subtrees of the first trees stay where they are at the duals of the closed form, going by a
    /// part of the trees.
    fn is_near(&mut self, closed: &ClosedForm) -> bool {
        let (mut scratch, mut w) = (Scratch::default(), Vec::new());
        let (mut improving, mut nodes) = (0, 0);
        let every = self.trees.len().div_ceil(TUNING.sampled_trees);
        let pairs = self.blocks.blocks.iter().zip(&mut self.trees);
        for (block, tree) in pairs.step_by(every.max(1)) {
            node_weights(block, &self.blocks, &closed.mu, &mut w);
            improving += tree.improving_subtrees(&w, &mut scratch);
            nodes += w.len();
        }
        improving as f64 <= TUNING.near_closed_form * nodes as f64
    }

    /// Begins from the duals of the closed form, made feasible, and from its weights; whether that is
    /// good enough to end there.
    fn start_closed_form(&mut self, closed: &ClosedForm) -> bool {
        self.master.mu.clone_from(&closed.mu);
        let (feasible, found) = self.separate();
        if self.centre_bound <= 0.0 {
            self.trees = self.blocks.first_trees(self.settings.threads != 1);
            self.master.mu.fill(0.0);
            return false;
        }
        let mut first = vec![usize::MAX; self.blocks.blocks.len()];
        for (j, column) in self.master.columns.iter().enumerate().rev() {
            match column.kind {
                Kind::Ray { block } => {
                    first[block] = j;
                    self.master.x[j] = TUNING.least_weight;
                }
                Kind::Y | Kind::Point { .. } => {}
            }
        }
        self.spread_links();
        let mut exact = vec![0.0; self.master.columns.len()];
        for ray in &closed.rays {
            let weight = ray.weight.max(TUNING.least_weight);
            if ray.is_first {
                self.master.x[first[ray.block]] = weight;
                exact[first[ray.block]] = ray.weight;
            } else {
                let column = self.column(ray.block, &ray.values);
                self.master.push(column, weight, 1.0);
                exact.push(ray.weight);
            }
        }
        if self.finish_closed_form(exact) {
            return true;
        }
        self.master.short.x.fill(0.0);
        self.master.over.x.fill(0.0);
        // Rows that no weight serves yet are charged in full.
        let unserved = self.imbalance();
        let estimate = (self.estimate() + unserved).max(feasible.bound * (1.0 + self.settings.gap));
        self.target = TUNING.master_share * (estimate - feasible.bound);
        self.add_columns(Round { feasible, found, estimate });
        false
    }

    /// The closed form as it is, where nothing is tied or bounded, no weight is negative, and its duals prove
    /// that nothing is cheaper.
    fn finish_closed_form(&mut self, weights: Vec<f64>) -> bool {
        let cost: f64 =
            self.master.columns.iter().zip(&weights).map(|(column, x)| column.cost * x).sum();
        let gap = relative_gap(self.mean_cost, cost, self.lower_bound);
        let feasible = self.master.links.is_empty() && weights.iter().all(|x| *x >= 0.0);
        if !feasible || gap > Self::PACE.promise * self.settings.gap {
            return false;
        }
        let inside = std::mem::replace(&mut self.master.x, weights);
        self.incumbent.iterations += 1;
        self.report(gap);
        let polished = self.polish_incumbent();
        self.master.x = inside;
        if polished.is_err() {
            return false;
        }
        self.prove();
        self.incumbent.is_good_enough(false)
    }

    /// Weights of y and its points that meet every link and add next to nothing to the row sums.
    fn spread_links(&mut self) {
        let master = &mut self.master;
        let mut points = vec![0.0; master.links.len()];
        for column in &master.columns {
            if let Kind::Point { link, .. } = column.kind {
                points[link] += 1.0;
                if let Some(y) = master.links[link].y {
                    master.x[y] = master.x[y].min(TUNING.least_weight * column.beta.min(1.0));
                }
            }
        }
        for j in 0..master.columns.len() {
            if let Kind::Point { link, .. } = master.columns[j].kind
                && let Some(y) = master.links[link].y
            {
                master.x[j] = master.x[y] / (points[link] * master.columns[j].beta);
            }
        }
    }
}
