//! Which rows a column draws to: where its rays may be large.
//!
//! Where costs are uneven a column is not used around its own place alone. A place that is hard to reach
//! has a large dual, and every column that costs less is drawn to it: rays that peak there. A window that
//! ended near such a row would leave out what those rays cost on the other side of it, so windows reach
//! beyond every row that is drawn to.

use rayon::prelude::*;

use super::tuning::TUNING;
use super::view::{Stopped, View};
use crate::cone::Dijkstra;

/// A row that a column draws to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draw {
    pub(crate) row: u32,
    /// Whether its neighbourhood is drawn along: then a ray that peaks here may pay.
    pub(crate) strongly: bool,
}

/// The rows that each column draws to, its anchor aside.
#[derive(Clone, Debug)]
pub(crate) struct Drawn {
    start: Vec<usize>,
    draw: Vec<Draw>,
    /// What the dual of each row must not exceed.
    pub(crate) ceiling: Vec<f64>,
}

/// The columns that draw to one row, strongly or not.
struct DrawnRow {
    columns: Vec<(u32, bool)>,
    ceiling: f64,
}

impl Drawn {
    /// The draws at the duals `mu`.
    pub(crate) fn at(view: &View<'_>, mu: &[f64]) -> Result<Self, Stopped> {
        let n = view.rows();
        let rows: Vec<DrawnRow> = (0..n)
            .into_par_iter()
            .map_init(
                || (Vec::new(), Dijkstra::new(n)),
                |(below, dijkstra), i| {
                    view.proceed()?;
                    below.clear();
                    view.columns_below(i, TUNING.drawn_margin * mu[i], below);
                    Ok(DrawnRow::of(view, mu, i, below, dijkstra))
                },
            )
            .collect::<Result<_, Stopped>>()?;
        Ok(Self::from_rows(rows))
    }

    /// The rows that column `k` draws to.
    pub(crate) fn of(&self, k: usize) -> &[Draw] {
        &self.draw[self.start[k]..self.start[k + 1]]
    }

    fn from_rows(rows: Vec<DrawnRow>) -> Self {
        let n = rows.len();
        let mut start = vec![0usize; n + 1];
        for &(k, _) in rows.iter().flat_map(|row| &row.columns) {
            start[k as usize + 1] += 1;
        }
        for k in 0..n {
            start[k + 1] += start[k];
        }
        let mut next = start.clone();
        let mut draw = vec![Draw { row: 0, strongly: false }; start[n]];
        for (i, row) in rows.iter().enumerate() {
            for &(k, strongly) in &row.columns {
                draw[next[k as usize]] = Draw { row: i as u32, strongly };
                next[k as usize] += 1;
            }
        }
        Self { start, draw, ceiling: rows.iter().map(|row| row.ceiling).collect() }
    }
}

impl DrawnRow {
    /// From the columns `below` the row's dual with their costs.
    fn of(
        view: &View<'_>,
        mu: &[f64],
        i: usize,
        below: &mut Vec<(u32, f64)>,
        dijkstra: &mut Dijkstra,
    ) -> Self {
        let mut ceiling = f64::INFINITY;
        if below.len() > TUNING.most_drawn {
            let by_cost = |a: &(u32, f64), b: &(u32, f64)| a.1.total_cmp(&b.1);
            ceiling = below.select_nth_unstable_by(TUNING.most_drawn, by_cost).1.1;
            below.retain(|&(_, cost)| cost < ceiling);
        }
        // Whatever the order in which they were found.
        below.sort_unstable_by_key(|&(k, _)| k);
        let (mut rows, mut share) = (Vec::new(), Vec::new());
        let seed = std::iter::once((i as u32, 0.0));
        dijkstra.run(&view.graph, seed, TUNING.neighbourhood, |j, d, _| {
            rows.push(j);
            share.push((-d).exp());
        });
        let mut near = vec![0.0; rows.len()];
        let mut strongly = |k: u32| {
            view.gather_costs(k as usize, &rows, &mut near);
            let weights =
                rows.iter().zip(&near).map(|(&j, c)| c - TUNING.drawn_margin * mu[j as usize]);
            weights.zip(&share).map(|(weight, share)| weight * share).sum::<f64>() < 0.0
        };
        let columns = below.iter().map(|&(k, _)| (k, strongly(k))).collect();
        Self { columns, ceiling }
    }
}
