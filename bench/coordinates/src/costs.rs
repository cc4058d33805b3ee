//! What mechanisms cost on the street, beside what they cost between places.

use std::time::{Duration, Instant};

use lrgeo_evaluation::street::People;
use lrgeo_mechanism::{Epsilon, Notion, Plan, build, by_name};
use serde_json::{Value, json};

use crate::Options;
use crate::cities::{ALL, city};

/// Kind, whether remapped, and what the table calls it.
const MECHANISMS: [(&str, Option<bool>, &str); 5] = [
    ("laplace-places", Some(false), "Laplace around the place"),
    ("laplace-places", Some(true), "the same, remapped"),
    ("exp", Some(true), "exponential, remapped"),
    ("published", None, "published: the optimum between places"),
    ("laplace", None, "laplace: for coordinates, remapped"),
];

/// Epsilon in 1/km, and what it is called.
fn epsilons() -> [(f64, &'static str); 2] {
    [(1.0, "1/km"), (2f64.ln() / 0.3, "factor 2 within 300 m")]
}

/// A row of the table for each mechanism, city and epsilon.
pub fn run(options: &Options) {
    let mut rows: Vec<Value> = Vec::new();
    let mut text = String::from(
        "# Costs on the street\n\n\
         People stand anywhere on the streets of their cell; costs are kilometres of misjudged way per report, *between places* with everybody at the centre\n\
         of a cell, *on the street* with everybody where they stand. *Promise*: between people, or between places only. *Guess*: how far the best guess of\n\
         somebody's coordinate is off, who knows mechanism and prior. Cells of 0.5/epsilon. The bound is proven for the best matrix between places at the same\n\
         epsilon, of which every mechanism for coordinates is one.\n\n\
         | city | privacy | places | mechanism | promise | between places | on the street | guess, km | proven bound | made in, s |\n\
         |---|---|---|---|---|---|---|---|---|---|\n",
    );
    print!("{text}");
    for name in ALL
        .iter()
        .filter(|name| options.cities.is_empty() || options.cities.iter().any(|c| c == *name))
    {
        for (epsilon, words) in epsilons() {
            let Some(city) = city(name, 0.5 / epsilon, &options.data) else {
                eprintln!("{name}: no data");
                continue;
            };
            let people = People::draw(&city, options.people, 7, &()).expect("people");
            let mut bound = None;
            for (kind, remap, title) in MECHANISMS {
                let mut plan = Plan::new(&city, Epsilon::per_km(epsilon).expect("an epsilon"));
                (plan.notion, plan.remap) = (Notion::AllPairs, remap);
                plan.solver.time_limit = Some(Duration::from_secs_f64(options.limit));
                let begun = Instant::now();
                let built = match build(by_name(kind).expect("a kind"), &city, &plan, &()) {
                    Ok(built) => built,
                    Err(error) => {
                        eprintln!("{name}, {words}, {kind}: {error}");
                        continue;
                    }
                };
                let seconds = begun.elapsed().as_secs_f64();
                bound = bound.or(built.proof.map(|proof| proof.lower_bound));
                let street = people.assess(&built, &());
                let people =
                    if built.guarantee.notion == Notion::Coordinates { "people" } else { "places" };
                let proven =
                    built.proof.map_or(String::new(), |proof| format!("{:.4}", proof.lower_bound));
                let line = format!(
                    "| {name} | {words} | {} | {title} | {people} | {:.4} | {:.4} | {:.3} | {proven} | {seconds:.1} |\n",
                    city.coords().len(),
                    built.expected_cost,
                    street.cost,
                    street.guess_error_km,
                );
                print!("{line}");
                text += &line;
                rows.push(json!({
                    "city": name, "privacy": words, "epsilon": epsilon, "places": city.coords().len(), "mechanism": title,
                    "promise": people, "between_places": built.expected_cost, "street": street.cost,
                    "guess_error_km": street.guess_error_km, "moved_km": street.moved_km, "refused": street.refused,
                    "lower_bound": built.proof.map(|p| p.lower_bound), "seconds": seconds,
                    "notes": built.notes.iter().map(|(n, t)| format!("{n}: {t}")).collect::<Vec<_>>(),
                }));
                std::fs::write("bench/results/coordinates-costs.md", &text).expect("results");
                let all = serde_json::to_string_pretty(&rows).expect("JSON");
                std::fs::write("bench/results/coordinates-costs.json", all + "\n")
                    .expect("results");
            }
        }
    }
}
