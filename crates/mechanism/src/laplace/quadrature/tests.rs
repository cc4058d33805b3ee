use lrgeo_geo::Coord;

use super::super::voronoi::cells;
use super::*;

/// Cells of an uneven patch of places: the middle one and its surroundings.
fn patch(spacing: f64) -> (Vec<Point>, Vec<Cell>) {
    let bump = |i: i32| 0.3 * spacing * (f64::from(i) * 12.9898).sin();
    let point = |i: i32| {
        [f64::from(i % 9) * spacing + bump(i), f64::from(i / 9) * spacing + bump(i + 1000)]
    };
    let points: Vec<Point> = (0..81).map(point).collect();
    let origin = Coord::new(0.0, 0.0).unwrap();
    let coords: Vec<Coord> = points.iter().map(|p| origin.offset_km(p[1], p[0])).collect();
    let cells = cells(&points, &coords, 1e3 * spacing);
    (points, cells)
}

fn offset(points: &[Point], from: usize, to: usize) -> Point {
    [points[to][0] - points[from][0], points[to][1] - points[from][1]]
}

/// The slow way: the density itself, over the triangles from one corner, each in many small parts.
fn by_density(cell: &Cell, offset: Point, epsilon: f64) -> f64 {
    let rule = gauss_legendre(16);
    let corner = |at: usize| {
        let from = cell.edges[at].from;
        [from[0] + offset[0], from[1] + offset[1]]
    };
    let parts = 12;
    let mut sum = 0.0;
    for at in 1..cell.edges.len() - 1 {
        let (a, b, c) = (corner(0), corner(at), corner(at + 1));
        let double_area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
        for part in 0..parts * parts {
            let (row, column) = (f64::from(part / parts), f64::from(part % parts));
            for [v, v_weight] in &rule {
                for [w, w_weight] in &rule {
                    // The square (s, t) covers the triangle a + s (b + t (c - b) - a).
                    let s = (row + (v + 1.0) / 2.0) / f64::from(parts);
                    let t = (column + (w + 1.0) / 2.0) / f64::from(parts);
                    let at = |n: usize| a[n] + s * (b[n] + t * (c[n] - b[n]) - a[n]);
                    let density = (-epsilon * at(0).hypot(at(1))).exp() * s * double_area;
                    sum += v_weight * w_weight * density;
                }
            }
        }
    }
    sum / (4.0 * f64::from(parts * parts)) * epsilon * epsilon / (2.0 * PI)
}

#[test]
fn agrees_with_the_density_summed_up_however_small_the_mass() {
    let quadrature = Quadrature::new();
    let spacing = 0.5;
    let (points, cells) = patch(spacing);
    let mut smallest = 1.0f64;
    for (scaled, tolerance) in
        [(1e-3, 1e-10), (0.01, 1e-11), (0.1, 1e-12), (1.0, 1e-12), (5.0, 1e-12), (10.0, 1e-12)]
    {
        let epsilon = scaled / spacing;
        for (from, to) in [(40, 41), (40, 50), (0, 10), (10, 12), (40, 14), (20, 70), (10, 70)] {
            let offset = offset(&points, from, to);
            let mass = quadrature.mass(&cells[to], offset, epsilon, false);
            let slow = by_density(&cells[to], offset, epsilon);
            let error = (mass / slow - 1.0).abs();
            assert!(error < tolerance, "eps {epsilon}, {from} to {to}: {mass} is not {slow}");
            smallest = smallest.min(mass);
        }
    }
    assert!(smallest < 1e-30, "the smallest mass was {smallest}");
}

#[test]
fn all_cells_together_have_all_the_mass() {
    let quadrature = Quadrature::new();
    let (points, cells) = patch(0.5);
    for epsilon in [0.3, 2.0, 20.0, 500.0] {
        for from in [0, 4, 40, 80] {
            let mass = |to: usize| {
                quadrature.mass(&cells[to], offset(&points, from, to), epsilon, from == to)
            };
            let sum: f64 = (0..81).map(mass).sum();
            assert!((sum - 1.0).abs() < 1e-13, "eps {epsilon} from {from}: {sum}");
        }
    }
}

#[test]
fn rules_integrate_polynomials_exactly() {
    for count in [8, 16] {
        let rule = gauss_legendre(count);
        for power in 0..2 * count as i32 {
            let sum: f64 = rule.iter().map(|[x, w]| w * x.powi(power)).sum();
            let exact = if power % 2 == 0 { 2.0 / f64::from(power + 1) } else { 0.0 };
            assert!((sum - exact).abs() < 1e-14, "{count} nodes, power {power}: {sum}");
        }
    }
}
