//! A plane to do the geometry in: stereographic, around the middle of the places.
//!
//! For two points with scales k and k', the distance in this projection is exactly
//! `chord * sqrt(k k')`, the chord being the straight line through the Earth. It is therefore at most
//! `kappa d` with kappa the largest scale of any place: no pair has to be looked at to know the
//! distortion. Over a city it is a millionth.

use lrgeo_geo::{Coord, EARTH_RADIUS_KM, Invalid};

/// A point of the plane, in kilometres.
pub type Point = [f64; 2];

/// The projection.
#[derive(Clone, Debug)]
pub struct Plane {
    east: [f64; 3],
    north: [f64; 3],
    centre: [f64; 3],
}

/// How far off a projected place may be, in kilometres: a few roundings of an Earth radius.
pub const POSITION_ERROR_KM: f64 = 4e-12;

/// Places that reach farther around the Earth than this scale (2,800 km from the middle) are too far
/// apart for one plane.
const LARGEST_SCALE: f64 = 1.05;

impl Plane {
    /// Around the middle of `places`, and the distortion kappa: no distance between two of them is
    /// longer in the plane than kappa times the haversine.
    pub fn around(places: &[Coord]) -> Result<(Self, f64), Invalid> {
        let sum = places.iter().map(|&c| c.on_sphere()).fold([0.0; 3], |a, b| add(a, b, 1.0));
        let length = dot(sum, sum).sqrt();
        let plane = Self::with_centre(sum.map(|x| x / length));
        let scale = |&place: &Coord| 2.0 / (1.0 + dot(place.on_sphere(), plane.centre));
        let kappa = places.iter().map(scale).fold(1.0, f64::max);
        if length == 0.0 || places.is_empty() || !(1.0..=LARGEST_SCALE).contains(&kappa) {
            let reason = "must be some places within 2,800 km of their middle".into();
            return Err(Invalid { field: "places", reason });
        }
        Ok((plane, kappa * (1.0 + 1e-12)))
    }

    /// Around a coordinate.
    pub fn at(centre: Coord) -> Self {
        Self::with_centre(centre.on_sphere())
    }

    fn with_centre(centre: [f64; 3]) -> Self {
        // East is at right angles to the axis, except at the poles, where any direction will do.
        let axis = if centre[2].abs() < 0.99 { [0.0, 0.0, 1.0] } else { [1.0, 0.0, 0.0] };
        let east = cross(axis, centre);
        let east = east.map(|x| x / dot(east, east).sqrt());
        Self { east, north: cross(centre, east), centre }
    }

    /// Where a coordinate is in the plane.
    pub fn project(&self, coord: Coord) -> Point {
        let v = coord.on_sphere();
        let scale = 2.0 * EARTH_RADIUS_KM / (1.0 + dot(v, self.centre));
        [scale * dot(v, self.east), scale * dot(v, self.north)]
    }

    /// The coordinate at a point of the plane, all of which is on the Earth.
    pub fn coord_at(&self, [x, y]: Point) -> Result<Coord, Invalid> {
        // With t = tan(c/2), c the angle from the centre: sin c = 2t/(1+t^2), cos c = (1-t^2)/(1+t^2).
        let (x, y) = (x / (2.0 * EARTH_RADIUS_KM), y / (2.0 * EARTH_RADIUS_KM));
        let t2 = x * x + y * y;
        let sideways = add(self.east.map(|e| 2.0 * x * e), self.north, 2.0 * y);
        let v = add(sideways, self.centre, 1.0 - t2).map(|a| a / (1.0 + t2));
        let coord = Coord::new(v[2].clamp(-1.0, 1.0).asin().to_degrees(), longitude(v));
        coord.map_err(|error| Invalid { field: "point", reason: error.to_string() })
    }
}

fn longitude(v: [f64; 3]) -> f64 {
    v[1].atan2(v[0]).to_degrees().clamp(-180.0, 180.0)
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn add(a: [f64; 3], b: [f64; 3], times: f64) -> [f64; 3] {
    [a[0] + times * b[0], a[1] + times * b[1], a[2] + times * b[2]]
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use lrgeo_geo::rng::SplitMix;

    fn around(lat: f64, lon: f64, spread: f64) -> Vec<Coord> {
        let mut rng = SplitMix::new(5);
        let middle = Coord::new(lat, lon).unwrap();
        let mut offset = || rng.between(-spread, spread);
        (0..60).map(|_| middle.offset_km(offset(), offset())).collect()
    }

    #[test]
    fn no_distance_is_longer_than_kappa_times_the_haversine_and_few_are_much_shorter() {
        for (lat, lon, spread) in
            [(41.9, 12.5, 10.0), (-17.0, 179.99, 50.0), (89.95, 0.0, 4.0), (0.0, 0.0, 600.0)]
        {
            let places = around(lat, lon, spread);
            let (plane, kappa) = Plane::around(&places).unwrap();
            assert!(kappa < 1.0 + (spread / 4000.0).powi(2), "{kappa}");
            for &a in &places {
                for &b in &places {
                    let ([ax, ay], [bx, by]) = (plane.project(a), plane.project(b));
                    let (flat, d) = ((ax - bx).hypot(ay - by), a.distance_km(b));
                    assert!(flat <= kappa * d + 2.0 * POSITION_ERROR_KM, "{flat} > {kappa} {d}");
                    assert!(flat >= d / kappa.powi(2) - 1e-9, "{flat} < {d}");
                }
                let back = plane.coord_at(plane.project(a)).unwrap();
                assert!(back.distance_km(a) < 1e-6);
            }
        }
    }

    #[test]
    fn half_the_earth_is_refused() {
        let far = [Coord::new(0.0, 0.0).unwrap(), Coord::new(0.0, 100.0).unwrap()];
        assert!(Plane::around(&far).is_err() && Plane::around(&[]).is_err());
        let antipodes = [Coord::new(90.0, 0.0).unwrap(), Coord::new(-90.0, 0.0).unwrap()];
        assert!(Plane::around(&antipodes).is_err());
    }
}
