//! Generated rounds: places of a shaken grid, users who live near each other, targets anywhere.

use lrgeo_optim::{Arc, DenseCost, Problem, ProblemParts, Ties};

/// A generator of numbers in [0, 1).
pub struct Random(pub u64);

impl Random {
    /// The next.
    pub fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, count: usize) -> usize {
        (self.next() * count as f64) as usize
    }
}

/// What a round looks like.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    side: usize,
    users: usize,
    near: usize,
    epsilon: f64,
    r_exp: f64,
}

impl Shape {
    /// One of many: 16 to 36 places, 3 to 10 users with 5 to 8 relevant places each, 3 to 8/km.
    pub fn any(seed: u64) -> Self {
        let mut random = Random(seed ^ 0x5eed_cafe);
        (0..4).for_each(|_| _ = random.next());
        Self {
            side: 4 + random.below(3),
            users: 3 + random.below(8),
            near: 5 + random.below(4),
            epsilon: 3.0 + 5.0 * random.next(),
            r_exp: 0.6 + 0.5 * random.next(),
        }
    }
}

/// The round's programme; its map is the seed's own.
pub fn round(shape: &Shape, seed: u64) -> Problem {
    let &Shape { side, users, near, epsilon, r_exp } = shape;
    let mut random = Random(seed);
    let columns = side * side;
    let place = |p: usize, random: &mut Random| {
        let shaken = |at: usize, random: &mut Random| 0.47 * (at as f64 + 0.4 * random.next());
        (shaken(p % side, random), shaken(p / side, random))
    };
    let places: Vec<(f64, f64)> = (0..columns).map(|p| place(p, &mut random)).collect();
    let distance = |p: usize, q: usize| {
        let ((a, b), (c, d)) = (places[p], places[q]);
        (a - c).hypot(b - d)
    };
    let targets: Vec<usize> = (0..20).map(|_| random.below(columns)).collect();
    let (mut rows, mut groups, mut arcs) = (Vec::new(), Vec::new(), Vec::new());
    for user in 0..users {
        let own = random.below(columns);
        let mut order: Vec<usize> = (0..columns).collect();
        order.sort_by(|&a, &b| distance(own, a).total_cmp(&distance(own, b)));
        order.truncate(near);
        for a in 0..near {
            for b in a + 1..near {
                let d = distance(order[a], order[b]);
                if d <= 1.0 {
                    arcs.push(Arc { i: rows.len() + a, j: rows.len() + b, d });
                }
            }
        }
        groups.extend(std::iter::repeat_n(user, near));
        rows.extend(order);
    }
    let prior = 1.0 / rows.len() as f64;
    let (mut costs, mut ties) = (Vec::new(), Vec::new());
    for &i in &rows {
        for k in 0..columns {
            let error = |t: &usize| (distance(i, *t) - distance(k, *t)).abs();
            costs.push(prior * targets.iter().map(error).sum::<f64>() / targets.len() as f64);
            let d = distance(i, k);
            ties.push((d > r_exp).then(|| (-epsilon * d.min(2.0) / 2.0).exp()));
        }
    }
    let cost = DenseCost::new(rows.len(), columns, costs).expect("costs are numbers");
    let ties = Ties::new(rows.len(), columns, &ties).expect("factors are numbers");
    let parts =
        ProblemParts { groups, ties: Some(ties), ..ProblemParts::untied(epsilon, cost, arcs) };
    Problem::new(parts).expect("a round")
}
