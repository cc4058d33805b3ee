//! All columns with their windows: costs, trees and current rays, side by side in flat arrays.

use rayon::prelude::*;

use super::graph::ArcGraph;
use super::pricing::{Link, Pricer};
use super::view::{Stopped, View};
use super::window::Windows;

/// Pivots allowed per row of a window before a stalled column is left as it is.
pub(crate) const PIVOTS_PER_ROW: usize = 40;

/// The state of pricing: one tree and one ray for every column, on its window.
pub(crate) struct Columns {
    pub(crate) windows: Windows,
    /// Costs on the windows.
    pub(crate) cost: Vec<f64>,
    /// The tree each column was priced to last.
    pub(crate) tree: Vec<Link>,
    /// The ray of that tree, 1 at the anchor.
    pub(crate) ray: Vec<f32>,
}

/// The largest entry of a ray.
pub(crate) struct Peak {
    pub(crate) row: usize,
    pub(crate) value: f64,
}

impl Columns {
    /// Shortest-path trees and their rays `exp(-eps D)` on windows of the given log-radius.
    pub(crate) fn new(view: &View<'_>, radius: f64) -> Result<Self, Stopped> {
        Self::on(view, Windows::grow(view, &view.graph, radius)?)
    }

    /// Shortest-path trees and their rays on the given windows.
    pub(crate) fn on(view: &View<'_>, windows: Windows) -> Result<Self, Stopped> {
        let mut cost = vec![0.0; windows.entries()];
        split_by_window(&windows, &mut cost).par_iter_mut().enumerate().try_for_each(
            |(k, cost)| {
                view.proceed()?;
                view.gather_costs(k, windows.of(k).rows, cost);
                Ok(())
            },
        )?;
        let mut tree = Vec::with_capacity(windows.entries());
        let mut ray = Vec::with_capacity(windows.entries());
        for k in 0..windows.columns() {
            let window = windows.of(k);
            tree.extend(window.parent.iter().map(|&p| Link::floor(p)));
            ray.extend(window.distance.iter().map(|d| (-d).exp() as f32));
        }
        Ok(Self { windows, cost, tree, ray })
    }

    /// The rays `exp(-length)` of another set of arcs, without costs or trees.
    pub(crate) fn rays_only(
        view: &View<'_>,
        graph: &ArcGraph,
        radius: f64,
    ) -> Result<Self, Stopped> {
        let windows = Windows::grow(view, graph, radius)?;
        let ray = (0..windows.columns())
            .flat_map(|k| windows.of(k).distance)
            .map(|d| (-d).exp() as f32)
            .collect();
        Ok(Self { windows, cost: Vec::new(), tree: Vec::new(), ray })
    }

    /// The same columns with every ray back at `exp(-scale * eps D)`.
    pub(crate) fn with_shortest_path_rays(mut self, scale: f64) -> Self {
        for k in 0..self.windows.columns() {
            let range = self.windows.range(k);
            for (r, d) in self.ray[range].iter_mut().zip(self.windows.of(k).distance) {
                *r = (-scale * d).exp() as f32;
            }
        }
        self
    }

    /// The cost of each current ray.
    pub(crate) fn ray_costs(&self) -> Vec<f64> {
        (0..self.windows.columns())
            .into_par_iter()
            .map(|k| {
                let range = self.windows.range(k);
                let ray = &self.ray[range.clone()];
                self.cost[range].iter().zip(ray).map(|(c, &r)| c * f64::from(r)).sum()
            })
            .collect()
    }

    /// Prices every column at `mu` from its last tree; returns the reduced costs.
    pub(crate) fn price(
        &mut self,
        view: &View<'_>,
        mu: &[f64],
        precision: f64,
    ) -> Result<Vec<f64>, Stopped> {
        let (windows, cost) = (&self.windows, &self.cost);
        let mut trees = split_by_window(windows, &mut self.tree);
        let mut rays = split_by_window(windows, &mut self.ray);
        trees
            .par_iter_mut()
            .zip(rays.par_iter_mut())
            .enumerate()
            .map_init(
                || Pricer::new(view.rows()),
                |pricer, (k, (tree, ray))| {
                    view.proceed()?;
                    let window = windows.of(k);
                    let cost = &cost[windows.range(k)];
                    let weight = |(&i, c): (&u32, &f64)| c - mu[i as usize];
                    let scale: f64 = window
                        .rows
                        .iter()
                        .zip(cost)
                        .zip(ray.iter())
                        .map(|(e, &r)| weight(e).abs() * f64::from(r))
                        .sum();
                    let weights = window.rows.iter().zip(cost).map(weight);
                    pricer.load(&view.graph, window, weights, tree);
                    pricer.optimise(precision * scale, PIVOTS_PER_ROW * window.rows.len());
                    tree.copy_from_slice(pricer.tree());
                    for (r, u) in ray.iter_mut().zip(pricer.log_ray()) {
                        *r = u.exp() as f32;
                    }
                    Ok(pricer.value())
                },
            )
            .collect()
    }

    /// Where each current ray is largest.
    pub(crate) fn peaks(&self) -> Vec<Peak> {
        (0..self.windows.columns())
            .map(|k| {
                let rows = self.windows.of(k).rows.iter();
                let first = Peak { row: k, value: f64::from(f32::MIN_POSITIVE) };
                rows.zip(&self.ray[self.windows.range(k)]).fold(first, |peak, (&i, &r)| {
                    let value = f64::from(r);
                    if value > peak.value { Peak { row: i as usize, value } } else { peak }
                })
            })
            .collect()
    }

    /// `R' p` for the current rays: what a change `p` of the duals takes from each column.
    pub(crate) fn transposed_product(&self, p: &[f64]) -> Vec<f64> {
        (0..self.windows.columns())
            .into_par_iter()
            .map(|k| {
                let rows = self.windows.of(k).rows;
                let ray = &self.ray[self.windows.range(k)];
                rows.iter().zip(ray).map(|(&i, &r)| f64::from(r) * p[i as usize]).sum()
            })
            .collect()
    }
}

/// Cuts an array that runs parallel to the windows into one slice per column.
pub(crate) fn split_by_window<'a, T>(windows: &Windows, array: &'a mut [T]) -> Vec<&'a mut [T]> {
    let mut slices = Vec::with_capacity(windows.columns());
    let mut rest = array;
    for k in 0..windows.columns() {
        let (slice, after) = rest.split_at_mut(windows.range(k).len());
        slices.push(slice);
        rest = after;
    }
    slices
}
