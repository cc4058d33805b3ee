//! One lattice around the whole Earth, the same for everybody.
//!
//! Rows of equal height; each is cut into cells of equal width, as many as it takes for none to be wider than high. The point of a cell lies in the direction
//! of its centre of gravity: then nothing of first order is left when a sum over points stands for an integral over cells.

use std::f64::consts::{FRAC_PI_2, PI};

use lrgeo_geo::{Coord, EARTH_RADIUS_KM};

/// The lattice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EarthLattice {
    /// Rows from pole to pole: an even number, so that none lies across the equator.
    pub rows: u64,
}

/// One row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// The latitude of its points, in radians.
    pub lat: f64,
    /// How many, evenly around the Earth.
    pub points: u64,
    /// The area of a cell.
    pub area_km2: f64,
}

impl EarthLattice {
    /// With cells of at most this side.
    pub fn with_spacing(km: f64) -> Self {
        let half = (PI * EARTH_RADIUS_KM / km / 2.0).ceil() as u64;
        Self { rows: 2 * half.max(1) }
    }

    /// The height of a row, and the most that a cell is wide.
    pub fn spacing_km(&self) -> f64 {
        self.height() * EARTH_RADIUS_KM
    }

    fn height(&self) -> f64 {
        PI / self.rows as f64
    }

    /// The rows that reach into a range of latitudes, in radians, and a few more.
    pub fn rows_between(&self, south: f64, north: f64) -> std::ops::Range<u64> {
        // Casts saturate at zero.
        let row = |lat: f64| (lat + FRAC_PI_2) / self.height();
        let first = (row(south) - 2.0).floor() as u64;
        let end = (row(north) + 3.0).ceil() as u64;
        first..end.min(self.rows)
    }

    /// A row, counted from the South Pole.
    pub fn row(&self, number: u64) -> Row {
        let height = self.height();
        let middle = (number as f64 + 0.5) * height - FRAC_PI_2;
        // The side towards the equator is the longer one.
        let widest = middle.abs() - height / 2.0;
        let points = (2.0 * self.rows as f64 * widest.cos()).ceil().max(3.0);
        let half_width = PI / points;
        // The centre of gravity of a cell: in the direction of the axis, and at right angles to it.
        let squared = middle.cos() * middle.cos();
        let axis = (2.0 * middle).sin() * height.sin();
        // height + sin(height) cos(2 middle), without the cancellation near the poles.
        let outward =
            (less_sine(height) + 2.0 * height.sin() * squared) * half_width.sin() / half_width;
        let area = 4.0 * half_width * middle.cos() * (height / 2.0).sin();
        Row {
            lat: axis.atan2(outward),
            points: points as u64,
            area_km2: area * EARTH_RADIUS_KM * EARTH_RADIUS_KM,
        }
    }

    /// The part of `spread` that a point of a row gets when every row has as much as another, and every point of a row.
    pub fn even_part(&self, spread: f64, row: &Row) -> f64 {
        spread / (self.rows as f64 * row.points as f64)
    }

    /// The least of these.
    pub fn least_even_part(&self, spread: f64) -> f64 {
        spread / (2.0 * (self.rows as f64).powi(2))
    }
}

/// `x - sin x`.
fn less_sine(x: f64) -> f64 {
    if x > 0.1 {
        x - x.sin()
    } else {
        x * x * x / 6.0 * (1.0 - x * x / 20.0 * (1.0 - x * x / 42.0))
    }
}

impl Row {
    /// From a point to the next, in radians.
    pub fn step(&self) -> f64 {
        2.0 * PI / self.points as f64
    }

    /// The longitude of a point in radians, for any number: rows are circles.
    pub fn lon(&self, point: i64) -> f64 {
        (point as f64 + 0.5) * self.step() - PI
    }

    /// Where a point is; `None` for none on Earth.
    pub fn coord(&self, point: u64) -> Option<Coord> {
        let lon = self.lon(point as i64).to_degrees().clamp(-180.0, 180.0);
        Coord::new(self.lat.to_degrees(), lon).ok().map(Coord::rounded)
    }
}
