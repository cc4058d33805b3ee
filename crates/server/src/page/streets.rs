//! The streets as lines to draw, in one public file.
//!
//! Little-endian: `LRSTREET`, u32 lines, u32 points, f64 latitude and longitude of the south-west corner; for each line u32,
//! class * 2^24 + points; for each point two u32, latitude and longitude in millionths of a degree from the corner.
//! Arcs of both directions are one line, and lines go on through nodes where nothing branches off.

use std::collections::HashMap;

use lrgeo_map::graph::StreetGraph;

const MAGIC: &[u8; 8] = b"LRSTREET";
/// Points of a line, which share 32 bits with its class.
const MOST_POINTS: usize = 1 << 20;

/// Which streets are drawn broad: by how fast one goes there, in km/h.
fn class(speed_kmh: f64) -> u32 {
    match speed_kmh {
        speed if speed >= 65.0 => 2,
        speed if speed >= 45.0 => 1,
        _ => 0,
    }
}

/// A street between two nodes, either way.
struct Edge {
    ends: [u32; 2],
    class: u32,
    drawn: bool,
}

pub fn encode(graph: &StreetGraph) -> Vec<u8> {
    let lines = lines(graph);
    let coords = graph.coords();
    let least = |of: fn(&lrgeo_geo::Coord) -> f64| coords.iter().map(of).fold(f64::MAX, f64::min);
    let corner = [least(|c| c.lat()), least(|c| c.lon())];
    let points: usize = lines.iter().map(|(_, nodes)| nodes.len()).sum();
    let mut bytes = Vec::with_capacity(32 + 4 * lines.len() + 8 * points);
    bytes.extend(MAGIC);
    bytes.extend((lines.len() as u32).to_le_bytes());
    bytes.extend((points as u32).to_le_bytes());
    corner.iter().for_each(|degrees| bytes.extend(degrees.to_le_bytes()));
    for (class, nodes) in &lines {
        bytes.extend((class << 24 | nodes.len() as u32).to_le_bytes());
    }
    for &node in lines.iter().flat_map(|(_, nodes)| nodes) {
        let at = coords[node as usize];
        for (degrees, from) in [(at.lat(), corner[0]), (at.lon(), corner[1])] {
            bytes.extend((((degrees - from) * 1e6).round() as u32).to_le_bytes());
        }
    }
    bytes
}

/// Class and nodes of each line.
fn lines(graph: &StreetGraph) -> Vec<(u32, Vec<u32>)> {
    let mut known: HashMap<[u32; 2], u32> = HashMap::new();
    for (from, to, mm, ms) in graph.arcs() {
        // Millimetres per millisecond are metres per second.
        let class = class(3.6 * f64::from(mm) / f64::from(ms.max(1)));
        let slot = known.entry([from.min(to), from.max(to)]).or_default();
        *slot = class.max(*slot);
    }
    let mut edges: Vec<Edge> =
        known.into_iter().map(|(ends, class)| Edge { ends, class, drawn: false }).collect();
    edges.sort_unstable_by_key(|edge| edge.ends);
    let mut at_node: Vec<Vec<u32>> = vec![Vec::new(); graph.node_count()];
    for (number, edge) in edges.iter().enumerate() {
        edge.ends.iter().for_each(|&end| at_node[end as usize].push(number as u32));
    }
    // A line goes on where exactly one other street of its class does.
    let next = |edges: &[Edge], edge: u32, node: u32| -> Option<u32> {
        let [a, b] = at_node[node as usize][..] else { return None };
        let other = if a == edge { b } else { a };
        let alike = edges[other as usize].class == edges[edge as usize].class;
        (alike && !edges[other as usize].drawn).then_some(other)
    };
    let mut lines = Vec::new();
    for first in 0..edges.len() as u32 {
        if edges[first as usize].drawn {
            continue;
        }
        edges[first as usize].drawn = true;
        let Edge { ends: [start, end], class, .. } = edges[first as usize];
        let mut halves = [vec![start], vec![end]];
        for half in &mut halves {
            let (mut edge, mut node) = (first, half[0]);
            while let Some(following) =
                next(&edges, edge, node).filter(|_| half.len() < MOST_POINTS / 2)
            {
                edges[following as usize].drawn = true;
                let [a, b] = edges[following as usize].ends;
                (edge, node) = (following, if a == node { b } else { a });
                half.push(node);
            }
        }
        let [back, forth] = halves;
        lines.push((class, back.into_iter().rev().chain(forth).collect()));
    }
    lines
}
