//! Where a solve of a fine map, or of uneven costs, begins: at a coarser level.
//!
//! The closed form is no place to begin from where near rows report nearly alike, or where few rows have most of the cost. What rows are worth is then known
//! from a coarser level up to some per cent: on Reykjavik (250 m cells, "factor 2 within 300 m") its duals prove 96 % of the optimum before the first
//! iteration, and smooth duals nine tenths.

use super::tuning::TUNING;
use super::{Run, attempt};
use crate::cone::node_weights;
use crate::presolve::level::Level;
use crate::settings::Settings;
use crate::solve::SIZES;
use std::time::Duration;

impl Run<'_> {
    /// Begins from the duals of a coarser level; `false`, and nothing done, where there is none to speak of.
    pub(super) fn start_level(&mut self, smooth: &[f64]) -> bool {
        if !self.is_plain() || self.problem.rows() < SIZES.level_rows {
            return false;
        }
        let Ok(level) = Level::of(self.problem) else { return false };
        if 2 * level.problem.rows() > self.problem.rows() {
            return false;
        }
        let left = self.stop.seconds_left();
        let settings = Settings {
            gap: TUNING.level_gap,
            start: None,
            progress: None,
            time_limit: left.is_finite().then(|| Duration::from_secs_f64(left.max(0.0))),
            ..self.settings.clone()
        };
        let Ok(coarse) = attempt(&level.problem, &settings) else { return false };
        let mu = level.duals(&coarse.certificate.mu, smooth);
        if !self.price_first(&mu) {
            return true;
        }
        self.push_others(&mu);
        self.start_smooth(mu);
        // The duals are near: no wider a box, and no master that is solved less far, than if iterations had led here.
        let radius = TUNING.box_radius * TUNING.level_open.sqrt().sqrt();
        self.master.penalty = self.unit.iter().map(|unit| radius * unit).collect();
        self.master.start(0.1 * TUNING.level_open * self.scale());
        self.target = TUNING.master_share * TUNING.level_open * self.lower_bound;
        true
    }

    /// Adds the rays that do not price out, the best of their columns though they are: it takes more than those that do to make up every row.
    fn push_others(&mut self, mu: &[f64]) {
        let mut w = Vec::new();
        for index in 0..self.trees.len() {
            node_weights(&self.blocks.blocks[index], &self.blocks, mu, &mut w);
            let ray = self.trees[index].point();
            if ray.iter().zip(&w).map(|(z, w)| z * w).sum::<f64>() >= 0.0 {
                let column = self.column(index, ray);
                self.master.push(column, 1.0, 1.0);
            }
        }
    }
}
