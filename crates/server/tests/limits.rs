//! Budgets in bytes: of bodies, of users who wait, of what is kept; and that large bodies hold up nobody.

mod common;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use common::{Answer, Running, Scratch, Users, config, map};
use lrgeo_protocol::encoding::Encoding;
use lrgeo_protocol::offload::Join;
use lrgeo_protocol::{PlaceId, Reason, path};

fn join(server: &Running, upload: &Join) -> Answer {
    server.post(path::ROUNDS, "application/cbor", &Encoding::Cbor.encode(upload))
}

fn is_busy(answer: &Answer) -> bool {
    answer.status == 503 && answer.reason() == Reason::Busy && answer.header("retry-after") == "5"
}

/// Two of these tests keep all processors busy, and measure: one at a time.
static BUSY: Mutex<()> = Mutex::new(());

#[test]
fn who_waits_is_limited_in_bytes_and_they_are_given_back() {
    let mut config = config(2);
    config.privacy.local = false;
    config.rounds.window_seconds = 2.0;
    let users = Users::new(map(30), &config);
    let uploads = [users.upload(3), users.upload(12)];
    let bytes = |join: &Join| 8 * (join.between.len() + join.towards.len() + join.cost.len());
    config.rounds.most_waiting_bytes = bytes(&uploads[0]) + bytes(&uploads[1]) - 1;
    let scratch = Scratch::new();
    let server = Running::start(map(30), &scratch.0, &config);
    let first = server.join(&uploads[0]);
    assert!(is_busy(&join(&server, &uploads[1])), "there is room for one");
    // Alone in its round, which begins when the window is over.
    server.matrix(&first);
    let begun = Instant::now();
    while is_busy(&join(&server, &uploads[1])) {
        assert!(begun.elapsed() < Duration::from_secs(10), "the memory is not given back");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn what_is_kept_on_disk_is_limited() {
    let mut config = config(1);
    config.privacy.local = false;
    let users = Users::new(map(30), &config);
    let upload = users.upload(3);
    // Room for one upload, or for what becomes of it, not for both.
    config.rounds.most_kept_bytes = Encoding::Cbor.encode(&upload).len() as u64 + 100;
    config.rounds.keep_seconds = 1.0;
    let scratch = Scratch::new();
    let server = Running::start(map(30), &scratch.0, &config);
    let ticket = server.join(&upload);
    server.state(&ticket, 50);
    assert!(is_busy(&join(&server, &upload)));
    // Results are swept every ten seconds.
    let begun = Instant::now();
    while is_busy(&join(&server, &upload)) {
        assert!(begun.elapsed() < Duration::from_secs(40), "the disk is not given back");
        std::thread::sleep(Duration::from_millis(500));
    }
}

#[test]
fn bodies_are_limited_together() {
    let _alone = BUSY.lock();
    let mut config = config(2);
    config.privacy.local = false;
    config.routes.report_bytes = 1 << 20;
    config.limits.body_bytes = 1 << 20;
    config.limits.bodies_bytes = 1 << 20;
    config.limits.request_seconds = 5.0;
    let scratch = Scratch::new();
    let server = Running::start(map(12), &scratch.0, &config);
    // Somebody who sends most of a body and then nothing holds most of the memory there is.
    let address = server.url.strip_prefix("http://").unwrap();
    let mut slow = std::net::TcpStream::connect(address).unwrap();
    let length = 1 << 20;
    let head = format!(
        "POST /v1/reports HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    );
    std::io::Write::write_all(&mut slow, head.as_bytes()).unwrap();
    std::io::Write::write_all(&mut slow, &vec![b' '; length - 1000]).unwrap();
    let body = vec![b' '; 500_000];
    let send = || server.post(path::REPORTS, "application/json", &body);
    let begun = Instant::now();
    while !is_busy(&send()) {
        assert!(begun.elapsed() < Duration::from_secs(4), "never too many");
    }
    // It is given back when the request has had its time.
    while is_busy(&send()) {
        assert!(begun.elapsed() < Duration::from_secs(30), "the memory is not given back");
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(send().reason(), Reason::Malformed);
}

#[test]
fn large_bodies_do_not_hold_up_others() {
    let _alone = BUSY.lock();
    let mut config = config(2);
    config.privacy.local = false;
    let scratch = Scratch::new();
    let server = Running::start(map(12), &scratch.0, &config);
    // Sixteen megabytes of numbers that are decoded whole before they are refused.
    let columns: Vec<PlaceId> = PlaceId::all(200_000).collect();
    let numbers = vec![0.123_456_789; 800_000];
    let (between, towards, cost) = (vec![0.0], numbers.clone(), numbers);
    let map = server.catalogue.map();
    let body = Encoding::Cbor.encode(&Join { map, rows: 1, columns, between, towards, cost });
    assert!(body.len() > 12 << 20, "{} bytes", body.len());
    let over = AtomicBool::new(false);
    let mut took: Vec<Duration> = std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    let answer = server.post(path::ROUNDS, "application/cbor", &body);
                    assert!(answer.status >= 400, "{}", answer.status);
                }
            });
        }
        let mut took = Vec::new();
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(5) {
            let asked = Instant::now();
            assert_eq!(server.get("/healthz", &[]).status, 200);
            took.push(asked.elapsed());
        }
        over.store(true, Ordering::Relaxed);
        took
    });
    took.sort_unstable();
    let [half, most] = [0.5, 0.99].map(|share| took[(share * (took.len() - 1) as f64) as usize]);
    eprintln!(
        "/healthz beside eight uploads of {} MB: median {half:?}, 99th {most:?}",
        body.len() >> 20
    );
    assert!(half < Duration::from_millis(500), "{half:?}");
}
