//! Noise for coordinates everywhere on Earth, without a map and without a service.
//!
//! Outcomes are the points of one lattice around the whole Earth, the same for everybody ([`lattice`]): rows of latitude, each cut into cells
//! of at most h by h, with a point l in the middle of each. Somebody at X has the outcome l with probability
//!
//! ```text
//! P(l | X) = (1 - T) A_l f(X, l) / S(X) + t_l,    f = exp(-e sqrt(|X - l|^2 + b^2)),    S(X) = sum_l A_l f(X, l)
//! ```
//!
//! where `A_l` is the area of the cell, `|X - l|` the straight line through the Earth, and b the tip that [`crate::coordinates`] explains. f is left
//! out where it is far below `t_l`, which is the same for everybody: T = 2^-40 in all, spread over the rows and the points in each.
//!
//! **Why that is private for every two coordinates.** f is e-Lipschitz in X, and the integral of f over the Earth is the same from everywhere; S is that
//! integral by a midpoint rule, so nearly the same from everywhere. How nearly is worked out by the verifier (`verify/earth.rs`);
//! `docs/coordinates.md` has the proof.

pub mod lattice;

use lrgeo_geo::{Coord, EARTH_RADIUS_KM, Invalid};

use crate::{Distribution, Epsilon, HELD, NoDistribution};
use lattice::{EarthLattice, Row};

/// `e h`: a finer lattice ripples less, and takes longer to sum up.
const SCALED_SPACING: f64 = 1.0 / 12.0;
/// Part of epsilon kept back for what the verifier charges; it says whether that is enough.
const CHARGE: f64 = 7e-3;
/// Beyond this latitude two coordinates may be so close that no rounding keeps a promise between them.
pub const HIGHEST_LATITUDE: f64 = 85.0;
/// What is spread over the whole Earth, the same for everybody: one report in 10^12 may be anywhere.
pub const SPREAD: f64 = 1.0 / (1u64 << 40) as f64;
/// f is left out where its part is below `exp(-CUT)` times the even one.
const CUT: f64 = 30.0;
/// Epsilons that this noise can be made for, in 1/km: "factor 2 within 13 km" to "factor 2 within 14 m".
pub const RANGE: std::ops::RangeInclusive<f64> = 0.05..=50.0;

/// The noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EarthNoise {
    /// e, per kilometre.
    pub rate: Epsilon,
    /// The outcomes.
    pub lattice: EarthLattice,
    /// b, in kilometres.
    pub tip_km: f64,
    /// f is summed up at least so far, in kilometres.
    pub reach_km: f64,
}

impl EarthNoise {
    /// For a promise between any two coordinates. Whether it is kept is for the verifier to say.
    pub fn new(epsilon: Epsilon) -> Result<Self, Invalid> {
        if !RANGE.contains(&epsilon.value()) {
            let reason = format!(
                "{epsilon} is not between {}/km and {}/km: write `factor 2 within 300 m`",
                RANGE.start(),
                RANGE.end()
            );
            return Err(Invalid { field: "epsilon", reason });
        }
        let e = epsilon.value() * (1.0 - CHARGE);
        let lattice = EarthLattice::with_spacing(SCALED_SPACING / e);
        let h = lattice.spacing_km();
        // A cell's part of S, which is 2 pi / e^2, over the even part.
        let over_even = (e * h).powi(2) / std::f64::consts::TAU / lattice.least_even_part(SPREAD);
        let reach_km = ((over_even.ln() + CUT) / e).min(2.0 * EARTH_RADIUS_KM);
        Ok(Self { rate: Epsilon::per_km(e)?, lattice, tip_km: h, reach_km })
    }

    /// How likely an outcome is at a distance from where somebody stands, per square kilometre: for a picture of the noise.
    pub fn density(&self, km: f64) -> f64 {
        let (e, b) = (self.rate.value(), self.tip_km);
        (-e * km.hypot(b)).exp()
            / (std::f64::consts::TAU / (e * e) * (1.0 + e * b) * (-e * b).exp())
    }

    /// How likely an outcome is within a distance of where somebody stands.
    pub fn within(&self, km: f64) -> f64 {
        let (e, b) = (self.rate.value(), self.tip_km);
        let beyond = |s: f64| (1.0 + e * s) * (-e * s).exp();
        1.0 - beyond(km.hypot(b)) / beyond(b)
    }

    /// The radius around an outcome that holds somebody with 95 %, who has moved by `moved_km` since it was drawn, in whatever direction: the noise knows
    /// nothing of that.
    pub fn accuracy_km(&self, moved_km: f64) -> f64 {
        const STEPS: usize = 4000;
        let farthest = 40.0 / self.rate.value();
        let held = |radius: f64| {
            let ring = |k: usize| {
                let (from, to) = (k as f64, (k + 1) as f64);
                let [from, to] = [from, to].map(|k| k * farthest / STEPS as f64);
                let share = part_of_circle((from + to) / 2.0, moved_km, radius);
                share * (self.within(to) - self.within(from))
            };
            (0..STEPS).map(ring).sum::<f64>()
        };
        let (mut low, mut high) = (0.0, farthest + moved_km);
        for _ in 0..40 {
            let middle = (low + high) / 2.0;
            if held(middle) < HELD { low = middle } else { high = middle }
        }
        high
    }

    /// What somebody at a coordinate draws from.
    pub fn around(&self, at: Coord) -> Result<Around<'_>, Invalid> {
        if at.lat().abs() > HIGHEST_LATITUDE {
            let reason = format!(
                "must be between -{HIGHEST_LATITUDE} and {HIGHEST_LATITUDE}: nearer to the poles nothing is promised"
            );
            return Err(Invalid { field: "lat", reason });
        }
        let at = at.rounded();
        // The same meridian under two names is one coordinate.
        let lon = if at.lon() == 180.0 { -180.0 } else { at.lon() };
        let mut around = Around {
            noise: self,
            lat: at.lat().to_radians(),
            lon: lon.to_radians(),
            first: 0,
            spans: Vec::new(),
            total: 0.0,
            parts: Vec::new(),
        };
        around.sum_up();
        Ok(around)
    }
}

/// Which part of a circle lies within `radius` of a point that is `away` from its middle.
fn part_of_circle(circle: f64, away: f64, radius: f64) -> f64 {
    if circle + away <= radius {
        return 1.0;
    }
    if (circle - away).abs() >= radius {
        return 0.0;
    }
    let cosine = (circle * circle + away * away - radius * radius) / (2.0 * circle * away);
    cosine.clamp(-1.0, 1.0).acos() / std::f64::consts::PI
}

/// The points of a row that are near somebody: the number of the first, which may be before the row's beginning or beyond its end (rows are
/// circles), and how many.
#[derive(Clone, Copy, Debug)]
struct Span {
    row: Row,
    first: i64,
    count: u64,
    /// The sum of f over them.
    sum: f64,
}

/// The noise around one coordinate, drawn from in two steps: the row, then the point. Holds where somebody is: never printed.
pub struct Around<'a> {
    noise: &'a EarthNoise,
    lat: f64,
    lon: f64,
    /// The number of the first row of `spans`.
    first: u64,
    spans: Vec<Span>,
    /// S.
    total: f64,
    parts: Vec<f64>,
}

impl Around<'_> {
    fn sum_up(&mut self) {
        let lattice = &self.noise.lattice;
        // The chord of this angle is the reach.
        let angle = 2.0 * (self.noise.reach_km / (2.0 * EARTH_RADIUS_KM)).min(1.0).asin();
        let rows = lattice.rows_between(self.lat - angle, self.lat + angle);
        self.first = rows.start;
        for number in rows {
            let mut span = self.span(lattice.row(number));
            span.sum = (0..span.count).map(self.f(&span)).sum();
            self.spans.push(span);
        }
        self.total = self.spans.iter().map(|span| span.row.area_km2 * span.sum).sum();
        let even = |span: &Span| span.count as f64 * self.even_part(&span.row);
        let part = |span: &Span| self.noisy_part(&span.row, span.sum) + even(span);
        let elsewhere = SPREAD - self.spans.iter().map(even).sum::<f64>();
        self.parts = self.spans.iter().map(part).chain([elsewhere.max(0.0)]).collect();
    }

    /// The points of a row that are within reach, and a few more.
    fn span(&self, row: Row) -> Span {
        let reach = self.noise.reach_km / (2.0 * EARTH_RADIUS_KM);
        let half = ((row.lat - self.lat) / 2.0).sin();
        let square = (reach * reach - half * half) / (self.lat.cos() * row.lat.cos());
        let within = if square <= 0.0 { 0.0 } else { 2.0 * square.sqrt().min(1.0).asin() };
        let middle = self.lon / row.step() + row.points as f64 / 2.0;
        let first = (middle - within / row.step()).floor() as i64 - 2;
        let last = (middle + within / row.step()).ceil() as i64 + 2;
        let count = ((last - first + 1) as u64).min(row.points);
        Span { row, first, count, sum: 0.0 }
    }

    /// f at each point of a span, by number.
    fn f(&self, span: &Span) -> impl Fn(u64) -> f64 {
        let diameter = 2.0 * EARTH_RADIUS_KM;
        let half_lat = ((span.row.lat - self.lat) / 2.0).sin();
        let beside = (diameter * half_lat).powi(2) + self.noise.tip_km.powi(2);
        let across = diameter * diameter * self.lat.cos() * span.row.lat.cos();
        let (row, first, lon, e) = (span.row, span.first, self.lon, self.noise.rate.value());
        move |k| {
            let half_lon = ((row.lon(first + k as i64) - lon) / 2.0).sin();
            (-e * (beside + across * half_lon * half_lon).sqrt()).exp()
        }
    }

    fn noisy_part(&self, row: &Row, f: f64) -> f64 {
        (1.0 - SPREAD) * row.area_km2 * f / self.total
    }

    fn even_part(&self, row: &Row) -> f64 {
        self.noise.lattice.even_part(SPREAD, row)
    }

    /// The first step: how likely each of the rows nearby is, and at the end every point that is not nearby.
    pub fn rows(&self) -> Result<Distribution, NoDistribution> {
        Distribution::new(self.parts.clone())
    }

    /// The second step: how likely each point nearby is, given its row. `None` for the last of [`Around::rows`], whose points are drawn
    /// as [`Around::elsewhere`] says.
    pub fn points(&self, row: usize) -> Result<Option<Distribution>, NoDistribution> {
        let Some(span) = self.spans.get(row) else { return Ok(None) };
        let even = self.even_part(&span.row);
        let part = |f: f64| (self.noisy_part(&span.row, f) + even) / self.parts[row];
        Distribution::new((0..span.count).map(self.f(span)).map(part).collect()).map(Some)
    }

    /// The outcome of both steps.
    pub fn outcome(&self, row: usize, point: usize) -> Option<Coord> {
        let span = self.spans.get(row)?;
        let number = (span.first + point as i64).rem_euclid(span.row.points as i64);
        span.row.coord(number as u64)
    }

    /// The outcome for a point of the whole Earth: of a row, every one of them as likely as another, and of its points likewise. `None` where that is
    /// nearby: then both are to be drawn again.
    pub fn elsewhere(&self, row: u64, point: u64) -> Option<Coord> {
        let found = row.checked_sub(self.first).and_then(|at| self.spans.get(at as usize));
        let near = found.is_some_and(|span| {
            let from_first = (point as i64 - span.first).rem_euclid(span.row.points as i64);
            (from_first as u64) < span.count
        });
        if near { None } else { self.noise.lattice.row(row).coord(point) }
    }
}

impl std::fmt::Debug for Around<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Around").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
