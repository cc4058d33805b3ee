//! Connections that somebody opens and does nothing with, does something slowly with, or does not read from.

mod common;

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use common::{Running, Scratch, config, get, map};
use lrgeo_server::Config;

/// The first half of a request.
const HALF: &[u8] = b"GET /healthz HTTP/1.1\r\nhost: x\r\nx-slow: ";
const HEALTH: &[u8] = b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n";

fn start(change: impl FnOnce(&mut Config)) -> (Running, Scratch) {
    let scratch = Scratch::new();
    let mut config = config(2);
    config.privacy.local = false;
    config.page.rounds = false;
    change(&mut config);
    (Running::start(map(12), &scratch.0, &config), scratch)
}

fn connect(server: &Running) -> TcpStream {
    let stream = TcpStream::connect(server.url.strip_prefix("http://").unwrap()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    stream
}

/// Whether the other end closes the connection before the read times out; what came before is dropped.
fn is_closed(stream: &mut TcpStream) -> bool {
    let mut buffer = [0; 4096];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => {
                return !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut);
            }
        }
    }
}

/// Memory of this process, in bytes; `None` where the system does not say.
fn resident() -> Option<u64> {
    let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(pages.split(' ').nth(1)?.parse::<u64>().ok()? * 4096)
}

#[test]
fn idle_and_slow_connections_do_not_starve_others() {
    let (server, _scratch) = start(|_| {});
    // The server raised this process's limit; both ends of every connection are in it.
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let files = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    let files = files.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    if files.is_some_and(|files| files < 6_000) {
        eprintln!("skipped: only {files:?} descriptors for 2,500 connections of two ends each");
        return;
    }
    let before = resident();
    let idle: Vec<TcpStream> = (0..2_000).map(|_| connect(&server)).collect();
    // The last one is accepted when all before it are.
    assert_eq!(get(&format!("{}/healthz", server.url), &[]).status, 200);
    let each = before.zip(resident()).map(|(before, now)| now.saturating_sub(before) / 2_000);
    eprintln!(
        "an idle connection takes {each:?} bytes of memory, both ends, and what other tests take"
    );
    assert!(each.is_none_or(|bytes| bytes < 128 << 10), "{each:?} bytes per idle connection");
    let mut slow: Vec<TcpStream> = (0..500).map(|_| connect(&server)).collect();
    slow.iter_mut().for_each(|stream| stream.write_all(HALF).unwrap());
    let mut worst = Duration::ZERO;
    for _ in 0..20 {
        for path in ["/healthz", "/readyz", "/v1/manifest"] {
            let begun = Instant::now();
            assert_eq!(server.get(path, &[]).status, 200);
            worst = worst.max(begun.elapsed());
        }
        slow.iter_mut().for_each(|stream| stream.write_all(b"x").unwrap());
    }
    eprintln!("beside them a request on a new connection took at most {worst:?}");
    assert!(worst < Duration::from_secs(2), "{worst:?}");
    drop((idle, slow));
}

#[test]
fn beyond_the_limit_the_idlest_make_room() {
    let (server, _scratch) = start(|config| config.limits.connections = 50);
    let mut idle: Vec<TcpStream> = (0..200).map(|_| connect(&server)).collect();
    assert_eq!(server.get("/healthz", &[]).status, 200);
    // The oldest have gone; those that came last are still there and of use.
    assert!(idle[..150].iter_mut().all(is_closed));
    let last = &mut idle[199];
    last.write_all(HEALTH).unwrap();
    let mut buffer = [0; 1024];
    let read = last.read(&mut buffer).unwrap();
    assert!(String::from_utf8_lossy(&buffer[..read]).starts_with("HTTP/1.1 200"));
}

#[test]
fn who_does_not_send_a_whole_request_in_time_is_cut_off() {
    let (server, _scratch) = start(|config| config.limits.idle_seconds = 0.5);
    let begun = Instant::now();
    let (mut silent, mut half, mut kept) = (connect(&server), connect(&server), connect(&server));
    half.write_all(HALF).unwrap();
    kept.write_all(HEALTH).unwrap();
    for stream in [&mut silent, &mut half, &mut kept] {
        assert!(is_closed(stream));
    }
    let took = begun.elapsed();
    assert!(took >= Duration::from_millis(400) && took < Duration::from_secs(5), "{took:?}");
}

#[test]
fn who_does_not_read_is_not_waited_for() {
    let (server, _scratch) = start(|config| config.limits.write_seconds = 0.5);
    let length = server.get("/v1/openapi.json", &[]).body.len();
    let (mut stream, requests) = (connect(&server), (64 << 20) / length);
    stream.set_write_timeout(Some(Duration::from_secs(1))).unwrap();
    let request = b"GET /v1/openapi.json HTTP/1.1\r\nhost: x\r\n\r\n";
    // Answers of 64 MB, more than the system keeps for somebody who does not read.
    let _ = (0..requests).try_for_each(|_| stream.write_all(request));
    std::thread::sleep(Duration::from_millis(1500));
    let (mut buffer, mut received) = (vec![0; 1 << 20], 0);
    while let Ok(read @ 1..) = stream.read(&mut buffer) {
        received += read;
    }
    assert!(received < requests * length, "{received} bytes were sent all the same");
    assert_eq!(server.get("/healthz", &[]).status, 200);
}

#[test]
fn it_stops_in_time_whatever_is_open() {
    let (server, _scratch) = start(|config| config.limits.stop_seconds = 1.0);
    let (silent, mut half, mut sending) = (connect(&server), connect(&server), connect(&server));
    half.write_all(HALF).unwrap();
    let head = "POST /v1/reports HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{";
    sending.write_all(head.as_bytes()).unwrap();
    assert_eq!(server.get("/healthz", &[]).status, 200);
    let begun = Instant::now();
    server.stop();
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    drop((silent, half, sending));
}
