//! LR-Geo as the map grows: ten users, twenty relevant places each, K = 100 to 1,600.

use lrgeo_map::rng::SplitMix;
use lrgeo_mechanism::{Plan, Rows, build, by_name};
use serde_json::json;

use crate::machine::{spread, timed};
use crate::rome::{Rome, city};
use crate::{SEED, Section};

const SIZES: [usize; 6] = [100, 200, 400, 800, 1_200, 1_600];
const USERS: usize = 10;
const REPEATS: u64 = 3;

pub fn section(rome: &Rome) -> Section {
    let map = rome.grid(470.0, 3.0, SEED);
    let mut text = format!(
        "A generated grid with cells of 0.47 km on the Rome streets ({} places), blocks around its centre; `paper`\n\
         settings, {USERS} users, |N_m| = 20, {REPEATS} repeats. *Spread*: users anywhere in the block, as in the paper.\n\
         *Same*: the users are those of the smallest block, so that nothing but the map grows. Making and verifying, CPU seconds. Columns: places\n\
         within range of some relevant place of some user, r_obf = 4.5 km; the smaller blocks cut that range off.\n\n\
         | K | spread: CPU seconds | columns | same users: CPU seconds | columns |\n|---|---|---|---|---|\n",
        map.places.len()
    );
    let mut numbers = Vec::new();
    let inner = map.central_block(SIZES[0]);
    for size in SIZES {
        let city = city(&map, size);
        let block = map.central_block(size);
        let plan = Plan::paper().expect("a plan");
        city.table(plan.table_cell, &()).expect("a table");
        let run = |pick: &dyn Fn(u64) -> Vec<u32>| {
            let (mut seconds, mut columns) = (Vec::new(), Vec::new());
            let mut failed = Vec::new();
            for repeat in 0..REPEATS {
                let plan = Plan { users: pick(repeat), allow_disconnected: true, ..plan.clone() };
                let kind = by_name("lr-geo").expect("registered");
                let (built, took) = timed(|| build(kind, &city, &plan, &()));
                match built {
                    Ok(built) => {
                        seconds.push(took.cpu);
                        if let Rows::Users(round) = &built.rows {
                            columns.push(round.columns.len() as f64);
                        }
                    }
                    Err(error) => failed.push(error.to_string()),
                }
            }
            eprintln!("K = {size}: {seconds:?} {failed:?}");
            (seconds, columns, failed)
        };
        let choose = |among: usize, repeat: u64| SplitMix::new(SEED + repeat).choose(among, USERS);
        let spread_users =
            run(&|repeat| choose(size, repeat).into_iter().map(|user| user as u32).collect());
        let same_users = run(&|repeat| {
            let places = choose(inner.len(), repeat).into_iter().map(|at| inner[at]);
            places.map(|place| block.partition_point(|&p| p < place) as u32).collect()
        });
        let show = |(seconds, columns, failed): &(Vec<f64>, Vec<f64>, Vec<String>)| {
            if seconds.is_empty() {
                return format!("failed: {} | -", failed.join("; "));
            }
            let mean = columns.iter().sum::<f64>() / columns.len() as f64;
            let lost = if failed.is_empty() {
                String::new()
            } else {
                format!(", {} failed", failed.len())
            };
            format!("{}{lost} | {mean:.0}", spread(seconds))
        };
        text += &format!("| {size} | {} | {} |\n", show(&spread_users), show(&same_users));
        numbers.push(json!({ "places": size, "spread": spread_users, "same": same_users }));
    }
    Section { title: "LR-Geo as the map grows", text, numbers: json!(numbers) }
}
