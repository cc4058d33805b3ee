//! Where people are, and where they want to go.

use lrgeo_geo::Coord;

use super::Frame;
use super::layout::{EDGE, Layout};
use super::network::Network;
use super::plane::Point;
use super::suburbs::Outside;

/// A place people travel to.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// What it is called.
    pub name: &'static str,
    /// Where it is: at a street node.
    pub at: Coord,
    /// The street node, as an index into the city's streets.
    pub node: u32,
    /// Its share of all trips; the shares add up to one.
    pub weight: f64,
}

/// A smooth hill of people around a point.
#[derive(Clone, Copy, Debug)]
struct Hill {
    top: Point,
    height: f64,
    radius: f64,
}

impl Hill {
    /// Falls to a quarter of its height at its radius and vanishes far away; no exponential needed.
    fn at(&self, p: Point) -> f64 {
        let spread = p.distance(self.top) / self.radius;
        let fall = 1.0 + spread * spread;
        self.height / (fall * fall)
    }
}

/// The demand of the demo city.
#[derive(Clone, Debug)]
pub struct Demand {
    /// About thirty places people travel to.
    pub targets: Vec<Target>,
    hills: Vec<Hill>,
    layout: Layout,
    frame: Frame,
}

impl Demand {
    pub(super) fn new(frame: Frame, layout: Layout, outside: &Outside, network: &Network) -> Self {
        let targets = targets(frame, &layout, outside, network);
        let hill = |top: Point, height: f64, radius: f64| Hill { top, height, radius };
        let mut hills = vec![
            hill(Point::new(0.0, 120.0), 9000.0, 900.0),
            hill(Point::new(0.0, 0.0), 3200.0, 2400.0),
            hill(layout.railway[0], 4000.0, 350.0),
        ];
        // A sub-centre where each second arterial passes the avenue.
        for road in layout.arterials.iter().step_by(2) {
            hills.extend(
                road.iter().find(|p| p.length() > 1900.0).map(|&top| hill(top, 4500.0, 420.0)),
            );
        }
        hills.extend(outside.suburbs.iter().map(|&(top, radius)| hill(top, 1500.0, radius * 0.8)));
        hills.extend(outside.villages.iter().map(|&(top, radius)| hill(top, 900.0, radius)));
        Self { targets, hills, layout, frame }
    }

    /// How many people a square kilometre at `at` holds: the weight of a place there, up to scale.
    ///
    /// Zero on water, in parks and woods, on the airfield and outside the city.
    pub fn weight(&self, at: Coord) -> f64 {
        let p = self.frame.point(at);
        if p.length() > EDGE + 300.0 || !self.layout.buildable(p) {
            return 0.0;
        }
        self.hills.iter().map(|hill| hill.at(p)).sum::<f64>() + 20.0
    }
}

/// Names, wishes and shares of trips, moved to the nearest street node that is still free.
fn targets(frame: Frame, layout: &Layout, outside: &Outside, network: &Network) -> Vec<Target> {
    let around = |turn: f64, radius: f64| Point::direction(turn) * radius;
    let on_road = |road: usize, radius: f64| {
        let points = &layout.arterials[road];
        points.iter().copied().find(|p| p.length() > radius).unwrap_or(points[0])
    };
    let mut wishes = vec![
        ("Central Station", layout.railway[0], 14.0),
        ("Market Square", Point::new(20.0, 150.0), 9.0),
        ("City Hall", Point::new(-140.0, 260.0), 5.0),
        ("Cathedral", Point::new(-260.0, 40.0), 3.0),
        ("Opera", around(0.2, 640.0), 3.0),
        ("City Library", Point::new(260.0, 250.0), 3.0),
        ("Old Bridge Quay", Point::new(10.0, -190.0), 3.0),
        ("Museum Quay", Point::new(-420.0, -180.0), 2.0),
        ("University", around(0.4, 1150.0), 9.0),
        ("Polytechnic", around(0.7, 1350.0), 5.0),
        ("City Hospital", around(0.08, 1350.0), 8.0),
        ("Children's Hospital", around(0.82, 2200.0), 4.0),
        ("Stadium", around(0.56, 2500.0), 4.0),
        ("Exhibition Grounds", around(0.97, 2500.0), 3.0),
        ("Court House", around(0.16, 1000.0), 2.0),
        ("North Mall", on_road(2, 3000.0), 7.0),
        ("East Mall", on_road(0, 3000.0), 6.0),
        ("South Mall", on_road(6, 3000.0), 6.0),
        ("West Market", on_road(4, 1900.0), 4.0),
        ("Zoo and Park", layout.parks.first().map_or(around(0.1, 2400.0), |park| park[0]), 3.0),
        ("Railway Works", outside.works.0, 6.0),
        ("Airport", layout.airfield[0][3], 7.0),
        ("Bus Depot", around(0.3, 2300.0), 2.0),
        ("Grammar School", around(0.45, 2000.0), 2.0),
    ];
    const SUBURBS: [&str; 8] = [
        "Eastgate",
        "Linden Hill",
        "Northfield",
        "Quarry End",
        "Westmoor",
        "Millbrook",
        "Southbank",
        "Harrow Flats",
    ];
    const VILLAGES: [&str; 4] = ["Fennwick", "Oldmere", "Thornby", "Saltley"];
    wishes.extend(
        SUBURBS.into_iter().zip(&outside.suburbs).map(|(name, &(site, _))| (name, site, 2.0)),
    );
    wishes.extend(
        VILLAGES.into_iter().zip(&outside.villages).map(|(name, &(site, _))| (name, site, 0.7)),
    );
    let total: f64 = wishes.iter().map(|w| w.2).sum();
    let mut taken: Vec<u32> = Vec::new();
    for (_, wish, _) in &wishes {
        let free = (0..network.nodes.len() as u32).filter(|k| !taken.contains(k));
        let distance = |k: &u32| network.nodes[*k as usize].distance(*wish);
        taken.extend(free.min_by(|a, b| distance(a).total_cmp(&distance(b))));
    }
    let place = |(&(name, _, trips), &node): (&(&'static str, Point, f64), &u32)| Target {
        name,
        at: frame.coord(network.nodes[node as usize]),
        node,
        weight: trips / total,
    };
    wishes.iter().zip(&taken).map(place).collect()
}
