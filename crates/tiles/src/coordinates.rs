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

use lrgeo_geo::{Coord, Invalid, PlaceId};

use crate::plane::{Plane, Point};
use crate::sample::FLOOR;
use crate::{Distribution, Epsilon};

/// Most points that a lattice may have: a second per row.
pub const MOST_POINTS: u64 = 100_000_000;

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

    /// The middle of a square, by its number in the table.
    pub fn middle(&self, square: usize) -> Point {
        let columns = self.squares[0] as usize;
        let half = f64::from(self.side - 1) / 2.0;
        [(0, square % columns), (1, square / columns)].map(|(axis, at)| {
            (self.first[axis] as f64 + at as f64 * f64::from(self.side) + half) * self.spacing_km
        })
    }

    /// Refuses one without points, with too many, or with lengths that are none.
    pub fn validate(&self) -> Result<(), Invalid> {
        let broken = |reason: &str| Err(Invalid::new("lattice", reason));
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
    pub reports: Vec<PlaceId>,
    /// The places of the map.
    places: Vec<Coord>,
    /// Which of them are ever reported.
    present: Vec<bool>,
}

impl LatticeNoise {
    /// From its parts, as files and phones have them; `places` are those of the map.
    pub fn from_parts(
        noise: Epsilon,
        centre: Coord,
        area: [f64; 4],
        lattice: Lattice,
        reports: Vec<PlaceId>,
        places: Vec<Coord>,
    ) -> Result<Self, Invalid> {
        lattice.validate()?;
        let broken = |reason: &str| Err(Invalid::new("lattice", reason));
        let numbers = area.iter().all(|km| km.is_finite() && km.abs() < 3000.0);
        if !numbers || area[0] >= area[2] || area[1] >= area[3] {
            return broken("its area is no rectangle of a plane");
        }
        let [columns, rows] = lattice.squares.map(u64::from);
        if reports.len() as u64 != columns * rows {
            return broken("its table is not one report per square");
        }
        if reports.iter().any(|place| place.index() >= places.len()) {
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
    pub fn row_at(&self, at: Coord) -> Option<Distribution> {
        Distribution::new(self.row(self.locate(at)?)).ok()
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
                row[report.index()] += sum;
                total += sum;
            }
        }
        for (slot, &present) in row.iter_mut().zip(&self.present) {
            *slot = if present { *slot / total + FLOOR } else { 0.0 };
        }
        row
    }

    /// How likely a report is from each place, up to a factor: S is flat.
    pub fn likelihood(&self, report: PlaceId, out: &mut [f64]) {
        let plane = Plane::at(self.centre);
        let points: Vec<Point> =
            self.places.iter().map(|&at| plane.project(at.rounded())).collect();
        let squares = (0..self.reports.len()).filter(|&square| self.reports[square] == report);
        let squares: Vec<Point> = squares.map(|square| self.lattice.middle(square)).collect();
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
}

fn present(reports: &[PlaceId], places: usize) -> Vec<bool> {
    let mut present = vec![false; places];
    reports.iter().for_each(|place| present[place.index()] = true);
    present
}
