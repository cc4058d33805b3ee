//! The Geo-Ind graph of a set of places (Def. 3.1): who is near whom, and how far by hops.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use lrgeo_geo::index::SpatialIndex;
use lrgeo_geo::parallel::*;
use lrgeo_geo::{Coord, PlaceId};

use crate::progress::Progress;

/// Places as nodes, an edge where `d(i,j) <= gamma`, weighted by that distance in kilometres.
#[derive(Clone, Debug)]
pub struct NeighbourGraph {
    first: Vec<usize>,
    edges: Vec<(PlaceId, f64)>,
}

/// How faithful path distances are to straight ones (`docs/specification.md` section 1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    /// The largest `D(i,j) / d(i,j)` over the connected pairs that were looked at.
    pub worst: f64,
    /// The mean of the same.
    pub mean: f64,
    /// From how many places the pairs were looked at; fewer than all on large maps.
    pub sources: usize,
}

impl NeighbourGraph {
    /// Joins all places at most `gamma_km` apart, by a spatial index rather than by comparing
    /// all pairs.
    pub fn new(coords: &[Coord], gamma_km: f64) -> Self {
        let index = SpatialIndex::new(coords);
        let near: Vec<Vec<(PlaceId, f64)>> = coords
            .par_iter()
            .enumerate()
            .map(|(i, &c)| {
                let near = index.within(c, gamma_km).into_iter();
                let others = near.filter(|&(j, _)| j as usize != i);
                others.map(|(j, km)| (PlaceId::new(j), km)).collect()
            })
            .collect();
        let mut first = vec![0];
        first.extend(near.iter().scan(0, |sum, n| {
            *sum += n.len();
            Some(*sum)
        }));
        Self { first, edges: near.concat() }
    }

    /// How many places.
    pub fn len(&self) -> usize {
        self.first.len() - 1
    }

    /// Whether there are no places.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many unordered pairs are joined.
    pub fn edge_count(&self) -> usize {
        self.edges.len() / 2
    }

    /// The neighbours of place `i` and their distances in kilometres.
    pub fn neighbours(&self, i: PlaceId) -> &[(PlaceId, f64)] {
        &self.edges[self.first[i.index()]..self.first[i.index() + 1]]
    }

    /// The places with path distance `D(source, j) <= limit_km`, nearest first, with `D`: the
    /// locally relevant places of Def. 4.1 when the limit is Gamma.
    pub fn within(&self, source: PlaceId, limit_km: f64) -> Vec<(PlaceId, f64)> {
        self.nearest(source).take_while(|&(_, distance)| distance <= limit_km).collect()
    }

    /// All places that can be reached, nearest first, with `D(source, j)`; found as they are asked for.
    pub fn nearest(&self, source: PlaceId) -> impl Iterator<Item = (PlaceId, f64)> {
        let mut best = vec![f64::INFINITY; self.len()];
        let mut queue = BinaryHeap::from([Entry { distance: 0.0, place: source }]);
        best[source.index()] = 0.0;
        std::iter::from_fn(move || {
            loop {
                let Entry { distance, place } = queue.pop()?;
                if distance > best[place.index()] {
                    continue;
                }
                for &(to, d) in self.neighbours(place) {
                    let there = distance + d;
                    if there < best[to.index()] {
                        best[to.index()] = there;
                        queue.push(Entry { distance: there, place: to });
                    }
                }
                return Some((place, distance));
            }
        })
    }

    /// The connected component of every place, numbered from 0 in the order they are found.
    pub fn components(&self) -> Vec<u32> {
        let mut component = vec![u32::MAX; self.len()];
        let mut count = 0;
        for start in PlaceId::all(self.len()) {
            if component[start.index()] != u32::MAX {
                continue;
            }
            component[start.index()] = count;
            let mut open = vec![start];
            while let Some(i) = open.pop() {
                for &(j, _) in self.neighbours(i) {
                    if component[j.index()] == u32::MAX {
                        component[j.index()] = count;
                        open.push(j);
                    }
                }
            }
            count += 1;
        }
        component
    }

    /// How much longer paths are than straight lines, from at most `max_sources` evenly picked
    /// places to all places they are connected with.
    pub fn stretch(
        &self,
        coords: &[Coord],
        max_sources: usize,
        progress: &dyn Progress,
    ) -> Stretch {
        let step = self.len().div_ceil(max_sources.max(1)).max(1);
        let sources: Vec<PlaceId> = PlaceId::all(self.len()).step_by(step).collect();
        progress.begin("stretch of the Geo-Ind graph", sources.len() as u64);
        let (worst, sum, pairs) = sources
            .par_iter()
            .map(|&source| {
                let here = coords[source.index()];
                let ratios =
                    self.within(source, f64::INFINITY).into_iter().filter_map(|(j, path)| {
                        let straight = here.distance_km(coords[j.index()]);
                        (straight > 0.0).then(|| path / straight)
                    });
                let found = ratios.fold((1.0, 0.0, 0u64), |(w, s, n), r| (r.max(w), s + r, n + 1));
                progress.advance(1);
                found
            })
            .reduce(|| (1.0, 0.0, 0), |a, b| (f64::max(a.0, b.0), a.1 + b.1, a.2 + b.2));
        progress.end();
        let mean = if pairs == 0 { 1.0 } else { sum / pairs as f64 };
        Stretch { worst, mean, sources: sources.len() }
    }
}

/// A queue entry, nearest first, then by place so that the order is always the same.
struct Entry {
    distance: f64,
    place: PlaceId,
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        other.distance.total_cmp(&self.distance).then(other.place.cmp(&self.place))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}
