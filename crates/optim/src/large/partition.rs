//! Cutting the rows into compact parts, from the arcs alone.

use rayon::prelude::*;

use crate::cone::{Dijkstra, Graph};

/// A part of the map: rows that lie together, with a margin around them shared with other parts.
pub(crate) struct Part {
    /// The rows that are of this part alone.
    pub(crate) core: Vec<u32>,
    /// Those and the margin.
    pub(crate) rows: Vec<u32>,
}

/// Parts of at most `size` rows, each with the rows within log-distance `margin` of it.
pub(crate) fn partition(graph: &Graph, size: usize, margin: f64) -> Vec<Part> {
    let mut cores = Vec::new();
    let mut local = vec![u32::MAX; graph.nodes()];
    let mut pending = vec![(0..graph.nodes() as u32).collect::<Vec<u32>>()];
    while let Some(rows) = pending.pop() {
        if rows.len() <= size {
            cores.push(rows);
        } else {
            let (left, right) = bisect(graph, rows, &mut local);
            pending.push(right);
            pending.push(left);
        }
    }
    cores
        .into_par_iter()
        .map_init(
            || Dijkstra::new(graph.nodes()),
            |dijkstra, core| {
                let mut rows = Vec::new();
                let seeds = core.iter().map(|&i| (i, 0.0));
                dijkstra.run(graph, seeds, margin, |i, _, _| rows.push(i));
                Part { core, rows }
            },
        )
        .collect()
}

/// Two halves: the rows are sorted by how much nearer they are to one end of the set than to the
/// other, the ends being far apart.
fn bisect(graph: &Graph, rows: Vec<u32>, local: &mut [u32]) -> (Vec<u32>, Vec<u32>) {
    for (at, &i) in rows.iter().enumerate() {
        local[i as usize] = at as u32;
    }
    let mut part = Graph::default();
    part.become_part(graph, &rows, local);
    for &i in &rows {
        local[i as usize] = u32::MAX;
    }
    let mut dijkstra = Dijkstra::new(rows.len());
    // Rows in other components are beyond everything else.
    let mut distances = |from: u32| {
        let mut distance = vec![1e300; rows.len()];
        let mut last = from;
        dijkstra.run(&part, std::iter::once((from, 0.0)), f64::INFINITY, |i, d, _| {
            distance[i as usize] = d;
            last = i;
        });
        (distance, last)
    };
    let (_, one_end) = distances(0);
    let (from_one, other_end) = distances(one_end);
    let (from_other, _) = distances(other_end);
    let mut order: Vec<u32> = (0..rows.len() as u32).collect();
    let key = |at: u32| from_one[at as usize] - from_other[at as usize];
    order.sort_by(|&a, &b| key(a).total_cmp(&key(b)));
    let (left, right) = order.split_at(rows.len() / 2);
    let pick = |half: &[u32]| half.iter().map(|&at| rows[at as usize]).collect();
    (pick(left), pick(right))
}
