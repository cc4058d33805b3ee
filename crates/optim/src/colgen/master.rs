//! The restricted master problem and its interior iterate (`interior` takes the steps).
//!
//! ```text
//! min  sum c_j x_j   s.t.  sum_j x_j a_j + artificial = b       (row sums, duals mu)
//!                          sum_{j in block} beta_j x_j = y or 1 (links, duals pi),   x >= 0
//! ```
//! Points of a rooted block are linked to the y of their column or to the constant 1. The links are
//! eliminated: within a block the normal matrix needs only the points centred at their weighted mean,
//! supported on the block's few rows, and per tied column one composite ray. So the dense work grows
//! with rows and columns, not with the number of points.

use super::dense::{Factor, axpy, dot};
use super::sweep::Equations;
use super::tuning::TUNING;
use std::sync::Arc;

/// Row sums or links that are this far off belong to no iterate worth going on from.
const LOST: f64 = 1e6;

/// What a column of the master stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A ray of a cone block.
    Ray { block: usize },
    /// The y of a tied column.
    Y,
    /// A point of a rooted block, in this link.
    Point { block: usize, link: usize },
}

/// One column: values on some rows (or all), its cost, and its coefficient in its link.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub kind: Kind,
    /// `None`: one value for every row.
    pub rows: Option<Arc<[u32]>>,
    pub values: Vec<f64>,
    pub cost: f64,
    pub beta: f64,
}

impl Column {
    #[inline(always)]
    pub fn dot(&self, v: &[f64]) -> f64 {
        match &self.rows {
            None => dot(&self.values, v),
            Some(rows) => rows.iter().zip(&self.values).map(|(&r, a)| a * v[r as usize]).sum(),
        }
    }

    /// What the column is measured in: rays and points are scaled to 1, a y is as small as its largest factor.
    fn size(&self) -> f64 {
        match self.kind {
            Kind::Y => self.values.iter().fold(f64::MIN_POSITIVE, |most: f64, v| most.max(*v)),
            _ => 1.0,
        }
    }

    /// Adds a multiple to a vector over all rows.
    #[inline(always)]
    pub fn add_to(&self, scale: f64, out: &mut [f64]) {
        match &self.rows {
            None => axpy(scale, &self.values, out),
            Some(rows) => {
                for (&row, value) in rows.iter().zip(&self.values) {
                    out[row as usize] += scale * value;
                }
            }
        }
    }
}

/// A link: the weights of a block's points sum up to y (that column of the master) or to 1.
#[derive(Debug, Clone)]
pub(crate) struct Link {
    pub y: Option<usize>,
    /// Rows of the block's points.
    pub rows: Arc<[u32]>,
}

/// The restricted master with its interior iterate.
#[derive(Debug)]
pub(crate) struct Master {
    pub right_side: Vec<f64>,
    pub columns: Vec<Column>,
    pub links: Vec<Link>,
    /// Weight and slack of every column.
    pub x: Vec<f64>,
    pub s: Vec<f64>,
    /// Duals of row sums and links.
    pub mu: Vec<f64>,
    pub pi: Vec<f64>,
    /// Artificial columns: rows left short (`+`) or overfull (`-`), each at this cost.
    pub penalty: Vec<f64>,
    /// Artificials box the duals of the row sums: within `penalty` of this centre.
    pub box_centre: Vec<f64>,
    pub short: Artificial,
    pub over: Artificial,
    /// Where each link's rows begin among the rows of all links.
    pub(super) first_row: Vec<usize>,
    pub(super) factor: Factor,
    pub(super) threads: usize,
}

/// One artificial variable per row.
#[derive(Debug, Clone)]
pub(crate) struct Artificial {
    pub x: Vec<f64>,
    pub s: Vec<f64>,
}

impl Master {
    pub fn new(right_side: Vec<f64>, links: Vec<Link>, penalty: Vec<f64>, threads: usize) -> Self {
        let rows = right_side.len();
        let pi = vec![0.0; links.len()];
        let first_row = links
            .iter()
            .scan(0, |next, link| Some(std::mem::replace(next, *next + link.rows.len())))
            .collect();
        let artificial = Artificial { x: vec![1.0; rows], s: penalty.clone() };
        Self {
            right_side,
            columns: Vec::new(),
            links,
            x: Vec::new(),
            s: Vec::new(),
            mu: vec![0.0; rows],
            pi,
            penalty,
            box_centre: vec![0.0; rows],
            short: artificial.clone(),
            over: artificial,
            first_row,
            factor: Factor::new(rows),
            threads,
        }
    }

    pub fn push(&mut self, column: Column, x: f64, s: f64) {
        self.columns.push(column);
        self.x.push(x);
        self.s.push(s);
    }

    /// Cost of the current weights, artificials not counted.
    pub fn objective(&self) -> f64 {
        self.columns.iter().zip(&self.x).map(|(column, x)| column.cost * x).sum()
    }

    /// `sum x s` over all variables.
    pub fn complementarity(&self) -> f64 {
        dot(&self.x, &self.s) + dot(&self.short.x, &self.short.s) + dot(&self.over.x, &self.over.s)
    }

    /// Number of variables, artificials included.
    pub fn variables(&self) -> usize {
        self.x.len() + 2 * self.right_side.len()
    }

    /// Mean complementarity.
    pub fn centre(&self) -> f64 {
        self.complementarity() / self.variables() as f64
    }

    /// Reduced costs of all columns, y with its links.
    pub fn reduced_costs(&self) -> Vec<f64> {
        let mut reduced = self.along((&self.mu, &self.pi));
        for (reduced, column) in reduced.iter_mut().zip(&self.columns) {
            *reduced = column.cost - *reduced;
        }
        reduced
    }

    /// Largest primal residual of the row sums and links.
    pub fn primal_error(&self) -> f64 {
        self.measured_residuals(true).largest()
    }

    /// Residuals of row sums and links, the latter as shares of their y: where that is 1e9, 1e-7 is rounding.
    pub(super) fn measured_residuals(&self, artificials: bool) -> Equations {
        let mut left = self.primal_residuals(artificials);
        for (residual, link) in left.links.iter_mut().zip(&self.links) {
            *residual /= link.y.map_or(1.0, |y| self.x[y].max(1.0));
        }
        left
    }

    /// What the points of every link sum up to, y on the other side.
    pub(super) fn link_sums(&self) -> Vec<f64> {
        self.links.iter().map(|link| if link.y.is_some() { 0.0 } else { 1.0 }).collect()
    }

    pub(super) fn primal_residuals(&self, artificials: bool) -> Equations {
        let sums = self.sums(&self.x);
        self.left_by(&sums, artificials)
    }

    /// What columns that add up to `sums` leave of the row sums and links.
    pub(super) fn left_by(&self, sums: &Equations, artificials: bool) -> Equations {
        let mut rows = difference(&self.right_side, &sums.rows);
        if artificials {
            for (residual, (over, short)) in
                rows.iter_mut().zip(self.over.x.iter().zip(&self.short.x))
            {
                *residual += over - short;
            }
        }
        Equations { rows, links: difference(&self.link_sums(), &sums.links) }
    }

    /// A starting point from nothing: weights spread evenly, slacks from simple duals.
    pub fn start(&mut self, scale: f64) {
        let rows = self.right_side.len();
        let mut sums = vec![0.0; rows];
        for column in &self.columns {
            column.add_to(1.0, &mut sums);
        }
        let typical = sums.iter().sum::<f64>() / rows as f64;
        let x = 1.0 / typical.max(1e-3);
        let reduced = self.reduced_costs();
        let mut points = vec![0.0; self.links.len()];
        for column in &self.columns {
            if let Kind::Point { link, .. } = column.kind {
                points[link] += 1.0;
            }
        }
        for (value, column) in self.x.iter_mut().zip(&self.columns) {
            *value = match column.kind {
                Kind::Point { link, .. } if self.links[link].y.is_none() => 1.0 / points[link],
                _ => x,
            };
        }
        for (s, reduced) in self.s.iter_mut().zip(reduced) {
            *s = reduced.max(0.1 * scale);
        }
        for i in 0..rows {
            self.short.x[i] = 0.1;
            self.over.x[i] = 0.1;
            self.short.s[i] = (self.box_centre[i] + self.penalty[i] - self.mu[i]).max(0.1 * scale);
            self.over.s[i] = (self.penalty[i] - self.box_centre[i] + self.mu[i]).max(0.1 * scale);
        }
    }

    /// What the artificial weights cost.
    pub fn artificial_cost(&self) -> f64 {
        let each = |i: usize| {
            let (radius, centre) = (self.penalty[i], self.box_centre[i]);
            self.short.x[i] * (radius + centre) + self.over.x[i] * (radius - centre)
        };
        (0..self.mu.len()).map(each).sum()
    }

    /// How far the row sums (in units of each row) and links are from being met without artificials.
    pub fn imbalance(&self, unit: &[f64], scale: f64) -> f64 {
        let left = self.measured_residuals(false);
        left.rows.iter().zip(unit).map(|(residual, unit)| residual.abs() * unit).sum::<f64>()
            + left.links.iter().map(|residual| residual.abs() * scale).sum::<f64>()
    }

    /// Whether every number of the iterate is finite, and row sums and links are not lost altogether.
    pub fn is_sound(&self) -> bool {
        let sums = [&self.x, &self.s, &self.mu, &self.pi].map(|v| v.iter().sum::<f64>());
        sums.iter().all(|sum| sum.is_finite()) && self.primal_error() < LOST
    }

    /// Goes on from new duals of the row sums (those of the links are in place): every slack is the
    /// reduced cost it should be, and columns from `first_new` on get the weight that complements it.
    pub fn restart(&mut self, mu: Vec<f64>, centre: f64, first_new: usize) {
        self.mu = mu;
        for (j, reduced) in self.reduced_costs().into_iter().enumerate() {
            let column = &self.columns[j];
            self.s[j] = reduced.max(1e-3 * centre * column.size());
            if j >= first_new {
                self.x[j] = 0.3 * centre / self.s[j];
                if let Kind::Point { link, .. } = column.kind {
                    // No more than its link: a point that is small beside y would claim a multiple of it.
                    let whole = self.links[link].y.map_or(1.0, |y| self.x[y]);
                    self.x[j] = self.x[j].min(whole / column.beta);
                }
            }
        }
        self.box_centre.clone_from(&self.mu);
        for i in 0..self.mu.len() {
            // What both sides have in common cancels; only the difference is needed.
            let common = self.short.x[i].min(self.over.x[i]) - centre / self.penalty[i];
            self.short.x[i] -= common;
            self.over.x[i] -= common;
            self.short.s[i] = self.penalty[i];
            self.over.s[i] = self.penalty[i];
        }
    }

    /// Keeps the `most` rays and points that carry most (largest x / s), every y, and every point that carries
    /// its link: where y is far from the scale of the rows, a link may be lost that no row would miss.
    pub fn keep(&mut self, most: usize) {
        let count = self.columns.len();
        if count <= most {
            return;
        }
        let mut sums = vec![0.0; self.links.len()];
        for (column, x) in self.columns.iter().zip(&self.x) {
            if let Kind::Point { link, .. } = column.kind {
                sums[link] += column.beta * x;
            }
        }
        let is_needed = |(column, x): (&Column, &f64)| match column.kind {
            Kind::Ray { .. } => false,
            Kind::Y => true,
            Kind::Point { link, .. } => column.beta * x >= TUNING.link_share * sums[link],
        };
        let mut kept: Vec<bool> = self.columns.iter().zip(&self.x).map(is_needed).collect();
        // Every y stays, and none takes the place of another: its scale is not that of the points.
        let ranked = |&j: &usize| self.columns[j].kind != Kind::Y;
        let mut order: Vec<usize> = (0..count).filter(ranked).collect();
        order.sort_by(|&a, &b| (self.x[b] / self.s[b]).total_cmp(&(self.x[a] / self.s[a])));
        order.into_iter().take(most).for_each(|j| kept[j] = true);
        let mut position = 0;
        self.columns.retain(|_| {
            position += 1;
            kept[position - 1]
        });
        for values in [&mut self.x, &mut self.s] {
            let mut position = 0;
            values.retain(|_| {
                position += 1;
                kept[position - 1]
            });
        }
    }
}

pub(super) fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

pub(super) fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |largest: f64, v| largest.max(v.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A round in which every place is near one user and tied to next to nothing for all others: as many y as
    /// columns, each of a scale of its own.
    #[test]
    fn no_y_takes_the_place_of_a_ray_that_carries_a_row() {
        let mut master = Master::new(vec![1.0], Vec::new(), vec![1.0], 1);
        let column =
            |kind, value| Column { kind, rows: None, values: vec![value], cost: 1.0, beta: 0.0 };
        for _ in 0..8 {
            master.push(column(Kind::Y, 1e-10), 1e3, 1e-11);
        }
        for block in 0..8 {
            let x = if block == 5 { 1.0 } else { 1e-6 };
            master.push(column(Kind::Ray { block }, 1.0), x, 1e-7);
        }
        master.keep(2);
        assert_eq!(master.columns.iter().filter(|c| c.kind == Kind::Y).count(), 8);
        let heavy = master.columns.iter().position(|c| c.kind == Kind::Ray { block: 5 });
        assert_eq!(heavy.map(|j| (master.x[j], master.s[j])), Some((1.0, 1e-7)));
        assert_eq!((master.columns.len(), master.x.len(), master.s.len()), (10, 10, 10));
    }

    /// Two points share a link whose y is so small beside the rows that neither is worth keeping for these.
    #[test]
    fn points_that_carry_their_link_stay() {
        let rows: Arc<[u32]> = vec![0].into();
        let links = vec![Link { y: Some(0), rows: rows.clone() }];
        let mut master = Master::new(vec![1.0], links, vec![1.0], 1);
        let column = |kind, rows, beta| Column { kind, rows, values: vec![1.0], cost: 1.0, beta };
        master.push(column(Kind::Y, None, 1.0), 2e-3, 1e-3);
        for block in 0..4 {
            master.push(column(Kind::Ray { block }, None, 0.0), 0.25, 1e-6);
        }
        let point = |block| column(Kind::Point { block, link: 0 }, Some(rows.clone()), 1e6);
        for (block, x) in [(4, 1e-9), (5, 1e-9), (6, 1e-14)] {
            master.push(point(block), x, 1.0);
        }
        master.keep(4);
        let points = master.columns.iter().filter_map(|column| match column.kind {
            Kind::Point { block, .. } => Some(block),
            _ => None,
        });
        assert_eq!(points.collect::<Vec<_>>(), [4, 5]);
    }
}
