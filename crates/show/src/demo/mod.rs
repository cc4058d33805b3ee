//! A city that exists nowhere, generated from a seed: enough of a real one to try everything on.
//!
//! It lies in the open Atlantic around 46 N, 30 W: no real person's streets, and a latitude at which a
//! degree of longitude is clearly shorter than one of latitude, so that confusing them shows. It is about
//! 10 km across and has a winding river with a handful of bridges, an old centre of narrow one-way
//! streets inside a boulevard, an avenue halfway out, a ring road with two one-way carriageways,
//! arterials, residential quarters whose grids each follow their own direction, suburbs, villages,
//! parks, a railway that only main streets cross, and an airfield.
//!
//! The same seed gives the same city to the last bit on every platform; `plane.rs` says how.
//!
//! | file | idea |
//! |---|---|
//! | `random.rs` | chance and smooth noise |
//! | `plane.rs` | geometry in metres |
//! | `river.rs` | the river |
//! | `roads.rs` | how the main roads run |
//! | `layout.rs` | main streets, and the quarters between them |
//! | `centre.rs` | the old centre |
//! | `quarters.rs` | a bent grid of small streets |
//! | `suburbs.rs` | everything outside the old centre |
//! | `network.rs` | from drawn lines to nodes and links |
//! | `demand.rs` | where people are and where they go |

mod centre;
mod demand;
mod layout;
mod network;
mod plane;
mod quarters;
mod random;
mod river;
mod roads;
mod suburbs;
#[cfg(test)]
mod tests;

pub use demand::{Demand, Target};
use lrgeo_geo::Coord;
use lrgeo_geo::units::Length;

use crate::draw::Scenery;
use centre::OldTown;
use layout::Layout;
use lrgeo_map::MapError;
use lrgeo_map::build::{MapPlan, PlacePlan, PriorPlan, TargetPlan, Weights, build};
use lrgeo_map::map::{Map, Source, TravelMode};
use lrgeo_map::region::Region;
use lrgeo_map::streets::Streets;
use network::Network;
use plane::Point;
use random::Chance;
use suburbs::Outside;

/// The generated city.
#[derive(Clone, Debug)]
pub struct DemoCity {
    /// Its streets: strongly connected, a two-way street as two arcs.
    pub streets: Streets,
    /// Node pairs of the streets that cross the river.
    pub bridges: Vec<[u32; 2]>,
    /// Where people are and where they go.
    pub demand: Demand,
    /// River, parks, squares and railway, for drawing.
    pub scenery: Scenery,
}

/// Generates the city of this seed.
pub fn demo_city(seed: u64) -> DemoCity {
    let layout = Layout::new(seed);
    let old_town = OldTown::new(seed, &layout.old_quarters);
    let outside = Outside::new(seed, &layout);
    let strokes = [layout.strokes.as_slice(), &old_town.strokes, &outside.strokes].concat();
    let network = Network::new(&strokes, &layout.river);
    let frame = Frame::new(seed);

    let outline = |points: &[Point]| points.iter().map(|&p| frame.coord(p)).collect::<Vec<_>>();
    let outlines =
        |all: &[Vec<Point>]| all.iter().map(|points| outline(points)).collect::<Vec<_>>();
    let sites = [
        Point::new(60.0, 180.0),
        Point::new(-330.0, 60.0),
        Point::new(250.0, 420.0),
        Point::new(-60.0, -560.0),
    ];
    let mut greens = outlines(&layout.parks);
    greens.extend(outlines(&layout.woods));
    let mut built_up = vec![outline(&layout.built_up)];
    built_up.extend(outlines(&outside.outlines));
    let scenery = Scenery {
        built_up,
        water: vec![outline(&layout.river.water)],
        greens,
        squares: outlines(&centre::squares(&old_town.blocks, &sites)),
        grounds: outlines(&layout.airfield[..1]),
        runways: outlines(&layout.airfield[1..]),
        railways: vec![outline(&layout.railway)],
    };

    let mut streets = Streets { nodes: outline(&network.nodes), arcs: Vec::new() };
    for link in &network.links {
        let length_km = Frame::street_km(link.length);
        streets.add(link.from, link.to, length_km, link.class.speed_kmh(), link.one_way);
    }
    let bridges = network.links.iter().filter(|l| l.bridge).map(|l| [l.from, l.to]).collect();
    let demand = Demand::new(frame, layout, &outside, &network);
    DemoCity { streets, bridges, demand, scenery }
}

/// How the plane of the plan lies on the Earth: where, and turned by how much.
#[derive(Clone, Copy, Debug)]
struct Frame {
    turn: Point,
}

impl Frame {
    const LAT: f64 = 46.0;
    const LON: f64 = -30.0;
    /// Metres per degree of latitude on a sphere of 6371.0088 km.
    const METRES_LAT: f64 = 111_195.080_233_532_92;
    /// Metres per degree of longitude at 46 degrees: the same times the cosine, as a literal so that it
    /// is one number everywhere.
    const METRES_LON: f64 = 77_242.593_238_083_43;

    /// The city's own orientation: up to about 20 degrees off the compass.
    fn new(seed: u64) -> Self {
        Self { turn: Point::direction(Chance::new(seed, "frame").between(-0.045, 0.045)) }
    }

    /// Rounded to a millionth of a degree, about 0.1 m, as map data usually is.
    fn coord(self, p: Point) -> Coord {
        let p = p.turned(self.turn);
        let round = |degrees: f64| (degrees * 1e6).round() / 1e6;
        let (lat, lon) = (Self::LAT + p.y / Self::METRES_LAT, Self::LON + p.x / Self::METRES_LON);
        Coord::new(round(lat), round(lon)).expect("within 0.2 degrees of 46 N, 30 W")
    }

    fn point(self, at: Coord) -> Point {
        let back = Point::new(self.turn.x, -self.turn.y);
        let (north, east) = (at.lat() - Self::LAT, at.lon() - Self::LON);
        Point::new(east * Self::METRES_LON, north * Self::METRES_LAT).turned(back)
    }

    /// Length along a street in kilometres.
    ///
    /// Streets are never quite straight: 0.3 % longer than drawn and rounded up to whole decimetres.
    /// This also keeps every length above the haversine distance, which on this map differs from the
    /// plane's by at most 0.1 %, and by 0.2 m from rounding coordinates.
    fn street_km(metres: f64) -> f64 {
        ((metres * 1.003 + 0.2) * 10.0).ceil() / 10_000.0
    }
}

/// The demo city as a map with square cells as places, with the demand that comes with it: what
/// `lrgeo map build --demo` makes.
pub fn demo_map(seed: u64, cell: Length) -> Result<Map, MapError> {
    let DemoCity { streets, demand, .. } = demo_city(seed);
    let targets = demand.targets.iter().map(|target| (target.at, target.weight)).collect();
    let plan = MapPlan {
        source: Source::Demo(seed),
        travel: TravelMode::Drive,
        region: Region::Everything,
        places: PlacePlan::Grid(cell),
        snap: None,
        prior: PriorPlan::Density(Box::new(move |at| demand.weight(at))),
        targets: TargetPlan::Weights(Weights::At(targets)),
    };
    Ok(build(streets, plan)?.0)
}
