//! From weights on rays to a matrix that is exactly private: closure, tails, exact row sums.
//!
//! The Lipschitz closure `max_j z_j exp(-l(i,j))` of a column lies in the cone of the lengths l and
//! has full support. It is followed outwards until it falls to a small constant, which is the tail
//! from there on (see [`SparseRows`]). Rows are then divided by their sums S, tails too; what that
//! takes is `|ln S_i - ln S_j|` on each arc, so the closure runs with lengths that much below `eps d`.

use rayon::prelude::*;

use super::closed_form::shorten;
use super::graph::ArcGraph;
use super::view::{Stopped, View};
use super::window::Dijkstra;
use crate::sparse_rows::SparseRows;

/// Rounds of closing and shortening.
const ROUNDS: usize = 8;
/// Part of every arc kept back for the rounding of exponentials and products.
const ROUNDING: f64 = 1e-11;

/// One closed column: rows above the tail and their values.
struct Closed {
    rows: Vec<u32>,
    values: Vec<f64>,
}

/// Closes the columns given by `seeds(k, out)` (rows and values of column k) and normalises the
/// rows; `None` if the lengths do not settle. `lengths` are those the columns were made with, somewhat
/// below `eps d`; entries below `threshold` become tail.
pub(crate) fn strict_matrix(
    view: &View<'_>,
    lengths: &ArcGraph,
    seeds: impl Fn(usize, &mut Vec<(u32, f64)>) + Sync,
    threshold: f64,
) -> Result<Option<SparseRows>, Stopped> {
    let mut lengths = lengths.clone();
    for _ in 0..ROUNDS {
        let closed = close(view, &lengths, &seeds, threshold)?;
        let sums = row_sums(view.rows(), &closed, threshold);
        let log_sum: Vec<f64> = sums.iter().map(|s| s.ln()).collect();
        match shorten(&view.graph, &lengths, &log_sum, ROUNDING) {
            None => return Ok(Some(assemble(closed, &sums, threshold))),
            Some(shortened) => lengths = shortened,
        }
    }
    Ok(None)
}

/// The closure of every column down to the threshold.
fn close(
    view: &View<'_>,
    lengths: &ArcGraph,
    seeds: &(impl Fn(usize, &mut Vec<(u32, f64)>) + Sync),
    threshold: f64,
) -> Result<Vec<Closed>, Stopped> {
    let limit = -threshold.ln();
    (0..lengths.rows())
        .into_par_iter()
        .map_init(
            || (Dijkstra::new(lengths.rows()), Vec::new()),
            |(dijkstra, start), k| {
                view.proceed()?;
                start.clear();
                seeds(k, start);
                let mut closed = Closed { rows: Vec::new(), values: Vec::new() };
                let keys = start.iter().filter(|s| s.1 > threshold).map(|&(i, z)| (i, -z.ln()));
                dijkstra.run(lengths, keys, limit, |i, key, _| {
                    closed.rows.push(i);
                    closed.values.push((-key).exp());
                });
                Ok(closed)
            },
        )
        .collect()
}

/// The sum of every row, tails included.
fn row_sums(rows: usize, columns: &[Closed], threshold: f64) -> Vec<f64> {
    let mut sum = vec![0.0; rows];
    let mut explicit = vec![0usize; rows];
    let mut present = 0usize;
    for column in columns.iter().filter(|c| !c.rows.is_empty()) {
        present += 1;
        for (&i, &z) in column.rows.iter().zip(&column.values) {
            sum[i as usize] += z;
            explicit[i as usize] += 1;
        }
    }
    for (sum, explicit) in sum.iter_mut().zip(explicit) {
        *sum += (present - explicit) as f64 * threshold;
    }
    sum
}

/// Scales, transposes to rows, and puts the last rounding error into each row's largest entry.
fn assemble(columns: Vec<Closed>, sums: &[f64], threshold: f64) -> SparseRows {
    let rows = sums.len();
    let present: Vec<bool> = columns.iter().map(|c| !c.rows.is_empty()).collect();
    let tail: Vec<f64> = sums.iter().map(|s| threshold / s).collect();
    let mut start = vec![0usize; rows + 1];
    for &i in columns.iter().flat_map(|c| &c.rows) {
        start[i as usize + 1] += 1;
    }
    for i in 0..rows {
        start[i + 1] += start[i];
    }
    let mut next = start.clone();
    let mut column = vec![0u32; start[rows]];
    let mut value = vec![0.0; start[rows]];
    for (k, closed) in columns.into_iter().enumerate() {
        for (&i, &z) in closed.rows.iter().zip(&closed.values) {
            let at = next[i as usize];
            next[i as usize] += 1;
            column[at] = k as u32;
            value[at] = z / sums[i as usize];
        }
    }
    let count = present.iter().filter(|&&p| p).count();
    for i in 0..rows {
        let row = &mut value[start[i]..start[i + 1]];
        let missing = missing_mass(row, tail[i], count - row.len());
        if let Some(largest) = row.iter_mut().max_by(|a, b| a.total_cmp(b)) {
            *largest += missing;
        }
    }
    SparseRows::new(start, column, value, tail, present)
}

/// `1 - sum`, in twice the precision.
fn missing_mass(row: &[f64], tail: f64, others: usize) -> f64 {
    let product = tail * others as f64;
    let (mut high, mut low) = (1.0, -f64::mul_add(tail, others as f64, -product));
    for &z in row.iter().chain(std::iter::once(&product)) {
        let next = high - z;
        let back = next - high;
        low += (high - (next - back)) - (z + back);
        high = next;
    }
    high + low
}
