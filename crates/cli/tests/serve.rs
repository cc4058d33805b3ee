//! `lrgeo serve` as a process: killed, started again, told to stop; and what it logs.

#[path = "../../server/tests/common/mod.rs"]
mod common;

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use common::{Answer, Scratch, Users, bearer};
use lrgeo_mechanism::publish::Directory;
use lrgeo_protocol::encoding::Encoding;
use lrgeo_protocol::offload::{Join, Joined, Phase, TicketState, UserMatrix};
use lrgeo_protocol::path;
use lrgeo_server::Config;
use lrgeo_tiles::{Envelope, PublicKey};

/// `lrgeo serve`; killed when dropped.
struct Process {
    child: Child,
    url: String,
}

impl Process {
    fn start(map: &Path, data: &Path, config: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_lrgeo"))
            .args(["serve", "--listen", "127.0.0.1:0", "--map"])
            .arg(map)
            .arg("--data")
            .arg(data)
            .arg("--config")
            .arg(config)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening on ").unwrap_or_else(|| {
            let mut error = String::new();
            let _ = child.stderr.take().unwrap().read_to_string(&mut error);
            panic!("{line}{error}")
        });
        Self { url: url.to_owned(), child }
    }

    fn join(&self, join: &Join) -> Joined {
        let url = format!("{}{}", self.url, path::ROUNDS);
        let answer = common::post(&url, "application/cbor", &Encoding::Cbor.encode(join));
        assert_eq!(answer.status, 202, "{}", answer.text());
        answer.json()
    }

    fn get(&self, path: &str, ticket: &Joined) -> Answer {
        common::get(&format!("{}{path}", self.url), &[("authorization", &bearer(ticket))])
    }

    fn matrix(&self, ticket: &Joined) -> UserMatrix {
        let waited = format!("{}?wait=50", path::ticket(&ticket.ticket));
        let state: TicketState = self.get(&waited, ticket).json();
        assert_eq!(state.phase, Phase::Done, "{state:?}");
        self.get(&path::matrix(&ticket.ticket), ticket).json()
    }

    /// Stops it by a signal; what it said on standard error.
    fn signal(mut self, name: &str) -> String {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([name, &id]).status().unwrap().success());
        let status = self.child.wait().unwrap();
        assert_eq!(status.success(), name == "-TERM", "{status}");
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        said
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn killed_and_started_again_it_answers_every_ticket_and_logs_nobody() {
    let scratch = Scratch::new();
    let (map_path, data) = (scratch.0.join("city.lrmap"), scratch.0.join("data"));
    let map = common::map(30);
    map.save(&map_path).unwrap();
    let settings = |users: usize| {
        let path = scratch.0.join(format!("{users}.toml"));
        let text = format!(
            "[privacy]\ngamma = \"1.2km\"\nlr_radius = \"1.2km\"\nexp_radius = \"1.065km\"\n\
             obf_radius = \"2km\"\nmost_tail = 1.0\n\
             [rounds]\nusers = {users}\nwindow_seconds = 30.0\n"
        );
        std::fs::write(&path, text).unwrap();
        path
    };
    let users = Users::new(map, &Config::open(&settings(3)).unwrap());

    let server = Process::start(&map_path, &data, &settings(3));
    let answered: Vec<Joined> = [1, 2, 3].iter().map(|&m| server.join(&users.upload(m))).collect();
    let matrices: Vec<UserMatrix> = answered.iter().map(|ticket| server.matrix(ticket)).collect();
    let waiting: Vec<Joined> = [4, 5].iter().map(|&m| server.join(&users.upload(m))).collect();
    // These two complete a round of four; the server dies with it half done, or just done.
    let solving: Vec<Joined> = [6, 7].iter().map(|&m| server.join(&users.upload(m))).collect();
    let first_log = server.signal("-KILL");

    let server = Process::start(&map_path, &data, &settings(1));
    for (ticket, matrix) in answered.iter().zip(&matrices) {
        assert_eq!(&server.matrix(ticket), matrix, "the same matrix as before the crash");
    }
    for ticket in waiting.iter().chain(&solving) {
        let matrix = server.matrix(ticket);
        assert_eq!(server.matrix(ticket), matrix);
    }
    let report = format!("{{\"map\":\"{}\",\"place\":17}}", users.map());
    let reported = common::post(
        &format!("{}{}", server.url, path::REPORTS),
        "application/json",
        report.as_bytes(),
    );
    assert_eq!(reported.status, 200);
    let log = first_log + &server.signal("-TERM");

    assert!(log.contains("request") && log.contains("round solved"), "{log}");
    assert!(log.contains("/v1/rounds/{ticket}"), "routes, not paths: {log}");
    for ticket in answered.iter().chain(&waiting).chain(&solving) {
        assert!(!log.contains(&ticket.ticket) && !log.contains(&ticket.token), "{log}");
    }
    // Steps of the start are about all places of the map, requests about nobody's.
    let requests = log.lines().filter(|line| !line.contains("step"));
    assert!(!requests.collect::<String>().contains("place"), "{log}");
    for at in users.city.coords() {
        let digits = format!("{:.3}", at.lat());
        assert!(!log.contains(&digits), "a coordinate in the log: {log}");
    }
}

#[test]
fn what_cannot_be_served_is_said_before_anything_is_computed() {
    let scratch = Scratch::new();
    let map = scratch.0.join("city.lrmap");
    common::map(12).save(&map).unwrap();
    let wrong = scratch.0.join("wrong.toml");
    std::fs::write(&wrong, "[rounds]\nuser = 3\n").unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = listener.local_addr().unwrap().to_string();
    let (map, wrong) = (map.to_str().unwrap(), wrong.to_str().unwrap());
    for (arguments, said) in [
        (vec!["--map", "nowhere.lrmap"], "nowhere.lrmap"),
        (vec!["--map", map, "--config", wrong], "unknown field `user`"),
        (vec!["--map", map, "--listen", "nonsense"], "--listen"),
        (vec!["--map", map, "--listen", &taken], "--listen"),
        (vec!["--map", map, "--tiles", "no-tiles"], "no-tiles"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_lrgeo"))
            .arg("serve")
            .args(&arguments)
            .args(["--data", "data"])
            .current_dir(&scratch.0)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(error.contains(said), "{arguments:?}: {error}");
    }
}

#[test]
fn tiles_published_before_are_served_if_they_are_this_operators() {
    let scratch = Scratch::new();
    common::map(30).save(&scratch.0.join("city.lrmap")).unwrap();
    let lrgeo = |arguments: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lrgeo"));
        command.arg("-q").args(arguments.split(' ')).current_dir(&scratch.0).output().unwrap()
    };
    for arguments in [
        "mechanism build city.lrmap --kind laplace-places --epsilon 2/km -o city.lrmech",
        "key new -o mine.key",
        "key new -o other.key",
        "publish city.lrmech --key mine.key -o tiles",
    ] {
        let output = lrgeo(arguments);
        assert!(output.status.success(), "{arguments}: {output:?}");
    }
    let refused =
        lrgeo("serve --map city.lrmap --tiles tiles --key other.key --data d --listen 127.0.0.1:0");
    assert_eq!(refused.status.code(), Some(1));
    let error = String::from_utf8_lossy(&refused.stderr);
    assert!(
        error.contains("publish them again, signed with the key other.key")
            && error.contains("`--tiles`"),
        "{error}"
    );

    let mut child = Command::new(env!("CARGO_BIN_EXE_lrgeo"))
        .args(["-q", "serve", "--map", "city.lrmap", "--tiles", "tiles", "--key", "mine.key"])
        .args(["--data", "d", "--listen", "127.0.0.1:0"])
        .current_dir(&scratch.0)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let url = line.trim().strip_prefix("listening on ").unwrap_or_else(|| panic!("{line}"));
    let server = Process { url: url.to_owned(), child };
    let get = |path: &str| common::get(&format!("{}{path}", server.url), &[]);
    // What is served follows what was published: the same, and the description of the map.
    let manifest = get(path::MANIFEST);
    let key: PublicKey = manifest.header("x-lrgeo-key").parse().unwrap();
    let published = Directory::open(&scratch.0.join("tiles"), &key).unwrap().signed;
    let envelope = Envelope { bytes: manifest.body, signature: get(path::SIGNATURE).body };
    let (served, published) = (published.tip().next(envelope).unwrap(), published.manifest());
    let served = served.manifest();
    assert!(served.description.is_some());
    assert_eq!((&served.tiles, served.mechanism), (&published.tiles, published.mechanism));
}
