//! A round of four users against HiGHS on the same linear programme, and the client's part of it.

use std::path::Path;
use std::process::Command;

use lrgeo_map::rng::SplitMix;
use lrgeo_mechanism::lr_geo::coefficients::{Costs, UserPart};
use lrgeo_mechanism::lr_geo::round::Programme;
use lrgeo_mechanism::relevant::{TieRule, geo_ind_graph};
use lrgeo_mechanism::{City, Plan};
use lrgeo_optim::{Settings, format};
use serde_json::{Value, json};

use crate::machine::timed;
use crate::rome::{Rome, city};
use crate::{SEED, Section};

const USERS: usize = 4;
const PLACES: usize = 400;
const HIGHS_LIMIT: &str = "300";

pub fn section(rome: &Rome) -> Section {
    let city = city(&rome.authors(SEED), PLACES);
    let mut text = format!(
        "K = {PLACES}, {USERS} users, |N_m| = 20, one thread, CPU seconds; the best of five for us, one run for HiGHS.\n\
         The client's part: LR sets, ranges and coefficient matrices of all {USERS} users, from the published table and graph.\n\n\
         | settings | rows x columns | round, s | gap | HiGHS simplex, s | HiGHS ipm, s | round / HiGHS (<= 0.1) | client, s | client / round (<= 0.05) |\n\
         |---|---|---|---|---|---|---|---|---|\n"
    );
    let mut numbers = Vec::new();
    for (name, plan) in [("paper", Plan::paper()), ("practical", Plan::practical())] {
        let mut plan = plan.expect("a plan");
        plan.radii.relevant_max = Some(20);
        let users = SplitMix::new(SEED).choose(PLACES, USERS).into_iter();
        plan.users = users.map(|user| user as u32).collect();
        plan.solver = Settings { threads: 1, ..Settings::default() };
        let (line, values) = race(name, &city, &plan);
        text += &line;
        numbers.push(values);
    }
    Section { title: "A round against HiGHS", text, numbers: json!(numbers) }
}

/// The shortest of five runs, in CPU seconds: the machine may be shared.
fn best<T>(mut work: impl FnMut() -> T) -> (T, f64) {
    let mut once = || {
        let (done, took) = timed(&mut work);
        (done, took.cpu)
    };
    (0..4).fold(once(), |best, _| {
        let next = once();
        if next.1 < best.1 { next } else { best }
    })
}

fn race(name: &str, city: &City, plan: &Plan) -> (String, Value) {
    let graph = geo_ind_graph(city, plan);
    let table = city.table(plan.table_cell, &()).expect("a table");
    let costs = Costs::of(city, table.as_deref());
    let (parts, client) = best(|| {
        let prepare = |&user: &u32| UserPart::prepare(city, graph.as_deref(), &costs, plan, user);
        plan.users.iter().map(prepare).collect::<Vec<UserPart>>()
    });
    let uploads: Vec<_> = parts.iter().map(|part| &part.upload).collect();
    let rule = TieRule::of(plan).expect("a rule");
    let (solved, server) = best(|| {
        let programme =
            Programme::new(&uploads, rule, plan.notion, city.places(), costs.ceiling())?;
        let solution = programme.solve(plan)?;
        Ok::<_, lrgeo_mechanism::MechanismError>((programme, solution))
    });
    let (programme, solution) = match solved {
        Ok(solved) => solved,
        Err(error) => {
            let text = format!(
                "| {name} | - | failed: {error} ({server:.2} s) | - | - | - | - | {client:.5} | - |\n"
            );
            return (text, json!({ "settings": name, "failed": error.to_string() }));
        }
    };
    let peer = highs(&programme);
    let seconds = |method: &str| peer.as_ref().and_then(|p| p[method]["seconds"].as_f64());
    let show = |method: &str| match (seconds(method), peer.as_ref().map(|p| &p[method]["solved"])) {
        (Some(s), Some(Value::Bool(true))) => format!("{s:.3}"),
        (Some(s), _) => format!(">{s:.0}"),
        _ => "not run".into(),
    };
    let fastest =
        ["simplex", "ipm"].iter().filter_map(|m| seconds(m)).fold(f64::INFINITY, f64::min);
    let round = client + server;
    let text = format!(
        "| {name}, eps {} | {} x {} | {round:.4} | {:.1e} | {} | {} | {:.3} | {client:.5} | {:.3} |\n",
        plan.epsilon,
        programme.problem.rows(),
        programme.problem.columns(),
        solution.gap,
        show("simplex"),
        show("ipm"),
        round / fastest,
        client / round,
    );
    let numbers = json!({
        "settings": name,
        "round": round,
        "client": client,
        "objective": solution.objective,
        "lower_bound": solution.lower_bound,
        "highs": peer,
    });
    (text, numbers)
}

/// HiGHS on the same problem file; nothing where its Python environment is missing.
fn highs(programme: &Programme) -> Option<Value> {
    let (python, file) = (Path::new("bench/.venv/bin/python"), "bench/out/round.npz");
    if !python.exists() {
        return None;
    }
    std::fs::create_dir_all("bench/out").expect("a folder");
    std::fs::write(file, format::problem_to_npz(&programme.problem).expect("a file"))
        .expect("written");
    let output = Command::new(python)
        .args(["bench/mechanisms/highs.py", file, HIGHS_LIMIT, "simplex", "ipm"])
        .output()
        .expect("python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).ok()
}
