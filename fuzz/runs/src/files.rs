//! Files that somebody else's program wrote. Most readers take a path: the bytes are put into a file of this thread.

use std::path::{Path, PathBuf};

use lrgeo_map::import::{
    read_graphml, read_losses, read_osm, read_points, read_routing_table, read_shares, read_sites,
    read_streets, read_weights,
};
use lrgeo_map::map::TravelMode;
use lrgeo_map::region::Polygon;
use lrgeo_optim::format::{Limits, read_problem, read_solution};

/// Lets a reader have the bytes as a file with this ending.
pub fn with_file(ending: &str, bytes: &[u8], read: impl FnOnce(&Path)) {
    // In memory where the system has such a place: a disk would be most of the work.
    let memory = Path::new("/dev/shm");
    let folder: PathBuf = if memory.is_dir() { memory.into() } else { std::env::temp_dir() };
    let thread = format!("{:?}", std::thread::current().id());
    let thread: String = thread.chars().filter(char::is_ascii_digit).collect();
    let path = folder.join(format!("lrgeo-fuzz-{}-{thread}.{ending}", std::process::id()));
    if std::fs::write(&path, bytes).is_ok() {
        read(&path);
        let _ = std::fs::remove_file(&path);
    }
}

/// What small machines can bear: the limits are there to be reached.
const LIMITS: Limits = Limits { bytes: 1 << 20, entries: 100_000, arcs: 100_000 };

/// A problem, JSON or npz.
pub fn problem(bytes: &[u8]) {
    let _ = read_problem(bytes, &LIMITS);
}

/// A solution, JSON or npz.
pub fn solution(bytes: &[u8]) {
    let _ = read_solution(bytes, &LIMITS);
}

/// Losses of another program.
pub fn npy(bytes: &[u8]) {
    with_file("npy", bytes, |path| {
        let _ = read_losses(path, 3);
    });
}

/// Tables of streets, sites, points, weights, losses, shares.
pub fn csv(bytes: &[u8]) {
    with_file("csv", bytes, |path| {
        let _ = read_streets(path, path, false);
        let _ = read_sites(path);
        let _ = read_points(path);
        let _ = read_weights(path, None);
        let _ = read_losses(path, 3);
        let _ = read_shares(path, &["drive", "walk"], 3);
    });
}

/// Features: sites, points, weights, areas.
pub fn geojson(bytes: &[u8]) {
    with_file("geojson", bytes, |path| {
        let _ = read_sites(path);
        let _ = read_points(path);
        let _ = read_weights(path, None);
        let _ = Polygon::read(path);
    });
}

/// Columns with geometries.
pub fn parquet(bytes: &[u8]) {
    with_file("parquet", bytes, |path| {
        let _ = read_sites(path);
        let _ = read_weights(path, None);
    });
}

/// Streets as osmnx saves them.
pub fn graphml(bytes: &[u8]) {
    with_file("graphml", bytes, |path| {
        let _ = read_graphml(path, &());
    });
}

/// Streets of OpenStreetMap.
pub fn osm_pbf(bytes: &[u8]) {
    with_file("osm.pbf", bytes, |path| {
        let _ = read_osm(path, TravelMode::Drive, &());
    });
}

/// The answer of a routing engine.
pub fn routing(bytes: &[u8]) {
    with_file("json", bytes, |path| {
        let _ = read_routing_table(path);
    });
}
