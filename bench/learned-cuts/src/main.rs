//! Learned cuts: a policy that says which users are asked first, trained on generated rounds and tested on unseen maps, against Benders
//! that asks everybody and against the central path. Prints a line of JSON per solve and the weights it found.
//!
//! `learned-cuts [TRIALS]`: so many trials of training (30 by default).

mod round;

use lrgeo_optim::benders::{self, Guide, Options, Policy};
use lrgeo_optim::{Problem, Settings, colgen};
use round::{Random, Shape, round};
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Every solve gives up after so many iterations, whatever the machine.
const MOST: usize = 80;

/// Seconds of the processor that this process has taken.
fn cpu() -> f64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    now.tv_sec as f64 + 1e-9 * now.tv_nsec as f64
}

/// What a solve took.
struct Run {
    solved: bool,
    iterations: usize,
    cuts: usize,
    cost: f64,
    seconds: f64,
}

fn run(problem: &Problem, guide: Guide, policy: Option<Policy>) -> Run {
    let cancel = Arc::new(AtomicBool::new(false));
    let flag = cancel.clone();
    let settings = Settings {
        threads: 1,
        cancel: Some(cancel),
        progress: Some(Arc::new(move |progress| {
            flag.store(progress.iteration >= MOST, Ordering::Relaxed);
        })),
        ..Settings::to_gap(0.0)
    };
    let options = Options { guide, policy, ..Options::default() };
    let begun = cpu();
    let ended = benders::solve_with(problem, &settings, &options);
    let seconds = cpu() - begun;
    match ended {
        Ok(s) => Run {
            solved: s.objective - s.lower_bound <= options.absolute_gap,
            iterations: s.iterations,
            cuts: s.columns,
            cost: s.objective,
            seconds,
        },
        Err(_) => Run { solved: false, iterations: 0, cuts: 0, cost: f64::NAN, seconds },
    }
}

/// Work that does not depend on the machine: a subproblem per cut, and the master, which costs about as much as two.
fn work(run: &Run) -> f64 {
    if run.solved { (run.cuts + 2 * run.iterations) as f64 } else { 2_000.0 }
}

/// Weights with the least mean logarithm of the work: random changes, kept where they help.
fn train(rounds: &[Problem], trials: usize) -> Policy {
    let score = |policy: Policy| -> f64 {
        let of = |p: &Problem| work(&run(p, Guide::Master, Some(policy))).ln();
        rounds.iter().map(of).sum::<f64>() / rounds.len() as f64
    };
    let all: f64 = rounds.iter().map(|p| work(&run(p, Guide::Master, None)).ln()).sum();
    eprintln!("asking everybody: {:.4}", all / rounds.len() as f64);
    let mut random = Random(7);
    // Who called y infeasible the last time is asked first.
    let mut best = Policy { weights: [-0.5, 0.5, 1.0, 1.0, 0.5, 0.0] };
    let mut least = score(best);
    let mut step = 1.0;
    for trial in 0..trials {
        let mut next = best;
        next.weights.iter_mut().for_each(|w| *w += step * (2.0 * random.next() - 1.0));
        let found = score(next);
        if found < least {
            (best, least) = (next, found);
        } else {
            step *= 0.97;
        }
        eprintln!("trial {trial}: {found:.4}, best {least:.4}");
    }
    best
}

fn main() {
    let trials = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(30);
    // Those that plain Benders solves at all: nothing is learnt from the others.
    let any = (0..20).map(|seed| round(&Shape::any(seed), seed));
    let solved = any.filter(|problem| run(problem, Guide::Master, None).solved);
    let training: Vec<Problem> = solved.take(6).collect();
    eprintln!("{} rounds to learn from", training.len());
    let begun = cpu();
    let policy = train(&training, trials);
    println!("{}", json!({ "weights": policy.weights, "training_cpu_seconds": cpu() - begun }));
    let ways = [
        ("plain, everybody asked", Guide::Master, None),
        ("plain, learned", Guide::Master, Some(policy)),
        ("in-out, everybody asked", Guide::InOut, None),
        ("in-out, learned", Guide::InOut, Some(policy)),
        ("central path", Guide::CentralPath, None),
    ];
    for seed in 100..112 {
        let shape = Shape::any(seed);
        let problem = round(&shape, seed);
        let optimum =
            colgen::solve(&problem, &Settings::default()).map_or(f64::NAN, |s| s.objective);
        for (name, guide, policy) in ways {
            let run = run(&problem, guide, policy);
            println!(
                "{}",
                json!({
                    "seed": seed, "round": format!("{shape:?}"), "way": name, "solved": run.solved, "iterations": run.iterations,
                    "cuts": run.cuts, "cpu_seconds": run.seconds, "cost": run.cost, "optimum": optimum,
                })
            );
        }
    }
}
