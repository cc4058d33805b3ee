//! What maps and travel costs take, as ratios in one run. `bench/README.md` says how to run it.

mod import;
mod machine;
mod rome;

use std::fmt::Write;
use std::path::PathBuf;

fn main() {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        // A process of its own, so that its peak memory is that of the import alone.
        Some("import-once") => import::once(&arguments.next().map(PathBuf::from).expect("a file")),
        Some("table-once") => {
            let cell = arguments.next().and_then(|m| m.parse().ok()).expect("metres");
            rome::table_once(&arguments.next().map(PathBuf::from).expect("a folder"), cell);
        }
        data => {
            let data = PathBuf::from(data.unwrap_or("../shared/data"));
            let mut report = format!("# Maps and travel costs\n\n{}\n\n", machine::describe());
            for part in [import::report(&data)].into_iter().chain(rome::report(&data)) {
                println!("{part}");
                let _ = writeln!(report, "{part}");
            }
            std::fs::write("bench/results/map.md", report)
                .expect("run from the root of the repository");
        }
    }
}
