//! Times and memory of the engine for large maps, on the instance of the targets table: a jittered
//! grid, 8-neighbour arcs, a weighted L1 cost over 20 targets.
//!
//! `cargo run --release -p lrgeo-optim --example large -- [SIDE] [EPS] [GAP] [JITTER]`
//! tells the bounds as they come (on the error stream), then prints one line of JSON with CPU time and peak memory.

#[path = "map.rs"]
mod map;
#[path = "../growth/process.rs"]
mod process;

use std::sync::Arc;

use lrgeo_optim::{Progress, Settings, large};
use map::{Map, SPACING};

fn main() {
    let arguments: Vec<f64> = std::env::args()
        .skip(1)
        .map(|a| a.parse().unwrap_or_else(|_| panic!("not a number: {a}")))
        .collect();
    let argument = |at: usize, default: f64| arguments.get(at).copied().unwrap_or(default);
    let (side, epsilon) = (argument(0, 100.0) as usize, argument(1, 2.0));
    let (gap, jitter) = (argument(2, 1.5e-3), argument(3, 0.6));
    let problem = Map { jitter, ..Map::square(side, epsilon) }.problem();
    eprintln!("{} places, eps*spacing {:.2}, gap {gap}", problem.rows(), epsilon * SPACING);
    let mut settings = Settings::to_gap(gap);
    settings.progress = Some(Arc::new(|p: &Progress| {
        eprintln!(
            "{:8.2} s  {:>2}  [{:.6}, {:.6}]  gap {:.4} %  {} rays",
            p.seconds,
            p.iteration,
            p.lower_bound,
            p.upper_bound,
            100.0 * p.gap,
            p.columns
        );
    }));
    let s = large::solve(&problem, &settings).expect("solvable");
    println!(
        "{{\"places\":{},\"epsilon\":{epsilon},\"status\":\"{}\",\"objective\":{:?},\"lower_bound\":{:?},\"gap\":{:e},\
         \"iterations\":{},\"rays\":{},\"seconds\":{:.3},\"cpu\":{:.2},\"megabytes\":{:.1},\"log_excess\":{:e},\"row_sum_error\":{:e}}}",
        problem.rows(),
        s.status.as_str(),
        s.objective,
        s.lower_bound,
        s.gap,
        s.iterations,
        s.columns,
        s.seconds,
        cpu_seconds(),
        process::peak_megabytes(),
        s.certificate.worst_log_excess,
        s.certificate.worst_row_sum_error
    );
}

/// User and system time of this process, from Linux's process table (100 ticks a second).
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let fields: Vec<f64> =
        after_name.split_whitespace().map(|f| f.parse().unwrap_or(0.0)).collect();
    fields.get(11..13).map_or(f64::NAN, |ticks| ticks.iter().sum::<f64>() / 100.0)
}
