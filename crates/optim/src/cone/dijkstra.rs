//! Rows in order of their distance from others: Dijkstra's algorithm, as far as is asked for.

use super::graph::Graph;
use super::search::Reached;
use std::collections::BinaryHeap;

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
        graph: &Graph,
        seeds: impl Iterator<Item = (u32, f64)>,
        limit: f64,
        mut visit: impl FnMut(u32, f64, u32),
    ) {
        self.run_while(graph, seeds, limit, |row, distance, parent| {
            visit(row, distance, parent);
            true
        });
    }

    /// As [`Self::run`], until `visit` says not to go on.
    pub(crate) fn run_while(
        &mut self,
        graph: &Graph,
        seeds: impl Iterator<Item = (u32, f64)>,
        limit: f64,
        mut visit: impl FnMut(u32, f64, u32) -> bool,
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
            if !visit(row, key, parent) {
                return;
            }
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
