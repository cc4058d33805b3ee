//! Generated maps for the engine of large problems, shared by its benchmark and its tests.

use std::sync::Arc as Shared;

use lrgeo_optim::{Arc, Problem, ProblemParts, WeightedL1Cost};

/// Grid spacing in kilometres.
pub const SPACING: f64 = 0.47;

/// A jittered grid with arcs to near neighbours, and the travel error to a few targets as its cost.
#[derive(Debug, Clone)]
pub struct Map {
    pub side: usize,
    /// How far places are moved, as a part of the spacing.
    pub jitter: f64,
    pub epsilon: f64,
    pub targets: usize,
    pub seed: u64,
    /// Arcs in 16 directions, as a spanner has them, instead of 8.
    pub sixteen: bool,
    /// A map that is no square: two lakes without places, one corner cut off, and an island.
    pub holes: bool,
    /// Places that are there twice, joined by arcs of length zero.
    pub doubled: usize,
    /// Places reached from crossings this many places apart, the last way straight: those of one crossing differ by nothing
    /// but that, so that whole rings of them cost next to nothing to each other. Zero: straight ways from everywhere.
    pub crossings: usize,
    /// Priors over four orders of magnitude, every twentieth zero, instead of even ones.
    pub uneven_prior: bool,
}

impl Map {
    /// The square map of the targets table, at another size or epsilon.
    pub fn square(side: usize, epsilon: f64) -> Self {
        Self {
            side,
            jitter: 0.6,
            epsilon,
            targets: 20,
            seed: 12345,
            sixteen: false,
            holes: false,
            doubled: 0,
            crossings: 0,
            uneven_prior: false,
        }
    }

    pub fn problem(&self) -> Problem {
        let mut state = self.seed;
        let mut random = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let side = self.side as i64;
        let cells: Vec<(i64, i64)> = (0..side * side)
            .map(|v| (v % side, v / side))
            .filter(|&(x, y)| !self.holes || is_land(side, x, y))
            .collect();
        let mut around = |at: i64| SPACING * (at as f64 + self.jitter * (random() - 0.5));
        let mut places: Vec<(f64, f64)> =
            cells.iter().map(|&(x, y)| (around(x), around(y))).collect();
        let mut at = vec![None; (side * side) as usize];
        for (v, &(x, y)) in cells.iter().enumerate() {
            at[(y * side + x) as usize] = Some(v);
        }
        let eight = [(1, 0), (0, 1), (1, 1), (-1, 1)];
        let knights = [(1, 2), (2, 1), (-1, 2), (-2, 1)];
        let mut arcs = Vec::new();
        for (v, &(x, y)) in cells.iter().enumerate() {
            for (dx, dy) in eight.iter().chain(knights.iter().filter(|_| self.sixteen)) {
                let (x, y) = (x + dx, y + dy);
                let inside = (0..side).contains(&x) && y < side;
                if let Some(w) = inside.then(|| at[(y * side + x) as usize]).flatten() {
                    arcs.push(Arc { i: v, j: w, d: between(places[v], places[w]) });
                }
            }
        }
        for copy in 0..self.doubled {
            let original = (copy * 37 + 5) % cells.len();
            arcs.push(Arc { i: original, j: places.len(), d: 0.0 });
            places.push(places[original]);
        }
        let width = SPACING * self.side as f64;
        let targets: Vec<(f64, f64)> =
            (0..self.targets).map(|_| (random() * width, random() * width)).collect();
        let weights: Vec<f64> = (0..self.targets).map(|_| random()).collect();
        let total: f64 = weights.iter().sum();
        let weights = weights.iter().map(|q| q / total).collect();
        let prior: Vec<f64> = (0..places.len())
            .map(|v| match (self.uneven_prior, v % 20) {
                (false, _) => 1.0,
                (true, 7) => 0.0,
                (true, _) => 10.0_f64.powf(-4.0 * random()),
            })
            .collect();
        let total: f64 = prior.iter().sum();
        let prior = prior.iter().map(|p| p / total).collect();
        let apart = SPACING * self.crossings as f64;
        let crossing = |(x, y): (f64, f64)| match self.crossings {
            0 => (x, y),
            _ => ((x / apart).round() * apart, (y / apart).round() * apart),
        };
        let features: Shared<[f64]> = places
            .iter()
            .flat_map(|&place| {
                let (node, leg) = (crossing(place), between(place, crossing(place)));
                targets.iter().map(move |&target| leg + between(node, target))
            })
            .collect();
        let cost = WeightedL1Cost::new(prior, weights, features.clone(), features);
        let cost = cost.expect("distances are finite");
        Problem::new(ProblemParts::untied(self.epsilon, cost, arcs)).expect("the map is valid")
    }
}

fn between(a: (f64, f64), b: (f64, f64)) -> f64 {
    (a.0 - b.0).hypot(a.1 - b.1)
}

/// Two square lakes, the far corner cut off diagonally, and in that corner an island by itself.
fn is_land(side: i64, x: i64, y: i64) -> bool {
    let lake = |cx: i64, cy: i64| (x - cx).abs().max((y - cy).abs()) <= side / 10;
    let corner = x + y - 2 * side;
    let island = corner >= -4;
    !lake(side / 4, side / 2) && !lake(3 * side / 5, side / 4) && (corner < -side / 2 || island)
}
