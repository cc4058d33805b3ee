//! Points on the Earth, boxes around them, and the distance between them.

use crate::Invalid;

/// Mean Earth radius in kilometres (IUGG); `docs/specification.md` section 1.
pub const EARTH_RADIUS_KM: f64 = 6371.0088;

/// A step of coordinates as phones, OpenStreetMap and most protocols write them: seven decimals of a degree, a centimetre.
pub const STEP_DEGREES: f64 = 1e-7;
const STEPS_PER_DEGREE: f64 = 1e7;

/// A WGS84 coordinate in degrees. Always finite and in range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coord {
    lat: f64,
    lon: f64,
}

impl Coord {
    /// A coordinate, if `lat` is within ±90 and `lon` within ±180 degrees.
    pub fn new(lat: f64, lon: f64) -> Result<Self, Invalid> {
        if !(lat.is_finite() && lat.abs() <= 90.0) {
            return Err(Invalid::new("lat", "must be between -90 and 90 degrees"));
        }
        if !(lon.is_finite() && lon.abs() <= 180.0) {
            return Err(Invalid::new("lon", "must be between -180 and 180 degrees"));
        }
        Ok(Self { lat, lon })
    }

    /// Latitude in degrees.
    pub fn lat(self) -> f64 {
        self.lat
    }

    /// Longitude in degrees.
    pub fn lon(self) -> f64 {
        self.lon
    }

    /// The nearest coordinate in whole steps of [`STEP_DEGREES`]: as fine as phones and maps write them down.
    pub fn rounded(self) -> Coord {
        let round = |degrees: f64| (degrees * STEPS_PER_DEGREE).round() / STEPS_PER_DEGREE;
        Self { lat: round(self.lat), lon: round(self.lon) }
    }

    /// Haversine distance in kilometres: the `d` of Geo-Ind (Def. 2.1).
    pub fn distance_km(self, other: Coord) -> f64 {
        self.located().distance_km(other.located())
    }

    /// The point of the unit sphere that it is.
    pub fn on_sphere(self) -> [f64; 3] {
        let (lat, lon) = (self.lat.to_radians(), self.lon.to_radians());
        [lat.cos() * lon.cos(), lat.cos() * lon.sin(), lat.sin()]
    }

    /// The coordinate made ready for many distances.
    pub fn located(self) -> Located {
        let lat = self.lat.to_radians();
        Located { lat, lon: self.lon, cos_lat: lat.cos() }
    }

    /// The point `north_km` and `east_km` away, on the local tangent plane.
    ///
    /// Latitude is clamped and longitude wrapped, so the result is always valid.
    pub fn offset_km(self, north_km: f64, east_km: f64) -> Coord {
        let lat = (self.lat + (north_km / EARTH_RADIUS_KM).to_degrees()).clamp(-90.0, 90.0);
        let shrink = self.lat.to_radians().cos().max(1e-9);
        let lon = self.lon + (east_km / (EARTH_RADIUS_KM * shrink)).to_degrees();
        Coord { lat, lon: (lon + 180.0).rem_euclid(360.0) - 180.0 }
    }
}

/// A coordinate with what all distances from it share.
#[derive(Clone, Copy, Debug)]
pub struct Located {
    /// In radians.
    lat: f64,
    /// In degrees.
    lon: f64,
    cos_lat: f64,
}

impl Located {
    /// See [`Coord::distance_km`]: the same number.
    #[inline]
    pub fn distance_km(self, other: Located) -> f64 {
        let half_lat = sine((other.lat - self.lat) / 2.0);
        let half_lon = sine((other.lon - self.lon).to_radians() / 2.0);
        let h = half_lat * half_lat + self.cos_lat * other.cos_lat * half_lon * half_lon;
        2.0 * EARTH_RADIUS_KM * arc_sine(h.sqrt().min(1.0))
    }
}

/// Angles within a city are small: up to here (250 km) a few terms of the series give every bit, several
/// times faster than the general functions.
const SMALL: f64 = 0.02;

#[inline]
fn sine(x: f64) -> f64 {
    if x.abs() > SMALL {
        return x.sin();
    }
    let s = x * x;
    x - x * s * (1.0 / 6.0 - s * (1.0 / 120.0 - s * (1.0 / 5040.0 - s * (1.0 / 362_880.0))))
}

#[inline]
fn arc_sine(x: f64) -> f64 {
    if x > SMALL {
        return x.asin();
    }
    let s = x * x;
    x + x * s * (1.0 / 6.0 + s * (3.0 / 40.0 + s * (15.0 / 336.0 + s * (105.0 / 3456.0))))
}

/// South, west, north, east in degrees; never empty, never across the antimeridian.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundingBox {
    /// South-west corner.
    pub south_west: Coord,
    /// North-east corner.
    pub north_east: Coord,
}

impl BoundingBox {
    /// A box from its four sides.
    pub fn new(south: f64, west: f64, north: f64, east: f64) -> Result<Self, Invalid> {
        let south_west = Coord::new(south, west)?;
        let north_east = Coord::new(north, east)?;
        if south >= north {
            return Err(Invalid::new("bbox", "south must lie below north (order: S,W,N,E)"));
        }
        if west >= east {
            return Err(Invalid::new("bbox", "west must lie left of east (order: S,W,N,E)"));
        }
        Ok(Self { south_west, north_east })
    }

    /// The smallest box around `points`; `None` if there are none.
    pub fn around(points: impl IntoIterator<Item = Coord>) -> Option<Self> {
        let mut points = points.into_iter();
        let first = points.next()?;
        let (mut sw, mut ne) = (first, first);
        for p in points {
            sw = Coord { lat: sw.lat.min(p.lat), lon: sw.lon.min(p.lon) };
            ne = Coord { lat: ne.lat.max(p.lat), lon: ne.lon.max(p.lon) };
        }
        Some(Self { south_west: sw, north_east: ne })
    }

    /// Whether `p` lies inside or on the border.
    pub fn contains(&self, p: Coord) -> bool {
        (self.south_west.lat..=self.north_east.lat).contains(&p.lat)
            && (self.south_west.lon..=self.north_east.lon).contains(&p.lon)
    }

    /// Whether `p`, which lies outside, would lie inside with its numbers exchanged: the commonest way to write a coordinate wrongly.
    pub fn contains_exchanged(&self, p: Coord) -> bool {
        let exchanged = Coord::new(p.lon, p.lat);
        !self.contains(p) && exchanged.is_ok_and(|exchanged| self.contains(exchanged))
    }

    /// `[south, west, north, east]`, the order used everywhere.
    pub fn to_array(&self) -> [f64; 4] {
        [self.south_west.lat, self.south_west.lon, self.north_east.lat, self.north_east.lon]
    }

    /// The middle of the box.
    pub fn centre(&self) -> Coord {
        Coord {
            lat: (self.south_west.lat + self.north_east.lat) / 2.0,
            lon: (self.south_west.lon + self.north_east.lon) / 2.0,
        }
    }
}

/// `latitude 64.01 to 64.21, longitude -22.08 to -21.30`.
impl std::fmt::Display for BoundingBox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [south, west, north, east] = self.to_array();
        write!(f, "latitude {south:.4} to {north:.4}, longitude {west:.4} to {east:.4}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::SplitMix;

    #[test]
    fn a_box_knows_who_exchanged_latitude_and_longitude() {
        let city = BoundingBox::new(64.0, -22.0, 64.2, -21.3).unwrap();
        let at = |lat, lon| Coord::new(lat, lon).unwrap();
        assert!(city.contains_exchanged(at(-21.9, 64.1)));
        assert!(
            !city.contains_exchanged(at(64.1, -21.9)) && !city.contains_exchanged(at(1.0, 2.0))
        );
        assert_eq!(city.to_string(), "latitude 64.0000 to 64.2000, longitude -22.0000 to -21.3000");
        // Near the diagonal both may lie inside: then nothing is wrong.
        let diagonal = BoundingBox::new(10.0, 10.0, 11.0, 11.0).unwrap();
        assert!(!diagonal.contains_exchanged(at(10.2, 10.4)));
    }

    /// The formula as it stands in books.
    fn haversine(a: Coord, b: Coord) -> f64 {
        let (lat1, lat2) = (a.lat.to_radians(), b.lat.to_radians());
        let half_lat = ((lat2 - lat1) / 2.0).sin();
        let half_lon = ((b.lon - a.lon).to_radians() / 2.0).sin();
        let h = half_lat * half_lat + lat1.cos() * lat2.cos() * half_lon * half_lon;
        2.0 * EARTH_RADIUS_KM * h.sqrt().min(1.0).asin()
    }

    #[test]
    fn distances_are_haversine_at_every_scale() {
        let mut rng = SplitMix::new(5);
        for step in 0..20_000 {
            let a = Coord::new(rng.between(-80.0, 80.0), rng.between(-179.0, 179.0)).unwrap();
            let reach = 10f64.powi(step % 9 - 4);
            let b = a.offset_km(rng.between(-reach, reach), rng.between(-reach, reach));
            let (found, exact) = (a.distance_km(b), haversine(a, b));
            assert!((found - exact).abs() <= 1e-15 * exact, "{found} {exact}");
            assert_eq!(found, b.distance_km(a));
        }
    }
}
