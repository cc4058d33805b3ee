//! The server's own page: its files, headers and data; what it refuses; that nobody can keep the server busy with it.

mod common;

use std::collections::HashSet;

use common::{Running, Scratch, config, map};
use lrgeo_protocol::Reason;
use lrgeo_server::Config;

/// A small city; the page with everything that it can show.
fn settings() -> Config {
    let mut config = config(2);
    config.privacy.local = false;
    config.page.costs = true;
    config
}

fn with(settings: &Config, test: impl FnOnce(&Running)) {
    let scratch = Scratch::new();
    let server = Running::start(map(40), &scratch.0, settings);
    test(&server);
    server.stop();
}

#[test]
fn the_page_is_served_with_a_strict_policy_and_its_files_are_kept_for_ever() {
    with(&settings(), |server| {
        let page = server.get("/", &[]);
        assert_eq!((page.status, page.header("content-type")), (200, "text/html; charset=utf-8"));
        let policy = page.header("content-security-policy");
        for part in
            ["default-src 'none'", "script-src 'self' 'wasm-unsafe-eval'", "frame-ancestors 'none'"]
        {
            assert!(policy.contains(part), "{policy}");
        }
        assert!(!policy.contains("unsafe-inline") && !policy.contains("http"), "{policy}");
        assert_eq!(page.header("x-content-type-options"), "nosniff");
        assert_eq!(page.header("referrer-policy"), "no-referrer");
        assert_eq!(page.header("cache-control"), "public, no-cache");
        let same = server.get("/", &[("if-none-match", page.header("etag"))]);
        assert_eq!((same.status, same.body.len()), (304, 0));

        // Every file that the page names is there, and nothing else is named.
        let text = page.text();
        let named: HashSet<&str> =
            text.split(['"', '\'']).filter_map(|part| part.strip_prefix("./assets/")).collect();
        assert!(named.len() >= 3, "{text}");
        for name in named {
            let asset = server.get(&format!("/assets/{name}"), &[]);
            assert_eq!(asset.status, 200, "{name}");
            assert_eq!(asset.header("cache-control"), "public, max-age=31536000, immutable");
            assert!(asset.header("content-security-policy").contains("default-src 'none'"));
        }
        assert!(
            !text.contains("http://") && !text.contains("https://"),
            "something from elsewhere"
        );
    });
}

#[test]
fn what_is_not_there_is_refused_as_everywhere_else() {
    with(&settings(), |server| {
        let paths = [
            "/assets/none.js",
            "/assets/..%2Findex.html",
            "/index.html",
            "/v1/page/files/0000",
            "/v1/page/files/..%2F..%2Fetc%2Fpasswd",
            "/v1/nothing",
        ];
        for path in paths {
            let answer = server.get(path, &[]);
            assert_eq!((answer.status, answer.reason()), (404, Reason::NotFound), "{path}");
        }
        for users in ["0", "1", "7", "-2", "999999999999999999999", "four", "2%00"] {
            let answer = server.get(&format!("/v1/page/rounds/{users}"), &[]);
            assert_eq!((answer.status, answer.reason()), (422, Reason::InvalidField), "{users}");
        }
        assert_eq!(server.post("/", "text/plain", b"x").status, 405);
        assert_eq!(server.post("/v1/page", "text/plain", b"x").status, 405);
    });
}

#[test]
fn what_the_operator_does_not_want_is_not_offered() {
    let mut none = settings();
    none.page.serve = false;
    with(&none, |server| {
        assert_eq!(server.get("/", &[]).status, 404);
        assert_eq!(server.get("/v1/page", &[]).reason(), Reason::NotOffered);
        assert_eq!(server.get("/v1/page/operation", &[]).status, 404);
        assert_eq!(server.get("/v1/manifest", &[]).status, 200);
    });
    let mut little = settings();
    (little.page.costs, little.page.rounds, little.page.operation) = (false, false, false);
    with(&little, |server| {
        let index: serde_json::Value = server.get("/v1/page", &[]).json();
        assert_eq!(
            (&index["costs"], &index["operation"]),
            (&serde_json::Value::Null, &false.into())
        );
        assert_eq!(server.get("/v1/page/rounds/2", &[]).reason(), Reason::NotOffered);
        assert_eq!(server.get("/v1/page/operation", &[]).reason(), Reason::NotOffered);
    });
}

/// Numbers of a binary file.
fn u32_at(bytes: &[u8], at: usize) -> usize {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
}

fn f64_at(bytes: &[u8], at: usize) -> f64 {
    f64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

#[test]
fn the_streets_are_those_of_the_map_each_once() {
    with(&settings(), |server| {
        let index: serde_json::Value = server.get("/v1/page", &[]).json();
        let file =
            server.get(&format!("/v1/page/files/{}", index["streets"].as_str().unwrap()), &[]);
        assert_eq!(file.header("cache-control"), "public, max-age=31536000, immutable");
        let bytes = &file.body;
        assert_eq!(&bytes[..8], b"LRSTREET");
        let (lines, corner) = (u32_at(bytes, 8), [f64_at(bytes, 16), f64_at(bytes, 24)]);
        let mut at = 32 + 4 * lines;
        let (mut km, mut points) = (0.0, 0);
        for line in 0..lines {
            let head = u32_at(bytes, 32 + 4 * line);
            assert!(head >> 24 <= 2 && head & 0xff_ffff >= 2);
            let coords: Vec<lrgeo_geo::Coord> = (0..head & 0xff_ffff)
                .map(|point| {
                    let degrees = |axis: usize| {
                        corner[axis] + u32_at(bytes, at + 8 * point + 4 * axis) as f64 * 1e-6
                    };
                    lrgeo_geo::Coord::new(degrees(0), degrees(1)).unwrap()
                })
                .collect();
            km += coords.windows(2).map(|pair| pair[0].distance_km(pair[1])).sum::<f64>();
            at += 8 * coords.len();
            points += coords.len();
        }
        assert_eq!((at, points), (bytes.len(), u32_at(bytes, 12)));
        // Each street once, whichever ways it goes.
        let graph = &server.catalogue.city.map().graph;
        let streets: HashSet<[u32; 2]> =
            graph.arcs().map(|(from, to, ..)| [from.min(to), from.max(to)]).collect();
        let straight =
            |&[a, b]: &[u32; 2]| graph.coords()[a as usize].distance_km(graph.coords()[b as usize]);
        let expected: f64 = streets.iter().map(straight).sum();
        assert!((km / expected - 1.0).abs() < 1e-3, "{km} km for {expected}");
        assert!(lines < streets.len(), "nothing was joined");
    });
}

#[test]
fn costs_are_the_ways_that_the_service_answers_with() {
    with(&settings(), |server| {
        let index: serde_json::Value = server.get("/v1/page", &[]).json();
        let file = server.get(&format!("/v1/page/files/{}", index["costs"].as_str().unwrap()), &[]);
        let bytes = &file.body;
        assert_eq!(&bytes[..8], b"LRTRAVEL");
        let (places, targets) = (u32_at(bytes, 8), u32_at(bytes, 12));
        assert_eq!(places, 40);
        let likely: f64 = (0..targets).map(|l| f64_at(bytes, 32 + 24 * l)).sum();
        assert!((likely - 1.0).abs() < 1e-9);
        let asked = format!("/v1/targets?map={}&place=7&limit=1000", server.catalogue.map());
        let answer: serde_json::Value = server.get(&asked, &[]).json();
        for target in answer["targets"].as_array().unwrap() {
            let l = target["target"].as_u64().unwrap() as usize;
            let at = 16 + 24 * targets + 4 * (7 * targets + l);
            let km = f32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
            assert!((f64::from(km) - target["estimated_km"].as_f64().unwrap()).abs() < 1e-4);
        }
    });
}

/// The events of a stream, which ends by itself.
fn events(server: &Running, users: usize) -> Vec<serde_json::Value> {
    let stream = server.get(&format!("/v1/page/rounds/{users}"), &[]);
    assert_eq!((stream.status, stream.header("content-type")), (200, "text/event-stream"));
    let text = stream.text();
    let data = text.lines().filter_map(|line| line.strip_prefix("data:"));
    data.flat_map(|data| serde_json::from_str::<Vec<serde_json::Value>>(data).unwrap()).collect()
}

#[test]
fn a_round_of_invented_users_is_solved_once_with_bounds_that_close() {
    with(&settings(), |server| {
        let first = events(server, 2);
        let of = |name: &str| first.iter().filter(|e| e["event"] == name).collect::<Vec<_>>();
        assert_eq!(of("users")[0]["places"].as_array().unwrap().len(), 2);
        assert_eq!((of("solved").len(), of("end").len()), (2, 1));
        for solved in of("solved") {
            // The letter of the paper may have no matrix when its time is over; the central path has.
            let Some(cost) = solved["cost"].as_f64() else {
                assert_eq!(solved["engine"], "plain");
                continue;
            };
            let lower = solved["lower"].as_f64().unwrap();
            assert!(lower <= cost * (1.0 + 1e-9) && lower > 0.0, "{lower} and {cost}");
            for row in solved["rows"].as_array().unwrap() {
                let sum: f64 = row.as_array().unwrap().iter().map(|e| e[1].as_f64().unwrap()).sum();
                assert!((sum - 1.0).abs() < 1e-3, "{sum}");
            }
        }
        for bounds in of("bounds") {
            let lower = bounds["lower"].as_f64().unwrap();
            assert!(bounds["upper"].as_f64().is_none_or(|upper| lower <= upper * (1.0 + 1e-9)));
        }
        // Whoever comes later gets the same again, times included: it was not solved again.
        assert_eq!(events(server, 2), first);
    });
}

#[test]
fn what_the_server_counts_is_what_it_did_and_nothing_about_places() {
    with(&settings(), |server| {
        for _ in 0..3 {
            server.get("/v1/manifest", &[]);
        }
        server.get("/v1/nothing/at/all", &[]);
        let report = serde_json::json!({ "map": server.catalogue.map(), "place": 17 });
        assert_eq!(server.post_json("/v1/reports", &report).status, 200);
        server.get(&format!("/v1/targets?map={}&place=17", server.catalogue.map()), &[]);
        let answer = server.get("/v1/page/operation", &[]);
        assert_eq!(answer.header("cache-control"), "no-store");
        let operation: serde_json::Value = answer.json();
        let routes = operation["counts"]["routes"].as_object().unwrap();
        assert_eq!(routes["GET /v1/manifest"]["requests"], 3);
        assert_eq!(routes["GET unknown"]["refused"], 1);
        assert_eq!(routes["POST /v1/reports"]["failed"], 0);
        let names: Vec<&String> = routes.keys().collect();
        assert!(!names.iter().any(|name| name.contains("17") || name.contains('?')), "{names:?}");
        assert_eq!(operation["tiles_verified"], server.catalogue.tiles.tiles.len());
        assert_eq!(operation["key"], server.catalogue.key.to_string());
    });
}
