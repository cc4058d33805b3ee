//! Windows: for every column the rows within a log-distance of its anchor, by bounded Dijkstra.
//!
//! Rays decay like `exp(-eps D)`, so beyond a log-distance `T` a column hardly matters. Everything
//! in this engine lives on these balls, and memory is `rows * |ball|`, never `rows * columns`.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use rayon::prelude::*;

use super::graph::ArcGraph;
use super::view::{Stopped, View};

/// A heap entry ordered by smallest key first.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Reached {
    pub(crate) key: f64,
    pub(crate) row: u32,
    pub(crate) from: u32,
}

impl Eq for Reached {}

impl PartialOrd for Reached {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Reached {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key.total_cmp(&self.key).then_with(|| other.row.cmp(&self.row))
    }
}

/// Working memory of one thread's Dijkstra: distances valid where the stamp is current.
pub(crate) struct Dijkstra {
    heap: BinaryHeap<Reached>,
    best: Vec<f64>,
    position: Vec<u32>,
    stamp: Vec<u32>,
    now: u32,
}

impl Dijkstra {
    pub(crate) fn new(rows: usize) -> Self {
        Self {
            heap: BinaryHeap::new(),
            best: vec![f64::INFINITY; rows],
            position: vec![0; rows],
            stamp: vec![0; rows],
            now: 0,
        }
    }

    /// Settles rows in order of their distance from `seeds` (row, starting key) while that distance
    /// is below `limit`; `visit(row, distance, parent)` gets the parent as a position in the order
    /// of visits (the row's own position for a seed).
    pub(crate) fn run(
        &mut self,
        graph: &ArcGraph,
        seeds: impl Iterator<Item = (u32, f64)>,
        limit: f64,
        mut visit: impl FnMut(u32, f64, u32),
    ) {
        self.now += 1;
        self.heap.clear();
        for (row, key) in seeds {
            self.offer(row, key, u32::MAX, limit);
        }
        let mut settled = 0u32;
        while let Some(Reached { key, row, from }) = self.heap.pop() {
            if key > self.best[row as usize] {
                continue;
            }
            // A settled row can never be improved again, so equal keys are stale duplicates.
            self.best[row as usize] = f64::NEG_INFINITY;
            let parent = if from == u32::MAX { settled } else { self.position[from as usize] };
            self.position[row as usize] = settled;
            visit(row, key, parent);
            settled += 1;
            for (next, length) in graph.arcs(row as usize) {
                self.offer(next, key + length, row, limit);
            }
        }
    }

    fn offer(&mut self, row: u32, key: f64, from: u32, limit: f64) {
        if key > limit {
            return;
        }
        let at = row as usize;
        if self.stamp[at] != self.now {
            self.stamp[at] = self.now;
            self.best[at] = f64::INFINITY;
        }
        if key < self.best[at] {
            self.best[at] = key;
            self.heap.push(Reached { key, row, from });
        }
    }
}

/// The windows of all columns, one after the other, each in order of distance from its anchor.
#[derive(Clone, Debug)]
pub(crate) struct Windows {
    start: Vec<usize>,
    row: Vec<u32>,
    distance: Vec<f64>,
    parent: Vec<u32>,
}

/// One column's window.
#[derive(Clone, Copy)]
pub(crate) struct Window<'a> {
    /// The rows, nearest first; the anchor itself is at position 0.
    pub(crate) rows: &'a [u32],
    /// Their log-distance `eps * D` from the anchor, ascending.
    pub(crate) distance: &'a [f64],
    /// The parent in the shortest-path tree, as a position in this window.
    pub(crate) parent: &'a [u32],
}

impl Windows {
    /// Grows the ball of log-radius `radius[k]` around every anchor row `k` of `graph`, the view's own
    /// or one with other lengths.
    pub(crate) fn grow(view: &View<'_>, graph: &ArcGraph, radius: &[f64]) -> Result<Self, Stopped> {
        type Ball = (Vec<u32>, Vec<f64>, Vec<u32>);
        let balls: Vec<Ball> = (0..graph.rows())
            .into_par_iter()
            .map_init(
                || Dijkstra::new(graph.rows()),
                |dijkstra, k| {
                    view.proceed()?;
                    let (mut rows, mut distance, mut parent) = Ball::default();
                    let seed = std::iter::once((k as u32, 0.0));
                    dijkstra.run(graph, seed, radius[k], |i, d, p| {
                        rows.push(i);
                        distance.push(d);
                        parent.push(p);
                    });
                    Ok((rows, distance, parent))
                },
            )
            .collect::<Result<_, Stopped>>()?;
        let total = balls.iter().map(|b| b.0.len()).sum();
        let mut windows = Self {
            start: Vec::with_capacity(balls.len() + 1),
            row: Vec::with_capacity(total),
            distance: Vec::with_capacity(total),
            parent: Vec::with_capacity(total),
        };
        windows.start.push(0);
        for (rows, distance, parent) in balls {
            windows.row.extend(rows);
            windows.distance.extend(distance);
            windows.parent.extend(parent);
            windows.start.push(windows.row.len());
        }
        Ok(windows)
    }

    /// Number of columns.
    pub(crate) fn columns(&self) -> usize {
        self.start.len() - 1
    }

    /// Total number of entries over all windows.
    pub(crate) fn entries(&self) -> usize {
        self.row.len()
    }

    /// Where column `k`'s entries lie in arrays that run parallel to the windows.
    pub(crate) fn range(&self, k: usize) -> std::ops::Range<usize> {
        self.start[k]..self.start[k + 1]
    }

    /// The window of column `k`.
    pub(crate) fn of(&self, k: usize) -> Window<'_> {
        let range = self.range(k);
        Window {
            rows: &self.row[range.clone()],
            distance: &self.distance[range.clone()],
            parent: &self.parent[range],
        }
    }
}
