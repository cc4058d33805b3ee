//! Travel costs on the whole of Rome: searches against petgraph, beta against the memory.

use std::path::Path;

use lrgeo_geo::units::Length;
use lrgeo_map::build::{MapPlan, PlacePlan, PriorPlan, TargetPlan, build};
use lrgeo_map::graph::{Direction, Metric, StreetGraph};
use lrgeo_map::import::read_streets;
use lrgeo_map::map::{Map, Source, Target, TravelMode};
use lrgeo_map::region::Region;
use lrgeo_map::search::Search;
use lrgeo_map::table::CostTable;
use lrgeo_map::travel::TravelMatrix;
use lrgeo_map::utility::UtilityKind;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::machine::{ask_child, best_of, on_threads, peak_memory};

const PLACES: usize = 1_600;

pub fn report(data: &Path) -> Vec<String> {
    let Some(map) = rome(data) else {
        return vec![format!("## Rome\n\nleft out: {} has no 02-rome-streets\n", data.display())];
    };
    vec![searches(&map.graph), costs(&map), memory(data)]
}

/// 1,600 places of a 500 m grid over Rome, their street nodes as targets.
fn rome(data: &Path) -> Option<Map> {
    let folder = data.join("02-rome-streets");
    let (nodes, edges) = (folder.join("rome_full_nodes.csv"), folder.join("rome_full_edges.csv"));
    let streets = read_streets(&nodes, &edges, true).ok()?.0;
    let plan = MapPlan {
        source: Source::Csv,
        travel: TravelMode::Drive,
        region: Region::Everything,
        places: PlacePlan::Grid(Length::from_m(500.0).ok()?),
        snap: None,
        prior: PriorPlan::Uniform,
        targets: TargetPlan::Uniform,
    };
    let (mut map, _) = build(streets, plan).ok()?;
    map.places.truncate(PLACES);
    let weight = 1.0 / PLACES as f64;
    map.targets = map.places.iter().map(|p| Target { node: p.node, weight }).collect();
    Some(map)
}

fn searches(graph: &StreetGraph) -> String {
    let mut peer = DiGraph::<(), u32>::new();
    (0..graph.node_count()).for_each(|_| {
        peer.add_node(());
    });
    for (from, to, mm, _) in graph.arcs() {
        peer.add_edge(NodeIndex::new(from as usize), NodeIndex::new(to as usize), mm);
    }
    let sources: Vec<u32> =
        (0..graph.node_count() as u32).step_by(graph.node_count() / 20).collect();
    // Tree by tree, the best of seven each: short enough to escape what else the machine does.
    let each = |mut tree: Box<dyn FnMut(u32) + '_>| {
        let total: f64 = sources.iter().map(|&source| best_of(7, || tree(source))).sum();
        1e3 * total / sources.len() as f64
    };
    let theirs = each(Box::new(|source| {
        let start = NodeIndex::new(source as usize);
        std::hint::black_box(petgraph::algo::dijkstra(&peer, start, None, |e| *e.weight()));
    }));
    let mut search = Search::new(graph, Metric::Distance);
    let ours = each(Box::new(|source| {
        std::hint::black_box(search.all(source, Direction::Forward));
    }));
    // The answers must be the same before the times mean anything.
    let distances = petgraph::algo::dijkstra(&peer, NodeIndex::new(0), None, |e| *e.weight());
    let same = search.all(0, Direction::Forward).iter().enumerate();
    assert!(same.into_iter().all(|(v, d)| distances[&NodeIndex::new(v)] == *d));
    format!(
        "## One-to-all Dijkstra on Rome ({} nodes, {} arcs, undirected data)\n\n\
         petgraph {theirs:.2} ms, ours {ours:.2} ms a tree: **{:.1}x faster** (at least 2x asked). One thread.\n",
        graph.node_count(),
        graph.arc_count(),
        theirs / ours
    )
}

fn costs(map: &Map) -> String {
    let travel = |threads| {
        on_threads(threads, || {
            best_of(2, || TravelMatrix::of_places(map, Metric::Distance, &()).expect("costs"))
        })
    };
    let (one, two) = (travel(1), travel(2));
    let matrix = TravelMatrix::of_places(map, Metric::Distance, &()).expect("costs");
    let all: Vec<u32> = (0..PLACES as u32).collect();
    let beta = |threads| on_threads(threads, || best_of(3, || matrix.beta(&all, &all)));
    let (beta_one, beta_two) = (beta(1), beta(2));

    // Each pair reads two rows. The plain loop reads as many bytes, once through a buffer of the
    // matrix' size (it fits the last cache) and once through one that fits no cache.
    let bytes = (PLACES * PLACES * PLACES * 2 * 4) as f64;
    let plain = |words: usize| {
        let buffer = vec![1u32; words];
        let passes = (bytes / (words * 4) as f64 / 4.0).ceil() as usize;
        let seconds =
            best_of(3, || (0..passes).map(|_| add_up(&buffer)).fold(0u32, u32::wrapping_add));
        (passes * words * 4) as f64 / seconds
    };
    let (cached, memory) = (plain(PLACES * PLACES), plain(64 << 20));
    let speed = bytes / beta_one;
    format!(
        "## Travel costs, {PLACES} places x {PLACES} targets, and beta between all places\n\n\
         | | 1 thread | 2 threads | scaling |\n|---|---|---|---|\n\
         | trees and matrix | {one:.2} s | {two:.2} s | {:.2}x |\n\
         | beta, all {} pairs | {beta_one:.3} s | {beta_two:.3} s | {:.2}x |\n\n\
         beta reads {:.1} GB/s on one core. A plain sum over the same bytes: {:.1} GB/s from memory, {:.1} GB/s from \
         the cache. **{:.2} of memory speed, {:.2} of cache speed** (at least 0.33 asked). \
         {:.2} ns per pair and 100 targets.\n",
        one / two,
        PLACES * PLACES,
        beta_one / beta_two,
        speed / 1e9,
        memory / 1e9,
        cached / 1e9,
        speed / memory,
        speed / cached,
        1e9 * beta_one / (PLACES * PLACES) as f64 / (PLACES as f64 / 100.0)
    )
}

/// A sum with the widest instructions that the processor has.
fn add_up(buffer: &[u32]) -> u32 {
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || buffer.iter().fold(0, |sum: u32, value| sum.wrapping_add(*value)),
    )
}

fn memory(data: &Path) -> String {
    let base = ask_child(&["table-once", "0", &data.to_string_lossy()]);
    let row = |cell: &str| {
        let peak = ask_child(&["table-once", cell, &data.to_string_lossy()]);
        let cells = table_cells(data, cell);
        format!(
            "| {cell} m | {cells} | {:.0} MB | {:.1} |\n",
            peak / 1e6,
            (peak - base) / (cells as f64 * PLACES as f64)
        )
    };
    format!(
        "## Memory of the cost table of Rome ({PLACES} targets)\n\n\
         The street graph and places alone: {:.0} MB.\n\n\
         | cell | cells kept | peak memory | bytes above that per cell and target |\n|---|---|---|---|\n{}\n\
         All pairs of the 100 m cells would be another {:.1} GB.\n",
        base / 1e6,
        ["800", "400", "200", "100"].map(row).concat(),
        (table_cells(data, "100") as f64).powi(2) * 8.0 / 1e9
    )
}

fn table_cells(data: &Path, cell: &str) -> usize {
    let mut map = rome(data).expect("Rome");
    map.targets.truncate(1);
    let cell = Length::from_m(cell.parse().expect("metres")).expect("cell");
    CostTable::build(&map, map.version(), cell.into(), UtilityKind::TravelDistance, &())
        .expect("table")
        .cells()
        .len()
}

/// Builds the table with cells of `metres` (none for 0) and prints the peak memory.
pub fn table_once(data: &Path, metres: f64) {
    let map = rome(data).expect("Rome");
    if metres > 0.0 {
        let cell = Length::from_m(metres).expect("cell");
        CostTable::build(&map, map.version(), cell.into(), UtilityKind::TravelDistance, &())
            .expect("table");
    }
    println!("{}", peak_memory());
}
