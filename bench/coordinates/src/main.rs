//! Mechanisms for people who stand anywhere: what they cost on the street, and whether they keep their promise there.
//!
//! `costs [CITY..]`: every mechanism on four cities at 1/km and at "factor 2 within 300 m", beside a proven lower bound.
//! `pairs [CITY..]`: ten million random pairs of coordinates up to 300 m apart. Both write
//! `bench/results/coordinates-*.md` and `.json` after every row and go on from there: a row is measured anew where there is none yet, where it is of
//! fewer people or pairs, where its optimiser was stopped sooner than now, or where `--again KIND` says so.
//! `splines [CITY..]`: what an optimum for coordinates costs on the street once gradients are brought below epsilon.
//! `--people N`, `--pairs N`, `--limit SECONDS` of each optimiser, `--data DIR`.

mod cities;
mod costs;
mod pairs;
mod results;
mod splines;

use std::path::PathBuf;

/// What was asked for.
pub struct Options {
    /// Where the data is.
    pub data: PathBuf,
    /// Some of the cities; all where there are none.
    pub cities: Vec<String>,
    /// People on streets.
    pub people: usize,
    /// Pairs of coordinates.
    pub pairs: usize,
    /// Seconds for an optimiser.
    pub limit: f64,
    /// A kind to measure anew whatever is known.
    pub again: Option<String>,
}

impl Options {
    /// The cities that were asked for, in the order of the tables.
    pub fn cities(&self) -> impl Iterator<Item = &'static str> {
        let wanted = |name: &&str| self.cities.is_empty() || self.cities.iter().any(|c| c == name);
        cities::ALL.into_iter().filter(wanted)
    }

    /// Whether a kind is measured anew.
    pub fn is_again(&self, kind: &str) -> bool {
        self.again.as_deref() == Some(kind)
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| words.iter().position(|w| w == name).map(|at| words[at + 1].clone());
    let number = |name: &str, default: usize| {
        value(name).map_or(default, |word| word.parse().expect("a number"))
    };
    let mut cities: Vec<String> = Vec::new();
    let mut rest = words.iter().skip(1);
    while let Some(word) = rest.next() {
        match word.starts_with("--") {
            true => drop(rest.next()),
            false => cities.push(word.clone()),
        }
    }
    let options = Options {
        data: value("--data").map_or_else(|| PathBuf::from("../shared/data"), PathBuf::from),
        cities,
        people: number("--people", 1000),
        pairs: number("--pairs", 10_000_000),
        limit: number("--limit", 60) as f64,
        again: value("--again"),
    };
    match words.first().map(String::as_str) {
        Some("costs") => costs::run(&options),
        Some("pairs") => pairs::run(&options),
        Some("splines") => splines::run(&options),
        _ => {
            eprintln!(
                "usage: lrgeo-bench-coordinates costs|pairs|splines [demo reykjavik san-francisco rome]"
            );
            std::process::exit(2);
        }
    }
}
