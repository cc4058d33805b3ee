//! The rows of a mechanism as they are kept: one matrix for everybody, or one per user.

use std::sync::Arc;

use lrgeo_tiles::coordinates::LatticeNoise;
use lrgeo_tiles::sample::FLOOR;
use lrgeo_tiles::{Distribution, PlaceId, SparseMatrix};

use crate::{MechanismError, ObfuscationMatrix};

/// What a mechanism reports, row by row. A row is the same, bit for bit, whenever it is asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum Rows {
    /// One K x K matrix.
    Dense(ObfuscationMatrix),
    /// One K x K matrix in memory linear in its explicit entries.
    Sparse(SparseMatrix),
    /// One matrix per user of a round; each user reports from the row of its own place.
    Users(Round),
    /// Noise around a coordinate; the row of a place is that of somebody at its coordinate.
    Noise(LatticeNoise),
}

/// Rows of the optimiser with every entry raised by the constant [`FLOOR`], so that none is too small to be drawn from.
pub(crate) fn raised(rows: &lrgeo_optim::SparseRows) -> SparseMatrix {
    use lrgeo_optim::RowSource;
    let mut matrix = SparseMatrix {
        start: vec![0],
        column: Vec::with_capacity(rows.explicit_entries()),
        value: Vec::with_capacity(rows.explicit_entries()),
        tail: (0..rows.rows()).map(|row| rows.tail(row)).collect(),
        present: rows.present().to_vec(),
    };
    for row in 0..rows.rows() {
        let (columns, values) = rows.explicit(row);
        matrix.column.extend_from_slice(columns);
        matrix.value.extend_from_slice(values);
        matrix.start.push(matrix.column.len());
    }
    matrix.value.iter_mut().chain(&mut matrix.tail).for_each(|z| *z += FLOOR);
    matrix
}

/// The matrices of the users of one round (CLR-Geo).
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    /// K.
    pub places: usize,
    /// The reported places that any user may report, ascending; all others have probability zero.
    pub columns: Arc<[PlaceId]>,
    /// One per user.
    pub users: Vec<UserMatrix>,
    /// Which entries are tied to the shared y.
    pub ties: crate::relevant::TieRule,
}

/// The LR obfuscation matrix of one user.
#[derive(Clone, Debug, PartialEq)]
pub struct UserMatrix {
    /// The user's place m.
    pub place: PlaceId,
    /// How often the user goes each way of the city; empty where there is one.
    pub shares: Vec<f64>,
    /// The LR set N_m, nearest first; the first is the user's own place.
    pub relevant: Vec<PlaceId>,
    /// Relevant places x columns of the round, row-major.
    pub values: Vec<f64>,
}

impl UserMatrix {
    /// The row of the `index`-th relevant place over the columns of the round.
    pub fn row(&self, index: usize) -> &[f64] {
        let width = self.values.len() / self.relevant.len().max(1);
        &self.values[index * width..(index + 1) * width]
    }

    /// The row that the user reports from.
    pub fn deployed(&self) -> &[f64] {
        self.row(0)
    }
}

impl Round {
    /// A row over the columns of the round, spread over all K places.
    pub fn spread(&self, row: &[f64]) -> Vec<f64> {
        let mut whole = vec![0.0; self.places];
        for (k, &z) in self.columns.iter().zip(row) {
            whole[k.index()] = z;
        }
        whole
    }

    /// Checks the shape, that entries are probabilities and that rows sum to one.
    pub fn validate(&self) -> Result<(), MechanismError> {
        let invalid = |reason: &str| Err(MechanismError::invalid("round", reason));
        let known = |k: &PlaceId| k.index() < self.places;
        if !self.columns.iter().all(known) || !self.columns.windows(2).all(|w| w[0] < w[1]) {
            return invalid("its columns are out of order or unknown");
        }
        for user in &self.users {
            if user.relevant.first() != Some(&user.place) || !user.relevant.iter().all(known) {
                return invalid("the relevant places of a user do not begin with its own");
            }
            if user.values.len() != user.relevant.len() * self.columns.len() {
                return invalid("the matrix of a user has a broken length");
            }
            for row in 0..user.relevant.len() {
                Distribution::check(user.row(row)).map_err(MechanismError::row(row))?;
            }
        }
        Ok(())
    }
}

impl Rows {
    /// K.
    pub fn places(&self) -> usize {
        match self {
            Rows::Dense(matrix) => matrix.places(),
            Rows::Sparse(matrix) => matrix.present.len(),
            Rows::Users(round) => round.places,
            Rows::Noise(noise) => noise.places().len(),
        }
    }

    /// The places that have a row to report from: all, or those of the users.
    pub fn deployed(&self) -> Vec<PlaceId> {
        match self {
            Rows::Users(round) => round.users.iter().map(|user| user.place).collect(),
            _ => PlaceId::all(self.places()).collect(),
        }
    }

    /// Writes the distribution of the reports of the `index`-th deployed row over all K places.
    pub fn fill(&self, index: usize, out: &mut [f64]) {
        match self {
            Rows::Dense(matrix) => out.copy_from_slice(matrix.row(index)),
            Rows::Sparse(matrix) => matrix.fill_row(index, out),
            Rows::Users(round) => {
                out.copy_from_slice(&round.spread(round.users[index].deployed()));
            }
            Rows::Noise(noise) => match noise.row_at(noise.places()[index]) {
                Some(row) => out.copy_from_slice(&row),
                // Places are within the area of their own map; one that is not reports nothing.
                None => out.fill(0.0),
            },
        }
    }

    /// The exact row that a user at `place` reports from; `None` where the mechanism has none.
    pub fn row(&self, place: PlaceId) -> Option<Distribution> {
        let index = match self {
            Rows::Users(round) => round.users.iter().position(|user| user.place == place)?,
            _ => (place.index() < self.places()).then_some(place.index())?,
        };
        let mut out = vec![0.0; self.places()];
        self.fill(index, &mut out);
        Distribution::new(out).ok()
    }
}
