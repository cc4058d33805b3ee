//! Killed at any moment: no report that was answered is lost, none overtakes another of its reference, and the list of tokens is whole.
//!
//! `LRGEO_KILLS=200 cargo test -p lrgeo --test killed` does it more often than the usual few times.

#[path = "../../server/tests/common/mod.rs"]
mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use common::Scratch;
use lrgeo_map::map::Map;
use lrgeo_protocol::path;
use serde_json::Value;

fn kills() -> u64 {
    std::env::var("LRGEO_KILLS").map_or(6, |text| text.parse().expect("a number"))
}

/// Some milliseconds, different each time and the same in every run.
fn moment(number: u64, most: u64) -> Duration {
    Duration::from_millis((number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) % most)
}

fn lrgeo(folder: &Path, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lrgeo"));
    command.arg("-q").args(arguments.split_whitespace()).current_dir(folder);
    command.stdout(Stdio::piped());
    command
}

/// A server that ends with its test, however that ends.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(folder: &Path) -> (Server, String) {
    let serve = "serve --map city.lrmap --config server.toml --data data --listen 127.0.0.1:0 --log-level error";
    let mut child = lrgeo(folder, serve).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    (Server(child), line.trim().strip_prefix("listening on ").expect("it starts").to_owned())
}

/// Takes every third report at the second try only, and writes down what it took.
fn hook() -> (String, Arc<Mutex<Vec<Value>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/hook", listener.local_addr().unwrap());
    let taken = Arc::new(Mutex::new(Vec::new()));
    let takes = taken.clone();
    std::thread::spawn(move || {
        let mut tries: BTreeMap<String, u32> = BTreeMap::new();
        for stream in listener.incoming() {
            let Ok(stream) = stream else { return };
            let mut reader = BufReader::new(&stream);
            let mut head = String::new();
            // A server that is killed may break off anywhere.
            while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).is_ok_and(|n| n > 0) {}
            let Some(length) = head.split("content-length: ").nth(1) else { continue };
            let mut body = vec![0; length.split("\r\n").next().unwrap().parse().unwrap()];
            if reader.read_exact(&mut body).is_err() {
                continue;
            }
            let report: Value = serde_json::from_slice(&body).unwrap();
            let tried = tries.entry(report["id"].as_str().unwrap().to_owned()).or_default();
            *tried += 1;
            let refused = report["sequence"].as_u64().unwrap().is_multiple_of(3) && *tried == 1;
            if !refused {
                takes.lock().unwrap().push(report);
            }
            let status = if refused { 503 } else { 204 };
            let answer = format!("HTTP/1.1 {status} x\r\nconnection: close\r\n\r\n");
            let _ = (&stream).write_all(answer.as_bytes());
        }
    });
    (address, taken)
}

/// A map and settings for a server that hands reports on, and what was taken of them.
fn city_that_hands_on(folder: &Path) -> (Map, Arc<Mutex<Vec<Value>>>) {
    let map = common::map(30);
    map.save(&folder.join("city.lrmap")).unwrap();
    let (webhook, taken) = hook();
    let settings = format!(
        "[privacy]\nlocal = false\n[page]\nserve = false\n[handover]\nwebhook = \"{webhook}\"\n"
    );
    std::fs::write(folder.join("server.toml"), settings).unwrap();
    (map, taken)
}

/// Whether all of these are there, in this order. Reports that were kept and not answered in time may stand in between.
fn is_within(places: &[u64], came: &[u64]) -> bool {
    let mut came = came.iter();
    places.iter().all(|place| came.any(|one| one == place))
}

#[test]
fn killed_while_it_takes_and_hands_on_reports_it_loses_none_and_keeps_their_order() {
    let scratch = Scratch::new();
    let (map, taken) = city_that_hands_on(&scratch.0);

    let agent = ureq::Agent::config_builder().timeout_global(Some(Duration::from_secs(20)));
    let agent: ureq::Agent = agent.build().into();
    // By reference, the places that were answered, in order.
    let mut answered: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    let mut number = 0;
    for kill in 0..kills() {
        let (server, url) = start(&scratch.0);
        let id = server.0.id();
        let killer = std::thread::spawn(move || {
            std::thread::sleep(moment(kill + 1, 700));
            assert!(
                Command::new("kill").args(["-KILL", &id.to_string()]).status().unwrap().success()
            );
        });
        loop {
            number += 1;
            let (ride, place) = (number % 5, number % 30);
            let body = format!(
                "{{\"map\":\"{}\",\"place\":{place},\"reference\":\"ride-{ride}\"}}",
                map.version()
            );
            let request =
                agent.post(format!("{url}{}", path::REPORTS)).content_type("application/json");
            match request.send(body.as_bytes()) {
                Ok(_) => answered.entry(format!("ride-{ride}")).or_default().push(place),
                Err(_) => break,
            }
        }
        killer.join().unwrap();
    }
    let count: usize = answered.values().map(Vec::len).sum();
    assert!(count as u64 > kills(), "{count} reports");

    // A last start, which nobody kills: everything that was answered comes.
    let _server = start(&scratch.0);
    let begun = Instant::now();
    // Every third waits a second for its second try, one after the other along its lane.
    let patience = Duration::from_secs(120 + count as u64 / 3);
    // Each once, though it came twice, in the order in which it came first.
    let came = || {
        let (mut ids, mut came) = (BTreeSet::new(), BTreeMap::<String, Vec<u64>>::new());
        for report in taken.lock().unwrap().iter() {
            if ids.insert(report["id"].to_string()) {
                let reference = report["reference"].as_str().unwrap().to_owned();
                came.entry(reference).or_default().push(report["place"].as_u64().unwrap());
            }
        }
        came
    };
    while !answered
        .iter()
        .all(|(ride, places)| came().get(ride).is_some_and(|came| is_within(places, came)))
    {
        let waited = begun.elapsed();
        assert!(waited < patience, "lost or out of order: {answered:?}, {:?}", came());
        std::thread::sleep(Duration::from_millis(100));
    }
    println!("{} kills, {count} reports answered, all handed on", kills());
}

#[test]
fn a_list_of_tokens_that_was_being_changed_is_whole() {
    let scratch = Scratch::new();
    let mut made = Vec::new();
    for kill in 0..3 * kills() {
        let name = format!("app-{kill}");
        let new = format!("token new --data data --name {name} --scope report");
        let mut child = lrgeo(&scratch.0, &new).spawn().unwrap();
        std::thread::sleep(moment(kill + 1, 12));
        let _ = child.kill();
        let output = child.wait_with_output().unwrap();
        // A token that was printed is in the list.
        if output.stdout.ends_with(b"\n") {
            made.push(name);
        }
        let list = lrgeo(&scratch.0, "token list --data data --json").output().unwrap();
        assert!(list.status.success());
        let list: Value = serde_json::from_slice(&list.stdout).unwrap();
        let names: BTreeSet<&str> =
            list.as_array().unwrap().iter().map(|token| token["name"].as_str().unwrap()).collect();
        assert!(made.iter().all(|name| names.contains(name.as_str())), "{made:?} {names:?}");
    }
}

#[test]
fn a_client_that_was_killed_opens_again_and_has_spent_what_it_reported() {
    let scratch = Scratch::new();
    let (map, taken) = city_that_hands_on(&scratch.0);
    let (_server, url) = start(&scratch.0);
    let client = |arguments: &str| {
        let mut command = lrgeo(&scratch.0, &format!("client {arguments} --state phone.json"));
        command.env("HOME", &scratch.0).env_remove("XDG_STATE_HOME").stderr(Stdio::piped());
        command
    };
    let policy = "policy --per-report 3/km --per-period 100000/km --lifetime 100000/km --reuse-within 50m --least-places 20";
    assert!(client(policy).output().unwrap().status.success());

    let (mut runs, mut spent) = (0.0, 0.0);
    for kill in 0..3 * kills() {
        let at = map.coords()[(kill * 7) as usize % 30];
        let arguments = format!(
            "obfuscate --server {url} --at {},{} --mode published --reference phone-{kill}",
            at.lat(),
            at.lon()
        );
        let mut child = client(&arguments).spawn().unwrap();
        std::thread::sleep(moment(kill + 1, 400));
        let _ = child.kill();
        child.wait_with_output().unwrap();
        runs += 1.0;
        let status = client("status --json").output().unwrap();
        assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stderr));
        let status: Value = serde_json::from_slice(&status.stdout).unwrap();
        let now = status["balance"]["spent_per_km"].as_f64().unwrap();
        assert!(now >= spent, "spent {spent}/km became {now}/km");
        spent = now;
    }
    // One that nobody kills, so that there is a report at all; then every report that came was paid for, and no run paid twice.
    let at = map.coords()[3];
    let last = format!("obfuscate --server {url} --at {},{} --mode published", at.lat(), at.lon());
    let last = client(&format!("{last} --reference phone-last")).output().unwrap();
    assert!(last.status.success(), "{}", String::from_utf8_lossy(&last.stderr));
    let status = client("status --json").output().unwrap();
    let status: Value = serde_json::from_slice(&status.stdout).unwrap();
    let spent = status["balance"]["spent_per_km"].as_f64().unwrap();
    let came = || -> BTreeSet<String> {
        let taken = taken.lock().unwrap();
        taken.iter().map(|report| report["reference"].to_string()).collect()
    };
    let begun = Instant::now();
    while !came().contains("\"phone-last\"") {
        assert!(begun.elapsed() < Duration::from_secs(60), "the last report did not come");
        std::thread::sleep(Duration::from_millis(100));
    }
    let came = came().len() as f64;
    // Within a period: what was drawn again at a place of before costs nothing.
    let places = came.min(30.0);
    assert!(spent >= 2.0 * (places - 1.0).max(1.0) - 1e-9, "{spent}/km for {came} reports");
    assert!(spent <= 2.0 * (runs + 1.0) + 1e-9, "{spent}/km for {runs} runs");
    println!("{runs} kills of a client, {came} reports came, {spent}/km spent");
}
