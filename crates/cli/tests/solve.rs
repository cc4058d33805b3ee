//! `lrgeo solve` and `lrgeo check` as a person runs them.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// The problem of docs/problem-format.md.
fn documented_problem() -> String {
    let document = include_str!("../../../docs/problem-format.md");
    let block = document.split("```json\n").nth(1).expect("example");
    block.split("```").next().expect("end of the example").to_owned()
}

/// A directory of its own for each test.
fn directory(test: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("lrgeo-solve-{test}-{}", std::process::id()));
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn lrgeo(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lrgeo")).args(arguments).output().unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("an exit code")
}

#[test]
fn every_engine_solves_and_its_solution_passes_the_check() {
    let directory = directory("engines");
    let problem = directory.join("problem.json");
    std::fs::write(&problem, documented_problem()).unwrap();
    let problem = problem.to_str().unwrap();
    let mut costs = Vec::new();
    for engine in ["colgen", "benders", "direct"] {
        for name in ["solution.json", "solution.npz"] {
            let solution = directory.join(name);
            let solution = solution.to_str().unwrap();
            let solved = lrgeo(&["solve", problem, "--engine", engine, "--json", "-o", solution]);
            assert_eq!(code(&solved), 0, "{engine}: {solved:?}");
            let account: serde_json::Value = serde_json::from_slice(&solved.stdout).unwrap();
            assert_eq!(account["status"], "optimal", "{engine}: {account}");
            costs.push(account["cost"].as_f64().unwrap());
            let checked = lrgeo(&["check", problem, solution]);
            assert_eq!(code(&checked), 0, "{engine} {name}: {checked:?}");
        }
    }
    let (low, high) = (costs.iter().copied().fold(f64::MAX, f64::min), costs[0]);
    for cost in costs {
        assert!((cost - low).abs() <= 2e-6 * high, "{cost} {low}");
    }
    std::fs::remove_dir_all(directory).unwrap();
}

#[test]
fn a_solution_that_was_tampered_with_is_caught() {
    let directory = directory("tampered");
    let (problem, solution) = (directory.join("p.json"), directory.join("s.json"));
    std::fs::write(&problem, documented_problem()).unwrap();
    let (problem, path) = (problem.to_str().unwrap(), solution.to_str().unwrap());
    assert_eq!(code(&lrgeo(&["solve", problem, "--quiet", "-o", path])), 0);
    let text = std::fs::read_to_string(&solution).unwrap();
    let file: serde_json::Value = serde_json::from_str(&text).unwrap();
    let raised = |field: &str, by: f64| {
        let mut file = file.clone();
        file[field] = (file[field].as_f64().unwrap() + by).into();
        file
    };
    let mut moved = file.clone();
    let (a, b) = (file["z"][0][0].as_f64().unwrap(), file["z"][0][1].as_f64().unwrap());
    moved["z"][0][0] = (a + 0.5 * b).into();
    moved["z"][0][1] = (0.5 * b).into();
    let cases = [
        ("objective", raised("objective", 1e-3)),
        ("lower bound", raised("lower_bound", 1e-2)),
        ("gap", raised("gap", 0.1)),
        ("privacy", moved),
    ];
    for (what, tampered) in cases {
        std::fs::write(&solution, tampered.to_string()).unwrap();
        let checked = lrgeo(&["check", problem, path, "--json"]);
        assert_eq!(code(&checked), 4, "{what}");
        let report: serde_json::Value = serde_json::from_slice(&checked.stdout).unwrap();
        let finding = report["findings"].as_array().unwrap().iter().find(|f| f["what"] == what);
        assert_eq!(finding.unwrap()["holds"], false, "{report}");
    }
    std::fs::remove_dir_all(directory).unwrap();
}

#[test]
fn an_infeasible_problem_has_an_exit_code_of_its_own_and_names_the_row() {
    let directory = directory("infeasible");
    let (problem, solution) = (directory.join("p.json"), directory.join("s.json"));
    let text = documented_problem()
        .replace("[[1, 1, 0.0, 0.7]]", "[[1, 0, 0.0, 0.2], [1, 1, 0.0, 0.2], [1, 2, 0.0, 0.2]]");
    std::fs::write(&problem, text).unwrap();
    let (problem, solution) = (problem.to_str().unwrap(), solution.to_str().unwrap());
    for engine in ["colgen", "benders", "direct"] {
        let solved = lrgeo(&["solve", problem, "--engine", engine, "-o", solution]);
        assert_eq!(code(&solved), 3, "{engine}: {solved:?}");
        let message = String::from_utf8(solved.stderr).unwrap();
        assert!(message.contains("infeasible at row 1"), "{engine}: {message}");
        assert_eq!(code(&lrgeo(&["check", problem, solution])), 0);
    }
    std::fs::remove_dir_all(directory).unwrap();
}

#[test]
fn bad_files_are_told_apart_from_bad_usage() {
    let directory = directory("bad");
    let problem = directory.join("p.json");
    std::fs::write(&problem, documented_problem().replace("0.8", "-0.8")).unwrap();
    let path = problem.to_str().unwrap();
    let solved = lrgeo(&["solve", path]);
    assert_eq!(code(&solved), 1);
    let message = String::from_utf8(solved.stderr).unwrap();
    assert!(message.contains("arcs[0] is -0.8, below zero"), "{message}");
    assert_eq!(code(&lrgeo(&["solve", directory.join("none.json").to_str().unwrap()])), 1);
    assert_eq!(code(&lrgeo(&["solve", path, "--engine", "magic"])), 2);
    assert_eq!(code(&lrgeo(&["solve", path, "--time-limit", "soon"])), 2);
    std::fs::remove_dir_all(directory).unwrap();
}

/// An even grid with arcs to the four neighbours, its distance as the cost.
fn grid(side: usize, epsilon: f64) -> String {
    let n = side * side;
    let place = |v: usize| ((v % side) as f64, (v / side) as f64);
    let distance = |v: usize, w: usize| (place(v).0 - place(w).0).hypot(place(v).1 - place(w).1);
    let cost: Vec<Vec<f64>> =
        (0..n).map(|v| (0..n).map(|w| distance(v, w) / n as f64).collect()).collect();
    let mut arcs = Vec::new();
    for v in 0..n {
        arcs.extend((v % side + 1 < side).then_some((v, v + 1, 1.0)));
        arcs.extend((v + side < n).then_some((v, v + side, 1.0)));
    }
    serde_json::json!({ "version": 1, "epsilon": epsilon, "cost": cost, "arcs": arcs }).to_string()
}

#[test]
fn the_large_engine_by_name_gives_a_solution_that_passes_the_check() {
    let directory = directory("large");
    let problem = directory.join("p.json");
    std::fs::write(&problem, grid(12, 1.5)).unwrap();
    let problem = problem.to_str().unwrap();
    for name in ["s.json", "s.npz"] {
        let solution = directory.join(name);
        let solution = solution.to_str().unwrap();
        let options = ["--engine", "large", "--gap", "5e-3", "--json", "-o", solution];
        let solved = lrgeo(&[&["solve", problem], &options[..]].concat());
        assert_eq!(code(&solved), 0, "{solved:?}");
        let account: serde_json::Value = serde_json::from_slice(&solved.stdout).unwrap();
        assert_eq!((&account["engine"], &account["status"]), (&"large".into(), &"gap".into()));
        let checked = lrgeo(&["check", problem, solution]);
        assert_eq!(code(&checked), 0, "{name}: {checked:?}");
    }
    std::fs::remove_dir_all(directory).unwrap();
}

#[cfg(unix)]
#[test]
fn ctrl_c_gives_the_best_matrix_so_far() {
    let directory = directory("ctrl-c");
    let (problem, solution) = (directory.join("p.json"), directory.join("s.json"));
    // At eps * spacing 0.3 a gap of 1e-12 is out of reach for a long time.
    std::fs::write(&problem, grid(24, 0.3)).unwrap();
    let (problem, solution) = (problem.to_str().unwrap(), solution.to_str().unwrap());
    let mut solving = Command::new(env!("CARGO_BIN_EXE_lrgeo"))
        .args(["solve", problem, "--engine", "large", "--gap", "1e-12", "--json", "-o", solution])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_secs(2));
    assert!(solving.try_wait().unwrap().is_none(), "solved before it could be interrupted");
    let interrupted = Instant::now();
    let sent = Command::new("kill").args(["-INT", &solving.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let output = solving.wait_with_output().unwrap();
    // Well below a second on an idle machine, the writing of the matrix included.
    assert!(interrupted.elapsed() < Duration::from_secs(5), "{:?}", interrupted.elapsed());
    assert_eq!(code(&output), 0, "{output:?}");
    let account: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(account["status"], "limit");
    let checked = lrgeo(&["check", problem, solution, "--json"]);
    let report: serde_json::Value = serde_json::from_slice(&checked.stdout).unwrap();
    assert_eq!(report["holds"], true, "{report}");
    std::fs::remove_dir_all(directory).unwrap();
}
