//! An operator's day: tokens, logs, reports for a system of one's own; and what none of it may tell.

#[path = "../../server/tests/common/mod.rs"]
mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use common::{Running, Scratch};
use lrgeo_client::draws::Rehearsal;
use lrgeo_client::http::Http;
use lrgeo_client::state::StateFile;
use lrgeo_client::{Client, ClientError, Mode, Outcome};
use lrgeo_geo::Coord;
use lrgeo_protocol::path;
use lrgeo_server::Config;
use serde_json::Value;

fn lrgeo(folder: &Path, arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lrgeo"));
    command.args(arguments.split_whitespace()).current_dir(folder);
    command.env("XDG_STATE_HOME", folder.join("home")).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn succeed(folder: &Path, arguments: &str) -> String {
    let output = lrgeo(folder, arguments);
    assert!(output.status.success(), "lrgeo {arguments}: {}", said(&output));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_token_is_made_shown_once_listed_and_taken_back() {
    let scratch = Scratch::new();
    let folder = &scratch.0;
    let made = succeed(
        folder,
        "-q token new --data d --name app --scope report,public --per-second 5 --expires 90d",
    );
    let secret = made.trim().rsplit('_').next().unwrap();
    assert_eq!((made.lines().count(), secret.len()), (1, 64));
    let listed = succeed(folder, "token list --data d");
    assert!(listed.contains("app") && listed.contains("public,report"), "{listed}");
    let json: Value = serde_json::from_str(&succeed(folder, "token list --data d --json")).unwrap();
    assert_eq!((&json[0]["name"], &json[0]["valid"]), (&"app".into(), &true.into()));
    let written = std::fs::read_to_string(folder.join("d/tokens.json")).unwrap();
    for text in [listed, json.to_string(), written] {
        assert!(!text.contains(secret), "{text}");
    }
    for (wrong, words) in [
        ("token new --data d --name app --scope report", "is taken"),
        ("token new --data d --name b --scope reports", "must be public, report"),
        ("token new --data d --name b --scope report --per-second 0", "per_second"),
        ("token revoke --data d nobody", "lrgeo token list"),
    ] {
        let output = lrgeo(folder, wrong);
        assert!(
            !output.status.success() && said(&output).contains(words),
            "{wrong}: {}",
            said(&output)
        );
    }
    assert!(succeed(folder, "token revoke --data d app").starts_with("revoked"));
    assert_eq!(succeed(folder, "token list --data d --json").trim(), "[]");
}

/// Takes whatever is posted: the head, and the body.
fn hook() -> (String, std::sync::mpsc::Receiver<(String, Value)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/hook", listener.local_addr().unwrap());
    let (send, posted) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let stream = stream.unwrap();
            let mut reader = BufReader::new(&stream);
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).unwrap() > 0 {}
            let length =
                head.split("content-length: ").nth(1).unwrap().split("\r\n").next().unwrap();
            let mut body = vec![0; length.parse().unwrap()];
            reader.read_exact(&mut body).unwrap();
            (&stream).write_all(b"HTTP/1.1 204 x\r\nconnection: close\r\n\r\n").unwrap();
            if send.send((head, serde_json::from_slice(&body).unwrap())).is_err() {
                return;
            }
        }
    });
    (address, posted)
}

#[test]
fn nothing_that_the_processes_write_tells_where_somebody_is() {
    /// Where the user is, to a decimetre; nothing else has these digits.
    const AT: &str = "46.003147,-30.001733";
    const DIGITS: [&str; 2] = ["46.00314", "30.00173"];
    let scratch = Scratch::new();
    let folder = &scratch.0;
    let (webhook, posted) = hook();
    succeed(folder, "-q map build --demo --cell 900m -o demo.lrmap");
    let settings = format!(
        "[rounds]\nwindow_seconds = 0.2\n[access]\nrequired = [\"report\", \"rounds\"]\n[handover]\nwebhook = \"{webhook}\"\n"
    );
    std::fs::write(folder.join("server.toml"), settings).unwrap();
    let token = succeed(folder, "-q token new --data data --name app --scope report,rounds");
    std::fs::write(folder.join("token"), &token).unwrap();
    let mut server = Command::new(env!("CARGO_BIN_EXE_lrgeo"))
        .args("-q serve --map demo.lrmap --config server.toml --data data --listen 127.0.0.1:0 --log-level trace".split(' '))
        .current_dir(folder)
        .env("RUST_BACKTRACE", "1")
        .stdout(Stdio::piped())
        .stderr(Stdio::from(std::fs::File::create(folder.join("log")).unwrap()))
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let url = line.trim().strip_prefix("listening on ").unwrap().to_owned();

    // A whole day: policy, all modes, refusals of all sorts.
    succeed(
        folder,
        "client policy --protects relevant-places --least-relevant 1 --least-places 1 --reuse-within 50m",
    );
    let ask = format!("client obfuscate --server {url} --reference ride-17 --json");
    let mut wrote = String::new();
    let refused = lrgeo(folder, &format!("{ask} --at {AT}"));
    assert!(!refused.status.success() && said(&refused).contains("token"), "{}", said(&refused));
    wrote += &said(&refused);
    for (mode, at) in [
        ("coordinates", AT),
        ("published", "46.013147,-30.011733"),
        ("local", "46.003147,-30.021733"),
        ("offload", "46.013147,-30.001733"),
    ] {
        let output = lrgeo(
            folder,
            &format!("{ask} --at {at} --mode {mode} --token-file token --i-understand"),
        );
        assert!(output.status.success(), "{mode}: {}", said(&output));
        wrote += &said(&output);
    }
    for wrong in [
        "4600.3147,-30.001733",
        "-30.001733,46.003147",
        "46.003147;-30.001733",
        "46.003147,-30.001733,7",
    ] {
        let output = lrgeo(folder, &format!("{ask} --at={wrong} --token-file token"));
        assert!(!output.status.success(), "{wrong}");
        wrote += &said(&output);
    }
    let auth = format!("Bearer {}", token.trim());
    let raw = format!("{{\"lat\":{},\"lon\":{}}}", &AT[..9], &AT[10..]);
    for route in [path::REPORTS, path::ROUNDS] {
        let agent: ureq::Agent =
            ureq::Agent::config_builder().http_status_as_error(false).build().into();
        let request = agent.post(format!("{url}{route}")).content_type("application/json");
        let answer = request.header("authorization", &auth).send(raw.as_bytes()).unwrap();
        wrote += &answer.into_body().read_to_string().unwrap();
    }
    for query in [
        "/v1/targets?map=46.003147&place=-30.001733",
        "/v1/table/circle?centre=46.003147",
        "/v1/tiles/46.003147,-30.001733",
        "/46.003147",
    ] {
        let headers = [("authorization", auth.as_str()), ("x-request-id", "46.003147_-30.001733")];
        let answer = common::get(&format!("{url}{query}"), &headers);
        assert!(answer.status >= 400);
        wrote += &format!("{:?}", answer.headers);
        wrote += &answer.text();
    }
    let metrics = common::get(&format!("{url}{}", path::METRICS), &[]).text();
    let operation = common::get(&format!("{url}/v1/page/operation"), &[]).text();

    // Four reports were handed on: what was drawn, and nothing else about anybody.
    let mut bodies = String::new();
    for _ in 0..4 {
        let (head, mut body) = posted.recv_timeout(std::time::Duration::from_secs(30)).unwrap();
        let fields = body.as_object_mut().unwrap();
        assert!(fields.remove("place").is_some() && fields.remove("at").is_some());
        bodies += &format!("{head}{body}");
    }
    let kill = Command::new("kill").args(["-TERM", &server.id().to_string()]).status().unwrap();
    assert!(kill.success() && server.wait().unwrap().success());
    let log = std::fs::read_to_string(folder.join("log")).unwrap();

    for text in [&wrote, &log, &metrics, &operation, &bodies] {
        for digits in DIGITS {
            assert!(!text.contains(digits), "{digits}: {text}");
        }
    }
    // What the server writes has no place at all, neither the user's nor a reported one.
    let map = lrgeo_map::map::Map::open(&folder.join("demo.lrmap")).unwrap().0;
    for text in [&log, &metrics, &operation, &bodies] {
        for place in &map.places {
            for digits in [format!("{:.3}", place.coord.lat()), format!("{:.3}", place.coord.lon())]
            {
                assert!(!text.contains(&digits), "a coordinate, {digits}: {text}");
            }
        }
        assert!(!text.contains("\"place\"") && !text.contains("place="), "{text}");
        assert!(!text.contains(token.trim()), "a token: {text}");
    }
    assert!(!log.contains("ride-17") && !metrics.contains("ride-17"), "{log}");
    // The log is JSON line by line, without a colour, and has what an operator needs.
    assert!(!log.contains('\u{1b}'), "colours in a file");
    let lines: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    let request = lines.iter().find(|line| line["route"] == path::REPORTS && line["status"] == 200);
    let request = request.expect("a line for a report");
    assert!(request["id"].is_string() && request["token"].is_string(), "{request}");
    assert!(lines.iter().any(|line| line["reason"] == "unauthorised"));
}

#[test]
fn a_log_of_a_kind_that_there_is_not_is_refused() {
    let scratch = Scratch::new();
    succeed(&scratch.0, "-q map build --demo --cell 2km -o demo.lrmap");
    let output = lrgeo(&scratch.0, "serve --map demo.lrmap --log yaml");
    assert_eq!(output.status.code(), Some(2));
    let output = lrgeo(&scratch.0, "serve --map demo.lrmap --log-level loud");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn refined_in_stages_a_ride_costs_the_sum_and_the_ledger_has_the_last_word() {
    let scratch = Scratch::new();
    let start = |epsilon: &str| {
        let mut config = Config::default();
        config.privacy.epsilon = epsilon.into();
        config.privacy.local = false;
        Running::start(common::map(60), &scratch.0.join(epsilon.replace('/', "-")), &config)
    };
    let (blurred, finer) = (start("2/km"), start("8/km"));
    let places = common::map(60).places;
    let state = scratch.0.join("state.json");
    let report = |service: &Running, at: Coord, ride: &str| -> Result<Outcome, ClientError> {
        let mut kept = StateFile::open(&state)?;
        // Twice a day; a person who has said nothing accepts 2.3/km a report.
        kept.state.policy.most_epsilon_per_km = 8.0;
        kept.state.policy.per_period.cap_per_km = 20.0;
        let client = Client::rehearse(Http::new(&service.url)?, kept, Rehearsal::seeded(7));
        client.reference(Some(ride.parse().unwrap())).obfuscate(at, Mode::Coordinates)
    };
    let spot = |n: usize| places[n].coord.offset_km(0.04, -0.07);
    let spent =
        |outcome: Outcome| (outcome.spent_per_km.round(), outcome.balance.spent_per_km.round());

    assert_eq!(spent(report(&blurred, spot(3), "ride-1").unwrap()), (2.0, 2.0));
    assert_eq!(spent(report(&finer, spot(3), "ride-1").unwrap()), (8.0, 10.0));
    // Asked again, both say the same, for nothing.
    assert_eq!(spent(report(&blurred, spot(3), "ride-1").unwrap()), (0.0, 10.0));
    assert_eq!(spent(report(&finer, spot(3), "ride-1").unwrap()), (0.0, 10.0));
    // Elsewhere a second ride fits, a third does not: it is not even blurred.
    assert_eq!(spent(report(&blurred, spot(50), "ride-2").unwrap()), (2.0, 12.0));
    assert_eq!(spent(report(&finer, spot(50), "ride-2").unwrap()), (8.0, 20.0));
    let before = common::get(&format!("{}{}", blurred.url, path::METRICS), &[]).text();
    let refused = report(&blurred, spot(25), "ride-3").unwrap_err().to_string();
    assert!(refused.contains("20"), "{refused}");
    let posted = |text: &str| {
        let line = "lrgeo_requests_total{method=\"POST\",route=\"/v1/reports\"} ";
        text.lines().find_map(|l| l.strip_prefix(line)).map(str::to_owned)
    };
    let after = common::get(&format!("{}{}", blurred.url, path::METRICS), &[]).text();
    assert_eq!(posted(&before), posted(&after), "nothing was reported");
}
