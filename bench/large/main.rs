//! Times and memory of the engine for large maps, on the instance of the targets table: a jittered
//! grid, 8-neighbour arcs, a weighted L1 cost over 20 targets.
//!
//! `cargo run --release -p lrgeo-optim --example large -- [SIDE] [EPS] [GAP] [JITTER]`
//! prints the bounds as they come, then one line of results with CPU time and peak memory.

use std::sync::Arc;

use lrgeo_optim::{
    Arc as GeoArc, Problem, ProblemParts, Progress, Settings, WeightedL1Cost, large,
};

/// Grid spacing in kilometres.
const SPACING: f64 = 0.47;
const TARGETS: usize = 20;

fn instance(side: usize, jitter: f64, epsilon: f64) -> Problem {
    let mut state = 12345u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let n = side * side;
    let mut around = |at: usize| SPACING * (at as f64 + jitter * (random() - 0.5));
    let places: Vec<(f64, f64)> = (0..n).map(|v| (around(v % side), around(v / side))).collect();
    let between = |a: (f64, f64), b: (f64, f64)| (a.0 - b.0).hypot(a.1 - b.1);
    let mut arcs = Vec::new();
    for v in 0..n {
        let (x, y) = ((v % side) as i64, (v / side) as i64);
        for (dx, dy) in [(1, 0), (0, 1), (1, 1), (-1, 1)] {
            let (x, y) = (x + dx, y + dy);
            if (0..side as i64).contains(&x) && y < side as i64 {
                let w = y as usize * side + x as usize;
                arcs.push(GeoArc { i: v, j: w, d: between(places[v], places[w]) });
            }
        }
    }
    let width = SPACING * side as f64;
    let targets: Vec<(f64, f64)> =
        (0..TARGETS).map(|_| (random() * width, random() * width)).collect();
    let weights: Vec<f64> = (0..TARGETS).map(|_| random()).collect();
    let total: f64 = weights.iter().sum();
    let features: Arc<[f64]> = places
        .iter()
        .flat_map(|&place| targets.iter().map(move |&target| between(place, target)))
        .collect();
    let prior = vec![1.0 / n as f64; n];
    let weights = weights.iter().map(|q| q / total).collect();
    let cost = WeightedL1Cost::new(prior, weights, features.clone(), features);
    let cost = cost.expect("distances are finite");
    Problem::new(ProblemParts::untied(epsilon, cost, arcs)).expect("the instance is valid")
}

fn main() {
    let arguments: Vec<f64> = std::env::args()
        .skip(1)
        .map(|a| a.parse().unwrap_or_else(|_| panic!("not a number: {a}")))
        .collect();
    let argument = |at: usize, default: f64| arguments.get(at).copied().unwrap_or(default);
    let (side, epsilon) = (argument(0, 100.0) as usize, argument(1, 2.0));
    let (gap, jitter) = (argument(2, 1.5e-3), argument(3, 0.6));
    let problem = instance(side, jitter, epsilon);
    println!("{} places, eps*spacing {:.2}, gap {gap}", problem.rows(), epsilon * SPACING);
    let mut settings = Settings::to_gap(gap);
    settings.progress = Some(Arc::new(|p: &Progress| {
        println!(
            "{:8.2} s  {:>2}  [{:.6}, {:.6}]  gap {:.4} %  {} rays",
            p.seconds,
            p.iteration,
            p.lower_bound,
            p.upper_bound,
            100.0 * p.gap,
            p.columns
        );
    }));
    match large::solve(&problem, &settings) {
        Err(error) => println!("{error}"),
        Ok(s) => println!(
            "{:?}: cost {:.6}, proven gap {:.4} %, {:.2} s wall, {:.2} s cpu, {} MB peak, worst log excess {:e}, worst row sum error {:e}",
            s.status,
            s.objective,
            100.0 * s.gap,
            s.seconds,
            cpu_seconds(),
            peak_megabytes(),
            s.certificate.worst_log_excess,
            s.certificate.worst_row_sum_error
        ),
    }
}

/// User and system time of this process, from Linux's process table (100 ticks a second).
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let fields: Vec<f64> =
        after_name.split_whitespace().map(|f| f.parse().unwrap_or(0.0)).collect();
    fields.get(11..13).map_or(f64::NAN, |ticks| ticks.iter().sum::<f64>() / 100.0)
}

/// Peak resident memory of this process.
fn peak_megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    line.and_then(|l| l.split_whitespace().nth(1)?.parse::<u64>().ok()).map_or(0, |kb| kb / 1024)
}
