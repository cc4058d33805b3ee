//! Putting tiles together: duals, trees and weighted rays of all cores on windows of the whole map.

use std::collections::BinaryHeap;

use rayon::prelude::*;

use super::columns::split_by_window;
use super::rays::ColumnRays;
use super::tile::{Tile, TileColumn, TileSolution};
use super::tuning::TUNING;
use super::view::{Stopped, View};
use super::window::{Window, Windows};
use crate::cone::{Graph, Link, Pricer, Reached, Transplant};

/// What the rounding of rays may leave of an arc that is tight.
const TIGHT: f64 = 1e-6;

/// What is known of the whole map from the tiles so far.
pub(crate) struct Glue {
    pub(crate) windows: Windows,
    pub(crate) mu: Vec<f64>,
    pub(crate) tree: Vec<Link>,
    /// The rays of every column on its window of the whole map, with weights; costs are not known yet.
    pub(crate) rays: Vec<ColumnRays>,
}

impl Glue {
    /// Nothing yet, on windows of the whole map.
    pub(crate) fn new(windows: Windows) -> Self {
        let n = windows.columns();
        let tree = (0..n).flat_map(|k| windows.of(k).parent).map(|&p| Link::floor(p)).collect();
        Self { windows, mu: vec![0.0; n], tree, rays: vec![ColumnRays::default(); n] }
    }

    /// Takes the core of a solved tile.
    pub(crate) fn take(
        &mut self,
        view: &View<'_>,
        tile: &Tile,
        solution: TileSolution,
    ) -> Result<(), Stopped> {
        let windows = &self.windows;
        let mut trees: Vec<_> =
            split_by_window(windows, &mut self.tree).into_iter().map(Some).collect();
        let mut work = Vec::with_capacity(tile.core.len());
        for (&at, column) in tile.core.iter().zip(solution.columns) {
            let k = tile.places[at as usize] as usize;
            self.mu[k] = solution.mu[at as usize];
            work.push((k, column, trees[k].take()));
        }
        let glued: Vec<(usize, ColumnRays)> = work
            .into_par_iter()
            .map_init(
                || (Pricer::new(view.rows()), Transplant::default(), BinaryHeap::new()),
                |(pricer, transplant, heap), (k, column, tree)| {
                    view.proceed()?;
                    let to = windows.of(k);
                    pricer.load(&view.graph, to.rows, std::iter::repeat_n(0.0, to.rows.len()));
                    let rows: Vec<u32> =
                        column.rows.iter().map(|&at| tile.places[at as usize]).collect();
                    let old: Vec<Link> =
                        column.tree.iter().map(|&number| Link::from_number(number)).collect();
                    if let (Some(tree), Some(moved)) = (tree, transplant.fit(pricer, &rows, &old)) {
                        tree.copy_from_slice(moved);
                    }
                    Ok((k, rays_on(pricer, to, &rows, &column, heap)))
                },
            )
            .collect::<Result<_, Stopped>>()?;
        for (k, rays) in glued {
            self.rays[k] = rays;
        }
        Ok(())
    }
}

/// The rays of a tile's column on its window of the whole map, which `pricer` holds.
fn rays_on(
    pricer: &Pricer,
    to: Window<'_>,
    rows: &[u32],
    column: &TileColumn,
    heap: &mut BinaryHeap<Reached>,
) -> ColumnRays {
    let total: f64 = column.weights.iter().sum();
    let position: Vec<Option<usize>> = rows.iter().map(|&i| pricer.position(i)).collect();
    let is_whole = rows.len() == to.rows.len() && position.iter().all(Option::is_some);
    let mut rays = ColumnRays::default();
    for (ray, &weight) in column.rays.chunks_exact(rows.len()).zip(&column.weights) {
        if weight < TUNING.glued_weight * total {
            continue;
        }
        let mut value = vec![0.0; to.rows.len()];
        for (&z, at) in ray.iter().zip(&position) {
            if let Some(at) = *at {
                value[at] = z;
            }
        }
        if !is_whole {
            close(pricer.graph(), &mut value, heap);
        }
        rays.push(&value, 0.0, weight, 0.0);
    }
    rays
}

/// Raises a ray that the rim of a tile has cut off to the least one of the cone that is nowhere below it.
fn close(graph: &Graph, value: &mut [f32], heap: &mut BinaryHeap<Reached>) {
    let mut key: Vec<f64> = value.iter().map(|&z| -f64::from(z).ln()).collect();
    let reach = |key: &[f64], heap: &mut BinaryHeap<Reached>, from: usize| {
        for (row, length) in graph.arcs(from) {
            let reached = key[from] + length;
            if reached + TIGHT < key[row as usize] {
                heap.push(Reached { key: reached, row, from: from as u32 });
            }
        }
    };
    heap.clear();
    (0..key.len()).for_each(|at| reach(&key, heap, at));
    while let Some(Reached { key: reached, row, .. }) = heap.pop() {
        let at = row as usize;
        if reached < key[at] {
            key[at] = reached;
            value[at] = (-reached).exp() as f32;
            reach(&key, heap, at);
        }
    }
}
