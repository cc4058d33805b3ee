//! From drawn lines to a street network: crossings become nodes, and nobody is trapped.

use std::collections::{BTreeMap, BTreeSet};

use super::plane::{Point, Segment, SegmentIndex, segments};
use super::river::River;

/// What a street is built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// The fast road around the city.
    Ring,
    /// Roads out of town.
    Arterial,
    /// Boulevard and avenue.
    Avenue,
    /// Roads between villages.
    Country,
    /// Residential streets, quays, old main streets.
    Street,
    /// Narrow streets of the old centre and of villages.
    Lane,
}

impl Class {
    /// Speed of travel in km/h.
    pub(super) fn speed_kmh(self) -> f64 {
        match self {
            Class::Ring => 80.0,
            Class::Arterial => 60.0,
            Class::Avenue | Class::Country => 50.0,
            Class::Street => 40.0,
            Class::Lane => 30.0,
        }
    }

    /// Longest link without a node in between, in metres.
    fn longest_link(self) -> f64 {
        match self {
            Class::Ring | Class::Country => 360.0,
            Class::Arterial => 240.0,
            Class::Avenue | Class::Street => 190.0,
            Class::Lane => 140.0,
        }
    }
}

/// A line drawn for a street, before it is joined with the others.
#[derive(Clone, Debug)]
pub(super) struct Stroke {
    pub(super) path: Vec<Point>,
    pub(super) class: Class,
    one_way: bool,
    bridging: bool,
}

impl Stroke {
    /// A two-way street that may not cross the river.
    pub(super) fn new(path: Vec<Point>, class: Class) -> Self {
        Self { path, class, one_way: false, bridging: false }
    }

    /// Only from the first point of the path to the last.
    pub(super) fn one_way(self) -> Self {
        Self { one_way: true, ..self }
    }

    /// Crosses the river on bridges.
    pub(super) fn bridging(self) -> Self {
        Self { bridging: true, ..self }
    }
}

/// A street between two neighbouring nodes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) class: Class,
    pub(super) one_way: bool,
    /// Whether it crosses the river.
    pub(super) bridge: bool,
    /// Along the street, in metres.
    pub(super) length: f64,
}

/// Nodes and links; every node can be reached from every other.
#[derive(Clone, Debug, Default)]
pub(super) struct Network {
    pub(super) nodes: Vec<Point>,
    pub(super) links: Vec<Link>,
}

/// Ends of streets closer than this to another street join it, in metres.
const JOIN: f64 = 14.0;
/// Crossings closer than this are one.
const MERGE: f64 = 25.0;
/// Dead ends shorter than this are not built.
const STUB: f64 = 48.0;
/// A node this close to the chord between its two neighbours is not needed to draw the street.
const STRAIGHT: f64 = 6.0;

impl Network {
    /// Joins the strokes, the most important first, into a strongly connected network.
    pub(super) fn new(strokes: &[Stroke], river: &River) -> Self {
        let mut network = Self::join(strokes);
        network.remove_stubs();
        network.straighten();
        network.keep_out_of_water(river);
        network.divide_long_links();
        network.open_traps();
        network.keep_reachable();
        network
    }

    /// Cuts every stroke where it meets another and numbers the meeting points.
    fn join(strokes: &[Stroke]) -> Self {
        let mut index = SegmentIndex::default();
        let mut owners: Vec<&Stroke> = Vec::new();
        for stroke in strokes {
            for s in segments(&stroke.path) {
                index.push(s);
                owners.push(stroke);
            }
        }
        // Where each segment is met, as a fraction of it and as the point that both then share.
        let meetings: Vec<Vec<(f64, Point)>> = (0..owners.len() as u32)
            .map(|k| {
                let s = index.segment(k);
                let mut met = vec![(0.0, s.0), (1.0, s.1)];
                for o in index.near(s, JOIN).into_iter().map(|other| index.segment(other)) {
                    met.extend(s.crossing(o).map(|(t, _)| (t, s.at(t))));
                    let ends = [o.0, o.1].into_iter().filter(|&p| s.distance(p) < JOIN);
                    met.extend(ends.map(|p| (s.nearest(p), p)));
                }
                met.sort_by(|a, b| a.0.total_cmp(&b.0));
                met
            })
            .collect();
        // All nodes first, so that a point means the same node to every street through it.
        let mut crossings = Crossings::default();
        meetings.iter().flatten().for_each(|&(_, p)| crossings.add(p));
        let mut links = Vec::new();
        let mut known = BTreeSet::new();
        for (stroke, met) in owners.iter().zip(&meetings) {
            let nodes: Vec<u32> = met.iter().filter_map(|&(_, p)| crossings.nearest(p)).collect();
            for pair in nodes.windows(2) {
                let (from, to) = (pair[0], pair[1]);
                if from != to && known.insert((from.min(to), from.max(to))) {
                    let length =
                        crossings.nodes[from as usize].distance(crossings.nodes[to as usize]);
                    let Stroke { class, one_way, bridging, .. } = **stroke;
                    links.push(Link { from, to, class, one_way, bridge: bridging, length });
                }
            }
        }
        Self { nodes: crossings.nodes, links }
    }

    /// The links at each node.
    fn incidence(&self) -> Vec<Vec<usize>> {
        let mut at = vec![Vec::new(); self.nodes.len()];
        for (k, link) in self.links.iter().enumerate() {
            at[link.from as usize].push(k);
            at[link.to as usize].push(k);
        }
        at
    }

    fn remove_stubs(&mut self) {
        loop {
            let degree: Vec<usize> = self.incidence().iter().map(Vec::len).collect();
            let before = self.links.len();
            self.links.retain(|l| {
                let dead_end = degree[l.from as usize] == 1 || degree[l.to as usize] == 1;
                // Country roads lead somewhere, and nobody can leave a one-way dead end.
                !(dead_end && (l.length < STUB || l.one_way || l.class == Class::Country))
            });
            if self.links.len() == before {
                return;
            }
        }
    }

    /// Takes out nodes that only lie along a street; the street keeps its length.
    fn straighten(&mut self) {
        let mut at = self.incidence();
        let mut gone = vec![false; self.links.len()];
        for node in 0..self.nodes.len() {
            let &[first, second] = at[node].as_slice() else { continue };
            let (mut a, mut b) = (self.links[first], self.links[second]);
            let here = node as u32;
            if a.from == here {
                std::mem::swap(&mut a, &mut b);
            }
            if !a.one_way && a.from == here {
                (a.from, a.to) = (a.to, a.from);
            }
            if !b.one_way && b.to == here {
                (b.from, b.to) = (b.to, b.from);
            }
            let runs_on = a.to == here && b.from == here && a.from != b.to;
            let length = a.length + b.length;
            if !runs_on
                || a.class != b.class
                || a.one_way != b.one_way
                || length > a.class.longest_link()
            {
                continue;
            }
            let chord = Segment(self.nodes[a.from as usize], self.nodes[b.to as usize]);
            let short = a.length.min(b.length) < 35.0;
            let doubled = at[a.from as usize].iter().any(|k| at[b.to as usize].contains(k));
            let limit = if short { 2.0 * STRAIGHT } else { STRAIGHT };
            if doubled || chord.distance(self.nodes[node]) > limit {
                continue;
            }
            self.links[first] =
                Link { from: a.from, to: b.to, length, bridge: a.bridge || b.bridge, ..a };
            gone[second] = true;
            at[node].clear();
            for end in [a.from, b.to] {
                for k in &mut at[end as usize] {
                    if *k == second {
                        *k = first;
                    }
                }
            }
        }
        let mut kept = gone.iter().map(|g| !g);
        self.links.retain(|_| kept.next() == Some(true));
    }

    /// Only bridges cross the water; whatever else merging moved there goes.
    fn keep_out_of_water(&mut self, river: &River) {
        let mut banks = SegmentIndex::default();
        river.banks.iter().for_each(|bank| banks.push_path(bank));
        let nodes = &self.nodes;
        self.links.retain_mut(|link| {
            let s = Segment(nodes[link.from as usize], nodes[link.to as usize]);
            let wet = banks.first_hit(s).is_some() || river.wets(s.0) || river.wets(s.1);
            let built = !wet || link.bridge;
            link.bridge = wet;
            built
        });
    }

    fn divide_long_links(&mut self) {
        for k in 0..self.links.len() {
            let link = self.links[k];
            let pieces = (link.length / link.class.longest_link()).ceil();
            if link.bridge || pieces < 2.0 {
                continue;
            }
            let whole = Segment(self.nodes[link.from as usize], self.nodes[link.to as usize]);
            let length = link.length / pieces;
            let mut from = link.from;
            for piece in 1..pieces as u32 {
                let to = self.nodes.len() as u32;
                self.nodes.push(whole.at(f64::from(piece) / pieces));
                self.links.push(Link { from, to, length, ..link });
                from = to;
            }
            self.links[k] = Link { from, length, ..link };
        }
    }

    /// A one-way street that leads into, or out of, a trap becomes two-way.
    fn open_traps(&mut self) {
        loop {
            let strong = self.strong();
            let mut opened = false;
            for link in &mut self.links {
                if link.one_way && !(strong[link.from as usize] && strong[link.to as usize]) {
                    link.one_way = false;
                    opened = true;
                }
            }
            if !opened {
                return;
            }
        }
    }

    /// Which nodes can reach, and be reached from, the node with the most links near the centre.
    fn strong(&self) -> Vec<bool> {
        let mut ahead = vec![Vec::new(); self.nodes.len()];
        let mut back = vec![Vec::new(); self.nodes.len()];
        for link in &self.links {
            let (from, to) = (link.from as usize, link.to as usize);
            ahead[from].push(to);
            back[to].push(from);
            if !link.one_way {
                ahead[to].push(from);
                back[from].push(to);
            }
        }
        let central = |k: &usize| self.nodes[*k].length() < 900.0;
        let hub = (0..self.nodes.len())
            .filter(central)
            .max_by_key(|&k| ahead[k].len().min(back[k].len()));
        let reach = |next: &[Vec<usize>]| {
            let mut seen = vec![false; self.nodes.len()];
            let mut queue: Vec<usize> = hub.into_iter().collect();
            while let Some(k) = queue.pop() {
                if !std::mem::replace(&mut seen[k], true) {
                    queue.extend(&next[k]);
                }
            }
            seen
        };
        reach(&ahead).into_iter().zip(reach(&back)).map(|(a, b)| a && b).collect()
    }

    fn keep_reachable(&mut self) {
        let strong = self.strong();
        let mut number = BTreeMap::new();
        let mut nodes = Vec::new();
        for (k, &p) in self.nodes.iter().enumerate().filter(|(k, _)| strong[*k]) {
            number.insert(k as u32, nodes.len() as u32);
            nodes.push(p);
        }
        self.links.retain_mut(|link| match (number.get(&link.from), number.get(&link.to)) {
            (Some(&from), Some(&to)) => {
                (link.from, link.to) = (from, to);
                true
            }
            _ => false,
        });
        self.nodes = nodes;
    }
}

/// Nodes at least [`MERGE`] apart, and the nearest of them to any point.
#[derive(Default)]
struct Crossings {
    nodes: Vec<Point>,
    buckets: BTreeMap<(i32, i32), Vec<u32>>,
}

impl Crossings {
    fn cell(p: Point) -> (i32, i32) {
        ((p.x / MERGE).floor() as i32, (p.y / MERGE).floor() as i32)
    }

    /// The nearest node within [`MERGE`].
    fn nearest(&self, p: Point) -> Option<u32> {
        let (x, y) = Self::cell(p);
        let around = (x - 1..=x + 1).flat_map(|i| (y - 1..=y + 1).map(move |j| (i, j)));
        let known = around.filter_map(|cell| self.buckets.get(&cell)).flatten().copied();
        let distance = |k: u32| self.nodes[k as usize].distance(p);
        let nearest = known.min_by(|&a, &b| distance(a).total_cmp(&distance(b)));
        nearest.filter(|&k| distance(k) < MERGE)
    }

    fn add(&mut self, p: Point) {
        if self.nearest(p).is_none() {
            self.buckets.entry(Self::cell(p)).or_default().push(self.nodes.len() as u32);
            self.nodes.push(p);
        }
    }
}
