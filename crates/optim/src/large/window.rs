//! Windows: for every column the rows within a log-distance of its anchor, by bounded Dijkstra, or of any
//! row that it draws to.
//!
//! Rays decay like `exp(-eps D)`, so beyond a log-distance `T` a column hardly matters. Everything
//! in this engine lives on these balls, and memory is `rows * |ball|`, never `rows * columns`.

use rayon::prelude::*;

use super::drawn::{Draw, Drawn};
use super::tuning::TUNING;
use super::view::{Stopped, View};
use crate::cone::{Dijkstra, Graph};

/// The windows of all columns, one after the other, each in order of distance from its anchor.
#[derive(Clone, Debug)]
pub(crate) struct Windows {
    start: Vec<usize>,
    row: Vec<u32>,
    distance: Vec<f32>,
    parent: Vec<u32>,
    is_near: Vec<bool>,
}

/// One column's window.
#[derive(Clone, Copy)]
pub(crate) struct Window<'a> {
    /// The rows, nearest first; the anchor itself is at position 0.
    pub(crate) rows: &'a [u32],
    /// Their log-distance `eps * D` from the anchor, ascending.
    pub(crate) distance: &'a [f32],
    /// The parent in the shortest-path tree, as a position in this window.
    pub(crate) parent: &'a [u32],
    /// Whether the anchor, or a row that the column draws to, is within [`TUNING.preconditioner_radius`].
    pub(crate) is_near: &'a [bool],
}

/// The log-radius to use around row `k` where `radius` is wanted: at large epsilon not even the nearest rows are
/// within that, and without them a column would know of no cost but its own place's, which is nothing.
fn enough(graph: &Graph, k: usize, radius: f64) -> f64 {
    let lengths = graph.arcs(k).map(|(_, length)| length).filter(|length| *length > 0.0);
    let nearest = lengths.fold(f64::INFINITY, f64::min);
    if nearest.is_finite() { radius.max(TUNING.hops * nearest) } else { radius }
}

/// Windows as they are grown, one after the other.
#[derive(Default)]
struct Balls {
    /// Where each window ends.
    end: Vec<usize>,
    rows: Vec<u32>,
    distance: Vec<f32>,
    parent: Vec<u32>,
    is_near: Vec<bool>,
}

/// Working memory for windows around several rows.
struct Grower {
    dijkstra: Dijkstra,
    /// Depth of the rows of the present window, infinite elsewhere.
    depth: Vec<f32>,
    ball: Balls,
    position: Vec<u32>,
}

impl Grower {
    fn new(rows: usize) -> Self {
        Self {
            dijkstra: Dijkstra::new(rows),
            depth: vec![f32::INFINITY; rows],
            ball: Balls::default(),
            position: Vec::new(),
        }
    }

    /// The rows within `radius` of the anchor `k` or of a row that it draws to, and what lies on the
    /// shortest paths from the anchor to them.
    fn grow(&mut self, graph: &Graph, k: u32, drawn: &[Draw], radius: f64, grown: &mut Balls) {
        let Self { dijkstra, depth, ball, position } = self;
        let mut members = Vec::new();
        let weak = (radius - TUNING.weak_radius).max(0.0);
        let drawn = drawn.iter().map(|draw| (draw.row, if draw.strongly { 0.0 } else { weak }));
        let seeds = std::iter::once((k, 0.0)).chain(drawn);
        dijkstra.run(graph, seeds, radius, |i, d, _| {
            depth[i as usize] = d as f32;
            members.push(i);
        });
        // Everything from the anchor outwards until the last member; then only what leads to one.
        let Balls { rows, distance, parent, .. } = ball;
        rows.clear();
        distance.clear();
        parent.clear();
        let mut missing = members.len();
        let seed = std::iter::once((k, 0.0));
        dijkstra.run_while(graph, seed, f64::INFINITY, |i, d, p| {
            rows.push(i);
            distance.push(d as f32);
            parent.push(p);
            missing -= usize::from(depth[i as usize] < f32::INFINITY);
            missing > 0
        });
        position.clear();
        position.resize(rows.len(), u32::MAX);
        for at in (0..rows.len()).rev() {
            if depth[rows[at] as usize] < f32::INFINITY || position[at] == 0 {
                position[at] = 0;
                position[parent[at] as usize] = 0;
            }
        }
        let first = grown.rows.len();
        for at in 0..rows.len() {
            if position[at] == 0 {
                position[at] = (grown.rows.len() - first) as u32;
                grown.rows.push(rows[at]);
                grown.distance.push(distance[at]);
                grown.parent.push(position[parent[at] as usize]);
                grown.is_near.push(depth[rows[at] as usize] <= TUNING.preconditioner_radius);
            }
        }
        for i in members {
            depth[i as usize] = f32::INFINITY;
        }
        grown.end.push(grown.rows.len());
    }
}

impl Windows {
    /// Grows the ball of log-radius `radius`, or of [`enough`], around every anchor row of `graph`, the
    /// view's own or one with other lengths.
    pub(crate) fn grow(view: &View<'_>, graph: &Graph, radius: f64) -> Result<Self, Stopped> {
        Self::join(
            graph.nodes(),
            || Dijkstra::new(graph.nodes()),
            |dijkstra, k, balls| {
                view.proceed()?;
                let seed = std::iter::once((k as u32, 0.0));
                dijkstra.run(graph, seed, enough(graph, k, radius), |i, d, p| {
                    balls.rows.push(i);
                    balls.distance.push(d as f32);
                    balls.parent.push(p);
                    balls.is_near.push(d as f32 <= TUNING.preconditioner_radius);
                });
                balls.end.push(balls.rows.len());
                Ok(())
            },
        )
    }

    /// Windows that reach `radius` beyond the anchor and beyond every row that the column draws to.
    pub(crate) fn around(view: &View<'_>, drawn: &Drawn, radius: f64) -> Result<Self, Stopped> {
        Self::join(
            view.rows(),
            || Grower::new(view.rows()),
            |grower, k, balls| {
                view.proceed()?;
                let radius = enough(&view.graph, k, radius);
                grower.grow(&view.graph, k as u32, drawn.of(k), radius, balls);
                Ok(())
            },
        )
    }

    /// Grows the windows of all columns in batches, `grow` adding one at a time, and puts them into one.
    fn join<T>(
        columns: usize,
        memory: impl Fn() -> T + Sync + Send,
        grow: impl Fn(&mut T, usize, &mut Balls) -> Result<(), Stopped> + Sync + Send,
    ) -> Result<Self, Stopped> {
        let batches: Vec<usize> = (0..columns).step_by(TUNING.batch).collect();
        let batches: Vec<Balls> = batches
            .into_par_iter()
            .map_init(memory, |memory, first| {
                let mut balls = Balls::default();
                (first..(first + TUNING.batch).min(columns))
                    .try_for_each(|k| grow(memory, k, &mut balls))?;
                Ok(balls)
            })
            .collect::<Result<_, Stopped>>()?;
        let total = batches.iter().map(|b| b.rows.len()).sum();
        let mut windows = Self {
            start: Vec::with_capacity(columns + 1),
            row: Vec::with_capacity(total),
            distance: Vec::with_capacity(total),
            parent: Vec::with_capacity(total),
            is_near: Vec::with_capacity(total),
        };
        windows.start.push(0);
        for balls in batches {
            let first = windows.row.len();
            windows.start.extend(balls.end.iter().map(|end| first + end));
            windows.row.extend(balls.rows);
            windows.distance.extend(balls.distance);
            windows.parent.extend(balls.parent);
            windows.is_near.extend(balls.is_near);
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
            parent: &self.parent[range.clone()],
            is_near: &self.is_near[range],
        }
    }
}
