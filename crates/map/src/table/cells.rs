//! The cells of a cost table: which nodes they stand at, and which of them stands for each place.

use std::collections::BTreeMap;

use lrgeo_geo::parallel::*;

use super::{Division, PlaceCell};
use crate::graph::{Direction, Metric, StreetGraph};
use crate::map::Map;
use crate::places::{Grid, Place};
use crate::progress::Progress;
use crate::search::Search;
use lrgeo_geo::Coord;
use lrgeo_geo::index::SpatialIndex;
use lrgeo_geo::units::{Length, Travel, travel_from_km, travel_time};

/// How far any place is from its cell by air, and a cell's diagonal at least.
pub(super) fn margin_km(
    places: &[Place],
    cells: &[PlaceCell],
    at: &[Coord],
    division: Division,
) -> f64 {
    let away = places.iter().zip(cells).map(|(p, c)| p.coord.distance_km(at[c.cell as usize]));
    // A hair more than rounding may take away.
    (away.fold(0.0, f64::max) * (1.0 + 1e-9)).max(division.length().km() * std::f64::consts::SQRT_2)
}

/// The cell nearest to each place in a straight line.
pub(super) fn nearest_by_air(places: &[Place], cells: &[Coord]) -> Vec<PlaceCell> {
    let index = SpatialIndex::new(cells);
    let nearest = |place: &Place| {
        let (cell, km) = index.nearest(place.coord).unwrap_or((0, 0.0));
        PlaceCell { cell, offset: travel_from_km(km).saturating_add(1) }
    };
    places.iter().map(nearest).collect()
}

/// Nodes in order, each that no earlier one reaches, and is reached from, within half a segment: with what they reach
/// they are all of the roads.
pub(super) fn middles(graph: &StreetGraph, length: Length) -> Vec<u32> {
    let reach = travel_from_km(length.km() / 2.0);
    let (mut out, mut back) =
        (Search::new(graph, Metric::Distance), Search::new(graph, Metric::Distance));
    let mut belongs = vec![false; graph.node_count()];
    let mut middles = Vec::new();
    for node in 0..graph.node_count() as u32 {
        if belongs[node as usize] {
            continue;
        }
        middles.push(node);
        let there = out.within(node, Direction::Forward, reach);
        back.within(node, Direction::Reversed, reach);
        for (other, _) in there {
            belongs[other as usize] |= back.distance(other).is_some_and(|km| km <= reach);
        }
    }
    middles
}

/// For every cell with a street node in it, the node nearest to its centre; in order of cells.
pub(super) fn nearest_to_centres(nodes: &[Coord], grid: &Grid) -> Vec<u32> {
    let mut best = BTreeMap::<(u32, u32), (f64, u32)>::new();
    for (node, &coord) in nodes.iter().enumerate() {
        let cell = grid.cell_of(coord);
        let distance = grid.centre(cell.0, cell.1).distance_km(coord);
        let entry = best.entry(cell).or_insert((distance, node as u32));
        if distance < entry.0 {
            *entry = (distance, node as u32);
        }
    }
    best.into_values().map(|(_, node)| node).collect()
}

/// For every place the cell with the smallest offset, by searches both ways in a growing circle that begins with `begin`.
pub(super) fn assign(
    map: &Map,
    metric: Metric,
    nodes: &[u32],
    begin: Length,
    progress: &dyn Progress,
) -> Vec<PlaceCell> {
    let (graph, places) = (&map.graph, &map.places);
    let mut cell_of_node = vec![u32::MAX; graph.node_count()];
    for (cell, &node) in nodes.iter().enumerate() {
        cell_of_node[node as usize] = cell as u32;
    }
    let speed = map.travel.access_speed_kmh();
    let travel = |km: f64| match metric {
        Metric::Distance => travel_from_km(km),
        Metric::Time => travel_time(km, speed),
    };
    progress.begin("cells of places", places.len() as u64);
    let assigned = places
        .par_iter()
        .map_init(
            || (Search::new(graph, metric), Search::new(graph, metric)),
            |(out, back), place| {
                let leg = match metric {
                    Metric::Distance => place.leg,
                    Metric::Time => travel(f64::from(place.leg) * Metric::Distance.scale()),
                };
                let mut limit = travel(begin.km()).max(1);
                loop {
                    let found = nearest_cell(out, back, place.node, limit, &cell_of_node);
                    // Cells outside the circle are farther than the limit in one direction.
                    if let Some((both, cell)) = found {
                        progress.advance(1);
                        return PlaceCell { cell, offset: both.saturating_add(leg) };
                    }
                    limit = limit.saturating_mul(2);
                }
            },
        )
        .collect();
    progress.end();
    assigned
}

/// The best cell within `limit` both ways, and the longer of both ways; on a strongly connected graph some limit finds one.
fn nearest_cell(
    out: &mut Search<'_>,
    back: &mut Search<'_>,
    node: u32,
    limit: Travel,
    cell_of_node: &[u32],
) -> Option<(Travel, u32)> {
    let there = out.within(node, Direction::Forward, limit);
    back.within(node, Direction::Reversed, limit);
    there
        .into_iter()
        .filter(|&(node, _)| cell_of_node[node as usize] != u32::MAX)
        .filter_map(|(node, forth)| {
            Some((forth.max(back.distance(node)?), cell_of_node[node as usize]))
        })
        .min()
}
