//! From weights on rays to a matrix that is exactly private: closure, tails, exact row sums.
//!
//! The Lipschitz closure `max_j z_j exp(-l(i,j))` of a column lies in the cone of the lengths l and
//! has full support. It is followed outwards until it falls to a small constant, which is the tail
//! from there on (see [`SparseRows`]). Rows are then divided by their sums S, tails too; what that
//! takes is `|ln S_i - ln S_j|` on each arc, so the closure runs with lengths that much below `eps d`.

use rayon::prelude::*;

use super::closed_form::shorten;
use super::tuning::TUNING;
use super::view::{Stopped, View};
use crate::certificate::rounding::RowSum;
use crate::cone::{Dijkstra, Graph};
use crate::sparse_rows::SparseRows;

/// Part of every arc kept back for the rounding of exponentials and products.
const ROUNDING: f64 = 1e-11;

/// Closes the columns given by `seeds(k, out)` (rows and values of column k) and normalises the
/// rows; `None` if the lengths do not settle. `lengths` are those the columns were made with, somewhat
/// below `eps d`; entries below `threshold` become tail.
pub(crate) fn strict_matrix(
    view: &View<'_>,
    lengths: &Graph,
    seeds: impl Fn(usize, &mut Vec<(u32, f64)>) + Sync,
    threshold: f64,
) -> Result<Option<SparseRows>, Stopped> {
    let mut lengths = lengths.clone();
    for _ in 0..TUNING.strict_rounds {
        let closure = Closure { view, lengths: &lengths, seeds: &seeds, threshold };
        let totals = closure.totals()?;
        let sums = totals.row_sums(threshold);
        let log_sum: Vec<f64> = sums.iter().map(|s| s.ln()).collect();
        match shorten(&view.graph, &lengths, &log_sum, ROUNDING) {
            None => return closure.assemble(&totals, &sums).map(Some),
            Some(shortened) => lengths = shortened,
        }
    }
    Ok(None)
}

/// The closure of every column down to the threshold; never all of it at once.
struct Closure<'a, S> {
    view: &'a View<'a>,
    lengths: &'a Graph,
    seeds: &'a S,
    threshold: f64,
}

/// Working memory of one thread.
struct Work {
    dijkstra: Dijkstra,
    start: Vec<(u32, f64)>,
}

/// What the columns closed are in sum.
struct Totals {
    /// Sum and number of each row's entries above the tail.
    sum: Vec<f64>,
    explicit: Vec<usize>,
    /// Whether each column has any.
    present: Vec<bool>,
}

impl<S: Fn(usize, &mut Vec<(u32, f64)>) + Sync> Closure<'_, S> {
    fn work(&self) -> Work {
        Work { dijkstra: Dijkstra::new(self.lengths.nodes()), start: Vec::new() }
    }

    /// Follows column k outwards until it falls to the threshold.
    fn follow(
        &self,
        work: &mut Work,
        k: usize,
        mut visit: impl FnMut(u32, f64),
    ) -> Result<(), Stopped> {
        self.view.proceed()?;
        let Work { dijkstra, start } = work;
        start.clear();
        (self.seeds)(k, start);
        let keys = start.iter().filter(|s| s.1 > self.threshold).map(|&(i, z)| (i, -z.ln()));
        let limit = -self.threshold.ln();
        dijkstra.run(self.lengths, keys, limit, |i, key, _| visit(i, (-key).exp()));
        Ok(())
    }

    fn totals(&self) -> Result<Totals, Stopped> {
        let n = self.lengths.nodes();
        let firsts: Vec<usize> = (0..n).step_by(TUNING.summed).collect();
        let parts: Vec<Totals> = firsts
            .into_par_iter()
            .map_init(
                || self.work(),
                |work, first| {
                    let mut part = Totals::nothing(n);
                    for k in first..(first + TUNING.summed).min(n) {
                        let mut is_present = false;
                        self.follow(work, k, |i, z| {
                            part.sum[i as usize] += z;
                            part.explicit[i as usize] += 1;
                            is_present = true;
                        })?;
                        part.present.push(is_present);
                    }
                    Ok(part)
                },
            )
            .collect::<Result<_, Stopped>>()?;
        let mut totals = Totals::nothing(n);
        for part in parts {
            totals.sum.iter_mut().zip(part.sum).for_each(|(all, sum)| *all += sum);
            totals.explicit.iter_mut().zip(part.explicit).for_each(|(all, count)| *all += count);
            totals.present.extend(part.present);
        }
        Ok(totals)
    }

    /// Scales, transposes to rows, and puts the last rounding error into each row's largest entry.
    fn assemble(&self, totals: &Totals, sums: &[f64]) -> Result<SparseRows, Stopped> {
        let rows = sums.len();
        let tail: Vec<f64> = sums.iter().map(|s| self.threshold / s).collect();
        let mut start = vec![0usize; rows + 1];
        for (i, explicit) in totals.explicit.iter().enumerate() {
            start[i + 1] = start[i] + explicit;
        }
        let mut next = start.clone();
        let mut column = vec![0u32; start[rows]];
        let mut value = vec![0.0; start[rows]];
        for first in (0..rows).step_by(TUNING.written) {
            let range = first..(first + TUNING.written).min(rows);
            let closed: Vec<Vec<(u32, f64)>> = range
                .clone()
                .into_par_iter()
                .map_init(
                    || self.work(),
                    |work, k| {
                        let mut entries = Vec::new();
                        self.follow(work, k, |i, z| entries.push((i, z)))?;
                        Ok(entries)
                    },
                )
                .collect::<Result<_, Stopped>>()?;
            for (k, entries) in range.zip(closed) {
                for (i, z) in entries {
                    let at = next[i as usize];
                    next[i as usize] += 1;
                    column[at] = k as u32;
                    value[at] = z / sums[i as usize];
                }
            }
        }
        let count = totals.columns();
        for i in 0..rows {
            let row = &mut value[start[i]..start[i + 1]];
            let mut sum = RowSum::of(row);
            sum.add_product(tail[i], (count - row.len()) as f64);
            if let Some(largest) = row.iter_mut().max_by(|a, b| a.total_cmp(b)) {
                *largest -= sum.excess();
            }
        }
        Ok(SparseRows::new(start, column, value, tail, totals.present.clone()))
    }
}

impl Totals {
    fn nothing(rows: usize) -> Self {
        Self { sum: vec![0.0; rows], explicit: vec![0; rows], present: Vec::new() }
    }

    /// Number of columns that are present.
    fn columns(&self) -> usize {
        self.present.iter().filter(|&&present| present).count()
    }

    /// The sum of every row, tails included.
    fn row_sums(&self, threshold: f64) -> Vec<f64> {
        let columns = self.columns();
        let with_tail =
            |(sum, explicit): (&f64, &usize)| sum + (columns - explicit) as f64 * threshold;
        self.sum.iter().zip(&self.explicit).map(with_tail).collect()
    }
}
