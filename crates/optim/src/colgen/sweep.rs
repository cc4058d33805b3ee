//! Passes over the columns of the master. At a thousand rows they are tens of megabytes, so what can be had from
//! one pass is taken in one: products with duals, and sums of columns by weights that these products decide.

use super::dense::{axpy, dot, vectorised};
use super::master::{Column, Kind, Master, largest};

/// A number for every row sum and link: what columns add up to there (y on the other side of a link), what is left of that,
/// or duals.
#[derive(Debug, Clone)]
pub(super) struct Equations {
    pub rows: Vec<f64>,
    pub links: Vec<f64>,
}

impl Equations {
    /// The largest of them, by magnitude.
    pub fn largest(&self) -> f64 {
        largest(&self.rows).max(largest(&self.links))
    }

    /// Adds a multiple of others.
    pub fn add(&mut self, scale: f64, others: &Self) {
        axpy(scale, &others.rows, &mut self.rows);
        axpy(scale, &others.links, &mut self.links);
    }

    pub fn as_duals(&self) -> Duals<'_> {
        (&self.rows, &self.links)
    }
}

/// Duals of the row sums and of the links.
pub(super) type Duals<'a> = (&'a [f64], &'a [f64]);

impl Master {
    /// `a_j . mu + link part` of every column j; y takes its links with the opposite sign.
    pub(super) fn along(&self, duals: Duals<'_>) -> Vec<f64> {
        self.sweep(Some(duals), |_, _| []).0
    }

    /// What the columns add up to with these weights.
    pub(super) fn sums(&self, weights: &[f64]) -> Equations {
        let (_, [sums]) = self.sweep(None, |j, _| [weights[j]]);
        sums
    }

    /// One pass: the product of every column j with the duals (zero without any), and the sums of the columns with
    /// the weights `weigh(j, product)`.
    pub(super) fn sweep<const N: usize>(
        &self,
        duals: Option<Duals<'_>>,
        mut weigh: impl FnMut(usize, f64) -> [f64; N],
    ) -> (Vec<f64>, [Equations; N]) {
        // Points of a link share its rows: those are looked up once for all of them.
        let rows_of_links = || self.links.iter().flat_map(|link| link.rows.iter());
        let of_links: Vec<f64> = match duals {
            Some((mu, _)) => rows_of_links().map(|&row| mu[row as usize]).collect(),
            None => Vec::new(),
        };
        let mut of_ys: Vec<f64> = Vec::new();
        if let Some((_, pi)) = duals {
            let is_y = |column: &&Column| column.kind == Kind::Y;
            of_ys.resize(self.columns.iter().take_while(is_y).count(), 0.0);
            for (link, pi) in self.links.iter().zip(pi) {
                if let Some(y) = link.y {
                    of_ys[y] += pi;
                }
            }
        }
        let mut sums: [Equations; N] = std::array::from_fn(|_| self.nothing());
        let mut on_links: [Vec<f64>; N] = std::array::from_fn(|_| vec![0.0; self.link_rows()]);
        let mut y_weights: Vec<[f64; N]> = Vec::new();
        let mut along = Vec::with_capacity(self.columns.len());
        vectorised(|| {
            for (j, column) in self.columns.iter().enumerate() {
                let product = match (duals, column.kind) {
                    (None, _) => 0.0,
                    (Some((_, pi)), Kind::Point { link, .. }) => {
                        let mu = &of_links[self.first_row[link]..];
                        dot(&column.values, mu) + column.beta * pi[link]
                    }
                    (Some((mu, _)), Kind::Y) => column.dot(mu) - of_ys[j],
                    (Some((mu, _)), Kind::Ray { .. }) => column.dot(mu),
                };
                along.push(product);
                let weights = weigh(j, product);
                for (n, &weight) in weights.iter().enumerate() {
                    if let Kind::Point { link, .. } = column.kind {
                        axpy(weight, &column.values, &mut on_links[n][self.first_row[link]..]);
                        sums[n].links[link] += column.beta * weight;
                    } else {
                        column.add_to(weight, &mut sums[n].rows);
                    }
                }
                if column.kind == Kind::Y {
                    y_weights.push(weights);
                }
            }
        });
        for (n, sums) in sums.iter_mut().enumerate() {
            for (&row, value) in rows_of_links().zip(&on_links[n]) {
                sums.rows[row as usize] += value;
            }
            for (sum, link) in sums.links.iter_mut().zip(&self.links) {
                if let Some(y) = link.y {
                    *sum -= y_weights[y][n];
                }
            }
        }
        (along, sums)
    }

    /// What no column at all adds up to.
    pub(super) fn nothing(&self) -> Equations {
        Equations { rows: vec![0.0; self.right_side.len()], links: vec![0.0; self.links.len()] }
    }

    /// Rows of all links together.
    pub(super) fn link_rows(&self) -> usize {
        self.links.iter().map(|link| link.rows.len()).sum()
    }
}
