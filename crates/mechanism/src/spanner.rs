//! A sparse graph whose paths are nearly straight: how the all-pairs notion is had from few arcs.
//!
//! If `D_ij <= s d_ij` for every pair, a matrix that satisfies `z_ik <= exp(eps/s d_ij) z_jk` on the
//! arcs satisfies `exp(eps d_ij)` for all pairs (spec section 1, Theorem 3.1).

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use lrgeo_map::progress::Progress;
use rayon::prelude::*;

use crate::City;

/// Two places joined by an arc, the lower number first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// The one.
    pub i: u32,
    /// The other.
    pub j: u32,
    /// Their distance in kilometres.
    pub km: f64,
}

/// Arcs between places, and how much longer than straight lines their paths are at most.
#[derive(Clone, Debug, PartialEq)]
pub struct Spanner {
    /// Each pair once.
    pub arcs: Vec<Link>,
    /// The largest `D_ij / d_ij` over every pair: measured, not assumed.
    pub stretch: f64,
}

/// Arcs are sought among pairs up to this many spacings apart; farther ones only where paths
/// around a hole need them.
const LOCAL_SPACINGS: f64 = 4.5;
/// At least this many candidates per place, however far they are.
const FEWEST_CANDIDATES: usize = 12;

impl Spanner {
    /// All pairs: paths are straight lines.
    pub fn complete(city: &City) -> Self {
        let places = city.places() as u32;
        let pairs = (0..places).flat_map(|i| (i + 1..places).map(move |j| (i, j)));
        let arcs = pairs.map(|(i, j)| Link { i, j, km: city.distance_km(i, j) }).collect();
        Self { arcs, stretch: 1.0 }
    }

    /// A spanner with stretch at most `stretch`: greedily by distance among near pairs, then every
    /// pair of the map is looked at and given what it still needs.
    pub fn greedy(city: &City, stretch: f64, progress: &dyn Progress) -> Self {
        let mut graph = Graph::new(city.places());
        let mut candidates = near_pairs(city);
        candidates.sort_unstable_by(|a, b| a.km.total_cmp(&b.km).then((a.i, a.j).cmp(&(b.i, b.j))));
        progress.begin("spanner of the places", candidates.len() as u64);
        let mut search = Search::new(city.places());
        for chunk in candidates.chunks(10_000) {
            for &link in chunk {
                if !search.joins(&graph, link, stretch * link.km) {
                    graph.add(link);
                }
            }
            progress.advance(chunk.len() as u64);
        }
        progress.end();
        let stretch = complete_far_pairs(city, &mut graph, stretch, progress);
        Self { arcs: graph.arcs, stretch }
    }
}

/// Pairs that may become arcs, each once.
fn near_pairs(city: &City) -> Vec<Link> {
    let near = |i: u32| {
        let mut radius = LOCAL_SPACINGS * city.spacing_km();
        loop {
            let found = city.index().within(city.coords()[i as usize], radius);
            if found.len() > FEWEST_CANDIDATES.min(city.places() - 1) {
                return found;
            }
            radius *= 1.5;
        }
    };
    let mut pairs: Vec<Link> = (0..city.places() as u32)
        .into_par_iter()
        .flat_map_iter(|i| {
            let found = near(i).into_iter().filter(move |&(j, _)| j != i);
            found.map(move |(j, km)| Link { i: i.min(j), j: i.max(j), km })
        })
        .collect();
    pairs.sort_unstable_by_key(|link| (link.i, link.j));
    pairs.dedup_by_key(|link| (link.i, link.j));
    pairs
}

/// Looks at every pair; where paths are too long, the nearest victim in each direction gets an arc of
/// its own, until none is: those behind it are then reached through it. Returns the largest stretch
/// left.
fn complete_far_pairs(
    city: &City,
    graph: &mut Graph,
    stretch: f64,
    progress: &dyn Progress,
) -> f64 {
    let mut sources: Vec<u32> = (0..city.places() as u32).collect();
    let mut worst = 1.0f64;
    progress.begin("stretch of every pair", sources.len() as u64);
    while !sources.is_empty() {
        let found: Vec<Reach> = sources
            .par_iter()
            .map_init(
                || Search::new(city.places()),
                |search, &source| {
                    search.from(graph, source);
                    Reach::of(city, source, &search.best, stretch)
                },
            )
            .collect();
        let mut open = Vec::new();
        for (&source, reach) in sources.iter().zip(found) {
            if reach.victims.is_empty() {
                worst = worst.max(reach.stretch);
                progress.advance(1);
            } else {
                // Looked at again: the new arcs shorten other paths as well.
                reach.victims.into_iter().for_each(|link| graph.add(link));
                open.push(source);
            }
        }
        sources = open;
    }
    progress.end();
    worst
}

/// Directions that victims are sorted into.
const DIRECTIONS: usize = 4;

/// What the paths from one place are like.
struct Reach {
    /// The largest stretch that is allowed.
    stretch: f64,
    /// The nearest places whose paths are too long, one per direction.
    victims: Vec<Link>,
}

impl Reach {
    fn of(city: &City, source: u32, path: &[f64], allowed: f64) -> Self {
        let here = city.coords()[source as usize];
        let east_scale = here.lat().to_radians().cos();
        let mut nearest = [None::<Link>; DIRECTIONS];
        let mut stretch = 1.0f64;
        for j in (0..city.places() as u32).filter(|&j| j != source) {
            let there = city.coords()[j as usize];
            let (km, path) = (here.distance_km(there), path[j as usize]);
            if path <= allowed * km {
                stretch = stretch.max(if km > 0.0 { path / km } else { 1.0 });
                continue;
            }
            let (north, east) = (there.lat() - here.lat(), (there.lon() - here.lon()) * east_scale);
            let turn = north.atan2(east) / std::f64::consts::TAU + 0.5;
            let slot = &mut nearest[(turn * DIRECTIONS as f64) as usize % DIRECTIONS];
            if slot.is_none_or(|victim| km < victim.km) {
                *slot = Some(Link { i: source.min(j), j: source.max(j), km });
            }
        }
        Self { stretch, victims: nearest.into_iter().flatten().collect() }
    }
}

struct Graph {
    near: Vec<Vec<(u32, f64)>>,
    arcs: Vec<Link>,
}

impl Graph {
    fn new(places: usize) -> Self {
        Self { near: vec![Vec::new(); places], arcs: Vec::new() }
    }

    fn add(&mut self, link: Link) {
        let Link { i, j, km } = link;
        if self.near[i as usize].iter().any(|&(to, _)| to == j) {
            return;
        }
        self.near[i as usize].push((j, km));
        self.near[j as usize].push((i, km));
        self.arcs.push(link);
    }
}

/// Dijkstra's algorithm with its memory kept between searches.
struct Search {
    best: Vec<f64>,
    touched: Vec<u32>,
    queue: BinaryHeap<Open>,
}

impl Search {
    fn new(places: usize) -> Self {
        Self { best: vec![f64::INFINITY; places], touched: Vec::new(), queue: BinaryHeap::new() }
    }

    fn start(&mut self, source: u32) {
        self.touched.drain(..).for_each(|place| self.best[place as usize] = f64::INFINITY);
        self.queue.clear();
        self.reach(source, 0.0);
    }

    fn reach(&mut self, place: u32, km: f64) {
        self.best[place as usize] = km;
        self.touched.push(place);
        self.queue.push(Open { km, place });
    }

    /// Path distances from `source` to every place.
    fn from(&mut self, graph: &Graph, source: u32) {
        self.start(source);
        while let Some(Open { km, place }) = self.queue.pop() {
            if km > self.best[place as usize] {
                continue;
            }
            for &(to, step) in &graph.near[place as usize] {
                if km + step < self.best[to as usize] {
                    self.reach(to, km + step);
                }
            }
        }
    }

    /// Whether some path between the ends of `link` is at most `limit` long.
    fn joins(&mut self, graph: &Graph, link: Link, limit: f64) -> bool {
        self.start(link.i);
        while let Some(Open { km, place }) = self.queue.pop() {
            if place == link.j {
                return true;
            }
            if km > self.best[place as usize] {
                continue;
            }
            for &(to, step) in &graph.near[place as usize] {
                if km + step <= limit && km + step < self.best[to as usize] {
                    self.reach(to, km + step);
                }
            }
        }
        false
    }
}

/// The nearest place comes out of the queue first.
#[derive(PartialEq)]
struct Open {
    km: f64,
    place: u32,
}

impl Eq for Open {}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Open {
    fn cmp(&self, other: &Self) -> Ordering {
        other.km.total_cmp(&self.km).then(self.place.cmp(&other.place))
    }
}
