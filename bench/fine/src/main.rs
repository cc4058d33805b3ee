//! Fine maps and real priors: the instances of the table, each written as a problem file, solved, or stopped early. One process
//! does one thing with one instance and prints one line of JSON; `bench/fine/measure.py` makes the table of them.
//!
//! `fine write NAME FILE.npz`; `fine solve NAME --gap G`; `fine stop NAME --gap G --at 1,2,5` (solved anew for each of these
//! seconds); `fine laplace NAME` (what plain and remapped Laplace cost). Options: `--data FOLDER`, `--stretch S`,
//! `--limit SECONDS`, `--threads N`, `--smoke` (a small version of the instance), `--trace`.

mod instance;
mod laplace;
#[path = "../../large/map.rs"]
mod map;
#[path = "../../growth/process.rs"]
mod process;
mod run;

use std::path::PathBuf;
use std::time::Instant;

use instance::{Named, Setting};
use lrgeo_mechanism::STRETCH;
use lrgeo_optim::format;
use run::{Until, measured};
use serde_json::{Value, json};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let option =
        |name: &str| words.iter().position(|w| w == name).and_then(|at| words.get(at + 1)).cloned();
    let number = |name: &str| option(name).map(|w| w.parse::<f64>().expect("a number"));
    let has = |name: &str| words.iter().any(|w| w == name);
    let data = option("--data").map_or_else(|| PathBuf::from("../shared/data"), PathBuf::from);
    let stretch = number("--stretch").unwrap_or(STRETCH);
    let setting = Setting { data: &data, stretch, smoke: has("--smoke") };
    let (Some(task), Some(named)) =
        (words.first(), words.get(1).and_then(|name| Named::by_name(name)))
    else {
        usage();
    };
    let begun = Instant::now();
    let instance = named.make(&setting);
    let problem = &instance.problem;
    let mut line = json!({
        "instance": named.name,
        "about": named.about,
        "places": problem.rows(),
        "arcs": problem.arcs().len(),
        "building": begun.elapsed().as_secs_f64(),
    });
    let until = |seconds| Until {
        gap: number("--gap").unwrap_or(0.02),
        seconds,
        threads: number("--threads").map_or(0, |n| n as usize),
        trace: has("--trace"),
    };
    match task.as_str() {
        "write" => {
            let bytes = format::problem_to_npz(problem).expect("a problem within the limits");
            let path = words.get(2).expect("a file to write to");
            std::fs::write(path, bytes).expect("the problem can be written");
        }
        "solve" => line["solve"] = measured(problem, &until(number("--limit"))),
        "stop" => {
            let moments = option("--at").expect("seconds to stop after");
            let stopped = moments.split(',').map(|moment| {
                let seconds = moment.parse().expect("seconds");
                json!({ "after": seconds, "solve": measured(problem, &until(Some(seconds))) })
            });
            line["stopped"] = Value::Array(stopped.collect());
        }
        "laplace" => {
            if let Some((plain, remapped)) = laplace::costs(&instance) {
                line["laplace"] = json!({ "plain": plain, "remapped": remapped });
            }
        }
        _ => usage(),
    }
    line["megabytes"] = json!(process::peak_megabytes());
    println!("{line}");
}

fn usage() -> ! {
    let names = instance::ALL.map(|named| named.name).join(", ");
    eprintln!("usage: fine write NAME FILE.npz | solve NAME | stop NAME --at S,S | laplace NAME");
    eprintln!("names: {names}");
    std::process::exit(2);
}
