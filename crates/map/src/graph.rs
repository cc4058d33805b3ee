//! The street graph: compressed sparse rows, forward and reversed.

use lrgeo_geo::units::{Travel, travel_from_km, travel_time};
use lrgeo_geo::{BoundingBox, Coord};

use crate::streets::{StreetArc, Streets};

/// A directed street graph, immutable once built.
///
/// Arcs are stored by tail and by head: travel costs *to* a target need one search on the reversed
/// graph instead of one search per source (`docs/specification.md` section 3). And once per metric, so that a search
/// reads nothing that it does not use.
#[derive(Clone, Debug, PartialEq)]
pub struct StreetGraph {
    coords: Vec<Coord>,
    /// By direction, then by metric.
    adjacency: [[Adjacency; 2]; 2],
}

/// Which way arcs are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the source along the streets: `tc(source, x)`.
    Forward,
    /// Against the streets: `tc(x, source)`.
    Reversed,
}

/// What a way costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Metric {
    /// Millimetres of street.
    Distance,
    /// Milliseconds of travel.
    Time,
}

impl Metric {
    /// Kilometres per millimetre, or minutes per millisecond.
    pub fn scale(self) -> f64 {
        match self {
            Metric::Distance => 1e-6,
            Metric::Time => 1.0 / 60_000.0,
        }
    }
}

/// The arcs of one direction and metric: those of node `v` are `first[v] .. first[v + 1]`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Adjacency {
    first: Vec<u32>,
    steps: Vec<Step>,
}

/// One arc, as a search reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) to: u32,
    pub(crate) cost: Travel,
}

/// One arc, measured both ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arc {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) mm: Travel,
    pub(crate) ms: Travel,
}

impl StreetGraph {
    /// The graph of all of `streets`; self-loops are left out, of parallel arcs all are kept.
    ///
    /// Callers have checked that arcs refer to nodes that exist.
    pub fn new(streets: &Streets) -> Self {
        let measured = |a: &StreetArc| Arc {
            from: a.from,
            to: a.to,
            mm: travel_from_km(a.length_km),
            ms: travel_time(a.length_km, a.speed_kmh),
        };
        let arcs: Vec<Arc> = streets.arcs.iter().filter(|a| a.from != a.to).map(measured).collect();
        Self::from_arcs(streets.nodes.clone(), arcs)
    }

    /// The graph of arcs that are already measured. They are put in order first, so that the same
    /// streets are the same graph, and the same version of a map, whatever order they came in.
    pub(crate) fn from_arcs(coords: Vec<Coord>, mut arcs: Vec<Arc>) -> Self {
        arcs.sort_unstable_by_key(|a| (a.from, a.to, a.mm, a.ms));
        let n = coords.len();
        let by = |tail: fn(&Arc) -> u32, head: fn(&Arc) -> u32| {
            [
                Adjacency::new(n, arcs.iter().map(|a| (tail(a), Step { to: head(a), cost: a.mm }))),
                Adjacency::new(n, arcs.iter().map(|a| (tail(a), Step { to: head(a), cost: a.ms }))),
            ]
        };
        let adjacency = [by(|a| a.from, |a| a.to), by(|a| a.to, |a| a.from)];
        Self { coords, adjacency }
    }

    /// How many nodes.
    pub fn node_count(&self) -> usize {
        self.coords.len()
    }

    /// How many directed arcs.
    pub fn arc_count(&self) -> usize {
        self.arcs_by(Direction::Forward, Metric::Distance).steps.len()
    }

    /// Where each node is.
    pub fn coords(&self) -> &[Coord] {
        &self.coords
    }

    /// Total length of all directed arcs, in kilometres.
    pub fn arc_length_km(&self) -> f64 {
        self.arcs().map(|(_, _, mm, _)| f64::from(mm) * 1e-6).sum()
    }

    /// The arcs as `(from, to, millimetres, milliseconds)`.
    pub fn arcs(&self) -> impl Iterator<Item = (u32, u32, Travel, Travel)> + '_ {
        self.measured_arcs().map(|a| (a.from, a.to, a.mm, a.ms))
    }

    /// The streets again, in kilometres and km/h: for drawing and for building another map.
    pub fn to_streets(&self) -> Streets {
        let arcs = self.arcs().map(|(from, to, mm, ms)| {
            let length_km = f64::from(mm) * 1e-6;
            StreetArc { from, to, length_km, speed_kmh: length_km / (f64::from(ms.max(1)) / 3.6e6) }
        });
        Streets { nodes: self.coords.clone(), arcs: arcs.collect() }
    }

    fn measured_arcs(&self) -> impl Iterator<Item = Arc> + '_ {
        let [by_distance, by_time] = &self.adjacency[0];
        (0..self.coords.len() as u32).flat_map(move |from| {
            let both = by_distance.of(from).iter().zip(by_time.of(from));
            both.map(move |(way, time)| Arc { from, to: way.to, mm: way.cost, ms: time.cost })
        })
    }

    pub(crate) fn arcs_by(&self, direction: Direction, metric: Metric) -> &Adjacency {
        &self.adjacency[direction as usize][metric as usize]
    }

    /// The largest strongly connected component, and for each of its nodes the index it had here.
    ///
    /// Only inside one component does every place reach every target, so only there is the cost
    /// of a report finite.
    pub fn largest_component(&self) -> (StreetGraph, Vec<u32>) {
        let component = self.strong_components();
        let mut size = vec![0u32; component.iter().max().map_or(0, |&c| c as usize + 1)];
        for &c in &component {
            size[c as usize] += 1;
        }
        // Ties go to the component found first, so that the result is deterministic.
        let largest = (0..size.len()).rev().max_by_key(|&c| size[c]).unwrap_or(0) as u32;

        let mut kept: Vec<u32> =
            (0..self.coords.len() as u32).filter(|&v| component[v as usize] == largest).collect();
        self.sort_by_neighbourhood(&mut kept);
        let mut index = vec![u32::MAX; self.coords.len()];
        for (new, &old) in kept.iter().enumerate() {
            index[old as usize] = new as u32;
        }
        let arcs: Vec<Arc> = self
            .measured_arcs()
            .map(|a| Arc { from: index[a.from as usize], to: index[a.to as usize], ..a })
            .filter(|a| a.from != u32::MAX && a.to != u32::MAX)
            .collect();
        let coords = kept.iter().map(|&v| self.coords[v as usize]).collect();
        (StreetGraph::from_arcs(coords, arcs), kept)
    }

    /// Sorts nodes along a Z-order curve, so that a search finds what is near on the map near in
    /// memory too: a third less time for a tree of a whole city.
    fn sort_by_neighbourhood(&self, nodes: &mut [u32]) {
        let Some(bounds) = BoundingBox::around(nodes.iter().map(|&v| self.coords[v as usize]))
        else {
            return;
        };
        let [south, west, north, east] = bounds.to_array();
        let scale = f64::from(u16::MAX) / (north - south).max(east - west).max(1e-9);
        // The bits of a 16-bit number, each followed by a zero.
        let spread = |value: f64| {
            let bits = value as u32;
            (0..16).fold(0u32, |code, bit| code | (bits >> bit & 1) << (2 * bit))
        };
        nodes.sort_by_cached_key(|&v| {
            let c = self.coords[v as usize];
            (spread((c.lat() - south) * scale) << 1 | spread((c.lon() - west) * scale), v)
        });
    }

    /// The strongly connected component of every node (Tarjan's algorithm, without recursion:
    /// a long street would overflow the stack).
    fn strong_components(&self) -> Vec<u32> {
        const UNSEEN: u32 = u32::MAX;
        let (nodes, forward) =
            (self.coords.len(), self.arcs_by(Direction::Forward, Metric::Distance));
        let mut order = vec![UNSEEN; nodes];
        let mut low = vec![0u32; nodes];
        let mut component = vec![UNSEEN; nodes];
        let (mut open, mut path) = (Vec::new(), Vec::<(u32, usize)>::new());
        let (mut visited, mut components) = (0u32, 0u32);

        for root in 0..nodes as u32 {
            if order[root as usize] != UNSEEN {
                continue;
            }
            path.push((root, 0));
            while let Some(&mut (node, ref mut next)) = path.last_mut() {
                let v = node as usize;
                if *next == 0 {
                    order[v] = visited;
                    low[v] = visited;
                    visited += 1;
                    open.push(node);
                }
                let arcs = forward.of(node);
                if let Some(arc) = arcs.get(*next) {
                    *next += 1;
                    let w = arc.to as usize;
                    if order[w] == UNSEEN {
                        path.push((arc.to, 0));
                    } else if component[w] == UNSEEN {
                        low[v] = low[v].min(order[w]);
                    }
                    continue;
                }
                path.pop();
                if let Some(&(parent, _)) = path.last() {
                    low[parent as usize] = low[parent as usize].min(low[v]);
                }
                if low[v] == order[v] {
                    while let Some(member) = open.pop() {
                        component[member as usize] = components;
                        if member == node {
                            break;
                        }
                    }
                    components += 1;
                }
            }
        }
        component
    }
}

impl Adjacency {
    /// Sorts arcs by their tail (counting sort: stable, linear).
    fn new(nodes: usize, arcs: impl Iterator<Item = (u32, Step)> + Clone) -> Self {
        let mut first = vec![0u32; nodes + 1];
        for (from, _) in arcs.clone() {
            first[from as usize + 1] += 1;
        }
        for v in 0..nodes {
            first[v + 1] += first[v];
        }
        let mut slot = first.clone();
        let mut steps = vec![Step { to: 0, cost: 0 }; first[nodes] as usize];
        for (from, step) in arcs {
            steps[slot[from as usize] as usize] = step;
            slot[from as usize] += 1;
        }
        Self { first, steps }
    }

    /// The arcs that leave `node`.
    pub(crate) fn of(&self, node: u32) -> &[Step] {
        let v = node as usize;
        &self.steps[self.first[v] as usize..self.first[v + 1] as usize]
    }
}
