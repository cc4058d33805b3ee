//! What a mechanism costs people where they really stand: on streets, not at the centres of cells (`docs/specification.md` section 2).
//!
//! The prior of a place is spread over the streets nearest to it. Somebody at a street point reports from the row of that very coordinate
//! (mechanisms on places take the nearest place first, as phones do), and the service misjudges the way from the street point, not from the
//! place. The adversary guesses a coordinate: the point that minimises the expected distance given the report.

use lrgeo_geo::Coord;
use lrgeo_geo::rng::SplitMix;
use lrgeo_geo::spacing::reach_km;
use lrgeo_map::graph::Metric;
use lrgeo_map::progress::Progress;
use lrgeo_map::travel::{Origin, TravelMatrix};
use lrgeo_mechanism::{Built, City, MechanismError};
use lrgeo_tiles::Distribution;
use rayon::prelude::*;

/// Steps of Weiszfeld's method; the tenth moves a guess by less than a metre.
const STEPS: usize = 12;

/// People at street points, all equally likely: drawn by the prior of their place and the length of its streets.
pub struct People {
    coords: Vec<Coord>,
    /// The way of each to every target, in kilometres, row-major.
    ways: Vec<f64>,
    /// The ways of the places, likewise.
    place_ways: Vec<f64>,
    weights: Vec<f64>,
}

/// What a mechanism is worth to them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Street {
    /// The misjudged way per report, in kilometres.
    pub cost: f64,
    /// How far a Bayesian adversary's best guess of the coordinate is from the truth, on average, in kilometres.
    pub guess_error_km: f64,
    /// The mean distance between people and what they report, in kilometres.
    pub moved_km: f64,
    /// The share of people whom the mechanism refuses: off its map.
    pub refused: f64,
}

/// A piece of street near a place.
struct Piece {
    from: u32,
    to: u32,
    mm: u32,
    /// Whether it may be left at its beginning as well.
    both_ways: bool,
}

impl People {
    /// Draws `count` of them.
    pub fn draw(
        city: &City,
        count: usize,
        seed: u64,
        progress: &dyn Progress,
    ) -> Result<Self, MechanismError> {
        let map = city.map();
        let nodes = map.streets()?.coords();
        let arcs: std::collections::HashSet<(u32, u32)> =
            map.graph.arcs().map(|(from, to, ..)| (from, to)).collect();
        let reach = reach_km(city.spacing_km());
        let mut pieces: Vec<Vec<Piece>> = (0..city.places()).map(|_| Vec::new()).collect();
        for (from, to, mm, _) in map.graph.arcs() {
            let both_ways = arcs.contains(&(to, from));
            if both_ways && from > to {
                continue; // once is enough
            }
            let middle = between(nodes[from as usize], nodes[to as usize], 0.5)?;
            if let Some((place, _)) = city.nearest(middle).filter(|(_, km)| *km <= reach) {
                pieces[place.index()].push(Piece { from, to, mm, both_ways });
            }
        }
        let even = city.prior().iter().all(|p| *p == 0.0);
        let running = |sum: &mut f64, (place, p): (usize, &f64)| {
            *sum += if pieces[place].is_empty() { 0.0 } else { p + f64::from(u8::from(even)) };
            Some(*sum)
        };
        let up_to: Vec<f64> = city.prior().iter().enumerate().scan(0.0, running).collect();
        let total = up_to.last().copied().unwrap_or(0.0);
        if total <= 0.0 {
            return Err(MechanismError::invalid("map", "has no streets near its places"));
        }
        let mut rng = SplitMix::new(seed);
        let (mut coords, mut origins) = (Vec::with_capacity(count), Vec::new());
        for _ in 0..count {
            let chosen = rng.unit() * total;
            let place = up_to.partition_point(|&sum| sum <= chosen).min(up_to.len() - 1);
            let of_place = &pieces[place];
            let length: u64 = of_place.iter().map(|piece| u64::from(piece.mm.max(1))).sum();
            let mut along = (rng.unit() * length as f64) as u64;
            let piece = of_place.iter().find(|piece| {
                let here = along < u64::from(piece.mm.max(1));
                along = along.saturating_sub(u64::from(piece.mm.max(1)));
                here
            });
            let piece = piece.unwrap_or(&of_place[0]);
            let t = rng.unit();
            coords.push(between(nodes[piece.from as usize], nodes[piece.to as usize], t)?);
            let leg = |share: f64| (share * f64::from(piece.mm)) as u32;
            let on = Origin { node: piece.to, leg: leg(1.0 - t) };
            let back = Origin { node: piece.from, leg: leg(t) };
            origins.extend([on, if piece.both_ways { back } else { on }]);
        }
        let matrix = |origins: &[Origin]| {
            let (graph, targets) = (&map.graph, &map.targets);
            TravelMatrix::new(graph, map.travel, Metric::Distance, origins, targets, progress)
        };
        let travel = matrix(&origins)?;
        let km = |mm: &u32| f64::from(*mm) * 1e-6;
        let ways = (0..count).flat_map(|person| {
            let pair = travel.row(2 * person).iter().zip(travel.row(2 * person + 1));
            pair.map(|(on, back)| km(on.min(back))).collect::<Vec<_>>()
        });
        let ways: Vec<f64> = ways.collect();
        let places: Vec<Origin> =
            map.places.iter().map(|p| Origin { node: p.node, leg: p.leg }).collect();
        let place_travel = matrix(&places)?;
        let place_ways = (0..places.len()).flat_map(|k| place_travel.row(k)).map(km).collect();
        Ok(Self { coords, ways, place_ways, weights: travel.weights().to_vec() })
    }

    /// Where they are.
    pub fn coords(&self) -> &[Coord] {
        &self.coords
    }

    /// What each place costs each of them where it is reported, in kilometres: person by person, for what is no mechanism of ours yet.
    pub fn losses(&self) -> Vec<f64> {
        let targets = self.weights.len();
        let places = self.place_ways.len() / targets;
        let person = |ways| (0..places).map(move |k| self.loss(ways, k));
        self.ways.par_chunks_exact(targets).flat_map_iter(person).collect()
    }

    /// How far the ways of somebody are misjudged where place `k` is reported.
    fn loss(&self, ways: &[f64], k: usize) -> f64 {
        let targets = self.weights.len();
        let reported = &self.place_ways[k * targets..(k + 1) * targets];
        let differences = ways.iter().zip(reported).zip(&self.weights);
        differences.map(|((a, b), q)| q * (a - b).abs()).sum()
    }

    /// What a mechanism for their city is worth to them.
    pub fn assess(&self, built: &Built, progress: &dyn Progress) -> Street {
        let targets = self.weights.len();
        progress.begin("people on streets", self.coords.len() as u64);
        let rows: Vec<Option<(Distribution, f64)>> = self
            .coords
            .par_iter()
            .zip(self.ways.par_chunks_exact(targets))
            .map(|(&at, ways)| {
                progress.advance(1);
                let row = built.row_at(at)?;
                let likely = row.iter().enumerate().filter(|(_, z)| **z > 1e-12);
                let cost = likely.map(|(k, z)| z * self.loss(ways, k)).sum();
                Some((row, cost))
            })
            .collect();
        progress.end();
        let known: Vec<(Coord, &Distribution, f64)> = self
            .coords
            .iter()
            .zip(&rows)
            .filter_map(|(&at, row)| row.as_ref().map(|(row, cost)| (at, row, *cost)))
            .collect();
        let n = known.len().max(1) as f64;
        let moved = known.par_iter().map(|(at, row, _)| -> f64 {
            let reports = row.iter().enumerate().filter(|(_, z)| **z > 1e-12);
            reports.map(|(k, z)| z * at.distance_km(built.coords[k])).sum()
        });
        Street {
            cost: known.iter().map(|(.., cost)| cost).sum::<f64>() / n,
            moved_km: moved.sum::<f64>() / n,
            guess_error_km: (0..built.coords.len())
                .into_par_iter()
                .map(|k| missed(&known, k))
                .sum::<f64>()
                / n,
            refused: 1.0 - known.len() as f64 / self.coords.len().max(1) as f64,
        }
    }
}

/// The total distance, over people by how likely they report `k`, from the best guess given `k`: their geometric median.
fn missed(known: &[(Coord, &Distribution, f64)], k: usize) -> f64 {
    let weights: Vec<(Coord, f64)> =
        known.iter().map(|(at, row, _)| (*at, row[k])).filter(|(_, z)| *z > 1e-12).collect();
    let Some(&(origin, _)) = weights.first() else { return 0.0 };
    // Flat around the first of them: over a city that is right to a metre.
    let (north, east) = (111.195, 111.195 * origin.lat().to_radians().cos());
    let points: Vec<([f64; 2], f64)> = weights
        .iter()
        .map(|(at, z)| ([(at.lon() - origin.lon()) * east, (at.lat() - origin.lat()) * north], *z))
        .collect();
    let mean = |weight: &dyn Fn(&[f64; 2], f64) -> f64| {
        let (mut sum, mut total) = ([0.0; 2], 0.0);
        for (point, z) in &points {
            let weight = weight(point, *z);
            sum = [sum[0] + weight * point[0], sum[1] + weight * point[1]];
            total += weight;
        }
        sum.map(|x| x / total)
    };
    let away = |a: &[f64; 2], b: &[f64; 2]| (a[0] - b[0]).hypot(a[1] - b[1]);
    let mut guess = mean(&|_, z| z);
    for _ in 0..STEPS {
        guess = mean(&|point, z| z / away(point, &guess).max(1e-3));
    }
    points.iter().map(|(point, z)| z * away(point, &guess)).sum()
}

fn between(a: Coord, b: Coord, t: f64) -> Result<Coord, MechanismError> {
    Ok(Coord::new(a.lat() + t * (b.lat() - a.lat()), a.lon() + t * (b.lon() - a.lon()))?)
}
