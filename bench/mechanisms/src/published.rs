//! `published` on the whole of Rome, next to `lp` where that is feasible.

use std::time::Duration;

use lrgeo_evaluation::experiments::{Ground, central_city};
use lrgeo_map::map::Map;
use lrgeo_mechanism::verify::verify;
use lrgeo_mechanism::{Built, City, Plan, build, by_name, connecting_gamma};
use lrgeo_optim::Settings;
use lrgeo_tiles::{Epsilon, Notion};
use serde_json::{Value, json};

use crate::machine::{Took, timed};
use crate::{SEED, Section};

pub fn section(rome: &Ground) -> Section {
    let mut lines = Vec::new();
    let whole = whole(&rome.places(SEED).expect("places"));
    let plan = at_one_spacing(&whole);
    lines.push(line("published", &whole, &Plan { gap: Some(1e-3), ..plan.clone() }, "0.1 %"));
    let gamma_km = connecting_gamma(&whole, 1.0);
    let within = Plan { notion: Notion::Within { gamma_km }, ..plan };
    lines.push(line("lp", &whole, &within, "1e-6"));
    report("Published for everybody", lines)
}

/// The same on a map with 10,000 finer places, and `lp` at the largest size that it does in ten minutes.
pub fn fine_section(rome: &Ground) -> Section {
    let fine = whole_of_at_least(rome, 10_000);
    let mut plan = Plan { gap: Some(2e-2), ..at_one_spacing(&fine) };
    plan.solver.time_limit = Some(Duration::from_secs(900));
    let mut lines = vec![line("published", &fine, &plan, "2 %")];
    drop(fine);
    for city in [whole(&rome.places(SEED).expect("places")), whole_of_at_least(rome, 2_500)] {
        // Within the usual gamma, in spacings: neighbours do not become more as places become finer.
        let mut plan = at_one_spacing(&city);
        plan.solver.time_limit = Some(Duration::from_secs(600));
        lines.push(line("lp", &city, &plan, "1e-6"));
    }
    report("Published for everybody, finer places", lines)
}

fn report(title: &'static str, lines: Vec<(String, Value)>) -> Section {
    let mut text = String::from(
        "eps x spacing 1. *Proven gap*: of the programme that is solved, all pairs by way of a spanner.\n\
         Time by the clock is of making and verifying; the verifier is then run once more and timed alone.\n\n\
         | mechanism | places | pairs | eps | cost km | proven gap | asked | wall s | CPU s | verifying s | violations | remark |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    let mut numbers = Vec::new();
    for (line, values) in lines {
        text += &line;
        numbers.push(values);
    }
    Section { title, text, numbers: json!(numbers) }
}

fn whole(map: &Map) -> City {
    central_city(map, map.places.len()).expect("a city")
}

/// The grid with the largest cells, in steps of a two-hundredth, that gives at least `count` places.
fn whole_of_at_least(rome: &Ground, count: usize) -> City {
    let grid = |cell_m: f64| rome.grid(cell_m, 0.0, SEED).expect("a grid");
    let mut cell_m = 180.0;
    for _ in 0..3 {
        cell_m *= (grid(cell_m).places.len() as f64 / count as f64).sqrt();
    }
    cell_m *= 1.01;
    loop {
        let map = grid(cell_m);
        if map.places.len() >= count {
            eprintln!("{} places with cells of {cell_m:.1} m", map.places.len());
            return whole(&map);
        }
        cell_m *= 0.995;
    }
}

fn at_one_spacing(city: &City) -> Plan {
    let epsilon = Epsilon::per_km(1.0 / city.spacing_km()).expect("an epsilon");
    let solver = Settings { time_limit: Some(Duration::from_secs(150)), ..Settings::default() };
    Plan { solver, ..Plan::new(city, epsilon) }
}

fn line(kind: &str, city: &City, plan: &Plan, asked: &str) -> (String, Value) {
    let (built, took) = timed(|| build(by_name(kind).expect("registered"), city, plan, &()));
    let head = format!("| {kind} | {} |", city.places());
    eprintln!("{kind} {}: {took:?}", city.places());
    match built {
        Err(error) => (
            format!(
                "{head} - | {:.3} | - | - | {asked} | {:.1} | {:.1} | - | - | failed: {error} |\n",
                plan.epsilon.value(),
                took.wall,
                took.cpu
            ),
            json!({ "kind": kind, "places": city.places(), "failed": error.to_string(), "seconds": took.wall }),
        ),
        Ok(built) => found(&head, &built, took, asked),
    }
}

fn found(head: &str, built: &Built, took: Took, asked: &str) -> (String, Value) {
    let (verdict, checked) = timed(|| verify(built, &()));
    let proof = built.proof.expect("it was optimised");
    let remark = built.notes.iter().find(|(name, _)| name == "price of the spanner");
    let remark = remark.map_or("", |(_, text)| text);
    let violations = verdict.guaranteed.violations;
    let text = format!(
        "{head} {} | {:.3} | {:.4} | {:.3} % | {asked} | {:.1} | {:.1} | {:.1} | {violations} | {remark} |\n",
        built.guarantee.notion,
        built.guarantee.epsilon.value(),
        built.expected_cost,
        100.0 * proof.gap,
        took.wall,
        took.cpu,
        checked.wall,
    );
    let numbers = json!({
        "kind": built.kind,
        "places": built.coords.len(),
        "epsilon": built.guarantee.epsilon.value(),
        "cost": built.expected_cost,
        "gap": proof.gap,
        "status": proof.status.as_str(),
        "wall": took.wall,
        "cpu": took.cpu,
        "verify_seconds": checked.wall,
        "checked": verdict.guaranteed.checked,
        "violations": violations,
        "worst_log_excess": verdict.guaranteed.worst_log_excess,
    });
    (text, numbers)
}
