//! Asked for a factor of 2 within 300 m: what two people get who are at most 300 m apart.
//!
//! Ten million pairs, but not twenty million rows: people stand in neighbourhoods, discs of 300 m across with 200 people each, and *every* two people
//! of a neighbourhood are a pair. The largest ratio over all pairs of a neighbourhood is, report by report, its largest probability over its
//! smallest, so that each row is looked at once.

use std::time::{Duration, Instant};

use lrgeo_geo::index::SpatialIndex;
use lrgeo_geo::rng::SplitMix;
use lrgeo_geo::spacing::reach_km;
use lrgeo_geo::{Coord, PlaceId};
use lrgeo_mechanism::stand_in::STOPPED_EARLY;
use lrgeo_mechanism::{Built, Plan, Rows, build, by_name};
use lrgeo_tiles::{Distribution, Epsilon, Notion};
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::Options;
use crate::cities::city;
use crate::results::Results;

/// People of one neighbourhood, all within 300 m of each other.
const GROUP: usize = 200;
const KINDS: [&str; 4] = ["laplace", "laplace-places", "exp", "published"];
const ASKED: &str = "factor 2 within 300 m";

/// The largest factor over all pairs of coordinates, for each mechanism and city.
pub fn run(options: &Options) {
    let epsilon = 2f64.ln() / 0.3;
    let groups = options.pairs.div_ceil(GROUP * (GROUP - 1));
    let head = format!(
        "# Two people at most 300 m apart\n\n\
         Asked: {ASKED}. Random neighbourhoods, discs of 300 m across near random places, {GROUP} random coordinates in each, every ordered pair of a\n\
         neighbourhood, every report. Cells of 0.5/epsilon. A mechanism that promises to people must stay below 2; those on places say what they give instead.\n\n\
         Written by `cargo run --release -p lrgeo-bench-coordinates -- pairs`, which goes on where it was stopped.\n\n\
         | city | places | mechanism | promise | pairs | largest factor | seconds |\n|---|---|---|---|---|---|---|\n",
    );
    let mut results = Results::open("coordinates-pairs", head);
    for name in options.cities() {
        let ground = std::cell::OnceCell::new();
        for kind in KINDS {
            let will_do = |row: &Value| {
                row["groups"].as_u64() >= Some(groups as u64) && !options.is_again(kind)
            };
            let key = [("city", name), ("privacy", ASKED), ("mechanism", kind)];
            let row = results.row(key, will_do, || {
                eprintln!("{name}: {kind} ..");
                let city = ground.get_or_init(|| city(name, 0.5 / epsilon, &options.data)).as_ref()?;
                let mut plan = Plan::new(city, Epsilon::per_km(epsilon).expect("an epsilon"));
                plan.notion = Notion::AllPairs;
                plan.solver.time_limit = Some(Duration::from_secs_f64(options.limit));
                let built = build(by_name(kind).expect("a kind"), city, &plan, &());
                let built = built.map_err(|error| eprintln!("  {error}")).ok()?;
                let begun = Instant::now();
                let (worst, pairs) = largest_factor(&built, groups);
                let is_for_people = built.guarantee.notion == Notion::Coordinates;
                let stopped = built.notes.iter().find(|(name, _)| name == STOPPED_EARLY);
                let mut row = json!({
                    "places": city.places(), "promise": if is_for_people { "people" } else { "places" },
                    "groups": groups, "pairs": pairs, "factor": worst, "seconds": begun.elapsed().as_secs_f64(),
                    "stopped": stopped.map(|(_, text)| text),
                });
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

fn line(row: &Value) -> String {
    let text = |field: &str| row[field].as_str().unwrap_or("");
    let taken = text("stopped").split("; ").find_map(|part| part.strip_suffix(" was taken"));
    let taken = taken.map_or(String::new(), |taken| format!(" (stopped early: {taken})"));
    format!(
        "| {} | {} | {}{taken} | {} | {} | {:.6} | {:.0} |\n",
        text("city"),
        row["places"],
        text("mechanism"),
        text("promise"),
        row["pairs"],
        row["factor"].as_f64().unwrap_or(f64::NAN),
        row["seconds"].as_f64().unwrap_or(f64::NAN),
    )
}

/// The largest ratio of two probabilities of one report within a neighbourhood, and how many ordered pairs were looked at.
fn largest_factor(built: &Built, groups: usize) -> (f64, u64) {
    let index = SpatialIndex::new(&built.coords);
    let reach = reach_km(lrgeo_geo::spacing::spacing_km(&built.coords).unwrap_or(0.0));
    let row = |at: Coord| match &built.rows {
        Rows::Noise(noise) => noise.row_at(at),
        _ => {
            let (place, km) = index.nearest(at)?;
            (km <= reach).then(|| built.row(PlaceId::new(place)))?
        }
    };
    let each = (0..groups as u64).into_par_iter().map(|seed| within(built, &row, seed));
    each.reduce(|| (0.0, 0), |a, b| (a.0.max(b.0), a.1 + b.1))
}

fn within(built: &Built, row: &impl Fn(Coord) -> Option<Distribution>, seed: u64) -> (f64, u64) {
    let mut rng = SplitMix::new(seed);
    let place = built.coords[rng.below(built.coords.len())];
    let middle = place.offset_km(rng.between(-0.1, 0.1), rng.between(-0.1, 0.1));
    let n = built.coords.len();
    let (mut most, mut least, mut people) = (vec![0.0f64; n], vec![f64::INFINITY; n], 0);
    for _ in 0..GROUP {
        let radius = 0.1499 * rng.unit().sqrt();
        let (sin, cos) = (std::f64::consts::TAU * rng.unit()).sin_cos();
        let Some(row) = row(middle.offset_km(radius * sin, radius * cos)) else { continue };
        people += 1;
        for ((z, most), least) in row.iter().zip(&mut most).zip(&mut least) {
            *most = most.max(*z);
            *least = least.min(*z);
        }
    }
    let ratios = most.iter().zip(&least).filter(|(most, _)| **most > 0.0).map(|(a, b)| a / b);
    (ratios.fold(0.0, f64::max), people * u64::max(people, 1) - people)
}
