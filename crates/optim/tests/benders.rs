//! Benders' decomposition: the paper's claims, and agreement with column generation.

mod common;

use common::round;
use lrgeo_optim::benders::{self, Guide, Options, PAPER_GAP};
use lrgeo_optim::bound::proven_bound;
use lrgeo_optim::certificate::check;
use lrgeo_optim::{Error, Problem, Settings, Status, colgen};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Problems with something to share: users of different sizes, near and far apart, tight and wide ranges.
fn problems() -> Vec<Problem> {
    vec![
        round(7, 4, 20, 5.0, 1.0, 2.0),
        round(6, 3, 9, 4.0, 0.7, 1.5),
        round(5, 10, 6, 8.0, 0.5, 1.0),
        round(6, 1, 20, 3.0, 1.0, 1.5),
        round(8, 2, 8, 3.0, 1.1, 2.2),
        round(12, 4, 20, 2.0, 1.0, 4.0),
    ]
}

/// Proposition 4.2: at every iteration the bounds bracket the optimum; and they only ever close in.
#[test]
fn bounds_bracket_the_optimum_and_only_close_in() {
    for problem in problems() {
        let optimum = colgen::solve(&problem, &Settings::default()).unwrap();
        let solution = benders::solve(&problem, &Settings::default()).unwrap();
        assert_eq!(solution.status, Status::Optimal);
        let tolerance = 1e-6 * optimum.objective;
        assert!((solution.objective - optimum.objective).abs() <= tolerance);
        assert!(solution.lower_bound <= optimum.objective);
        assert!(solution.objective >= optimum.lower_bound);
        assert!(solution.trace.len() > 2 && solution.trace.len() <= 12, "{}", solution.iterations);
        for point in &solution.trace {
            assert!(point.lower_bound <= optimum.objective, "{point:?}");
            assert!(point.upper_bound >= optimum.lower_bound, "{point:?}");
        }
        for pair in solution.trace.windows(2) {
            assert!(pair[1].lower_bound >= pair[0].lower_bound);
            assert!(pair[1].upper_bound <= pair[0].upper_bound);
        }
    }
}

/// The paper's stopping rule: 0.01 km per report (costs here are per report already).
#[test]
fn the_papers_gap_is_reached_in_a_few_iterations() {
    let settings = Settings::to_gap(0.0);
    for problem in problems() {
        let solution = benders::solve_with(&problem, &settings, &Options::default()).unwrap();
        assert_eq!(solution.status, Status::Gap);
        assert!(solution.objective - solution.lower_bound <= PAPER_GAP);
        assert!(solution.iterations <= 8, "{} iterations", solution.iterations);
    }
}

/// To the letter, y from the master, and the middle between that and the best y: both reach the paper's 0.01 km on small rounds, within
/// it of the optimum, and at every iteration the bounds of Proposition 4.2 bracket the optimum and only ever close in.
#[test]
fn plain_benders_reaches_the_papers_gap_on_small_rounds_and_agrees_with_the_optimum() {
    let rounds = [
        round(4, 2, 6, 4.0, 0.7, 1.5),
        round(6, 3, 9, 4.0, 0.7, 1.5),
        round(5, 3, 6, 10.0, 1.0, 1.5),
    ];
    for problem in rounds {
        let optimum = colgen::solve(&problem, &Settings::default()).unwrap();
        for guide in [Guide::Master, Guide::InOut] {
            let options = Options { guide, ..Options::default() };
            let solution = benders::solve_with(&problem, &Settings::to_gap(0.0), &options).unwrap();
            assert_eq!(solution.status, Status::Gap, "{guide:?}");
            assert!(solution.objective - solution.lower_bound <= PAPER_GAP, "{guide:?}");
            assert!(solution.objective - optimum.objective <= PAPER_GAP, "{guide:?}");
            assert!(solution.objective >= optimum.lower_bound, "{guide:?}");
            assert!(check(&problem, &solution.z, &solution.y).is_strict());
            for point in &solution.trace {
                assert!(point.lower_bound <= optimum.objective, "{guide:?} {point:?}");
                assert!(point.upper_bound >= optimum.lower_bound, "{guide:?} {point:?}");
            }
            for pair in solution.trace.windows(2) {
                assert!(pair[1].lower_bound >= pair[0].lower_bound);
                assert!(pair[1].upper_bound <= pair[0].upper_bound);
            }
        }
    }
}

/// Where guesses keep falling on the edge of what is feasible, plain Benders finds no matrix in time: then it says so, and not that
/// there is none.
#[test]
fn plain_benders_that_finds_nothing_in_time_does_not_call_it_infeasible() {
    let problem = round(7, 4, 20, 5.0, 1.0, 2.0);
    let options = Options { guide: Guide::Master, ..Options::default() };
    let settings =
        Settings { time_limit: Some(Duration::from_millis(500)), ..Settings::to_gap(0.0) };
    match benders::solve_with(&problem, &settings, &options) {
        Ok(solution) => assert!(check(&problem, &solution.z, &solution.y).is_strict()),
        Err(error) => assert!(!matches!(error, Error::Infeasible { .. }), "{error}"),
    }
}

/// The row duals alone prove the bound again, by pricing that Benders has no part in.
#[test]
fn the_dual_vector_proves_the_bound() {
    for problem in problems() {
        let solution = benders::solve(&problem, &Settings::default()).unwrap();
        let proven = proven_bound(&problem, &solution.certificate.mu).unwrap();
        let slack = 1e-9 * solution.objective;
        assert!(proven >= solution.lower_bound - slack, "{proven} {}", solution.lower_bound);
    }
}

#[test]
fn a_cancelled_solve_returns_the_best_so_far() {
    let problem = round(7, 4, 20, 5.0, 1.0, 2.0);
    let cancel = std::sync::Arc::new(AtomicBool::new(false));
    let flag = cancel.clone();
    let settings = Settings {
        cancel: Some(cancel),
        progress: Some(std::sync::Arc::new(move |progress| {
            flag.store(progress.iteration >= 2, Ordering::Relaxed);
        })),
        ..Settings::default()
    };
    let solution = benders::solve(&problem, &settings).unwrap();
    assert_eq!(solution.status, Status::Limit);
    assert_eq!(solution.iterations, 2);
    assert!(check(&problem, &solution.z, &solution.y).is_strict());
    assert!(solution.lower_bound > 0.0 && solution.lower_bound < solution.objective);
}
