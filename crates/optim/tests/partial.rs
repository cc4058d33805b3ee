//! Leaving columns out changes the time, never the answer.

mod common;

use common::{KINDS, case, round};
use lrgeo_optim::bound::proven_bound;
use lrgeo_optim::certificate::check;
use lrgeo_optim::presolve::idle_columns;
use lrgeo_optim::{Error, Problem, Settings, Status, colgen};

/// The answer is that of the whole problem, and so is its proof.
fn agrees(problem: &Problem) {
    let settings = Settings::default();
    let whole = colgen::solve(problem, &settings);
    let parts = idle_columns::solve(problem, &settings, colgen::solve);
    let (whole, parts) = match (whole, parts) {
        (Ok(whole), Ok(parts)) => (whole, parts),
        (Err(Error::Infeasible { .. }), Err(Error::Infeasible { .. })) => return,
        (whole, parts) => panic!("{whole:?} {parts:?}"),
    };
    assert_eq!(parts.status, Status::Optimal);
    let tolerance = 1e-6 * whole.objective + 1e-8 * problem.mean_cost();
    assert!((parts.objective - whole.objective).abs() <= tolerance);
    assert!(parts.lower_bound <= whole.objective && whole.lower_bound <= parts.objective);
    assert!(check(problem, &parts.z, &parts.y).is_strict());
    let proven = proven_bound(problem, &parts.certificate.mu).unwrap();
    assert!(proven >= parts.lower_bound - tolerance, "{proven} {}", parts.lower_bound);
}

#[test]
fn on_random_problems_of_every_kind() {
    for kind in KINDS {
        for eps_spacing in [0.1, 1.0, 4.0, 15.0] {
            for seed in 0..4 {
                agrees(&case(kind, seed, eps_spacing).problem);
            }
        }
    }
}

/// From rounds where a handful of columns suffice to rounds where those left out are missed.
#[test]
fn on_rounds_of_every_epsilon() {
    for epsilon in [0.05, 0.3, 1.0, 3.0, 10.0] {
        agrees(&round(12, 3, 9, epsilon, 3.0, 4.0));
        agrees(&round(12, 3, 9, epsilon, 1.0, 2.0));
    }
}

/// What is far from all users is left at zero.
#[test]
fn far_columns_are_not_used() {
    let problem = round(14, 2, 9, 5.0, 1.0, 2.0);
    let solution = idle_columns::solve(&problem, &Settings::default(), colgen::solve).unwrap();
    let unused = (0..problem.columns()).filter(|&k| {
        (0..problem.rows()).all(|i| solution.z.at(i, k) == 0.0) && solution.y[k] == 0.0
    });
    assert!(2 * unused.count() > problem.columns());
}
