//! The paper's Tables 1 and 2: time and cost of six methods at K = 100 to 400, solved exactly.

use std::collections::BTreeMap;
use std::time::Duration;

use lrgeo_evaluation::experiments::printed::{LOWER, METHODS, RATIOS};
use lrgeo_evaluation::optimum::Answers;
use lrgeo_evaluation::{Assessment, assess};
use lrgeo_map::rng::SplitMix;
use lrgeo_mechanism::{Plan, build, by_name};
use lrgeo_optim::Settings;
use serde_json::{Value, json};

use crate::machine::{spread, timed};
use crate::rome::{Rome, city};
use crate::{SEED, Section};

const SIZES: [usize; 4] = [100, 200, 300, 400];
const USERS: usize = 10;
const REPEATS: u64 = 3;

/// One method at one K: what each repeat gave, or why it gave nothing.
#[derive(Default)]
struct Cell {
    seconds: Vec<f64>,
    cpu: Vec<f64>,
    found: Vec<Assessment>,
    failed: Option<String>,
}

pub fn section(rome: &Rome) -> Section {
    let map = rome.authors(SEED);
    let mut text = format!(
        "The authors' places, blocks of K around the centre. Rounds: {USERS} users, {REPEATS} repeats; the others once. Times by\n\
         the clock, verification included; everything solved to a proven gap of 1e-6. The paper's figures are of its own\n\
         settings and stand beside both of ours.\n\n"
    );
    let mut numbers = BTreeMap::new();
    for (name, plan) in [("paper", Plan::paper()), ("practical", Plan::practical())] {
        let plan = plan.expect("a plan");
        let cells: Vec<Vec<Cell>> = SIZES.iter().map(|&size| column(&map, size, &plan)).collect();
        text += &format!(
            "### `{name}` settings, eps {}\n\nSeconds, ours / the paper's:\n\n{}\n",
            plan.epsilon,
            table(&cells, |cell| spread(&cell.seconds), |method| METHODS[method].1)
        );
        text += &format!(
            "Cost in km per report over the rows in use, ours / the paper's:\n\n{}",
            table(&cells, |cell| mean(cell, |a| a.cost), |method| METHODS[method].2)
        );
        text += &bounds(&cells);
        text += &violated(&cells);
        numbers.insert(name, cells.iter().map(|column| as_json(column)).collect::<Vec<_>>());
    }
    Section { title: "Tables 1 and 2", text, numbers: json!(numbers) }
}

fn column(map: &lrgeo_map::map::Map, size: usize, plan: &Plan) -> Vec<Cell> {
    let city = city(map, size);
    // The server makes the table once per map; it is not part of a round.
    city.table(plan.table_cell, &()).expect("a table");
    let mut answers = Answers::default();
    METHODS
        .iter()
        .map(|(method, ..)| {
            let kind = by_name(method).expect("registered");
            let mut cell = Cell::default();
            // Only rounds differ from repeat to repeat; the others are made once.
            for repeat in 0..if kind.per_user() { REPEATS } else { 1 } {
                let users = SplitMix::new(SEED + repeat).choose(size, USERS);
                let plan = Plan {
                    users: users.into_iter().map(|user| user as u32).collect(),
                    allow_disconnected: true,
                    solver: Settings {
                        time_limit: Some(Duration::from_secs(300)),
                        ..Settings::default()
                    },
                    ..plan.clone()
                };
                let (made, took) = timed(|| build(kind, &city, &plan, &()));
                let assessed =
                    made.and_then(|built| assess(&built, &city, &plan, &mut answers, &()));
                match assessed {
                    Ok(assessment) => {
                        cell.seconds.push(took.wall);
                        cell.cpu.push(took.cpu);
                        cell.found.push(assessment);
                    }
                    Err(error) => cell.failed = Some(format!("{error} ({:.1} s)", took.wall)),
                }
            }
            eprintln!("K = {size} {method}: {:?} {:?}", cell.seconds, cell.failed);
            cell
        })
        .collect()
}

fn table(
    columns: &[Vec<Cell>],
    ours: impl Fn(&Cell) -> String,
    paper: impl Fn(usize) -> [&'static str; 4],
) -> String {
    let mut text = head();
    for (method, (name, ..)) in METHODS.iter().enumerate() {
        text += &format!("| {name}");
        for (size, column) in columns.iter().enumerate() {
            let cell = &column[method];
            let own = if cell.found.is_empty() { "failed".into() } else { ours(cell) };
            text += &format!(" | {own} / {}", paper(method)[size]);
        }
        text += " |\n";
    }
    text + &failures(columns)
}

fn head() -> String {
    let sizes: Vec<String> = SIZES.iter().map(|size| format!("K = {size}")).collect();
    format!("| | {} |\n|---|---|---|---|---|\n", sizes.join(" | "))
}

fn failures(columns: &[Vec<Cell>]) -> String {
    let mut text = String::from("\n");
    for (column, size) in columns.iter().zip(SIZES) {
        for (cell, (name, ..)) in column.iter().zip(&METHODS) {
            if let Some(reason) = &cell.failed {
                text += &format!("- {name}, K = {size}: a repeat failed: {reason}\n");
            }
        }
    }
    text
}

fn bounds(columns: &[Vec<Cell>]) -> String {
    let row = |what: &str, own: &dyn Fn(&Cell) -> String, paper: [&str; 4]| {
        let cells = columns.iter().zip(paper).map(|(column, paper)| {
            let own = if column[0].found.is_empty() { "failed".into() } else { own(&column[0]) };
            format!(" | {own} / {paper}")
        });
        format!("| {what}{} |\n", cells.collect::<String>())
    };
    let of = |cell: &Cell, value: fn(&lrgeo_evaluation::bounds::CostBounds) -> f64| {
        mean(cell, |a| a.bounds.as_ref().map_or(f64::NAN, value))
    };
    format!(
        "\nLR-Geo over all relevant rows (Theorems 4.6 and 4.7), ours / the paper's:\n\n{}{}{}{}\n",
        head(),
        row("upper bound", &|cell| of(cell, |b| b.upper), ["-"; 4]),
        row("lower bound", &|cell| of(cell, |b| b.lower), LOWER),
        row("ratio", &|cell| of(cell, |b| b.ratio()), RATIOS),
    )
}

fn violated(columns: &[Vec<Cell>]) -> String {
    let mut text = String::from(
        "Pairs of rows in use that violate, violations as the paper counts, and how often the best guess is right:\n\n",
    );
    text += &head();
    for (method, (name, ..)) in METHODS.iter().enumerate() {
        let cells = columns.iter().map(|column| {
            let found = &column[method].found;
            let pairs: u64 = found.iter().map(|a| a.violations.deployed.pairs).sum();
            let bad: u64 = found.iter().map(|a| a.violations.deployed.violated_pairs).sum();
            let counted = found
                .iter()
                .map(|a| 100.0 * a.violations.as_the_paper_counts.violation_ratio())
                .sum::<f64>()
                / found.len().max(1) as f64;
            let right = found.iter().map(|a| 100.0 * a.adversary.hit_rate).sum::<f64>()
                / found.len().max(1) as f64;
            let cheap = found.iter().flat_map(Assessment::flags);
            let cheap = cheap
                .filter(|flag| matches!(flag, lrgeo_evaluation::Flag::BelowOptimum { .. }))
                .count();
            let mark = if cheap > 0 { ", too cheap to be private" } else { "" };
            format!(" | {bad} of {pairs}, {counted:.3} %, {right:.0} %{mark}")
        });
        text += &format!("| {name}{} |\n", cells.collect::<String>());
    }
    text + "\n"
}

fn mean(cell: &Cell, of: impl Fn(&Assessment) -> f64) -> String {
    let values: Vec<f64> = cell.found.iter().map(of).collect();
    spread(&values)
}

fn as_json(column: &[Cell]) -> Value {
    let cells = column.iter().zip(&METHODS).map(|(cell, (name, ..))| {
        json!({
            "method": name,
            "seconds": cell.seconds,
            "cpu": cell.cpu,
            "cost": cell.found.iter().map(|a| a.cost).collect::<Vec<_>>(),
            "gap": cell.found.iter().map(|a| a.proof.map(|p| p.gap)).collect::<Vec<_>>(),
            "hit_rate": cell.found.iter().map(|a| a.adversary.hit_rate).collect::<Vec<_>>(),
            "failed": cell.failed,
        })
    });
    cells.collect()
}
