//! Places as points in space.

use lrgeo_map::geo::Coord;

/// The point of the unit sphere at a coordinate.
pub(crate) fn on_sphere(c: Coord) -> [f64; 3] {
    let (lat, lon) = (c.lat().to_radians(), c.lon().to_radians());
    [lat.cos() * lon.cos(), lat.cos() * lon.sin(), lat.sin()]
}
