//! Problems with numbers at the ends of the range: every one ends in an answer that the independent checkers accept, or in
//! an error that says why not. None ends in a panic, in a wrong answer, or takes long.
//!
//! Problems are small, so that many are solved in little time. `EXTREME_FROM` and `EXTREME_COUNT` in the environment choose
//! other seeds.

mod common;

use common::extreme::{Extreme, extreme};
use lrgeo_optim::bound::proven_bound;
use lrgeo_optim::certificate::check;
use lrgeo_optim::format::problem_to_json;
use lrgeo_optim::{
    Engine, Error, OPTIMAL_GAP, Problem, ROW_SUM_ERROR, Settings, Solution, Status, benders,
    colgen, direct, large, relative_gap, solve,
};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Problems solved by the default engine, by the front door.
const SOLVED: u64 = 20_000;

/// Every so many of them is also solved by every engine by itself, and the answers are held against each other.
const COMPARED: u64 = 8;

/// No problem may take longer.
const LONGEST: Duration = Duration::from_secs(10);

type Answer = Result<Solution, Error>;
type Way = (&'static str, fn(&Problem, &Settings) -> Answer);

fn by_default(problem: &Problem, settings: &Settings) -> Answer {
    solve(problem, settings)
}

const ALONE: [Way; 4] = [
    ("colgen", colgen::solve),
    ("large", large::solve),
    ("benders", benders::solve),
    ("direct", direct::solve),
];

fn settings() -> Settings {
    // One thread: the problems are small, and seeds are solved side by side.
    Settings { threads: 1, ..Settings::default() }
}

/// What `lrgeo check` would refuse of a solution.
fn refused(problem: &Problem, solution: &Solution) -> Result<(), String> {
    let report = check(problem, &solution.z, &solution.y);
    let certificate = &solution.certificate;
    let gap = relative_gap(problem.mean_cost(), solution.objective, solution.lower_bound);
    let excess = report.worst_log_excess.max(f64::MIN);
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs().max(b.abs());
    for (holds, what) in [
        (report.is_strict(), "strictness"),
        (report.worst_row_sum_error <= ROW_SUM_ERROR, "row sums"),
        (close(report.cost, solution.objective), "objective"),
        ((0.0..f64::INFINITY).contains(&solution.lower_bound), "lower bound"),
        (solution.lower_bound <= report.cost, "lower bound above cost"),
        ((gap - solution.gap).abs() <= 1e-9 + 1e-6 * gap, "gap"),
        (solution.status != Status::Optimal || gap <= OPTIMAL_GAP * (1.0 + 1e-6), "status"),
        (
            certificate.worst_log_excess >= excess - 1e-9 * excess.abs() - f64::MIN_POSITIVE,
            "certificate",
        ),
        (
            certificate.worst_row_sum_error >= report.worst_row_sum_error - 1e-15,
            "certificate of row sums",
        ),
    ] {
        if !holds {
            return Err(format!("{what}: {report:?}, {certificate:?}, gap {gap}"));
        }
    }
    refused_bound(problem, solution)
}

fn refused_bound(problem: &Problem, solution: &Solution) -> Result<(), String> {
    let claimed = solution.lower_bound;
    if claimed == 0.0 {
        return Ok(());
    }
    let slack = 1e-9 * (claimed + problem.mean_cost());
    let again = proven_bound(problem, &solution.certificate.mu).map_err(|e| e.to_string())?;
    if again >= claimed - slack {
        return Ok(());
    }
    let mut best = again;
    for engine in [Engine::Auto, Engine::Direct] {
        if let Ok(own) = solve(problem, &Settings { engine, ..settings() }) {
            if claimed <= own.lower_bound + OPTIMAL_GAP * own.objective + slack {
                return Ok(());
            }
            best = best.max(own.lower_bound);
        }
    }
    Err(format!("lower bound {claimed:e}, proven {best:e}"))
}

/// What is wrong with how a problem ends, and how it ends.
fn judged(
    (name, way): Way,
    problem: &Problem,
    is_feasible: bool,
) -> (Result<(), String>, String, Option<Answer>) {
    let started = Instant::now();
    let ended = catch_unwind(AssertUnwindSafe(|| {
        let answer = way(problem, &settings());
        let verdict = match &answer {
            Ok(solution) => refused(problem, solution),
            Err(Error::Infeasible { .. }) if is_feasible => Err("feasible after all".to_owned()),
            Err(Error::Infeasible { row, .. }) if *row >= problem.rows() => {
                Err(format!("row {row} is blamed"))
            }
            Err(_) => Ok(()),
        };
        (answer, verdict)
    }));
    let Ok((answer, verdict)) = ended else {
        return (Err(format!("{name}: a panic")), format!("{name} panics"), None);
    };
    let ending = match &answer {
        Ok(solution) => solution.status.as_str().to_owned(),
        Err(error) => {
            let text = format!("{error:?}");
            text.split([' ', '{', '(']).next().unwrap_or_default().to_owned()
        }
    };
    let verdict = match started.elapsed() > LONGEST {
        true => Err(format!("took {:?}", started.elapsed())),
        false => verdict,
    };
    (verdict.map_err(|why| format!("{name}: {why}")), format!("{name} {ending}"), Some(answer))
}

/// Answers that cannot all be right.
fn contradiction(answers: &[(&str, Answer)]) -> Result<(), String> {
    let found = || answers.iter().filter_map(|(name, a)| a.as_ref().ok().map(|s| (name, s)));
    let infeasible =
        answers.iter().find(|(_, answer)| matches!(answer, Err(Error::Infeasible { .. })));
    if let (Some((claims, _)), Some((finds, _))) = (infeasible, found().next()) {
        return Err(format!("{claims} says infeasible, {finds} has a matrix"));
    }
    for (high, a) in found() {
        for (low, b) in found() {
            if a.lower_bound > b.objective * (1.0 + 1e-9) {
                let (bound, cost) = (a.lower_bound, b.objective);
                return Err(format!("bound {bound:e} of {high}, cost {cost:e} of {low}"));
            }
        }
    }
    Ok(())
}

/// One seed: what is wrong, and how its solves ended.
fn tried(seed: u64, compared: bool) -> (Result<(), String>, Vec<String>) {
    let Extreme { parts, is_feasible, .. } = extreme(seed);
    let problem = match Problem::new(parts) {
        Ok(problem) => problem,
        Err(_) => return (Ok(()), vec!["refused".to_owned()]),
    };
    let mut endings = Vec::new();
    let mut answers = Vec::new();
    let alone = ALONE.iter().filter(|_| compared);
    for &way in std::iter::once(&("default", by_default as fn(&_, &_) -> _)).chain(alone) {
        let (verdict, ending, answer) = judged(way, &problem, is_feasible);
        endings.push(ending);
        if let Err(why) = verdict {
            return (Err(replay(seed, &problem, &why)), endings);
        }
        answers.extend(answer.map(|answer| (way.0, answer)));
    }
    let verdict = contradiction(&answers).map_err(|why| replay(seed, &problem, &why));
    (verdict, endings)
}

fn replay(seed: u64, problem: &Problem, why: &str) -> String {
    format!("seed {seed}: {why}\n{}", problem_to_json(problem).unwrap_or_default())
}

/// Ends the process where one seed hangs: no test framework does.
fn watch(at_work: Arc<Mutex<BTreeMap<u64, Instant>>>) {
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let at_work = at_work.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((seed, _)) = at_work.iter().find(|(_, at)| at.elapsed() > 6 * LONGEST) {
                let problem = Problem::new(extreme(*seed).parts).unwrap();
                eprintln!("{}", replay(*seed, &problem, "hangs"));
                std::process::exit(1);
            }
        }
    });
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn extreme_problems_end_in_an_answer_that_holds_or_an_error_that_says_why_not() {
    let first = number("EXTREME_FROM", 0);
    let seeds = first..first + number("EXTREME_COUNT", SOLVED);
    let compared = number("EXTREME_COMPARED", COMPARED);
    let at_work = Arc::new(Mutex::new(BTreeMap::new()));
    watch(Arc::clone(&at_work));
    let working = |seed, at: Option<Instant>| {
        let mut at_work = at_work.lock().unwrap_or_else(PoisonError::into_inner);
        match at {
            Some(at) => at_work.insert(seed, at),
            None => at_work.remove(&seed),
        };
    };
    // Panics are caught and counted; what they print would bury the report.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let (mut wrong, mut endings) = (Vec::new(), BTreeMap::new());
    for seed in seeds {
        working(seed, Some(Instant::now()));
        let (verdict, ended) = tried(seed, seed % compared == 0);
        working(seed, None);
        wrong.extend(verdict.err());
        ended.into_iter().for_each(|ending| *endings.entry(ending).or_insert(0_usize) += 1);
    }
    std::panic::set_hook(hook);
    for (ending, count) in &endings {
        println!("{count:6} {ending}");
    }
    for why in &wrong {
        println!("{}", why.lines().next().unwrap_or_default());
    }
    let shortest = wrong.iter().min_by_key(|why| why.len());
    assert!(
        wrong.is_empty(),
        "{} of them are wrong; the shortest: {}",
        wrong.len(),
        shortest.unwrap()
    );
}
