//! Column generation against a general LP solver on small random problems of every kind.

use lrgeo_optim::{
    Arc, DenseCost, EntryBound, Error, Problem, ProblemParts, Settings, Status, Ties, bound,
    certificate, colgen,
};

/// A small deterministic generator (SplitMix64): fixed seeds, the same problems everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() * limit as f64) as usize
    }
}

/// The whole LP through `microlp`; `None` when it says infeasible.
fn oracle(problem: &Problem) -> Option<f64> {
    use microlp::{ComparisonOp, OptimizationDirection};
    let mut lp = microlp::Problem::new(OptimizationDirection::Minimize);
    let (rows, columns) = (problem.rows(), problem.columns());
    let y: Vec<_> = (0..columns)
        .map(|k| match problem.fixed_y() {
            Some(y) => lp.add_var(0.0, (y[k], y[k])),
            None => lp.add_var(0.0, (0.0, f64::INFINITY)),
        })
        .collect();
    let mut limits = vec![(0.0, f64::INFINITY); rows * columns];
    for bound in problem.bounds() {
        limits[bound.row * columns + bound.column] = (bound.low, bound.high);
    }
    let mut z = Vec::new();
    for i in 0..rows {
        for k in 0..columns {
            z.push(lp.add_var(problem.cost().at(i, k), limits[i * columns + k]));
        }
    }
    for i in 0..rows {
        let sum: Vec<_> = (0..columns).map(|k| (z[i * columns + k], 1.0)).collect();
        lp.add_constraint(&sum[..], ComparisonOp::Eq, 1.0);
        for k in 0..columns {
            if let Some(factor) = problem.tie(i, k) {
                let tie = [(z[i * columns + k], 1.0), (y[k], -factor)];
                lp.add_constraint(&tie[..], ComparisonOp::Eq, 0.0);
            }
        }
    }
    for arc in problem.arcs() {
        let shrink = (-problem.epsilon() * arc.d).exp();
        for k in 0..columns {
            for (i, j) in [(arc.i, arc.j), (arc.j, arc.i)] {
                let pair = [(z[i * columns + k], shrink), (z[j * columns + k], -1.0)];
                lp.add_constraint(&pair[..], ComparisonOp::Le, 0.0);
            }
        }
    }
    match lp.solve() {
        Ok(microlp::SolveOutcome::Solution(solution)) => Some(solution.objective()),
        _ => None,
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Untied,
    Disconnected,
    EvenGrid,
    Tied,
    FixedY,
    Bounds,
    TiedAndBounds,
}

fn random_problem(shape: Shape, seed: u64) -> Problem {
    let mut random = Random(seed);
    let groups =
        if matches!(shape, Shape::Tied | Shape::TiedAndBounds) { 1 + random.below(3) } else { 1 };
    let per_group = 3 + random.below(6);
    let rows = groups * per_group;
    let columns = 3 + random.below(7);
    let spacing_epsilon = 0.05 * 160.0_f64.powf(random.next());
    let side = 3.0;
    let place = |random: &mut Random, i: usize| {
        if shape == Shape::EvenGrid {
            ((i % 3) as f64, (i / 3) as f64)
        } else {
            (random.next() * side, random.next() * side)
        }
    };
    let places: Vec<(f64, f64)> = (0..rows).map(|i| place(&mut random, i)).collect();
    let reported: Vec<(f64, f64)> = (0..columns).map(|k| place(&mut random, k)).collect();
    let far = |a: (f64, f64), b: (f64, f64)| (a.0 - b.0).hypot(a.1 - b.1);
    let reach = if shape == Shape::Disconnected { 0.8 } else { 10.0 };
    let mut arcs = Vec::new();
    for i in 0..rows {
        for j in 0..i {
            let d = far(places[i], places[j]);
            if i / per_group == j / per_group && d <= reach {
                arcs.push(Arc { i, j, d });
            }
        }
    }
    let cost: Vec<f64> = (0..rows * columns)
        .map(|e| far(places[e / columns], reported[e % columns]) * (0.5 + random.next()))
        .collect();
    let tied = matches!(shape, Shape::Tied | Shape::FixedY | Shape::TiedAndBounds);
    let radius = 0.8 + 1.5 * random.next();
    let ties = tied.then(|| {
        let entries: Vec<Option<f64>> = (0..rows * columns)
            .map(|e| {
                let d = far(places[e / columns], reported[e % columns]);
                (d > radius).then(|| (-spacing_epsilon * d.min(2.0) / 2.0).exp())
            })
            .collect();
        Ties::new(rows, columns, &entries).unwrap()
    });
    let fixed_y = (shape == Shape::FixedY)
        .then(|| (0..columns).map(|_| (0.2 + random.next()) / (2.0 * columns as f64)).collect());
    let mut bounds = Vec::new();
    if matches!(shape, Shape::Bounds | Shape::TiedAndBounds) {
        for row in 0..rows {
            for column in 0..columns {
                let free = ties.as_ref().is_none_or(|ties| ties.at(row, column).is_none());
                if free && random.next() < 0.2 {
                    let (low, width) = (random.next() * 0.5 / columns as f64, random.next());
                    bounds.push(EntryBound { row, column, low, high: low + width });
                }
            }
        }
    }
    Problem::new(ProblemParts {
        epsilon: spacing_epsilon,
        groups: (0..rows).map(|i| i / per_group).collect(),
        cost: Box::new(DenseCost::new(rows, columns, cost).unwrap()),
        arcs,
        ties,
        bounds,
        fixed_y,
    })
    .unwrap()
}

fn compare(shape: Shape, seeds: std::ops::Range<u64>) {
    let (mut solved, mut infeasible) = (0, 0);
    for seed in seeds {
        let problem = random_problem(shape, seed);
        let optimum = oracle(&problem);
        let settings = Settings { threads: 1, ..Settings::to_gap(1e-7) };
        match colgen::solve(&problem, &settings) {
            Ok(solution) => {
                let optimum =
                    optimum.unwrap_or_else(|| panic!("seed {seed}: oracle says infeasible"));
                let scale = 1e-6 * optimum + 1e-8 * problem.mean_cost();
                assert!(
                    (solution.objective - optimum).abs() <= scale,
                    "seed {seed}: {} against {optimum}",
                    solution.objective
                );
                assert!(
                    solution.lower_bound <= optimum + scale,
                    "seed {seed}: bound {} above {optimum}, objective {}, scale {scale:e}",
                    solution.lower_bound,
                    solution.objective
                );
                assert_eq!(solution.status, Status::Optimal, "seed {seed}: gap {}", solution.gap);
                let again = bound::proven_bound(&problem, &solution.certificate.mu).unwrap();
                let difference = again - solution.lower_bound;
                assert!(difference >= -1e-7 * optimum, "seed {seed}: proof off by {difference:e}");
                let report = certificate::check(&problem, &solution.z, &solution.y);
                assert!(report.is_strict(), "seed {seed}: {report:?}");
                assert!(report.worst_row_sum_error < 1e-11, "seed {seed}: {report:?}");
                solved += 1;
            }
            Err(Error::Infeasible { .. }) => {
                assert!(optimum.is_none(), "seed {seed}: the oracle finds {optimum:?}");
                infeasible += 1;
            }
            Err(error) => panic!("seed {seed}: {error}, oracle {optimum:?}"),
        }
    }
    assert!(solved > 0, "{infeasible} infeasible, none solved");
}

#[test]
fn untied_problems_agree_with_the_oracle() {
    compare(Shape::Untied, 0..30);
}

#[test]
fn disconnected_problems_agree_with_the_oracle() {
    compare(Shape::Disconnected, 100..130);
}

#[test]
fn symmetric_grids_agree_with_the_oracle() {
    compare(Shape::EvenGrid, 200..230);
}

#[test]
fn tied_problems_agree_with_the_oracle() {
    compare(Shape::Tied, 300..330);
}

#[test]
fn fixed_y_agrees_with_the_oracle() {
    compare(Shape::FixedY, 400..430);
}

#[test]
fn bounded_problems_agree_with_the_oracle() {
    compare(Shape::Bounds, 500..530);
}

#[test]
fn tied_and_bounded_problems_agree_with_the_oracle() {
    compare(Shape::TiedAndBounds, 600..630);
}

/// A jittered grid with straight-line costs.
fn grid(side: usize, epsilon: f64) -> Problem {
    let mut random = Random(7);
    let places: Vec<(f64, f64)> = (0..side * side)
        .map(|v| {
            let mut around = |c: usize| c as f64 + 0.2 * (random.next() - 0.5);
            (around(v % side), around(v / side))
        })
        .collect();
    let far = |i: usize, j: usize| (places[i].0 - places[j].0).hypot(places[i].1 - places[j].1);
    let n = places.len();
    let cost = (0..n * n).map(|e| far(e / n, e % n)).collect();
    let mut arcs = Vec::new();
    for i in 0..n {
        for j in 0..i {
            if far(i, j) <= 1.7 {
                arcs.push(Arc { i, j, d: far(i, j) });
            }
        }
    }
    let cost = DenseCost::new(n, n, cost).unwrap();
    Problem::new(ProblemParts::untied(epsilon, cost, arcs)).unwrap()
}

#[test]
fn every_arc_strength_is_solved_and_strict() {
    for epsilon in [1e-3, 0.02, 0.3, 1.0, 4.0, 12.0, 30.0, 60.0] {
        let problem = grid(5, epsilon);
        let solution = colgen::solve(&problem, &Settings { threads: 1, ..Settings::default() })
            .unwrap_or_else(|error| panic!("eps {epsilon}: {error}"));
        assert_eq!(solution.status, Status::Optimal, "eps {epsilon}: {}", solution.gap);
        assert!(
            certificate::check(&problem, &solution.z, &solution.y).is_strict(),
            "eps {epsilon}"
        );
        assert!(solution.lower_bound <= solution.objective);
    }
}

/// The same places, rows weighed from nothing to ten times as much.
fn uneven(problem: &Problem) -> Problem {
    let mut random = Random(11);
    let (rows, columns) = (problem.rows(), problem.columns());
    let mut values = Vec::new();
    for i in 0..rows {
        let visited = random.next() > 0.1;
        let weight = if visited { 10_f64.powf(3.0 * random.next() - 2.0) } else { 0.0 };
        values.extend((0..columns).map(|k| weight * problem.cost().at(i, k)));
    }
    problem.with_cost(DenseCost::new(rows, columns, values).unwrap()).unwrap()
}

#[test]
fn uneven_priors_are_solved_in_a_few_dozen_iterations() {
    for (epsilon, most) in [(0.5, 60), (1.0, 45), (2.0, 35)] {
        let problem = uneven(&grid(12, epsilon));
        let solution = colgen::solve(&problem, &Settings::default()).unwrap();
        assert_eq!(solution.status, Status::Optimal, "eps {epsilon}: {}", solution.gap);
        assert!(solution.iterations <= most, "eps {epsilon}: {}", solution.iterations);
    }
}

#[test]
fn the_closed_form_ends_a_solve_where_it_is_the_optimum() {
    for epsilon in [6.0, 12.0] {
        let problem = grid(8, epsilon);
        let solution = colgen::solve(&problem, &Settings::default()).unwrap();
        assert_eq!((solution.status, solution.iterations), (Status::Optimal, 1), "eps {epsilon}");
        assert!(
            certificate::check(&problem, &solution.z, &solution.y).is_strict(),
            "eps {epsilon}"
        );
        // A gap that rounding does not allow sends it on through the interior point to the same optimum.
        let further = colgen::solve(&problem, &Settings::to_gap(1e-9)).unwrap();
        assert!((further.objective - solution.objective).abs() <= 2e-6 * solution.objective);
    }
}

#[test]
fn a_stop_at_any_time_leaves_a_strict_matrix_and_a_valid_bound() {
    let problem = grid(6, 0.5);
    let optimum = colgen::solve(&problem, &Settings::default()).unwrap();
    for allowed in [1, 2, 4, 8] {
        let cancel = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let flag = cancel.clone();
        let settings = Settings {
            cancel: Some(cancel),
            progress: Some(std::sync::Arc::new(move |progress| {
                flag.store(progress.iteration >= allowed, std::sync::atomic::Ordering::Relaxed);
            })),
            ..Settings::to_gap(1e-9)
        };
        let stopped = colgen::solve(&problem, &settings).unwrap();
        assert!(stopped.iterations <= allowed);
        assert!(certificate::check(&problem, &stopped.z, &stopped.y).is_strict());
        assert!(stopped.lower_bound <= optimum.objective);
        assert!(stopped.objective >= optimum.lower_bound);
    }
}

#[test]
fn a_warm_start_changes_the_time_not_the_answer() {
    let problem = grid(6, 1.0);
    let mut warm = colgen::WarmStart::default();
    colgen::solve_from(&problem, &Settings::default(), &mut warm).unwrap();
    let other = problem.with_epsilon(1.1).unwrap();
    assert!(warm.fits(&other));
    let cold = colgen::solve(&other, &Settings::default()).unwrap();
    let from = colgen::solve_from(&other, &Settings::default(), &mut warm).unwrap();
    assert!((cold.objective - from.objective).abs() <= 2e-6 * cold.objective);
    assert!(!warm.fits(&grid(5, 1.0)), "another structure must not fit");
}

#[test]
fn rows_at_distance_zero_get_equal_rows_and_free_costs_cost_nothing() {
    let cost = DenseCost::new(3, 2, vec![0.0, 1.0, 1.0, 0.0, 0.5, 0.5]).unwrap();
    let arcs = vec![Arc { i: 0, j: 1, d: 0.0 }, Arc { i: 1, j: 2, d: 1.0 }];
    let problem = Problem::new(ProblemParts::untied(1.0, cost, arcs.clone())).unwrap();
    let solution = colgen::solve(&problem, &Settings::default()).unwrap();
    assert_eq!(solution.z.row(0), solution.z.row(1));
    assert!((solution.objective - 1.5).abs() < 1e-6);
    let nothing = DenseCost::new(3, 2, vec![0.0; 6]).unwrap();
    let problem = Problem::new(ProblemParts::untied(1.0, nothing, arcs)).unwrap();
    let solution = colgen::solve(&problem, &Settings::default()).unwrap();
    assert_eq!((solution.objective, solution.lower_bound), (0.0, 0.0));
}

#[test]
fn an_infeasible_row_is_named() {
    // Both entries of row 1 are tied to factors that sum up to less than row 0 allows.
    let ties = Ties::new(2, 2, &[Some(1.0), Some(1.0), Some(0.5), Some(0.5)]).unwrap();
    let mut parts =
        ProblemParts::untied(1.0, DenseCost::new(2, 2, vec![1.0; 4]).unwrap(), Vec::new());
    parts.ties = Some(ties);
    let problem = Problem::new(parts).unwrap();
    let error = colgen::solve(&problem, &Settings::default()).unwrap_err();
    assert!(matches!(error, Error::Infeasible { row: 0 | 1, .. }), "{error}");
}

#[test]
fn a_foreign_dual_vector_still_gives_a_valid_bound() {
    let problem = grid(4, 0.7);
    let optimum = colgen::solve(&problem, &Settings::default()).unwrap();
    let mut random = Random(3);
    for _ in 0..20 {
        let scale = optimum.objective / 4.0 * random.next();
        let mu: Vec<f64> = (0..16).map(|_| scale * (random.next() - 0.2)).collect();
        assert!(bound::proven_bound(&problem, &mu).unwrap() <= optimum.objective);
    }
    assert!(bound::proven_bound(&problem, &[f64::NAN; 16]).is_err());
    assert!(bound::proven_bound(&problem, &[0.0; 3]).is_err());
}
