//! The river: a winding line from west to east, the same width of water on both sides of it.

use super::plane::{Point, Segment, inside, segments, smooth};
use super::random::Chance;

/// A river that flows from the western to the eastern edge of the map.
#[derive(Clone, Debug)]
pub(super) struct River {
    /// The middle of the stream, from west to east.
    pub(super) course: Vec<Point>,
    /// The northern and the southern edge of the water, from west to east.
    pub(super) banks: [Vec<Point>; 2],
    /// The water as a polygon.
    pub(super) water: Vec<Point>,
}

impl River {
    /// Distance of the quays from the water, in metres.
    pub(super) const QUAY: f64 = 22.0;
    /// How near to the middle of the stream roads come that do not cross it, in metres.
    const CLEAR: f64 = 170.0;

    /// A river that passes just south of the old centre and winds more strongly outside.
    pub(super) fn new(seed: u64) -> Self {
        let mut chance = Chance::new(seed, "river");
        let mut side = if chance.happens(0.5) { 1.0 } else { -1.0 };
        let mut controls = Vec::new();
        for k in -8i32..=8 {
            let x = f64::from(k) * 760.0 + chance.between(-90.0, 90.0);
            let swing = if k.abs() <= 1 { 70.0 } else { 200.0 + 60.0 * f64::from(k.abs().min(6)) };
            // Alternate bends, with a straighter reach now and then.
            let y = -300.0 + side * swing * chance.between(0.55, 1.0);
            if chance.happens(0.62) {
                side = -side;
            }
            controls.push(Point::new(x, y));
        }
        let course = smooth(&controls, false, 60.0);
        let widths = chance.noise();
        let half_width = |p: Point| 62.0 + 14.0 * widths.drift(p, 1300.0).x;
        let banks = [1.0, -1.0].map(|s| shifted(&course, |p| s * half_width(p)));
        let mut water = banks[0].clone();
        water.extend(banks[1].iter().rev());
        Self { course, banks, water }
    }

    /// The line of the northern (0) or southern (1) quay, along the whole river.
    pub(super) fn quay(&self, bank: usize) -> Vec<Point> {
        let out = if bank == 0 { Self::QUAY } else { -Self::QUAY };
        shifted(&self.banks[bank], |_| out)
    }

    /// Metres from the middle of the stream, negative on the southern side.
    pub(super) fn offset(&self, p: Point) -> f64 {
        let s = self.nearest_reach(p);
        let distance = s.distance(p);
        if (s.1 - s.0).cross(p - s.0) >= 0.0 { distance } else { -distance }
    }

    fn nearest_reach(&self, p: Point) -> Segment {
        let nearest = segments(&self.course).min_by(|a, b| a.distance(p).total_cmp(&b.distance(p)));
        nearest.expect("a river has a course")
    }

    /// Whether `p` lies in the water.
    pub(super) fn wets(&self, p: Point) -> bool {
        inside(&self.water, p)
    }

    /// The path with every point that comes too close to the river moved away on the given side.
    pub(super) fn keep_clear(&self, path: &[Point], side: f64) -> Vec<Point> {
        let moved = |&p: &Point| {
            if side * self.offset(p) >= Self::CLEAR {
                return p;
            }
            let reach = self.nearest_reach(p);
            reach.at(reach.nearest(p)) + (reach.1 - reach.0).unit().left() * (side * Self::CLEAR)
        };
        path.iter().map(moved).collect()
    }

    /// The path from one bank to the other with its crossings replaced by one straight bridge where
    /// this makes the path shortest.
    pub(super) fn bridged(&self, path: &[Point]) -> Vec<Point> {
        let offsets: Vec<f64> = path.iter().map(|&p| self.offset(p)).collect();
        let side = offsets[0].signum();
        let crossings = || (1..path.len()).filter(|&k| offsets[k - 1] * offsets[k] < 0.0);
        let (Some(first), Some(last)) = (crossings().next(), crossings().next_back()) else {
            return self.keep_clear(path, side);
        };
        let clear = |k: &usize| offsets[*k].abs() >= 2.2 * Self::CLEAR;
        let before = (0..first).rev().find(clear).unwrap_or(0);
        let after = (last..path.len()).find(clear).unwrap_or(path.len() - 1);
        let (from, to) = (path[before], path[after]);
        let dry = |s: Segment| {
            let banks = self.banks.iter().flat_map(|bank| segments(bank));
            banks.into_iter().all(|bank| s.crossing(bank).is_none())
        };
        let heads = |s: Segment| {
            // Halfway between square to the stream and straight on.
            let square = (s.1 - s.0).unit().left() * side;
            let along = (square + (from - to).unit()).unit();
            let out = along * (Self::CLEAR / along.dot(square).max(0.5));
            (s.at(0.5) + out, s.at(0.5) - out)
        };
        let detour = |(a, b): (Point, Point)| from.distance(a) + a.distance(b) + b.distance(to);
        let sites = segments(&self.course)
            .filter(|s| s.distance(from).min(s.distance(to)) < 900.0)
            .map(heads);
        let bridge = sites
            .filter(|&(a, b)| dry(Segment(from, a)) && dry(Segment(b, to)))
            .min_by(|&a, &b| detour(a).total_cmp(&detour(b)));
        let mut crossed = self.keep_clear(&path[..=before], side);
        crossed.extend(bridge.into_iter().flat_map(|(a, b)| [a, b]));
        crossed.extend(self.keep_clear(&path[after..], -side));
        crossed
    }
}

/// A path moved sideways to its left by `by` metres, point by point.
pub(super) fn shifted(path: &[Point], by: impl Fn(Point) -> f64) -> Vec<Point> {
    (0..path.len())
        .map(|k| {
            let (before, after) = (path[k.saturating_sub(1)], path[(k + 1).min(path.len() - 1)]);
            path[k] + (after - before).unit().left() * by(path[k])
        })
        .collect()
}
