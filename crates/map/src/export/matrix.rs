//! Matrices for other programs: numpy's `.npy` and CSV.

use std::fmt::Write;

use crate::MapError;
use crate::utility::Utility;

/// A matrix of more places than this is not written: it would be gigabytes.
const MAX_MATRIX_PLACES: usize = 20_000;

fn check_size(losses: &dyn Utility) -> Result<(), MapError> {
    if losses.places() <= MAX_MATRIX_PLACES {
        return Ok(());
    }
    Err(MapError::TooLarge {
        what: "places of a cost matrix",
        asked: losses.places() as u64,
        limit: MAX_MATRIX_PLACES as u64,
        advice: "choose larger cells (`places`) or a smaller `region`",
    })
}

/// The head of a numpy `.npy` file with a float64 array; its numbers follow, row by row.
pub fn npy_header(rows: usize, columns: usize) -> Vec<u8> {
    let dict =
        format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    // The header ends with a line end at a multiple of 64 bytes.
    let length = (10 + dict.len() + 1).next_multiple_of(64) - 10;
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend_from_slice(&(length as u16).to_le_bytes());
    out.extend_from_slice(format!("{dict:<width$}\n", width = length - 1).as_bytes());
    out
}

/// All losses as numpy's `.npy`: a float64 array, one row per true place.
pub fn losses_npy(losses: &dyn Utility) -> Result<Vec<u8>, MapError> {
    check_size(losses)?;
    let mut out = npy_header(losses.places(), losses.places());
    losses.all().iter().for_each(|value| out.extend_from_slice(&value.to_le_bytes()));
    Ok(out)
}

/// All losses as CSV without a header, one line per true place.
pub fn losses_csv(losses: &dyn Utility) -> Result<Vec<u8>, MapError> {
    check_size(losses)?;
    let mut out = String::new();
    for row in losses.all().chunks_exact(losses.places()) {
        let line: Vec<String> = row.iter().map(f64::to_string).collect();
        let _ = writeln!(out, "{}", line.join(","));
    }
    Ok(out.into_bytes())
}
