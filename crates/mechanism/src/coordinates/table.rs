//! Which place each outcome is reported as.

use lrgeo_geo::{Coord, PlaceId};
use lrgeo_map::progress::Progress;
use lrgeo_tiles::Epsilon;
use lrgeo_tiles::coordinates::Lattice;
use lrgeo_tiles::plane::{Plane, Point};

use crate::City;
use crate::remap::best_reports;

/// The best report for every square of the lattice, given the prior: people are taken to be at their places, and the noise to be as in the
/// middle of the square. That decides what is reported, not how private it is.
pub(super) fn best(
    lattice: &Lattice,
    noise: Epsilon,
    centre: Coord,
    city: &City,
    progress: &dyn Progress,
) -> Vec<PlaceId> {
    let plane = Plane::at(centre);
    let points: Vec<Point> = city.coords().iter().map(|&place| plane.project(place)).collect();
    let squares = lattice.squares.iter().map(|&count| count as usize).product();
    let e = noise.value();
    let likelihood = |square: usize, out: &mut [f64]| {
        let [x, y] = lattice.middle(square);
        let away = |p: &Point| (p[0] - x).hypot(p[1] - y);
        let nearest = points.iter().map(away).fold(f64::INFINITY, f64::min);
        // Relative to the nearest place, so that nothing underflows far outside the map.
        for (slot, point) in out.iter_mut().zip(&points) {
            *slot = (-e * (away(point) - nearest)).exp();
        }
    };
    let best = best_reports(city, squares, likelihood, progress);
    let nearest_place = |square: usize| {
        let [x, y] = lattice.middle(square);
        let away = |p: &Point| (p[0] - x).hypot(p[1] - y);
        (0..points.len()).min_by(|&a, &b| away(&points[a]).total_cmp(&away(&points[b])))
    };
    best.into_iter()
        .enumerate()
        // Far from everybody all likelihoods may be negligible beside a prior of zero: then the nearest place.
        .map(|(square, best)| {
            best.unwrap_or_else(|| PlaceId::at(nearest_place(square).unwrap_or(0)))
        })
        .collect()
}
