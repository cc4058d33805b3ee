//! Maps, mechanisms and cost tables: sections behind a checksum, which whoever wants to make a bad file makes right.

use lrgeo_map::map::Map;
use lrgeo_map::table::CostTable;
use lrgeo_mechanism::Built;

use crate::files::with_file;

/// Magic, kind, version, number of sections, checksum.
const HEADER: usize = 56;

/// The bytes with the magic, kind, version and checksum that a reader wants to see.
fn made_right(kind: &[u8; 8], version: u32, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes.resize(bytes.len().max(HEADER), 0);
    bytes[..8].copy_from_slice(b"LRGEO\r\n\x1a");
    bytes[8..16].copy_from_slice(kind);
    bytes[16..20].copy_from_slice(&version.to_le_bytes());
    let checksum = blake3::hash(&bytes[HEADER..]);
    bytes[24..HEADER].copy_from_slice(checksum.as_bytes());
    bytes
}

/// A map.
pub fn map(bytes: &[u8]) {
    with_file("lrmap", &made_right(b"map     ", 1, bytes), |path| {
        let _ = Map::open(path);
    });
}

/// A mechanism.
pub fn mechanism(bytes: &[u8]) {
    with_file("lrmech", &made_right(b"mechanis", 2, bytes), |path| {
        let _ = Built::open(path);
    });
}

/// A cost reference table.
pub fn cost_table(bytes: &[u8]) {
    with_file("lrtable", &made_right(b"table   ", 2, bytes), |path| {
        let _ = CostTable::open(path);
    });
}
