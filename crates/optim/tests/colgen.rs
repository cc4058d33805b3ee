//! Column generation against a general LP solver on small random problems of every kind.

use lrgeo_optim::{
    Arc, DenseCost, EntryBound, Error, Problem, ProblemParts, Settings, Status, Ties, bound, check,
    colgen,
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
                assert!(
                    (again - solution.lower_bound).abs() <= 1e-9 * optimum,
                    "seed {seed}: proof"
                );
                let report = check::check(&problem, &solution.z, &solution.y);
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
