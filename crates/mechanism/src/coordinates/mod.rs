//! Laplace noise for coordinates: around where somebody stands, not around the centre of a cell.
//!
//! Outcomes are the points l of a fine square lattice of spacing h in the plane, far beyond the map. Somebody at X has the outcome l with
//! probability `f(X - l) / S(X)`, where
//!
//! ```text
//! f(v) = exp(-e sqrt(|v|^2 + b^2)),    S(X) = sum_l f(X - l)
//! ```
//!
//! and reports the place that the public table says for l (`remap`). `b` is half a spacing: Laplace noise with a blunt tip.
//!
//! **Why that is private for coordinates.** `ln f` is e-Lipschitz, so a report, a sum of outcomes, changes by at most `exp(e |X - Y|)` between two
//! people, but for S. Without the tip S would have a cusp at every point of the lattice; with it S is flat: by Poisson's summation formula its ripple is the
//! Fourier transform of f at the frequencies of the lattice (Sommerfeld's identity),
//! `F(k) = 2 pi e (1 + b q) exp(-b q) / q^3` with `q^2 = e^2 + k^2`, and at `e h = 1/8` the gradient of `ln S` is below e / 1000. What is
//! cut off at the border of the lattice, the projection and the arithmetic are charged likewise. The sum of these charges is not believed but
//! worked out anew by the verifier (`verify/coordinates.rs`); `docs/coordinates.md` has the proof.
//!
//! **Coordinates are whole steps of 1e-7 degrees**, a centimetre, as phones give them. Between real numbers that are ever so close no
//! arithmetic with rounding could keep a promise.

mod kind;
mod table;

use lrgeo_map::geo::{BoundingBox, Coord};
use lrgeo_map::places::reach_km;
use lrgeo_map::progress::Progress;

pub use kind::CoordinateLaplace;

use crate::plane::{Plane, Point};
use crate::sample::FLOOR;
use crate::{City, Epsilon, MechanismError};

/// `e h`: the ripple of S falls with its square, the points of the lattice grow with that of its inverse.
const SCALED_SPACING: f64 = 1.0 / 8.0;
/// The tip's radius in spacings. Larger is flatter and dearer: at a half the ripple takes 0.03 % of epsilon and the tip costs 0.1 %.
const TIP: f64 = 0.5;
/// How far, in units of 1/e, the lattice goes on beyond where people may be: what is cut off is below 1e-4 of S.
const MARGIN: f64 = 14.0;
/// Points of the lattice on a side of the squares that share a report: half of 1/e.
const SHARED: u32 = 4;
/// Part of epsilon kept back for ripple, border and rounding; the verifier says whether that is enough.
const CHARGE: f64 = 1.2e-3;
/// Most points that a lattice may have: a second per row.
pub const MOST_POINTS: u64 = 100_000_000;
/// Lattices have whole multiples of this as their spacing, in kilometres (a power of two): their points are then exact.
const GRAIN_KM: f64 = 1.0 / (1u64 << 24) as f64;

/// The points that are outcomes, in squares that share a report.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lattice {
    /// h, in kilometres.
    pub spacing_km: f64,
    /// b, in kilometres: the tip of the noise around them.
    pub tip_km: f64,
    /// The first point, in spacings from the middle of the plane: column and row.
    pub first: [i64; 2],
    /// Columns and rows of squares.
    pub squares: [u32; 2],
    /// Points on a side of a square.
    pub side: u32,
}

impl Lattice {
    /// How many points.
    pub fn points(&self) -> u64 {
        let side = u64::from(self.side);
        self.squares.iter().fold(side * side, |n, &count| n.saturating_mul(u64::from(count)))
    }

    /// Columns or rows of points.
    pub fn count(&self, axis: usize) -> i64 {
        i64::from(self.squares[axis]) * i64::from(self.side)
    }

    /// The lattice of a rate of noise that reaches so far beyond an area.
    fn around(area: [f64; 4], rate: f64, margin_km: f64) -> Self {
        let spacing_km = (SCALED_SPACING / rate / GRAIN_KM).floor() * GRAIN_KM;
        let (mut first, mut squares) = ([0; 2], [0; 2]);
        for axis in 0..2 {
            let low = ((area[axis] - margin_km) / spacing_km).floor();
            let high = ((area[axis + 2] + margin_km) / spacing_km).ceil();
            // Casts saturate; what is too large is refused.
            first[axis] = low as i64;
            squares[axis] = ((high - low + 1.0) / f64::from(SHARED)).ceil() as u32;
        }
        Self { spacing_km, tip_km: TIP * spacing_km, first, squares, side: SHARED }
    }

    fn validate(&self) -> Result<(), MechanismError> {
        let broken = |reason: &str| Err(MechanismError::invalid("lattice", reason));
        let is_length = |km: f64| km.is_finite() && km > 0.0;
        if !is_length(self.spacing_km) || !is_length(self.tip_km) {
            return broken("its spacing and its tip must be lengths");
        }
        let is_near = |at: &i64| at.unsigned_abs() < 1 << 40;
        if !(1..=MOST_POINTS).contains(&self.points()) || !self.first.iter().all(is_near) {
            return broken("it has no points, or too many");
        }
        Ok(())
    }
}

/// The mechanism: where people may be, and what each outcome is reported as.
#[derive(Clone, Debug, PartialEq)]
pub struct LatticeNoise {
    /// e: of the noise, in the plane, per kilometre.
    pub noise: Epsilon,
    /// Where the plane touches the Earth.
    pub centre: Coord,
    /// Where people may be, in the plane: west, south, east, north, in kilometres.
    pub area: [f64; 4],
    /// The outcomes.
    pub lattice: Lattice,
    /// The place that each square is reported as, row by row.
    pub reports: Vec<u32>,
    /// The places of the map.
    places: Vec<Coord>,
    /// Which of them are ever reported.
    present: Vec<bool>,
}

impl LatticeNoise {
    /// The noise for `epsilon` between coordinates on a city, every outcome reported as what costs least given the prior.
    pub fn new(
        city: &City,
        epsilon: Epsilon,
        progress: &dyn Progress,
    ) -> Result<Self, MechanismError> {
        let places = city.coords();
        let bounds = BoundingBox::around(places.iter().copied());
        let centre = bounds.map(|bounds| bounds.centre().rounded());
        let centre = centre.ok_or_else(|| MechanismError::invalid("places", "there are none"))?;
        let area = area_around(&Plane::at(centre), places, reach_km(city.spacing_km()));
        let noise = Epsilon::per_km(epsilon.value() * (1.0 - CHARGE) / largest_scale(area))?;
        let lattice = Lattice::around(area, noise.value(), MARGIN / noise.value());
        if lattice.validate().is_err() {
            let reason = format!(
                "{epsilon} on a map of {:.0} x {:.0} km needs a lattice of more than {MOST_POINTS} points; choose a smaller region or a smaller epsilon",
                area[2] - area[0],
                area[3] - area[1]
            );
            return Err(MechanismError::invalid("epsilon", reason));
        }
        let mut made = Self {
            noise,
            centre,
            area,
            lattice,
            reports: Vec::new(),
            places: places.to_vec(),
            present: Vec::new(),
        };
        made.reports = table::best(&made, city, progress);
        made.present = present(&made.reports, places.len());
        Ok(made)
    }

    /// From its parts, as files and phones have them; `places` are those of the map.
    pub fn from_parts(
        noise: Epsilon,
        centre: Coord,
        area: [f64; 4],
        lattice: Lattice,
        reports: Vec<u32>,
        places: Vec<Coord>,
    ) -> Result<Self, MechanismError> {
        lattice.validate()?;
        let broken = |reason: &str| Err(MechanismError::invalid("lattice", reason));
        let numbers = area.iter().all(|km| km.is_finite() && km.abs() < 3000.0);
        if !numbers || area[0] >= area[2] || area[1] >= area[3] {
            return broken("its area is no rectangle of a plane");
        }
        let [columns, rows] = lattice.squares.map(u64::from);
        if reports.len() as u64 != columns * rows {
            return broken("its table is not one report per square");
        }
        if reports.iter().any(|&place| place as usize >= places.len()) {
            return broken("its table names a place that the map does not have");
        }
        let present = present(&reports, places.len());
        Ok(Self { noise, centre, area, lattice, reports, places, present })
    }

    /// The places of the map.
    pub fn places(&self) -> &[Coord] {
        &self.places
    }

    /// Where somebody is in the plane, rounded to a whole step of coordinates; `None` outside of the area.
    pub fn locate(&self, at: Coord) -> Option<Point> {
        let point = Plane::at(self.centre).project(at.rounded());
        let inside = |axis: usize| (self.area[axis]..=self.area[axis + 2]).contains(&point[axis]);
        (inside(0) && inside(1)).then_some(point)
    }

    /// The distribution of reports over the places of somebody at `at`, to be drawn from as it is; `None` outside of the area.
    pub fn row_at(&self, at: Coord) -> Option<Vec<f64>> {
        Some(self.row(self.locate(at)?))
    }

    /// The same at a point of the plane.
    fn row(&self, point: Point) -> Vec<f64> {
        let mut row = vec![0.0; self.places.len()];
        let mut total = 0.0;
        let mut line = vec![0.0; self.lattice.squares[0] as usize];
        for (at, reports) in self.reports.chunks_exact(self.lattice.squares[0] as usize).enumerate()
        {
            self.sum_squares(point, at, &mut line);
            for (&report, sum) in reports.iter().zip(&line) {
                row[report as usize] += sum;
                total += sum;
            }
        }
        for (slot, &present) in row.iter_mut().zip(&self.present) {
            *slot = if present { *slot / total + FLOOR } else { 0.0 };
        }
        row
    }

    /// How likely a report is from each place, up to a factor: S is flat.
    pub fn likelihood(&self, report: u32, out: &mut [f64]) {
        let plane = Plane::at(self.centre);
        let points: Vec<Point> =
            self.places.iter().map(|&at| plane.project(at.rounded())).collect();
        let squares = (0..self.reports.len()).filter(|&square| self.reports[square] == report);
        let squares: Vec<Point> = squares.map(|square| self.middle(square)).collect();
        for (slot, point) in out.iter_mut().zip(&points) {
            let away = |square: &Point| (square[0] - point[0]).hypot(square[1] - point[1]);
            *slot = squares.iter().map(|square| (-self.noise.value() * away(square)).exp()).sum();
        }
    }

    /// The sums of f over each of the squares of one line of them.
    fn sum_squares(&self, [x, y]: Point, line: usize, sums: &mut [f64]) {
        let (e, side, h) =
            (self.noise.value(), self.lattice.side as usize, self.lattice.spacing_km);
        sums.fill(0.0);
        for step in 0..side {
            let dy = (self.lattice.first[1] + (line * side + step) as i64) as f64 * h - y;
            let beside = dy * dy + self.lattice.tip_km * self.lattice.tip_km;
            for (square, sum) in sums.iter_mut().enumerate() {
                for column in square * side..(square + 1) * side {
                    let dx = (self.lattice.first[0] + column as i64) as f64 * h - x;
                    *sum += (-e * (dx * dx + beside).sqrt()).exp();
                }
            }
        }
    }

    /// The middle of a square.
    fn middle(&self, square: usize) -> Point {
        let (column, row) =
            (square % self.lattice.squares[0] as usize, square / self.lattice.squares[0] as usize);
        let half = f64::from(self.lattice.side - 1) / 2.0;
        [(0, column), (1, row)].map(|(axis, at)| {
            (self.lattice.first[axis] as f64 + at as f64 * f64::from(self.lattice.side) + half)
                * self.lattice.spacing_km
        })
    }
}

/// The rectangle around all places and `reach_km` more, where people may be.
fn area_around(plane: &Plane, places: &[Coord], reach_km: f64) -> [f64; 4] {
    let mut area = [f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY];
    for &place in places {
        let point = plane.project(place);
        for axis in 0..2 {
            area[axis] = area[axis].min(point[axis] - reach_km);
            area[axis + 2] = area[axis + 2].max(point[axis] + reach_km);
        }
    }
    area
}

/// No way within the area is longer in the plane than this many times what it is on the Earth: the scale at its farthest corner,
/// `1 + (r / 2R)^2`.
fn largest_scale([west, south, east, north]: [f64; 4]) -> f64 {
    let (x, y) = (west.abs().max(east.abs()), south.abs().max(north.abs()));
    1.0 + (x * x + y * y) / (2.0 * lrgeo_map::geo::EARTH_RADIUS_KM).powi(2)
}

fn present(reports: &[u32], places: usize) -> Vec<bool> {
    let mut present = vec![false; places];
    reports.iter().for_each(|&place| present[place as usize] = true);
    present
}
