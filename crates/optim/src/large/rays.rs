//! The rays of the master problem, kept by column on the column's window.

use rayon::prelude::*;

use super::columns::Columns;
use super::window::Windows;

/// The rays of one column with their primal and dual values.
#[derive(Clone, Default)]
pub(crate) struct ColumnRays {
    /// Ray after ray, each as long as the window.
    values: Vec<f32>,
    /// Cost of each ray.
    pub(crate) cost: Vec<f64>,
    /// Weight of each ray in the matrix.
    pub(crate) x: Vec<f64>,
    /// Reduced cost of each ray, kept positive by the interior point.
    pub(crate) s: Vec<f64>,
}

impl ColumnRays {
    /// Number of rays.
    pub(crate) fn len(&self) -> usize {
        self.cost.len()
    }

    /// One ray.
    pub(crate) fn ray(&self, r: usize) -> &[f32] {
        let length = self.values.len() / self.len();
        &self.values[r * length..][..length]
    }

    /// The sum of the column over its window.
    pub(crate) fn total_mass(&self) -> f64 {
        let mass = |r| self.ray(r).iter().map(|&z| f64::from(z)).sum::<f64>();
        self.x.iter().enumerate().map(|(r, x)| x * mass(r)).sum()
    }

    pub(crate) fn push(&mut self, ray: &[f32], cost: f64, x: f64, s: f64) {
        self.values.extend_from_slice(ray);
        self.cost.push(cost);
        self.x.push(x);
        self.s.push(s);
    }

    /// Keeps the rays that `keep(x, s)` says to.
    pub(crate) fn retain(&mut self, keep: impl Fn(f64, f64) -> bool) {
        if self.x.iter().zip(&self.s).all(|(&x, &s)| keep(x, s)) {
            return;
        }
        let mut kept = Self::default();
        for r in 0..self.len() {
            if keep(self.x[r], self.s[r]) {
                kept.push(self.ray(r), self.cost[r], self.x[r], self.s[r]);
            }
        }
        *self = kept;
    }

    /// Replaces every ray by a power of itself: `z^p` lies in the cone of lengths scaled by p.
    pub(crate) fn raise_to(&mut self, power: f64) {
        for value in &mut self.values {
            *value = f64::from(*value).powf(power) as f32;
        }
    }

    /// Works out what the rays cost, given the costs on the window.
    pub(crate) fn take_costs(&mut self, costs: &[f64]) {
        for r in 0..self.len() {
            self.cost[r] = self.ray(r).iter().zip(costs).map(|(&z, c)| f64::from(z) * c).sum();
        }
    }

    /// The column of the matrix on the window: the weighted sum of its rays.
    pub(crate) fn weighted(&self, weight: &[f64], length: usize) -> Vec<f64> {
        let mut sum = vec![0.0; length];
        for (r, &w) in weight.iter().enumerate() {
            for (sum, &z) in sum.iter_mut().zip(self.ray(r)) {
                *sum += w * f64::from(z);
            }
        }
        sum
    }
}

/// All rays: the matrix A of the master, one row per place.
#[derive(Clone)]
pub(crate) struct Rays {
    pub(crate) columns: Vec<ColumnRays>,
}

impl Rays {
    /// The current ray of every column, with the given weights and reduced costs.
    pub(crate) fn new(columns: &Columns, x: &[f64], s: impl Fn(usize, f64) -> f64) -> Self {
        let cost = columns.ray_costs();
        let list = (0..columns.windows.columns()).map(|k| {
            let mut rays = ColumnRays::default();
            rays.push(&columns.ray[columns.windows.range(k)], cost[k], x[k], s(k, cost[k]));
            rays
        });
        Self { columns: list.collect() }
    }

    /// Number of rays.
    pub(crate) fn len(&self) -> usize {
        self.columns.iter().map(ColumnRays::len).sum()
    }

    /// `A v`, v given per ray by `weights(k)`.
    pub(crate) fn product(
        &self,
        windows: &Windows,
        weights: impl Fn(usize) -> Vec<f64> + Sync,
    ) -> Vec<f64> {
        let n = self.columns.len();
        let chunk = n.div_ceil(4 * rayon::current_num_threads()).max(1);
        let ranges: Vec<usize> = (0..n).step_by(chunk).collect();
        ranges
            .into_par_iter()
            .map(|first| {
                let mut sum = vec![0.0; n];
                for k in first..(first + chunk).min(n) {
                    let rows = windows.of(k).rows;
                    let column = self.columns[k].weighted(&weights(k), rows.len());
                    for (&i, z) in rows.iter().zip(column) {
                        sum[i as usize] += z;
                    }
                }
                sum
            })
            .reduce(
                || vec![0.0; n],
                |mut a, b| {
                    a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
                    a
                },
            )
    }

    /// `A' mu` of one column's rays.
    pub(crate) fn transposed(&self, windows: &Windows, k: usize, mu: &[f64]) -> Vec<f64> {
        let rows = windows.of(k).rows;
        let gathered: Vec<f64> = rows.iter().map(|&i| mu[i as usize]).collect();
        let column = &self.columns[k];
        (0..column.len())
            .map(|r| column.ray(r).iter().zip(&gathered).map(|(&z, m)| f64::from(z) * m).sum())
            .collect()
    }

    /// Cost of the current weights.
    pub(crate) fn cost(&self) -> f64 {
        self.columns.iter().map(|c| c.cost.iter().zip(&c.x).map(|(c, x)| c * x).sum::<f64>()).sum()
    }
}

/// The columns of a matrix on their windows, each the weighted sum of its rays.
pub(crate) struct WeightedColumns {
    start: Vec<usize>,
    row: Vec<u32>,
    value: Vec<f32>,
}

impl WeightedColumns {
    pub(crate) fn new(windows: &Windows, rays: &Rays, weights: &[Vec<f64>]) -> Self {
        let mut columns = Self {
            start: vec![0],
            row: Vec::with_capacity(windows.entries()),
            value: Vec::with_capacity(windows.entries()),
        };
        for (k, (list, weights)) in rays.columns.iter().zip(weights).enumerate() {
            let rows = windows.of(k).rows;
            columns.row.extend_from_slice(rows);
            let sums = list.weighted(weights, rows.len());
            columns.value.extend(sums.into_iter().map(|z| z as f32));
            columns.start.push(columns.row.len());
        }
        columns
    }

    /// Rows and values of column k.
    pub(crate) fn of(&self, k: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let range = self.start[k]..self.start[k + 1];
        let values = self.value[range.clone()].iter().map(|&z| f64::from(z));
        self.row[range].iter().copied().zip(values)
    }
}
