//! Points on the Earth, boxes around them, and the distance between them.

use crate::MapError;

/// Mean Earth radius in kilometres (IUGG); spec section 1.
pub const EARTH_RADIUS_KM: f64 = 6371.0088;

/// A WGS84 coordinate in degrees. Always finite and in range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coord {
    lat: f64,
    lon: f64,
}

impl Coord {
    /// A coordinate, if `lat` is within ±90 and `lon` within ±180 degrees.
    pub fn new(lat: f64, lon: f64) -> Result<Self, MapError> {
        if !(lat.is_finite() && lat.abs() <= 90.0) {
            return Err(MapError::invalid("lat", "must be between -90 and 90 degrees"));
        }
        if !(lon.is_finite() && lon.abs() <= 180.0) {
            return Err(MapError::invalid("lon", "must be between -180 and 180 degrees"));
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

    /// Haversine distance in kilometres: the `d` of Geo-Ind (Def. 2.1).
    pub fn distance_km(self, other: Coord) -> f64 {
        let (lat1, lat2) = (self.lat.to_radians(), other.lat.to_radians());
        let half_lat = ((lat2 - lat1) / 2.0).sin();
        let half_lon = ((other.lon - self.lon).to_radians() / 2.0).sin();
        let h = half_lat * half_lat + lat1.cos() * lat2.cos() * half_lon * half_lon;
        2.0 * EARTH_RADIUS_KM * h.sqrt().min(1.0).asin()
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
    pub fn new(south: f64, west: f64, north: f64, east: f64) -> Result<Self, MapError> {
        let south_west = Coord::new(south, west)?;
        let north_east = Coord::new(north, east)?;
        if south >= north {
            return Err(MapError::invalid("bbox", "south must lie below north (order: S,W,N,E)"));
        }
        if west >= east {
            return Err(MapError::invalid("bbox", "west must lie left of east (order: S,W,N,E)"));
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
