//! One iteration: the master advances, its duals are priced and repaired, bounds are taken, columns come and go.

use super::Run;
use super::dual::{FeasibleDual, make_feasible};
use super::tuning::TUNING;
use crate::cone::{Root, price_all};
use crate::error::Error;
use crate::solution::relative_gap;

/// What one iteration found.
pub(super) struct Round {
    pub feasible: FeasibleDual,
    /// Points that price out: block, and values by node.
    pub found: Vec<(usize, Vec<f64>)>,
    pub estimate: f64,
}

impl Run<'_> {
    /// One iteration: the master advances, its duals are priced and repaired, bounds are taken.
    pub(super) fn round(&mut self) -> Result<Round, Error> {
        if self.stop.aborted() {
            return Err(Error::StoppedEarly);
        }
        self.advance_master();
        if !self.master.is_sound() {
            // Numbers that overflowed: the columns are still good, only the iterate is lost.
            self.begin_anew();
            self.advance_master();
        }
        let before = self.lower_bound;
        let (feasible, found) = self.separate();
        if self.stop.aborted() {
            return Err(Error::StoppedEarly);
        }
        let raised = self.lower_bound > before;
        self.idle_rounds += usize::from(!raised && !self.raised);
        self.raised = raised;
        self.refuse_infeasible()?;
        let estimate = self.estimate();
        // An iterate may be worse than the ones before it; what they had reached is no less in reach.
        self.best_estimate = self.best_estimate.min(estimate);
        let open =
            (self.best_estimate - self.lower_bound).max(0.05 * (estimate - self.lower_bound));
        self.target = TUNING.master_share * self.patience(found.len()) * open;
        Ok(Round { feasible, found, estimate })
    }

    /// How much of its usual share the master's own gap may have, after pricing found so many points.
    fn patience(&self, found: usize) -> f64 {
        if !self.master.links.is_empty() {
            // Near a vertex the points of a link nearly depend on each other: no nearer than needed.
            return 1.0;
        }
        let few = TUNING.few_found * self.trees.len() as f64;
        (found as f64 / few).clamp(TUNING.least_found, 1.0)
    }

    /// A fresh iterate over the columns there are, around the best duals.
    fn begin_anew(&mut self) {
        self.widened = 1.0;
        self.master.penalty = self.unit.iter().map(|unit| TUNING.box_radius * unit).collect();
        self.master.mu.clone_from(&self.best_mu);
        self.master.box_centre.clone_from(&self.best_mu);
        self.master.pi.fill(0.0);
        self.master.start(self.scale());
        self.target = f64::INFINITY;
    }

    /// Cost of the current weights, artificials included, with what the row sums lack charged in
    /// full: an upper bound once they hold.
    pub(super) fn estimate(&self) -> f64 {
        let estimate = self.master.objective()
            + self.blocks.fixed_cost
            + self.master.artificial_cost()
            + 2.0 * self.imbalance();
        if estimate.is_nan() { f64::INFINITY } else { estimate }
    }

    /// Interior steps until the master's own gap is below `target`.
    fn advance_master(&mut self) {
        let (begun, mut steps) = (self.stop.seconds(), 0);
        loop {
            let objective = self.master.objective();
            let target = self.target.min(0.3 * objective);
            let residual = self.master.step(TUNING.centrality * target);
            steps += 1;
            // The step's own word first, which costs nothing; near a singular factor it is not to be trusted.
            let is_met = self.master.complementarity() <= target
                && residual < 1e-3
                && self.master.primal_error() < 1e-3;
            if is_met || steps >= 30 || self.stop.aborted() {
                break;
            }
        }
        if self.spent == 0.0 {
            let step = (self.stop.seconds() - begun) / f64::from(steps);
            self.attempt_seconds = TUNING.attempt_steps * step;
        }
    }

    /// Prices at the master's duals, takes the bounds, and makes the duals feasible. Returns them and
    /// the points found.
    pub(super) fn separate(&mut self) -> (FeasibleDual, Vec<(usize, Vec<f64>)>) {
        let mu = self.master.mu.clone();
        let mut found = Vec::new();
        let threshold: Vec<f64> = (self.link_of_block.iter())
            .map(|link| link.map_or(0.0, |link| self.master.pi[link]))
            .collect();
        let parallel = self.settings.threads != 1;
        let mut prices = price_all(&self.blocks, &mut self.trees, &mu, &threshold, parallel);
        for (index, price) in prices.blocks.iter_mut().enumerate() {
            found.extend(price.point.take().map(|point| (index, point)));
        }
        if prices.bound > self.lower_bound {
            self.lower_bound = prices.bound;
            self.best_mu.clone_from(&mu);
        }
        let tolerance = 1e-13 * self.scale();
        let mut feasible =
            make_feasible(&self.blocks, &mut self.trees, &mu, &prices, tolerance, parallel);
        if feasible.bound > self.lower_bound {
            self.lower_bound = feasible.bound;
            self.best_mu.clone_from(&feasible.mu);
        }
        found.append(&mut feasible.found);
        if feasible.bound > self.centre_bound {
            self.centre_bound = feasible.bound;
            self.centre.clone_from(&feasible.mu);
            self.narrowed = (TUNING.wider_again * self.narrowed).max(1.0);
        } else if self.is_step_back(feasible.bound) {
            feasible.bound = self.centre_bound;
            feasible.mu.clone_from(&self.centre);
            self.narrowed = (TUNING.narrower * self.narrowed).min(TUNING.narrowest);
        }
        (feasible, found)
    }

    /// Whether duals with this bound are too far from the best ones to go on from.
    fn is_step_back(&self, bound: f64) -> bool {
        let open = (self.best_estimate - self.centre_bound).abs();
        bound < self.centre_bound - TUNING.null_step * open
            || bound < -TUNING.hopeless_repair * self.mean_cost
    }

    /// The radius of the box around the duals: it shrinks with the gap, and grows where the master
    /// leans on it.
    fn set_box(&mut self, feasible: &FeasibleDual, estimate: f64) {
        let open = (estimate - feasible.bound).max(0.0);
        let gap = relative_gap(self.mean_cost, estimate, feasible.bound).clamp(1e-12, 1.0);
        if self.imbalance() > 0.3 * open {
            self.widened *= 2.0;
        } else {
            self.widened = (0.7 * self.widened).max(1.0);
        }
        let radius = TUNING.box_radius * gap.sqrt().sqrt() * self.widened / self.narrowed;
        self.master.penalty = self.unit.iter().map(|unit| radius * unit).collect();
    }

    /// Drops the columns that matter least once there are too many. With every iteration a few more
    /// may stay, so that dropping and finding the same ones again comes to an end.
    fn drop_columns(&mut self) {
        let most = TUNING.columns_per_row * self.problem.rows()
            + 16 * self.master.links.len()
            + 2 * self.incumbent.iterations
            + self.idle_rounds * self.problem.rows() / TUNING.idle_columns;
        self.master.keep(most);
    }

    /// Adds the points found and moves the duals to where every column has slack, so that the
    /// interior iterate can go on from where it stands.
    pub(super) fn add_columns(&mut self, round: Round) {
        let Round { feasible, found, estimate } = round;
        self.set_box(&feasible, estimate);
        self.drop_columns();
        let first_new = self.master.columns.len();
        for (index, point) in &found {
            let column = self.column(*index, point);
            self.master.push(column, 0.0, 0.0);
        }
        self.generated += self.master.columns.len() - first_new;
        let open = (estimate - feasible.bound).max(1e-9 * self.scale());
        let centre = open / self.master.variables() as f64;
        let mut mu = feasible.mu;
        mu.iter_mut().for_each(|mu| *mu -= centre);
        if !self.master.links.is_empty() {
            let prices = self.price_at(&mu);
            for (index, link) in self.link_of_block.iter().enumerate() {
                let Some(link) = *link else { continue };
                let block = &self.blocks.blocks[index];
                let slack = match block.root {
                    Root::Y => {
                        let shared = self.blocks.of_column[block.column].len() as f64;
                        0.5 * prices.tied[block.column].max(0.0) / shared
                    }
                    _ => centre,
                };
                self.master.pi[link] = prices.blocks[index].value - slack;
            }
        }
        self.master.restart(mu, centre, first_new);
    }
}
