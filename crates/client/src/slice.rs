//! A part of the cost reference table, and the costs that a client works out from it.

use lrgeo_geo::PlaceId;
use lrgeo_protocol::public::WayDescription;

use crate::Lie;

/// `beta` between some cells and some others.
pub struct Slice {
    what: &'static str,
    rows: Vec<u32>,
    columns: Vec<u32>,
    beta: Vec<f64>,
}

impl Slice {
    /// Checks order, length and numbers. `what` names it in errors.
    pub fn new(
        what: &'static str,
        rows: Vec<u32>,
        columns: Vec<u32>,
        beta: Vec<f64>,
    ) -> Result<Self, Lie> {
        let ascending = |cells: &[u32]| cells.windows(2).all(|w| w[0] < w[1]);
        if !ascending(&rows) || !ascending(&columns) {
            return Err(Lie::nonsense(what, "cells", "are out of order"));
        }
        if Some(beta.len()) != rows.len().checked_mul(columns.len()) {
            return Err(Lie::nonsense(what, "beta", "has not one number per pair of cells"));
        }
        if !beta.iter().all(|b| b.is_finite() && *b >= 0.0) {
            return Err(Lie::nonsense(what, "beta", "holds a number that is no cost"));
        }
        Ok(Self { what, rows, columns, beta })
    }

    /// `beta + o_i + o_k` between places, row-major (Eq. 25 without the prior, with travel offsets);
    /// refused where the slice lacks a cell that it must have.
    pub fn upper(
        &self,
        table: &WayDescription,
        rows: &[PlaceId],
        columns: &[PlaceId],
    ) -> Result<Vec<f64>, Lie> {
        let missing = || Lie::nonsense(self.what, "cells", "lack one that was asked for");
        let find = |cells: &[u32], places: &[PlaceId]| -> Result<Vec<usize>, Lie> {
            let cell = |place: &PlaceId| table.cells.get(place.index());
            let at = |place| cell(place).and_then(|cell| cells.binary_search(cell).ok());
            places.iter().map(|place| at(place).ok_or_else(missing)).collect()
        };
        let (row_at, column_at) = (find(&self.rows, rows)?, find(&self.columns, columns)?);
        let offset = |place: PlaceId| table.offsets[place.index()];
        let mut values = Vec::with_capacity(rows.len() * columns.len());
        for (&i, row) in rows.iter().zip(row_at) {
            let line = &self.beta[row * self.columns.len()..(row + 1) * self.columns.len()];
            let pairs = columns.iter().zip(&column_at);
            values.extend(pairs.map(|(&k, &at)| line[at] + (offset(i) + offset(k))));
        }
        Ok(values)
    }
}
