//! The programme that a phone solves by itself with a public y (`docs/specification.md` section 9, `local`).

#[path = "common/city.rs"]
mod city;

use lrgeo_geo::PlaceId;
use lrgeo_mechanism::const_opt::public_y;
use lrgeo_mechanism::lr_geo::coefficients::{Costs, UserPart};
use lrgeo_mechanism::lr_geo::round::Programme;
use lrgeo_mechanism::relevant::{TieRule, geo_ind_graph};
use lrgeo_mechanism::rows::{Round, UserMatrix};
use lrgeo_mechanism::verify::promised;
use lrgeo_mechanism::{City, Plan};
use lrgeo_tiles::Epsilon;
use lrgeo_tiles::sample::FLOOR;

fn plan(city: &City, epsilon: f64) -> Plan {
    let mut plan = Plan::new(city, Epsilon::per_km(epsilon).unwrap());
    plan.radii.relevant = 1.6;
    plan.radii.exponential = 0.9;
    plan.radii.obfuscation = 2.2;
    plan
}

/// Every user's matrix, each solved alone, put together as if they were one round.
fn everybody(city: &City, plan: &Plan, y: &[f64], users: &[PlaceId]) -> Round {
    let graph = geo_ind_graph(city, plan);
    let tables = city.tables(plan.division, &()).unwrap();
    let costs = Costs::of(city, &tables, vec![1.0]);
    let ties = TieRule::of(plan, city).unwrap();
    let mut columns = Vec::new();
    let users = users.iter().map(|&user| {
        let part = UserPart::prepare(city, graph.as_deref(), &costs, (plan, &ties), user);
        let alone = Programme::alone(&part.upload, &ties, plan.notion, costs.ceiling(), y).unwrap();
        let solution = alone.solve(plan).unwrap();
        assert!(solution.gap <= 1e-6, "gap {}", solution.gap);
        columns = alone.columns.clone();
        let values = alone.split(&solution).remove(0);
        UserMatrix { place: user, shares: Vec::new(), relevant: part.relevant, values }
    });
    let users = users.collect();
    Round { places: city.places(), columns: columns.into(), users, ties }
}

#[test]
fn a_phone_alone_gets_what_a_round_would_promise() {
    for (epsilon, seed) in [(1.0, 3), (2.0, 5), (8.0, 7)] {
        let city = city::block(seed, 500.0, 80);
        let plan = plan(&city, epsilon);
        let y = public_y(&city, &plan, &()).unwrap().y;
        let users: Vec<PlaceId> = PlaceId::all(city.places()).step_by(5).collect();
        let round = everybody(&city, &plan, &y, &users);
        let finding = promised(&round, city.coords(), plan.epsilon, plan.notion.reach_km());
        assert!(finding.is_private(), "eps {epsilon}: {finding:?}");

        // Every tied entry is the public constant, so that whoever solves gets the same.
        for user in &round.users {
            for (i, &place) in user.relevant.iter().enumerate() {
                for (k, &z) in user.row(i).iter().enumerate() {
                    let km = city.distance_km(place, PlaceId::at(k));
                    if let Some(f) = round.ties.factor((place, PlaceId::at(k)), km, 0.0) {
                        let floor = if z > 0.0 { FLOOR } else { 0.0 };
                        let tied = y[k] * f + floor;
                        assert!((z - tied).abs() <= 1e-15 * tied, "{z} is not {tied}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_planted_violation_is_seen() {
    let city = city::block(3, 500.0, 60);
    let plan = plan(&city, 2.0);
    let y = public_y(&city, &plan, &()).unwrap().y;
    let mut round = everybody(&city, &plan, &y, &[PlaceId::new(30)]);
    let width = round.columns.len();
    let values = &mut round.users[0].values;
    let column = (0..width).max_by(|&a, &b| values[a].total_cmp(&values[b])).unwrap();
    let other = (column + 1) % width;
    let moved = 0.9 * values[column];
    values[column] -= moved;
    values[other] += moved;
    let finding = promised(&round, city.coords(), plan.epsilon, plan.notion.reach_km());
    assert!(!finding.is_private());
}
