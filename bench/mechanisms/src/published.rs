//! `published` on the whole of Rome, next to `lp` where that is feasible.

use std::time::Duration;

use lrgeo_map::map::Map;
use lrgeo_mechanism::verify::verify;
use lrgeo_mechanism::{Built, City, Epsilon, Notion, Plan, build, by_name, connecting_gamma};
use lrgeo_optim::Settings;
use serde_json::{Value, json};

use crate::machine::{Took, timed};
use crate::rome::{Rome, city};
use crate::{SEED, Section};

pub fn section(rome: &Rome) -> Section {
    let mut lines = Vec::new();
    let authors = rome.authors(SEED);
    let whole = whole(&authors);
    let plan = at_one_spacing(&whole);
    lines.push(line("published", &whole, &Plan { gap: Some(1e-3), ..plan.clone() }, "0.1 %"));
    let gamma_km = connecting_gamma(&whole, 1.0);
    let within = Plan { notion: Notion::Within { gamma_km }, ..plan };
    lines.push(line("lp", &whole, &within, "1e-6"));
    report("Published for everybody", lines)
}

/// The same on a map with about 10,000 finer places.
pub fn fine_section(rome: &Rome) -> Section {
    let fine = whole_of_about(rome, 10_000);
    let mut plan = Plan { gap: Some(2e-2), ..at_one_spacing(&fine) };
    plan.solver.time_limit = Some(Duration::from_secs(900));
    report("Published for everybody, finer places", vec![line("published", &fine, &plan, "2 %")])
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
    city(map, map.places.len())
}

/// A grid whose cell gives about `count` places.
fn whole_of_about(rome: &Rome, count: usize) -> City {
    let mut cell_m = 180.0;
    for _ in 0..3 {
        let found = rome.grid(cell_m, 0.0, SEED).places.len();
        cell_m *= (found as f64 / count as f64).sqrt();
    }
    whole(&rome.grid(cell_m, 0.0, SEED))
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
