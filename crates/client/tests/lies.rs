//! What comes from the server is not what the operator signed, or not what was asked for: refused with a clear message,
//! and nothing is reported. What the operator signed itself is in `hostile.rs`.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use common::proxy::{Proxy, Reply};
use common::{InMemory, Service, client, service};
use lrgeo_client::draws::Rehearsal;
use lrgeo_client::transport::TransportError;
use lrgeo_client::{Caught, ClientError, Mode};
use lrgeo_geo::Digest;
use lrgeo_geo::PlaceId;
use lrgeo_protocol::encoding::Encoding;
use lrgeo_protocol::offload::{TableCircle, UserMatrix};
use lrgeo_protocol::path;
use lrgeo_tiles::SecretKey;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What is done to an answer, given its path.
type Plant = Box<dyn Fn(&str, &mut Reply) + Send + Sync>;

/// A phone that has used the honest server once meets the lie; afterwards it goes on with the honest one.
fn refused(mode: Mode, plant: Plant) -> ClientError {
    let service = service();
    let armed = Arc::new(AtomicBool::new(false));
    let planted = armed.clone();
    let proxy = Proxy::lying(&service.address, move |path, reply| {
        if planted.load(Ordering::SeqCst) {
            plant(path, reply);
        }
    });
    let tile = service.tile();
    let memory = InMemory::default();
    let mut phone = client(&proxy.address, memory.reopen(), Rehearsal::seeded(11));
    phone.obfuscate(service.near(tile[0]), mode).unwrap();
    let asked = proxy.lines().len();
    armed.store(true, Ordering::SeqCst);
    let result = phone.obfuscate(service.near(tile[7]), mode);
    let error = result.err().unwrap_or_else(|| panic!("{mode}: a lie was believed"));
    let since = &proxy.lines()[asked..];
    assert!(
        !since.iter().any(|line| line.contains(path::REPORTS)),
        "{mode}: reported in spite of {error}"
    );
    let state = memory.reopen().state;
    assert_eq!((state.memory.reports.len(), state.ledger.spends.len()), (1, 1), "{error}");
    armed.store(false, Ordering::SeqCst);
    phone.obfuscate(service.near(tile[7]), mode).unwrap();
    error
}

/// The lie is recognised as one, and the message says which.
fn expect(mode: Mode, words: &str, plant: Plant) {
    let error = refused(mode, plant);
    let text = error.to_string();
    assert!(matches!(error, ClientError::Lie(_)), "{words}: {text}");
    assert!(text.contains(words), "expected `{words}` in: {text}");
    assert!(text.ends_with("Nothing was reported"), "{text}");
}

/// Changes a message that is answered under a path that `at` knows.
fn change<T: Serialize + DeserializeOwned>(
    at: impl Fn(&str) -> bool + Send + Sync + 'static,
    change: impl Fn(&mut T) + Send + Sync + 'static,
) -> Plant {
    Box::new(move |path, reply| {
        if at(path) {
            let mut message: T = Encoding::Cbor.decode(&reply.body).unwrap();
            change(&mut message);
            reply.body = Encoding::Cbor.encode(&message);
        }
    })
}

fn matrix(changed: impl Fn(&mut UserMatrix) + Send + Sync + 'static) -> Plant {
    change(|path| path.ends_with("/matrix"), changed)
}

/// Moves nine tenths of the largest entry of a row to the smallest.
fn tilt(row: &mut [f64]) {
    let by = |a: &usize, b: &usize| row[*a].total_cmp(&row[*b]);
    let (largest, smallest) =
        ((0..row.len()).max_by(by).unwrap(), (0..row.len()).min_by(by).unwrap());
    let moved = 0.9 * row[largest];
    row[largest] -= moved;
    row[smallest] += moved;
}

#[test]
fn a_matrix_that_is_not_private_or_not_a_matrix() {
    let width = |m: &UserMatrix| m.columns.len();
    let lies: Vec<(&str, Plant)> = vec![
        ("exceed the guarantee", matrix(move |m| tilt(&mut m.values[..m.columns.len()]))),
        (
            "does not sum to one",
            matrix(move |m| {
                let width = width(m);
                m.values[..width].iter_mut().for_each(|z| *z *= 1.0 + 1e-6);
            }),
        ),
        ("no probability", matrix(|m| m.values[3] = f64::NAN)),
        (
            "no probability",
            matrix(|m| {
                // Most columns are idle, and zero has no sign.
                let used = m.values.iter_mut().find(|z| **z > 0.0).unwrap();
                *used = -*used;
            }),
        ),
        ("not one per row", matrix(|m| m.values.truncate(m.values.len() - 1))),
        ("another version of the map", matrix(|m| m.map = Digest([7; 32]))),
        (
            "lack one that was uploaded",
            matrix(move |m| {
                // The one that nobody uploaded takes the place of one that somebody did.
                let last = m.columns.len() - 1;
                m.columns[last] = PlaceId::at(m.columns[last].index() + 1);
            }),
        ),
        ("out of order or unknown", matrix(|m| m.columns.swap(0, 1))),
    ];
    for (words, plant) in lies {
        // Swapped columns are seen as missing ones or as out of order, whichever is looked at first.
        if words.starts_with("out of order") {
            assert!(matches!(refused(Mode::Offload, plant), ClientError::Lie(_)));
        } else {
            expect(Mode::Offload, words, plant);
        }
    }
}

#[test]
fn a_matrix_that_is_not_tied_or_not_certified() {
    let lies: Vec<(&str, Plant)> = vec![
        ("not tied to y", matrix(|m| m.y.iter_mut().for_each(|y| *y *= 1.0 + 1e-9))),
        ("y is not one number", matrix(|m| m.y[0] = f64::INFINITY)),
        ("y is not one number", matrix(|m| m.y.truncate(1))),
        (
            "claims less than",
            matrix(|m| {
                m.certificate.cost *= 1e-3;
                m.certificate.lower_bound = 0.0;
            }),
        ),
        ("contradict each other", matrix(|m| m.certificate.lower_bound = 2.0 * m.certificate.cost)),
        ("admits", matrix(|m| m.certificate.worst_log_excess = 0.1)),
        (
            "not the public one",
            matrix(|m| {
                // Said of a y that was made for the users of this round.
                m.certificate.shared = lrgeo_protocol::offload::Shared::PublicY;
                m.y.iter_mut().for_each(|y| *y = if *y == 0.0 { 0.0 } else { *y * (1.0 + 1e-13) });
            }),
        ),
        ("how a round ended", matrix(|m| m.certificate.status = "fine".into())),
    ];
    for (words, plant) in lies {
        expect(Mode::Offload, words, plant);
    }
}

#[test]
fn a_circle_that_is_not_the_one() {
    let circle =
        |changed: fn(&mut TableCircle)| change(|p| p.starts_with(path::TABLE_CIRCLE), changed);
    let lies: Vec<(&str, Plant)> = vec![
        ("another version of the map", circle(|c| c.map = Digest([7; 32]))),
        (
            "lack one that was asked for",
            circle(|c| {
                let way = &mut c.ways[0];
                let half = way.cells.len() / 2;
                way.cells.truncate(half);
                way.beta.truncate(half * half);
            }),
        ),
        ("no cost", circle(|c| c.ways[0].beta[5] = f64::NAN)),
        ("out of order", circle(|c| c.ways[0].cells.swap(0, 1))),
        ("are not those of the description", circle(|c| c.ways.clear())),
        ("one number per pair", circle(|c| c.ways[0].beta.truncate(3))),
    ];
    for (words, plant) in lies {
        expect(Mode::Offload, words, plant);
    }
}

fn stranger(_: &Service) -> SecretKey {
    SecretKey::from_seed([43; 32]).unwrap()
}

#[test]
fn a_manifest_that_is_not_the_operators_or_old() {
    let stranger_signs: Plant = Box::new(|path, reply| {
        if path == path::SIGNATURE {
            reply.body = stranger(service()).sign(&service().catalogue.manifest[0].bytes).to_vec();
        }
    });
    expect(Mode::Published, "was not signed with this key", stranger_signs);
    let changed: Plant = Box::new(|path, reply| {
        if path == path::MANIFEST {
            reply.body[40] ^= 1;
        }
    });
    expect(Mode::Published, "was not signed with this key", changed);
    let taken_over: Plant = Box::new(|path, reply| match path {
        path::MANIFEST => reply.set("x-lrgeo-key", &stranger(service()).public().to_string()),
        path::SIGNATURE => {
            reply.body = stranger(service()).sign(&service().catalogue.manifest[0].bytes).to_vec();
        }
        _ => {}
    });
    let error = refused(Mode::Published, taken_over);
    let ClientError::Lie(lie) = error else { panic!("{error}") };
    assert_eq!((lie.caught, lie.what), (Caught::Key, "key"));
    assert!(lie.offered.contains(&stranger(service()).public().to_string()), "{lie}");
    assert_eq!(lie.expected, service().catalogue.key.to_string());
}

/// The tile of the phone in these tests, and the same with a bit changed.
fn changed_tile() -> (Digest, Vec<u8>) {
    let service = service();
    let at = service.catalogue.city.coords()[service.tile()[7] as usize];
    let entry = &service.manifest.tiles[service.manifest.tile_of(at).unwrap()];
    let mut bytes = service.catalogue.files[&entry.hash].bytes.to_vec();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    (entry.hash, bytes)
}

#[test]
fn a_tile_or_description_that_is_not_the_one() {
    let (hash, changed) = changed_tile();
    let is_tile = move |path: &str| path == path::file(path::TILES, hash);
    let bytes = changed.clone();
    expect(
        Mode::Published,
        "its hash is",
        Box::new(move |path, reply| {
            if is_tile(path) {
                reply.body = bytes.clone();
            }
        }),
    );
    expect(
        Mode::Published,
        "cut off after",
        Box::new(move |path, reply| {
            if is_tile(path) {
                reply.body.truncate(1000);
            }
        }),
    );
    expect(
        Mode::Local,
        "not the one that the operator signed",
        Box::new(|path, reply| {
            if path == path::MAP {
                let middle = reply.body.len() / 2;
                reply.body[middle] ^= 1;
            }
        }),
    );
    expect(
        Mode::Local,
        "not the one that the operator signed",
        Box::new(|path, reply| {
            if path.starts_with(path::TABLE_TILES) {
                let last = reply.body.len() - 1;
                reply.body[last] ^= 1;
            }
        }),
    );
}

#[test]
fn answers_that_break_off_or_never_end() {
    for (mode, at) in [
        (Mode::Published, path::MANIFEST),
        (Mode::Published, path::PLACES),
        (Mode::Published, path::TILES),
        (Mode::Local, path::MAP),
        (Mode::Local, path::TABLE_TILES),
        (Mode::Offload, path::TABLE_CIRCLE),
        (Mode::Offload, "/matrix"),
    ] {
        let error = refused(
            mode,
            Box::new(move |path, reply| {
                if path.contains(at) {
                    reply.claimed_length = Some(reply.body.len());
                    reply.body.truncate(reply.body.len() / 2);
                }
            }),
        );
        let cut = matches!(error, ClientError::Transport(TransportError::CutOff(_)));
        assert!(cut, "{mode} {at}: {error}");
    }
    let endless = refused(
        Mode::Published,
        Box::new(|path, reply| {
            if path == path::SIGNATURE {
                // As long as it says; the client does not wait for it.
                reply.claimed_length = Some(usize::MAX >> 1);
                reply.body = vec![0; 1 << 16];
            }
        }),
    );
    assert!(matches!(endless, ClientError::Transport(TransportError::TooLong { .. })), "{endless}");
    let longer = refused(
        Mode::Published,
        Box::new(|path, reply| {
            if path.starts_with(path::TILES) {
                reply.body.push(0);
            }
        }),
    );
    assert!(matches!(longer, ClientError::Transport(TransportError::TooLong { .. })), "{longer}");
    let redirected = refused(
        Mode::Published,
        Box::new(|path, reply| {
            if path == path::MANIFEST {
                reply.status = "HTTP/1.1 302 Found".into();
                reply.set("location", "http://127.0.0.1:9/elsewhere");
            }
        }),
    );
    assert!(matches!(redirected, ClientError::Transport(TransportError::Status { status: 302 })));
    let strange = refused(
        Mode::Offload,
        Box::new(|path, reply| {
            if path == path::ROUNDS {
                let ticket = lrgeo_protocol::offload::Joined {
                    ticket: "../reports".into(),
                    token: "x".into(),
                };
                reply.body = Encoding::Cbor.encode(&ticket);
            }
        }),
    );
    assert!(matches!(strange, ClientError::Transport(TransportError::Malformed(_))), "{strange}");
}
