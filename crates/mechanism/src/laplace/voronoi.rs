//! Which part of the plane is nearest to each place.
//!
//! Privacy does not rest on this file: the mass of *any* fixed region obeys Geo-Ind. What rests on it
//! is that the regions cover the plane once, and the sum of every row tells whether they do.

use lrgeo_geo::Coord;
use lrgeo_geo::index::SpatialIndex;
use lrgeo_geo::parallel::*;

use lrgeo_tiles::plane::Point;

/// A convex polygon, counter-clockwise, in kilometres from its place.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub(super) edges: Vec<Edge>,
    /// How far the farthest corner is from the place.
    pub(super) radius: f64,
}

/// A side of a cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) from: Point,
    /// Of length one.
    pub(super) direction: Point,
    pub(super) length: f64,
}

/// Corners closer together than this part of the distance to the nearest place are one: a grid has
/// four cells meeting in a point, and rounding draws a tiny edge there.
const SAME_CORNER: f64 = 1e-12;

/// The cells of `points`, all of them different, cut off at the square of `half_width` around the
/// origin. `coords` are the same places on the Earth: the spatial index knows those.
pub(super) fn cells(points: &[Point], coords: &[Coord], half_width: f64) -> Vec<Cell> {
    let index = SpatialIndex::new(coords);
    (0..points.len())
        .into_par_iter()
        .map(|k| {
            let [x, y] = points[k];
            let (west, east) = (-half_width - x, half_width - x);
            let (south, north) = (-half_width - y, half_width - y);
            let mut corners = vec![[west, south], [east, south], [east, north], [west, north]];
            let nearest = index.nearest_other(k as u32, coords[k]).min(half_width);
            let mut reach = 4.0 * nearest;
            loop {
                let within = index.within(coords[k], reach);
                for &(l, _) in within.iter().filter(|(l, _)| *l as usize != k) {
                    let other = points[l as usize];
                    cut(&mut corners, [other[0] - x, other[1] - y]);
                }
                let radius = corners.iter().map(|[x, y]| x.hypot(*y)).fold(0.0, f64::max);
                // A place farther than twice the radius cannot cut the cell. Distances in the plane
                // and on the Earth differ by less than a twentieth (plane.rs).
                if within.len() == points.len() || 2.0 * radius <= 0.95 * reach {
                    return Cell { edges: edges(&corners, SAME_CORNER * nearest), radius };
                }
                reach *= 2.0;
            }
        })
        .collect()
}

/// Keeps what is nearer to the origin than to `other`.
fn cut(corners: &mut Vec<Point>, other: Point) {
    let half = (other[0] * other[0] + other[1] * other[1]) / 2.0;
    let beyond = |q: Point| q[0] * other[0] + q[1] * other[1] - half;
    if corners.iter().all(|&q| beyond(q) <= 0.0) {
        return;
    }
    let mut kept = Vec::with_capacity(corners.len() + 1);
    for (at, &q) in corners.iter().enumerate() {
        let next = corners[(at + 1) % corners.len()];
        let (here, there) = (beyond(q), beyond(next));
        if here <= 0.0 {
            kept.push(q);
        }
        if (here <= 0.0) != (there <= 0.0) {
            let t = here / (here - there);
            kept.push([q[0] + t * (next[0] - q[0]), q[1] + t * (next[1] - q[1])]);
        }
    }
    *corners = kept;
}

fn edges(corners: &[Point], shortest: f64) -> Vec<Edge> {
    let mut distinct: Vec<Point> = Vec::with_capacity(corners.len());
    let apart = |p: &Point, q: &Point| (q[0] - p[0]).hypot(q[1] - p[1]) > shortest;
    for q in corners {
        if distinct.last().is_none_or(|p| apart(p, q)) {
            distinct.push(*q);
        }
    }
    while distinct.len() > 1 && !apart(&distinct[0], &distinct[distinct.len() - 1]) {
        distinct.pop();
    }
    (0..distinct.len())
        .map(|at| {
            let (from, to) = (distinct[at], distinct[(at + 1) % distinct.len()]);
            let along = [to[0] - from[0], to[1] - from[1]];
            let length = along[0].hypot(along[1]);
            Edge { from, direction: along.map(|a| a / length), length }
        })
        .filter(|edge| edge.length > 0.0)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lrgeo_geo::rng::SplitMix;

    fn area(cell: &Cell) -> f64 {
        let cross = |e: &Edge| e.from[0] * e.direction[1] - e.from[1] * e.direction[0];
        cell.edges.iter().map(|e| cross(e) * e.length / 2.0).sum()
    }

    #[test]
    fn cells_fill_the_square_and_hold_their_own_points() {
        let mut rng = SplitMix::new(21);
        let middle = Coord::new(0.0, 0.0).unwrap();
        let grid = (0..30).map(|i| [f64::from(i % 6), f64::from(i / 6)]);
        let random = (0..170).map(|_| [rng.between(5.0, 17.0), rng.between(-8.0, 8.0)]);
        let points: Vec<Point> = grid.chain(random).collect();
        let coords: Vec<Coord> = points.iter().map(|p| middle.offset_km(p[1], p[0])).collect();
        let cells = cells(&points, &coords, 100.0);
        let whole: f64 = cells.iter().map(area).sum();
        assert!((whole / 40_000.0 - 1.0).abs() < 1e-12, "{whole}");
        // An inner cell of the grid is its unit square, with four corners and not more.
        assert_eq!(cells[7].edges.len(), 4);
        assert!((area(&cells[7]) - 1.0).abs() < 1e-12);
        for _ in 0..2_000 {
            let q = [rng.between(-20.0, 30.0), rng.between(-20.0, 20.0)];
            let distance = |p: &Point| (p[0] - q[0]).hypot(p[1] - q[1]);
            let nearest = (0..points.len())
                .min_by(|&a, &b| distance(&points[a]).total_cmp(&distance(&points[b])))
                .unwrap();
            let [x, y] = [q[0] - points[nearest][0], q[1] - points[nearest][1]];
            let left = |e: &Edge| {
                e.direction[0] * (y - e.from[1]) - e.direction[1] * (x - e.from[0]) > -1e-9
            };
            assert!(cells[nearest].edges.iter().all(left), "{q:?} is outside its own cell");
        }
    }

    #[test]
    fn a_place_alone_has_the_whole_square() {
        let coord = Coord::new(1.0, 1.0).unwrap();
        let cells = cells(&[[0.0, 0.0]], &[coord], 5.0);
        assert!((area(&cells[0]) - 100.0).abs() < 1e-12);
    }
}
