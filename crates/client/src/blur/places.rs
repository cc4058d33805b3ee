//! Public places to report instead of points of a lattice: where people are, as far as everybody knows.

use lrgeo_geo::spacing::{reach_km, spacing_km};
use lrgeo_geo::{Coord, Invalid, PlaceId};
use lrgeo_tiles::earth::EarthNoise;
use lrgeo_tiles::posterior_radius_km;

/// A city has some thousands.
const MOST_PLACES: usize = 20_000;
/// As many of the likeliest are compared with each other: farther ones decide nothing.
const COMPARED: usize = 1_000;

/// Places, and how likely somebody is at each. Which of them is reported follows from the outcome of the noise alone, so it tells nothing more.
#[derive(Clone, Debug)]
pub struct PublicPlaces {
    coords: Vec<Coord>,
    prior: Vec<f64>,
    spacing_km: f64,
}

impl PublicPlaces {
    /// From coordinates and weights of any sum.
    pub fn new(coords: Vec<Coord>, prior: Vec<f64>) -> Result<Self, Invalid> {
        let wrong = |reason: &str| Err(Invalid::new("places", reason));
        if coords.len() > MOST_PLACES {
            return wrong("must be 20,000 at most");
        }
        if prior.len() != coords.len()
            || !prior.iter().all(|p| p.is_finite() && *p >= 0.0)
            || prior.iter().sum::<f64>() <= 0.0
        {
            return wrong("must each have a weight, a number not below zero, and not all zero");
        }
        match spacing_km(&coords) {
            Some(spacing_km) => Ok(Self { coords, prior, spacing_km }),
            None => wrong("must be at least two that can be told apart"),
        }
    }

    /// The place that is nearest on average to wherever somebody may be who had this outcome, and the radius around it that holds them with 95 %. `None` where
    /// no place is around.
    pub(super) fn best(&self, noise: &EarthNoise, outcome: Coord) -> Option<(Coord, f64)> {
        let away: Vec<f64> = self.coords.iter().map(|at| at.distance_km(outcome)).collect();
        let nearest = away.iter().copied().fold(f64::INFINITY, f64::min);
        if nearest > noise.accuracy_km(0.0) {
            return None;
        }
        let e = noise.rate.value();
        let likelihood: Vec<f64> = away.iter().map(|km| (-e * (km - nearest)).exp()).collect();
        let weight = |i: &usize| self.prior[*i] * likelihood[*i];
        let mut likely: Vec<usize> = (0..self.coords.len()).filter(|i| weight(i) > 0.0).collect();
        likely.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
        likely.truncate(COMPARED);
        let cost = |k: &usize| {
            let from = |i: &usize| weight(i) * self.coords[*i].distance_km(self.coords[*k]);
            likely.iter().map(from).sum::<f64>()
        };
        let costs: Vec<f64> = likely.iter().map(cost).collect();
        let best = (0..likely.len()).min_by(|&a, &b| costs[a].total_cmp(&costs[b]))?;
        let best = likely[best];
        let km = posterior_radius_km(&self.coords, &self.prior, &likelihood, PlaceId::at(best));
        // People stand anywhere around their places.
        Some((self.coords[best], km + reach_km(self.spacing_km)))
    }
}
