//! How far off a report may be, by what everybody knows.

use lrgeo_geo::{Coord, PlaceId};

/// With this probability the true position is within the radius that is given with a report.
pub const HELD: f64 = 0.95;

/// The radius around a reported place that holds the true one with a probability of 95 %, given how likely the report is from each.
pub fn posterior_radius_km(
    coords: &[Coord],
    prior: &[f64],
    likelihood: &[f64],
    report: PlaceId,
) -> f64 {
    let even = prior.iter().all(|p| *p == 0.0);
    let weight = |i: usize| likelihood[i] * if even { 1.0 } else { prior[i] };
    let from = coords[report.index()];
    let mut joint: Vec<(f64, f64)> =
        (0..coords.len()).map(|i| (coords[i].distance_km(from), weight(i))).collect();
    joint.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = joint.iter().map(|(_, weight)| weight).sum();
    let mut sum = 0.0;
    let within = joint.iter().find(|(_, weight)| {
        sum += weight;
        sum >= HELD * total
    });
    within.or(joint.last()).map_or(0.0, |(km, _)| *km)
}
