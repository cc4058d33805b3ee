//! The crates and their arrows: what ARCHITECTURE.md draws is what cargo says.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// From the bottom up. A crate may use the crates of lower floors and nothing else of ours.
const FLOORS: [&[&str]; 5] = [
    &["lrgeo-geo", "lrgeo-optim"],
    &["lrgeo-map", "lrgeo-protocol", "lrgeo-tiles"],
    &["lrgeo-mechanism", "lrgeo-show"],
    &["lrgeo-evaluation", "lrgeo-client", "lrgeo-server"],
    &["lrgeo"],
];

fn metadata() -> serde_json::Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn floor_of(name: &str) -> Option<usize> {
    FLOORS.iter().position(|floor| floor.contains(&name))
}

#[test]
fn arrows_point_down() {
    let metadata = metadata();
    let mut ours = BTreeMap::new();
    for package in metadata["packages"].as_array().expect("packages") {
        let uses = package["dependencies"].as_array().expect("dependencies").iter();
        // What only tests use (a real server for the client's) makes no arrow.
        let uses: Vec<String> = uses
            .filter(|d| d["kind"] != "dev")
            .map(|d| d["name"].as_str().expect("name").to_owned())
            .filter(|name| name.starts_with("lrgeo"))
            .collect();
        ours.insert(package["name"].as_str().expect("name").to_owned(), uses);
    }
    for name in FLOORS.concat() {
        assert!(ours.contains_key(name), "{name} is drawn but not there");
    }
    for (name, uses) in &ours {
        // Benchmarks and what is fuzzed stand outside the house and may look at every floor; nobody may use them.
        let floor = floor_of(name).unwrap_or_else(|| {
            assert!(
                name.starts_with("lrgeo-bench") || name == "lrgeo-fuzz-runs",
                "{name} has no floor: draw it in ARCHITECTURE.md"
            );
            FLOORS.len()
        });
        for used in uses {
            let below = floor_of(used).is_some_and(|lower| lower < floor);
            assert!(below, "{name} must not use {used}: arrows point down");
        }
    }
    let drawn = include_str!("../../../ARCHITECTURE.md");
    for name in ours.keys().filter(|name| floor_of(name).is_some()) {
        let folder = name.strip_prefix("lrgeo-").unwrap_or("cli");
        assert!(
            drawn.contains(&format!("crates/{folder}")),
            "ARCHITECTURE.md does not mention {name}"
        );
    }
}

/// Crates that the smallest client is made of, itself included, each counted once: 127 when it was one piece with map, solvers and files.
const SMALLEST_CLIENT: usize = 42;

#[test]
fn the_smallest_client_stays_small() {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "-p", "lrgeo-client", "--no-default-features"])
        .args(["--edges", "normal", "--prefix", "none", "--format", "{p}"])
        .args(["--target", "x86_64-unknown-linux-gnu"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    let crates: BTreeSet<&str> =
        text.lines().map(|line| line.split(" (").next().unwrap_or(line)).collect();
    assert!(crates.len() > 10, "cargo tree says something else: {text}");
    assert!(crates.len() <= SMALLEST_CLIENT, "{} crates: {crates:#?}", crates.len());
    for name in ["rayon", "osmpbf", "csv", "zip", "clarabel", "faer", "ureq", "lrgeo-map"] {
        let found = crates.iter().find(|line| line.split(' ').next() == Some(name));
        assert!(found.is_none(), "a phone needs no {name}");
    }
}

#[test]
fn what_a_phone_needs_has_no_files_clocks_or_threads() {
    // Whoever leaves out the features of these files leaves out what they call.
    const WITH_FEATURES: [&str; 5] = [
        "client/src/state/file.rs",
        "client/src/state/sealed.rs",
        "client/src/clock.rs",
        "client/src/http.rs",
        "client/src/offload/mod.rs",
    ];
    for (path, text) in code_of(&["lrgeo-geo", "lrgeo-tiles", "lrgeo-client", "lrgeo-protocol"]) {
        if WITH_FEATURES.iter().any(|known| path.ends_with(known)) {
            continue;
        }
        for word in ["std::fs", "SystemTime", "Instant::", "std::thread", "std::net"] {
            assert!(!text.contains(word), "{} uses {word}", path.display());
        }
    }
}

/// The files of some crates but for their tests, with what stands in them.
fn code_of(crates: &[&str]) -> Vec<(PathBuf, String)> {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folder = |name: &&str| all.join(name.trim_start_matches("lrgeo-")).join("src");
    let (mut folders, mut found): (Vec<PathBuf>, _) =
        (crates.iter().map(folder).collect(), Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") && !path.ends_with("tests.rs")
            {
                let text = std::fs::read_to_string(&path).expect("a file");
                found.push((path, text));
            }
        }
    }
    assert!(found.len() > crates.len(), "nothing was read");
    found
}

/// Whoever uses a library has no command line: messages name fields, and `cli/src/failure.rs` makes options of them.
#[test]
fn no_library_speaks_of_options_of_the_command_line() {
    let libraries: Vec<&str> =
        FLOORS.concat().into_iter().filter(|name| *name != "lrgeo").collect();
    for (path, text) in code_of(&libraries) {
        for (number, line) in text.lines().enumerate() {
            let is_comment = line.trim_start().starts_with("//");
            let mut options = line.match_indices("--").map(|(at, _)| &line[at + 2..]);
            let names_one = options.any(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()));
            assert!(is_comment || !names_one, "{}:{}: {line}", path.display(), number + 1);
        }
    }
}
