//! Rounds of four users against HiGHS on the same linear programmes, and the client's part of them.

use std::path::Path;
use std::process::Command;

use lrgeo_evaluation::experiments::Ground;
use lrgeo_geo::PlaceId;
use lrgeo_geo::rng::SplitMix;
use lrgeo_mechanism::lr_geo::coefficients::{Costs, UserPart};
use lrgeo_mechanism::lr_geo::round::Programme;
use lrgeo_mechanism::relevant::{TieRule, geo_ind_graph};
use lrgeo_mechanism::{City, MechanismError, Plan};
use lrgeo_optim::{Settings, format};
use serde_json::{Value, json};

use crate::machine::{median, timed};
use crate::{SEED, Section};

const USERS: usize = 4;
const PLACES: usize = 400;
const ROUNDS: u64 = 15;
const HIGHS_LIMIT: &str = "300";

pub fn section(rome: &Ground) -> Section {
    let city = rome.city(PLACES, SEED).expect("a city");
    let mut text = format!(
        "K = {PLACES}, {USERS} users, |N_m| = 20, {ROUNDS} rounds with users of their own, one thread, CPU milliseconds; medians\n\
         (largest), ratios round by round. Ours: the shortest of three runs; HiGHS: one run, the faster of its simplex and its\n\
         interior point. The client's part: LR set, ranges and coefficient matrices from the published table and graph, of one\n\
         user, and of all {USERS} as if one phone did them all.\n\n\
         | settings | rows x columns | round, ms | gap at most | HiGHS simplex, ms | HiGHS ipm, ms | round / HiGHS (<= 0.1) | one client, ms | one client / round (<= 0.05) | all clients / round |\n\
         |---|---|---|---|---|---|---|---|---|---|\n"
    );
    let mut numbers = Vec::new();
    for (name, plan) in [("paper", Plan::paper()), ("practical", Plan::practical())] {
        let mut plan = plan.expect("a plan");
        // The nearest: a sample of the map has hardly two neighbours, and nothing to solve.
        (plan.radii.relevant_max, plan.sampled) = (Some(20), None);
        plan.solver = Settings { threads: 1, ..Settings::default() };
        let races: Vec<Race> = (0..ROUNDS)
            .map(|round| {
                let users = SplitMix::new(SEED + round).choose(PLACES, USERS).into_iter();
                plan.users = users.map(PlaceId::at).collect();
                race(&city, &plan).expect("a round")
            })
            .collect();
        text += &line(name, &plan, &races);
        let values = races.iter().map(Race::numbers).collect::<Vec<Value>>();
        numbers.push(json!({ "settings": name, "rounds": values }));
    }
    Section { title: "A round against HiGHS", text, numbers: json!(numbers) }
}

/// One round, in CPU milliseconds.
struct Race {
    rows: usize,
    columns: usize,
    /// All clients and the server.
    round: f64,
    /// All clients.
    clients: f64,
    gap: f64,
    objective: f64,
    lower_bound: f64,
    /// What HiGHS says of each method; nothing where its Python environment is missing.
    highs: Option<Value>,
}

impl Race {
    fn highs(&self, method: &str) -> Option<f64> {
        self.highs.as_ref().and_then(|peer| peer[method]["seconds"].as_f64()).map(|s| 1e3 * s)
    }

    fn ratio(&self) -> f64 {
        let all = ["simplex", "ipm"].iter().filter_map(|method| self.highs(method));
        self.round / all.fold(f64::INFINITY, f64::min)
    }

    fn numbers(&self) -> Value {
        json!({
            "columns": self.columns,
            "round": self.round,
            "clients": self.clients,
            "objective": self.objective,
            "lower_bound": self.lower_bound,
            "highs": self.highs,
        })
    }
}

fn line(name: &str, plan: &Plan, races: &[Race]) -> String {
    let of = |value: &dyn Fn(&Race) -> f64| -> Vec<f64> { races.iter().map(value).collect() };
    let largest = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
    let show = |values: Vec<f64>, digits: usize| {
        format!("{:.digits$} ({:.digits$})", median(&values), largest(&values))
    };
    let highs = |method: &str| {
        let times: Vec<f64> = races.iter().filter_map(|race| race.highs(method)).collect();
        if times.is_empty() { "not run".into() } else { show(times, 0) }
    };
    let users = USERS as f64;
    format!(
        "| {name}, eps {} | {} x {:.0} | {} | {:.1e} | {} | {} | {} | {} | {} | {} |\n",
        plan.epsilon,
        races[0].rows,
        median(&of(&|race| race.columns as f64)),
        show(of(&|race| race.round), 1),
        largest(&of(&|race| race.gap)),
        highs("simplex"),
        highs("ipm"),
        show(of(&Race::ratio), 3),
        show(of(&|race| race.clients / users), 3),
        show(of(&|race| race.clients / users / race.round), 3),
        show(of(&|race| race.clients / race.round), 3),
    )
}

/// The shortest of three runs, in CPU milliseconds: the machine may be shared.
fn best<T>(mut work: impl FnMut() -> T) -> (T, f64) {
    let mut once = || {
        let (done, took) = timed(&mut work);
        (done, 1e3 * took.cpu)
    };
    (0..2).fold(once(), |best, _| {
        let next = once();
        if next.1 < best.1 { next } else { best }
    })
}

fn race(city: &City, plan: &Plan) -> Result<Race, MechanismError> {
    let graph = geo_ind_graph(city, plan);
    let tables = city.tables(plan.division, &())?;
    let costs = Costs::of(city, &tables, vec![1.0]);
    let rule = TieRule::of(plan, city)?;
    let (parts, clients) = best(|| {
        let prepare = |&user: &PlaceId| {
            UserPart::prepare(city, graph.as_deref(), &costs, (plan, &rule), user)
        };
        plan.users.iter().map(prepare).collect::<Vec<UserPart>>()
    });
    let uploads: Vec<_> = parts.iter().map(|part| &part.upload).collect();
    let (solved, server) = best(|| {
        let programme =
            Programme::new(&uploads, &rule, plan.notion, city.places(), costs.ceiling())?;
        let solution = programme.solve(plan)?;
        Ok::<_, MechanismError>((programme, solution))
    });
    let (programme, solution) = solved?;
    Ok(Race {
        rows: programme.problem.rows(),
        columns: programme.problem.columns(),
        round: clients + server,
        clients,
        gap: solution.gap,
        objective: solution.objective,
        lower_bound: solution.lower_bound,
        highs: highs(&programme),
    })
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
