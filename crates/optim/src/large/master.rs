//! The master problem `min c x, A x = 1, x >= 0` over sparse rays: an interior point that is never
//! run to the end, with rays joining as it goes.

use rayon::prelude::*;

use super::columns::Columns;
use super::normal::Normal;
use super::partition::{Part, partition};
use super::rays::{ColumnRays, Rays, WeightedColumns};
use super::tuning::TUNING;
use super::view::{Stopped, View};
use super::window::Windows;

/// The state of the interior point.
pub(crate) struct Master {
    parts: Vec<Part>,
    pub(crate) rays: Rays,
    pub(crate) mu: Vec<f64>,
}

impl Master {
    /// Starts from a nearly feasible pair: weights `x` of the current rays and duals `mu`.
    pub(crate) fn new(
        view: &View<'_>,
        columns: &Columns,
        x: &[f64],
        mu: Vec<f64>,
        barrier: f64,
    ) -> Self {
        let parts = partition(&view.graph, TUNING.part_rows, TUNING.part_margin);
        let taken = columns.transposed_product(&mu);
        let largest = x.iter().fold(0.0_f64, |a, &b| a.max(b));
        let x: Vec<f64> = x.iter().map(|x| x.max(1e-3 * largest)).collect();
        let rays = Rays::new(columns, &x, |k, cost| (cost - taken[k]).max(barrier / x[k]));
        Self { parts, rays, mu }
    }

    /// Goes on from rays whose weights are known, and neither their costs nor their reduced costs.
    pub(crate) fn from_rays(
        view: &View<'_>,
        columns: &Columns,
        mut rays: Vec<ColumnRays>,
        barrier: f64,
    ) -> Self {
        let parts = partition(&view.graph, TUNING.part_rows, TUNING.part_margin);
        for list in &mut rays {
            list.s = list.x.iter().map(|x| barrier / x).collect();
        }
        let rays = Rays { columns: rays };
        let mut master = Self { parts, rays, mu: vec![0.0; view.rows()] };
        master.take_costs(columns);
        master
    }

    /// Adds the columns of the exponential mechanism at half of epsilon, `exp(-eps D / 2) / S_i`,
    /// which sum to 1 in every row, and halves all other weights.
    pub(crate) fn add_feasible_columns(&mut self, columns: &Columns) {
        let barrier = self.barrier();
        let windows = &columns.windows;
        let mut sums = vec![0.0; self.mu.len()];
        for k in 0..sums.len() {
            let window = windows.of(k);
            for (&i, &d) in window.rows.iter().zip(window.distance) {
                sums[i as usize] += (-0.5 * f64::from(d)).exp();
            }
        }
        for (k, list) in self.rays.columns.iter_mut().enumerate() {
            let window = windows.of(k);
            // Scaled to 1 at the anchor, so its weight is the anchor's entry.
            let value =
                |(&i, &d): (&u32, &f32)| (-0.5 * f64::from(d)).exp() * sums[k] / sums[i as usize];
            let ray: Vec<f32> =
                window.rows.iter().zip(window.distance).map(|e| value(e) as f32).collect();
            let costs = &columns.cost[windows.range(k)];
            let cost = ray.iter().zip(costs).map(|(&z, c)| f64::from(z) * c).sum();
            list.x.iter_mut().for_each(|x| *x *= 0.5);
            let x = 0.5 / sums[k];
            list.push(&ray, cost, x, barrier / x);
        }
    }

    /// Mean complementarity.
    pub(crate) fn barrier(&self) -> f64 {
        let sum: f64 = self
            .rays
            .columns
            .iter()
            .map(|c| c.x.iter().zip(&c.s).map(|(x, s)| x * s).sum::<f64>())
            .sum();
        sum / self.rays.len() as f64
    }

    /// Adds the current ray of every column whose reduced cost is below `-tolerance`; a newcomer
    /// starts centred, its reduced cost off by what it lacks.
    pub(crate) fn add_rays(&mut self, columns: &Columns, reduced: &[f64], tolerance: f64) {
        let barrier = self.barrier();
        let cost = columns.ray_costs();
        let peaks = columns.peaks();
        for (k, (&reduced, peak)) in reduced.iter().zip(&peaks).enumerate() {
            if reduced < -tolerance * peak.value {
                let list = &mut self.rays.columns[k];
                let range = columns.windows.range(k);
                // Scaled to a peak of 1, so that the weights of a column's rays can be compared.
                let scaled = |&z: &f32| (f64::from(z) / peak.value) as f32;
                let ray: Vec<f32> = columns.ray[range].iter().map(scaled).collect();
                let mass: f64 = ray.iter().map(|&z| f64::from(z)).sum();
                let carried = list.total_mass();
                let x = (TUNING.newcomer_share * carried / mass).max(1e-9);
                list.x.iter_mut().for_each(|x| *x *= 1.0 - TUNING.newcomer_share);
                list.push(&ray, cost[k] / peak.value, x, barrier / x);
            }
        }
    }

    /// Drops rays that neither carry weight nor are near to pricing out.
    pub(crate) fn drop_rays(&mut self) {
        let barrier = self.barrier();
        self.rays.columns.par_iter_mut().for_each(|column| {
            let total: f64 = column.x.iter().sum();
            column.retain(|x, s| x > 0.01 * total || s * total < 30.0 * barrier);
        });
    }

    /// One Newton step towards complementarity `sigma` times the present one, whole but for what
    /// would leave the positive numbers: that is clipped entry by entry. One common step length for
    /// all of the map would be that of its worst corner; the row sums and reduced costs that clipping
    /// leaves off are the next step's business, and the duals are repaired by pricing anyway.
    pub(crate) fn step(
        &mut self,
        view: &View<'_>,
        columns: &Columns,
        sigma: f64,
    ) -> Result<(), Stopped> {
        let windows = &columns.windows;
        let target = sigma * self.barrier();
        let n = self.mu.len();
        let lists = &self.rays.columns;
        // Dual residuals of every ray.
        let off: Vec<Vec<f64>> = (0..n)
            .into_par_iter()
            .map(|k| {
                let taken = self.rays.transposed(windows, k, &self.mu);
                (0..lists[k].len()).map(|r| lists[k].cost[r] - taken[r] - lists[k].s[r]).collect()
            })
            .collect();
        let weights: Vec<Vec<f64>> =
            lists.iter().map(|c| c.x.iter().zip(&c.s).map(|(x, s)| x / s).collect()).collect();
        let rest = self.rays.product(windows, |k| {
            let c = &lists[k];
            (0..c.len())
                .map(|r| (c.x[r] * off[k][r] - (target - c.x[r] * c.s[r])) / c.s[r] - c.x[r])
                .collect()
        });
        let rhs: Vec<f64> = rest.iter().map(|rest| 1.0 + rest).collect();
        let normal = Normal::new(view, &self.rays, windows, &self.parts, weights)?;
        let d_mu = normal.solve(&rhs, TUNING.step_residual, TUNING.step_iterations)?;
        drop(normal);

        let moves: Vec<(Vec<f64>, Vec<f64>)> = (0..n)
            .into_par_iter()
            .map(|k| {
                let c = &lists[k];
                let taken = self.rays.transposed(windows, k, &d_mu);
                let ds: Vec<f64> = (0..c.len()).map(|r| off[k][r] - taken[r]).collect();
                let dx = (0..c.len())
                    .map(|r| (target - c.x[r] * c.s[r] - c.x[r] * ds[r]) / c.s[r])
                    .collect();
                (dx, ds)
            })
            .collect();
        for (c, (dx, ds)) in self.rays.columns.iter_mut().zip(&moves) {
            c.x.iter_mut().zip(dx).for_each(|(x, d)| *x = (*x + d).max(TUNING.least_left * *x));
            c.s.iter_mut().zip(ds).for_each(|(s, d)| *s = (*s + d).max(TUNING.least_left * *s));
        }
        for (m, d) in self.mu.iter_mut().zip(&d_mu) {
            *m += d;
        }
        Ok(())
    }

    /// Moves the duals to `mu` and the reduced costs with them, kept away from zero.
    pub(crate) fn recentre(&mut self, columns: &Columns, mu: Vec<f64>) {
        let barrier = self.barrier();
        let taken: Vec<Vec<f64>> = (0..mu.len())
            .into_par_iter()
            .map(|k| self.rays.transposed(&columns.windows, k, &mu))
            .collect();
        for (c, taken) in self.rays.columns.iter_mut().zip(taken) {
            for (r, taken) in taken.into_iter().enumerate() {
                c.s[r] = (c.cost[r] - taken).max(TUNING.least_complementarity * barrier / c.x[r]);
            }
        }
        self.mu = mu;
    }

    /// The cost of the weights plus what their row sums lack, at the price of the duals.
    pub(crate) fn settled_cost(&self, columns: &Columns) -> f64 {
        let sums = self.rays.product(&columns.windows, |k| self.rays.columns[k].x.clone());
        let lacking = sums.iter().zip(&self.mu).map(|(sum, mu)| (1.0 - sum) * mu);
        self.rays.cost() + lacking.sum::<f64>()
    }

    /// Replaces every ray by a power of itself, which lies in the cone of lengths scaled by `power`; their costs become out
    /// of date.
    fn raise_to(&mut self, power: f64) {
        self.rays.columns.par_iter_mut().for_each(|list| list.raise_to(power));
    }

    /// Works out again what the rays cost.
    pub(crate) fn take_costs(&mut self, columns: &Columns) {
        let lists = self.rays.columns.par_iter_mut().enumerate();
        lists.for_each(|(k, list)| list.take_costs(&columns.cost[columns.windows.range(k)]));
    }

    /// The columns of a matrix with exact row sums, for arcs shortened by `shrink`.
    pub(crate) fn matrix(
        &mut self,
        view: &View<'_>,
        windows: &Windows,
        shrink: f64,
    ) -> Result<WeightedColumns, Stopped> {
        self.raise_to(1.0 - shrink);
        let weights = self.projected(view, windows, 0.1 * shrink)?;
        Ok(WeightedColumns::new(windows, &self.rays, &weights))
    }

    /// The weights of every column's rays, moved to row sums that are off by at most `tolerance`.
    ///
    /// They are moved in the metric `A X A'`, which moves large weights more and is better conditioned
    /// than `A X^2 A'`; each keeps at least a tenth of itself (one common step length would stall).
    pub(crate) fn projected(
        &self,
        view: &View<'_>,
        windows: &Windows,
        tolerance: f64,
    ) -> Result<Vec<Vec<f64>>, Stopped> {
        let mut weights: Vec<Vec<f64>> = self.rays.columns.iter().map(|c| c.x.clone()).collect();
        for _ in 0..TUNING.projections {
            let sums = self.rays.product(windows, |k| weights[k].clone());
            let missing: Vec<f64> = sums.iter().map(|s| 1.0 - s).collect();
            if missing.iter().all(|m| m.abs() < tolerance) {
                break;
            }
            let normal = Normal::new(view, &self.rays, windows, &self.parts, weights.clone())?;
            let y =
                normal.solve(&missing, TUNING.projection_residual, TUNING.projection_iterations)?;
            drop(normal);
            weights.par_iter_mut().enumerate().for_each(|(k, weights)| {
                for (x, d) in weights.iter_mut().zip(self.rays.transposed(windows, k, &y)) {
                    *x = (*x + *x * d).max(TUNING.least_left * *x);
                }
            });
        }
        Ok(weights)
    }
}
