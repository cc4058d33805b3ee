//! People who move along streets: at a speed, at every crossing any way but back.

use lrgeo_geo::rng::SplitMix;
use lrgeo_geo::{Coord, PlaceId};
use lrgeo_map::map::Map;
use lrgeo_mechanism::Geography;
use rayon::prelude::*;

/// Kilometres per degree of latitude.
const KM_PER_DEGREE: f64 = lrgeo_geo::EARTH_RADIUS_KM * std::f64::consts::PI / 180.0;
/// People go so much slower or faster than they do on average.
const UNEVEN: f64 = 0.2;

/// Streets in a plane, for the small distances of a walk.
pub struct Streets {
    origin: Coord,
    east_km: f64,
    nodes: Vec<[f64; 2]>,
    ways: Vec<Vec<u32>>,
    /// The street nodes around each place.
    around: Vec<Vec<u32>>,
    raster: Raster,
}

/// The nearest place by small squares: quick, and wrong by less than a square at borders.
struct Raster {
    corner: [f64; 2],
    side_km: f64,
    wide: usize,
    places: Vec<PlaceId>,
}

/// About what a fix is off by.
const SQUARE_KM: f64 = 0.02;
/// Squares along one side of a map at most.
const MOST_SQUARES: f64 = 1_000.0;

/// Somebody on a street: a share of the way from one node to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mover {
    from: u32,
    to: u32,
    along_km: f64,
}

impl Streets {
    /// Of a map. A place without a street node of its own has the nearest one.
    pub fn new(map: &Map, places: &Geography) -> Self {
        let coords = map.graph.coords();
        let origin = places.coords()[0];
        let east_km = KM_PER_DEGREE * origin.lat().to_radians().cos();
        let mut ways = vec![Vec::new(); coords.len()];
        map.graph.arcs().for_each(|(from, to, ..)| ways[from as usize].push(to));
        let mut around = vec![Vec::new(); places.places()];
        for (node, at) in coords.iter().enumerate() {
            // Who starts where no way leads on would stay there.
            if let Some((place, _)) = places.nearest(*at)
                && !ways[node].is_empty()
            {
                around[place.index()].push(node as u32);
            }
        }
        let index = lrgeo_geo::index::SpatialIndex::new(coords);
        for (place, nodes) in around.iter_mut().enumerate().filter(|(_, nodes)| nodes.is_empty()) {
            nodes.extend(index.nearest(places.coords()[place]).map(|(node, _)| node));
        }
        let raster =
            Raster { corner: [0.0; 2], side_km: 1.0, wide: 1, places: vec![PlaceId::default()] };
        let mut streets = Self { origin, east_km, nodes: Vec::new(), ways, around, raster };
        streets.nodes = coords.iter().map(|&at| streets.plane(at)).collect();
        streets.raster = streets.rasterise(places);
        streets
    }

    fn rasterise(&self, places: &Geography) -> Raster {
        let along = |axis: usize| self.nodes.iter().map(move |at| at[axis]);
        let low = |axis| along(axis).fold(f64::INFINITY, f64::min);
        let extent = |axis| along(axis).fold(f64::NEG_INFINITY, f64::max) - low(axis);
        let corner = [low(0), low(1)];
        let side_km = SQUARE_KM.max(extent(0).max(extent(1)) / MOST_SQUARES);
        let squares = |axis| (extent(axis) / side_km) as usize + 1;
        let (wide, high) = (squares(0), squares(1));
        let place = |n: usize| {
            let middle = |axis: usize, n: usize| corner[axis] + side_km * (n as f64 + 0.5);
            let at = self.coord([middle(0, n % wide), middle(1, n / wide)]);
            places.nearest(at).map_or(PlaceId::default(), |(place, _)| place)
        };
        Raster {
            corner,
            side_km,
            wide,
            places: (0..wide * high).into_par_iter().map(place).collect(),
        }
    }

    /// The place around somebody on a street.
    pub fn place(&self, at: [f64; 2]) -> PlaceId {
        let Raster { corner, side_km, wide, places } = &self.raster;
        let square = |axis: usize| ((at[axis] - corner[axis]) / side_km).max(0.0) as usize;
        let n = square(1) * wide + square(0).min(wide - 1);
        places[n.min(places.len() - 1)]
    }

    /// Kilometres east and north.
    pub fn plane(&self, at: Coord) -> [f64; 2] {
        let north = (at.lat() - self.origin.lat()) * KM_PER_DEGREE;
        [(at.lon() - self.origin.lon()) * self.east_km, north]
    }

    /// Back to degrees.
    pub fn coord(&self, [east, north]: [f64; 2]) -> Coord {
        let (lat, lon) =
            (self.origin.lat() + north / KM_PER_DEGREE, self.origin.lon() + east / self.east_km);
        Coord::new(lat, lon).unwrap_or(self.origin)
    }

    /// Somebody at a street node of a place.
    pub fn start(&self, place: PlaceId, random: &mut SplitMix) -> Mover {
        let nodes = &self.around[place.index()];
        let from = nodes[random.below(nodes.len())];
        Mover { from, to: self.onward(from, from, random), along_km: 0.0 }
    }

    /// Any way but back, where there is another.
    fn onward(&self, came_from: u32, at: u32, random: &mut SplitMix) -> u32 {
        let ways = &self.ways[at as usize];
        let others = ways.iter().filter(|&&to| to != came_from).count();
        match others {
            0 => ways.first().copied().unwrap_or(at),
            n => {
                let pick = random.below(n);
                ways.iter().copied().filter(|&to| to != came_from).nth(pick).unwrap_or(at)
            }
        }
    }

    /// Goes on for about `km`.
    pub fn advance(&self, mover: &mut Mover, km: f64, random: &mut SplitMix) {
        let mut left = km * random.between(1.0 - UNEVEN, 1.0 + UNEVEN);
        // Streets may have nodes at one spot; nobody passes more of them than this in one step.
        for _ in 0..1_000 {
            let rest = self.length(mover) - mover.along_km;
            if left < rest {
                mover.along_km += left;
                return;
            }
            left -= rest;
            let to = self.onward(mover.from, mover.to, random);
            *mover = Mover { from: mover.to, to, along_km: 0.0 };
            if mover.from == mover.to {
                return;
            }
        }
    }

    fn length(&self, mover: &Mover) -> f64 {
        distance(self.nodes[mover.from as usize], self.nodes[mover.to as usize])
    }

    /// Where somebody is, in the plane.
    pub fn at(&self, mover: &Mover) -> [f64; 2] {
        let (a, b) = (self.nodes[mover.from as usize], self.nodes[mover.to as usize]);
        let length = distance(a, b);
        let share = if length > 0.0 { (mover.along_km / length).min(1.0) } else { 0.0 };
        [a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])]
    }
}

/// In the plane.
pub fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}
