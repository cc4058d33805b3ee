//! The exponential mechanism (section 5.1.2, benchmark 3): `z_ik` proportional to
//! `exp(-a s_ik / 2)`, where the score s is the distance or the loss.
//!
//! Departure: the paper writes the cost in the exponent; its authors' code, and geo-
//! indistinguishability, use the distance (`docs/specification.md` section 8). Both are offered. The exponent a is only
//! the *nominal* epsilon; [`real`] says what it amounts to and finds the exponent that amounts to
//! what was asked for.

mod kind;
pub mod real;

pub use kind::ExpMech;
use lrgeo_geo::Coord;
use lrgeo_geo::parallel::*;
use lrgeo_tiles::Epsilon;
use lrgeo_tiles::sample::FLOOR;

use crate::{MechanismError, ObfuscationMatrix};

/// What makes a report unlikely.
#[derive(Clone, Copy)]
pub enum Score<'a> {
    /// The distance `d_ik` in kilometres.
    Distance,
    /// The loss of reporting k while at i, without the prior: the function gives row i, in
    /// kilometres.
    Cost(&'a (dyn Fn(usize) -> Vec<f64> + Sync)),
}

/// The mechanism over a set of places; rows are worked out when asked for.
#[derive(Clone, Copy)]
pub struct Exponential<'a> {
    places: &'a [Coord],
    score: Score<'a>,
    exponent: Epsilon,
}

impl<'a> Exponential<'a> {
    /// With the nominal epsilon `exponent`.
    ///
    /// By distance, numerator and normaliser each change by at most `exp(a d_ij / 2)` between i and
    /// j (triangle inequality), so every pair satisfies Geo-Ind at the nominal epsilon or better. By
    /// cost nothing follows from the nominal epsilon: ask [`real::real_epsilon`].
    pub fn new(places: &'a [Coord], score: Score<'a>, exponent: Epsilon) -> Self {
        Self { places, score, exponent }
    }

    /// The exponent a, in 1/km.
    pub fn exponent(&self) -> Epsilon {
        self.exponent
    }

    /// The distribution of the reports from place `i`; takes time linear in the number of places.
    ///
    /// Every entry gets the constant [`FLOOR`], the same in every row: no probability is zero and
    /// every row can be drawn from.
    pub fn row(&self, i: usize) -> Result<Vec<f64>, MechanismError> {
        if i >= self.places.len() {
            let reason = format!("there are {} places, there is no place {i}", self.places.len());
            return Err(MechanismError::Invalid { field: "place", reason });
        }
        let mut row = scores(self.places, self.score, i)?;
        let rate = self.exponent.value() / 2.0;
        row.iter_mut().for_each(|s| *s = (-rate * *s).exp());
        let sum: f64 = row.iter().sum();
        row.iter_mut().for_each(|z| *z = *z / sum + FLOOR);
        Ok(row)
    }

    /// All rows.
    pub fn matrix(&self) -> Result<ObfuscationMatrix, MechanismError> {
        let rows: Result<Vec<Vec<f64>>, MechanismError> =
            (0..self.places.len()).into_par_iter().map(|i| self.row(i)).collect();
        ObfuscationMatrix::new(self.places.len(), rows?.concat())
    }
}

/// Row `i` of the scores, the smallest of them zero: a constant more in a whole row changes nothing.
fn scores(places: &[Coord], score: Score<'_>, i: usize) -> Result<Vec<f64>, MechanismError> {
    match score {
        Score::Distance => Ok(places.iter().map(|&there| places[i].distance_km(there)).collect()),
        Score::Cost(losses) => {
            let mut row = losses(i);
            if row.len() != places.len() || row.iter().any(|c| !c.is_finite()) {
                let reason = "holds the wrong number of losses, or one that is not finite";
                return Err(MechanismError::Row { row: i, reason });
            }
            let least = row.iter().copied().fold(f64::INFINITY, f64::min);
            row.iter_mut().for_each(|c| *c -= least);
            Ok(row)
        }
    }
}

/// The mechanism by distance with the nominal epsilon, as a matrix.
pub fn by_distance(
    places: &[Coord],
    epsilon: Epsilon,
) -> Result<ObfuscationMatrix, MechanismError> {
    Exponential::new(places, Score::Distance, epsilon).matrix()
}
