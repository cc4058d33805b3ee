//! The street graph: compressed sparse rows, forward and reversed.

use crate::geo::Coord;
use crate::streets::{StreetArc, Streets};
use crate::units::{Travel, travel_from_km, travel_time};

/// A directed street graph, immutable once built.
///
/// Arcs are stored twice, by tail and by head: travel costs *to* a target need one search on the
/// reversed graph instead of one search per source (spec section 3).
#[derive(Clone, Debug, PartialEq)]
pub struct StreetGraph {
    coords: Vec<Coord>,
    forward: Adjacency,
    reversed: Adjacency,
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

/// The arcs of one direction: those of node `v` are `first[v] .. first[v + 1]`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Adjacency {
    first: Vec<u32>,
    arcs: Vec<Arc>,
}

/// One arc, as the searches read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arc {
    pub(crate) to: u32,
    pub(crate) mm: Travel,
    pub(crate) ms: Travel,
}

impl StreetGraph {
    /// The graph of all of `streets`; self-loops are left out, of parallel arcs all are kept.
    ///
    /// Callers have checked that arcs refer to nodes that exist.
    pub fn new(streets: &Streets) -> Self {
        let arcs: Vec<(u32, Arc)> = streets
            .arcs
            .iter()
            .filter(|a| a.from != a.to)
            .map(|a| {
                let mm = travel_from_km(a.length_km);
                (a.from, Arc { to: a.to, mm, ms: travel_time(a.length_km, a.speed_kmh) })
            })
            .collect();
        Self::from_arcs(streets.nodes.clone(), &arcs)
    }

    /// The graph of arcs that are already measured.
    pub(crate) fn from_arcs(coords: Vec<Coord>, arcs: &[(u32, Arc)]) -> Self {
        let nodes = coords.len();
        let forward = Adjacency::new(nodes, arcs.iter().copied());
        let reversed = Adjacency::new(
            nodes,
            arcs.iter().map(|&(from, arc)| (arc.to, Arc { to: from, ..arc })),
        );
        Self { coords, forward, reversed }
    }

    /// How many nodes.
    pub fn node_count(&self) -> usize {
        self.coords.len()
    }

    /// How many directed arcs.
    pub fn arc_count(&self) -> usize {
        self.forward.arcs.len()
    }

    /// Where each node is.
    pub fn coords(&self) -> &[Coord] {
        &self.coords
    }

    /// Total length of all directed arcs, in kilometres.
    pub fn arc_length_km(&self) -> f64 {
        self.forward.arcs.iter().map(|a| f64::from(a.mm) * 1e-6).sum()
    }

    /// The arcs as `(from, to, millimetres, milliseconds)`.
    pub fn arcs(&self) -> impl Iterator<Item = (u32, u32, Travel, Travel)> + '_ {
        self.tagged_arcs().map(|(from, a)| (from, a.to, a.mm, a.ms))
    }

    /// The streets again, in kilometres and km/h: for drawing and for building another map.
    pub fn to_streets(&self) -> Streets {
        let arcs = self.arcs().map(|(from, to, mm, ms)| {
            let length_km = f64::from(mm) * 1e-6;
            StreetArc { from, to, length_km, speed_kmh: length_km / (f64::from(ms.max(1)) / 3.6e6) }
        });
        Streets { nodes: self.coords.clone(), arcs: arcs.collect() }
    }

    pub(crate) fn tagged_arcs(&self) -> impl Iterator<Item = (u32, Arc)> + '_ {
        (0..self.coords.len() as u32)
            .flat_map(|from| self.forward.of(from).iter().map(move |&arc| (from, arc)))
    }

    pub(crate) fn adjacency(&self, direction: Direction) -> &Adjacency {
        match direction {
            Direction::Forward => &self.forward,
            Direction::Reversed => &self.reversed,
        }
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

        let kept: Vec<u32> =
            (0..self.coords.len() as u32).filter(|&v| component[v as usize] == largest).collect();
        let mut index = vec![u32::MAX; self.coords.len()];
        for (new, &old) in kept.iter().enumerate() {
            index[old as usize] = new as u32;
        }
        let arcs: Vec<(u32, Arc)> = self
            .tagged_arcs()
            .map(|(from, arc)| (index[from as usize], Arc { to: index[arc.to as usize], ..arc }))
            .filter(|(from, arc)| *from != u32::MAX && arc.to != u32::MAX)
            .collect();
        let coords = kept.iter().map(|&v| self.coords[v as usize]).collect();
        (StreetGraph::from_arcs(coords, &arcs), kept)
    }

    /// The strongly connected component of every node (Tarjan's algorithm, without recursion:
    /// a long street would overflow the stack).
    fn strong_components(&self) -> Vec<u32> {
        const UNSEEN: u32 = u32::MAX;
        let nodes = self.coords.len();
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
                let arcs = self.forward.of(node);
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
    fn new(nodes: usize, arcs: impl Iterator<Item = (u32, Arc)> + Clone) -> Self {
        let mut first = vec![0u32; nodes + 1];
        for (from, _) in arcs.clone() {
            first[from as usize + 1] += 1;
        }
        for v in 0..nodes {
            first[v + 1] += first[v];
        }
        let mut slot = first.clone();
        let mut sorted = vec![Arc { to: 0, mm: 0, ms: 0 }; first[nodes] as usize];
        for (from, arc) in arcs {
            sorted[slot[from as usize] as usize] = arc;
            slot[from as usize] += 1;
        }
        Self { first, arcs: sorted }
    }

    /// The arcs that leave `node`.
    pub(crate) fn of(&self, node: u32) -> &[Arc] {
        let v = node as usize;
        &self.arcs[self.first[v] as usize..self.first[v + 1] as usize]
    }
}
