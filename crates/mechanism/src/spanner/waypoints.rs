//! That paths are straight, proven without searching them.
//!
//! If some place w has `D_iw + s d_wj <= s d_ij`, and `D_wj <= s d_wj`, then `D_ij <= s d_ij`: and w is nearer
//! to j than i is. So by induction over distances it is enough that every pair, from one of its ends,
//! has such a *waypoint* among the places near that end. Where arcs leave in every direction there is
//! one for each j, however far: what a pair costs is two distances and not a search. Only pairs that look at
//! each other across holes have none.

use std::f64::consts::{PI, TAU};

use lrgeo_geo::parallel::*;
use lrgeo_map::progress::Progress;

use super::Link;
use super::graph::{Graph, Search};

/// Directions for which each place has its best waypoint at hand.
const DIRECTIONS: usize = 128;

/// A place near another, and the path between them.
#[derive(Clone, Copy)]
struct Waypoint {
    place: u32,
    km: f64,
}

/// What one place knows of those near it.
struct Surroundings {
    /// By path distance; the place itself first.
    ball: Vec<Waypoint>,
    /// The best waypoint in every direction, as an index into the ball.
    towards: [u16; DIRECTIONS],
    /// The other ends of arcs across holes.
    crossings: Vec<Waypoint>,
}

/// The surroundings of every place.
pub struct Waypoints {
    of: Vec<Surroundings>,
}

/// What waypoints prove.
pub struct Proof {
    /// The largest stretch among the pairs that are proven.
    pub worst: f64,
    /// The pairs that are not.
    pub open: Vec<Link>,
}

impl Waypoints {
    /// Looks as far from each place as paths of the given stretch may be to the places within its reach.
    pub fn new(graph: &Graph, reach_km: &[f64], stretch: f64) -> Self {
        let compass: Vec<(f64, f64)> = (0..DIRECTIONS).map(|d| middle(d).sin_cos()).collect();
        let of = reach_km.par_iter().enumerate().map_init(
            || Search::new(graph.places()),
            |search, (i, reach_km)| {
                let ball = search.ball(graph, i as u32, stretch * reach_km);
                Surroundings::new(graph, i as u32, ball, &compass)
            },
        );
        Self { of: of.collect() }
    }

    /// Looks at every pair of places.
    pub fn prove(&self, graph: &Graph, stretch: f64, progress: &dyn Progress) -> Proof {
        progress.begin("stretch of every pair", self.of.len() as u64);
        let proof = (0..self.of.len() as u32)
            .into_par_iter()
            .map_init(
                || vec![f64::INFINITY; self.of.len()],
                |path, i| {
                    let ball = &self.of[i as usize].ball;
                    ball.iter().for_each(|w| path[w.place as usize] = w.km);
                    let mut proof = Proof { worst: 1.0, open: Vec::new() };
                    for j in i + 1..self.of.len() as u32 {
                        let km = graph.straight_km(i, j);
                        let link = Link { i, j, km };
                        let found = match path[j as usize] <= stretch * km {
                            true if km == 0.0 => 1.0,
                            true => path[j as usize] / km,
                            false => self.stretch(graph, link, stretch),
                        };
                        if found <= stretch {
                            proof.worst = proof.worst.max(found);
                        } else {
                            proof.open.push(link);
                        }
                    }
                    ball.iter().for_each(|w| path[w.place as usize] = f64::INFINITY);
                    progress.advance(1);
                    proof
                },
            )
            .reduce(|| Proof { worst: 1.0, open: Vec::new() }, Proof::merge);
        progress.end();
        proof
    }

    /// The stretch of a pair that some waypoint proves: the best in its direction from either end, or
    /// any of them where those allow more than `enough`.
    fn stretch(&self, graph: &Graph, link: Link, enough: f64) -> f64 {
        let Link { i, j, km } = link;
        let mut least = f64::INFINITY;
        for (from, to) in [(i, j), (j, i)] {
            let near = &self.of[from as usize];
            let best = near.ball[near.towards[direction(graph.offset(from, to))] as usize];
            least = least.min(best.stretch(graph, to, km));
            if least <= enough {
                return least;
            }
        }
        let all = [(i, j), (j, i)].into_iter().flat_map(|(from, to)| {
            self.of[from as usize].ball.iter().map(move |w| w.stretch(graph, to, km))
        });
        all.fold(least, f64::min)
    }

    /// The stretch of a pair that the arcs across holes prove: each is a waypoint for whoever is near one of its
    /// ends.
    pub fn stretch_across(&self, graph: &Graph, link: Link) -> f64 {
        let Link { i, j, km } = link;
        let from_both = [(i, j), (j, i)].into_iter().flat_map(|(from, to)| {
            self.of[from as usize].ball.iter().flat_map(move |near| {
                let crossings = self.of[near.place as usize].crossings.iter();
                crossings.map(move |far| {
                    let waypoint = Waypoint { place: far.place, km: near.km + far.km };
                    waypoint.stretch(graph, to, km)
                })
            })
        });
        from_both.fold(f64::INFINITY, f64::min)
    }

    /// Takes note of an arc across a hole.
    pub fn add_crossing(&mut self, link: Link) {
        let Link { i, j, km } = link;
        self.of[i as usize].crossings.push(Waypoint { place: j, km });
        self.of[j as usize].crossings.push(Waypoint { place: i, km });
    }
}

impl Waypoint {
    /// What this waypoint proves of the pair of its place and `to`, `km` apart.
    fn stretch(self, graph: &Graph, to: u32, km: f64) -> f64 {
        let nearer = km - graph.straight_km(self.place, to);
        if nearer > 0.0 { self.km / nearer } else { f64::INFINITY }
    }
}

impl Surroundings {
    fn new(graph: &Graph, place: u32, ball: Vec<(u32, f64)>, compass: &[(f64, f64)]) -> Self {
        // How far each waypoint leads in every direction, for each kilometre of its path.
        let mut towards = [0; DIRECTIONS];
        let mut furthest = [0.0; DIRECTIONS];
        for (at, &(w, km)) in ball.iter().enumerate().take(usize::from(u16::MAX)).skip(1) {
            let (north, east) = graph.offset(place, w);
            for (direction, (sin, cos)) in compass.iter().enumerate() {
                let leads = (north * sin + east * cos) / km;
                // Shorter ones come first and are kept: they miss less of what is near.
                if leads > furthest[direction] * (1.0 + 1e-9) {
                    (furthest[direction], towards[direction]) = (leads, at as u16);
                }
            }
        }
        let ball = ball.into_iter().map(|(place, km)| Waypoint { place, km }).collect();
        Self { ball, towards, crossings: Vec::new() }
    }
}

/// The angle in the middle of a direction, from east.
fn middle(direction: usize) -> f64 {
    (direction as f64 + 0.5) / DIRECTIONS as f64 * TAU - PI
}

/// The direction in which an offset leads.
fn direction((north, east): (f64, f64)) -> usize {
    ((north.atan2(east) + PI) / TAU * DIRECTIONS as f64) as usize % DIRECTIONS
}

impl Proof {
    fn merge(mut self, mut other: Self) -> Self {
        self.open.append(&mut other.open);
        Self { worst: self.worst.max(other.worst), open: self.open }
    }
}
