//! The instances of the engine benchmark: Rome places with costs from the real streets, and even grids.

use lrgeo_optim::{Arc, DenseCost, Problem, ProblemParts, Ties};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::path::Path;

const EARTH_RADIUS_KM: f64 = 6371.0088;
const TARGETS: usize = 20;

/// A small deterministic generator (SplitMix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() * limit as f64) as usize
    }
}

/// Places with the travel costs from each of them to every target.
pub struct City {
    pub name: String,
    pub places: Vec<(f64, f64)>,
    features: Vec<Vec<f64>>,
}

impl City {
    /// `count` places around the centre of Rome, or of a jittered grid where the data is absent.
    pub fn new(data: &Path, count: usize, seed: u64) -> Self {
        match Self::rome(data, count, seed) {
            Some(city) => city,
            None => Self::grid(count, seed),
        }
    }

    fn rome(data: &Path, count: usize, seed: u64) -> Option<Self> {
        let cells = read(&data.join("01-rome-grid-40x40/reget_rome_cell_node40x40.csv"))?;
        let mut places: Vec<(i64, (f64, f64))> =
            cells.iter().map(|row| (row[1] as i64, (row[2], row[3]))).collect();
        // Rows and columns 30..68 of the grid: the centre is cell (49, 49); square blocks around it.
        places.sort_by_key(|(index, _)| {
            let (dy, dx) = (index / 100 - 49, index % 100 - 49);
            (dy.abs().max(dx.abs()), dy * dy + dx * dx, *index)
        });
        places.truncate(count);
        let places: Vec<(f64, f64)> = places.into_iter().map(|(_, place)| place).collect();

        let nodes = read(&data.join("02-rome-streets/rome_full_nodes.csv"))?;
        let edges = read(&data.join("02-rome-streets/rome_full_edges.csv"))?;
        let at: Vec<(f64, f64)> = nodes.iter().map(|row| (row[1], row[2])).collect();
        let index: HashMap<u64, usize> =
            nodes.iter().enumerate().map(|(i, row)| (row[0] as u64, i)).collect();
        let mut graph = vec![Vec::new(); at.len()];
        for edge in &edges {
            let (u, v) = (*index.get(&(edge[0] as u64))?, *index.get(&(edge[1] as u64))?);
            graph[u].push((v, edge[2] / 1000.0));
            graph[v].push((u, edge[2] / 1000.0));
        }
        let snapped: Vec<(usize, f64)> = places
            .iter()
            .map(|&place| {
                let near = |&node: &usize| haversine(place, at[node]);
                let node = (0..at.len()).min_by(|a, b| near(a).total_cmp(&near(b))).unwrap_or(0);
                (node, near(&node))
            })
            .collect();
        let mut random = Random(seed);
        let mut features = vec![Vec::new(); places.len()];
        for _ in 0..TARGETS {
            let distances = dijkstra(&graph, random.below(at.len()));
            for (feature, &(node, access)) in features.iter_mut().zip(&snapped) {
                feature.push(distances[node] + access);
            }
        }
        Some(Self { name: format!("Rome, {count} places"), places, features })
    }

    fn grid(count: usize, seed: u64) -> Self {
        let side = (count as f64).sqrt().ceil() as usize;
        let mut random = Random(seed);
        let degree = 0.47 / EARTH_RADIUS_KM.to_radians();
        let mut jittered = |v: usize| degree * (v as f64 + 0.3 * (random.next() - 0.5));
        let places: Vec<(f64, f64)> =
            (0..count).map(|v| (jittered(v / side), jittered(v % side))).collect();
        let targets: Vec<(f64, f64)> = (0..TARGETS)
            .map(|_| (random.next() * side as f64 * degree, random.next() * side as f64 * degree))
            .collect();
        let features = places
            .iter()
            .map(|&place| targets.iter().map(|&target| haversine(place, target)).collect())
            .collect();
        Self { name: format!("jittered grid, {count} places"), places, features }
    }

    fn cost(&self, i: usize, k: usize) -> f64 {
        let pairs = self.features[i].iter().zip(&self.features[k]);
        pairs.map(|(a, b)| (a - b).abs()).sum::<f64>() / TARGETS as f64
    }

    /// The same city with every target's weight up to 5 % off.
    pub fn with_other_targets(&self, random: &mut Random) -> Self {
        let weights: Vec<f64> = (0..TARGETS).map(|_| 1.0 + 0.1 * (random.next() - 0.5)).collect();
        let weighed =
            |features: &Vec<f64>| features.iter().zip(&weights).map(|(f, w)| f * w).collect();
        Self {
            name: self.name.clone(),
            places: self.places.clone(),
            features: self.features.iter().map(weighed).collect(),
        }
    }

    fn arcs(&self, rows: &[usize], offset: usize, gamma: f64, arcs: &mut Vec<Arc>) {
        for (i, &a) in rows.iter().enumerate() {
            for (j, &b) in rows.iter().enumerate().take(i) {
                let d = haversine(self.places[a], self.places[b]);
                if d <= gamma {
                    arcs.push(Arc { i: offset + i, j: offset + j, d });
                }
            }
        }
    }

    /// OMG over all places.
    pub fn omg(&self, epsilon: f64, gamma: f64) -> Problem {
        let n = self.places.len();
        let cost: Vec<f64> = (0..n * n).map(|e| self.cost(e / n, e % n) / n as f64).collect();
        let mut arcs = Vec::new();
        self.arcs(&(0..n).collect::<Vec<_>>(), 0, gamma, &mut arcs);
        let cost = DenseCost::new(n, n, cost).expect("a full matrix");
        Problem::new(ProblemParts::untied(epsilon, cost, arcs)).expect("a valid problem")
    }

    /// CLR-Geo with range rule *each* and the `paper` settings: gamma 1, r_exp 4, r_obf 4.5 km.
    pub fn clr(&self, users: usize, per_user: usize, epsilon: f64, seed: u64) -> Problem {
        let (gamma, expanded, range) = (1.0, 4.0, 4.5);
        let columns = self.places.len();
        let mut random = Random(seed);
        let (mut rows, mut groups, mut arcs) = (Vec::new(), Vec::new(), Vec::new());
        for user in 0..users {
            let home = self.places[random.below(columns)];
            let mut near: Vec<usize> = (0..columns).collect();
            let far = |v: &usize| haversine(home, self.places[*v]);
            near.sort_by(|a, b| far(a).total_cmp(&far(b)));
            near.truncate(per_user);
            self.arcs(&near, rows.len(), gamma, &mut arcs);
            groups.extend(std::iter::repeat_n(user, near.len()));
            rows.extend(near);
        }
        let n = rows.len();
        let mut cost = Vec::with_capacity(n * columns);
        let mut ties = Vec::with_capacity(n * columns);
        for &i in &rows {
            for k in 0..columns {
                cost.push(self.cost(i, k) / n as f64);
                let d = haversine(self.places[i], self.places[k]);
                ties.push((d > expanded).then(|| (-epsilon * d.min(range) / 2.0).exp()));
            }
        }
        Problem::new(ProblemParts {
            epsilon,
            groups,
            cost: Box::new(DenseCost::new(n, columns, cost).expect("a full matrix")),
            arcs,
            ties: Some(Ties::new(n, columns, &ties).expect("valid ties")),
            bounds: Vec::new(),
            fixed_y: None,
        })
        .expect("a valid problem")
    }
}

/// An even grid of `side` x `side` places one apart, all pairs, straight-line cost: qif's home ground.
pub fn even_grid(side: usize, epsilon: f64) -> Problem {
    let n = side * side;
    let far = |i: usize, j: usize| {
        let (a, b) = ((i % side, i / side), (j % side, j / side));
        (a.0 as f64 - b.0 as f64).hypot(a.1 as f64 - b.1 as f64)
    };
    let cost: Vec<f64> = (0..n * n).map(|e| far(e / n, e % n) / n as f64).collect();
    let mut arcs = Vec::new();
    for i in 0..n {
        for j in 0..i {
            arcs.push(Arc { i, j, d: far(i, j) });
        }
    }
    let cost = DenseCost::new(n, n, cost).expect("a full matrix");
    Problem::new(ProblemParts::untied(epsilon, cost, arcs)).expect("a valid problem")
}

fn haversine(a: (f64, f64), b: (f64, f64)) -> f64 {
    let (lat, lon) = ((b.0 - a.0).to_radians() / 2.0, (b.1 - a.1).to_radians() / 2.0);
    let h = lat.sin().powi(2) + a.0.to_radians().cos() * b.0.to_radians().cos() * lon.sin().powi(2);
    2.0 * EARTH_RADIUS_KM * h.sqrt().asin()
}

/// The numbers of a CSV file, `NaN` where a field is none; `None` when there is no such file.
fn read(path: &Path) -> Option<Vec<Vec<f64>>> {
    let text = std::fs::read_to_string(path).ok()?;
    let number = |field: &str| field.parse().unwrap_or(f64::NAN);
    Some(text.lines().skip(1).map(|line| line.split(',').map(number).collect()).collect())
}

fn dijkstra(graph: &[Vec<(usize, f64)>], source: usize) -> Vec<f64> {
    let mut distance = vec![f64::INFINITY; graph.len()];
    distance[source] = 0.0;
    // Whole micrometres order the heap; the distances themselves stay exact.
    let key = |d: f64| (d * 1e9) as u64;
    let mut heap = BinaryHeap::from([(Reverse(0_u64), source)]);
    while let Some((Reverse(label), node)) = heap.pop() {
        if label > key(distance[node]) {
            continue;
        }
        for &(next, length) in &graph[node] {
            let through = distance[node] + length;
            if through < distance[next] {
                distance[next] = through;
                heap.push((Reverse(key(through)), next));
            }
        }
    }
    distance
}
