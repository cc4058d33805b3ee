//! An optimum for coordinates, as far as it goes: the rows of a programme on a lattice, mixed by B-splines around where somebody stands.
//!
//! `z_k(x) = sum_v phi((x - v) / h) z_vk` with phi the quadratic B-spline. Rows sum up to one wherever one stands, so nothing is
//! divided, and the cost of the programme is that on the street itself: each person's losses are shared out among nine lattice points. Strict between
//! lattice points is not strict between them: gradients of `ln z_k` go above epsilon. So the arcs of the programme are shortened where they do, and it is
//! solved again. Gradients are looked at on a grid of a quarter of the spacing, every report: no proof, but what fails here is no promise.

use std::time::Duration;

use lrgeo_evaluation::street::People;
use lrgeo_geo::{BoundingBox, Coord, EARTH_RADIUS_KM};
use lrgeo_mechanism::{Built, City, Plan, build, by_name};
use lrgeo_optim::{Arc, DenseCost, Problem, ProblemParts, Settings, solve};
use lrgeo_tiles::{Epsilon, Notion};
use rayon::prelude::*;

use crate::Options;
use crate::cities::{ALL, city};

type Point = [f64; 2];

/// Per kilometre.
const EPSILON: f64 = 1.0;
/// Epsilon times the spacing of the lattice, and the side of the cells whose places are reported.
const SCALED_SPACING: f64 = 0.5;
/// Of epsilon, at which the programme is solved: arcs are stretched by 0.8 %, and rounds have less to mend.
const RATE: f64 = 0.985;
/// Programmes solved, each with the arcs that the one before asked for.
const ROUNDS: usize = 2;
/// People whose cost is minimised; others are asked what it came to.
const OPTIMISED_FOR: usize = 4000;
/// Arcs go this many spacings along an axis.
const ARC: i64 = 4;
/// Arcs are shortened by this much more than what was measured.
const SPARE: f64 = 3e-3;

/// A line for each city and round.
pub fn run(options: &Options) {
    let mut text = format!(
        "# An optimum for coordinates, as far as it goes\n\n\
         {EPSILON}/km, cells and lattice of {SCALED_SPACING}/epsilon. *Gradients*: of the logarithm of a report's probability, in epsilon, the steepest report at each of a grid of\n\
         coordinates near places; the promise is kept where the largest is at most 1. *Arcs*: their mean length after shortening, of what it was. {} s per round.\n\n\
         | city | lattice | round | arcs | programme | its bound | on the street | laplace there | won, % | gradients: median | 99 % | largest |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|\n",
        options.limit
    );
    print!("{text}");
    for name in ALL
        .iter()
        .filter(|name| options.cities.is_empty() || options.cities.iter().any(|c| c == *name))
    {
        let Some(city) = city(name, SCALED_SPACING / EPSILON, &options.data) else {
            eprintln!("{name}: no data");
            continue;
        };
        let mut plan = Plan::new(&city, Epsilon::per_km(EPSILON).expect("an epsilon"));
        plan.notion = Notion::AllPairs;
        let kind = by_name("laplace").expect("a kind");
        let laplace = build(kind, &city, &plan, &()).expect("noise");
        let mut splines = Splines::new(&city, options);
        let rival = splines.laplace(&laplace);
        for round in 1..=ROUNDS {
            let arcs = splines.shortened.iter().sum::<f64>() / splines.rows as f64;
            let Round { programme, bound, street, slopes } = splines.round(options.limit);
            let line = format!(
                "| {name} | {} | {round} | {arcs:.4} | {programme:.4} | {bound:.4} | {street:.4} | {rival:.4} | {:.2} | {:.4} | {:.4} | {:.4} |\n",
                splines.rows,
                100.0 * (1.0 - street / rival),
                slopes[0],
                slopes[1],
                slopes[2]
            );
            print!("{line}");
            text += &line;
            std::fs::write("bench/results/coordinates-splines.md", &text).expect("results");
        }
    }
}

/// A point of the lattice that somebody's row is mixed from: its row, weight, and the gradient of that.
type Share = (usize, f64, Point);

struct Splines {
    /// Reports.
    places: usize,
    low: Point,
    h: f64,
    /// Points of the lattice along each axis, and the row of each that somebody needs.
    count: [usize; 2],
    number: Vec<Option<usize>>,
    rows: usize,
    cost: Vec<f64>,
    arcs: Vec<Arc>,
    /// By how much arcs are shortened at each row.
    shortened: Vec<f64>,
    /// Where gradients are looked at.
    samples: Vec<Point>,
    /// Whom it is measured on, and their losses.
    people: Vec<(Coord, Point)>,
    losses: Vec<f64>,
}

struct Round {
    programme: f64,
    bound: f64,
    street: f64,
    /// The median of the gradients, their 99th percentile, the largest.
    slopes: [f64; 3],
}

impl Splines {
    fn new(city: &City, options: &Options) -> Self {
        let centre = BoundingBox::around(city.coords().iter().copied()).expect("places").centre();
        let project = |at: Coord| stereographic(centre, at);
        let (cell, h) = (SCALED_SPACING / EPSILON, SCALED_SPACING / EPSILON);
        let places: Vec<Point> = city.coords().iter().map(|&at| project(at)).collect();
        let end = |axis: usize, pick: fn(f64, f64) -> f64| {
            places.iter().map(|place| place[axis]).reduce(pick).expect("places")
        };
        // Room for people at the rim, and for the splines around them.
        let low = [0, 1].map(|axis| end(axis, f64::min) - 4.0 * h);
        let high = [0, 1].map(|axis| end(axis, f64::max) + 4.0 * h);
        let count = [0, 1].map(|axis| ((high[axis] - low[axis]) / h).ceil() as usize);
        let draw = |count, seed| People::draw(city, count, seed, &()).expect("people");
        let (many, others) = (draw(OPTIMISED_FOR, 8), draw(options.people, 7));
        let mut made = Self {
            places: places.len(),
            low,
            h,
            count,
            number: vec![None; count[0] * count[1]],
            rows: 0,
            cost: Vec::new(),
            arcs: Vec::new(),
            shortened: Vec::new(),
            samples: Vec::new(),
            people: others.coords().iter().map(|&at| (at, project(at))).collect(),
            losses: others.losses(),
        };
        let step = h / 4.0;
        let steps = |axis: usize| 0..((high[axis] - low[axis]) / step) as usize;
        let all = steps(1).flat_map(|y| steps(0).map(move |x| [x, y]));
        let all = all.map(|[x, y]| [low[0] + x as f64 * step, low[1] + y as f64 * step]);
        let is_near = |p: &Point| {
            let within = |q: &Point| (0..2).all(|axis| (p[axis] - q[axis]).abs() <= cell / 2.0);
            places.iter().any(within)
        };
        made.samples = all.filter(is_near).collect();
        let train: Vec<Point> = many.coords().iter().map(|&at| project(at)).collect();
        let standing = made.people.iter().map(|(_, at)| at).chain(&train).chain(&made.samples);
        let needed: Vec<usize> =
            standing.flat_map(|&at| made.lattice(at)).map(|(point, ..)| point).collect();
        for point in needed {
            if made.number[point].is_none() {
                made.number[point] = Some(made.rows);
                made.rows += 1;
            }
        }
        made.shortened = vec![1.0; made.rows];
        made.cost = vec![0.0; made.rows * made.places];
        for (&at, losses) in train.iter().zip(many.losses().chunks_exact(made.places)) {
            for (row, weight, _) in made.shares(at) {
                let costs = &mut made.cost[row * made.places..][..made.places];
                let share = weight / OPTIMISED_FOR as f64;
                costs.iter_mut().zip(losses).for_each(|(cost, loss)| *cost += share * loss);
            }
        }
        made.arcs = made.all_arcs();
        made
    }

    /// Every arc up to [`ARC`] spacings that has no point of the lattice on it.
    fn all_arcs(&self) -> Vec<Arc> {
        let [columns, lines] = self.count.map(|count| count as i64);
        let row = |x: i64, y: i64| {
            let inside = (0..columns).contains(&x) && (0..lines).contains(&y);
            inside.then(|| self.number[(y * columns + x) as usize]).flatten()
        };
        let mut arcs = Vec::new();
        for (x, y) in (0..lines).flat_map(|y| (0..columns).map(move |x| (x, y))) {
            for (a, b) in (0..=ARC).flat_map(|b| (-ARC..=ARC).map(move |a| (a, b))) {
                let is_new = (b > 0 || a > 0) && common_divisor(a.abs(), b) == 1;
                if let (true, Some(i), Some(j)) = (is_new, row(x, y), row(x + a, y + b)) {
                    arcs.push(Arc { i, j, d: self.h * (a as f64).hypot(b as f64) });
                }
            }
        }
        arcs
    }

    /// Points of the lattice around somebody, by the product of two splines.
    fn lattice(&self, at: Point) -> Vec<Share> {
        let [x, y] = [0, 1].map(|axis| spline((at[axis] - self.low[axis]) / self.h));
        let pairs = (0..3).flat_map(|j| (0..3).map(move |i| (i, j)));
        pairs
            .map(|(i, j)| {
                let point = (y.0 + j) * self.count[0] + x.0 + i;
                let slope = [x.2[i] * y.1[j] / self.h, x.1[i] * y.2[j] / self.h];
                (point, x.1[i] * y.1[j], slope)
            })
            .collect()
    }

    /// The same as rows of the programme.
    fn shares(&self, at: Point) -> Vec<Share> {
        let numbered = self.lattice(at).into_iter();
        numbered.map(|(p, weight, slope)| (self.number[p].expect("a row"), weight, slope)).collect()
    }

    /// Solves, measures, and shortens arcs where gradients are too steep.
    fn round(&mut self, limit: f64) -> Round {
        let shorter =
            |arc: &Arc| Arc { d: arc.d * self.shortened[arc.i].min(self.shortened[arc.j]), ..*arc };
        let cost = DenseCost::new(self.rows, self.places, self.cost.clone()).expect("costs");
        let problem = Problem::new(ProblemParts {
            epsilon: RATE * EPSILON,
            groups: Vec::new(),
            cost: Box::new(cost),
            arcs: self.arcs.iter().map(shorter).collect(),
            ties: None,
            bounds: Vec::new(),
            fixed_y: None,
        });
        let time_limit = Some(Duration::from_secs_f64(limit));
        let settings = Settings { gap: 2e-3, time_limit, ..Settings::default() };
        let solution = solve(&problem.expect("a problem"), &settings).expect("a solution");
        let n = self.places;
        let mut z = vec![0.0; self.rows * n];
        z.chunks_exact_mut(n).enumerate().for_each(|(row, out)| solution.z.fill_row(row, out));
        let street = self.people.par_iter().zip(self.losses.par_chunks_exact(n));
        let street = street.map(|((_, at), losses)| -> f64 {
            let shares = self.shares(*at).into_iter();
            shares.map(|(row, weight, _)| weight * dot(&z[row * n..][..n], losses)).sum()
        });
        let street = street.sum::<f64>() / self.people.len() as f64;
        let slopes: Vec<f64> =
            self.samples.par_iter().map(|&at| self.steepest(&z, at) / EPSILON).collect();
        let before = self.shortened.clone();
        for (&at, slope) in self.samples.iter().zip(&slopes).filter(|(_, slope)| **slope > 1.0) {
            for (row, ..) in self.shares(at) {
                self.shortened[row] = self.shortened[row].min(before[row] / (slope + SPARE));
            }
        }
        let mut sorted = slopes;
        sorted.sort_by(f64::total_cmp);
        let slopes =
            [0.5, 0.99, 1.0].map(|share| sorted[((sorted.len() - 1) as f64 * share) as usize]);
        Round { programme: solution.objective, bound: solution.lower_bound, street, slopes }
    }

    /// The largest gradient of the logarithm of a report at a point.
    fn steepest(&self, z: &[f64], at: Point) -> f64 {
        let n = self.places;
        let mut reports = vec![[0.0; 3]; n];
        for (row, weight, slope) in self.shares(at) {
            for (report, z) in reports.iter_mut().zip(&z[row * n..][..n]) {
                let [value, x, y] = report;
                (*value, *x, *y) = (*value + weight * z, *x + slope[0] * z, *y + slope[1] * z);
            }
        }
        let possible = reports.iter().filter(|[value, ..]| *value > 0.0);
        possible.map(|[value, x, y]| x.hypot(*y) / value).fold(0.0, f64::max)
    }

    /// What Laplace noise for coordinates costs the same people.
    fn laplace(&self, built: &Built) -> f64 {
        let people = self.people.par_iter().zip(self.losses.par_chunks_exact(self.places));
        let costs = people.map(|((at, _), losses)| dot(&built.row_at(*at).expect("a row"), losses));
        costs.sum::<f64>() / self.people.len() as f64
    }
}

/// The first of three points around x, in spacings, the values of their quadratic B-splines and their derivatives.
fn spline(x: f64) -> (usize, [f64; 3], [f64; 3]) {
    let middle = x.round();
    let t = x - middle;
    let values = [0.5 * (0.5 - t).powi(2), 0.75 - t * t, 0.5 * (0.5 + t).powi(2)];
    (middle as usize - 1, values, [t - 0.5, -2.0 * t, t + 0.5])
}

fn common_divisor(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The plane of the noise for coordinates: over a city right to a millionth.
fn stereographic(centre: Coord, at: Coord) -> Point {
    let (middle, lat) = (centre.lat().to_radians(), at.lat().to_radians());
    let lon = at.lon().to_radians() - centre.lon().to_radians();
    let towards = middle.sin() * lat.sin() + middle.cos() * lat.cos() * lon.cos();
    let scale = 2.0 * EARTH_RADIUS_KM / (1.0 + towards);
    let north = middle.cos() * lat.sin() - middle.sin() * lat.cos() * lon.cos();
    [scale * lat.cos() * lon.sin(), scale * north]
}
