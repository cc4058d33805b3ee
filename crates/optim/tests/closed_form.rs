//! Optima known in closed form, where general LP solvers are wrong: eps * spacing up to 60 and down
//! to 1e-3. All formulas are sums of positive terms, so they are exact to a few roundings.
#![cfg(feature = "parallel")]

use lrgeo_optim::certificate::check;
use lrgeo_optim::{
    Arc, DenseCost, Error, Problem, ProblemParts, Settings, Solution, colgen, large,
};

type Engine = fn(&Problem, &Settings) -> Result<Solution, Error>;

/// The engines and the gap each is held to: the one for large maps keeps back a part of epsilon for
/// its row sums and is not meant for a millionth.
const ENGINES: [(&str, Engine, f64); 2] =
    [("colgen", colgen::solve, 1e-6), ("large", large::solve, 1e-3)];

/// What both bounds may be off by: the roundings of the formula.
const ROUNDING: f64 = 1e-12;

/// Rows and columns 0..n, cost `c(i, k)`, and an arc of the given length for every pair asked for.
fn problem(
    n: usize,
    length: f64,
    cost: impl Fn(usize, usize) -> f64,
    joined: impl Fn(usize, usize) -> bool,
) -> Problem {
    let values = (0..n * n).map(|at| cost(at / n, at % n)).collect();
    let cost = DenseCost::new(n, n, values).unwrap();
    let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
    let arcs = pairs.filter(|&(i, j)| joined(i, j)).map(|(i, j)| Arc { i, j, d: length }).collect();
    Problem::new(ProblemParts::untied(1.0, cost, arcs)).unwrap()
}

/// Both engines give strict matrices whose interval holds the optimum and is as narrow as asked.
fn hold(what: &str, problem: &Problem, optimum: f64) {
    for (name, solve, gap) in ENGINES {
        let solution = solve(problem, &Settings::to_gap(gap)).unwrap();
        let (low, high) = (solution.lower_bound, solution.objective);
        assert!(check(problem, &solution.z, &solution.y).is_strict(), "{name}, {what}");
        assert!(low <= optimum * (1.0 + ROUNDING), "{name}, {what}: bound {low:e}, {optimum:e}");
        assert!(high >= optimum * (1.0 - ROUNDING), "{name}, {what}: cost {high:e}, {optimum:e}");
        let allowed = gap * optimum + 1e-8 * problem.mean_cost();
        // By the project's own measure, which stops at a hundredth of the mean cost.
        assert!(solution.gap <= gap, "{name}, {what}: gap {:e}", solution.gap);
        assert!(high - optimum <= allowed, "{name}, {what}: {high:e}, optimum {optimum:e}");
    }
}

#[test]
fn places_equally_far_from_each_other_answer_at_random() {
    // Randomised response: the truth with weight e^l, every other answer with weight 1.
    for n in [2, 3, 7] {
        for length in [1e-3, 0.1, 1.0, 8.0, 15.0, 30.0, 60.0] {
            let others = (n - 1) as f64;
            let optimum = n as f64 * others / (f64::exp(length) + others);
            let equal = problem(n, length, |i, k| f64::from(i != k), |_, _| true);
            hold(&format!("{n} places, eps*d {length}"), &equal, optimum);
        }
    }
}

#[test]
fn places_on_a_line_report_geometrically() {
    // z_ik = x_k q^|i-k| with q = e^-l, x = (1-q)/(1+q) inside and 1/(1+q) at both ends.
    for n in [5, 40] {
        for length in [2.0, 8.0, 12.0, 20.0, 30.0, 60.0] {
            let q = f64::exp(-length);
            let weight = |k: usize| if k == 0 || k == n - 1 { 1.0 } else { 1.0 - q } / (1.0 + q);
            let away = |i: usize, k: usize| i.abs_diff(k) as f64;
            let share = |i, k| weight(k) * f64::exp(-length * away(i, k));
            let optimum: f64 =
                (0..n * n).map(|at| away(at / n, at % n) * share(at / n, at % n)).sum();
            let line = problem(n, length, away, |i, j| j == i + 1);
            hold(&format!("line of {n}, eps*d {length}"), &line, optimum);
        }
    }
}
