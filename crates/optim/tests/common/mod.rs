//! Random problems of every kind, from fixed seeds; no dependency, so that a seed means the same
//! problem for ever.

#![allow(dead_code)] // each test binary uses its own part

pub mod extreme;
pub mod fine;

use lrgeo_optim::{Arc, Cost, DenseCost, EntryBound, Problem, ProblemParts, Ties};

/// SplitMix64.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Uniform in `low..=high`.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + (self.bits() % (high - low + 1) as u64) as usize
    }

    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    pub fn pick<T: Copy>(&mut self, options: &[T]) -> T {
        options[self.between(0, options.len() - 1)]
    }
}

/// What kind of problem a case is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One group, every entry free (OMG).
    Untied,
    /// One group, tied outside a range (ConstOPT).
    TiedOneGroup,
    /// Several users (CLR-Geo).
    TiedGroups,
    /// Several users, y given.
    FixedY,
    /// A tile between fixed neighbours: bounds on free entries.
    Tile,
    /// Random bounds around a feasible matrix.
    Bounded,
    /// Users with ties and bounds.
    TiedBounded,
    /// One group, every entry free, rows weighed over orders of magnitude, some not at all.
    UnevenPrior,
    /// Users with entries that must vanish: y given and partly zero, ties that contradict each other, or caps of
    /// zero.
    Zeros,
    /// One group over places of which some stand at one spot; free, tied or bounded.
    OneSpot,
    /// One group, every entry free, reports that are not the places: fewer than these, or more.
    Rectangular,
}

/// The kinds that every engine solves.
pub const KINDS: [Kind; 10] = [
    Kind::Untied,
    Kind::TiedOneGroup,
    Kind::TiedGroups,
    Kind::FixedY,
    Kind::Tile,
    Kind::Bounded,
    Kind::TiedBounded,
    Kind::UnevenPrior,
    Kind::OneSpot,
    Kind::Rectangular,
];

/// How places lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// An even grid: symmetric, with heavy ties between optimal bases.
    Even,
    Jittered,
    Scattered,
    /// Two even grids, farther apart than most reaches.
    Islands,
}

/// One random problem.
#[derive(Debug)]
pub struct Case {
    pub kind: Kind,
    pub layout: Layout,
    pub seed: u64,
    /// eps times the typical distance of neighbours.
    pub eps_spacing: f64,
    pub problem: Problem,
}

type Point = (f64, f64);

fn distance(a: Point, b: Point) -> f64 {
    (a.0 - b.0).hypot(a.1 - b.1)
}

/// A few places, neighbours about 1 apart, on grids of several shapes or lines.
pub fn places(random: &mut Random) -> (Layout, Vec<Point>) {
    let (width, height) = random.pick(&[(2, 2), (3, 2), (3, 3), (4, 3), (4, 4), (6, 1), (1, 2)]);
    let grid = (0..width * height).map(|p| ((p % width) as f64, (p / width) as f64));
    let layout = match random.between(0, 4) {
        0 | 1 => Layout::Even,
        2 => Layout::Jittered,
        3 => Layout::Scattered,
        _ => Layout::Islands,
    };
    let side = ((width * height) as f64).sqrt();
    let places = grid.map(|(x, y)| match layout {
        Layout::Even => (x, y),
        Layout::Jittered => (x + 0.6 * random.unit(), y + 0.6 * random.unit()),
        Layout::Scattered => (side * random.unit(), side * random.unit()),
        Layout::Islands => (if x >= 1.5 { x + 3.0 } else { x }, y),
    });
    (layout, places.collect())
}

/// Arcs between the places `rows` within a reach: 4 or 8 neighbours, farther, or all pairs; a short
/// reach leaves uneven places disconnected.
pub fn arcs(places: &[Point], rows: &[usize], reach: f64, offset: usize) -> Vec<Arc> {
    let mut arcs = Vec::new();
    for (a, &p) in rows.iter().enumerate() {
        for (b, &q) in rows.iter().enumerate().skip(a + 1) {
            let d = distance(places[p], places[q]);
            if d <= reach {
                arcs.push(Arc { i: offset + a, j: offset + b, d });
            }
        }
    }
    arcs
}

/// The costs of reporting any of the places from some of them.
fn costs(random: &mut Random, places: &[Point], rows: &[usize]) -> DenseCost {
    let from: Vec<Point> = rows.iter().map(|&row| places[row]).collect();
    costs_between(random, &from, places)
}

/// Straight-line costs, L1 costs over targets, or anything; prior even or not.
fn costs_between(random: &mut Random, from: &[Point], to: &[Point]) -> DenseCost {
    let style = random.between(0, 3);
    let targets: Vec<Point> = (0..3).map(|_| (4.0 * random.unit(), 4.0 * random.unit())).collect();
    let even = random.chance(0.5);
    let values = from
        .iter()
        .flat_map(|&i| {
            let prior = if even { 1.0 } else { 0.1 + random.unit() } / from.len() as f64;
            let row: Vec<f64> = to
                .iter()
                .map(|&k| match style {
                    0 => distance(i, k),
                    1 | 2 => {
                        targets.iter().map(|&t| (distance(i, t) - distance(k, t)).abs() / 3.0).sum()
                    }
                    _ => random.unit(),
                })
                .map(|cost| prior * cost)
                .collect();
            row
        })
        .collect();
    DenseCost::new(from.len(), to.len(), values).unwrap()
}

/// The range rule *each* of `docs/specification.md` section 4: free within `r_exp`, else tied.
fn ties(places: &[Point], rows: &[usize], epsilon: f64, r_exp: f64, r_obf: f64) -> Ties {
    let entries: Vec<Option<f64>> = rows
        .iter()
        .flat_map(|&i| {
            places.iter().map(move |&k| {
                let d = distance(places[i], k);
                (d > r_exp).then(|| (-epsilon * d.min(r_obf) / 2.0).exp())
            })
        })
        .collect();
    Ties::new(rows.len(), places.len(), &entries).unwrap()
}

/// A Geo-Ind matrix: exponential in the distance at half of epsilon, normalised.
fn exponential(places: &[Point], epsilon: f64) -> Vec<Vec<f64>> {
    places
        .iter()
        .map(|&i| {
            let row: Vec<f64> =
                places.iter().map(|&k| (-0.45 * epsilon * distance(i, k)).exp()).collect();
            let total: f64 = row.iter().sum();
            row.iter().map(|value| value / total).collect()
        })
        .collect()
}

/// Users: for each, some places nearest to a random one. Row -> place, and the group of every row.
fn users(random: &mut Random, places: &[Point]) -> Vec<Vec<usize>> {
    (0..random.between(2, 4))
        .map(|_| {
            let own = random.between(0, places.len() - 1);
            let mut near: Vec<usize> = (0..places.len()).collect();
            near.sort_by(|&a, &b| {
                let d = |p: usize| distance(places[own], places[p]);
                d(a).total_cmp(&d(b)).then(a.cmp(&b))
            });
            near.truncate(random.between(2, 6).min(places.len()));
            near
        })
        .collect()
}

/// The case of a kind, a seed and a difficulty (eps times spacing).
pub fn case(kind: Kind, seed: u64, eps_spacing: f64) -> Case {
    let mut random = Random::new(seed.wrapping_mul(1_000_003).wrapping_add(kind as u64));
    let (layout, places) = places(&mut random);
    let epsilon = eps_spacing;
    let reach = random.pick(&[0.8, 1.01, 1.5, 2.3, 1e9]);
    let r_exp = random.pick(&[0.7, 1.2, 2.0]);
    let r_obf = r_exp + random.pick(&[0.5, 1.0, 2.0]);
    let all: Vec<usize> = (0..places.len()).collect();
    let parts = match kind {
        Kind::Untied => {
            let cost = costs(&mut random, &places, &all);
            ProblemParts::untied(epsilon, cost, arcs(&places, &all, reach, 0))
        }
        Kind::TiedOneGroup => {
            let cost = costs(&mut random, &places, &all);
            let ties = ties(&places, &all, epsilon, r_exp, r_obf);
            let arcs = arcs(&places, &all, reach, 0);
            ProblemParts { ties: Some(ties), ..ProblemParts::untied(epsilon, cost, arcs) }
        }
        Kind::TiedGroups | Kind::FixedY => {
            let parts = joint(&mut random, &places, epsilon, reach, r_exp, r_obf);
            if kind == Kind::FixedY { with_feasible_y(parts, &places) } else { parts }
        }
        Kind::Tile => tile(&mut random, &places, epsilon, reach),
        Kind::Bounded => bounded(&mut random, &places, epsilon, reach),
        Kind::TiedBounded => {
            let parts = joint(&mut random, &places, epsilon, reach, r_exp, r_obf);
            with_loose_bounds(&mut random, parts, &places)
        }
        Kind::UnevenPrior => {
            let cost = costs(&mut random, &places, &all);
            let prior: Vec<f64> = all.iter().map(|_| uneven_weight(&mut random)).collect();
            let columns = places.len();
            let values = (0..columns * columns)
                .map(|entry| prior[entry / columns] * cost.at(entry / columns, entry % columns));
            let cost = DenseCost::new(columns, columns, values.collect()).unwrap();
            ProblemParts::untied(epsilon, cost, arcs(&places, &all, reach, 0))
        }
        Kind::Zeros => {
            let parts = joint(&mut random, &places, epsilon, reach, r_exp, r_obf);
            match random.between(0, 2) {
                0 => {
                    let parts = with_feasible_y(parts, &places);
                    let mut y = parts.fixed_y.unwrap_or_default();
                    y.iter_mut().filter(|_| random.chance(0.3)).for_each(|y| *y = 0.0);
                    ProblemParts { fixed_y: Some(y), ..parts }
                }
                1 => with_contradicting_ties(&mut random, parts, &places),
                _ => {
                    let mut parts = with_loose_bounds(&mut random, parts, &places);
                    parts.bounds.iter_mut().filter(|_| random.chance(0.2)).for_each(|bound| {
                        (bound.low, bound.high) = (0.0, 0.0);
                    });
                    parts
                }
            }
        }
        Kind::OneSpot => {
            let mut places = places;
            let doubled: Vec<Point> =
                places.iter().copied().filter(|_| random.chance(0.3)).take(4).collect();
            places.extend(doubled);
            let all: Vec<usize> = (0..places.len()).collect();
            match random.between(0, 2) {
                0 => {
                    let cost = costs(&mut random, &places, &all);
                    ProblemParts::untied(epsilon, cost, arcs(&places, &all, reach, 0))
                }
                1 => joint(&mut random, &places, epsilon, reach, r_exp, r_obf),
                _ => bounded(&mut random, &places, epsilon, reach),
            }
        }
        Kind::Rectangular => {
            let n = places.len();
            let reports = match random.chance(0.5) {
                true => random.between(1, n - 1),
                false => random.between(n + 1, 2 * n),
            };
            let side = (n as f64).sqrt();
            let reports: Vec<Point> =
                (0..reports).map(|_| (side * random.unit(), side * random.unit())).collect();
            let cost = costs_between(&mut random, &places, &reports);
            ProblemParts::untied(epsilon, cost, arcs(&places, &all, reach, 0))
        }
    };
    let problem = Problem::new(parts).expect("the generator makes valid problems");
    Case { kind, layout, seed, eps_spacing, problem }
}

/// Nothing at all for a quarter of the places, for the others something between 0.01 and 10.
pub fn uneven_weight(random: &mut Random) -> f64 {
    if random.chance(0.25) { 0.0 } else { 10_f64.powf(3.0 * random.unit() - 2.0) }
}

fn joint(
    random: &mut Random,
    places: &[Point],
    epsilon: f64,
    reach: f64,
    r_exp: f64,
    r_obf: f64,
) -> ProblemParts {
    let users = users(random, places);
    let (mut rows, mut groups, mut all_arcs) = (Vec::new(), Vec::new(), Vec::new());
    for (m, near) in users.iter().enumerate() {
        all_arcs.extend(arcs(places, near, reach, rows.len()));
        groups.extend(near.iter().map(|_| m));
        rows.extend(near);
    }
    let cost = costs(random, places, &rows);
    let ties = ties(places, &rows, epsilon, r_exp, r_obf);
    ProblemParts { groups, ties: Some(ties), ..ProblemParts::untied(epsilon, cost, all_arcs) }
}

/// A y so small that every row keeps room for its free entries, and equal in all columns.
fn with_feasible_y(parts: ProblemParts, places: &[Point]) -> ProblemParts {
    let columns = places.len();
    let y = vec![0.5 / columns as f64; columns];
    ProblemParts { fixed_y: Some(y), ..parts }
}

/// Bounds that the feasible set reaches but need not touch: on free entries, a cap here and a floor
/// there.
fn with_loose_bounds(random: &mut Random, parts: ProblemParts, places: &[Point]) -> ProblemParts {
    let ties = parts.ties.as_ref().expect("tied");
    let mut bounds = Vec::new();
    for row in 0..parts.groups.len() {
        for column in 0..places.len() {
            if ties.at(row, column).is_none() && random.chance(0.3) {
                let low = if random.chance(0.5) { 1e-3 * random.unit() } else { 0.0 };
                bounds.push(EntryBound { row, column, low, high: 0.8 + 0.3 * random.unit() });
            }
        }
    }
    ProblemParts { bounds, ..parts }
}

/// Some factors replaced by others, so that only y = 0 satisfies their columns.
fn with_contradicting_ties(
    random: &mut Random,
    parts: ProblemParts,
    places: &[Point],
) -> ProblemParts {
    let ties = parts.ties.as_ref().expect("tied");
    let entries = (0..parts.groups.len() * places.len()).map(|entry| {
        let factor = ties.at(entry / places.len(), entry % places.len())?;
        Some(if random.chance(0.1) { 0.01 + 0.9 * random.unit() } else { factor })
    });
    let entries: Vec<Option<f64>> = entries.collect();
    let ties = Ties::new(parts.groups.len(), places.len(), &entries).unwrap();
    ProblemParts { ties: Some(ties), ..parts }
}

/// The rows of a tile; what lies outside keeps its (exponential) rows and bounds those inside.
fn tile(random: &mut Random, places: &[Point], epsilon: f64, reach: f64) -> ProblemParts {
    let outside_matrix = exponential(places, epsilon);
    let outside_value = |row: usize, column: usize| outside_matrix[row][column];
    let (inside, outside): (Vec<usize>, Vec<usize>) =
        (0..places.len()).partition(|&p| p == 0 || random.chance(0.6));
    let mut bounds = Vec::new();
    for (row, &i) in inside.iter().enumerate() {
        for column in 0..places.len() {
            let (mut low, mut high) = (0.0_f64, f64::INFINITY);
            for &j in &outside {
                let d = distance(places[i], places[j]);
                if d <= reach {
                    let (ratio, there) = ((epsilon * d).exp(), outside_value(j, column));
                    low = low.max(there / ratio);
                    high = high.min(there * ratio);
                }
            }
            if high.is_finite() {
                bounds.push(EntryBound { row, column, low, high });
            }
        }
    }
    let cost = costs(random, places, &inside);
    let arcs = arcs(places, &inside, reach, 0);
    ProblemParts { bounds, ..ProblemParts::untied(epsilon, cost, arcs) }
}

/// Random bounds around the exponential matrix, which stays feasible.
fn bounded(random: &mut Random, places: &[Point], epsilon: f64, reach: f64) -> ProblemParts {
    let feasible = exponential(places, epsilon);
    let all: Vec<usize> = (0..places.len()).collect();
    let mut bounds = Vec::new();
    for (row, values) in feasible.iter().enumerate() {
        for (column, value) in values.iter().enumerate() {
            if random.chance(0.4) {
                let low = value * random.unit();
                bounds.push(EntryBound { row, column, low, high: value * (1.0 + random.unit()) });
            }
        }
    }
    let cost = costs(random, places, &all);
    let arcs = arcs(places, &all, reach, 0);
    ProblemParts { bounds, ..ProblemParts::untied(epsilon, cost, arcs) }
}

/// Problems without a solution: a name, the problem, and the rows that may be blamed.
pub fn infeasible_problems() -> Vec<(&'static str, Problem, Vec<usize>)> {
    let line = |rows: usize| -> ProblemParts {
        let values = (0..rows * 3).map(|p| ((p / 3) as f64 - (p % 3) as f64).abs()).collect();
        let cost = DenseCost::new(rows, 3, values).unwrap();
        let arcs = (1..rows).map(|j| Arc { i: j - 1, j, d: 1.0 }).collect();
        ProblemParts::untied(1.0, cost, arcs)
    };
    let bound = |row, column, low, high| EntryBound { row, column, low, high };
    let tied = |rows: usize, factor: &dyn Fn(usize, usize) -> Option<f64>| -> Ties {
        let entries: Vec<_> = (0..rows * 3).map(|p| factor(p / 3, p % 3)).collect();
        Ties::new(rows, 3, &entries).unwrap()
    };
    let parts: Vec<(&'static str, ProblemParts, Vec<usize>)> = vec![
        (
            "caps below 1",
            ProblemParts { bounds: (0..3).map(|k| bound(1, k, 0.0, 0.3)).collect(), ..line(3) },
            vec![1],
        ),
        (
            "floors above 1",
            ProblemParts { bounds: (0..3).map(|k| bound(2, k, 0.4, 1.0)).collect(), ..line(3) },
            vec![2],
        ),
        (
            "a cap and a floor too far apart for one arc",
            ProblemParts { bounds: vec![bound(0, 0, 0.9, 1.0), bound(1, 0, 0.0, 0.1)], ..line(3) },
            vec![0, 1],
        ),
        (
            "everything tied, rows with different sums",
            ProblemParts {
                ties: Some(tied(2, &|i, _| Some(if i == 0 { 0.5 } else { 0.4 }))),
                ..line(2)
            },
            vec![0, 1],
        ),
        (
            "a fixed y that overfills a row",
            ProblemParts {
                ties: Some(tied(3, &|i, k| (i != k).then_some(0.8))),
                fixed_y: Some(vec![0.7; 3]),
                ..line(3)
            },
            vec![0, 1, 2],
        ),
        (
            "a fixed y so small that free entries cannot fill a row",
            ProblemParts {
                ties: Some(tied(3, &|i, _| (i != 1).then_some(1.0))),
                fixed_y: Some(vec![0.01; 3]),
                ..line(3)
            },
            vec![0, 1, 2],
        ),
    ];
    parts
        .into_iter()
        .map(|(name, parts, rows)| (name, Problem::new(parts).unwrap(), rows))
        .collect()
}

/// CLR-Geo on an even grid of `side` x `side` places 0.47 km apart: `users` random users with the
/// `near` nearest places each, range rule *each*, costs the mean error to three targets.
pub fn round(
    side: usize,
    users: usize,
    near: usize,
    epsilon: f64,
    r_exp: f64,
    r_obf: f64,
) -> Problem {
    let place = |p: usize| (0.47 * (p % side) as f64, 0.47 * (p / side) as f64);
    let distance = |p: usize, q: usize| {
        let ((a, b), (c, d)) = (place(p), place(q));
        (a - c).hypot(b - d)
    };
    let columns = side * side;
    let targets: Vec<usize> = (0..20).map(|t| (t * 7919 + 13) % columns).collect();
    let (mut rows, mut groups, mut arcs) = (Vec::new(), Vec::new(), Vec::new());
    for m in 0..users {
        let own = (m * 104_729 + 17) % columns;
        let mut order: Vec<usize> = (0..columns).collect();
        order.sort_by(|&a, &b| distance(own, a).total_cmp(&distance(own, b)).then(a.cmp(&b)));
        order.truncate(near);
        for a in 0..near {
            for b in a + 1..near {
                let d = distance(order[a], order[b]);
                if d <= 1.0 {
                    arcs.push(Arc { i: rows.len() + a, j: rows.len() + b, d });
                }
            }
        }
        groups.extend(std::iter::repeat_n(m, near));
        rows.extend(order);
    }
    let prior = 1.0 / rows.len() as f64;
    let (mut costs, mut ties) = (Vec::new(), Vec::new());
    for &i in &rows {
        for k in 0..columns {
            let error = |t: &usize| (distance(i, *t) - distance(k, *t)).abs();
            costs.push(prior * targets.iter().map(error).sum::<f64>() / targets.len() as f64);
            let d = distance(i, k);
            ties.push((d > r_exp).then(|| (-epsilon * d.min(r_obf) / 2.0).exp()));
        }
    }
    let cost = DenseCost::new(rows.len(), columns, costs).unwrap();
    let ties = Some(Ties::new(rows.len(), columns, &ties).unwrap());
    Problem::new(ProblemParts { groups, ties, ..ProblemParts::untied(epsilon, cost, arcs) })
        .unwrap()
}
