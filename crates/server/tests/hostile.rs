//! Uploads that are made to spoil a round: they cost their own user the round, and nobody else.

mod common;

use std::time::{Duration, Instant};

use common::{Running, Scratch, Users, config, map};
use lrgeo_geo::PlaceId;
use lrgeo_mechanism::lr_geo::coefficients::Coefficients;
use lrgeo_mechanism::lr_geo::round::Programme;
use lrgeo_mechanism::relevant::TieRule;
use lrgeo_protocol::Reason;
use lrgeo_protocol::offload::{Join, Phase, Shared, UserMatrix};
use lrgeo_server::Catalogue;

/// A second for the clock to be looked at, and a second for a busy machine.
const SLACK: Duration = Duration::from_secs(2);

/// What a user's matrix costs as it was uploaded; reports out of range cost the public ceiling.
fn cost(upload: &Join, matrix: &UserMatrix, ceiling: f64) -> f64 {
    let (width, mut sum) = (matrix.columns.len(), 0.0);
    for (at, z) in matrix.values.iter().enumerate() {
        let (row, k) = (at / width, matrix.columns[at % width]);
        let column = upload.columns.binary_search(&k);
        let price = column.map_or(ceiling, |c| upload.cost[row * upload.columns.len() + c]);
        sum += price * z;
    }
    sum
}

/// What it costs with the public y, found by the means of a phone.
fn cost_alone(server: &Running, upload: &Join) -> f64 {
    let catalogue = &server.catalogue;
    let coefficients = Coefficients {
        rows: upload.rows as usize,
        columns: upload.columns.clone(),
        between: upload.between.clone(),
        towards: upload.towards.clone(),
        cost: upload.cost.clone(),
        ties: Vec::new(),
    }
    .tie(&catalogue.ties);
    let (ties, ceiling) = (&catalogue.ties, catalogue.ceiling());
    let (plan, y) = (&catalogue.plan, catalogue.public_y().unwrap());
    let programme = Programme::alone(&coefficients, ties, plan.notion, ceiling, y).unwrap();
    programme.solve(plan).unwrap().objective
}

/// Rows that are all as far from each other, with a price for each column.
fn equidistant(
    users: &Users,
    rows: usize,
    between_km: f64,
    towards_km: impl Fn(u32) -> f64,
    price: impl Fn(u32) -> f64,
) -> Join {
    let columns: Vec<u32> = (0..users.city.places() as u32).collect();
    let between =
        (0..rows * rows).map(|at| if at / rows == at % rows { 0.0 } else { between_km }).collect();
    let repeated = |of: &dyn Fn(u32) -> f64| {
        (0..rows).flat_map(|_| columns.iter().map(|&k| of(k))).collect::<Vec<f64>>()
    };
    let (towards, cost) = (repeated(&towards_km), repeated(&price));
    let columns = columns.into_iter().map(PlaceId::new).collect();
    Join { map: users.map(), rows: rows as u32, columns, between, towards, cost }
}

/// All join in this order; what became of each, and how long that took.
fn round(server: &Running, uploads: &[&Join]) -> (Vec<Result<UserMatrix, Reason>>, Duration) {
    let begun = Instant::now();
    let tickets: Vec<_> = uploads.iter().map(|upload| server.join(upload)).collect();
    let outcomes = tickets.iter().map(|ticket| {
        let state = server.state(ticket, 50);
        match state.phase {
            Phase::Done => Ok(server.matrix(ticket)),
            Phase::Failed => Err(state.refusal.unwrap().reason),
            unanswered => panic!("{unanswered:?} after 50 s"),
        }
    });
    let outcomes = outcomes.collect();
    (outcomes, begun.elapsed())
}

#[test]
fn an_upload_that_no_engine_gets_done_with_holds_nobody_up() {
    let mut config = config(3);
    (config.rounds.user_seconds, config.rounds.time_limit_seconds) = (2.0, 3.0);
    let scratch = Scratch::new();
    let users = Users::new(map(40), &config);
    let server = Running::start(map(40), &scratch.0, &config);
    let ceiling = server.catalogue.ceiling();
    let honest = [users.upload(3), users.upload(20)];
    let most = Duration::from_secs_f64(3.0 * 2.0 + 3.0) + SLACK;
    for (between_km, towards_km) in [(0.5, 0.5), (1.0, 0.5), (0.5, 1.5), (1.3, 0.5)] {
        // As many rows as are taken, all alike.
        let hostile = equidistant(&users, 200, between_km, |_| towards_km, |_| 0.5 * ceiling);
        let (outcomes, took) = round(&server, &[&hostile, &honest[0], &honest[1]]);
        assert!(took < most, "{took:?}");
        if let Err(reason) = &outcomes[0] {
            assert!(matches!(reason, Reason::TooLarge | Reason::Infeasible), "{reason:?}");
        }
        for (upload, outcome) in honest.iter().zip(&outcomes[1..]) {
            let matrix = outcome.as_ref().unwrap();
            let (cost, alone) = (cost(upload, matrix, ceiling), cost_alone(&server, upload));
            assert!(cost <= 1.05 * alone + 1e-9, "{cost} of {alone}, {:?}", matrix.certificate);
        }
    }
}

/// A user at a real place who says that reports from afar cost nothing, and those from nearby as much as anything can: what is
/// tied costs such a user less the larger it is, and everybody else more.
fn selfish(users: &Users, ties: &TieRule, place: u32, ceiling: f64) -> Join {
    let mut upload = users.upload(place);
    let price = |km: &f64| ties.factor_by_distance(*km).map_or(ceiling, |_| 0.0);
    upload.cost = upload.towards.iter().map(price).collect();
    upload
}

#[test]
fn strangers_do_not_make_an_honest_user_pay() {
    let mut config = config(4);
    let users = Users::new(map(40), &config);
    let honest = users.upload(3);
    let mut costs = Vec::new();
    // With a bound that bounds nothing the attack works; else the test would show nothing.
    for bound in [1e9, 0.05] {
        config.rounds.most_stranger_cost = bound;
        let scratch = Scratch::new();
        let server = Running::start(map(40), &scratch.0, &config);
        let ceiling = server.catalogue.ceiling();
        let hostile = [20, 25, 30].map(|m| selfish(&users, &server.catalogue.ties, m, ceiling));
        let (outcomes, _) = round(&server, &[&hostile[0], &honest, &hostile[1], &hostile[2]]);
        let matrices: Vec<UserMatrix> = outcomes.into_iter().map(Result::unwrap).collect();
        let shared = matrices[1].certificate.shared;
        costs.push(cost(&honest, &matrices[1], ceiling) / cost_alone(&server, &honest));
        // Everybody in the round gets the same y, whichever it is.
        assert!(matrices.iter().all(|matrix| matrix.certificate.shared == shared));
        let (expected, y) = match bound > 1.0 {
            true => (Shared::Round, None),
            false => (Shared::PublicY, server.catalogue.public_y()),
        };
        assert_eq!(shared, expected);
        for (matrix, y) in matrices.iter().filter_map(|matrix| Some((matrix, y?))) {
            let sent = matrix.columns.iter().zip(&matrix.y);
            assert!(sent.into_iter().all(|(&k, sent)| y[k.index()] == *sent));
            assert_eq!(matrix.certificate.users, 1);
        }
    }
    assert!(costs[0] > 1.5, "the attack does nothing: {costs:?}");
    assert!(costs[1] <= 1.05, "{costs:?}");
}

#[test]
fn without_a_public_y_users_fall_back_to_rounds_of_one() {
    let mut config = config(4);
    config.privacy.local = false;
    let scratch = Scratch::new();
    let users = Users::new(map(40), &config);
    let server = Running::start(map(40), &scratch.0, &config);
    assert!(server.catalogue.public_y().is_none());
    let honest = users.upload(3);
    let Catalogue { ties, .. } = &*server.catalogue;
    let hostile = [20, 25, 30].map(|m| selfish(&users, ties, m, server.catalogue.ceiling()));
    let (outcomes, _) = round(&server, &[&hostile[0], &honest, &hostile[1], &hostile[2]]);
    let fallen = outcomes[1].as_ref().unwrap();
    assert_eq!((fallen.certificate.shared, fallen.certificate.users), (Shared::Alone, 1));
    // The same as if nobody else had been there.
    let mut only = config.clone();
    only.rounds.users = 1;
    let scratch = Scratch::new();
    let server = Running::start(map(40), &scratch.0, &only);
    assert_eq!(round(&server, &[&honest]).0[0].as_ref().unwrap(), fallen);
}

#[test]
fn a_round_that_is_too_large_to_be_solved_together_gets_the_public_y() {
    let mut config = config(2);
    config.rounds.most_round_entries = 100;
    let scratch = Scratch::new();
    let users = Users::new(map(30), &config);
    let server = Running::start(map(30), &scratch.0, &config);
    let uploads = [users.upload(3), users.upload(12)];
    let (outcomes, _) = round(&server, &[&uploads[0], &uploads[1]]);
    for (upload, outcome) in uploads.iter().zip(outcomes) {
        let matrix = outcome.unwrap();
        assert_eq!(matrix.certificate.shared, Shared::PublicY);
        let cost = cost(upload, &matrix, server.catalogue.ceiling());
        let alone = cost_alone(&server, upload);
        assert!((cost - alone).abs() <= 1e-5 * alone, "{cost} is not {alone}");
    }
}
