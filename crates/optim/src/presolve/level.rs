//! A coarser level of a fine map: the same problem on a net of its rows, with few of its columns.
//!
//! On a fine map near rows report nearly alike and near columns are nearly as good as each other, so most of what a solve has to find out
//! is known once the problem is solved on a *net*: rows so far apart that none is within a radius of another, and all others within it of one. A row
//! between them has a *share* in each that is near, and its costs count there in that proportion; every row of the net keeps the column in which a
//! kernel around it costs least. Rows of the net are as far apart as the shortest path between them.
//!
//! The way back is a start, not an answer: duals in proportion to what each row's own would be ([`Level::duals`]), which prove a bound some per cent
//! below the optimum. (Columns continued between the rows of the net, by the mean of the least and the greatest logarithm that arcs allow, helped no solve.)

use crate::cone::{Dijkstra, Graph};
use crate::cost::DenseCost;
use crate::error::Error;
use crate::problem::{Arc, Problem, ProblemParts};

/// How coarse a level is.
struct Tuning {
    /// Radius of the net, in logarithms: e-folds of what rows report. With 0.7 Reykjavik (250 m, 2,503 places) has a level of 1,109 rows
    /// instead of 658, which takes 14 s instead of 4 and saves one iteration of eight.
    radius: f64,
    /// But no less than so many times the mean distance between neighbours: San Francisco (500 m, e-folds 500 m too) at 1.3 and 2 took as long.
    neighbours: f64,
    /// Rows have shares in rows of the net up to this many radii away.
    shared: f64,
    /// Arcs of the level and kernels around its rows reach so many radii, and arcs at least to so many of the nearest rows: a net may have islands.
    arcs: f64,
    kernels: f64,
    nearest: usize,
}

const TUNING: Tuning =
    Tuning { radius: 1.0, neighbours: 2.0, shared: 1.25, arcs: 3.0, kernels: 4.0, nearest: 12 };

/// Rows of the net that are near another row, and how far they are.
type Near = Vec<(u32, f64)>;

/// The problem on a net of its rows, and the way back.
pub(crate) struct Level {
    pub(crate) problem: Problem,
    /// The columns of the finer problem that this one has, in ascending order.
    pub(crate) columns: Vec<usize>,
    /// For every row of the finer problem.
    near: Vec<Near>,
    radius: f64,
}

impl Level {
    /// The next coarser level of a problem without ties and bounds whose rows arcs join.
    pub(crate) fn of(problem: &Problem) -> Result<Self, Error> {
        let arcs = problem.arcs().iter();
        let arcs = arcs.map(|arc| (arc.i as u32, arc.j as u32, problem.log_ratio(arc)));
        let graph = Graph::symmetric(problem.rows(), arcs);
        let radius = TUNING.radius.max(TUNING.neighbours * problem.mean_shortest_arc());
        let net = net(problem, &graph, radius);
        let (near, arcs) = surroundings(&graph, &net, radius);
        let mut level = Self { problem: problem.clone(), columns: Vec::new(), near, radius };
        let (mut costs, columns) = level.costs(net.len());
        level.columns = columns;
        costs.retain_columns(&level.columns);
        let cost = DenseCost::new(net.len(), level.columns.len(), costs.values)?;
        let arc = |(i, j, length): (usize, usize, f64)| Arc { i, j, d: length / problem.epsilon() };
        let arcs = arcs.into_iter().map(arc).collect();
        level.problem = Problem::new(ProblemParts::untied(problem.epsilon(), cost, arcs))?;
        Ok(level)
    }

    /// What a row has of each near row of the net: more of nearer ones, one in all.
    fn shares(&self, row: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let reach = TUNING.shared * self.radius;
        let hat = move |distance: f64| (1.0 - distance / reach).max(0.0).powi(2);
        let whole: f64 = self.near[row].iter().map(|&(_, distance)| hat(distance)).sum();
        self.near[row]
            .iter()
            .map(move |&(v, distance)| (v as usize, hat(distance) / whole))
            .filter(|(_, share)| *share > 0.0)
    }

    /// Costs of the net's rows in every column of the finer problem, and the columns in which kernels around them cost least.
    fn costs(&self, net: usize) -> (Costs, Vec<usize>) {
        let columns = self.problem.columns();
        let zeros = || Costs { columns, values: vec![0.0; net * columns] };
        let (mut shared, mut kernels, mut row) = (zeros(), zeros(), vec![0.0; columns]);
        for (i, near) in self.near.iter().enumerate() {
            self.problem.cost().fill_row(i, &mut row);
            self.shares(i).for_each(|(v, share)| shared.add(v, share, &row));
            for &(v, distance) in near {
                kernels.add(v as usize, (-distance).exp(), &row);
            }
        }
        let cheapest = |costs: &[f64]| {
            (0..columns).min_by(|&a, &b| costs[a].total_cmp(&costs[b])).unwrap_or(0)
        };
        let mut kept: Vec<usize> = kernels.values.chunks_exact(columns).map(cheapest).collect();
        kept.sort_unstable();
        kept.dedup();
        (shared, kept)
    }

    /// Duals of the finer problem from those of this one. Each row's `unit` says what its dual is like beside its neighbours': where few people are
    /// it is small, however near a busy place is.
    pub(crate) fn duals(&self, coarse: &[f64], unit: &[f64]) -> Vec<f64> {
        let mut whole = vec![0.0; coarse.len()];
        for (i, unit) in unit.iter().enumerate() {
            self.shares(i).for_each(|(v, share)| whole[v] += share * unit);
        }
        let per_unit = |i: usize| self.shares(i).map(|(v, share)| share * coarse[v] / whole[v]);
        unit.iter().enumerate().map(|(i, unit)| unit * per_unit(i).sum::<f64>()).collect()
    }
}

/// Costs by row of the net and column of the finer problem.
struct Costs {
    columns: usize,
    values: Vec<f64>,
}

impl Costs {
    fn add(&mut self, row: usize, share: f64, costs: &[f64]) {
        let sums = &mut self.values[row * self.columns..][..self.columns];
        sums.iter_mut().zip(costs).for_each(|(sum, cost)| *sum += share * cost);
    }

    fn retain_columns(&mut self, kept: &[usize]) {
        let row = |row: &[f64]| kept.iter().map(|&k| row[k]).collect::<Vec<f64>>();
        self.values = self.values.chunks_exact(self.columns).flat_map(row).collect();
        self.columns = kept.len();
    }
}

/// Rows none of which is within a radius of another, while all others are; those that cost most first, so that they are at the centre.
fn net(problem: &Problem, graph: &Graph, radius: f64) -> Vec<u32> {
    let mut costs = vec![0.0; problem.columns()];
    let mut weigh = |i: usize| {
        problem.cost().fill_row(i, &mut costs);
        costs.iter().sum::<f64>()
    };
    let weights: Vec<f64> = (0..problem.rows()).map(&mut weigh).collect();
    let mut order: Vec<u32> = (0..problem.rows() as u32).collect();
    order.sort_by(|&a, &b| weights[b as usize].total_cmp(&weights[a as usize]));
    let (mut dijkstra, mut net) = (Dijkstra::new(problem.rows()), Vec::new());
    let mut is_covered = vec![false; problem.rows()];
    for row in order {
        if !is_covered[row as usize] {
            net.push(row);
            let seed = std::iter::once((row, 0.0));
            dijkstra.run(graph, seed, radius, |near, _, _| is_covered[near as usize] = true);
        }
    }
    net
}

/// For every row the near rows of the net with their distances, and the arcs between rows of the net.
fn surroundings(graph: &Graph, net: &[u32], radius: f64) -> (Vec<Near>, Vec<(usize, usize, f64)>) {
    let mut position = vec![None; graph.nodes()];
    for (v, &row) in net.iter().enumerate() {
        position[row as usize] = Some(v);
    }
    let (mut near, mut arcs) = (vec![Vec::new(); graph.nodes()], Vec::new());
    let mut dijkstra = Dijkstra::new(graph.nodes());
    for (v, &row) in net.iter().enumerate() {
        let mut met = 0;
        let seed = std::iter::once((row, 0.0));
        dijkstra.run_while(graph, seed, f64::INFINITY, |reached, distance, _| {
            if distance <= TUNING.kernels * radius {
                near[reached as usize].push((v as u32, distance));
            }
            if let Some(other) = position[reached as usize].filter(|&other| other != v) {
                met += 1;
                if distance <= TUNING.arcs * radius || met <= TUNING.nearest {
                    arcs.push((v.min(other), v.max(other), distance));
                }
            }
            distance <= TUNING.kernels * radius || met < TUNING.nearest
        });
    }
    // Most were found from both ends.
    arcs.sort_by_key(|&(i, j, _)| (i, j));
    arcs.dedup_by_key(|&mut (i, j, _)| (i, j));
    (near, arcs)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A square of places with straight-line costs and arcs to the eight neighbours.
    fn square(side: usize, spacing: f64) -> Problem {
        let place = |i: usize| ((i % side) as f64 * spacing, (i / side) as f64 * spacing);
        let apart = |i: usize, j: usize| {
            let ((x, y), (u, v)) = (place(i), place(j));
            (x - u).hypot(y - v)
        };
        let n = side * side;
        let cost = (0..n * n).map(|at| apart(at / n, at % n) / n as f64).collect();
        let near = |&(i, j): &(usize, usize)| i < j && apart(i, j) < 1.5 * spacing;
        let pairs = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
        let arcs = pairs.filter(near).map(|(i, j)| Arc { i, j, d: apart(i, j) }).collect();
        let cost = DenseCost::new(n, n, cost).unwrap();
        Problem::new(ProblemParts::untied(1.0, cost, arcs)).unwrap()
    }

    #[test]
    fn every_row_is_near_the_net_and_its_shares_add_up_to_one() {
        let fine = square(20, 0.3);
        let level = Level::of(&fine).unwrap();
        assert!((20..130).contains(&level.problem.rows()), "{} rows", level.problem.rows());
        assert!(level.columns.len() <= level.problem.rows());
        for (i, near) in level.near.iter().enumerate() {
            assert!(near.iter().any(|&(_, distance)| distance <= level.radius), "row {i}");
            let whole: f64 = level.shares(i).map(|(_, share)| share).sum();
            assert!((whole - 1.0).abs() < 1e-12, "row {i}: {whole}");
        }
        // Nothing of the costs is lost: what everybody pays in a column is the same on both levels.
        for (at, &k) in level.columns.iter().enumerate() {
            let paid = |problem: &Problem, k: usize| {
                (0..problem.rows()).map(|i| problem.cost().at(i, k)).sum::<f64>()
            };
            assert!((paid(&level.problem, at) - paid(&fine, k)).abs() < 1e-9);
        }
    }

    #[test]
    fn duals_keep_their_sum_and_follow_the_units() {
        let fine = square(12, 0.3);
        let level = Level::of(&fine).unwrap();
        let coarse: Vec<f64> = (0..level.problem.rows()).map(|v| 1.0 + 0.1 * v as f64).collect();
        let unit: Vec<f64> =
            (0..fine.rows()).map(|i| if i % 3 == 0 { 1.0 } else { 0.01 }).collect();
        let duals = level.duals(&coarse, &unit);
        let (sum, expected): (f64, f64) = (duals.iter().sum(), coarse.iter().sum());
        assert!((sum - expected).abs() < 1e-9 * expected);
        let rest: f64 = (0..fine.rows()).filter(|i| i % 3 != 0).map(|i| duals[i]).sum();
        assert!(rest < 0.05 * sum, "{rest} of {sum}");
    }
}
