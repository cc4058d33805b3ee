//! Tiles on maps small enough to be solved whole as well.

use std::sync::Arc as Shared;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use super::run::Run;
use super::tile::Tiling;
use crate::certificate::check_sparse;
use crate::cost::{Cost, DenseCost, WeightedL1Cost};
use crate::problem::{Arc, Problem, ProblemParts};
use crate::settings::{Clock, Progress, Settings};
use crate::solution::{Solution, Status};

const SIDE: usize = 24;
const TILING: Tiling = Tiling { whole: 100, core: 150, halo: 6.0 };

/// A grid bent a little, so that no two places are alike, with the distances to three corners as features.
fn features() -> Vec<f64> {
    let place = |v: usize| {
        let (x, y) = ((v % SIDE) as f64, (v / SIDE) as f64);
        (x + 0.3 * (1.7 * y).sin(), y + 0.3 * (2.3 * x).sin())
    };
    let corners = [(0.0, 0.0), (SIDE as f64, 3.0), (5.0, SIDE as f64)];
    let far = |(x, y): (f64, f64)| corners.map(|(cx, cy)| (x - cx).hypot(y - cy));
    (0..SIDE * SIDE).flat_map(|v| far(place(v))).collect()
}

fn travel_cost() -> WeightedL1Cost {
    let (n, features) = (SIDE * SIDE, Shared::<[f64]>::from(features()));
    WeightedL1Cost::new(vec![1.0 / n as f64; n], vec![0.5, 0.3, 0.2], features.clone(), features)
        .unwrap()
}

fn problem(cost: impl Cost + 'static) -> Problem {
    let mut arcs = Vec::new();
    for v in 0..SIDE * SIDE {
        let (x, y) = (v % SIDE, v / SIDE);
        let mut arc = |to: bool, j: usize, d: f64| {
            if to {
                arcs.push(Arc { i: v, j, d: d * (1.0 + 0.1 * ((v * 7) % 5) as f64) });
            }
        };
        arc(x + 1 < SIDE, v + 1, 1.0);
        arc(y + 1 < SIDE, v + SIDE, 1.0);
        arc(x + 1 < SIDE && y + 1 < SIDE, v + SIDE + 1, 1.4);
        arc(x > 0 && y + 1 < SIDE, v + SIDE - 1, 1.4);
    }
    Problem::new(ProblemParts::untied(1.0, cost, arcs)).unwrap()
}

/// Solves in tiles, or whole, and holds the matrix against the checker.
fn solve(problem: &Problem, settings: &Settings, tiling: Tiling) -> Solution {
    let stop = settings.start_watch().unwrap();
    let mut run = Run::new(problem, settings, stop).unwrap();
    run.tiling = tiling;
    let solution = run.solve().unwrap();
    let matrix = solution.z.as_sparse().unwrap();
    let report = check_sparse(problem, matrix);
    assert!(report.is_strict(), "log excess {:e}", report.worst_log_excess);
    assert!(report.worst_row_sum_error < 1e-14);
    assert!(solution.lower_bound <= solution.objective);
    solution
}

#[test]
fn tiles_glued_together_are_as_good_as_the_whole() {
    let problem = problem(travel_cost());
    let settings = Settings::to_gap(2e-3);
    let whole = solve(&problem, &settings, Tiling { whole: usize::MAX, ..TILING });
    let glued = solve(&problem, &settings, TILING);
    assert!(whole.gap <= 2e-3 && glued.gap <= 2e-3, "gaps {} and {}", whole.gap, glued.gap);
    assert!(glued.lower_bound <= whole.objective && whole.lower_bound <= glued.objective);
    // The closed form, four tiles, and what was glued: next to nothing had to be done again.
    assert!(glued.iterations <= 7, "{} iterations", glued.iterations);
}

#[test]
fn tiles_of_a_cost_that_is_no_travel_error_are_looked_up_in_the_whole() {
    let (n, travel) = (SIDE * SIDE, travel_cost());
    let entries = (0..n * n).map(|e| travel.at(e / n, e % n)).collect();
    let dense = problem(DenseCost::new(n, n, entries).unwrap());
    let settings = Settings::to_gap(5e-3);
    let (a, b) = (solve(&dense, &settings, TILING), solve(&problem(travel), &settings, TILING));
    assert!((a.objective - b.objective).abs() < 1e-9 * a.objective);
    assert!((a.lower_bound - b.lower_bound).abs() < 1e-9 * a.objective);
}

/// A clock that advances a millisecond whenever it is looked at.
#[derive(Default)]
struct Ticking(AtomicU64);

impl Clock for Ticking {
    fn now(&self) -> Duration {
        Duration::from_millis(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

#[test]
fn a_time_limit_in_the_middle_of_the_tiles_leaves_what_is_proven() {
    let problem = problem(travel_cost());
    let whole = solve(&problem, &Settings::to_gap(1e-3), Tiling { whole: usize::MAX, ..TILING });
    let mut last = f64::INFINITY;
    for limit in [100, 6_000, 15_000, 60_000] {
        let settings = Settings {
            clock: Some(Shared::new(Ticking::default())),
            time_limit: Some(Duration::from_millis(limit)),
            ..Settings::to_gap(1e-9)
        };
        let solution = solve(&problem, &settings, TILING);
        assert_eq!(solution.status, Status::Limit);
        assert!(solution.lower_bound <= whole.objective && solution.objective >= whole.lower_bound);
        assert!(solution.objective <= last, "{limit}: {} after {last}", solution.objective);
        last = solution.objective;
    }
    assert!(last <= 1.01 * whole.objective, "{last}, not {}", whole.objective);
}

#[test]
fn a_solve_cancelled_between_tiles_returns_the_closed_form() {
    let problem = problem(travel_cost());
    let cancel = Shared::new(AtomicBool::new(false));
    let flag = cancel.clone();
    let settings = Settings {
        cancel: Some(cancel),
        // The closed form reports first, then every tile.
        progress: Some(Shared::new(move |p: &Progress| {
            flag.store(p.iteration >= 3, Ordering::Relaxed);
        })),
        ..Settings::to_gap(1e-3)
    };
    let solution = solve(&problem, &settings, TILING);
    assert_eq!((solution.status, solution.iterations), (Status::Limit, 3));
    assert!(solution.gap < 0.1, "gap {}", solution.gap);
}
