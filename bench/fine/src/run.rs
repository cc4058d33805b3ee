//! One solve, and what came out of it: cost and strictness are the checker's, who looks at the matrix and shares no code with
//! the engines.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use lrgeo_optim::certificate::check;
use lrgeo_optim::{Problem, Progress, Settings, Solution, solve};
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

/// When to stop.
pub struct Until {
    pub gap: f64,
    pub seconds: Option<f64>,
    pub threads: usize,
    /// Every line of progress on the error stream.
    pub trace: bool,
}

/// Solves, and tells time, bounds, and of the matrix its cost beside the last one shown and whether it is strict.
pub fn measured(problem: &Problem, until: &Until) -> Value {
    let shown = Arc::new(Mutex::new(None));
    let (last, trace) = (shown.clone(), until.trace);
    let mut settings = Settings { threads: until.threads, ..Settings::to_gap(until.gap) };
    settings.time_limit = until.seconds.map(Duration::from_secs_f64);
    // As the command line asks for it: a limit means that the matrix is there by then.
    settings.on_time = true;
    settings.progress = Some(Arc::new(move |p: &Progress| {
        *last.lock().expect("no panic") = Some(p.upper_bound);
        if trace {
            eprintln!(
                "{:4} {:.9} {:.9} gap {:.2e} columns {} {:.3} s",
                p.iteration, p.upper_bound, p.lower_bound, p.gap, p.columns, p.seconds
            );
        }
    }));
    let (begun, before) = (Instant::now(), cpu_seconds());
    let found = solve(problem, &settings);
    let (wall, cpu) = (begun.elapsed().as_secs_f64(), cpu_seconds() - before);
    let shown = *shown.lock().expect("no panic");
    match found {
        Ok(solution) => described(problem, &solution, shown, wall, cpu),
        Err(error) => json!({ "error": error.to_string(), "seconds": wall, "cpu": cpu }),
    }
}

fn described(
    problem: &Problem,
    solution: &Solution,
    shown: Option<f64>,
    wall: f64,
    cpu: f64,
) -> Value {
    let report = check(problem, &solution.z, &solution.y);
    json!({
        "status": solution.status.as_str(),
        "cost": report.cost,
        "shown": shown,
        "lower_bound": solution.lower_bound,
        "gap": solution.gap,
        "iterations": solution.iterations,
        "rays": solution.columns,
        "strict": report.is_strict(),
        "row_sum_error": report.worst_row_sum_error,
        "seconds": wall,
        "cpu": cpu,
    })
}

/// CPU seconds of all threads of this process.
fn cpu_seconds() -> f64 {
    let spent = clock_gettime(ClockId::ProcessCPUTime);
    spent.tv_sec as f64 + spent.tv_nsec as f64 * 1e-9
}
