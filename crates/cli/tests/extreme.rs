//! `lrgeo solve` and `lrgeo check` on files with numbers at the ends of the range: what the one writes the other accepts.

#[path = "../../optim/tests/common/mod.rs"]
mod problems;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use lrgeo_optim::Problem;
use lrgeo_optim::format::problem_to_json;
use problems::extreme::extreme;

/// Files that are solved and checked.
const FILES: u64 = 300;

const ENGINES: [&str; 4] = ["colgen", "large", "benders", "direct"];

/// A directory of its own for each test.
fn directory(test: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("lrgeo-extreme-{test}-{}", std::process::id()));
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn lrgeo(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lrgeo")).args(arguments).output().unwrap()
}

/// Solves a file and, where that gives a solution or says that there is none, checks it; returns the exit code of the solve.
fn solved_and_checked(directory: &Path, problem: &str, engine: Option<&str>) -> i32 {
    let paths = [directory.join("problem.json"), directory.join("solution.json")];
    std::fs::write(&paths[0], problem).unwrap();
    let _ = std::fs::remove_file(&paths[1]);
    let [file, solution] = [0, 1].map(|at: usize| paths[at].to_str().unwrap());
    let mut arguments = vec!["solve", file, "--quiet", "-o", solution];
    arguments.extend(engine.iter().flat_map(|engine| ["--engine", engine]));
    let solved = lrgeo(&arguments);
    let code = solved.status.code().expect("an exit code");
    // 1 is an error that names what is wrong, 3 a problem without a solution; 101 would be a panic.
    assert!([0, 1, 3].contains(&code), "{solved:?}\n{problem}");
    if code == 1 {
        assert!(!solved.stderr.is_empty(), "{problem}");
    } else {
        let checked = lrgeo(&["check", file, solution]);
        assert_eq!(checked.status.code(), Some(0), "{engine:?}: {checked:?}\n{problem}");
    }
    code
}

/// An arc so long that eps d is infinite: once a panic, "every node is reached".
#[test]
fn an_arc_longer_than_any_number_is_solved_by_every_engine() {
    let directory = directory("arc");
    for (cost, arcs) in [
        ("[[0,1],[1,0]]", "[[0,1,1e308]]"),
        ("[[0,1,2],[1,0,1],[2,1,0]]", "[[0,1,1e308],[1,2,1]]"),
        ("[[0,1,2],[1,0,1],[2,1,0]]", "[[0,1,1e308],[1,2,1e308]]"),
    ] {
        let problem = format!(r#"{{"version":1,"epsilon":2,"cost":{cost},"arcs":{arcs}}}"#);
        for engine in ENGINES {
            assert_eq!(solved_and_checked(&directory, &problem, Some(engine)), 0, "{engine}");
        }
        // Without a dual vector, and without a matrix, the check solves the problem itself.
        let [file, solution] = ["problem.json", "solution.json"].map(|name| directory.join(name));
        let text = std::fs::read_to_string(&solution).unwrap();
        let mut claims: serde_json::Value = serde_json::from_str(&text).unwrap();
        claims["certificate"]["mu"] = serde_json::json!([]);
        let none = serde_json::json!({ "version": 1, "status": "infeasible" });
        for (claim, code) in [(claims, 0), (none, 4)] {
            std::fs::write(&solution, claim.to_string()).unwrap();
            let checked = lrgeo(&["check", file.to_str().unwrap(), solution.to_str().unwrap()]);
            assert_eq!(checked.status.code(), Some(code), "{checked:?}");
        }
    }
    std::fs::remove_dir_all(directory).unwrap();
}

#[test]
fn what_is_solved_passes_the_check_whatever_the_numbers() {
    let directory = directory("files");
    let mut solved = 0;
    for seed in 0..FILES {
        let Ok(problem) = Problem::new(extreme(seed).parts) else { continue };
        let problem = problem_to_json(&problem).unwrap();
        // Every engine by name in turn, and none.
        let engine = ENGINES.get(seed as usize % (ENGINES.len() + 1)).copied();
        solved += u64::from(solved_and_checked(&directory, &problem, engine) == 0);
    }
    // The engine for large maps does not apply to most of them.
    assert!(solved > FILES / 2, "{solved}");
    std::fs::remove_dir_all(directory).unwrap();
}
