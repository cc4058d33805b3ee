//! Times one solve of an even grid: `grid SIDE EPS [GAP] [THREADS]`.

use lrgeo_optim::{Arc, DenseCost, Problem, ProblemParts, Settings, colgen};

fn main() {
    let arguments: Vec<f64> =
        std::env::args().skip(1).map(|a| a.parse().expect("number")).collect();
    let (side, epsilon) = (arguments[0] as usize, arguments[1]);
    let gap = arguments.get(2).copied().unwrap_or(1e-6);
    let threads = arguments.get(3).copied().unwrap_or(1.0) as usize;
    let spacing = 0.47;
    let mut state = 12345_u64;
    let mut random = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as f64 / (1_u64 << 31) as f64
    };
    let places: Vec<(f64, f64)> = (0..side * side)
        .map(|i| {
            let (x, y) = ((i % side) as f64, (i / side) as f64);
            ((x + 0.3 * (random() - 0.5)) * spacing, (y + 0.3 * (random() - 0.5)) * spacing)
        })
        .collect();
    let extent = side as f64 * spacing;
    let targets: Vec<(f64, f64)> =
        (0..20).map(|_| (random() * extent, random() * extent)).collect();
    let n = places.len();
    let far = |a: (f64, f64), b: (f64, f64)| (a.0 - b.0).hypot(a.1 - b.1);
    let mut cost = vec![0.0; n * n];
    for i in 0..n {
        for k in 0..n {
            let sum: f64 =
                targets.iter().map(|&t| (far(places[i], t) - far(places[k], t)).abs()).sum();
            cost[i * n + k] = sum / 20.0 / n as f64;
        }
    }
    let mut arcs = Vec::new();
    for i in 0..n {
        for j in 0..i {
            let d = far(places[i], places[j]);
            if d <= 0.7 {
                arcs.push(Arc { i, j, d });
            }
        }
    }
    let problem =
        Problem::new(ProblemParts::untied(epsilon, DenseCost::new(n, n, cost).unwrap(), arcs))
            .unwrap();
    let settings = Settings { threads, ..Settings::to_gap(gap) };
    match colgen::solve(&problem, &settings) {
        Ok(s) => println!(
            "{:?} {} {} gap {:.2e} it {} cols {} {:.3}s {:?}",
            s.status,
            s.objective,
            s.lower_bound,
            s.gap,
            s.iterations,
            s.columns,
            s.seconds,
            (s.certificate.worst_log_excess, s.certificate.worst_row_sum_error)
        ),
        Err(e) => println!("{e}"),
    }
}
