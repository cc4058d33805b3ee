//! Every parser and decoder that reads bytes of others, as a function of bytes that must neither panic nor take for ever.
//!
//! [`TARGETS`] is the list. `fuzz/fuzz_targets` gives each to libFuzzer, `tests/replay.rs` runs all of them over `fuzz/corpus` on stable, with
//! mutations of it. What is hashed or signed is hashed and signed here, so that what is behind the check is reached: an attacker who signs
//! is the operator, and the operator is not trusted.

mod containers;
mod files;
mod messages;
mod published;
mod words;

/// What a target does with bytes.
pub type Run = fn(&[u8]);

/// All of them, by the name of their corpus.
pub const TARGETS: [(&str, Run); 22] = [
    ("map", containers::map),
    ("mechanism", containers::mechanism),
    ("cost_table", containers::cost_table),
    ("manifest", published::manifest),
    ("places", published::places),
    ("noise", published::noise),
    ("tile", published::tile),
    ("description", published::description),
    ("messages_json", messages::json),
    ("messages_cbor", messages::cbor),
    ("state", messages::state),
    ("problem", files::problem),
    ("solution", files::solution),
    ("npy", files::npy),
    ("csv", files::csv),
    ("geojson", files::geojson),
    ("graphml", files::graphml),
    ("osm_pbf", files::osm_pbf),
    ("parquet", files::parquet),
    ("routing", files::routing),
    ("settings", words::settings),
    ("units", words::units),
];

/// Runs a target; an unknown name is a mistake of whoever wrote it.
pub fn run_by_name(name: &str, bytes: &[u8]) {
    let found = TARGETS.iter().find(|(known, _)| *known == name);
    let (_, run) = found.unwrap_or_else(|| panic!("no target {name}"));
    run(bytes);
}
