//! The part of the Earth a map covers: everything, a box, or a polygon from GeoJSON.

use std::path::Path;

use lrgeo_geo::{BoundingBox, Coord, EARTH_RADIUS_KM};

use crate::MapError;
use crate::geojson::{self, Shape};

/// Which streets and places belong to the map.
#[derive(Clone, Debug, PartialEq)]
pub enum Region {
    /// All of the source.
    Everything,
    /// Inside a box.
    Box(BoundingBox),
    /// Inside polygons (even-odd rule, so holes are left out).
    Polygon(Polygon),
}

/// Closed rings of coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct Polygon {
    rings: Vec<Vec<Coord>>,
    bounds: BoundingBox,
}

impl Region {
    /// Whether `p` belongs to the region.
    pub fn contains(&self, p: Coord) -> bool {
        match self {
            Region::Everything => true,
            Region::Box(bounds) => bounds.contains(p),
            Region::Polygon(polygon) => polygon.contains(p),
        }
    }

    /// The box around the region; `None` for everything.
    pub fn bounds(&self) -> Option<BoundingBox> {
        match self {
            Region::Everything => None,
            Region::Box(bounds) => Some(*bounds),
            Region::Polygon(polygon) => Some(polygon.bounds),
        }
    }
}

impl Polygon {
    /// Reads a GeoJSON file: every Polygon or MultiPolygon in it, bare, in a Feature or in a collection.
    pub fn read(path: &Path) -> Result<Self, MapError> {
        let areas = geojson::read(path)?.into_iter().filter_map(|feature| match feature.shape {
            Shape::Area(polygon) => Some(polygon.into_rings()),
            _ => None,
        });
        Self::new(areas.flatten().collect()).ok_or_else(|| {
            MapError::file(path, "no Polygon or MultiPolygon in it; only areas can be used")
        })
    }

    /// Of closed rings; none without any.
    pub(crate) fn new(rings: Vec<Vec<Coord>>) -> Option<Self> {
        let bounds = BoundingBox::around(rings.iter().flatten().copied())?;
        Some(Self { rings, bounds })
    }

    /// Its closed rings.
    pub(crate) fn into_rings(self) -> Vec<Vec<Coord>> {
        self.rings
    }

    /// The box around it.
    pub(crate) fn bounds(&self) -> BoundingBox {
        self.bounds
    }

    /// Whether `p` lies in it.
    pub(crate) fn contains(&self, p: Coord) -> bool {
        if !self.bounds.contains(p) {
            return false;
        }
        self.rings.iter().filter(|ring| ring_contains(ring, p)).count() % 2 == 1
    }

    /// Points spread evenly over it, about `step_km` apart; its centre where it is smaller than that.
    ///
    /// Row by row between the sides that the row crosses, so that many corners cost little.
    pub(crate) fn pieces(&self, step_km: f64) -> Vec<Coord> {
        let [south, west, north, east] = self.bounds.to_array();
        let middle = self.bounds.centre().lat().to_radians().cos().max(1e-6);
        let step = (step_km / EARTH_RADIUS_KM).to_degrees();
        // Not more than a few million of them: a larger step then.
        let most = ((north - south) * (east - west) * middle / MOST_PIECES).sqrt();
        let (up, along) = (step.max(most), step.max(most) / middle);
        let mut pieces = Vec::new();
        for row in 0..((north - south) / up).ceil() as u32 {
            let lat = south + (f64::from(row) + 0.5) * up;
            let mut crossed: Vec<f64> =
                self.sides().filter_map(|side| crossing(side, lat)).collect();
            crossed.sort_unstable_by(f64::total_cmp);
            for inside in crossed.chunks_exact(2) {
                let first = ((inside[0] - west) / along - 0.5).ceil();
                let last = ((inside[1] - west) / along - 0.5).ceil();
                let columns = first as u32..last as u32;
                let at = |column: u32| Coord::new(lat, west + (f64::from(column) + 0.5) * along);
                pieces.extend(columns.filter_map(|column| at(column).ok()));
            }
        }
        if pieces.is_empty() {
            pieces.push(self.centroid().unwrap_or(self.bounds.centre()));
        }
        pieces
    }

    fn sides(&self) -> impl Iterator<Item = [Coord; 2]> + '_ {
        self.rings.iter().flat_map(|ring| ring.windows(2)).map(|side| [side[0], side[1]])
    }

    /// Its centre of mass, holes left out; none for an area of no size. Over a city, degrees are as good as a plane.
    ///
    /// Rings may turn either way: each counts with the sign of the even-odd rule, by how many larger ones it lies in.
    pub(crate) fn centroid(&self) -> Option<Coord> {
        // Around a corner of the box: differences of large numbers would lose digits.
        let origin = self.bounds.south_west;
        let moments: Vec<[f64; 3]> = self.rings.iter().map(|ring| moments(ring, origin)).collect();
        let mut sum = [0.0; 3];
        for (ring, own) in self.rings.iter().zip(&moments) {
            let around = |(other, m): (&Vec<Coord>, &[f64; 3])| {
                m[0].abs() > own[0].abs()
                    && inner_point(ring).is_some_and(|p| ring_contains(other, p))
            };
            let depth = self.rings.iter().zip(&moments).filter(|&pair| around(pair)).count();
            let sign = own[0].signum() * if depth % 2 == 0 { 1.0 } else { -1.0 };
            sum.iter_mut().zip(own).for_each(|(sum, own)| *sum += sign * own);
        }
        let [area, north, east] = sum;
        // An area of no size has no centre: the division says so.
        Coord::new(origin.lat() + north / (3.0 * area), origin.lon() + east / (3.0 * area)).ok()
    }
}

/// Twice the area of a ring and six times its first moments, north and east of `origin`; negative if it turns clockwise.
fn moments(ring: &[Coord], origin: Coord) -> [f64; 3] {
    let mut sum = [0.0; 3];
    for side in ring.windows(2) {
        let [ay, ax] = [side[0].lat() - origin.lat(), side[0].lon() - origin.lon()];
        let [by, bx] = [side[1].lat() - origin.lat(), side[1].lon() - origin.lon()];
        let cross = ax * by - bx * ay;
        let parts = [cross, (ay + by) * cross, (ax + bx) * cross];
        sum.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
    }
    sum
}

/// A point inside a ring, away from its corners.
fn inner_point(ring: &[Coord]) -> Option<Coord> {
    let bounds = BoundingBox::around(ring.iter().copied())?;
    let [south, _, north, _] = bounds.to_array();
    let lat = south + 0.4987 * (north - south);
    let mut crossed: Vec<f64> =
        ring.windows(2).filter_map(|side| crossing([side[0], side[1]], lat)).collect();
    crossed.sort_unstable_by(f64::total_cmp);
    let [first, second, ..] = crossed[..] else { return None };
    Coord::new(lat, (first + second) / 2.0).ok()
}

/// Pieces of one area at most.
const MOST_PIECES: f64 = 4e6;

/// The longitude at which a side crosses a latitude, if it does.
fn crossing([a, b]: [Coord; 2], lat: f64) -> Option<f64> {
    let crosses = (a.lat() > lat) != (b.lat() > lat);
    crosses.then(|| (b.lon() - a.lon()) * (lat - a.lat()) / (b.lat() - a.lat()) + a.lon())
}

/// The even-odd rule for one ring.
fn ring_contains(ring: &[Coord], p: Coord) -> bool {
    let sides = ring.windows(2).map(|side| [side[0], side[1]]);
    sides.filter(|side| crossing(*side, p.lat()).is_some_and(|lon| p.lon() < lon)).count() % 2 == 1
}
