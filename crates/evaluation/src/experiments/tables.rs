//! Tables 1 and 2 of the paper: time and cost of its six methods, and of two with optimal remapping, at K = 100 to 400, with the bounds of
//! Theorems 4.6 and 4.7 and what is violated.

use std::time::{Duration, Instant};

use lrgeo_map::progress::Progress;
use lrgeo_mechanism::{MechanismError, Plan, build, by_name};

use super::printed::{LOWER, METHODS, Method, RATIOS};
use super::{Entry, Notebook, Setup, axis, point, settings, users, values};
use crate::bounds::cost_bounds;
use crate::report::{Figure, Series, Shown};
use crate::violations::violations;

const SIZES: [usize; 4] = [100, 200, 300, 400];
const USERS: usize = 10;
/// What every solve is asked to prove.
const GAP: f64 = 1e-6;
/// As in the paper.
const TIME_LIMIT: Duration = Duration::from_secs(1800);

/// One time, cost and bounds table for each of the settings.
pub fn run(
    setup: &Setup<'_>,
    notebook: &mut Notebook,
    progress: &dyn Progress,
) -> Result<Vec<Figure>, MechanismError> {
    let cells = 2 * SIZES.len() as u64 * METHODS.len() as u64 * setup.repeats();
    progress.begin("tables 1 and 2", cells);
    let mut figures = Vec::new();
    for (name, plan) in settings()? {
        let mut measured: Vec<Vec<Vec<Entry>>> = vec![Vec::new(); METHODS.len()];
        for size in SIZES {
            let mut column: Vec<Vec<Entry>> = vec![Vec::new(); METHODS.len()];
            for repeat in 0..setup.repeats() {
                let seed = setup.seed_of(repeat);
                let city = std::cell::OnceCell::new();
                for (method, entries) in METHODS.iter().zip(&mut column) {
                    let key = format!("tables {name} {size} {} {repeat}", method.0);
                    let entry = notebook.measure(&key, || {
                        let city = match city.get() {
                            Some(city) => city,
                            None => {
                                let made = setup.ground.city(size, seed)?;
                                // Once per map, as the server does; not part of a method's time.
                                made.table(plan.table_cell, &())?;
                                city.get_or_init(|| made)
                            }
                        };
                        let mut plan = plan.clone();
                        plan.users = users(city, USERS, seed);
                        plan.allow_disconnected = true;
                        plan.solver.time_limit = Some(TIME_LIMIT);
                        // The paper's rows are without it.
                        let kind = method.0.strip_suffix(" remapped");
                        plan.remap = Some(kind.is_some());
                        measure(kind.unwrap_or(method.0), city, &plan)
                    })?;
                    entries.push(entry);
                    progress.advance(1);
                }
            }
            measured.iter_mut().zip(column).for_each(|(row, entries)| row.push(entries));
        }
        figures.extend(figures_of(name, &plan, &measured, setup));
    }
    progress.end();
    Ok(figures)
}

fn measure(
    method: &str,
    city: &lrgeo_mechanism::City,
    plan: &Plan,
) -> Result<super::Values, MechanismError> {
    let begun = Instant::now();
    let built = build(by_name(method)?, city, plan, &())?;
    let seconds = begun.elapsed().as_secs_f64();
    let found = violations(&built, &());
    let mut numbers = values([
        ("seconds", seconds),
        ("cost", built.expected_cost),
        ("violated", found.as_the_paper_counts.violation_ratio()),
        ("pairs", found.deployed.pairs as f64),
        ("violated pairs", found.deployed.violated_pairs as f64),
    ]);
    if found.deployed.worst_log_excess.is_finite() {
        numbers.insert("worst excess".into(), found.deployed.worst_log_excess);
    }
    if let Some(proof) = &built.proof {
        numbers.insert("gap".into(), proof.gap);
    }
    if let Some(bounds) = cost_bounds(&built, city, plan.table_cell, &plan.settings(GAP), &())? {
        numbers.insert("upper".into(), bounds.upper);
        numbers.insert("lower".into(), bounds.lower);
        numbers.insert("ratio".into(), bounds.ratio());
    }
    Ok(numbers)
}

fn figures_of(
    name: &str,
    plan: &Plan,
    measured: &[Vec<Vec<Entry>>],
    setup: &Setup<'_>,
) -> Vec<Figure> {
    let series = |method: usize, value: &str, paper: Option<[&str; 4]>| -> Series {
        let points = measured[method].iter().zip(SIZES).enumerate();
        let points = points.map(|(at, (entries, size))| {
            point(size as f64, entries, value, paper.map(|paper| paper[at]))
        });
        Series { name: METHODS[method].0.to_owned(), points: points.collect() }
    };
    let all = |value: &str, paper: fn(&Method) -> Option<[&'static str; 4]>| -> Vec<Series> {
        (0..METHODS.len()).map(|m| series(m, value, paper(&METHODS[m]))).collect()
    };
    let about = format!(
        "{}: blocks of K places around the centre, {name} settings (epsilon {}), {USERS} random users, {} repeats with \
         random users and targets; mean ± 1.96 standard deviations.",
        setup.ground.name,
        plan.epsilon,
        setup.repeats()
    );
    let figure = |id: &str, title: &str, y: &str, series: Vec<Series>, flags: Vec<String>| Figure {
        id: format!("{id}-{name}"),
        title: format!("{title}, {name} settings"),
        about: about.clone(),
        x: axis("K", false),
        y: axis(y, false),
        series,
        shown: Shown::Table,
        flags,
    };
    let renamed = |value: &str, name: &str, paper: Option<[&str; 4]>| Series {
        name: name.to_owned(),
        ..series(0, value, paper)
    };
    vec![
        figure(
            "table-1",
            "Table 1: computation time",
            "seconds, verification included",
            all("seconds", |method| Some(method.1)),
            Vec::new(),
        ),
        figure(
            "table-2",
            "Table 2: cost",
            "km per report over the rows in use",
            all("cost", |method| Some(method.2)),
            Vec::new(),
        ),
        figure(
            "table-2-bounds",
            "Table 2: bounds of LR-Geo over all relevant rows (Theorems 4.6 and 4.7)",
            "km per report; ratio",
            vec![
                renamed("upper", "upper bound", None),
                renamed("lower", "lower bound", Some(LOWER)),
                renamed("ratio", "ratio", Some(RATIOS)),
            ],
            Vec::new(),
        ),
        figure(
            "table-2-violations",
            "Pairs of rows in use that violate Geo-Ind",
            "share of pairs within gamma",
            violated_pairs(measured),
            flags(measured),
        ),
    ]
}

fn violated_pairs(measured: &[Vec<Vec<Entry>>]) -> Vec<Series> {
    let share = |entry: &Entry| {
        let (violated, pairs) = (entry.values.get("violated pairs")?, entry.values.get("pairs")?);
        (*pairs > 0.0).then_some(violated / pairs)
    };
    let series = |(method, columns): (&Method, &Vec<Vec<Entry>>)| {
        let points = columns.iter().zip(SIZES).map(|(entries, size)| {
            let mut point = point(size as f64, entries, "none", None);
            point.values = entries.iter().filter_map(share).collect();
            point
        });
        Series { name: method.0.to_owned(), points: points.collect() }
    };
    METHODS.iter().zip(measured).map(series).collect()
}

fn flags(measured: &[Vec<Vec<Entry>>]) -> Vec<String> {
    let mut flags = Vec::new();
    for (method, columns) in METHODS.iter().zip(measured) {
        let entries = || columns.iter().flatten();
        let worst = entries().filter_map(|entry| entry.values.get("worst excess").copied());
        let worst = worst.fold(f64::NEG_INFINITY, f64::max);
        let violated: f64 = entries().filter_map(|e| e.values.get("violated pairs")).sum();
        if violated > 0.0 {
            let pairs: f64 = entries().filter_map(|e| e.values.get("pairs")).sum();
            flags.push(format!(
                "{}: the rows that users really use violate Geo-Ind between {violated} of {pairs} pairs, by a factor of up \
                 to {:.3e} beyond exp(epsilon d): its cost is not that of a private mechanism",
                method.0,
                worst.exp()
            ));
        }
        let open = entries().filter(|e| e.values.get("gap").is_some_and(|gap| *gap > GAP)).count();
        if open > 0 {
            flags.push(format!(
                "{}: {open} of the solves stopped before a gap of {GAP:e}",
                method.0
            ));
        }
        let failed = entries().filter(|entry| entry.failed.is_some()).count();
        if failed > 0 {
            flags.push(format!("{}: {failed} of the measurements failed", method.0));
        }
    }
    flags
}
