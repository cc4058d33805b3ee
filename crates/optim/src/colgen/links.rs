//! The normal equations of the master with the links eliminated.
//!
//! Minimising over the duals of the links first leaves, per block, the points centred at their weighted
//! mean, and per tied column one composite ray (y with every block at its mean) whose scaling is the
//! harmonic sum of its parts. Nothing is subtracted from the finished matrix, so nothing cancels.

use super::dense::{axpy, dot, vectorised};
use super::master::{Kind, Link, Master};
use super::sweep::Equations;

/// Means of the linked blocks under the current scaling.
pub(super) struct Links {
    sigma: Vec<f64>,
    /// The mean point of every link, one after another.
    mean: Vec<f64>,
    /// Every y with its links.
    groups: Vec<Group>,
    /// The composite ray of every group, one after another.
    composites: Vec<f64>,
    /// Per link: the group of its y, if any.
    group_of_link: Vec<Option<usize>>,
}

/// A y with its links: own scaling, and that of its composite ray.
struct Group {
    scaling: f64,
    effective: f64,
    /// Sum of `1 / sigma` over the links.
    spread: f64,
}

impl Master {
    /// Builds and factors the normal matrix for a scaling.
    pub(super) fn prepare(&mut self, scaling: &[f64], diagonal: &[f64]) -> Links {
        let links = self.link_means(scaling);
        let mut factor = std::mem::take(&mut self.factor);
        factor.clear();
        let mut centred = Vec::new();
        vectorised(|| {
            for (column, &d) in self.columns.iter().zip(scaling) {
                match column.kind {
                    Kind::Ray { .. } => {
                        factor.add_scaled(d.sqrt(), column.rows.as_deref(), &column.values)
                    }
                    Kind::Point { link, .. } => {
                        let root = d.sqrt();
                        let pairs = column.values.iter().zip(&links.mean[self.first_row[link]..]);
                        centred.clear();
                        centred.extend(pairs.map(|(a, m)| root * (a - column.beta * m)));
                        factor.add_local(&self.links[link].rows, &centred);
                    }
                    Kind::Y => {}
                }
            }
        });
        let rows = self.right_side.len();
        for (group, composite) in links.groups.iter().zip(links.composites.chunks_exact(rows)) {
            factor.add_scaled(group.effective.sqrt(), None, composite);
        }
        factor.factor(diagonal, self.threads);
        self.factor = factor;
        links
    }

    /// Every link with its mean point.
    fn with_means<'a>(&'a self, mean: &'a [f64]) -> impl Iterator<Item = (&'a Link, &'a [f64])> {
        let starts = self.links.iter().zip(&self.first_row);
        starts.map(|(link, &first)| (link, &mean[first..first + link.rows.len()]))
    }

    fn link_means(&self, scaling: &[f64]) -> Links {
        let count = self.links.len();
        let mut sigma = vec![0.0; count];
        let mut mean = vec![0.0; self.link_rows()];
        vectorised(|| {
            for (column, &d) in self.columns.iter().zip(scaling) {
                if let Kind::Point { link, .. } = column.kind {
                    sigma[link] += d * column.beta * column.beta;
                    axpy(d * column.beta, &column.values, &mut mean[self.first_row[link]..]);
                }
            }
        });
        for ((link, &first), sigma) in self.links.iter().zip(&self.first_row).zip(&sigma) {
            mean[first..first + link.rows.len()].iter_mut().for_each(|m| *m /= sigma);
        }
        let rows = self.right_side.len();
        let mut group_of_y = vec![None; self.columns.len()];
        let (mut groups, mut composites) = (Vec::new(), Vec::new());
        for (j, column) in self.columns.iter().enumerate() {
            if column.kind == Kind::Y {
                group_of_y[j] = Some(groups.len());
                groups.push(Group { scaling: scaling[j], effective: 0.0, spread: 0.0 });
                composites.extend_from_slice(&column.values);
            }
        }
        let mut group_of_link = vec![None; count];
        for (index, (link, mean)) in self.with_means(&mean).enumerate() {
            let Some(group) = link.y.and_then(|y| group_of_y[y]) else { continue };
            group_of_link[index] = Some(group);
            groups[group].spread += 1.0 / sigma[index];
            let composite = &mut composites[group * rows..][..rows];
            for (&row, mean) in link.rows.iter().zip(mean) {
                composite[row as usize] += mean;
            }
        }
        for group in &mut groups {
            group.effective = group.scaling / (1.0 + group.scaling * group.spread);
        }
        Links { sigma, mean, groups, composites, group_of_link }
    }

    /// Solves the normal equations with the links eliminated: duals from row sums and links.
    pub(super) fn eliminate(&self, right_side: &Equations, links: &Links) -> Equations {
        let Equations { rows: mut h, links: g } = right_side.clone();
        let rows = h.len();
        let mut spread = vec![0.0; links.groups.len()];
        for (index, (link, mean)) in self.with_means(&links.mean).enumerate() {
            for (&row, mean) in link.rows.iter().zip(mean) {
                h[row as usize] -= mean * g[index];
            }
            if let Some(group) = links.group_of_link[index] {
                spread[group] += g[index] / links.sigma[index];
            }
        }
        let composites = || links.groups.iter().zip(links.composites.chunks_exact(rows));
        for ((group, composite), spread) in composites().zip(&spread) {
            axpy(group.effective * spread, composite, &mut h);
        }
        self.factor.solve(&mut h);
        let mu = h;
        let flow: Vec<f64> = (composites().zip(&spread))
            .map(|((group, composite), spread)| group.effective * (dot(composite, &mu) - spread))
            .collect();
        let pi = (self.with_means(&links.mean).enumerate())
            .map(|(index, (link, mean))| {
                let pulled = links.group_of_link[index].map_or(0.0, |group| flow[group]);
                let rows = link.rows.iter().zip(mean);
                let mean: f64 = rows.map(|(&row, m)| m * mu[row as usize]).sum();
                (g[index] + pulled) / links.sigma[index] - mean
            })
            .collect();
        Equations { rows: mu, links: pi }
    }
}
