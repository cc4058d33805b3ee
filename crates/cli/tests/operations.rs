//! `lrgeo serve` as operators meet it: the first start, kills at the wrong moment, few descriptors, certificates.

#[path = "../../server/tests/common/mod.rs"]
mod common;
#[path = "common/operated.rs"]
mod operated;

use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use common::get;
use operated::{LRGEO, Place, Server, until};

#[test]
fn from_the_first_moment_it_says_that_it_lives_and_when_it_is_ready() {
    let place = Place::new(60);
    let server = Server::start(&mut place.serve("data"));
    until("listening", || place.is_listening());
    assert_eq!(get(&place.url("/healthz"), &[]).status, 200);
    let ready = get(&place.url("/readyz"), &[]);
    assert_eq!((ready.status, ready.text().as_str()), (503, "starting\n"));
    let later = get(&place.url("/v1/map"), &[]);
    assert_eq!((later.status, later.header("retry-after")), (503, "5"));
    assert!(later.text().contains("starting"), "{}", later.text());
    let server = server.ready();
    assert_eq!(get(&place.url("/readyz"), &[]).status, 200);
    assert_eq!(get(&place.url("/v1/map"), &[]).status, 200);
    // Somebody who never finishes a request does not keep it from stopping.
    let half_open = TcpStream::connect(("127.0.0.1", place.port)).unwrap();
    let begun = Instant::now();
    server.signal("-TERM");
    until("stopped", || !place.is_listening());
    let mut server = server;
    assert!(server.0.wait().unwrap().success());
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    drop(half_open);
}

#[test]
fn a_kill_at_any_moment_of_the_first_start_leaves_nothing_unusable() {
    let place = Place::new(12);
    let begun = Instant::now();
    drop(Server::start(&mut place.serve("whole")).ready());
    let whole = begun.elapsed();
    // A new directory after every sixth kill: five starts in between go on from what a kill has left.
    for number in 0..48 {
        let mut server = Server::start(&mut place.serve(&format!("data-{}", number / 6)));
        std::thread::sleep(whole.mul_f64(f64::from(number * 17 % 48) / 48.0));
        assert!(server.0.try_wait().unwrap().is_none(), "kill {number}: {}", server.errors());
    }
    for number in 0..8 {
        drop(Server::start(&mut place.serve(&format!("data-{number}"))).ready());
    }
}

#[test]
fn with_few_descriptors_it_goes_on_answering() {
    let place = Place::new(12);
    let mut limited = Command::new("sh");
    let serve = place.serve("data");
    limited.args(["-c", "ulimit -n 128; exec \"$0\" \"$@\"", LRGEO]).args(serve.get_args());
    limited.stdout(Stdio::piped()).stderr(Stdio::piped());
    let _server = Server::start(&mut limited).ready();
    let idle: Vec<TcpStream> =
        (0..400).map(|_| TcpStream::connect(("127.0.0.1", place.port)).unwrap()).collect();
    for _ in 0..20 {
        assert_eq!(get(&place.url("/readyz"), &[]).status, 200);
    }
    drop(idle);
}

#[test]
fn tiles_for_another_map_or_epsilon_are_refused_before_anything_is_computed() {
    let place = Place::new(12);
    drop(Server::start(&mut place.serve("data")).ready());
    let made = std::fs::read_dir(place.path("data").join("maps")).unwrap().next().unwrap();
    let tiles = made.unwrap().path().join("tiles");
    let refused = |map: &Path, more: &[&str]| {
        let mut command = Command::new(LRGEO);
        command.args(["serve", "--listen", "127.0.0.1:0", "--map"]).arg(map).arg("--tiles");
        command.arg(&tiles).arg("--data").arg(place.path("data")).args(more);
        let begun = Instant::now();
        let output = command.output().unwrap();
        assert!(!output.status.success());
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let other = place.path("other.lrmap");
    let map = common::map(13);
    map.save(&other).unwrap();
    let said = refused(&other, &[]);
    let ours = common::map(12).version().short();
    for words in ["tiles: ", &map.version().short(), &ours] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let config = place.path("other.toml");
    std::fs::write(&config, "[privacy]\nepsilon = \"3/km\"\n").unwrap();
    let said = refused(&place.map, &["--config", config.to_str().unwrap()]);
    assert!(said.contains("3/km") && said.contains("2/km"), "{said}");
}

/// An authority and a certificate of it for this machine.
struct Certificates {
    authority: PathBuf,
    certificate: PathBuf,
    key: PathBuf,
}

impl Certificates {
    fn write(&self) {
        let mut issuer = rcgen::CertificateParams::new(Vec::new()).unwrap();
        issuer.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let issuer_key = rcgen::KeyPair::generate().unwrap();
        let authority = issuer.self_signed(&issuer_key).unwrap();
        let issuer = rcgen::Issuer::new(issuer, issuer_key);
        let key = rcgen::KeyPair::generate().unwrap();
        let leaf = rcgen::CertificateParams::new(vec!["localhost".into()]).unwrap();
        let leaf = leaf.signed_by(&key, &issuer).unwrap();
        std::fs::write(&self.authority, authority.pem()).unwrap();
        std::fs::write(&self.certificate, leaf.pem()).unwrap();
        std::fs::write(&self.key, key.serialize_pem()).unwrap();
    }
}

#[test]
fn a_phone_reports_over_tls_and_a_new_certificate_is_taken_up() {
    let place = Place::new(12);
    let [authority, certificate, key] = ["ca.pem", "cert.pem", "key.pem"].map(|n| place.path(n));
    let certificates = Certificates { authority, certificate, key };
    certificates.write();
    let mut command = place.serve("data");
    command.arg("--tls-cert").arg(&certificates.certificate);
    command.arg("--tls-key").arg(&certificates.key);
    let server = Server::start(&mut command).ready();
    let at = common::map(12).coords()[5];
    let state = place.path("state.json");
    // A map of twelve places hides nobody; this is about the way there.
    let mut policy = Command::new(LRGEO);
    policy.args(["client", "policy", "--least-places", "1", "--state"]).arg(&state);
    assert!(policy.output().unwrap().status.success());
    let report = |ca: Option<&Path>| -> Output {
        let mut command = Command::new(LRGEO);
        command.args([
            "client",
            "obfuscate",
            "--server",
            &format!("https://localhost:{}", place.port),
        ]);
        command.args(["--mode", "published", "--state"]).arg(&state);
        command.args(["--at", &format!("{},{}", at.lat(), at.lon())]);
        if let Some(path) = ca {
            command.arg("--ca").arg(path);
        }
        command.output().unwrap()
    };
    let done = report(Some(&certificates.authority));
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(!String::from_utf8_lossy(&done.stderr).contains("not encrypted"));
    // Nobody whom browsers trust has signed it.
    assert!(!report(None).status.success());
    // Whoever speaks no TLS gets nothing, and keeps nobody out.
    let plain = Command::new("curl").args(["-s", "-m", "5", &place.url("/healthz")]).output();
    assert!(plain.is_ok_and(|plain| !plain.status.success()));

    let old = place.path("old-ca.pem");
    std::fs::copy(&certificates.authority, &old).unwrap();
    // First a key that does not fit: the certificate that was there stays.
    std::fs::write(&certificates.key, rcgen::KeyPair::generate().unwrap().serialize_pem()).unwrap();
    server.signal("-HUP");
    std::thread::sleep(Duration::from_millis(500));
    assert!(report(Some(&old)).status.success());
    certificates.write();
    server.signal("-HUP");
    until("taken up", || report(Some(&certificates.authority)).status.success());
    assert!(!report(Some(&old)).status.success());
}

/// The manifest that is served: its map, its place in the chain, and everything else that it says.
fn manifest(place: &Place) -> serde_json::Value {
    get(&place.url("/v1/manifest"), &[]).json()
}

fn report(place: &Place, map: &str) -> common::Answer {
    let body = format!("{{\"map\":\"{map}\",\"place\":7}}");
    common::post(&place.url("/v1/reports"), "application/json", body.as_bytes())
}

fn text(value: &serde_json::Value) -> String {
    value.as_str().unwrap().to_owned()
}

#[test]
fn a_new_map_is_published_and_rolled_back_without_a_pause() {
    let place = Place::new(12);
    let server = Server::start(&mut place.serve("data")).ready();
    let first = manifest(&place);
    let old_map = text(&first["map"]);
    let tile = format!("/v1/tiles/{}", text(&first["tiles"][0]["hash"]));
    // Written beside it and renamed: whoever reads finds one or the other.
    let replace = |with: &dyn Fn(&Path)| {
        let beside = place.path("new.lrmap");
        with(&beside);
        std::fs::rename(&beside, &place.map).unwrap();
        server.signal("-HUP");
    };
    let until_served = |places: usize| {
        until("published", || {
            assert_eq!(get(&place.url("/readyz"), &[]).status, 200);
            manifest(&place)["places"]["places"] == places
        });
    };
    replace(&|path| assert!(common::map(13).save(path).is_ok()));
    until_served(13);
    let second = manifest(&place);
    assert!(second["link"]["sequence"].as_u64() > first["link"]["sequence"].as_u64());
    // Phones that have not heard of it go on with what they know; those that ask follow the chain.
    assert_eq!(get(&place.url(&tile), &[]).status, 200);
    assert_eq!(report(&place, &old_map).status, 200);
    assert_eq!(report(&place, &text(&second["map"])).status, 200);
    let before = format!("/v1/manifests/{}", text(&second["link"]["previous"]));
    assert_eq!(get(&place.url(&before), &[]).status, 200);

    replace(&|path| std::fs::write(path, "no map").unwrap());
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(manifest(&place), second, "what cannot be used changes nothing");

    replace(&|path| assert!(common::map(12).save(path).is_ok()));
    until_served(12);
    let third = manifest(&place);
    assert_eq!((&third["map"], &third["tiles"]), (&first["map"], &first["tiles"]));
    assert!(third["link"]["sequence"].as_u64() > second["link"]["sequence"].as_u64());
}

#[test]
fn a_copy_of_the_data_is_the_same_server_elsewhere() {
    let place = Place::new(12);
    let server = Server::start(&mut place.serve("data")).ready();
    let (served, key) = (manifest(&place), get(&place.url("/v1/manifest"), &[]));
    let map = text(&served["map"]);
    for number in 1..=3 {
        assert_eq!(report(&place, &map).json::<serde_json::Value>()["reports"], number);
    }
    let copy = |to: &str| {
        let mut command = Command::new("cp");
        let copied = command.arg("-a").arg(place.path("data")).arg(place.path(to)).status();
        assert!(copied.unwrap().success());
    };
    // Without stopping it: two servers do not share a directory.
    let refused = place.serve_on("127.0.0.1:0", "data").output().unwrap();
    assert!(String::from_utf8_lossy(&refused.stderr).contains("in use by another server"));
    // As a snapshot of the disk has it, in the middle of everything; and as a server leaves it that was stopped.
    server.signal("-STOP");
    copy("snapshot");
    server.signal("-CONT");
    server.signal("-TERM");
    until("stopped", || !place.is_listening());
    drop(server);
    copy("backup");
    for name in ["snapshot", "backup"] {
        let _server = Server::start(&mut place.serve(name)).ready();
        assert_eq!(manifest(&place), served, "{name}");
        let again = get(&place.url("/v1/manifest"), &[]);
        assert_eq!(again.header("x-lrgeo-key"), key.header("x-lrgeo-key"));
        assert_eq!(report(&place, &map).json::<serde_json::Value>()["reports"], 4, "{name}");
    }
}

/// What a server of 0.1.0 left when it was killed: a map, settings, data, and `known.json` with the tickets it had given out.
const FIRST_RELEASE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/data-0.1.0.tar.gz");

#[test]
fn data_of_the_first_release_are_taken_up() {
    let mut place = Place::new(12);
    let mut unpack = Command::new("tar");
    let unpacked = unpack.arg("xzf").arg(FIRST_RELEASE).arg("-C").arg(&place.scratch.0).status();
    assert!(unpacked.unwrap().success());
    place.map = place.path("city.lrmap");
    let known = std::fs::read(place.path("known.json")).unwrap();
    let known: serde_json::Value = serde_json::from_slice(&known).unwrap();
    // Rounds of one, so that nobody else is waited for.
    let settings = std::fs::read_to_string(place.path("c.toml")).unwrap();
    std::fs::write(place.path("c.toml"), settings.replace("users = 2", "users = 1")).unwrap();
    let before = std::fs::read(place.path("data").join("chain").join("00000002.json")).unwrap();
    let mut command = place.serve("data");
    command.arg("--config").arg(place.path("c.toml"));
    let _server = Server::start(&mut command).ready();

    let map = text(&known["map"]);
    assert_eq!(text(&manifest(&place)["map"]), map);
    let tip = lrgeo_geo::Digest::of(&before);
    assert_eq!(get(&place.url(&format!("/v1/manifests/{tip}")), &[]).body, before);
    let counted = report(&place, &map).json::<serde_json::Value>();
    assert_eq!(counted["reports"].as_u64(), known["reports"].as_u64().map(|known| known + 1));
    let ask = |path: String, ticket: &serde_json::Value| {
        let bearer = format!("Bearer {}", text(&ticket["token"]));
        get(&place.url(&path), &[("authorization", &bearer), ("accept", "application/json")])
    };
    let path = |ticket: &serde_json::Value| format!("/v1/rounds/{}", text(&ticket["ticket"]));
    let answered = &known["answered"];
    let matrix: serde_json::Value = ask(path(answered) + "/matrix", answered).json();
    assert_eq!(matrix, known["matrix"], "the matrix that was given out then");
    let waiting = &known["waiting"];
    let state: serde_json::Value = ask(path(waiting) + "?wait=50", waiting).json();
    assert_eq!(state["phase"], "done", "{state}");
    assert_eq!(ask(path(waiting) + "/matrix", waiting).status, 200);
}
