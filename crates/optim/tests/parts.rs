//! Problems that fall apart: rows at one spot are solved as one, independent parts by themselves.

mod common;

use common::{Kind, Random, case};
use lrgeo_optim::bound::proven_bound;
use lrgeo_optim::certificate::check;
use lrgeo_optim::colgen::{self, WarmStart};
use lrgeo_optim::{
    Arc, DenseCost, EntryBound, Error, Problem, ProblemParts, Settings, Status, Ties,
};
use std::sync::Mutex;

/// Solved as a whole: what nothing takes apart.
fn whole(problem: &Problem) -> Result<lrgeo_optim::Solution, Error> {
    colgen::solve_from(problem, &Settings::default(), &mut WarmStart::default())
}

/// Two problems side by side, without an arc between them; their columns are the same.
fn side_by_side(first: &Problem, second: &Problem) -> Problem {
    let columns = first.columns().min(second.columns());
    let problems = [(first, 0), (second, first.rows())];
    let (mut costs, mut arcs) = (Vec::new(), Vec::new());
    for (problem, offset) in problems {
        for i in 0..problem.rows() {
            costs.extend((0..columns).map(|k| problem.cost().at(i, k)));
        }
        let moved = |arc: &Arc| Arc { i: arc.i + offset, j: arc.j + offset, d: arc.d };
        arcs.extend(problem.arcs().iter().map(moved));
    }
    let cost = DenseCost::new(first.rows() + second.rows(), columns, costs).unwrap();
    Problem::new(ProblemParts::untied(first.epsilon(), cost, arcs)).unwrap()
}

#[test]
fn parts_cost_what_the_whole_costs() {
    for seed in 0..20 {
        for eps_spacing in [0.3, 1.0, 4.0] {
            let first = case(Kind::Untied, seed, eps_spacing).problem;
            let second = case(Kind::UnevenPrior, seed + 100, eps_spacing).problem;
            let problem = side_by_side(&first, &second);
            let apart = colgen::solve(&problem, &Settings::default()).unwrap();
            let joint = whole(&problem).unwrap();
            let tolerance = 1e-6 * joint.objective + 1e-8 * problem.mean_cost();
            assert_eq!(apart.status, Status::Optimal, "seed {seed}: {}", apart.gap);
            assert!((apart.objective - joint.objective).abs() <= tolerance, "seed {seed}");
            assert!((apart.lower_bound - joint.lower_bound).abs() <= tolerance, "seed {seed}");
            assert!(apart.lower_bound <= joint.objective && joint.lower_bound <= apart.objective);
            let report = check(&problem, &apart.z, &apart.y);
            assert!(report.is_strict() && report.worst_row_sum_error <= 1e-12, "{report:?}");
            // The duals of the parts prove the bound of the whole.
            let proven = proven_bound(&problem, &apart.certificate.mu).unwrap();
            assert!(proven >= apart.lower_bound - tolerance, "seed {seed}: {proven}");
            let last = apart.trace.last().unwrap();
            assert!((last.lower_bound - apart.lower_bound).abs() <= tolerance);
        }
    }
}

#[test]
fn a_fixed_y_lets_users_stand_alone() {
    let mut feasible = 0;
    for seed in 0..40 {
        let problem = case(Kind::FixedY, seed, 1.0).problem;
        match (colgen::solve(&problem, &Settings::default()), whole(&problem)) {
            (Ok(apart), Ok(joint)) => {
                feasible += 1;
                let tolerance = 1e-6 * joint.objective + 1e-8 * problem.mean_cost();
                assert!((apart.objective - joint.objective).abs() <= tolerance, "seed {seed}");
                assert!((apart.lower_bound - joint.lower_bound).abs() <= tolerance, "seed {seed}");
                assert_eq!(apart.y, problem.fixed_y().unwrap());
            }
            (Err(Error::Infeasible { row, .. }), Err(Error::Infeasible { .. })) => {
                assert!(row < problem.rows());
            }
            (apart, joint) => panic!("seed {seed}: {apart:?}, {joint:?}"),
        }
    }
    assert!(feasible >= 20, "{feasible}");
}

#[test]
fn an_infeasible_part_is_named_by_its_row_in_the_whole() {
    // Rows 0 and 1 are joined; row 2 stands alone, and its caps leave it below 1.
    let cost = DenseCost::new(3, 2, vec![1.0, 2.0, 2.0, 1.0, 1.0, 1.0]).unwrap();
    let bounds = (0..2).map(|column| EntryBound { row: 2, column, low: 0.0, high: 0.4 }).collect();
    let arcs = vec![Arc { i: 0, j: 1, d: 1.0 }];
    let parts = ProblemParts { bounds, ..ProblemParts::untied(1.0, cost, arcs) };
    let problem = Problem::new(parts).unwrap();
    let found = colgen::solve(&problem, &Settings::default());
    assert!(matches!(found, Err(Error::Infeasible { row: 2, .. })), "{found:?}");
}

#[test]
fn progress_adds_the_parts_up() {
    let mut problems = (0..).map(|seed| case(Kind::Untied, seed, 1.0).problem);
    let first = problems.find(|problem| problem.arcs().len() > problem.rows()).unwrap();
    let problem = side_by_side(&first, &first);
    let told = std::sync::Arc::new(Mutex::new(Vec::new()));
    let listener = told.clone();
    let settings = Settings {
        progress: Some(std::sync::Arc::new(move |progress| {
            listener.lock().unwrap().push(*progress);
        })),
        ..Settings::default()
    };
    let solution = colgen::solve(&problem, &settings).unwrap();
    let told = told.lock().unwrap();
    let last = told.last().unwrap();
    assert!(told.len() >= 2);
    assert!((last.lower_bound / solution.lower_bound - 1.0).abs() <= 1e-6, "{last:?}");
}

#[test]
fn nothing_costs_nothing() {
    let arcs = vec![Arc { i: 0, j: 1, d: 1.0 }, Arc { i: 1, j: 2, d: 0.5 }];
    let cost = DenseCost::new(3, 4, vec![0.0; 12]).unwrap();
    let problem = Problem::new(ProblemParts::untied(1.0, cost, arcs)).unwrap();
    let solution = colgen::solve(&problem, &Settings::default()).unwrap();
    assert_eq!((solution.objective, solution.lower_bound, solution.gap), (0.0, 0.0, 0.0));
    assert!(check(&problem, &solution.z, &solution.y).is_strict());
}

/// Three rows, of which 0 and 1 stand at one spot.
fn coincident(ties: Option<[Option<f64>; 9]>, bounds: Vec<EntryBound>) -> Problem {
    let mut random = Random::new(3);
    let cost = DenseCost::new(3, 3, (0..9).map(|_| random.unit()).collect()).unwrap();
    let arcs = [(0, 1, 0.0), (0, 2, 1.0), (1, 2, 1.3)].map(|(i, j, d)| Arc { i, j, d });
    let ties = ties.map(|factors| Ties::new(3, 3, &factors).unwrap());
    let parts = ProblemParts::untied(1.0, cost, arcs.to_vec());
    Problem::new(ProblemParts { ties, bounds, ..parts }).unwrap()
}

#[test]
fn rows_at_one_spot_share_ties_and_bounds() {
    let f = Some(0.5);
    let cases = [
        ("free", coincident(None, vec![])),
        (
            "one of them tied",
            coincident(Some([f, None, None, None, None, None, None, None, f]), vec![]),
        ),
        (
            "contradicting ties: y is zero",
            coincident(Some([f, None, None, Some(0.4), None, None, None, None, f]), vec![]),
        ),
        (
            "a bound on each",
            coincident(
                None,
                vec![
                    EntryBound { row: 0, column: 0, low: 0.1, high: 0.6 },
                    EntryBound { row: 1, column: 0, low: 0.2, high: 0.9 },
                ],
            ),
        ),
        (
            "one tied, the other bounded",
            coincident(
                Some([f, None, None, None, None, None, None, None, None]),
                vec![EntryBound { row: 1, column: 0, low: 0.1, high: 0.3 }],
            ),
        ),
    ];
    for (name, problem) in cases {
        let solution = colgen::solve(&problem, &Settings::default()).unwrap();
        let report = check(&problem, &solution.z, &solution.y);
        assert!(report.is_strict() && report.worst_row_sum_error <= 1e-12, "{name}: {report:?}");
        assert_eq!(solution.status, Status::Optimal, "{name}: {}", solution.gap);
        assert_eq!(solution.z.row(0), solution.z.row(1), "{name}");
        let proven = proven_bound(&problem, &solution.certificate.mu).unwrap();
        assert!(proven >= solution.lower_bound - 1e-9, "{name}: {proven}");
    }
    let apart = vec![
        EntryBound { row: 0, column: 0, low: 0.0, high: 0.2 },
        EntryBound { row: 1, column: 0, low: 0.3, high: 1.0 },
    ];
    let found = colgen::solve(&coincident(None, apart), &Settings::default());
    assert!(matches!(found, Err(Error::Infeasible { row: 0 | 1, .. })), "{found:?}");
}
