//! All columns with their windows: costs, trees and current rays, side by side in flat arrays.

use rayon::prelude::*;

use super::partition::{Part, partition};
use super::tuning::TUNING;
use super::view::{Stopped, View};
use super::window::Windows;
use crate::cone::{Graph, Link, Member, Pricer, Transplant, family};

/// The state of pricing: one tree and one ray for every column, on its window.
pub(crate) struct Columns {
    pub(crate) windows: Windows,
    /// Costs on the windows.
    pub(crate) cost: Vec<f64>,
    /// The tree each column was priced to last.
    pub(crate) tree: Vec<Link>,
    /// The ray of that tree, 1 at the anchor.
    pub(crate) ray: Vec<f32>,
    families: Vec<Vec<Member>>,
    /// Whether the trees are still those of shortest paths.
    is_fresh: bool,
}

/// One column while its family is priced.
struct Priced<'a> {
    member: Member,
    tree: &'a mut [Link],
    ray: &'a mut [f32],
    value: f64,
}

/// The largest entry of a ray.
pub(crate) struct Peak {
    pub(crate) row: usize,
    pub(crate) value: f64,
}

impl Columns {
    /// Shortest-path trees and their rays `exp(-eps D)` on windows of the given log-radius.
    pub(crate) fn new(view: &View<'_>, radius: f64) -> Result<Self, Stopped> {
        Self::on(view, Windows::grow(view, &view.graph, radius)?)
    }

    /// Shortest-path trees and their rays on the given windows.
    pub(crate) fn on(view: &View<'_>, windows: Windows) -> Result<Self, Stopped> {
        let trees = (0..windows.columns()).flat_map(|k| windows.of(k).parent);
        let tree = trees.map(|&parent| Link::floor(parent)).collect();
        Ok(Self { is_fresh: true, ..Self::with_trees(view, windows, tree)? })
    }

    /// Trees that were priced before; the rays are those of shortest paths until they are priced again.
    pub(crate) fn with_trees(
        view: &View<'_>,
        windows: Windows,
        tree: Vec<Link>,
    ) -> Result<Self, Stopped> {
        let mut cost = vec![0.0; windows.entries()];
        split_by_window(&windows, &mut cost).par_iter_mut().enumerate().try_for_each(
            |(k, cost)| {
                view.proceed()?;
                view.gather_costs(k, windows.of(k).rows, cost);
                Ok(())
            },
        )?;
        let ray = shortest_path_rays(&windows);
        let families = families(view)?;
        Ok(Self { windows, cost, tree, ray, families, is_fresh: false })
    }

    /// The rays `exp(-length)` of another set of arcs, without costs or trees.
    pub(crate) fn rays_only(view: &View<'_>, graph: &Graph, radius: f64) -> Result<Self, Stopped> {
        let windows = Windows::grow(view, graph, radius)?;
        let ray = shortest_path_rays(&windows);
        let (cost, tree, families) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self { windows, cost, tree, ray, families, is_fresh: true })
    }

    /// The same columns with every ray back at `exp(-scale * eps D)`.
    pub(crate) fn with_shortest_path_rays(mut self, scale: f64) -> Self {
        for k in 0..self.windows.columns() {
            let range = self.windows.range(k);
            for (r, &d) in self.ray[range].iter_mut().zip(self.windows.of(k).distance) {
                *r = (-scale * f64::from(d)).exp() as f32;
            }
        }
        self
    }

    /// The cost of each current ray.
    pub(crate) fn ray_costs(&self) -> Vec<f64> {
        (0..self.windows.columns())
            .into_par_iter()
            .map(|k| {
                let range = self.windows.range(k);
                let ray = &self.ray[range.clone()];
                self.cost[range].iter().zip(ray).map(|(c, &r)| c * f64::from(r)).sum()
            })
            .collect()
    }

    /// Prices every column at `mu` from its last tree, or at first from a neighbour's; returns the reduced costs.
    pub(crate) fn price(
        &mut self,
        view: &View<'_>,
        mu: &[f64],
        precision: f64,
    ) -> Result<Vec<f64>, Stopped> {
        let (windows, cost) = (&self.windows, &self.cost);
        let is_first = std::mem::replace(&mut self.is_fresh, false);
        let mut trees: Vec<_> =
            split_by_window(windows, &mut self.tree).into_iter().map(Some).collect();
        let mut rays: Vec<_> =
            split_by_window(windows, &mut self.ray).into_iter().map(Some).collect();
        let mut priced: Vec<Vec<Priced<'_>>> = Vec::with_capacity(self.families.len());
        for family in &self.families {
            let one = |member: &Member| {
                let (tree, ray) =
                    (trees[member.column as usize].take(), rays[member.column as usize].take());
                Some(Priced { member: *member, tree: tree?, ray: ray?, value: 0.0 })
            };
            priced.push(family.iter().filter_map(one).collect());
        }
        priced.par_iter_mut().try_for_each_init(
            || (Pricer::new(view.rows()), Transplant::default()),
            |(pricer, transplant), family| {
                for at in 0..family.len() {
                    view.proceed()?;
                    let (earlier, rest) = family.split_at_mut(at);
                    let Priced { member, tree, ray, value } = &mut rest[0];
                    let k = member.column as usize;
                    let window = windows.of(k);
                    let weight = |(&i, c): (&u32, &f64)| c - mu[i as usize];
                    let weights = window.rows.iter().zip(&cost[windows.range(k)]).map(weight);
                    pricer.load(&view.graph, window.rows, weights);
                    let warm = member.starts_from.filter(|_| is_first).and_then(|other| {
                        let other = &earlier[other as usize];
                        let from = windows.of(other.member.column as usize);
                        transplant.fit(pricer, from.rows, other.tree)
                    });
                    pricer.plant(warm.unwrap_or(tree));
                    *value = pricer.optimise(precision, TUNING.pivots_per_row * window.rows.len());
                    tree.iter_mut().zip(pricer.links()).for_each(|(old, new)| *old = new);
                    ray.iter_mut().zip(pricer.ray()).for_each(|(r, z)| *r = *z as f32);
                }
                Ok(())
            },
        )?;
        let mut reduced = vec![0.0; windows.columns()];
        for column in priced.iter().flatten() {
            reduced[column.member.column as usize] = column.value;
        }
        Ok(reduced)
    }

    /// Where each current ray is largest.
    pub(crate) fn peaks(&self) -> Vec<Peak> {
        (0..self.windows.columns())
            .map(|k| {
                let rows = self.windows.of(k).rows.iter();
                let first = Peak { row: k, value: f64::from(f32::MIN_POSITIVE) };
                rows.zip(&self.ray[self.windows.range(k)]).fold(first, |peak, (&i, &r)| {
                    let value = f64::from(r);
                    if value > peak.value { Peak { row: i as usize, value } } else { peak }
                })
            })
            .collect()
    }

    /// `R' p` for the current rays: what a change `p` of the duals takes from each column.
    pub(crate) fn transposed_product(&self, p: &[f64]) -> Vec<f64> {
        (0..self.windows.columns())
            .into_par_iter()
            .map(|k| {
                let rows = self.windows.of(k).rows;
                let ray = &self.ray[self.windows.range(k)];
                rows.iter().zip(ray).map(|(&i, &r)| f64::from(r) * p[i as usize]).sum()
            })
            .collect()
    }
}

/// `exp(-length)` on every window.
fn shortest_path_rays(windows: &Windows) -> Vec<f32> {
    let mut ray = Vec::with_capacity(windows.entries());
    let distances = (0..windows.columns()).flat_map(|k| windows.of(k).distance);
    ray.extend(distances.map(|&d| (-f64::from(d)).exp() as f32));
    ray
}

/// All columns in families of rows that lie together: what two columns cost in any row differs at most by what it costs to
/// report one from the other's place.
fn families(view: &View<'_>) -> Result<Vec<Vec<Member>>, Stopped> {
    let mut parts = partition(&view.graph, TUNING.family, 0.0);
    let costs = |column: u32, others: &[u32], costs: &mut [f64]| {
        view.gather_costs(column as usize, others, costs);
    };
    let one =
        |part: &mut Part| view.proceed().map(|()| family(&mut part.core, TUNING.family, costs));
    parts.par_iter_mut().map(one).collect()
}

/// Cuts an array that runs parallel to the windows into one slice per column.
pub(crate) fn split_by_window<'a, T>(windows: &Windows, array: &'a mut [T]) -> Vec<&'a mut [T]> {
    let mut slices = Vec::with_capacity(windows.columns());
    let mut rest = array;
    for k in 0..windows.columns() {
        let (slice, after) = rest.split_at_mut(windows.range(k).len());
        slices.push(slice);
        rest = after;
    }
    slices
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::DenseCost;
    use crate::problem::{Arc, Problem, ProblemParts};

    /// A grid 14 places wide whose costs are those of distances, unevenly weighed.
    fn problem() -> Problem {
        let (side, n) = (14usize, 196);
        let far = |i: usize, k: usize| {
            let (dx, dy) = ((i % side).abs_diff(k % side), (i / side).abs_diff(k / side));
            (dx * dx + dy * dy) as f64
        };
        let cost = |e: usize| far(e / n, e % n).sqrt() * (1.0 + ((e / n * 7) % 5) as f64);
        let cost = DenseCost::new(n, n, (0..n * n).map(cost).collect()).unwrap();
        let pairs = (0..n).flat_map(|i| (0..i).map(move |j| (i, j)));
        let near = pairs.filter(|&(i, j)| far(i, j) <= 2.0);
        let arcs = near.map(|(i, j)| Arc { i, j, d: far(i, j).sqrt() }).collect();
        Problem::new(ProblemParts::untied(0.7, cost, arcs)).unwrap()
    }

    #[test]
    fn a_tree_from_a_neighbour_prices_to_the_same_optimum() {
        let problem = problem();
        let view = View::new(&problem, None).unwrap();
        let mut warm = Columns::new(&view, 5.0).unwrap();
        let mut alone = Columns { is_fresh: false, ..Columns::new(&view, 5.0).unwrap() };
        assert!(warm.families.iter().flatten().filter(|m| m.starts_from.is_some()).count() > 190);
        // Duals high enough that rays leave the shortest-path trees.
        let mu: Vec<f64> = (0..view.rows()).map(|i| 3.0 + (2 * ((i * 13) % 7)) as f64).collect();
        let from_others = warm.price(&view, &mu, 1e-12).unwrap();
        let own = alone.price(&view, &mu, 1e-12).unwrap();
        for (k, (a, b)) in from_others.iter().zip(&own).enumerate() {
            assert!((a - b).abs() <= 1e-8 * (1.0 + b.abs()), "column {k}: {a} instead of {b}");
        }
        assert!(own.iter().any(|&value| value < -1.0), "nothing was drawn");
    }
}
