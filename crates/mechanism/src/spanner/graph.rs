//! The arcs as they grow, and searches along them.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use lrgeo_geo::{Coord, Located};

use super::Link;

/// Places and the arcs between them.
pub struct Graph {
    coords: Vec<Coord>,
    at: Vec<Located>,
    /// How much shorter a degree of longitude is than one of latitude.
    shrink: Vec<f64>,
    near: Vec<Vec<(u32, f64)>>,
    pub arcs: Vec<Link>,
}

impl Graph {
    pub fn new(coords: &[Coord]) -> Self {
        let at = coords.iter().map(|c| c.located()).collect();
        let shrink = coords.iter().map(|c| c.lat().to_radians().cos()).collect();
        let near = vec![Vec::new(); coords.len()];
        Self { coords: coords.to_vec(), at, shrink, near, arcs: Vec::new() }
    }

    pub fn places(&self) -> usize {
        self.at.len()
    }

    /// The straight distance.
    pub fn straight_km(&self, i: u32, j: u32) -> f64 {
        self.at[i as usize].distance_km(self.at[j as usize])
    }

    /// How far north and east `j` is of `i`, in degrees of latitude, on the plane that touches there.
    pub fn offset(&self, i: u32, j: u32) -> (f64, f64) {
        let (here, there) = (self.coords[i as usize], self.coords[j as usize]);
        let shrink = self.shrink[i as usize];
        (there.lat() - here.lat(), (there.lon() - here.lon()) * shrink)
    }

    pub fn add(&mut self, link: Link) {
        let Link { i, j, km } = link;
        self.near[i as usize].push((j, km));
        self.near[j as usize].push((i, km));
        self.arcs.push(link);
    }
}

/// Dijkstra's algorithm with its memory kept between searches.
pub struct Search {
    best: Vec<f64>,
    touched: Vec<u32>,
    queue: BinaryHeap<Open>,
}

impl Search {
    pub fn new(places: usize) -> Self {
        Self { best: vec![f64::INFINITY; places], touched: Vec::new(), queue: BinaryHeap::new() }
    }

    fn start(&mut self, source: u32, whole: f64) {
        self.touched.drain(..).for_each(|place| self.best[place as usize] = f64::INFINITY);
        self.queue.clear();
        self.reach(source, 0.0, whole);
    }

    fn reach(&mut self, place: u32, km: f64, whole: f64) {
        self.best[place as usize] = km;
        self.touched.push(place);
        self.queue.push(Open { whole, km, place });
    }

    /// The places whose path from `source` is at most `limit` long, with that path, nearest first.
    pub fn ball(&mut self, graph: &Graph, source: u32, limit: f64) -> Vec<(u32, f64)> {
        let mut ball = Vec::new();
        self.start(source, 0.0);
        while let Some(Open { km, place, .. }) = self.queue.pop() {
            if km > self.best[place as usize] {
                continue;
            }
            ball.push((place, km));
            for &(to, step) in &graph.near[place as usize] {
                let km = km + step;
                if km <= limit && km < self.best[to as usize] {
                    self.reach(to, km, km);
                }
            }
        }
        ball
    }

    /// The shortest path between the ends of `link` if it is at most `limit` long. What lies off the
    /// ellipse of such paths is not looked at, and what leads straight on is looked at first.
    pub fn path(&mut self, graph: &Graph, link: Link, limit: f64) -> Option<f64> {
        self.start(link.i, link.km);
        while let Some(Open { km, place, .. }) = self.queue.pop() {
            if place == link.j {
                return Some(km);
            }
            if km > self.best[place as usize] {
                continue;
            }
            for &(to, step) in &graph.near[place as usize] {
                let km = km + step;
                if km <= limit && km < self.best[to as usize] {
                    let whole = km + graph.straight_km(to, link.j);
                    // Rounding may find a straight path longer than the straight line.
                    if whole <= limit * (1.0 + 1e-12) {
                        self.reach(to, km, whole);
                    }
                }
            }
        }
        None
    }
}

/// The place with the shortest way through it comes out of the queue first.
#[derive(PartialEq)]
struct Open {
    /// The way to the place, and on from there as straight as can be.
    whole: f64,
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
        other.whole.total_cmp(&self.whole).then(self.place.cmp(&other.place))
    }
}
