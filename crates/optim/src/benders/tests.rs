//! What every cut promises, on random problems.

use super::path::Path;
use super::subproblem::{Subproblem, Verdict};
use crate::direct::{Costs, Limits};
use crate::{Arc, DenseCost, Problem, ProblemParts, Settings, Ties, colgen};

/// A generator of numbers in [0, 1).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Two users with five places each on a street, twelve reports, far ones tied.
fn round(random: &mut Random, epsilon: f64) -> Problem {
    let columns = 12;
    let first = [0.0, 3.0 + 2.0 * random.next()];
    let places: Vec<f64> = (0..10).map(|i| first[i / 5] + 0.6 * (i % 5) as f64).collect();
    let (mut costs, mut ties) = (Vec::new(), Vec::new());
    for &place in &places {
        for k in 0..columns {
            let d = (place - 0.6 * k as f64).abs();
            costs.push(d * (0.8 + 0.4 * random.next()));
            ties.push((d > 0.9).then(|| (-epsilon * d.min(4.0) / 2.0).exp()));
        }
    }
    let arcs = (0..10).filter(|i| i % 5 > 0).map(|i| Arc { i: i - 1, j: i, d: 0.6 }).collect();
    let cost = DenseCost::new(10, columns, costs).unwrap();
    Problem::new(ProblemParts {
        groups: (0..10).map(|i| i / 5).collect(),
        ties: Some(Ties::new(10, columns, &ties).unwrap()),
        ..ProblemParts::untied(epsilon, cost, arcs)
    })
    .unwrap()
}

/// Cuts are below the value of the subproblem at every y (exact), touch it at their own y (tight), and
/// rays forbid no y that has a matrix.
#[test]
fn cuts_lie_below_the_value_everywhere_and_touch_it_where_they_were_made() {
    let (mut optimality, mut feasibility, mut compared) = (0, 0, 0);
    for (seed, epsilon) in [(1, 0.5), (2, 2.0), (3, 5.0), (4, 12.0)] {
        let mut random = Random(seed);
        let problem = round(&mut random, epsilon);
        let settings = Settings::to_gap(1e-9);
        let (stop, subproblems) =
            (settings.start_watch().unwrap(), Subproblem::all(&problem).unwrap());
        let limits = Limits::of(&settings, &stop);
        let inside = colgen::solve(&problem, &Settings::to_gap(0.1)).unwrap().y;
        // Anything from next to nothing to twice a feasible y.
        let mut any_y =
            || inside.iter().map(|y| y * 2.0 * random.next() + 1e-3 * random.next()).collect();
        let points: Vec<Vec<f64>> = (0..20).map(|_| any_y()).collect();
        let units = inside.iter().map(|_| Some(1.0)).collect();
        let programs = subproblems.iter().map(|subproblem| &subproblem.program);
        let mut path = Path::new(programs, units, &[0.01; 12], 0.1, false);
        assert!(path.advance(1e-2 * problem.mean_cost()));
        for (subproblem, central) in subproblems.iter().zip(path.multipliers()) {
            let verdicts: Vec<Verdict> =
                points.iter().map(|y| subproblem.judge(y, &settings, &limits)).collect();
            let value = |verdict: &Verdict| match verdict {
                Verdict::Bounded { matrix, .. } => matrix.as_ref().map(|(_, cost)| *cost),
                _ => None,
            };
            let values: Vec<Option<f64>> = verdicts.iter().map(value).collect();
            let mut cuts = vec![subproblem.program.affine_bound(&central, Costs::Counted)];
            for ((y, verdict), value) in points.iter().zip(verdicts).zip(&values) {
                match verdict {
                    Verdict::Bounded { cut, .. } => {
                        let touches = value.is_none_or(|value| cut.at(y) >= value * (1.0 - 1e-5));
                        assert!(touches, "{} far below {value:?}", cut.at(y));
                        cuts.push(cut);
                    }
                    Verdict::Unbounded { ray } => {
                        feasibility += 1;
                        assert!(ray.at(y) > 0.0);
                        for (other, _) in points.iter().zip(&values).filter(|(_, v)| v.is_some()) {
                            assert!(ray.at(other) <= 0.0, "a ray forbids a feasible y");
                        }
                    }
                    Verdict::Stopped => {}
                }
            }
            optimality += cuts.len();
            for (y, value) in points.iter().zip(&values) {
                let Some(value) = value else { continue };
                for cut in &cuts {
                    compared += 1;
                    assert!(cut.at(y) <= *value, "{} above {value}", cut.at(y));
                }
            }
        }
    }
    assert!(
        optimality > 40 && feasibility > 10 && compared > 300,
        "{optimality} {feasibility} {compared}"
    );
}
