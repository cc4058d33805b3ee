//! Tiles: a part of the map solved by itself, as a unit of work for one worker.
//!
//! Rays decay, and so does what one place's dual has to do with another's. The map is cut into compact cores; each is solved
//! together with a halo around it as a problem of its own, and of its solution only the core is used: its duals, and
//! the rays of its columns with their weights. `glue` puts the cores together again.

use super::colgen::ColumnGeneration;
use super::partition::{Part, partition};
use super::tuning::TUNING;
use super::view::{Stopped, View};
use crate::problem::Problem;
use crate::settings::Stop;

/// Places that are solved together.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tile {
    /// The places, core and halo.
    pub(crate) places: Vec<u32>,
    /// Positions of the core in that list.
    pub(crate) core: Vec<u32>,
}

/// What a tile contributes: plain numbers, by positions in the tile.
#[derive(Debug, Clone)]
pub(crate) struct TileSolution {
    /// Duals of all places of the tile.
    pub(crate) mu: Vec<f64>,
    /// The columns of the core, in its order.
    pub(crate) columns: Vec<TileColumn>,
}

/// One column of a tile: where it lives, the tree it was priced to last, and its rays.
#[derive(Debug, Clone)]
pub(crate) struct TileColumn {
    /// The rows of its window, its own place first.
    pub(crate) rows: Vec<u32>,
    /// For each, its parent's position in the window doubled, plus one where it hangs at the parent's ceiling.
    pub(crate) tree: Vec<u32>,
    /// Ray after ray, each as long as the window.
    pub(crate) rays: Vec<f32>,
    /// The weight of each ray.
    pub(crate) weights: Vec<f64>,
}

/// How good a tile shall become.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Task {
    /// The gap that is wanted of the whole, and that of the tile.
    pub(crate) gap: f64,
    pub(crate) tile_gap: f64,
    /// Log-radius of windows where costs are too uneven for the closed form.
    pub(crate) radius: f64,
}

/// How a map is cut.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tiling {
    /// A map of at most so many places is solved whole.
    pub(crate) whole: usize,
    /// Most places in a core. Small tiles have more halo than core, large ones take more memory.
    pub(crate) core: usize,
    /// Log-distance to which the halo reaches: beyond, the duals of the core hardly depend on what is there.
    pub(crate) halo: f64,
}

impl Default for Tiling {
    fn default() -> Self {
        Self { whole: 30_000, core: 5_000, halo: 6.0 }
    }
}

impl Tiling {
    /// With halos as deep as a gap asks for: what lies beyond matters less by the exponential of its distance.
    pub(crate) fn for_gap(self, gap: f64) -> Self {
        let finer =
            (TUNING.gap_of_halo / gap.max(f64::MIN_POSITIVE)).ln().clamp(0.0, TUNING.deeper_halo);
        Self { halo: self.halo + finer, ..self }
    }

    /// Cuts the map into tiles.
    pub(crate) fn cut(self, view: &View<'_>) -> Vec<Tile> {
        let mut position = vec![u32::MAX; view.rows()];
        let tile = |part: Part| {
            for (at, &i) in part.rows.iter().enumerate() {
                position[i as usize] = at as u32;
            }
            let core = part.core.iter().map(|&i| position[i as usize]).collect();
            Tile { places: part.rows, core }
        };
        partition(&view.graph, self.core, self.halo).into_iter().map(tile).collect()
    }
}

/// Solves a tile, given the problem of its places alone, as far as `is_late` allows. A function of plain data: whoever solves a tile
/// needs nothing of the others.
pub(crate) fn solve_tile(
    problem: &Problem,
    core: &[u32],
    task: Task,
    stop: Option<Stop<'_>>,
    is_late: impl Fn() -> bool,
) -> Result<TileSolution, Stopped> {
    let view = View::accepted(problem, stop);
    let mut generation = ColumnGeneration::begin(&view, task)?;
    for _ in 0..TUNING.tile_iterations {
        if is_late() || generation.iterate(&view)? <= task.tile_gap {
            break;
        }
    }
    generation.into_tile(&view, core)
}
