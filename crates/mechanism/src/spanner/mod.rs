//! A sparse graph whose paths are nearly straight: how the all-pairs notion is had from few arcs.
//!
//! If `D_ij <= s d_ij` for every pair, a matrix that satisfies `z_ik <= exp(eps/s d_ij) z_jk` on the
//! arcs satisfies `exp(eps d_ij)` for all pairs (`docs/specification.md` section 1, Theorem 3.1).

mod graph;
mod waypoints;

use lrgeo_geo::PlaceId;
use lrgeo_geo::parallel::*;
use lrgeo_map::progress::Progress;

use crate::City;
use graph::{Graph, Search};
use waypoints::{Proof, Waypoints};

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
    /// No pair has a larger `D_ij / d_ij`: proven, not assumed.
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
        let arcs = pairs
            .map(|(i, j)| Link { i, j, km: city.distance_km(PlaceId::new(i), PlaceId::new(j)) })
            .collect();
        Self { arcs, stretch: 1.0 }
    }

    /// A spanner with stretch at most `stretch`: greedily by distance among near pairs, then among
    /// those of all others whose paths no waypoint proves to be straight enough.
    pub fn greedy(city: &City, stretch: f64, progress: &dyn Progress) -> Self {
        let mut graph = Graph::new(city.coords());
        let near = near_places(city);
        let mut candidates: Vec<Link> =
            (0..).zip(&near).flat_map(|(i, near)| links(i, near)).collect();
        sort_by_distance(&mut candidates);
        // A pair is found from both ends, or from one where the other has nearer places enough.
        candidates.dedup_by_key(|link| (link.i, link.j));
        progress.begin("spanner of the places", candidates.len() as u64);
        let mut search = Search::new(city.places());
        for chunk in candidates.chunks(10_000) {
            for &link in chunk {
                if search.path(&graph, link, stretch * link.km).is_none() {
                    graph.add(link);
                }
            }
            progress.advance(chunk.len() as u64);
        }
        progress.end();
        let reach_km: Vec<f64> = near.iter().map(|near| farthest(near)).collect();
        let mut waypoints = Waypoints::new(&graph, &reach_km, stretch);
        let Proof { worst, open } = waypoints.prove(&graph, stretch, progress);
        let worst = worst.max(complete(&mut graph, &mut waypoints, open, stretch, progress));
        Self { arcs: graph.arcs, stretch: worst }
    }
}

/// The places near each, with their distance.
fn near_places(city: &City) -> Vec<Vec<(u32, f64)>> {
    let near = |i: u32| {
        let mut radius = LOCAL_SPACINGS * city.spacing_km();
        loop {
            let found = city.within(city.coords()[i as usize], radius);
            if found.len() > FEWEST_CANDIDATES.min(city.places() - 1) {
                return found.into_iter().map(|(j, km)| (j.number(), km)).collect();
            }
            radius *= 1.5;
        }
    };
    (0..city.places() as u32).into_par_iter().map(near).collect()
}

fn links(i: u32, near: &[(u32, f64)]) -> impl Iterator<Item = Link> {
    let others = near.iter().filter(move |&&(j, _)| j != i);
    others.map(move |&(j, km)| Link { i: i.min(j), j: i.max(j), km })
}

fn sort_by_distance(links: &mut [Link]) {
    links.sort_unstable_by(|a, b| a.km.total_cmp(&b.km).then((a.i, a.j).cmp(&(b.i, b.j))));
}

fn farthest(near: &[(u32, f64)]) -> f64 {
    near.iter().fold(0.0, |far, &(_, km)| km.max(far))
}

/// Joins every pair that is still `open`, the nearest first: by way of an arc that was added before, by a
/// path that a search finds, or else by an arc of its own, which those behind it will use. Returns the
/// largest stretch left.
fn complete(
    graph: &mut Graph,
    waypoints: &mut Waypoints,
    mut open: Vec<Link>,
    stretch: f64,
    progress: &dyn Progress,
) -> f64 {
    progress.begin("pairs around holes", open.len() as u64);
    sort_by_distance(&mut open);
    let mut search = Search::new(graph.places());
    let mut worst = 1.0f64;
    for link in open {
        let mut found = waypoints.stretch_across(graph, link);
        if found > stretch
            && let Some(km) = search.path(graph, link, stretch * link.km)
        {
            found = km / link.km;
        }
        if found > stretch {
            graph.add(link);
            waypoints.add_crossing(link);
        } else {
            worst = worst.max(found);
        }
        progress.advance(1);
    }
    progress.end();
    worst
}
