//! Requests that are made to break something: refused, counted, and the server goes on.

mod common;

use std::io::{Read, Write};
use std::net::TcpStream;

use common::{Running, Scratch, Users, bearer, config, map};
use lrgeo_protocol::encoding::Encoding;
use lrgeo_protocol::offload::Joined;
use lrgeo_protocol::public::MapDescription;
use lrgeo_protocol::{Reason, path};

fn start(scratch: &Scratch) -> Running {
    let mut config = config(1);
    config.privacy.local = false;
    config.rounds.user_seconds = 5.0;
    Running::start(map(30), &scratch.0, &config)
}

fn refusals(server: &Running, reason: Reason) -> u64 {
    let text = server.get(path::METRICS, &[]).text();
    let start = format!("lrgeo_refusals_total{{reason=\"{}\"}} ", reason.name());
    let found = text.lines().find_map(|line| line.strip_prefix(&start));
    found.map_or(0, |count| count.parse().unwrap())
}

/// The bytes of an answer to bytes that no client of ours would send.
fn raw(server: &Running, request: &[u8]) -> String {
    let address = server.url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
    // Whoever is turned away early may not read on.
    let _ = stream.write_all(request);
    let mut answer = Vec::new();
    let _ = stream.take(1 << 20).read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn bodies_that_are_bombs_are_refused_and_counted() {
    let scratch = Scratch::new();
    let server = start(&scratch);
    let about: MapDescription = server.message(path::MAP);
    let cbor = "application/cbor";
    // Lists that say they have 2^60 items, and texts as long, where a field is expected.
    let map_of = |value: &[u8]| [b"\xa1\x67columns".as_slice(), value].concat();
    let lists: [&[u8]; 4] = [
        b"\x9b\x10\x00\x00\x00\x00\x00\x00\x00",
        b"\x7b\x10\x00\x00\x00\x00\x00\x00\x00",
        b"\x5b\x10\x00\x00\x00\x00\x00\x00\x00",
        b"\xbb\x10\x00\x00\x00\x00\x00\x00\x00",
    ];
    for list in lists {
        for body in [list.to_vec(), map_of(list)] {
            for route in [path::ROUNDS, path::REPORTS] {
                assert_eq!(server.post(route, cbor, &body).reason(), Reason::Malformed, "{body:?}");
            }
        }
    }
    // Nested as deep as fits.
    for (media, open) in [
        (cbor, &b"\x81"[..]),
        (cbor, b"\xa1\x61a"),
        ("application/json", b"["),
        ("application/json", b"{\"a\":"),
    ] {
        let body = open.repeat((1 << 20) / open.len());
        assert_eq!(server.post(path::ROUNDS, media, &body).reason(), Reason::Malformed);
    }
    // A report is small, whatever an upload may be.
    let padded = format!("{{\"map\":\"{}\",\"place\":1}}{}", about.map, " ".repeat(5000));
    let large = server.post(path::REPORTS, "application/json", padded.as_bytes());
    assert_eq!((large.status, large.reason()), (413, Reason::TooLarge));
    // Packed bodies are not unpacked.
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packed.write_all(&vec![b' '; 10 << 20]).unwrap();
    let packed = packed.finish().unwrap();
    for coding in ["gzip", "deflate", "br", "gzip, gzip"] {
        let head = format!(
            "POST /v1/reports HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-encoding: {coding}\r\n\
             connection: close\r\ncontent-length: {}\r\n\r\n",
            packed.len()
        );
        let answer = raw(&server, &[head.as_bytes(), &packed].concat());
        assert!(answer.starts_with("HTTP/1.1 415"), "{coding}: {answer}");
    }
    assert_eq!(refusals(&server, Reason::Malformed), 20);
    assert_eq!(refusals(&server, Reason::TooLarge), 1);
    assert_eq!(refusals(&server, Reason::UnsupportedEncoding), 4);
    assert_eq!(server.get(path::READY, &[]).status, 200, "and the server goes on");
}

#[test]
fn nothing_of_a_request_becomes_a_header_or_a_line_of_the_answer() {
    let scratch = Scratch::new();
    let server = start(&scratch);
    for request in [
        "GET /v1/tiles/a%0d%0ax-evil:%201 HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n",
        "GET /v1/targets?map=%0d%0ax-evil:%201 HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nhost: x\r\nx-request-id: a\tx-evil\r\nconnection: close\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nhost: x\r\nx-request-id: a%0d%0ax-evil: 1\r\nconnection: close\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nhost: x\r\norigin: http://a\u{1}x-evil\r\nconnection: close\r\n\r\n",
        "EVIL\u{1}METHOD / HTTP/1.1\r\nhost: x\r\n\r\n",
        "GET /v1/rounds/%3Cscript%3Ex-evil HTTP/1.1\r\nhost: x\r\nauthorization: Bearer x-evil\r\nconnection: close\r\n\r\n",
    ] {
        let answer = raw(&server, request.as_bytes());
        assert!(answer.starts_with("HTTP/1.1 "), "{request}: {answer}");
        assert!(!answer.to_ascii_lowercase().contains("evil"), "{request}: {answer}");
    }
    // Two lengths, or a length and pieces: where one request ends must not be a matter of opinion.
    for smuggled in [
        "POST /v1/reports HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n{}{}{}",
        "POST /v1/reports HTTP/1.1\r\nhost: x\r\ncontent-length: +5\r\n\r\n{}{}{}",
    ] {
        let answer = raw(&server, smuggled.as_bytes());
        assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    }
    let heads = format!("GET /healthz HTTP/1.1\r\nhost: x\r\n{}\r\n", "a: b\r\n".repeat(10_000));
    let answer = raw(&server, heads.as_bytes());
    assert!(answer.starts_with("HTTP/1.1 431") || answer.is_empty(), "{answer}");
    assert_eq!(server.get(path::HEALTH, &[]).status, 200);
}

#[test]
fn no_path_leads_out_of_what_is_served() {
    let scratch = Scratch::new();
    let server = start(&scratch);
    let key = std::fs::read_to_string(scratch.0.join("operator.key")).unwrap();
    for folder in [
        "/assets/",
        "/v1/tiles/",
        "/v1/places/",
        "/v1/page/files/",
        "/v1/manifests/",
        "/",
        "/v1/rounds/",
    ] {
        for name in [
            "../operator.key",
            "..%2foperator.key",
            "..%2f..%2foperator.key",
            "%2e%2e/operator.key",
            "....//operator.key",
            "..%5coperator.key",
            "%00operator.key",
            "operator.key%00.js",
            "/etc/passwd",
            "%2fetc%2fpasswd",
            "..%c0%afoperator.key",
            "assets%2f..%2findex.html",
            "file:///etc/passwd",
        ] {
            let request =
                format!("GET {folder}{name} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
            let answer = raw(&server, request.as_bytes());
            assert!(answer.starts_with("HTTP/1.1 4"), "{folder}{name}: {answer}");
            assert!(!answer.contains(key.trim()) && !answer.contains("root:"), "{folder}{name}");
        }
    }
}

#[test]
fn tickets_that_are_guessed_or_replayed_open_nothing() {
    let scratch = Scratch::new();
    let server = start(&scratch);
    let users = Users::new(map(30), &config(1));
    let mine = server.join(&users.upload(9));
    let other = server.join(&users.upload(12));
    let matrix = server.matrix(&mine);
    server.matrix(&other);
    for guess in [
        "0".repeat(32),
        mine.ticket.to_uppercase(),
        format!("{}0", mine.ticket),
        "%00".into(),
        "*".into(),
    ] {
        let ticket = Joined { ticket: guess, token: mine.token.clone() };
        for path in [
            path::ticket(&ticket.ticket),
            path::matrix(&ticket.ticket),
            path::events(&ticket.ticket),
        ] {
            let answer = server.get(&path, &[("authorization", &bearer(&ticket))]);
            assert_eq!((answer.status, answer.reason()), (404, Reason::UnknownTicket), "{path}");
        }
    }
    for token in [other.token.as_str(), "", "null", &mine.ticket, &mine.token[..31]] {
        let ticket = Joined { ticket: mine.ticket.clone(), token: token.to_owned() };
        let answer =
            server.get(&path::matrix(&mine.ticket), &[("authorization", &bearer(&ticket))]);
        assert_eq!((answer.status, answer.reason()), (403, Reason::NotYourTicket));
    }
    assert_eq!(server.get(&path::matrix(&mine.ticket), &[]).reason(), Reason::NotYourTicket);
    assert_eq!(refusals(&server, Reason::UnknownTicket), 15);
    assert_eq!(refusals(&server, Reason::NotYourTicket), 6);
    // Asked again it is the same, and the same upload again is another ticket.
    assert_eq!(server.matrix(&mine), matrix);
    let again =
        server.post(path::ROUNDS, "application/cbor", &Encoding::Cbor.encode(&users.upload(9)));
    assert_ne!(again.json::<Joined>().ticket, mine.ticket);
}
