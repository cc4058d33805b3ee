//! The promise between coordinates: proven in closed form, for every two of them and every report.
//!
//! A report is a sum of outcomes `f(X - l)`, divided by the sum S of all. With e the rate of f, two people at X and Y of the area differ by at most
//! `exp((e + g) |X - Y|)`, g being the largest gradient of `ln S` in the area, which is convex. So three numbers have to be bounded from above,
//! each from the bytes of the mechanism alone:
//!
//! - **g** (`ripple`, `beyond`): of the whole lattice by Poisson's summation formula, whose terms are known in closed form, and what is missing beyond
//!   its border by an integral;
//! - **kappa**: by how much the plane stretches ways on the Earth, exact for the stereographic projection;
//! - **delta**: what rounding can do to one entry, against the distance of the two nearest coordinates.
//!
//! Then `kappa (e + g) + 4 delta / d_min <= epsilon` is the promise. Every bound is raised by a billionth of itself, far more than its own rounding.

use lrgeo_geo::{EARTH_RADIUS_KM, STEP_DEGREES};

use super::Finding;
use crate::Epsilon;
use crate::coordinates::LatticeNoise;

/// How much every bound is raised: the arithmetic here has a few hundred roundings of 1e-16.
const RAISED: f64 = 1.0 + 1e-9;

/// Harmonics of the lattice that are summed up one by one, in each direction; what follows is bounded.
const HARMONICS: i32 = 12;

/// How far off a point may be, in kilometres, after projecting a coordinate; a few roundings of the Earth's radius, taken ten times.
const POSITION_ERROR_KM: f64 = 4e-11;

/// What the parts of the promise come to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Account {
    /// The rate of the noise in the plane, per kilometre.
    pub noise: f64,
    /// What the ripple of S may add, per kilometre.
    pub ripple: f64,
    /// What is missing beyond the border of the lattice may add, per kilometre.
    pub border: f64,
    /// How many times longer than on the Earth a way may be in the plane.
    pub stretch: f64,
    /// What rounding may add between the two nearest coordinates, per kilometre.
    pub rounding: f64,
}

impl Account {
    /// The epsilon between any two coordinates of the area: an upper bound.
    pub fn epsilon(&self) -> f64 {
        (self.stretch * (self.noise + self.ripple + self.border) + self.rounding) * RAISED
    }
}

/// What can be proven about a mechanism; infinite where nothing can.
pub fn account(noise: &LatticeNoise) -> Account {
    let (e, h, b) = (noise.noise.value(), noise.lattice.spacing_km, noise.lattice.tip_km);
    let (flat, uneven, slope) = ripple(e, h, b);
    let margin = margin_km(noise);
    let beyond = beyond(e, h, margin);
    // S in the area is at least what the whole lattice has there, less what is missing.
    let least = flat - uneven - beyond;
    let of_least = |gradient: f64| match least > 0.0 && gradient.is_finite() {
        true => gradient / least * RAISED,
        false => f64::INFINITY,
    };
    let [west, south, east, north] = noise.area;
    let farthest = west.abs().max(east.abs()).hypot(south.abs().max(north.abs()));
    Account {
        noise: e,
        ripple: of_least(slope),
        border: of_least(e * beyond),
        stretch: (1.0 + (farthest / (2.0 * EARTH_RADIUS_KM)).powi(2)) * RAISED,
        rounding: 4.0 * delta(noise, farthest) / nearest_coordinates_km(noise, farthest) * RAISED,
    }
}

/// The promise as a finding: one inequality for each report and direction stands for all coordinates.
pub fn finding(noise: &LatticeNoise, epsilon: Epsilon) -> Finding {
    let bound = account(noise).epsilon();
    let reports = noise.reports.iter().collect::<std::collections::BTreeSet<_>>().len() as u64;
    let excess = bound - epsilon.value();
    let violations = if excess <= 0.0 { 0 } else { reports };
    Finding {
        checked: reports,
        violations,
        pairs: 1,
        violated_pairs: u64::from(violations > 0),
        worst_log_excess: excess,
        effective_epsilon: bound,
        ..Finding::default()
    }
}

/// Of the endless lattice: the mean of S, by how much S may differ from it, and its largest gradient, from above.
///
/// `S(X) = sum_m F(k_m) exp(i k_m X) / h^2` over the frequencies `k_m = 2 pi m / h`, all terms being positive.
fn ripple(e: f64, h: f64, b: f64) -> (f64, f64, f64) {
    let tau = std::f64::consts::TAU;
    // The transform of exp(-e sqrt(r^2 + b^2)) at frequency k (Sommerfeld's identity, differentiated by e).
    let transform = |k: f64| {
        let q = e.hypot(k);
        tau * e * (1.0 + b * q) * (-b * q).exp() / (q * q * q)
    };
    let (mut uneven, mut slope) = (0.0, 0.0);
    for m in -HARMONICS..=HARMONICS {
        for n in -HARMONICS..=HARMONICS {
            if (m, n) != (0, 0) {
                let k = tau / h * f64::from(m).hypot(f64::from(n));
                uneven += transform(k);
                slope += k * transform(k);
            }
        }
    }
    // Rings of 8 r frequencies each beyond, the nearest at r: k F(k) falls with exp(-b k) / k^2 times (1 + b k) at least, so ring by ring with
    // exp(-2 pi b / h) times less than 2.
    let ring = |r: f64| 8.0 * r * (tau / h * r) * transform(tau / h * r);
    let decay = 2.0 * (-tau * b / h).exp();
    let rest = match decay < 0.9 {
        true => ring(f64::from(HARMONICS + 1)) / (1.0 - decay),
        false => f64::INFINITY,
    };
    let area = h * h;
    let slope = (slope + rest) * RAISED / area;
    let uneven = (uneven + rest * h / tau) * RAISED / area;
    (transform(0.0) / RAISED / area, uneven, slope)
}

/// The sum of f over all points of an endless lattice that are at least `margin` away, from above: each is at most the mean of
/// `exp(-e (|y| - h / sqrt 2))` over the square around it.
fn beyond(e: f64, h: f64, margin: f64) -> f64 {
    let half = h * std::f64::consts::FRAC_1_SQRT_2;
    let from = margin - half;
    if from.is_nan() || from <= 0.0 {
        return f64::INFINITY;
    }
    let tail = std::f64::consts::TAU / (e * e) * (1.0 + e * from) * (-e * from).exp();
    tail * (e * half).exp() / (h * h) * RAISED
}

/// How far the nearest point that the lattice lacks is from anybody in the area.
fn margin_km(noise: &LatticeNoise) -> f64 {
    let lattice = &noise.lattice;
    let h = lattice.spacing_km;
    let mut margin = f64::INFINITY;
    for axis in 0..2 {
        let before = (lattice.first[axis] - 1) as f64 * h;
        let after = (lattice.first[axis] + lattice.count(axis)) as f64 * h;
        margin = margin.min(noise.area[axis] - before).min(after - noise.area[axis + 2]);
    }
    margin / RAISED
}

/// By how much of itself an entry of a row, or the sum of a row, may be off: the point it is made for, exponents, sums and whole units.
fn delta(noise: &LatticeNoise, farthest: f64) -> f64 {
    let (e, lattice) = (noise.noise.value(), &noise.lattice);
    let reach = [0, 1].map(|axis| {
        let ends = [lattice.first[axis], lattice.first[axis] + lattice.count(axis)];
        ends.iter().map(|at| at.unsigned_abs() as f64).fold(0.0, f64::max) * lattice.spacing_km
    });
    let longest = reach[0].hypot(reach[1]) + farthest + lattice.tip_km;
    let unit = f64::EPSILON;
    let position = 2.0 * e * POSITION_ERROR_KM;
    let exponent = 8.0 * unit * e * longest;
    let sums = (lattice.points() as f64 + 64.0) * unit;
    // Whole units of 2^-127 of what is at least 2^-80, and the units that are handed out afterwards.
    let units = 4.0 * (2f64).powi(-46);
    (position + exponent + sums + units) * RAISED
}

/// How far apart two different coordinates of the area are at least: a step of longitude where it is shortest.
fn nearest_coordinates_km(noise: &LatticeNoise, farthest: f64) -> f64 {
    // A corner is no farther from the middle than this, as an angle.
    let away = 1.01 * farthest / EARTH_RADIUS_KM;
    let highest = (noise.centre.lat().to_radians().abs() + away).min(std::f64::consts::FRAC_PI_2);
    let step = STEP_DEGREES.to_radians() * EARTH_RADIUS_KM;
    // Coordinates are doubles, whose own rounding is a billionth of a step.
    step * highest.cos() * (1.0 - 1e-6)
}
