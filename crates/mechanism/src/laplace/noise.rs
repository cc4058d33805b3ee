//! The mechanism as it was first described: noise in the plane, then the nearest place.
//!
//! Continuous noise in floating-point numbers has gaps that a determined observer can use (Mironov,
//! CCS 2012); snapping hides most of them, not provably all. Where a row is at hand, draw from it
//! (`sample`); this is the yardstick, and the check of the matrix.

use std::f64::consts::TAU;

use lrgeo_geo::Coord;
use lrgeo_tiles::sample::{SeededRandomness, SystemRandomness};

use super::Laplace;
use super::lambert::scaled_radius;
use crate::MechanismError;

impl Laplace {
    /// A noisy position for someone at place `i`, at the charged epsilon; not snapped.
    pub fn position(
        &self,
        i: usize,
        randomness: &mut SystemRandomness,
    ) -> Result<Coord, MechanismError> {
        let (p, turn) = (randomness.unit()?, randomness.unit()?);
        self.thrown(i, p, turn)
    }

    /// The place nearest to a noisy position.
    pub fn report(
        &self,
        i: usize,
        randomness: &mut SystemRandomness,
    ) -> Result<usize, MechanismError> {
        Ok(self.snapped(self.position(i, randomness)?))
    }

    /// [`Laplace::report`] for tests and experiments: the same seed, the same reports.
    pub fn rehearse(
        &self,
        i: usize,
        randomness: &mut SeededRandomness,
    ) -> Result<usize, MechanismError> {
        let (p, turn) = (randomness.unit(), randomness.unit());
        Ok(self.snapped(self.thrown(i, p, turn)?))
    }

    /// The noise for two uniform numbers: `r = -(W_{-1}((p - 1)/e) + 1)/eps`, at an angle of `turn`
    /// turns. The first number is 1 - p, so that large radii are as fine as small ones.
    fn thrown(&self, i: usize, remaining: f64, turn: f64) -> Result<Coord, MechanismError> {
        let [x, y] = self.spots[self.spot(i)?].point;
        let radius = scaled_radius(1.0 - remaining, remaining) / self.charged().value();
        let (sin, cos) = (TAU * turn).sin_cos();
        Ok(self.plane.coord_at([x + radius * cos, y + radius * sin])?)
    }

    fn snapped(&self, position: Coord) -> usize {
        self.index.nearest(position).map_or(0, |(place, _)| place as usize)
    }
}
