//! The probability that planar Laplace noise lands in a polygon.
//!
//! In polar coordinates around the true place the radial part can be integrated at once: the noise
//! density `eps^2/(2 pi) e^(-eps r)` has `C(r) = 1 - (1 + eps r) e^(-eps r)` of its mass within r. What
//! remains is one integral along each edge: with p the signed distance of the place from the line of
//! the edge and u the position along it, `d theta = p du / r^2` and
//!
//! `mass = 1/(2 pi) sum_edges p * integral of C(r)/r^2 du`,  `r^2 = p^2 + u^2`.
//!
//! Ratios of masses are what privacy is about, so the *relative* error must be small even where the
//! mass is 1e-20. Far from the place C is one minus something tiny; there the ones are left out,
//! since the angles of a closed polygon add up to zero (or to a whole turn around the place). Then all
//! terms are of the size of `e^(-eps r)`, and only a factor of about `1/(eps width)` is lost in their
//! difference.

use std::f64::consts::PI;

use lrgeo_tiles::plane::Point;

use super::lambert::{SERIES_UP_TO, inside_over_square};
use super::voronoi::{Cell, Edge};

/// Beyond this `eps r` the mass of a polygon (1e-37) is nothing beside the floor of every entry.
pub(super) const NEGLIGIBLE: f64 = 90.0;

/// How often an edge may be halved; each half is closer to harmless, so this is never the end.
const MOST_HALVINGS: u32 = 60;

/// Gauss-Legendre rules: the nodes and weights on (-1, 1).
#[derive(Clone, Debug)]
pub(super) struct Quadrature {
    few: Vec<[f64; 2]>,
    many: Vec<[f64; 2]>,
}

/// Which function is integrated along the edges.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// C itself: for polygons near the place.
    Inside,
    /// 1 - C: for all others.
    Outside,
}

impl Quadrature {
    pub(super) fn new() -> Self {
        Self { few: gauss_legendre(8), many: gauss_legendre(16) }
    }

    /// The mass of `cell`, whose place lies at `offset` from the true one; `own` if the two are the
    /// same.
    pub(super) fn mass(&self, cell: &Cell, offset: Point, epsilon: f64, own: bool) -> f64 {
        let away = offset[0].hypot(offset[1]);
        if epsilon * (away - cell.radius) > NEGLIGIBLE {
            return 0.0;
        }
        let near = epsilon * (away + cell.radius) < SERIES_UP_TO;
        let form = if near { Form::Inside } else { Form::Outside };
        let sum: f64 = cell.edges.iter().map(|edge| self.edge(edge, offset, epsilon, form)).sum();
        let mass = match (form, own) {
            (Form::Inside, _) => sum / (2.0 * PI),
            (Form::Outside, false) => -sum / (2.0 * PI),
            (Form::Outside, true) => 1.0 - sum / (2.0 * PI),
        };
        mass.max(0.0)
    }

    fn edge(&self, edge: &Edge, offset: Point, epsilon: f64, form: Form) -> f64 {
        let [x, y] = [offset[0] + edge.from[0], offset[1] + edge.from[1]];
        let [along_x, along_y] = edge.direction;
        let line = Line { distance: x * along_y - y * along_x, epsilon, form };
        let start = x * along_x + y * along_y;
        line.distance * self.piece(line, start, start + edge.length, MOST_HALVINGS)
    }

    /// The integral from `a` to `b`. The integrand is smooth but for the point where r would be
    /// zero, so a piece no longer than its distance from the place, and not so long that
    /// the exponential falls by more than e^12, is integrated to the last digits by 16 nodes.
    fn piece(&self, line: Line, a: f64, b: f64, halvings: u32) -> f64 {
        let (middle, half) = ((a + b) / 2.0, (b - a) / 2.0);
        let r = line.radius(middle);
        if line.form == Form::Outside && line.epsilon * (r - half) > NEGLIGIBLE {
            return 0.0;
        }
        if halvings > 0 && (2.0 * half > r || line.epsilon * half > 6.0) {
            return self.piece(line, a, middle, halvings - 1)
                + self.piece(line, middle, b, halvings - 1);
        }
        // Short and far away, eight nodes do as well.
        let easy = 8.0 * half < r && line.epsilon * half < 1.0;
        let rule = if easy { &self.few } else { &self.many };
        let value = |&[node, weight]: &[f64; 2]| weight * line.value(half.mul_add(node, middle));
        half * rule.iter().map(value).sum::<f64>()
    }
}

/// The line of an edge, seen from the place.
#[derive(Clone, Copy)]
struct Line {
    /// Signed: positive if the place is on the left.
    distance: f64,
    epsilon: f64,
    form: Form,
}

impl Line {
    /// How far position u along the line is from the place.
    fn radius(&self, u: f64) -> f64 {
        (u * u + self.distance * self.distance).sqrt()
    }

    /// `C(r)/r^2` or `(1 - C(r))/r^2` at position u along the line.
    fn value(&self, u: f64) -> f64 {
        let r = self.radius(u);
        let s = self.epsilon * r;
        match self.form {
            Form::Inside => self.epsilon * self.epsilon * inside_over_square(s),
            Form::Outside => (1.0 + s) * (-s).exp() / (r * r),
        }
    }
}

/// Nodes (roots of the Legendre polynomial, by Newton from Chebyshev's guess) and weights.
fn gauss_legendre(count: usize) -> Vec<[f64; 2]> {
    (0..count)
        .map(|at| {
            let mut x = (PI * (at as f64 + 0.75) / (count as f64 + 0.5)).cos();
            let mut slope = 1.0;
            for _ in 0..10 {
                let (mut before, mut value) = (1.0, x);
                for n in 2..=count {
                    let n = n as f64;
                    (before, value) =
                        (value, ((2.0 * n - 1.0) * x * value - (n - 1.0) * before) / n);
                }
                slope = count as f64 * (x * value - before) / (x * x - 1.0);
                x -= value / slope;
            }
            [x, 2.0 / ((1.0 - x * x) * slope * slope)]
        })
        .collect()
}

#[cfg(test)]
mod tests;
