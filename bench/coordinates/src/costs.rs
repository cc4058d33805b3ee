//! What mechanisms cost on the street, beside what they cost between places.

use std::time::{Duration, Instant};

use lrgeo_evaluation::street::People;
use lrgeo_mechanism::stand_in::STOPPED_EARLY;
use lrgeo_mechanism::{City, Plan, build, by_name};
use lrgeo_tiles::{Epsilon, Notion};
use serde_json::{Value, json};

use crate::Options;
use crate::cities::city;
use crate::results::Results;

/// Kind, whether remapped, and what the table calls it.
const MECHANISMS: [(&str, Option<bool>, &str); 5] = [
    ("laplace-places", Some(false), "Laplace around the place"),
    ("laplace-places", Some(true), "the same, remapped"),
    ("exp", Some(true), "exponential, remapped"),
    ("published", None, "published: the optimum between places"),
    ("laplace", None, "laplace: for coordinates, remapped"),
];

const HEAD: &str = "\
# Costs on the street

People stand anywhere on the streets of their cell; costs are kilometres of misjudged way per report, *between places* with everybody at the centre
of a cell, *on the street* with everybody where they stand. *Promise*: between people, or between places only. *Guess*: how far the best guess of
somebody's coordinate is off, who knows mechanism and prior. Cells of 0.5/epsilon. *Proven bound*: no matrix that keeps epsilon between all pairs of these
places costs less between them, and every mechanism for coordinates is such a matrix there; `published` proves it, within its time limit. Where it was
stopped, what was taken stands behind its name.

Written by `cargo run --release -p lrgeo-bench-coordinates -- costs`, which goes on where it was stopped.

| city | privacy | places | mechanism | promise | between places | on the street | guess, km | proven bound | made in, s |
|---|---|---|---|---|---|---|---|---|---|
";

/// Epsilon in 1/km, and what it is called.
fn epsilons() -> [(f64, &'static str); 2] {
    [(1.0, "1/km"), (2f64.ln() / 0.3, "factor 2 within 300 m")]
}

/// A row of the table for each mechanism, city and epsilon.
pub fn run(options: &Options) {
    let mut results = Results::open("coordinates-costs", HEAD.to_owned());
    for name in options.cities() {
        for (epsilon, words) in epsilons() {
            // Made when the first row asks for them: of a run that goes on, often not at all.
            let ground = std::cell::OnceCell::new();
            for (kind, remap, title) in MECHANISMS {
                let will_do = |row: &Value| {
                    let in_time =
                        row["stopped"].is_null() || row["limit"].as_f64() >= Some(options.limit);
                    row["people"] == options.people && in_time && !options.is_again(kind)
                };
                let key = [("city", name), ("privacy", words), ("mechanism", title)];
                let row = results.row(key, will_do, || {
                    eprintln!("{name}, {words}: {title} ..");
                    let (city, people) = ground
                        .get_or_init(|| {
                            let city = city(name, 0.5 / epsilon, &options.data)?;
                            let people =
                                People::draw(&city, options.people, 7, &()).expect("people");
                            Some((city, people))
                        })
                        .as_ref()
                        .or_else(|| {
                            eprintln!("{name}: no data");
                            None
                        })?;
                    let measured = measure(city, people, kind, remap, epsilon, options);
                    let mut row = measured.map_err(|error| eprintln!("  {error}")).ok()?;
                    key.iter().for_each(|(field, value)| row[*field] = json!(value));
                    Some(row)
                });
                if let Some(row) = row {
                    eprint!("{}", line(&row));
                    results.write(line);
                }
            }
        }
    }
}

fn measure(
    city: &City,
    people: &People,
    kind: &str,
    remap: Option<bool>,
    epsilon: f64,
    options: &Options,
) -> Result<Value, lrgeo_mechanism::MechanismError> {
    let mut plan = Plan::new(city, Epsilon::per_km(epsilon)?);
    (plan.notion, plan.remap) = (Notion::AllPairs, remap);
    plan.solver.time_limit = Some(Duration::from_secs_f64(options.limit));
    let begun = Instant::now();
    let built = build(by_name(kind)?, city, &plan, &())?;
    let seconds = begun.elapsed().as_secs_f64();
    let street = people.assess(&built, &());
    let is_for_people = built.guarantee.notion == Notion::Coordinates;
    let stopped = built.notes.iter().find(|(name, _)| name == STOPPED_EARLY).map(|(_, text)| text);
    Ok(json!({
        "epsilon": epsilon, "places": city.places(), "people": options.people, "limit": options.limit,
        "promise": if is_for_people { "people" } else { "places" },
        "between_places": built.expected_cost, "street": street.cost, "guess_error_km": street.guess_error_km,
        "moved_km": street.moved_km, "refused": street.refused, "lower_bound": built.floor, "stopped": stopped,
        "seconds": seconds,
    }))
}

fn line(row: &Value) -> String {
    let text = |field: &str| row[field].as_str().unwrap_or("");
    let number = |field: &str, digits: usize| match row[field].as_f64() {
        Some(value) => format!("{value:.digits$}"),
        None => String::new(),
    };
    // "..; Laplace noise was taken; .." says what stands in.
    let taken = text("stopped").split("; ").find_map(|part| part.strip_suffix(" was taken"));
    let taken = taken.map_or(String::new(), |taken| {
        format!(" (stopped after {} s: {taken})", number("limit", 0))
    });
    format!(
        "| {} | {} | {} | {}{taken} | {} | {} | {} | {} | {} | {} |\n",
        text("city"),
        text("privacy"),
        row["places"],
        text("mechanism"),
        text("promise"),
        number("between_places", 4),
        number("street", 4),
        number("guess_error_km", 3),
        number("lower_bound", 4),
        number("seconds", 1),
    )
}
