//! What is left on the operator's disk of what users uploaded and got, and who can read it.

mod common;

use std::path::Path;
use std::time::{Duration, Instant};

use common::{Running, Scratch, Users, bearer, config, map};
use lrgeo_protocol::encoding::Encoding;
use lrgeo_protocol::offload::Joined;
use lrgeo_protocol::{Reason, path};
use lrgeo_server::{Config, Home, Server, ServerError};

/// How many of the numbers stand in the bytes, in either order. Those that any file may hold by chance, zero
/// and one, are not looked for.
fn found(numbers: &[f64], bytes: &[u8]) -> usize {
    let telling = numbers.iter().filter(|number| **number != 0.0 && **number != 1.0);
    let patterns = telling.flat_map(|number| [number.to_le_bytes(), number.to_be_bytes()]);
    let patterns: std::collections::HashSet<[u8; 8]> = patterns.collect();
    assert!(patterns.len() > 100, "few numbers are told apart");
    let windows = bytes.windows(8).filter_map(|window| window.try_into().ok());
    windows.filter(|window: &[u8; 8]| patterns.contains(window)).count()
}

fn status(server: &Running, ticket: &Joined) -> (u16, Option<Reason>) {
    let path = path::matrix(&ticket.ticket);
    let answer = server.get(&path, &[("authorization", &bearer(ticket))]);
    (answer.status, (answer.status != 200).then(|| answer.reason()))
}

/// Asks until a ticket is expired.
fn until_expired(server: &Running, ticket: &Joined) {
    let begun = Instant::now();
    while status(server, ticket) != (410, Some(Reason::Expired)) {
        assert!(begun.elapsed().as_secs() < 60, "never expired");
        std::thread::sleep(Duration::from_millis(200));
    }
}

#[test]
fn no_number_of_an_upload_or_a_matrix_is_in_the_file() {
    let mut config = config(1);
    config.rounds.keep_seconds = 1.0;
    let scratch = Scratch::new();
    let store = scratch.0.join("store.redb");
    let users = Users::new(map(30), &config);
    let server = Running::start(map(30), &scratch.0, &config);
    let upload = users.upload(3);
    let ticket = server.join(&upload);
    let matrix = server.matrix(&ticket);
    let numbers: Vec<f64> =
        [&upload.between, &upload.towards, &upload.cost, &matrix.values, &matrix.y]
            .into_iter()
            .flatten()
            .copied()
            .collect();
    // They are what would be found if messages were written as they are sent.
    let sent = [Encoding::Cbor.encode(&upload), Encoding::Cbor.encode(&matrix)].concat();
    assert!(found(&numbers, &sent) > numbers.len() / 2);

    let bytes = std::fs::read(&store).unwrap();
    assert!(contains(&bytes, ticket.ticket.as_bytes()), "the ticket is in the file");
    assert_eq!(found(&numbers, &bytes), 0, "while the result is kept");
    assert!(!contains(&bytes, ticket.token.as_bytes()), "the token is not");
    until_expired(&server, &ticket);
    server.stop();
    let bytes = std::fs::read(&store).unwrap();
    assert_eq!(found(&numbers, &bytes), 0, "after it has expired");
    assert!(!contains(&bytes, ticket.token.as_bytes()));
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[cfg(unix)]
#[test]
fn what_is_kept_is_the_operators_alone() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new();
    let data = scratch.0.join("new");
    let store = data.join("store.redb");
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    let set = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    Running::start(map(30), &data, &config(1)).stop();
    assert_eq!((mode(&data), mode(&store)), (0o700, 0o600));
    // One that was open to others is taken from them.
    set(&data, 0o755);
    set(&store, 0o644);
    Running::start(map(30), &data, &config(1)).stop();
    assert_eq!((mode(&data), mode(&store)), (0o700, 0o600));
    // One that is meant for others is not taken from them, nor used.
    set(&data, 0o1777);
    let refused = refusal(&data, &config(1)).to_string();
    assert!(refused.contains("shared") && refused.contains("`data`"), "{refused}");
    assert_eq!(mode(&data), 0o1777);
}

#[test]
fn a_store_with_uploads_in_the_clear_is_refused() {
    let scratch = Scratch::new();
    let old: redb::TableDefinition<'_, &str, &[u8]> = redb::TableDefinition::new("uploads");
    let database = redb::Database::create(scratch.0.join("store.redb")).unwrap();
    let write = database.begin_write().unwrap();
    write.open_table(old).unwrap().insert("ticket", b"plain".as_slice()).unwrap();
    write.commit().unwrap();
    drop(database);
    let refused = refusal(&scratch.0, &config(1));
    assert!(matches!(refused, ServerError::Store { .. }), "{refused}");
    assert!(refused.to_string().contains("delete it"), "{refused}");
}

/// Why a server does not start.
fn refusal(data: &Path, config: &Config) -> ServerError {
    let home = Home { data, tiles: None, key: None, retiring_key: None, solving: None };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let opened = runtime.block_on(Server::open(map(30), &home, config, "127.0.0.1:0", &()));
    opened.err().expect("it does not start")
}
