//! Giving up at once, in the middle of an iteration that somebody made long.

use std::sync::Arc as Shared;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use lrgeo_optim::{Arc, DenseCost, Error, Problem, ProblemParts, Settings, colgen};

/// Rows that are all as far from each other, at one price: every tree is as good as any other, and pricing turns them around
/// until its pivots are used up. One iteration takes seconds.
fn all_alike(rows: usize, columns: usize) -> Problem {
    let pairs = (0..rows).flat_map(|i| (0..i).map(move |j| Arc { i, j, d: 0.5 }));
    let cost = DenseCost::new(rows, columns, vec![1.0; rows * columns]).unwrap();
    Problem::new(ProblemParts::untied(2.0, cost, pairs.collect())).unwrap()
}

#[test]
fn a_solve_that_is_given_up_ends_at_once_and_with_nothing() {
    let problem = all_alike(200, 400);
    let abort = Shared::new(AtomicBool::new(false));
    let settings = Settings { abort: Some(abort.clone()), threads: 1, ..Settings::default() };
    let raised = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        abort.store(true, Ordering::Relaxed);
        Instant::now()
    });
    let solved = colgen::solve(&problem, &settings);
    let ended = Instant::now();
    assert_eq!(solved.unwrap_err(), Error::StoppedEarly);
    let late = ended.saturating_duration_since(raised.join().unwrap());
    assert!(late < Duration::from_secs(5), "{late:?}");
}

#[test]
fn a_flag_that_is_not_raised_changes_nothing() {
    let problem = all_alike(12, 20);
    let settings = Settings { abort: Some(Shared::default()), ..Settings::default() };
    let watched = colgen::solve(&problem, &settings).unwrap();
    let free = colgen::solve(&problem, &Settings::default()).unwrap();
    assert_eq!((watched.objective, watched.lower_bound), (free.objective, free.lower_bound));
}
