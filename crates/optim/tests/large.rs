//! The engine for large maps, on maps small enough for the dense engine and the dense checker.
#![cfg(feature = "parallel")]

#[path = "../../../bench/large/map.rs"]
mod map;

use std::sync::Arc as Shared;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use lrgeo_optim::certificate::{check, check_sparse};
use lrgeo_optim::large;
use lrgeo_optim::{
    Arc, Clock, DenseCost, Error, Problem, ProblemParts, Settings, Solution, Status, WeightedL1Cost,
};
use map::Map;

/// A jittered grid with 8-neighbour arcs and the travel error to a few targets as its cost.
fn grid(side: usize, jitter: f64, epsilon: f64, seed: u64) -> Problem {
    Map { jitter, targets: 8, seed, ..Map::square(side, epsilon) }.problem()
}

/// Solves, and holds the result against the dense checker, which knows nothing of tails.
fn solve_checked(problem: &Problem, gap: f64) -> Solution {
    let solution = large::solve(problem, &Settings::to_gap(gap)).unwrap();
    let report = check(problem, &solution.z, &solution.y);
    assert!(report.is_strict(), "log excess {:e}", report.worst_log_excess);
    assert!(report.worst_row_sum_error < 1e-14, "row sums off {:e}", report.worst_row_sum_error);
    assert!((report.cost - solution.objective).abs() <= 1e-12 * report.cost);
    assert!((report.worst_log_excess - solution.certificate.worst_log_excess).abs() < 1e-9);
    assert!(solution.lower_bound <= solution.objective);
    solution
}

/// The optimum of the dense engine, to a millionth.
fn dense_optimum(problem: &Problem) -> Solution {
    lrgeo_optim::colgen::solve(problem, &Settings::to_gap(1e-6)).unwrap()
}

#[test]
fn proven_intervals_hold_the_dense_optimum() {
    for (side, jitter, epsilon) in
        [(30, 0.6, 5.0), (20, 0.6, 2.0), (20, 0.0, 5.0), (15, 0.6, 3.0), (12, 0.0, 2.0)]
    {
        let problem = grid(side, jitter, epsilon, 7);
        let exact = dense_optimum(&problem);
        let bound = large::lower_bound(&problem).unwrap();
        assert!(bound.value <= exact.objective, "{side} {epsilon}: {} above", bound.value);
        assert!(bound.value >= 0.95 * exact.objective, "{side} {epsilon}: {} is weak", bound.value);
        let solution = solve_checked(&problem, 2e-3);
        assert!(solution.lower_bound <= exact.objective);
        assert!(solution.objective >= exact.lower_bound);
        assert!(solution.gap <= 2e-3, "{side} {epsilon}: gap {}", solution.gap);
    }
}

#[test]
fn the_closed_form_is_enough_at_large_epsilon() {
    let problem = grid(30, 0.6, 10.0, 3);
    let solution = solve_checked(&problem, 1e-3);
    assert_eq!(solution.status, Status::Gap);
    assert_eq!(solution.iterations, 1);
}

#[test]
fn bounds_are_proven_however_long_the_hops() {
    // A spacing of 0.47 km: eps * d of a hop from 14 to 60.
    for hop in [14.5, 20.0, 30.0, 45.0, 60.0] {
        let problem = grid(12, 0.2, hop / 0.47, 11);
        let solution = solve_checked(&problem, 1e-6);
        assert_eq!(solution.status, Status::Optimal, "{hop}");
        // What is at stake is less than the rounding of a probability, and yet known to a thousandth.
        let (lower, upper) = (solution.lower_bound, solution.objective);
        assert!(lower > 0.0 && upper <= 1.001 * lower, "{hop}: {lower:e} to {upper:e}");
    }
}

#[test]
fn memory_is_linear_in_the_rows() {
    // At 2.35 per hop a row sees a few hundred places, however large the map.
    let entries = |side: usize| {
        let problem = grid(side, 0.6, 5.0, 11);
        let solution = large::solve(&problem, &Settings::to_gap(1e-2)).unwrap();
        let rows = problem.rows();
        let total: usize = (0..rows)
            .map(|i| {
                let row = solution.z.row(i);
                let smallest = row.iter().copied().fold(1.0, f64::min);
                row.iter().filter(|&&z| z > smallest).count()
            })
            .sum();
        total as f64 / rows as f64
    };
    let (small, large) = (entries(25), entries(50));
    assert!(large < 1.35 * small, "{small} entries per row became {large}");
}

#[test]
fn low_epsilon_still_gives_a_strict_matrix_and_a_valid_bound() {
    let problem = grid(14, 0.6, 1.0, 5);
    let exact = dense_optimum(&problem);
    let solution = solve_checked(&problem, 1e-2);
    assert!(solution.lower_bound <= exact.objective);
    assert!(solution.objective >= exact.lower_bound);
    assert!(solution.gap < 0.05, "gap {}", solution.gap);
}

#[test]
fn separate_components_and_single_rows_are_solved() {
    let cost: Vec<Vec<f64>> =
        (0..6).map(|i: i32| (0..6).map(|k: i32| f64::from((i - k).abs())).collect()).collect();
    let arcs =
        vec![Arc { i: 0, j: 1, d: 1.0 }, Arc { i: 1, j: 2, d: 1.0 }, Arc { i: 3, j: 4, d: 0.5 }];
    let cost = DenseCost::from_rows(&cost).unwrap();
    let problem = Problem::new(ProblemParts::untied(1.5, cost, arcs)).unwrap();
    let exact = dense_optimum(&problem);
    let solution = solve_checked(&problem, 1e-2);
    assert!(solution.lower_bound <= exact.objective && solution.objective >= exact.lower_bound);
    assert!(solution.z.at(5, 5) > 0.999, "an isolated row reports itself");
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
fn a_solve_stopped_anywhere_returns_what_is_proven() {
    // The clock is looked at between pieces of work, so this stops in every phase of the solve.
    let problem = grid(12, 0.6, 2.0, 9);
    let mut last = f64::INFINITY;
    for limit in [0, 10, 100, 400, 1000, 3000, 10_000] {
        let settings = Settings {
            clock: Some(Shared::new(Ticking::default())),
            time_limit: Some(Duration::from_millis(limit)),
            ..Settings::to_gap(1e-9)
        };
        let solution = large::solve(&problem, &settings).unwrap();
        assert_eq!(solution.status, Status::Limit);
        assert!(check(&problem, &solution.z, &solution.y).is_strict());
        assert!(solution.lower_bound <= solution.objective);
        assert!(solution.objective <= last, "{limit}: {} after {last}", solution.objective);
        last = solution.objective;
    }
    let exact = dense_optimum(&problem);
    assert!(last < 1.02 * exact.objective, "{last}, optimum {}", exact.objective);
}

#[test]
fn a_cancelled_solve_ends_within_a_second() {
    let problem = Map::square(60, 2.0).problem();
    let cancel = Shared::new(AtomicBool::new(false));
    let settings = Settings { cancel: Some(Shared::clone(&cancel)), ..Settings::to_gap(1e-9) };
    let (solution, waited) = std::thread::scope(|scope| {
        let solving = scope.spawn(|| large::solve(&problem, &settings));
        std::thread::sleep(Duration::from_millis(700));
        cancel.store(true, Ordering::Relaxed);
        let cancelled = Instant::now();
        (solving.join().unwrap().unwrap(), cancelled.elapsed())
    });
    assert_eq!(solution.status, Status::Limit);
    // A tenth of a second on an idle machine.
    assert!(waited < Duration::from_secs(2), "{waited:?}");
    assert!(check(&problem, &solution.z, &solution.y).is_strict());
}

#[test]
fn uneven_maps_with_spanner_arcs_are_solved() {
    let spanner = Map { sixteen: true, targets: 8, ..Map::square(14, 2.0) };
    for map in [
        spanner.clone(),
        Map { holes: true, ..spanner.clone() },
        Map { holes: true, doubled: 9, jitter: 0.9, ..spanner.clone() },
        Map { holes: true, doubled: 5, epsilon: 4.0, ..spanner },
    ] {
        let problem = map.problem();
        let exact = dense_optimum(&problem);
        let bound = large::lower_bound(&problem).unwrap();
        assert!(bound.value <= exact.objective, "{map:?}");
        let solution = solve_checked(&problem, 2e-3);
        assert!(solution.lower_bound <= exact.objective, "{map:?}");
        assert!(solution.objective >= exact.lower_bound, "{map:?}");
        assert!(solution.gap <= 2e-3, "{map:?}: gap {}", solution.gap);
    }
}

#[test]
fn places_off_the_streets_are_solved() {
    let small =
        Map { crossings: 5, sixteen: true, jitter: 0.0, targets: 8, ..Map::square(10, 2.2) };
    let problem = small.problem();
    let exact = dense_optimum(&problem);
    let solution = solve_checked(&problem, 2e-2);
    assert!(solution.lower_bound <= exact.objective && solution.objective >= exact.lower_bound);
    assert!(solution.gap <= 2e-2, "gap {}", solution.gap);
    // More rings, where the dense engine takes a minute.
    let solution = solve_checked(&Map { side: 15, ..small }.problem(), 2e-2);
    assert!(solution.gap <= 2e-2, "gap {}", solution.gap);
}

#[test]
fn what_the_engine_cannot_solve_is_refused_by_name() {
    let cost = DenseCost::new(2, 3, vec![0.0; 6]).unwrap();
    let wide = Problem::new(ProblemParts::untied(1.0, cost, vec![])).unwrap();
    let refused = large::solve(&wide, &Settings::default());
    assert!(matches!(refused, Err(Error::Unsupported { engine: "large", .. })));
}

#[test]
fn both_checkers_measure_the_same_excess() {
    let problem = grid(10, 0.6, 2.0, 21);
    let z = large::solve(&problem, &Settings::to_gap(5e-2)).unwrap().z;
    let matrix = z.as_sparse().unwrap();
    let sparse = check_sparse(&problem, matrix);
    let dense = check(&problem, &z, &[]);
    assert!(sparse.is_strict() && dense.is_strict());
    assert!((sparse.worst_log_excess - dense.worst_log_excess).abs() < 1e-12);
    // At a smaller epsilon the same matrix breaks the limit, for both by the same amount.
    let stricter = problem.with_epsilon(1.9).unwrap();
    let sparse = check_sparse(&stricter, matrix);
    let broken = check(&stricter, &z, &[]);
    assert!(!sparse.is_strict() && !broken.is_strict());
    assert!((sparse.worst_log_excess - broken.worst_log_excess).abs() < 1e-12);
}

#[test]
fn places_at_distance_zero_get_identical_rows() {
    // A line of places, two of which coincide, and arcs from feeble to very strong.
    let cost: Vec<Vec<f64>> =
        (0..5).map(|i: i32| (0..5).map(|k: i32| f64::from((i - k).abs())).collect()).collect();
    let arcs = [1e-3, 0.0, 1.0, 60.0];
    let arcs = arcs.iter().enumerate().map(|(i, &d)| Arc { i, j: i + 1, d }).collect();
    let cost = DenseCost::from_rows(&cost).unwrap();
    let problem = Problem::new(ProblemParts::untied(1.0, cost, arcs)).unwrap();
    let solution = solve_checked(&problem, 1e-2);
    assert_eq!(solution.z.row(1), solution.z.row(2));
    let exact = dense_optimum(&problem);
    assert!(solution.lower_bound <= exact.objective && solution.objective >= exact.lower_bound);
}

#[test]
fn a_map_where_nothing_is_local_is_refused() {
    // At eps * d = 1e-4 every place sees all 20,000 others.
    let n = 20_000;
    let arcs = (1..n).map(|j| Arc { i: j - 1, j, d: 1e-4 }).collect();
    let line: Shared<[f64]> = (0..n).map(|i| i as f64).collect();
    let cost = WeightedL1Cost::new(vec![1.0 / n as f64; n], vec![1.0], line.clone(), line).unwrap();
    let problem = Problem::new(ProblemParts::untied(1.0, cost, arcs)).unwrap();
    let refused = large::lower_bound(&problem);
    assert!(matches!(refused, Err(Error::TooLarge { .. })), "{refused:?}");
}

#[test]
fn uneven_priors_leave_a_strict_matrix_and_a_valid_bound() {
    // Valid, not always tight: priors over four orders of magnitude, some of them zero.
    for side in [7, 12] {
        let map = Map { uneven_prior: true, targets: 8, ..Map::square(side, 2.0) };
        let problem = map.problem();
        let exact = dense_optimum(&problem);
        let solution = solve_checked(&problem, 1e-2);
        assert!(solution.lower_bound <= exact.objective);
        assert!(solution.objective >= exact.lower_bound);
        assert!(solution.gap < 0.3, "{side}: gap {}", solution.gap);
    }
}

#[test]
fn a_claimed_bound_is_proven_again_from_its_duals_alone() {
    for (side, jitter, epsilon) in [(20, 0.6, 5.0), (20, 0.6, 2.0), (12, 0.0, 1.5)] {
        let problem = grid(side, jitter, epsilon, 5);
        let found = large::solve(&problem, &Settings::to_gap(1e-2)).unwrap();
        let again = large::proven_bound(&problem, &found.certificate.mu).unwrap();
        // As exactly as `lrgeo check` asks.
        let slack = 1e-9 * (found.lower_bound + problem.mean_cost());
        assert!(again >= found.lower_bound - slack, "{again} of {}", found.lower_bound);
        assert!(again <= found.objective);
        let raised: Vec<f64> = found.certificate.mu.iter().map(|mu| 1.5 * mu).collect();
        assert!(large::proven_bound(&problem, &raised).unwrap() <= found.objective);
    }
}

#[test]
fn nearly_optimal_duals_prove_nearly_the_optimum() {
    let map = Map { sixteen: true, holes: true, targets: 8, ..Map::square(12, 2.0) };
    let problem = map.problem();
    let exact = dense_optimum(&problem);
    let bound = large::lower_bound_from(&problem, &exact.certificate.mu).unwrap();
    assert!(bound.value <= exact.objective);
    assert!(bound.value >= (1.0 - 1e-3) * exact.objective, "{}", bound.value);
    let short = large::lower_bound_from(&problem, &exact.certificate.mu[1..]);
    assert!(short.is_err());
}
