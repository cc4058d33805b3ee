//! The normal equations of the master with the links eliminated.
//!
//! Minimising over the duals of the links first leaves, per block, the points centred at their weighted
//! mean, and per tied column one composite ray (y with every block at its mean) whose scaling is the
//! harmonic sum of its parts. Nothing is subtracted from the finished matrix, so nothing cancels.

use super::dense::{axpy, dot};
use super::master::{Kind, Master};

/// Means of the linked blocks under the current scaling.
pub(super) struct Links {
    sigma: Vec<f64>,
    mean: Vec<Vec<f64>>,
    /// Per link: the group index of its y, if any.
    groups: Vec<Group>,
    group_of_link: Vec<Option<usize>>,
}

/// A y with its links: composite ray, own scaling and effective scaling.
struct Group {
    composite: Vec<f64>,
    scaling: f64,
    effective: f64,
    links: Vec<usize>,
}

impl Master {
    /// Builds and factors the normal matrix for a scaling.
    pub(super) fn prepare(&mut self, scaling: &[f64], diagonal: &[f64]) -> Links {
        let links = self.link_means(scaling);
        let mut factor = std::mem::take(&mut self.factor);
        factor.clear();
        for (column, &d) in self.columns.iter().zip(scaling) {
            match column.kind {
                Kind::Ray { .. } => {
                    factor.add_scaled(d.sqrt(), column.rows.as_deref(), &column.values)
                }
                Kind::Point { link, .. } => {
                    let root = d.sqrt();
                    let mean = &links.mean[link];
                    let centred: Vec<f64> = column
                        .values
                        .iter()
                        .zip(mean)
                        .map(|(a, m)| root * (a - column.beta * m))
                        .collect();
                    factor.add_local(&self.links[link].rows, &centred);
                }
                Kind::Y => {}
            }
        }
        for group in &links.groups {
            factor.add_scaled(group.effective.sqrt(), None, &group.composite);
        }
        factor.factor(diagonal, self.threads);
        self.factor = factor;
        links
    }

    fn link_means(&self, scaling: &[f64]) -> Links {
        let count = self.links.len();
        let mut sigma = vec![0.0; count];
        let mut mean: Vec<Vec<f64>> = self.links.iter().map(|l| vec![0.0; l.rows.len()]).collect();
        for (column, &d) in self.columns.iter().zip(scaling) {
            if let Kind::Point { link, .. } = column.kind {
                sigma[link] += d * column.beta * column.beta;
                axpy(d * column.beta, &column.values, &mut mean[link]);
            }
        }
        for (mean, sigma) in mean.iter_mut().zip(&sigma) {
            mean.iter_mut().for_each(|m| *m /= sigma);
        }
        let mut group_of_y = vec![None; self.columns.len()];
        let mut groups: Vec<Group> = Vec::new();
        for (j, column) in self.columns.iter().enumerate() {
            if column.kind == Kind::Y {
                let mut composite = vec![0.0; self.right_side.len()];
                column.add_to(1.0, &mut composite);
                group_of_y[j] = Some(groups.len());
                let (scaling, links) = (scaling[j], Vec::new());
                groups.push(Group { composite, scaling, effective: 0.0, links });
            }
        }
        let mut group_of_link = vec![None; count];
        for (index, link) in self.links.iter().enumerate() {
            let Some(y) = link.y else { continue };
            let Some(group) = group_of_y[y] else { continue };
            group_of_link[index] = Some(group);
            groups[group].links.push(index);
            for (&row, mean) in link.rows.iter().zip(&mean[index]) {
                groups[group].composite[row as usize] += mean;
            }
        }
        for group in &mut groups {
            let spread: f64 = group.links.iter().map(|&l| 1.0 / sigma[l]).sum();
            group.effective = group.scaling / (1.0 + group.scaling * spread);
        }
        Links { sigma, mean, groups, group_of_link }
    }

    /// Solves the normal equations with the links eliminated.
    pub(super) fn eliminate(
        &self,
        mut h: Vec<f64>,
        g: &[f64],
        links: &Links,
    ) -> (Vec<f64>, Vec<f64>) {
        for (index, link) in self.links.iter().enumerate() {
            for (&row, mean) in link.rows.iter().zip(&links.mean[index]) {
                h[row as usize] -= mean * g[index];
            }
        }
        let spread: Vec<f64> = (links.groups.iter())
            .map(|group| group.links.iter().map(|&l| g[l] / links.sigma[l]).sum())
            .collect();
        for (group, spread) in links.groups.iter().zip(&spread) {
            axpy(group.effective * spread, &group.composite, &mut h);
        }
        self.factor.solve(&mut h);
        let mu = h;
        let flow: Vec<f64> = (links.groups.iter().zip(&spread))
            .map(|(group, spread)| group.effective * (dot(&group.composite, &mu) - spread))
            .collect();
        let pi = (0..self.links.len())
            .map(|index| {
                let pulled = links.group_of_link[index].map_or(0.0, |group| flow[group]);
                let mean: f64 = (self.links[index].rows.iter().zip(&links.mean[index]))
                    .map(|(&row, m)| m * mu[row as usize])
                    .sum();
                (g[index] + pulled) / links.sigma[index] - mean
            })
            .collect();
        (mu, pi)
    }
}
