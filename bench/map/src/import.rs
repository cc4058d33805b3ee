//! Import of an OpenStreetMap file against only decoding it.

use std::path::Path;

use lrgeo_geo::units::Length;
use lrgeo_map::build::{MapPlan, PlacePlan, PriorPlan, TargetPlan, build};
use lrgeo_map::import::read_osm;
use lrgeo_map::map::{Map, Source, TravelMode};
use lrgeo_map::region::Region;
use osmpbf::{Element, ElementReader};

use crate::machine::{ask_child, best_of, on_threads, peak_memory};

const FILE: &str = "03-osm-pbf/reykjavik-2019-05-09.osm.pbf";

pub fn report(data: &Path) -> String {
    let path = data.join(FILE);
    if !path.exists() {
        return format!("## Import\n\nleft out: {} is not there\n", path.display());
    }
    let size = std::fs::metadata(&path).map_or(0, |m| m.len());
    let row = |threads: usize| {
        let decode = on_threads(threads, || best_of(7, || decode_only(&path)));
        let import = on_threads(threads, || best_of(7, || import(&path)));
        format!(
            "| {threads} | {:.3} s | {:.3} s | **{:.2}x** (allowed 3x) |\n",
            decode,
            import,
            import / decode
        )
    };
    let peak = ask_child(&["import-once", &path.to_string_lossy()]);
    format!(
        "## Import of {FILE} ({:.1} MB) to a 500 m map, written to a file\n\n\
         | threads | only decoding with osmpbf | whole import | ratio |\n|---|---|---|---|\n{}{}\n\
         Peak memory of a process that only imports: {:.1} MB, **{:.1}x the file** (allowed 10x).\n",
        size as f64 / 1e6,
        row(1),
        row(2),
        peak / 1e6,
        peak / size as f64
    )
}

/// Imports once and prints the peak memory.
pub fn once(path: &Path) {
    import(path);
    println!("{}", peak_memory());
}

/// The baseline: every element is decoded and counted, nothing is kept.
fn decode_only(path: &Path) -> u64 {
    let reader = ElementReader::from_path(path).expect("file");
    let count = |element: Element<'_>| match element {
        Element::Way(way) => way.refs().count() as u64,
        Element::DenseNode(node) => u64::from(node.id() != 0),
        _ => 1,
    };
    reader.par_map_reduce(count, || 0, |a, b| a + b).expect("data")
}

fn import(path: &Path) -> Map {
    let (streets, _) = read_osm(path, TravelMode::Drive, &()).expect("file");
    let plan = MapPlan {
        source: Source::OpenStreetMap,
        travel: TravelMode::Drive,
        region: Region::Everything,
        places: PlacePlan::Grid(Length::from_m(500.0).expect("length")),
        snap: None,
        prior: PriorPlan::Uniform,
        targets: TargetPlan::Uniform,
    };
    let (map, _) = build(streets, plan).expect("map");
    let file = std::env::temp_dir().join(format!("lrgeo-bench-{}.lrmap", std::process::id()));
    map.save(&file).expect("written");
    std::fs::remove_file(file).expect("removed");
    map
}
