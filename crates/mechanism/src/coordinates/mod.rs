//! Laplace noise for coordinates, made for a city: how fine the lattice is, how far it reaches, and what each outcome is reported as.
//!
//! What the noise is, and why that is private, stands with those who draw from it ([`lrgeo_tiles::coordinates`]).

mod kind;
mod table;

use lrgeo_geo::spacing::reach_km;
use lrgeo_geo::{BoundingBox, Coord};
use lrgeo_map::progress::Progress;
use lrgeo_tiles::Epsilon;
use lrgeo_tiles::coordinates::{Lattice, LatticeNoise, MOST_POINTS};
use lrgeo_tiles::plane::Plane;

pub use kind::CoordinateLaplace;

use crate::{City, MechanismError};

/// `e h`: the ripple of S falls with its square, the points of the lattice grow with that of its inverse.
const SCALED_SPACING: f64 = 1.0 / 8.0;
/// The tip's radius in spacings. Larger is flatter and dearer: at a half the ripple takes 0.03 % of epsilon and the tip costs 0.1 %.
const TIP: f64 = 0.5;
/// How far, in units of 1/e, the lattice goes on beyond where people may be: what is cut off is below 1e-4 of S.
const MARGIN: f64 = 14.0;
/// Points of the lattice on a side of the squares that share a report: half of 1/e.
const SHARED: u32 = 4;
/// Part of epsilon kept back for ripple, border and rounding; the verifier says whether that is enough.
const CHARGE: f64 = 1.2e-3;
/// Lattices have whole multiples of this as their spacing, in kilometres (a power of two): their points are then exact.
const GRAIN_KM: f64 = 1.0 / (1u64 << 24) as f64;

/// The noise for `epsilon` between coordinates on a city, every outcome reported as what costs least given the prior.
pub fn noise_for(
    city: &City,
    epsilon: Epsilon,
    progress: &dyn Progress,
) -> Result<LatticeNoise, MechanismError> {
    let places = city.coords();
    let bounds = BoundingBox::around(places.iter().copied());
    let centre = bounds.map(|bounds| bounds.centre().rounded());
    let centre = centre.ok_or_else(|| MechanismError::invalid("places", "there are none"))?;
    let area = area_around(&Plane::at(centre), places, reach_km(city.spacing_km()));
    let noise = Epsilon::per_km(epsilon.value() * (1.0 - CHARGE) / largest_scale(area))?;
    let lattice = lattice(area, noise.value(), MARGIN / noise.value());
    if lattice.validate().is_err() {
        let reason = format!(
            "{epsilon} on a map of {:.0} x {:.0} km needs a lattice of more than {MOST_POINTS} points; choose a smaller region or a smaller epsilon",
            area[2] - area[0],
            area[3] - area[1]
        );
        return Err(MechanismError::invalid("epsilon", reason));
    }
    let reports = table::best(&lattice, noise, centre, city, progress);
    Ok(LatticeNoise::from_parts(noise, centre, area, lattice, reports, places.to_vec())?)
}

/// The lattice of a rate of noise that reaches so far beyond an area.
fn lattice(area: [f64; 4], rate: f64, margin_km: f64) -> Lattice {
    let spacing_km = (SCALED_SPACING / rate / GRAIN_KM).floor() * GRAIN_KM;
    let (mut first, mut squares) = ([0; 2], [0; 2]);
    for axis in 0..2 {
        let low = ((area[axis] - margin_km) / spacing_km).floor();
        let high = ((area[axis + 2] + margin_km) / spacing_km).ceil();
        // Casts saturate; what is too large is refused.
        first[axis] = low as i64;
        squares[axis] = ((high - low + 1.0) / f64::from(SHARED)).ceil() as u32;
    }
    Lattice { spacing_km, tip_km: TIP * spacing_km, first, squares, side: SHARED }
}

/// The rectangle around all places and `reach_km` more, where people may be.
fn area_around(plane: &Plane, places: &[Coord], reach_km: f64) -> [f64; 4] {
    let mut area = [f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY];
    for &place in places {
        let point = plane.project(place);
        for axis in 0..2 {
            area[axis] = area[axis].min(point[axis] - reach_km);
            area[axis + 2] = area[axis + 2].max(point[axis] + reach_km);
        }
    }
    area
}

/// No way within the area is longer in the plane than this many times what it is on the Earth: the scale at its farthest corner,
/// `1 + (r / 2R)^2`.
fn largest_scale([west, south, east, north]: [f64; 4]) -> f64 {
    let (x, y) = (west.abs().max(east.abs()), south.abs().max(north.abs()));
    1.0 + (x * x + y * y) / (2.0 * lrgeo_geo::EARTH_RADIUS_KM).powi(2)
}
