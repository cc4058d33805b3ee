//! An honest answer at any moment: what is shown is what comes out, it holds, and it never becomes dearer.

#[path = "../../../bench/large/map.rs"]
#[allow(dead_code)]
mod map;

use lrgeo_optim::certificate::check;
use lrgeo_optim::{DenseMatrix, Engine, Matrix, Problem, Progress, Settings, Solution, solve};
use map::Map;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// 324 places at eps*spacing 0.47, where the closed form is not feasible.
fn fine_map() -> Problem {
    Map::square(18, 1.0).problem()
}

/// Solves, and stops when so many lines have been shown. Returns the lines too.
fn stopped_after(problem: &Problem, lines: usize, settings: Settings) -> (Solution, Vec<Progress>) {
    let cancel = Arc::new(AtomicBool::new(false));
    let shown = Arc::new(Mutex::new(Vec::new()));
    let (flag, list) = (cancel.clone(), shown.clone());
    let progress = move |progress: &Progress| {
        let mut list = list.lock().unwrap();
        list.push(*progress);
        flag.store(list.len() >= lines, Ordering::Relaxed);
    };
    let settings =
        Settings { cancel: Some(cancel), progress: Some(Arc::new(progress)), ..settings };
    let solution = solve(problem, &settings).unwrap();
    let shown = shown.lock().unwrap().clone();
    (solution, shown)
}

#[test]
fn what_is_shown_last_is_what_comes_out_and_costs_never_rise() {
    let problem = fine_map();
    let optimum = solve(&problem, &Settings::to_gap(1e-6)).unwrap();
    let mut before = f64::INFINITY;
    for lines in 1..=8 {
        let (solution, shown) = stopped_after(&problem, lines, Settings::to_gap(1e-6));
        let report = check(&problem, &solution.z, &[]);
        assert!(report.is_strict() && report.worst_row_sum_error <= 1e-12, "{lines}");
        assert_eq!(solution.objective, shown.last().unwrap().upper_bound, "{lines}");
        assert!(shown.windows(2).all(|pair| pair[1].upper_bound <= pair[0].upper_bound));
        assert!(solution.objective <= before, "{lines}");
        assert!(solution.lower_bound <= optimum.objective * (1.0 + 1e-9), "{lines}");
        // Without any optimiser: a mixture of kernels.
        assert!(solution.objective <= 1.2 * optimum.objective, "{lines}: {}", solution.objective);
        // The first matrix is there before the first pricing, and is not kept waiting for it.
        assert_eq!(solution.iterations == 0, lines == 1, "{lines}");
        before = solution.objective;
    }
}

#[test]
fn a_loose_gap_ends_long_before_a_vertex() {
    let problem = fine_map();
    let loose = solve(&problem, &Settings::to_gap(0.02)).unwrap();
    let tight = solve(&problem, &Settings::to_gap(1e-6)).unwrap();
    assert!(loose.gap <= 0.02 && loose.iterations < tight.iterations / 2, "{}", loose.iterations);
    assert!(loose.lower_bound <= tight.objective && tight.lower_bound <= loose.objective);
}

#[test]
fn nothing_dearer_comes_out_than_the_matrix_to_begin_with() {
    let problem = fine_map();
    let optimum = solve(&problem, &Settings::to_gap(1e-6)).unwrap();
    let start = Some(Arc::new(optimum.z.clone()));
    for engine in [Engine::Auto, Engine::Large] {
        let settings = Settings { start: start.clone(), engine, ..Settings::to_gap(1e-6) };
        let (solution, shown) = stopped_after(&problem, 1, settings);
        assert_eq!(solution.objective, optimum.objective, "{engine:?}");
        assert_eq!(shown[0].upper_bound, optimum.objective, "{engine:?}");
    }
}

#[test]
fn a_matrix_to_begin_with_that_does_not_hold_is_not_used() {
    let problem = fine_map();
    let rows = problem.rows();
    let mut everyone_at_home = DenseMatrix::zeros(rows, rows);
    (0..rows).for_each(|i| *everyone_at_home.at_mut(i, i) = 1.0);
    let start = Some(Arc::new(Matrix::Dense(everyone_at_home)));
    let solution = solve(&problem, &Settings { start, ..Settings::to_gap(0.05) }).unwrap();
    assert!(check(&problem, &solution.z, &[]).is_strict());
    assert!(solution.objective > 0.0);
}
