//! How far apart places are, and how far from them people may be.

use crate::Coord;
use crate::index::SpatialIndex;
use crate::twins::apart;

/// How far from its place somebody may be, in spacings: half of the diagonal of a square (0.7071), and a little for
/// cells that are equal in degrees and so differ by a percent or two in kilometres over a city.
const REACH: f64 = 0.72;

/// How far from a place somebody may be who counts as being there. Who is farther from every place stands in a hole of
/// the map or outside it, where nothing is promised: such a position must be refused, not moved.
pub fn reach_km(spacing_km: f64) -> f64 {
    REACH * spacing_km
}

/// The median distance from a place to its nearest other place, in kilometres: what `eps*spacing`
/// means on this map. A place that is listed twice counts once, so it is never less than
/// [`crate::twins::LEAST_DISTANCE_KM`]. `None` with fewer than two places that can be told apart.
pub fn spacing_km(coords: &[Coord]) -> Option<f64> {
    let coords = apart(coords);
    if coords.len() < 2 {
        return None;
    }
    let index = SpatialIndex::new(&coords);
    let mut nearest: Vec<f64> =
        coords.iter().enumerate().map(|(i, &c)| index.nearest_other(i as u32, c)).collect();
    nearest.sort_unstable_by(f64::total_cmp);
    Some(nearest[nearest.len() / 2])
}
