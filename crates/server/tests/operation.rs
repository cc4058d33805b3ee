//! What an operator lives with: tokens, limits, packed files, names of requests, metrics, reports that are handed on.

mod common;

use std::io::Read;
use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, Instant};

use common::{Answer, Running, Scratch, config, map};
use lrgeo_geo::{Digest, PlaceId};
use lrgeo_protocol::public::MapDescription;
use lrgeo_protocol::quiet::{Report, ReportedPlace};
use lrgeo_protocol::{Reason, path};
use lrgeo_server::{Config, Scope, TokenFile, WantedToken};
use serde_json::Value;

fn settings() -> Config {
    let mut config = config(2);
    config.privacy.local = false;
    config
}

fn start(scratch: &Scratch, config: &Config) -> Running {
    Running::start(map(30), &scratch.0, config)
}

fn token(data: &Path, name: &str, scopes: &[Scope], per_second: Option<f64>) -> String {
    let (name, scopes) = (name.to_owned(), scopes.to_vec());
    let wanted = WantedToken { name, scopes, per_second, lifetime_seconds: None };
    format!("Bearer {}", TokenFile::change(data, |file| file.issue(&wanted, 1000)).unwrap().0)
}

/// Asks until the answer is as wanted: the server looks at its tokens once a second.
fn soon(mut ask: impl FnMut() -> Answer, wanted: u16) -> Answer {
    let begun = Instant::now();
    loop {
        let answer = ask();
        if answer.status == wanted {
            return answer;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{}: {}", answer.status, answer.text());
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn metric(server: &Running, sample: &str) -> f64 {
    let text = server.get(path::METRICS, &[]).text();
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("{sample} ")));
    line.map_or(0.0, |value| value.parse().unwrap())
}

#[test]
fn tokens_open_what_they_are_for_until_they_are_revoked() {
    let scratch = Scratch::new();
    let mut config = settings();
    config.access.required = vec!["report".into(), "operate".into()];
    config.access.guesses_per_second = 3.0;
    let app = token(&scratch.0, "app", &[Scope::Report], None);
    let server = start(&scratch, &config);
    let about: MapDescription = server.message(path::MAP);
    let targets = format!("{}?map={}&place=3", path::TARGETS, about.map);

    let none = server.get(&targets, &[]);
    assert_eq!((none.status, none.reason()), (401, Reason::Unauthorised));
    assert_eq!(none.header("www-authenticate"), "Bearer");
    assert_eq!(server.get(&targets, &[("authorization", &app)]).status, 200);
    let other = server.get(path::METRICS, &[("authorization", &app)]);
    assert_eq!((other.status, other.reason()), (403, Reason::NotAllowed));
    assert!(other.header("www-authenticate").contains("scope=\"operate\""));
    // What the settings do not name is open, and answers whether the process is alive whatever they name.
    assert_eq!(server.get(path::MANIFEST, &[]).status, 200);
    assert_eq!(server.get(path::HEALTH, &[]).status, 200);

    // Guessing: refused, then refused without being looked up, and whoever has a token goes on.
    let guess = format!("{}{}", &app[..app.len() - 64], "0".repeat(64));
    let tried: Vec<u16> =
        (0..20).map(|_| server.get(&targets, &[("authorization", &guess)]).status).collect();
    assert!(tried[0] == 401 && tried.contains(&429), "{tried:?}");
    assert_eq!(server.get(&targets, &[("authorization", &app)]).status, 200);

    // A running server learns of new tokens and of those that are gone.
    let operator = token(&scratch.0, "operator", &[Scope::Operate], None);
    let metrics = soon(|| server.get(path::METRICS, &[("authorization", &operator)]), 200).text();
    let counted = |name: &str| metrics.lines().any(|line| line.starts_with(name));
    assert!(counted("lrgeo_refusals_total{reason=\"unauthorised\"}"), "{metrics}");
    assert!(counted("lrgeo_refusals_total{reason=\"too_often\"}"), "{metrics}");
    TokenFile::change(&scratch.0, |file| file.revoke("app")).unwrap();
    soon(|| server.get(&targets, &[("authorization", &app)]), 401);
}

#[test]
fn a_tokens_own_rate_and_that_of_a_kind_of_route_are_kept() {
    let scratch = Scratch::new();
    let mut config = settings();
    config.routes.per_second.report = 2.0;
    let quick = token(&scratch.0, "quick", &[Scope::Report], Some(1000.0));
    let slow = token(&scratch.0, "slow", &[Scope::Report], Some(0.5));
    let server = start(&scratch, &config);
    let about: MapDescription = server.message(path::MAP);
    let ask = |token: Option<&str>| {
        let path = format!("{}?map={}&place=3", path::TARGETS, about.map);
        let headers: Vec<_> = token.map(|token| ("authorization", token)).into_iter().collect();
        server.get(&path, &headers)
    };
    assert!((0..40).all(|_| ask(Some(&quick)).status == 200));
    assert_eq!(ask(Some(&slow)).status, 200);
    let late = ask(Some(&slow));
    assert_eq!((late.status, late.reason()), (429, Reason::TooOften));
    assert!((1..=2).contains(&late.header("retry-after").parse::<u32>().unwrap()));
    let without: Vec<u16> = (0..10).map(|_| ask(None).status).collect();
    assert!(
        without[..3].iter().all(|status| *status == 200) && without.contains(&429),
        "{without:?}"
    );
    // Other kinds of routes are not held up by it.
    assert_eq!(server.get(path::MANIFEST, &[]).status, 200);
}

#[test]
fn as_many_as_there_is_room_for_are_served_and_the_others_told_when_to_come_back() {
    let scratch = Scratch::new();
    let mut config = settings();
    config.handover.stream = true;
    config.routes.at_once.stream = 1;
    let reader = token(&scratch.0, "reader", &[Scope::Stream], None);
    let server = start(&scratch, &config);
    let ask = |wait: u32| {
        let path = format!("{}?wait={wait}", path::STREAM);
        server.get(&path, &[("authorization", &reader)])
    };
    std::thread::scope(|scope| {
        // Whoever of the two comes second is turned away: the one who wants to wait tries again.
        let waiting = scope.spawn(|| soon(|| ask(5), 200));
        let busy = soon(|| ask(0), 503);
        assert_eq!(busy.reason(), Reason::Busy);
        assert_eq!(busy.header("retry-after"), "1");
        assert_eq!(server.get(path::MANIFEST, &[]).status, 200, "others are served");
        assert_eq!(waiting.join().unwrap().status, 200);
    });
    assert_eq!(soon(|| ask(0), 200).status, 200, "the place was given back");
}

#[test]
fn what_everybody_fetches_is_packed_and_what_must_not_tell_its_length_is_not() {
    let scratch = Scratch::new();
    let server = start(&scratch, &settings());
    let gzip = ("accept-encoding", "gzip");
    let plain = server.get(path::OPENAPI, &[]);
    assert_eq!((plain.header("content-encoding"), plain.header("vary")), ("", "accept-encoding"));
    let begun = Instant::now();
    let packed = loop {
        let answer = server.get(path::OPENAPI, &[gzip]);
        if answer.header("content-encoding") == "gzip" {
            break answer;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "never packed");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert!(
        packed.body.len() * 3 < plain.body.len(),
        "{} of {}",
        packed.body.len(),
        plain.body.len()
    );
    let mut unpacked = Vec::new();
    flate2::read::GzDecoder::new(&packed.body[..]).read_to_end(&mut unpacked).unwrap();
    assert_eq!(unpacked, plain.body);
    assert_ne!(packed.header("etag"), plain.header("etag"));
    for tag in [packed.header("etag"), plain.header("etag")] {
        let again = server.get(path::OPENAPI, &[gzip, ("if-none-match", tag)]);
        assert_eq!((again.status, again.body.len()), (304, 0));
    }
    let manifest: Value = server.message(path::MANIFEST);
    let hash: Digest = manifest["tiles"][0]["hash"].as_str().unwrap().parse().unwrap();
    for folder in [path::TILES, path::PLACES] {
        for _ in 0..5 {
            let tile = server.get(&path::file(folder, hash), &[gzip]);
            assert_eq!((tile.status, tile.header("content-encoding")), (200, ""));
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

#[test]
fn requests_have_names_that_do_no_harm() {
    let scratch = Scratch::new();
    let server = start(&scratch, &settings());
    let given = server.get(path::HEALTH, &[("x-request-id", "trace-17")]);
    assert_eq!(given.header("x-request-id"), "trace-17");
    let long = "a".repeat(65);
    for odd in ["46.003,-30.002", "a b", &long] {
        let made = server.get(path::HEALTH, &[("x-request-id", odd)]);
        assert!(!made.header("x-request-id").is_empty());
        assert_ne!(made.header("x-request-id"), odd);
    }
    let names: Vec<String> =
        (0..2).map(|_| server.get("/elsewhere", &[]).header("x-request-id").to_owned()).collect();
    assert_ne!(names[0], names[1]);
}

/// Names of metrics that a text mentions.
fn names(text: &str) -> std::collections::BTreeSet<String> {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = text.split(|c: char| !word(c)).filter(|word| word.starts_with("lrgeo_"));
    let family = |word: &str| {
        let ends = ["_bucket", "_sum", "_count"].iter();
        ends.filter_map(|end| word.strip_suffix(end)).next().unwrap_or(word).to_owned()
    };
    words.map(family).collect()
}

#[test]
fn every_metric_is_documented_and_dashboard_and_alerts_ask_for_no_other() {
    let scratch = Scratch::new();
    let server = start(&scratch, &settings());
    server.get(path::MANIFEST, &[]);
    server.get("/elsewhere", &[]);
    let text = server.get(path::METRICS, &[]);
    assert_eq!(text.header("content-type"), "text/plain; version=0.0.4");
    let text = text.text();
    // Every line is a comment, or a name with labels and a number; every sample belongs to a family that was announced.
    let (mut announced, mut samples) = (std::collections::BTreeSet::new(), 0);
    for line in text.lines() {
        if let Some(family) = line.strip_prefix("# TYPE ") {
            announced.insert(family.split(' ').next().unwrap().to_owned());
        } else if !line.starts_with("# HELP ") {
            let (name, value) = line.rsplit_once(' ').unwrap();
            value.parse::<f64>().unwrap_or_else(|_| panic!("{line}"));
            let name = names(name.split('{').next().unwrap());
            assert!(name.iter().all(|name| announced.contains(name)), "{line}");
            samples += 1;
        }
    }
    assert!(announced.len() > 20 && samples > 40, "{} {samples}", announced.len());
    let count = |name: &str| metric(&server, name);
    assert_eq!(count("lrgeo_requests_total{method=\"GET\",route=\"unknown\"}"), 1.0);
    let buckets = "lrgeo_request_seconds_bucket{method=\"GET\",route=\"/v1/manifest\",le=\"+Inf\"}";
    assert_eq!(count(buckets), 1.0);

    let read = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    let section = read("docs/operations.md");
    let section = section.split("\n## Metrics").nth(1).unwrap().split("\n## ").next().unwrap();
    assert_eq!(names(section), announced, "docs/operations.md, Metrics");
    let dashboard: Value = serde_json::from_str(&read("deploy/grafana-dashboard.json")).unwrap();
    let asked: Vec<String> = dashboard["panels"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|panel| {
            let targets = panel["targets"].as_array().unwrap().iter();
            targets.map(|target| target["expr"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        })
        .collect();
    let alerts = read("deploy/alerts.yml");
    let rules = alerts.lines().filter_map(|line| line.trim().strip_prefix("expr: "));
    let asked: Vec<String> = asked.into_iter().chain(rules.map(str::to_owned)).collect();
    assert!(asked.len() > 15, "{}", asked.len());
    for expression in asked {
        let names = names(&expression);
        assert!(!names.is_empty() && names.is_subset(&announced), "{expression}");
    }
    // Each rule has a name, a condition, a time and words.
    let count = |start: &str| alerts.lines().filter(|line| line.trim().starts_with(start)).count();
    let rules = count("- alert: ");
    assert!(rules >= 6);
    for part in ["expr: ", "for: ", "severity: ", "summary: "] {
        assert_eq!(count(part), rules, "{part}");
    }
}

/// What came to a webhook: the headers in small letters, and the body.
type Posted = (String, Value);

/// Takes one request and answers it with this status.
fn receive(listener: &TcpListener, status: u16) -> Posted {
    use std::io::{BufRead, BufReader, Write};
    let (stream, _) = listener.accept().unwrap();
    let mut reader = BufReader::new(&stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(reader.read_line(&mut head).unwrap() > 0, "{head}");
    }
    let head = head.to_ascii_lowercase();
    let length = head.split("content-length: ").nth(1).unwrap().split("\r\n").next().unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    let answer = format!("HTTP/1.1 {status} x\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    (&stream).write_all(answer.as_bytes()).unwrap();
    (head, serde_json::from_slice(&body).unwrap())
}

fn report(about: &MapDescription, place: u32, reference: &str) -> Report {
    let reference = Some(reference.parse().unwrap());
    Report { reference, ..Report::new(about.map, ReportedPlace(PlaceId::new(place))) }
}

#[test]
fn a_webhook_gets_every_report_in_order_though_it_fails_and_the_server_dies() {
    let scratch = Scratch::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut config = settings();
    config.handover.webhook = Some(format!("http://{}/hook", listener.local_addr().unwrap()));
    let server = start(&scratch, &config);
    let about: MapDescription = server.message(path::MAP);
    for place in [3, 4, 5] {
        assert_eq!(server.post_json(path::REPORTS, &report(&about, place, "ride-17")).status, 200);
    }
    // The first is refused twice: nothing overtakes it.
    let (_, first) = receive(&listener, 503);
    let (head, again) = receive(&listener, 500);
    assert_eq!((&first["place"], &first), (&3.into(), &again));
    for (name, value) in
        [("content-type", "application/json"), ("webhook-id", first["id"].as_str().unwrap())]
    {
        assert!(head.contains(&format!("{name}: {value}")), "{head}");
    }
    assert!(
        head.contains("webhook-signature: v1,") && head.contains("webhook-timestamp: "),
        "{head}"
    );
    assert_eq!((&first["reference"], &first["sequence"]), (&"ride-17".into(), &1.into()));
    let coord = map(30).places[3].coord;
    assert_eq!(first["at"], serde_json::json!([coord.lat(), coord.lon()]));
    assert_eq!(metric(&server, "lrgeo_outbox_reports"), 3.0);
    server.stop();

    // After the restart it goes on where it was.
    let server = start(&scratch, &config);
    let mut places = Vec::new();
    while places.last() != Some(&5) {
        places.push(receive(&listener, 200).1["place"].as_u64().unwrap());
    }
    // At least once: the try that was under way may have been the first of two.
    places.dedup();
    assert_eq!(places, [3, 4, 5]);
    let begun = Instant::now();
    while metric(&server, "lrgeo_outbox_reports") > 0.0 {
        assert!(begun.elapsed() < Duration::from_secs(20), "what was delivered is not forgotten");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(metric(&server, "lrgeo_handed_reports_total"), 3.0);
    assert_eq!(
        server.get(path::STREAM, &[]).status,
        401,
        "no stream beside it, and none without a token"
    );
}

#[test]
fn the_stream_is_read_with_a_cursor_and_forgets_what_was_dealt_with() {
    let scratch = Scratch::new();
    let mut config = settings();
    config.handover.stream = true;
    config.handover.most_events = 3;
    let reader = token(&scratch.0, "reader", &[Scope::Stream], None);
    let app = token(&scratch.0, "app", &[Scope::Report], None);
    let server = start(&scratch, &config);
    let about: MapDescription = server.message(path::MAP);
    let read = |query: &str| -> Value {
        let answer =
            server.get(&format!("{}?{query}", path::STREAM), &[("authorization", &reader)]);
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()
    };
    assert_eq!(server.get(path::STREAM, &[("authorization", &app)]).reason(), Reason::NotAllowed);
    assert_eq!(read("wait=0")["reports"], serde_json::json!([]));
    // Who waits gets it when it comes.
    let waited = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| read("wait=20"));
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(server.post_json(path::REPORTS, &report(&about, 7, "task-1")).status, 200);
        waiting.join().unwrap()
    });
    assert_eq!((&waited["reports"][0]["place"], &waited["cursor"]), (&7.into(), &1.into()));
    for place in [8, 9] {
        assert_eq!(server.post_json(path::REPORTS, &report(&about, place, "task-1")).status, 200);
    }
    let full = server.post_json(path::REPORTS, &report(&about, 9, "task-1"));
    assert_eq!((full.status, full.reason(), full.header("retry-after")), (503, Reason::Busy, "5"));
    // Not dealt with, not forgotten.
    assert_eq!(read("wait=0")["reports"].as_array().unwrap().len(), 3);
    let rest = read("after=1&limit=1");
    assert_eq!((&rest["reports"][0]["place"], &rest["cursor"]), (&8.into(), &2.into()));
    assert_eq!(server.post_json(path::REPORTS, &report(&about, 10, "task-2")).status, 200);
    server.stop();
    let server = start(&scratch, &config);
    let answer = server.get(path::STREAM, &[("authorization", &reader)]);
    let kept: Value = answer.json();
    let places: Vec<u64> =
        kept["reports"].as_array().unwrap().iter().map(|r| r["place"].as_u64().unwrap()).collect();
    assert_eq!(places, [8, 9, 10]);
}

#[test]
fn without_a_webhook_or_a_stream_nothing_is_kept_of_a_reference() {
    let scratch = Scratch::new();
    let server = start(&scratch, &settings());
    let about: MapDescription = server.message(path::MAP);
    let sent = report(&about, 7, "ride-that-is-nobodys-business");
    assert_eq!(server.post_json(path::REPORTS, &sent).status, 200);
    server.stop();
    for entry in std::fs::read_dir(&scratch.0).unwrap() {
        let path = entry.unwrap().path();
        let bytes = if path.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
        let held = bytes.windows(24).any(|part| part == b"ride-that-is-nobodys-bus");
        assert!(!held, "{}", path.display());
        assert!(!path.ends_with("outbox.redb"));
    }
}
