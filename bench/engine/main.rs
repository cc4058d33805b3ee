//! Times of the engine on the instances of the targets table.
//!
//! `engine omg K EPS`, `engine clr USERS PLACES EPS`, `engine grid SIDE EPS`, `engine file PROBLEM`; options `--threads N`,
//! `--gap G`, `--trace`, `--dump FILE` (the problem for the peers, as `.npz`), `--unsolved` (nothing more than that), `--uneven`
//! (rows weighed from nothing to ten times as much), `--resolve` (more solves from the first one's warm start, with targets,
//! prior, single costs or epsilon 5 % off). Prints one line of JSON.
//!
//! `engine repair PROBLEM SOLUTION [-o OUT]`: what another solver found (a solution file), made strict, and what that costs.

#[path = "../growth/process.rs"]
mod process;
mod rome;

use lrgeo_optim::certificate::check;
use lrgeo_optim::{DenseCost, Problem, Progress, Settings, colgen, format, strict};
use rome::{City, Random, even_grid};
use std::path::Path;
use std::sync::Arc;

const SEED: u64 = 20_250_714;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [task, problem, solution, rest @ ..] = words.as_slice()
        && task == "repair"
    {
        return repair(problem, solution, rest);
    }
    let option =
        |name: &str| words.iter().position(|w| w == name).and_then(|at| words.get(at + 1)).cloned();
    let number = |at: usize| words.get(at).and_then(|w| w.parse::<f64>().ok()).unwrap_or(0.0);
    let data = option("--data").unwrap_or_else(|| "../shared/data".into());
    let mut random = Random(SEED + 1);
    let (name, problem, retargeted) = match words.first().map(String::as_str) {
        Some("omg") => {
            let (count, epsilon) = (number(1) as usize, number(2));
            let city = City::new(Path::new(&data), count, SEED);
            let gamma = if count >= 800 { 1.0 } else { 0.7 };
            let other = city.with_other_targets(&mut random).omg(epsilon, gamma);
            (format!("OMG {}, eps {epsilon}", city.name), city.omg(epsilon, gamma), Some(other))
        }
        Some("clr") => {
            let (users, places, epsilon) = (number(1) as usize, number(2) as usize, number(3));
            let city = City::new(Path::new(&data), 400, SEED);
            let name = format!("CLR-Geo {}, {users} x {places}, eps {epsilon}", city.name);
            let other = city.with_other_targets(&mut random).clr(users, places, epsilon, SEED);
            (name, city.clr(users, places, epsilon, SEED), Some(other))
        }
        Some("grid") => {
            let (side, epsilon) = (number(1) as usize, number(2));
            (
                format!("OMG even grid {side}x{side}, all pairs, eps {epsilon}"),
                even_grid(side, epsilon),
                None,
            )
        }
        Some("file") => {
            let path = words.get(1).cloned().unwrap_or_default();
            let problem = read_problem(&path);
            (path, problem, None)
        }
        _ => {
            eprintln!(
                "usage: engine omg K EPS | clr USERS PLACES EPS | grid SIDE EPS | file PROBLEM | \
                 repair PROBLEM SOLUTION"
            );
            std::process::exit(2);
        }
    };
    let has = |name: &str| words.iter().any(|w| w == name);
    let (name, problem, retargeted) = match has("--uneven") {
        true => (
            name + ", uneven prior",
            uneven_prior(&problem),
            retargeted.map(|problem| uneven_prior(&problem)),
        ),
        false => (name, problem, retargeted),
    };
    if let Some(path) = option("--dump") {
        let bytes = format::problem_to_npz(&problem).expect("a problem within the limits");
        std::fs::write(path, bytes).expect("the dump can be written");
    }
    if has("--unsolved") {
        return;
    }
    let mut settings = Settings {
        threads: option("--threads").and_then(|t| t.parse().ok()).unwrap_or(1),
        ..Settings::to_gap(option("--gap").and_then(|g| g.parse().ok()).unwrap_or(1e-6))
    };
    if has("--trace") {
        settings.progress = Some(Arc::new(|p: &Progress| {
            eprintln!(
                "{:4} {:.9} {:.9} gap {:.2e} columns {} {:.3} s",
                p.iteration, p.upper_bound, p.lower_bound, p.gap, p.columns, p.seconds
            );
        }));
    }
    let mut warm = colgen::WarmStart::default();
    let before = cpu_seconds();
    let solution = colgen::solve_from(&problem, &settings, &mut warm).expect("solvable");
    let cpu = cpu_seconds() - before;
    let mut line = format!(
        "{{\"instance\":\"{name}\",\"rows\":{},\"columns\":{},\"objective\":{:?},\"lower_bound\":{:?},\"gap\":{:e},\
         \"status\":\"{}\",\"iterations\":{},\"rays\":{},\"seconds\":{:.6},\"cpu\":{cpu:.6},\"megabytes\":{:.1},\"log_excess\":{:e},\"row_sum_error\":{:e}",
        problem.rows(),
        problem.columns(),
        solution.objective,
        solution.lower_bound,
        solution.gap,
        solution.status.as_str(),
        solution.iterations,
        solution.columns,
        solution.seconds,
        process::peak_megabytes(),
        solution.certificate.worst_log_excess,
        solution.certificate.worst_row_sum_error,
    );
    if has("--resolve") {
        let other = problem.with_epsilon(problem.epsilon() * 1.05).expect("a valid epsilon");
        let changes = [
            ("targets_changed", retargeted),
            ("prior_changed", Some(changed_costs(&problem, &mut random, false))),
            ("cost_changed", Some(changed_costs(&problem, &mut random, true))),
            ("epsilon_changed", Some(other)),
        ];
        for (what, changed) in changes {
            let Some(changed) = changed else { continue };
            let timed = |warm: &mut colgen::WarmStart| {
                let before = cpu_seconds();
                let solution = colgen::solve_from(&changed, &settings, warm).expect("solvable");
                let cpu = cpu_seconds() - before;
                (if cpu > 0.0 { cpu } else { solution.seconds }, solution.objective)
            };
            let (cold, objective) = timed(&mut colgen::WarmStart::default());
            let (warm, again) = timed(&mut warm.clone());
            line += &format!(
                ",\"{what}\":{{\"cold\":{cold:.6},\"warm\":{warm:.6},\"objectives\":[{objective:?},{again:?}]}}"
            );
        }
    }
    println!("{line}}}");
}

fn read_problem(path: &str) -> Problem {
    let bytes = std::fs::read(path).expect("a readable problem file");
    format::read_problem(&bytes, &format::Limits::default()).expect("a problem")
}

/// Makes a solution file's matrix strict, and tells its cost before and after.
fn repair(problem: &str, solution: &str, rest: &[String]) {
    let problem = read_problem(problem);
    let bytes = std::fs::read(solution).expect("a readable solution file");
    let file = format::read_solution(&bytes, &format::Limits::default()).expect("a solution");
    let found = file.found().expect("a matrix");
    let draft = found.z.as_dense().expect("a dense matrix");
    let before = check(&problem, &found.z, &[]);
    let Some((z, report)) = strict(&problem, draft) else {
        println!("{{\"cost\":null,\"cost_before\":{:?}}}", before.cost);
        return;
    };
    println!(
        "{{\"cost\":{:?},\"cost_before\":{:?},\"row_sum_error_before\":{:e},\"log_excess\":{:e},\"row_sum_error\":{:e}}}",
        report.cost,
        before.cost,
        before.worst_row_sum_error,
        report.worst_log_excess,
        report.worst_row_sum_error
    );
    if let [option, path] = rest
        && option == "-o"
    {
        let mut strict = found.clone();
        (strict.objective, strict.z) = (report.cost, z);
        strict.certificate.worst_log_excess = report.worst_log_excess;
        strict.certificate.worst_row_sum_error = report.worst_row_sum_error;
        let bytes = format::solution_to_npz(&strict.into()).expect("a solution within the limits");
        std::fs::write(path, bytes).expect("the solution can be written");
    }
}

/// Costs up to 5 % off: every single one by itself, or row by row, as another prior has it.
fn changed_costs(problem: &Problem, random: &mut Random, single: bool) -> Problem {
    let (rows, columns) = (problem.rows(), problem.columns());
    let mut cost = Vec::with_capacity(rows * columns);
    for i in 0..rows {
        let mut factor = 1.0 + 0.1 * (random.next() - 0.5);
        for k in 0..columns {
            if single {
                factor = 1.0 + 0.1 * (random.next() - 0.5);
            }
            cost.push(factor * problem.cost().at(i, k));
        }
    }
    let cost = DenseCost::new(rows, columns, cost).expect("a full matrix");
    problem.with_cost(cost).expect("the same shape")
}

/// One row in twenty weighs nothing, the others from a tenth to ten times as much.
fn uneven_prior(problem: &Problem) -> Problem {
    let mut random = Random(SEED + 2);
    let (rows, columns) = (problem.rows(), problem.columns());
    let mut cost = Vec::with_capacity(rows * columns);
    for i in 0..rows {
        let visited = random.next() > 0.05;
        let weight = if visited { 10_f64.powf(2.0 * random.next() - 1.0) } else { 0.0 };
        cost.extend((0..columns).map(|k| weight * problem.cost().at(i, k)));
    }
    let cost = DenseCost::new(rows, columns, cost).expect("a full matrix");
    problem.with_cost(cost).expect("the same shape")
}

/// CPU seconds of the main thread; zero where the system does not say.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let first = stat.split_whitespace().next().and_then(|field| field.parse::<f64>().ok());
    first.unwrap_or(0.0) * 1e-9
}
