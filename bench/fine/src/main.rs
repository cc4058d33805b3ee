//! Fine maps and real priors: the instances of the table, each written as a problem file or solved.
//!
//! `fine write NAME FILE.npz`, `fine solve NAME --gap G`; options `--data FOLDER`, `--stretch S`, `--limit SECONDS`, `--smoke`
//! (a small version of the instance), `--trace`.

mod instance;
#[path = "../../large/map.rs"]
mod map;
#[path = "../../growth/process.rs"]
mod process;

use std::path::PathBuf;

use instance::{Instance, Named, STRETCH, Setting};
use lrgeo_optim::format;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let option =
        |name: &str| words.iter().position(|w| w == name).and_then(|at| words.get(at + 1)).cloned();
    let number = |name: &str| option(name).map(|w| w.parse::<f64>().expect("a number"));
    let data = option("--data").map_or_else(|| PathBuf::from("../shared/data"), PathBuf::from);
    let setting = Setting {
        data: &data,
        stretch: number("--stretch").unwrap_or(STRETCH),
        smoke: words.iter().any(|w| w == "--smoke"),
    };
    let named = words.get(1).and_then(|name| Named::by_name(name));
    match (words.first().map(String::as_str), named) {
        (Some("write"), Some(named)) => {
            let instance = named.make(&setting);
            let path = words.get(2).expect("a file to write to");
            write(&instance, path);
            eprintln!(
                "{}: {} places, {} arcs, {path}",
                named.name,
                instance.problem.rows(),
                instance.problem.arcs().len()
            );
        }
        _ => {
            let names = instance::ALL.map(|named| named.name).join(", ");
            eprintln!("usage: fine write NAME FILE.npz | solve NAME; names: {names}");
            std::process::exit(2);
        }
    }
}

fn write(instance: &Instance, path: &str) {
    let bytes = format::problem_to_npz(&instance.problem).expect("a problem within the limits");
    std::fs::write(path, bytes).expect("the problem can be written");
}
