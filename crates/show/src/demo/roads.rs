//! How the main roads run.

use super::plane::{Point, Segment, middle, segments, smooth};
use super::random::Chance;
use super::river::River;

/// Directions of the arterials, in turns: five on the northern bank, three on the southern.
pub(super) const ARTERIALS: [f64; 8] = [0.04, 0.13, 0.245, 0.35, 0.455, 0.65, 0.75, 0.86];

/// Directions of the collectors; none where the railway runs.
pub(super) const COLLECTORS: [f64; 6] = [0.086, 0.19, 0.403, 0.59, 0.702, 0.805];

/// The path with one more point.
pub(super) fn close(mut path: Vec<Point>, end: Point) -> Vec<Point> {
    path.push(end);
    path
}

/// An uneven circle around the centre, counter-clockwise, starting and ending in the north.
pub(super) fn closed_road(
    river: &River,
    radius: f64,
    controls: u32,
    wobble: f64,
    chance: &mut Chance,
) -> Vec<Point> {
    // Longer one way than the other, and not quite around the centre.
    let axis = Point::direction(chance.between(0.0, 1.0));
    let aside = Point::direction(chance.between(0.0, 1.0)) * (0.04 * radius);
    let stretched = |p: Point| {
        p + axis * (0.09 * p.dot(axis)) - axis.left() * (0.07 * p.dot(axis.left())) + aside
    };
    let controls: Vec<Point> = (0..controls)
        .map(|k| {
            let turn = 0.25 + (f64::from(k) + chance.between(-0.15, 0.15)) / f64::from(controls);
            stretched(Point::direction(turn) * (radius * (1.0 + chance.between(-wobble, wobble))))
        })
        .collect();
    let circle = smooth(&controls, true, 95.0);
    // Down the western side over one bridge and up the eastern side over another.
    let south = (0..circle.len()).min_by(|&a, &b| circle[a].y.total_cmp(&circle[b].y)).unwrap_or(0);
    let mut road = river.bridged(&circle[..=south]);
    road.extend(&river.bridged(&close(circle[south..].to_vec(), circle[0]))[1..]);
    rounded(&rounded(&road, 50.0), 15.0)
}

/// The path with its sharp corners cut off, at most `reach` metres from the corner.
fn rounded(path: &[Point], reach: f64) -> Vec<Point> {
    let mut smoother = vec![path[0]];
    for corner in path.windows(3) {
        let (before, after) = (corner[1] - corner[0], corner[2] - corner[1]);
        if before.unit().dot(after.unit()) > 0.97 {
            smoother.push(corner[1]);
        } else {
            smoother.push(corner[1] - before.unit() * (before.length() / 3.0).min(reach));
            smoother.push(corner[1] + after.unit() * (after.length() / 3.0).min(reach));
        }
    }
    smoother.extend(path.last());
    smoother
}

/// The path that starts and ends in the middle of a bridge of a closed path.
pub(super) fn from_bridge(river: &River, closed: &[Point]) -> Vec<Point> {
    let over = |s: Segment| segments(&river.course).any(|c| s.crossing(c).is_some());
    let Some(k) = segments(closed).position(over) else { return closed.to_vec() };
    let start = Segment(closed[k], closed[k + 1]).at(0.5);
    let mut path = vec![start];
    path.extend(&closed[k + 1..]);
    path.extend(&closed[1..=k]);
    path.push(start);
    path
}

/// The path, a little longer at both ends, so that it surely cuts what it ends on.
pub(super) fn overlapping(path: &[Point]) -> Vec<Point> {
    let n = path.len();
    let before = path[0] + (path[0] - path[1]).unit() * 8.0;
    let after = path[n - 1] + (path[n - 1] - path[n - 2]).unit() * 8.0;
    std::iter::once(before).chain(path.iter().copied()).chain([after]).collect()
}

/// The part of the path from its last meeting with the closed road on.
fn outward_from(closed: &[Point], path: &[Point]) -> Vec<Point> {
    for k in (0..path.len() - 1).rev() {
        let piece = Segment(path[k], path[k + 1]);
        let hit = segments(closed)
            .filter_map(|s| piece.crossing(s))
            .map(|(t, _)| t)
            .max_by(f64::total_cmp);
        if let Some(t) = hit {
            let mut outward = vec![piece.at(t)];
            outward.extend(&path[k + 1..]);
            return outward;
        }
    }
    path.to_vec()
}

/// A bent road on one bank, from a closed road outwards.
pub(super) fn road_out(
    river: &River,
    start: &[Point],
    turn: f64,
    end: f64,
    chance: &mut Chance,
) -> Vec<Point> {
    let mut turn = turn + chance.between(-0.01, 0.01);
    let bank = if turn < 0.5 { 1.0 } else { -1.0 };
    let mut controls = Vec::new();
    let radii = [560.0, 1000.0, 1500.0, 2100.0, 2700.0, 3300.0, 3900.0, 4500.0];
    for radius in radii.into_iter().filter(|r| r + 250.0 < end).chain([end]) {
        let mut p = Point::direction(turn) * radius;
        let room = bank * river.offset(p);
        if room < 330.0 {
            p.y += bank * (330.0 - room);
        }
        controls.push(p);
        turn += chance.between(-0.009, 0.009);
    }
    outward_from(start, &river.keep_clear(&smooth(&controls, false, 110.0), bank))
}

/// The old main streets: north to south over the old bridge, west to east, and one over a second bridge.
pub(super) fn axes(
    river: &River,
    boulevard: &[Point],
    arterials: &[Vec<Point>],
    chance: &mut Chance,
) -> Vec<Vec<Point>> {
    let [east, north, west, south] = [0, 2, 4, 6].map(|k| arterials[k][0]);
    let market = Point::new(chance.between(-60.0, 60.0), chance.between(120.0, 200.0));
    let mut bend =
        |p: Point| p + Point::new(chance.between(-45.0, 45.0), chance.between(-45.0, 45.0));
    let old_bridge = Point::new(bend(market).x, -300.0);
    let north_south = [north, bend(middle(&[north, market])), market, old_bridge, south];
    let west_east =
        [west, bend(middle(&[west, market])), market, bend(middle(&[east, market])), east];

    // The second bridge stands where the river leaves most room to the boulevard on both sides.
    let room =
        |p: &Point| segments(boulevard).map(|s| s.distance(*p)).fold(f64::INFINITY, f64::min);
    let sites =
        segments(&river.course).filter(|s| (280.0..460.0).contains(&(s.0.x - old_bridge.x).abs()));
    let site = sites
        .max_by(|a, b| room(&a.0).total_cmp(&room(&b.0)))
        .expect("the river passes the centre");
    let across = (site.1 - site.0).unit().left();
    let head = middle(&[if site.0.x > 0.0 { east } else { west }, market]) + Point::new(0.0, 130.0);
    let mouth = site.0 - across * 170.0;
    let from_south = [
        mouth + Point::new(0.0, -900.0),
        mouth + Point::new(0.0, -300.0),
        mouth,
        site.0 + across * 170.0,
        head,
    ];
    let second = outward_from(boulevard, &smooth(&from_south, false, 90.0));

    let curves = [smooth(&north_south, false, 90.0), smooth(&west_east, false, 90.0), second];
    curves.iter().map(|curve| river.bridged(curve)).collect()
}

/// A railway from a terminus just outside the boulevard, between two northern arterials.
pub(super) fn railway(chance: &mut Chance) -> Vec<Point> {
    let mut controls = Vec::new();
    let mut turn = 0.298 + chance.between(-0.006, 0.006);
    for radius in [1010.0, 1500.0, 2100.0, 2800.0, 3500.0, 4300.0, 5200.0, 6500.0] {
        controls.push(Point::direction(turn) * radius);
        turn += chance.between(-0.006, 0.006);
    }
    smooth(&controls, false, 80.0)
}
