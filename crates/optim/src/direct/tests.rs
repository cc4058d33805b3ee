use super::*;
use crate::cost::DenseCost;
use crate::problem::{Arc, EntryBound, ProblemParts, Ties};
use crate::solution::Status;

/// Two places one apart, a miss costs 1: the optimum is 2 / (1 + e^eps).
fn two_places(epsilon: f64) -> ProblemParts {
    let cost = DenseCost::new(2, 2, vec![0.0, 1.0, 1.0, 0.0]).unwrap();
    ProblemParts::untied(epsilon, cost, vec![Arc { i: 0, j: 1, d: 1.0 }])
}

fn solved(parts: ProblemParts) -> Solution {
    solve(&Problem::new(parts).unwrap(), &Settings::default()).unwrap()
}

#[test]
fn two_places_have_their_closed_form() {
    for epsilon in [0.01, 0.1, 1.0, 3.0, 8.0] {
        let optimum = 2.0 / (1.0 + f64::exp(epsilon));
        let solution = solved(two_places(epsilon));
        assert!(solution.lower_bound <= optimum && optimum <= solution.objective);
        assert!(solution.objective - solution.lower_bound <= 1e-8, "{epsilon}: {solution:?}");
        assert_eq!(solution.status, Status::Optimal);
    }
}

#[test]
fn any_multipliers_give_a_valid_bound() {
    let ties = Ties::new(2, 2, &[None, None, Some(0.5), None]).unwrap();
    let bounds = vec![EntryBound { row: 0, column: 1, low: 0.1, high: 0.6 }];
    let parts = ProblemParts { ties: Some(ties), bounds, ..two_places(1.0) };
    let problem = Problem::new(parts).unwrap();
    let optimum = solve(&problem, &Settings::default()).unwrap().objective;
    let program = Program::new(&problem, vec![0, 1]);
    let mut state = 1_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as f64 / f64::from(1_u32 << 30) - 1.0
    };
    let mut best = f64::NEG_INFINITY;
    for _ in 0..20_000 {
        let mu = (0..2).map(|_| random()).collect();
        let lambda = program.inequalities.iter().map(|_| random()).collect();
        let multipliers = Multipliers { mu, lambda };
        let bound = program.affine_bound(&multipliers, Costs::Counted);
        best = best.max(program.bound_for_all_y(bound).constant);
    }
    assert!(best <= optimum);
    assert!(best > 0.5 * optimum, "the bounds should come near the optimum now and then");
}

#[test]
fn rows_at_distance_zero_come_out_equal() {
    let cost = DenseCost::new(3, 2, vec![0.0, 1.0, 1.0, 0.0, 0.3, 0.4]).unwrap();
    let arcs = vec![Arc { i: 0, j: 1, d: 0.0 }, Arc { i: 1, j: 2, d: 0.3 }];
    let solution = solved(ProblemParts::untied(2.0, cost, arcs));
    assert_eq!(solution.z.row(0), solution.z.row(1));
    assert!(solution.certificate.worst_log_excess <= 0.0);
}

#[test]
fn an_infeasible_problem_names_a_row() {
    let bounds = vec![
        EntryBound { row: 1, column: 0, low: 0.0, high: 0.3 },
        EntryBound { row: 1, column: 1, low: 0.0, high: 0.3 },
    ];
    let problem = Problem::new(ProblemParts { bounds, ..two_places(1.0) }).unwrap();
    let error = solve(&problem, &Settings::default()).unwrap_err();
    assert!(matches!(error, Error::Infeasible { row: 1, .. }), "{error}");
}

#[test]
fn a_stop_before_the_start_is_an_error_not_a_matrix() {
    let problem = Problem::new(two_places(1.0)).unwrap();
    let cancel = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    let settings = Settings { cancel: Some(cancel), ..Settings::default() };
    assert_eq!(solve(&problem, &settings).unwrap_err(), Error::StoppedEarly);
}
