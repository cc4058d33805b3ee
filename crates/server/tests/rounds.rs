//! Rounds over the wire: together, each alone with a ticket, refused, expired, and after a restart.

mod common;

use common::{Running, Scratch, Users, bearer, config, map};
use lrgeo_geo::Digest;
use lrgeo_geo::PlaceId;
use lrgeo_mechanism::verify::by_distance;
use lrgeo_protocol::encoding::Encoding;
use lrgeo_protocol::offload::{Join, Joined, Phase, Shared, TicketState, UserMatrix};
use lrgeo_protocol::{Reason, Refusal, path};
use lrgeo_tiles::Epsilon;
use serde_json::{Value, json};

/// Every user joins at the same moment, from a thread of its own.
fn all_at_once(server: &Running, users: &Users, places: &[u32]) -> Vec<(Join, UserMatrix)> {
    std::thread::scope(|scope| {
        let user = |&place: &u32| {
            scope.spawn(move || {
                let upload = users.upload(place);
                let ticket = server.join(&upload);
                let matrix = server.matrix(&ticket);
                (upload, matrix)
            })
        };
        let users: Vec<_> = places.iter().map(user).collect();
        users.into_iter().map(|user| user.join().unwrap()).collect()
    })
}

/// The y of a matrix by place, where it is not zero.
fn shared_y(matrix: &UserMatrix) -> Vec<(PlaceId, f64)> {
    let columns = matrix.columns.iter().copied().zip(matrix.y.iter().copied());
    columns.filter(|(_, y)| *y > 0.0).collect()
}

fn assert_private(users: &Users, upload: &Join, matrix: &UserMatrix) {
    let rows: Vec<&[f64]> = matrix.values.chunks_exact(matrix.columns.len()).collect();
    assert_eq!(rows.len(), upload.rows as usize);
    let km = |i: usize, j: usize| upload.between[i * rows.len() + j];
    let epsilon = Epsilon::per_km(users.plan.epsilon.value()).unwrap();
    let finding = by_distance(&rows, km, epsilon, users.plan.notion.reach_km());
    assert!(finding.is_private() && finding.pairs > 0, "{finding:?}");
    assert!(rows.iter().all(|row| (row.iter().sum::<f64>() - 1.0).abs() < 1e-12));
}

#[test]
fn ten_users_are_one_round_and_both_engines_agree() {
    let places: Vec<u32> = (0..40).step_by(4).collect();
    let mut costs = Vec::new();
    for engine in ["colgen", "benders"] {
        let mut config = config(10);
        config.rounds.engine = engine.into();
        let scratch = Scratch::new();
        let users = Users::new(map(40), &config);
        let server = Running::start(map(40), &scratch.0, &config);
        let results = all_at_once(&server, &users, &places);
        for (upload, matrix) in &results {
            let certificate = &matrix.certificate;
            assert_eq!((certificate.users, certificate.engine.as_str()), (10, engine));
            assert!(certificate.gap <= 1e-4, "{engine}: gap {}", certificate.gap);
            assert!(certificate.lower_bound <= certificate.cost);
            assert_private(&users, upload, matrix);
            // Everybody shares one y, and what is not sent of it is zero.
            assert_eq!(certificate.shared, Shared::Round);
            assert_eq!(shared_y(matrix), shared_y(&results[0].1));
        }
        let mine = |(upload, matrix): &(Join, UserMatrix)| -> f64 {
            let width = matrix.columns.len();
            let at = |k: &PlaceId| matrix.columns.binary_search(k).unwrap();
            let cost = |(n, c): (usize, &f64)| {
                let (row, column) = (n / upload.columns.len(), n % upload.columns.len());
                c * matrix.values[row * width + at(&upload.columns[column])]
            };
            upload.cost.iter().enumerate().map(cost).sum()
        };
        let uploaded: f64 = results.iter().map(mine).sum();
        let certified = results[0].1.certificate.cost;
        assert!(uploaded <= certified * (1.0 + 1e-6), "{uploaded} of {certified}");
        costs.push(certified);
    }
    assert!((costs[0] - costs[1]).abs() <= 1e-4 * costs[0], "{costs:?}");
}

#[test]
fn a_window_closes_although_few_have_joined() {
    let mut config = config(10);
    config.rounds.window_seconds = 0.3;
    let scratch = Scratch::new();
    let users = Users::new(map(30), &config);
    let server = Running::start(map(30), &scratch.0, &config);
    let results = all_at_once(&server, &users, &[3]);
    assert_eq!(results[0].1.certificate.users, 1);
}

#[test]
fn events_tell_how_the_bounds_move() {
    let scratch = Scratch::new();
    let users = Users::new(map(30), &config(2));
    let server = Running::start(map(30), &scratch.0, &config(2));
    let first = server.join(&users.upload(3));
    let waiting = server.state(&first, 0);
    assert_eq!((waiting.phase, waiting.users), (Phase::Waiting, 1));
    let early = server.get(&path::matrix(&first.ticket), &[("authorization", &bearer(&first))]);
    assert_eq!((early.status, early.reason()), (409, Reason::NotReady));
    let text = std::thread::scope(|scope| {
        let (path, bearer, server) = (path::events(&first.ticket), bearer(&first), &server);
        let events = scope.spawn(move || server.get(&path, &[("authorization", &bearer)]).text());
        server.join(&users.upload(12));
        // The stream ends by itself when the ticket is answered.
        events.join().unwrap()
    });
    let states: Vec<TicketState> = text
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).unwrap())
        .collect();
    let last = states.last().unwrap();
    assert_eq!((last.phase, last.users), (Phase::Done, 2));
    let bounds = last.bounds.expect("the bounds of the last iteration");
    assert!(bounds.lower <= bounds.upper.unwrap() && bounds.iteration > 0);
}

#[test]
fn a_ticket_opens_for_its_owner_only() {
    let scratch = Scratch::new();
    let users = Users::new(map(30), &config(2));
    let server = Running::start(map(30), &scratch.0, &config(2));
    let tickets = [3, 12].map(|place| server.join(&users.upload(place)));
    let stolen = Joined { ticket: tickets[0].ticket.clone(), token: tickets[1].token.clone() };
    for path in [path::ticket, path::events, path::matrix].map(|path| path(&stolen.ticket)) {
        let answer = server.get(&path, &[("authorization", &bearer(&stolen))]);
        assert_eq!((answer.status, answer.reason()), (403, Reason::NotYourTicket));
        let answer = server.get(&path, &[]);
        assert_eq!((answer.status, answer.reason()), (403, Reason::NotYourTicket));
    }
    let unknown = server.get(&path::ticket("0123"), &[("authorization", &bearer(&stolen))]);
    assert_eq!((unknown.status, unknown.reason()), (404, Reason::UnknownTicket));
    assert_private(&users, &users.upload(3), &server.matrix(&tickets[0]));
}

#[test]
fn results_expire() {
    let mut config = config(1);
    config.rounds.keep_seconds = 1.0;
    let scratch = Scratch::new();
    let users = Users::new(map(30), &config);
    let server = Running::start(map(30), &scratch.0, &config);
    let ticket = server.join(&users.upload(3));
    server.matrix(&ticket);
    let begun = std::time::Instant::now();
    let gone = loop {
        let answer =
            server.get(&path::matrix(&ticket.ticket), &[("authorization", &bearer(&ticket))]);
        if answer.status != 200 {
            break answer;
        }
        assert!(begun.elapsed().as_secs() < 60, "never expired");
        std::thread::sleep(std::time::Duration::from_millis(200));
    };
    assert_eq!((gone.status, gone.reason()), (410, Reason::Expired));
}

#[test]
fn who_cannot_be_served_does_not_hold_up_the_others() {
    let scratch = Scratch::new();
    let users = Users::new(map(30), &config(2));
    let server = Running::start(map(30), &scratch.0, &config(2));
    // Two rows whose every report is tied, twice as likely in one as in the other: they cannot both
    // sum to one.
    let columns = PlaceId::all(30).collect();
    let far = 1.9;
    let mut towards = vec![far; 30];
    towards.extend(vec![far - 0.5; 30]);
    let hopeless = Join {
        map: users.map(),
        rows: 2,
        columns,
        between: vec![0.0, 0.5, 0.5, 0.0],
        towards,
        cost: vec![0.0; 60],
    };
    let tickets = [server.join(&hopeless), server.join(&users.upload(3))];
    let state = server.state(&tickets[0], 50);
    assert_eq!(state.phase, Phase::Failed);
    assert_eq!(state.refusal.unwrap().reason, Reason::Infeasible);
    let answer =
        server.get(&path::matrix(&tickets[0].ticket), &[("authorization", &bearer(&tickets[0]))]);
    assert_eq!(answer.status, 422);
    assert_eq!(server.matrix(&tickets[1]).certificate.users, 1);
}

#[test]
fn what_was_accepted_is_answered_after_a_restart_and_never_twice() {
    let scratch = Scratch::new();
    let users = Users::new(map(30), &config(3));
    let server = Running::start(map(30), &scratch.0, &config(3));
    let first: Vec<Joined> = [1, 2, 3].iter().map(|&m| server.join(&users.upload(m))).collect();
    let matrices: Vec<UserMatrix> = first.iter().map(|ticket| server.matrix(ticket)).collect();
    // Two more wait for a third when the server stops.
    let waiting: Vec<Joined> = [4, 5].iter().map(|&m| server.join(&users.upload(m))).collect();
    server.stop();

    let server = Running::start(map(30), &scratch.0, &config(2));
    for (ticket, matrix) in first.iter().zip(&matrices) {
        assert_eq!(&server.matrix(ticket), matrix, "the same matrix as before");
    }
    // Their uploads open with their tokens only: each is taken up when it is asked for, once, whoever else tries.
    let stolen = Joined { token: waiting[1].token.clone(), ..waiting[0].clone() };
    let answer = server.get(&path::ticket(&stolen.ticket), &[("authorization", &bearer(&stolen))]);
    assert_eq!((answer.status, answer.reason()), (403, Reason::NotYourTicket));
    for _ in 0..3 {
        let state = server.state(&waiting[0], 0);
        assert_eq!((state.phase, state.users), (Phase::Waiting, 1));
    }
    let early =
        server.get(&path::matrix(&waiting[1].ticket), &[("authorization", &bearer(&waiting[1]))]);
    assert_eq!((early.status, early.reason()), (409, Reason::NotReady));
    for (ticket, place) in waiting.iter().zip([4, 5]) {
        let matrix = server.matrix(ticket);
        assert_private(&users, &users.upload(place), &matrix);
        assert_eq!(matrix.certificate.users, 2, "they are a round again");
        assert_eq!(server.matrix(ticket), matrix);
    }
}

#[test]
fn bad_uploads_are_refused_by_field_and_the_server_goes_on() {
    let mut config = config(1);
    config.limits.body_bytes = 200_000;
    config.rounds.most_relevant = 30;
    config.rounds.most_entries = 900;
    let scratch = Scratch::new();
    let users = Users::new(map(30), &config);
    let server = Running::start(map(30), &scratch.0, &config);
    let good = users.upload(9);
    let rows = good.rows as usize;
    assert!(rows >= 3);
    let with = |change: &dyn Fn(&mut Join)| {
        let mut bad = good.clone();
        change(&mut bad);
        bad
    };
    let width = good.columns.len();
    let cases: Vec<(&str, Join, Reason, Option<&str>)> = vec![
        ("NaN cost", with(&|j| j.cost[2] = f64::NAN), Reason::InvalidField, Some("cost")),
        (
            "infinite",
            with(&|j| j.towards[1] = f64::INFINITY),
            Reason::InvalidField,
            Some("towards"),
        ),
        ("negative", with(&|j| j.between[1] = -0.1), Reason::InvalidField, Some("between")),
        ("asymmetric", with(&|j| j.between[1] += 1e-6), Reason::InvalidField, Some("between")),
        ("diagonal", with(&|j| j.between[0] = 0.1), Reason::InvalidField, Some("between")),
        (
            "triangle",
            with(&|j| {
                j.between[1] += 50.0;
                j.between[rows] += 50.0;
            }),
            Reason::InvalidField,
            Some("between"),
        ),
        ("towards", with(&|j| j.towards[0] += 50.0), Reason::InvalidField, Some("towards")),
        ("ragged", with(&|j| j.cost.truncate(width)), Reason::InvalidField, Some("cost")),
        ("no rows", with(&|j| j.rows = 0), Reason::InvalidField, Some("rows")),
        ("many rows", with(&|j| j.rows = 31), Reason::TooLarge, None),
        (
            "many pairs",
            with(&|j| (j.rows, j.columns) = (30, PlaceId::all(31).collect())),
            Reason::TooLarge,
            None,
        ),
        ("order", with(&|j| j.columns.reverse()), Reason::InvalidField, Some("columns")),
        (
            "unknown",
            with(&|j| j.columns[width - 1] = PlaceId::new(30)),
            Reason::InvalidField,
            Some("columns"),
        ),
        ("none", with(&|j| j.columns.clear()), Reason::InvalidField, Some("columns")),
        ("dear", with(&|j| j.cost[0] = 1e9), Reason::InvalidField, Some("cost")),
        ("map", with(&|j| j.map = Digest([1; 32])), Reason::OtherMap, Some("map")),
    ];
    for (name, join, reason, field) in cases {
        let body = Encoding::Cbor.encode(&join);
        let answer = server.post(path::ROUNDS, "application/cbor", &body);
        assert!((400..500).contains(&answer.status), "{name}: {}", answer.status);
        let refusal: Refusal = answer.json();
        assert_eq!((refusal.reason, refusal.field.as_deref()), (reason, field), "{name}");
    }

    let whole: Value = serde_json::to_value(&good).unwrap();
    let mut extra = whole.clone();
    extra["place"] = json!(9);
    let mut missing = whole.clone();
    missing.as_object_mut().unwrap().remove("cost");
    let raw: Vec<(&str, &str, Vec<u8>, Reason)> = vec![
        ("not JSON", "application/json", b"41.89,12.49".to_vec(), Reason::Malformed),
        (
            "cut off",
            "application/json",
            whole.to_string().as_bytes()[..500].to_vec(),
            Reason::Malformed,
        ),
        ("not CBOR", "application/cbor", whole.to_string().into_bytes(), Reason::Malformed),
        ("extra", "application/json", extra.to_string().into_bytes(), Reason::Malformed),
        ("missing", "application/json", missing.to_string().into_bytes(), Reason::Malformed),
        ("empty", "application/json", Vec::new(), Reason::Malformed),
        ("text", "text/plain", b"hello".to_vec(), Reason::UnsupportedEncoding),
        ("huge", "application/json", vec![b' '; 300_000], Reason::TooLarge),
        ("deep", "application/json", vec![b'['; 150_000], Reason::Malformed),
        ("deep", "application/cbor", vec![0x81; 150_000], Reason::Malformed),
        // An array of 2^60 numbers, announced and not sent.
        ("lie", "application/cbor", vec![0x9b, 0x10, 0, 0, 0, 0, 0, 0, 0], Reason::Malformed),
    ];
    for (name, media, body, reason) in raw {
        let answer = server.post(path::ROUNDS, media, &body);
        assert!((400..500).contains(&answer.status), "{name}: {}", answer.status);
        assert_eq!(answer.reason(), reason, "{name}");
        assert!(!answer.text().contains("41.89"), "{name} is repeated: {}", answer.text());
    }
    for query in ["", "?map=zz", "?centre=1", "?map=00&centre=-1&radius_km=1"] {
        let answer = server.get(&format!("{}{query}", path::TABLE_CIRCLE), &[]);
        assert_eq!((answer.status, answer.reason()), (400, Reason::Malformed), "{query}");
    }
    for (centre, radius) in [("99", "1"), ("1", "NaN"), ("1", "-1"), ("1", "inf")] {
        let query = format!("?map={}&centre={centre}&radius_km={radius}", users.map());
        let answer = server.get(&format!("{}{query}", path::TABLE_CIRCLE), &[]);
        assert_eq!((answer.status, answer.reason()), (422, Reason::InvalidField), "{query}");
    }
    // It goes on.
    let ticket = server.join(&good);
    assert_private(&users, &good, &server.matrix(&ticket));
}
