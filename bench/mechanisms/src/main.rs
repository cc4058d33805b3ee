//! Mechanisms on Rome, next to the paper's figures and to HiGHS. `bench/README.md` says how to run it.
//!
//! Sections by name (`tables`, `growth`, `published`, `published-fine`, `round`; all without any). Each replaces its own part of
//! `bench/results/mechanisms.json`, from which `mechanisms.md` is written anew.

mod growth;
mod machine;
mod published;
mod round;
mod tables;

use std::path::Path;

use lrgeo_evaluation::experiments::Ground;
use serde_json::{Map, Value, json};

/// Of targets and users.
pub const SEED: u64 = 20_250_714;

/// A part of the report.
pub struct Section {
    /// Its heading.
    pub title: &'static str,
    /// Markdown.
    pub text: String,
    /// The same for programs.
    pub numbers: Value,
}

type Run = fn(&Ground) -> Section;

const SECTIONS: [(&str, Run); 5] = [
    ("tables", tables::section),
    ("growth", growth::section),
    ("published", published::section),
    ("published-fine", published::fine_section),
    ("round", round::section),
];

const RESULTS: &str = "bench/results/mechanisms.json";

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let Some(rome) = Ground::rome(Path::new("../shared/data")).expect("readable data") else {
        println!("left out: ../shared/data has no Rome places and streets");
        return;
    };
    let known = std::fs::read_to_string(RESULTS).ok();
    let mut report: Map<String, Value> =
        known.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    for (name, run) in SECTIONS {
        if !wanted.is_empty() && !wanted.iter().any(|word| word == name) {
            continue;
        }
        let machine = machine::describe();
        let Section { title, text, numbers } = run(&rome);
        println!("## {title}\n\n{text}");
        report.insert(
            name.to_owned(),
            json!({ "title": title, "machine": machine, "text": text, "numbers": numbers }),
        );
        write(&report);
    }
}

fn write(report: &Map<String, Value>) {
    let mut page = format!(
        "# Mechanisms on Rome\n\n\
         Data: places and streets of `../shared/data` (Rome, undirected, partly recovered), even prior, 20 random targets.\n\
         Seed {SEED}. The paper's figures are quoted from its Tables 1 and 2 (13th Gen Intel Core i7, 16 cores, MATLAB\n\
         `linprog`; mean and 1.96 standard deviations). Run: `bench/mechanisms/run.sh`.\n"
    );
    for (name, _) in SECTIONS {
        if let Some(section) = report.get(name) {
            let part = |key: &str| section[key].as_str().unwrap_or_default().to_owned();
            page += &format!(
                "\n## {}\n\nMachine: {}.\n\n{}",
                part("title"),
                part("machine"),
                part("text")
            );
        }
    }
    std::fs::write("bench/results/mechanisms.md", page)
        .expect("run from the root of the repository");
    let text = serde_json::to_string_pretty(report).expect("numbers");
    std::fs::write(RESULTS, text + "\n").expect("written");
}
