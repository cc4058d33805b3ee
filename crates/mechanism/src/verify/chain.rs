//! All pairs of a large map, from the measured bounds of a few.
//!
//! For every pair (i, w) of the witness the largest `ln(z_ik / z_wk)` over all reports k is measured, the larger
//! of the two directions. Along a path these add up: `b_iw` is what the shortest path proves. A pair (i, j) is proven
//! at a rate e, that is to say `ln(z_ik / z_jk) <= e d_ij` for every k, if some w near i has
//! `b_iw <= e (d_ij - d_wj)` and (w, j), which is nearer, is proven at that rate: by induction over distances, every pair
//! that has such a *waypoint* at one of its ends is proven at the largest of their rates. Pairs that have none are
//! proven by the shortest path between them, or compared directly.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};
use std::f64::consts::{PI, TAU};

use lrgeo_geo::parallel::*;
use lrgeo_geo::{Coord, Located};
use lrgeo_map::progress::Progress;
use lrgeo_tiles::verify::{Finding, Pair};
use lrgeo_tiles::verify::{ROUNDING, allowed, log_up, worst_ratio};

use crate::Built;

/// More than the rounding of adding up the hops of any path.
const PATH_ROUNDING: f64 = 1e-12;
/// So many of the nearest places, by what paths prove, are waypoints; and what their arcs lead to.
const NEAREST: usize = 60;
/// So many pairs of one place are looked at with all waypoints; for more a search of all paths is quicker.
const FEW: usize = 100;
/// Directions for which the best waypoint of each place is kept at hand.
const DIRECTIONS: usize = 128;

/// Proves every pair of places at the epsilon of the guarantee.
pub fn all_pairs(built: &Built, progress: &dyn Progress) -> Finding {
    let epsilon = built.guarantee.epsilon;
    let bounds = measure(built, progress);
    let places = built.coords.len();
    let ground = Ground::new(&built.coords);
    let enough = epsilon.value() * (1.0 - PATH_ROUNDING);
    let near: Vec<Waypoints> =
        (0..places).into_par_iter().map(|i| Waypoints::new(&ground, &bounds, i)).collect();
    progress.begin("verifying all pairs of places", places as u64);
    let proven = (0..places)
        .into_par_iter()
        .map_init(
            || (vec![0.0; places], vec![0.0; places]),
            |(here, there), i| {
                let mut proven = Proven::default();
                let mut open = Vec::new();
                for j in i + 1..places {
                    let pair = Pair { at: (i as u32, j as u32), km: ground.km(i, j) };
                    let rate = rate_ahead(&ground, &near, pair);
                    if rate <= enough { proven.add(pair, rate) } else { open.push(pair) }
                }
                if open.len() <= FEW {
                    open.retain(|&pair| {
                        let rate = rate_around(&ground, &near, pair);
                        if rate <= enough {
                            proven.add(pair, rate);
                        }
                        rate > enough
                    });
                }
                if !open.is_empty() {
                    chain(built, &bounds, i, &open, (here, there), &mut proven.otherwise);
                }
                progress.advance(1);
                proven
            },
        )
        .reduce(Proven::default, Proven::merge);
    progress.end();
    proven.finding(built)
}

/// Pairs of place `i` that have no waypoint: proven by the shortest path, or else compared entry by entry.
fn chain(
    built: &Built,
    bounds: &[Vec<(u32, f64)>],
    i: usize,
    open: &[Pair],
    (here, there): (&mut [f64], &mut [f64]),
    finding: &mut Finding,
) {
    let epsilon = built.guarantee.epsilon;
    let path = shortest(bounds, i);
    built.rows.fill(i, here);
    for &pair in open {
        let back = Pair { at: (pair.at.1, pair.at.0), ..pair };
        let j = pair.at.1 as usize;
        let bound = path[j] * (1.0 + PATH_ROUNDING);
        if bound <= allowed(epsilon.value(), pair.km) {
            let entries = here.len() as u64;
            finding.add_bound(pair, bound, entries, epsilon);
            finding.add_bound(back, bound, entries, epsilon);
        } else {
            built.rows.fill(j, there);
            finding.add(pair, here, there, epsilon);
            finding.add(back, there, here, epsilon);
        }
    }
}

/// What is known of pairs.
struct Proven {
    otherwise: Finding,
    /// Pairs with a waypoint, the largest rate among them and the nearest of them.
    pairs: u64,
    rate: f64,
    nearest: Pair,
}

impl Default for Proven {
    fn default() -> Self {
        let nearest = Pair { at: (0, 0), km: f64::INFINITY };
        Self { otherwise: Finding::default(), pairs: 0, rate: 0.0, nearest }
    }
}

impl Proven {
    fn add(&mut self, pair: Pair, rate: f64) {
        self.pairs += 1;
        self.rate = self.rate.max(rate);
        if pair.km < self.nearest.km {
            self.nearest = pair;
        }
    }

    fn merge(self, other: Self) -> Self {
        let nearer = other.nearest.km < self.nearest.km;
        Self {
            otherwise: self.otherwise.merge(other.otherwise),
            pairs: self.pairs + other.pairs,
            rate: self.rate.max(other.rate),
            nearest: if nearer { other.nearest } else { self.nearest },
        }
    }

    /// Every pair with a waypoint satisfies the largest rate, in both directions; the nearest of them has the least to
    /// spare.
    fn finding(self, built: &Built) -> Finding {
        let mut finding = self.otherwise;
        if self.pairs > 0 {
            // A waypoint may lead to a pair that was proven otherwise.
            let rate = self.rate.max(finding.effective_epsilon);
            let bound = (rate * self.nearest.km * (1.0 + ROUNDING)).next_up();
            finding.add_bound(self.nearest, bound, 0, built.guarantee.epsilon);
            finding.checked += 2 * self.pairs * built.coords.len() as u64;
            // One was counted by adding the bound.
            finding.pairs += 2 * self.pairs - 1;
        }
        finding
    }
}

/// The smaller rate that the waypoints straight ahead of either end prove of a pair.
fn rate_ahead(ground: &Ground, near: &[Waypoints], pair: Pair) -> f64 {
    let ahead = both_ways(pair).map(|(from, to)| {
        let Waypoints { list, towards } = &near[from];
        let best = list.get(usize::from(towards[direction(ground.offset(from, to))]));
        best.map_or(f64::INFINITY, |waypoint| waypoint.rate(ground, to, pair.km))
    });
    ahead[0].min(ahead[1])
}

/// The smallest rate that any waypoint of either end proves of a pair.
fn rate_around(ground: &Ground, near: &[Waypoints], pair: Pair) -> f64 {
    let all = both_ways(pair).into_iter().flat_map(|(from, to)| {
        near[from].list.iter().map(move |waypoint| waypoint.rate(ground, to, pair.km))
    });
    all.fold(f64::INFINITY, f64::min)
}

fn both_ways(pair: Pair) -> [(usize, usize); 2] {
    let (i, j) = (pair.at.0 as usize, pair.at.1 as usize);
    [(i, j), (j, i)]
}

/// A place near another, and what is proven of the two.
struct Waypoint {
    place: u32,
    bound: f64,
}

impl Waypoint {
    /// The smallest e with `bound <= e (km - d)`, d from here to `to`; rounded up.
    fn rate(&self, ground: &Ground, to: usize, km: f64) -> f64 {
        let beyond = ground.km(self.place as usize, to);
        let nearer = km - beyond - ROUNDING * (km + beyond);
        if nearer > 0.0 { (self.bound / nearer).next_up() } else { f64::INFINITY }
    }
}

/// The waypoints of one place.
struct Waypoints {
    list: Vec<Waypoint>,
    /// The best in every direction.
    towards: [u16; DIRECTIONS],
}

impl Waypoints {
    fn new(ground: &Ground, bounds: &[Vec<(u32, f64)>], place: usize) -> Self {
        let list = nearest(bounds, place as u32);
        let mut towards = [0; DIRECTIONS];
        let mut furthest = [0.0; DIRECTIONS];
        for (at, waypoint) in list.iter().enumerate().take(usize::from(u16::MAX)) {
            let (north, east) = ground.offset(place, waypoint.place as usize);
            for (direction, (sin, cos)) in ground.compass.iter().enumerate() {
                let leads = (north * sin + east * cos) / waypoint.bound;
                if leads > furthest[direction] {
                    (furthest[direction], towards[direction]) = (leads, at as u16);
                }
            }
        }
        Self { list, towards }
    }
}

/// The nearest places by what paths prove, and those that arcs lead to from there.
fn nearest(bounds: &[Vec<(u32, f64)>], source: u32) -> Vec<Waypoint> {
    let mut best: HashMap<u32, f64> = HashMap::from([(source, 0.0)]);
    let mut queue = BinaryHeap::from([Open { bound: 0.0, place: source }]);
    let mut settled = 0;
    while let Some(Open { bound, place }) = queue.pop() {
        if bound > best[&place] {
            continue;
        }
        for &(to, step) in &bounds[place as usize] {
            let there = bound + step;
            let known = best.entry(to).or_insert(f64::INFINITY);
            if there < *known {
                *known = there;
                queue.push(Open { bound: there, place: to });
            }
        }
        settled += 1;
        if settled > NEAREST {
            break;
        }
    }
    best.remove(&source);
    let rounded = |bound: f64| bound * (1.0 + PATH_ROUNDING);
    let mut list: Vec<Waypoint> =
        best.into_iter().map(|(place, bound)| Waypoint { place, bound: rounded(bound) }).collect();
    list.sort_unstable_by(|a, b| a.bound.total_cmp(&b.bound).then(a.place.cmp(&b.place)));
    list
}

/// Dijkstra's algorithm from one place; infinite where no path leads.
fn shortest(bounds: &[Vec<(u32, f64)>], source: usize) -> Vec<f64> {
    let mut best = vec![f64::INFINITY; bounds.len()];
    best[source] = 0.0;
    let mut queue = BinaryHeap::from([Open { bound: 0.0, place: source as u32 }]);
    while let Some(Open { bound, place }) = queue.pop() {
        if bound > best[place as usize] {
            continue;
        }
        for &(to, step) in &bounds[place as usize] {
            let there = bound + step;
            if there < best[to as usize] {
                best[to as usize] = there;
                queue.push(Open { bound: there, place: to });
            }
        }
    }
    best
}

/// For every place its witnesses and the largest log-ratio between their rows, in either direction.
fn measure(built: &Built, progress: &dyn Progress) -> Vec<Vec<(u32, f64)>> {
    let places = built.coords.len();
    let mut later = vec![Vec::new(); places];
    for &[i, j] in &built.witness {
        later[i.min(j).index()].push(i.max(j).number());
    }
    progress.begin("measuring neighbours", places as u64);
    let measured: Vec<Vec<(u32, f64)>> = later
        .into_par_iter()
        .enumerate()
        .map_init(
            || (vec![0.0; places], vec![0.0; places]),
            |(here, there), (i, later)| {
                built.rows.fill(i, here);
                let bounds = later.into_iter().map(|j| {
                    built.rows.fill(j as usize, there);
                    let ratio = worst_ratio(here, there).max(worst_ratio(there, here));
                    (j, log_up(ratio))
                });
                let bounds = bounds.collect();
                progress.advance(1);
                bounds
            },
        )
        .collect();
    progress.end();
    let mut bounds = vec![Vec::new(); places];
    for (i, list) in measured.into_iter().enumerate() {
        for (j, bound) in list {
            bounds[i].push((j, bound));
            bounds[j as usize].push((i as u32, bound));
        }
    }
    bounds
}

/// Where the places are.
struct Ground<'a> {
    coords: &'a [Coord],
    at: Vec<Located>,
    /// How much shorter a degree of longitude is than one of latitude.
    shrink: Vec<f64>,
    /// Sine and cosine of the middle of every direction.
    compass: Vec<(f64, f64)>,
}

impl<'a> Ground<'a> {
    fn new(coords: &'a [Coord]) -> Self {
        let middle = |direction: usize| (direction as f64 + 0.5) / DIRECTIONS as f64 * TAU - PI;
        Self {
            coords,
            at: coords.iter().map(|c| c.located()).collect(),
            shrink: coords.iter().map(|c| c.lat().to_radians().cos()).collect(),
            compass: (0..DIRECTIONS).map(|d| middle(d).sin_cos()).collect(),
        }
    }

    fn km(&self, i: usize, j: usize) -> f64 {
        self.at[i].distance_km(self.at[j])
    }

    /// How far north and east, about: good enough to choose by.
    fn offset(&self, from: usize, to: usize) -> (f64, f64) {
        let (here, there) = (self.coords[from], self.coords[to]);
        (there.lat() - here.lat(), (there.lon() - here.lon()) * self.shrink[from])
    }
}

/// The direction in which an offset leads.
fn direction((north, east): (f64, f64)) -> usize {
    ((north.atan2(east) + PI) / TAU * DIRECTIONS as f64) as usize % DIRECTIONS
}

/// The smallest bound comes out of the queue first.
#[derive(PartialEq)]
struct Open {
    bound: f64,
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
        other.bound.total_cmp(&self.bound).then(self.place.cmp(&other.place))
    }
}
