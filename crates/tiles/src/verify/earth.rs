//! The promise of the noise that needs no map ([`crate::earth`]): proven in closed form, for every two coordinates and every outcome.
//!
//! `P(l | X) = (1 - T) A_l f(X, l) / S(X) + t_l`, and the even part `t_l` is the same for everybody. So two people at X and Y differ by at most
//! `exp((e + g) d)`, g being the largest gradient of `ln S`, but for what is left out far away (`edge`) and for rounding:
//!
//! - **g**: the integral of f over the Earth is the same from everywhere, and S stands for it by a midpoint rule. What is left of that is of second order: at most
//!   `h^2 / 12` times the integral of the third derivative of f, and what the curvature of the Earth does to a cell's centre of gravity.
//! - **edge**: a point that is left out for Y and not for X is at least as far from Y as f is summed up.
//! - **rounding**: against the distance of the two nearest coordinates.
//!
//! Then `e + g + (edge + 8 delta) / d_min <= epsilon` is the promise. Every bound is raised by a billionth of itself, far more than its own rounding.

use lrgeo_geo::{EARTH_RADIUS_KM, STEP_DEGREES};

use crate::earth::{EarthNoise, HIGHEST_LATITUDE, SPREAD};

/// How much every bound is raised.
const RAISED: f64 = 1.0 + 1e-9;
/// How far off a point may be after all its sines; a few roundings of the Earth's radius, taken ten times.
const POSITION_ERROR_KM: f64 = 4e-11;
/// How far the point of a cell may be from the direction of its centre of gravity, by rounding.
const CENTRE_ERROR_KM: f64 = 1e-8;
/// The largest value of `sqrt((1 - a^2)(1 + 3 a^2))`: what directions can make of second and third derivatives of a distance.
const DIRECTIONS: f64 = 1.154_700_539;

/// What the parts of the promise come to, per kilometre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EarthAccount {
    /// The rate of the noise.
    pub noise: f64,
    /// What the unevenness of S may add.
    pub ripple: f64,
    /// What is left out far away may add, between the two nearest coordinates.
    pub edge: f64,
    /// What rounding may add, between the two nearest coordinates.
    pub rounding: f64,
}

impl EarthAccount {
    /// The epsilon between any two coordinates up to [`HIGHEST_LATITUDE`]: an upper bound.
    pub fn epsilon(&self) -> f64 {
        (self.noise + self.ripple + self.edge + self.rounding) * RAISED
    }
}

/// What can be proven about the noise; infinite where nothing can.
pub fn account(noise: &EarthNoise) -> EarthAccount {
    let (e, b, h) = (noise.rate.value(), noise.tip_km, noise.lattice.spacing_km());
    let sums = Sums::new(e, b, h);
    let tail = tail(noise);
    let least = sums.mean - sums.uneven - tail;
    let (ripple, least) = match least > 0.0 && sums.slope.is_finite() {
        true => (sums.slope / least * RAISED, least),
        false => (f64::INFINITY, f64::MIN_POSITIVE),
    };
    let even = noise.lattice.least_even_part(SPREAD);
    let step = STEP_DEGREES.to_radians() * EARTH_RADIUS_KM;
    // Coordinates are doubles, whose own rounding is a billionth of a step.
    let nearest = step * HIGHEST_LATITUDE.to_radians().cos() * (1.0 - 1e-6);
    let left_out = h * h * (-e * noise.reach_km).exp() / least / even;
    let rounding = 8.0 * delta(noise, even, tail / least);
    EarthAccount {
        noise: e,
        ripple,
        edge: left_out / nearest * RAISED,
        rounding: rounding / nearest * RAISED,
    }
}

/// About the sum of `A_l f` over the whole lattice, from above or below.
struct Sums {
    /// The integral that it stands for, from below.
    mean: f64,
    /// By how much it may differ from that.
    uneven: f64,
    /// Its largest gradient.
    slope: f64,
}

impl Sums {
    /// A cell's points are at most `h sqrt 2` apart, its second moment around its point is at most `h^2 / 6` of its area, and its centre of gravity is below its
    /// point by half of that over the radius. With derivatives of f taken at the nearest end of each cell, sums over cells become integrals over
    /// the Earth; there the area within a chord r is exactly `pi r^2`, so that `dA = 2 pi s ds` with `s^2 = r^2 + b^2`.
    fn new(e: f64, b: f64, h: f64) -> Self {
        let first = |s: f64| e * (-e * s).exp();
        let second = |s: f64| (e * e + e / s) * (-e * s).exp();
        let third = |s: f64| (e * e * e + DIRECTIONS * (e * e / s + e / (s * s))) * (-e * s).exp();
        let of = |derivative: &dyn Fn(f64) -> f64| {
            integral(e, b, h * std::f64::consts::SQRT_2, derivative)
        };
        let bent = h * h / (12.0 * EARTH_RADIUS_KM) + CENTRE_ERROR_KM;
        let beyond = |s: f64| (1.0 + e * s) * (-e * s).exp();
        let whole = beyond(b) - beyond(b.hypot(2.0 * EARTH_RADIUS_KM));
        Self {
            mean: std::f64::consts::TAU / (e * e) * whole / RAISED,
            uneven: (h * h / 12.0 * of(&second) + bent * of(&first)) * RAISED,
            slope: (h * h / 12.0 * of(&third) + bent * of(&second)) * RAISED,
        }
    }
}

/// The integral of `derivative(max(s - apart, b)) 2 pi s ds` from b on, from above: rectangles, since derivatives fall with s.
fn integral(e: f64, b: f64, apart: f64, derivative: &dyn Fn(f64) -> f64) -> f64 {
    const STEPS: usize = 30_000;
    let end = b + 60.0 / e;
    let step = (end - b) / STEPS as f64;
    let rectangle = |k: usize| {
        let (from, to) = (b + k as f64 * step, b + (k + 1) as f64 * step);
        derivative((from - apart).max(b)) * to * step
    };
    let sum: f64 = (0..STEPS).map(rectangle).sum();
    // What follows falls at least like exp(-e s).
    let rest = derivative(end - apart) * (end / e + 1.0 / (e * e));
    std::f64::consts::TAU * (sum + rest) * RAISED
}

/// The sum of `A_l f` over everything that is farther than f is summed up, from above.
fn tail(noise: &EarthNoise) -> f64 {
    let e = noise.rate.value();
    let apart = noise.lattice.spacing_km() * std::f64::consts::SQRT_2;
    let from = noise.reach_km - apart;
    std::f64::consts::TAU / (e * e) * (1.0 + e * from) * (-e * (from - apart)).exp() * RAISED
}

/// By how much of itself a part of a row, or the sum of a row, may be off.
fn delta(noise: &EarthNoise, even: f64, tail: f64) -> f64 {
    let (e, unit) = (noise.rate.value(), f64::EPSILON);
    let position = 2.0 * e * POSITION_ERROR_KM;
    let exponent = 8.0 * unit * e * (noise.reach_km * 1.1 + noise.tip_km);
    // Sums of sums: the points of a row, then the rows.
    let sums = (16.0 * noise.reach_km / noise.lattice.spacing_km() + 256.0) * unit;
    let units = 8.0 * 2f64.powi(-127) / even;
    (position + exponent + sums + units + tail) * RAISED
}
