//! LR-Geo as the map grows: ten users, twenty relevant places each, K = 100 to 1,600.

use lrgeo_evaluation::experiments::{Ground, central_city};
use lrgeo_geo::PlaceId;
use lrgeo_geo::rng::SplitMix;
use lrgeo_mechanism::lr_geo::coefficients::{Costs, UserPart};
use lrgeo_mechanism::relevant::{TieRule, geo_ind_graph};
use lrgeo_mechanism::verify::verify;
use lrgeo_mechanism::{City, Plan, Rows, build, by_name};
use lrgeo_optim::Settings;
use serde_json::{Value, json};

use crate::machine::{median, timed};
use crate::{SEED, Section};

const SIZES: [usize; 6] = [100, 200, 400, 800, 1_200, 1_600];
const USERS: usize = 10;
const ROUNDS: u64 = 15;

pub fn section(rome: &Ground) -> Section {
    let map = rome.grid(470.0, 3.0, SEED).expect("a grid");
    let mut text = format!(
        "A generated grid with cells of 0.47 km on the Rome streets ({} places), blocks around its centre; `paper`\n\
         settings, {USERS} users, |N_m| = 20. *Spread*: users anywhere in the block, as in the paper. *Same*: the users are\n\
         those of the smallest block, so that nothing but the map grows. One thread, CPU milliseconds, median (largest) of\n\
         {ROUNDS} rounds: all of making and verifying, and the client's and the verifier's part of it. What is made once per map\n\
         (cost table, Geo-Ind graph) is not counted. Columns: places within range of some relevant place of some user, r_obf =\n\
         4.5 km; the smaller blocks cut that range off, and users who are farther apart share fewer of them.\n\n\
         | K | users | columns | round, ms | client, ms | verifying, ms | us per column | failed |\n|---|---|---|---|---|---|---|---|\n",
        map.places.len()
    );
    let mut numbers = Vec::new();
    let inner = map.central_block(SIZES[0]);
    for same in [false, true] {
        for size in SIZES {
            let city = central_city(&map, size).expect("a city");
            let block = map.central_block(size);
            let choose = |among: usize, seed: u64| SplitMix::new(seed).choose(among, USERS);
            let users = |seed: u64| -> Vec<PlaceId> {
                let place = |at: usize| PlaceId::at(block.partition_point(|&p| p < inner[at]));
                match same {
                    true => choose(inner.len(), seed).into_iter().map(place).collect(),
                    false => choose(size, seed).into_iter().map(PlaceId::at).collect(),
                }
            };
            let name = if same { "same" } else { "spread" };
            let (line, values) = rounds(&city, &users);
            eprintln!("K = {size}, {name}: {line}");
            text += &format!("| {size} | {name} | {line} |\n");
            numbers.push(json!({ "places": size, "users": name, "rounds": values }));
        }
    }
    Section { title: "LR-Geo as the map grows", text, numbers: json!(numbers) }
}

fn rounds(city: &City, users: &dyn Fn(u64) -> Vec<PlaceId>) -> (String, Value) {
    let mut plan =
        Plan { allow_disconnected: true, sampled: None, ..Plan::paper().expect("a plan") };
    plan.solver = Settings { threads: 1, ..Settings::default() };
    let tables = city.tables(plan.division, &()).expect("a table");
    let (graph, costs) = (geo_ind_graph(city, &plan), Costs::of(city, &tables, vec![1.0]));
    let rule = TieRule::of(&plan, city).expect("a rule");
    let kind = by_name("lr-geo").expect("registered");
    let (mut round, mut client, mut verifying) = (Vec::new(), Vec::new(), Vec::new());
    let (mut columns, mut failed) = (Vec::new(), 0);
    for repeat in 0..ROUNDS {
        plan.users = users(SEED + repeat);
        let (_, prepared) = timed(|| {
            let how = (&plan, &rule);
            let prepare =
                |&user: &PlaceId| UserPart::prepare(city, graph.as_deref(), &costs, how, user);
            plan.users.iter().map(prepare).collect::<Vec<UserPart>>()
        });
        let (built, took) = timed(|| build(kind, city, &plan, &()));
        let Ok(built) = built else {
            failed += 1;
            continue;
        };
        verifying.push(1e3 * timed(|| verify(&built, &())).1.cpu);
        round.push(1e3 * took.cpu);
        client.push(1e3 * prepared.cpu);
        if let Rows::Users(matrices) = &built.rows {
            columns.push(matrices.columns.len() as f64);
        }
    }
    let largest = round.iter().copied().fold(0.0, f64::max);
    let line = format!(
        "{:.0} | {:.1} ({largest:.1}) | {:.2} | {:.2} | {:.0} | {failed}",
        median(&columns),
        median(&round),
        median(&client),
        median(&verifying),
        1e3 * median(&round) / median(&columns),
    );
    (line, json!({ "columns": columns, "ms": round, "client": client, "verifying": verifying }))
}
