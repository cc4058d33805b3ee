//! The planar Laplace mechanism (Andrés et al., CCS 2013), snapped to the places (`docs/specification.md` section 8).
//!
//! Noise with density `eps^2/(2 pi) e^(-eps r)` is added to the true place and the nearest place is
//! reported. As a matrix: entry (i, k) is the mass that the noise around i has in the Voronoi
//! region of k. The mass of any region obeys Geo-Ind exactly, for distances in the plane; what
//! computing adds is paid for out of epsilon:
//!
//! - *projection*: distances in the plane are at most kappa times the haversine (`plane.rs`);
//! - *quadrature and normalisation*: every entry of every row is right up to a factor of `1 +- delta`.
//!
//! With `eps' = (eps - 2 delta / d_min) / kappa`, two rows differ by at most
//! `eps' kappa d + 2 delta <= eps d` for every pair, since `d >= d_min`. So the matrix for eps is
//! integrated at eps' ([`Laplace::charged`]), and passes the verifier at eps without tolerance. On a
//! city of half-kilometre cells the charge is a few millionths of epsilon.
//!
//! Places at one spot share a region: the first gets it, the columns of the others are zero.

mod kind;
mod lambert;
mod noise;
mod quadrature;
mod voronoi;

use std::collections::HashMap;

use lrgeo_geo::Coord;
use lrgeo_geo::index::SpatialIndex;
use lrgeo_geo::parallel::*;

pub use kind::PlanarLaplace;
pub use lambert::{lambert_w_minus_one, quantile};
use lrgeo_tiles::Epsilon;
use lrgeo_tiles::plane::{POSITION_ERROR_KM, Plane, Point};
use lrgeo_tiles::sample::FLOOR;
use quadrature::{NEGLIGIBLE, Quadrature};
use voronoi::Cell;

use crate::{MechanismError, ObfuscationMatrix};

/// The mechanism over a set of places; rows are worked out when asked for.
pub struct Laplace {
    nominal: Epsilon,
    charged: Epsilon,
    accuracy: f64,
    plane: Plane,
    quadrature: Quadrature,
    /// The different spots, in the order of the first place at each.
    spots: Vec<Spot>,
    /// The spot of every place.
    spot_of: Vec<usize>,
    /// Over the places; of several at one spot it finds the first.
    index: SpatialIndex,
}

struct Spot {
    first_place: usize,
    point: Point,
    cell: Cell,
}

impl Laplace {
    /// For `epsilon` over all pairs of `places`.
    pub fn new(places: &[Coord], epsilon: Epsilon) -> Result<Self, MechanismError> {
        let (plane, kappa) = Plane::around(places)?;
        let (firsts, spot_of) = spots(places);
        let coords: Vec<Coord> = firsts.iter().map(|&i| places[i]).collect();
        let closest_km = closest_km(&coords);
        let accuracy = accuracy(epsilon, closest_km);
        let charged = charged(epsilon, kappa, accuracy, closest_km)?;

        let points: Vec<Point> = coords.iter().map(|&c| plane.project(c)).collect();
        let map_radius = points.iter().map(|p| p[0].hypot(p[1])).fold(0.0, f64::max);
        // Noise from any place stays within this square but for a negligible mass.
        let half_width = 2.0 * map_radius + 1.5 * NEGLIGIBLE / charged.value();
        let cells = voronoi::cells(&points, &coords, half_width);
        let spots = firsts.into_iter().zip(points).zip(cells);
        Ok(Self {
            nominal: epsilon,
            charged,
            accuracy,
            plane,
            quadrature: Quadrature::new(),
            spots: spots
                .map(|((first_place, point), cell)| Spot { first_place, point, cell })
                .collect(),
            spot_of,
            index: SpatialIndex::new(places),
        })
    }

    /// The epsilon that was asked for, and that every pair of rows satisfies.
    pub fn nominal(&self) -> Epsilon {
        self.nominal
    }

    /// The epsilon of the noise: the nominal one less what computing may have added.
    pub fn charged(&self) -> Epsilon {
        self.charged
    }

    /// The distribution of the reports from place `i`; takes time linear in the number of places.
    ///
    /// Every entry gets the constant [`FLOOR`], the same in every row, but for the columns that are
    /// zero for everyone.
    pub fn row(&self, i: usize) -> Result<Vec<f64>, MechanismError> {
        let from = self.spot(i)?;
        let mass = |(at, spot): (usize, &Spot)| {
            let [x, y] = self.spots[from].point;
            let offset = [spot.point[0] - x, spot.point[1] - y];
            self.quadrature.mass(&spot.cell, offset, self.charged.value(), at == from)
        };
        let masses: Vec<f64> = self.spots.iter().enumerate().map(mass).collect();
        let sum: f64 = masses.iter().sum();
        // Half of the accuracy is for the entries, the other half for their sum.
        if (sum - 1.0).abs() > self.accuracy / 2.0 {
            return Err(MechanismError::Row {
                row: i,
                reason: "does not sum to one: the regions of the places overlap",
            });
        }
        let mut row = vec![0.0; self.spot_of.len()];
        for (spot, mass) in self.spots.iter().zip(masses) {
            row[spot.first_place] = mass / sum + FLOOR;
        }
        Ok(row)
    }

    /// All rows.
    pub fn matrix(&self) -> Result<ObfuscationMatrix, MechanismError> {
        let places = self.spot_of.len();
        let rows: Result<Vec<Vec<f64>>, MechanismError> =
            (0..places).into_par_iter().map(|i| self.row(i)).collect();
        ObfuscationMatrix::new(places, rows?.concat())
    }

    fn spot(&self, place: usize) -> Result<usize, MechanismError> {
        self.spot_of.get(place).copied().ok_or_else(|| {
            let reason =
                format!("there are {} places, there is no place {place}", self.spot_of.len());
            MechanismError::Invalid { field: "place", reason }
        })
    }
}

/// The first place at every spot, and the spot of every place.
fn spots(places: &[Coord]) -> (Vec<usize>, Vec<usize>) {
    let mut firsts = Vec::new();
    let mut known = HashMap::new();
    let mut spot = |(place, coord): (usize, &Coord)| {
        // Adding zero makes -0.0 and 0.0 one.
        let key = [coord.lat() + 0.0, coord.lon() + 0.0].map(f64::to_bits);
        *known.entry(key).or_insert_with(|| {
            firsts.push(place);
            firsts.len() - 1
        })
    };
    let spot_of = places.iter().enumerate().map(&mut spot).collect();
    (firsts, spot_of)
}

/// The distance of the two closest places; infinite with one.
fn closest_km(coords: &[Coord]) -> f64 {
    let index = SpatialIndex::new(coords);
    let nearest = coords.par_iter().enumerate().map(|(k, &c)| index.nearest_other(k as u32, c));
    nearest.reduce(|| f64::INFINITY, f64::min)
}

/// The delta of the module's text. The quadrature is good to 1e-12 where a cell is about as wide as
/// the noise is steep, and loses a digit for each digit by which it is narrower (`quadrature.rs`;
/// the tests compare it with an independent sum). A thousand times as much is allowed for.
fn accuracy(epsilon: Epsilon, closest_km: f64) -> f64 {
    1e-9f64.max(1e-12 / (epsilon.value() * closest_km))
}

/// The eps' of the module's text; the places themselves are known to a few picometres.
fn charged(
    epsilon: Epsilon,
    kappa: f64,
    accuracy: f64,
    closest_km: f64,
) -> Result<Epsilon, MechanismError> {
    let asked = epsilon.value();
    let computing = 2.0 * (accuracy + asked * POSITION_ERROR_KM) / closest_km;
    let charged = (asked - computing) / kappa;
    if charged.is_nan() || charged < asked / 2.0 {
        let reason = format!(
            "{epsilon} is too small for places {:e} km apart: rounding would use up half of it",
            closest_km
        );
        return Err(MechanismError::Invalid { field: "epsilon", reason });
    }
    Ok(Epsilon::per_km(charged)?)
}
