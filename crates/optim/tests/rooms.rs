//! The rooms of this crate and their walls: a room knows of the others what its source names, and no more than is allowed here.

use std::path::{Path, PathBuf};

/// A room, and the modules of the crate that it may name besides itself. None may name an engine.
const ROOMS: [(&str, &[&str]); 3] = [
    ("certificate", &["problem", "cost", "matrix", "sparse_rows", "error"]),
    ("cone", &["certificate", "problem", "cost", "error"]),
    (
        "presolve",
        &[
            "certificate",
            "cone",
            "bound",
            "problem",
            "cost",
            "matrix",
            "error",
            "settings",
            "solution",
            "verified",
        ],
    ),
];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let paths = entries.map(|entry| entry.expect("readable").path());
    paths.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

/// Every name that follows `prefix` in a source; empty where a list in braces or a star does.
fn named<'a>(source: &'a str, prefix: &str) -> Vec<&'a str> {
    let after = source.match_indices(prefix).map(|(at, _)| &source[at + prefix.len()..]);
    let end = |text: &str| text.find(|c: char| !(c.is_alphanumeric() || c == '_'));
    after.map(|text| &text[..end(text).unwrap_or(text.len())]).collect()
}

#[test]
fn rooms_name_only_what_they_may_know() {
    for (room, allowed) in ROOMS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(room);
        let files = sources(&folder);
        assert!(files.len() > 1, "{room} is drawn but not there");
        for file in files {
            let source = std::fs::read_to_string(&file).expect("readable");
            for name in named(&source, "crate::") {
                let known = name == room || allowed.contains(&name);
                assert!(
                    known,
                    "{file:?} must not know `{name}` (lists in braces hide: name one by one)"
                );
            }
            // The only other way out of a room is upwards.
            let is_door = file.ends_with("mod.rs") && file.parent() == Some(&folder);
            let way_out = if is_door { "super::" } else { "super::super::" };
            assert!(!source.contains(way_out), "{file:?} must not look out through `{way_out}`");
        }
    }
}
