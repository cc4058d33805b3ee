//! Plane geometry in metres, from `+ - * /` and `sqrt` only.
//!
//! IEEE 754 fixes the result of these to the last bit; sines and cosines differ between platforms' libraries,
//! and a street that ends a hair sooner would be another city.

use std::collections::BTreeMap;
use std::ops::{Add, Mul, Sub};

/// A point or a vector; x to the east, y to the north before the city is turned.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
}

impl Point {
    pub(super) const ORIGIN: Point = Point::new(0.0, 0.0);

    pub(super) const fn new(x: f64, y: f64) -> Self {
        Self { x, y }
    }

    /// A unit vector about `turn` of a full turn counter-clockwise from the east.
    ///
    /// Within each quarter the angle is `2 atan(s)` instead of linear in `turn`: exact length, at most
    /// 4 degrees off, and no trigonometry.
    pub(super) fn direction(turn: f64) -> Self {
        let quarters = (turn - turn.floor()) * 4.0;
        let s = quarters - quarters.floor();
        let (c, s) = ((1.0 - s * s) / (1.0 + s * s), 2.0 * s / (1.0 + s * s));
        match quarters.floor() as u8 {
            0 => Self::new(c, s),
            1 => Self::new(-s, c),
            2 => Self::new(-c, -s),
            _ => Self::new(s, -c),
        }
    }

    pub(super) fn dot(self, o: Point) -> f64 {
        self.x * o.x + self.y * o.y
    }

    pub(super) fn cross(self, o: Point) -> f64 {
        self.x * o.y - self.y * o.x
    }

    pub(super) fn length(self) -> f64 {
        self.dot(self).sqrt()
    }

    pub(super) fn distance(self, o: Point) -> f64 {
        (self - o).length()
    }

    /// Same direction, length one; the zero vector stays as it is.
    pub(super) fn unit(self) -> Point {
        let length = self.length();
        if length > 0.0 { self * (1.0 / length) } else { self }
    }

    /// A quarter turn to the left.
    pub(super) fn left(self) -> Point {
        Point::new(-self.y, self.x)
    }

    /// Turned by the angle of the unit vector `by` (a product of complex numbers).
    pub(super) fn turned(self, by: Point) -> Point {
        Point::new(self.x * by.x - self.y * by.y, self.x * by.y + self.y * by.x)
    }
}

impl Add for Point {
    type Output = Point;
    fn add(self, o: Point) -> Point {
        Point::new(self.x + o.x, self.y + o.y)
    }
}

impl Sub for Point {
    type Output = Point;
    fn sub(self, o: Point) -> Point {
        Point::new(self.x - o.x, self.y - o.y)
    }
}

impl Mul<f64> for Point {
    type Output = Point;
    fn mul(self, by: f64) -> Point {
        Point::new(self.x * by, self.y * by)
    }
}

/// A straight piece between two points.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment(pub(super) Point, pub(super) Point);

impl Segment {
    pub(super) fn at(self, t: f64) -> Point {
        self.0 + (self.1 - self.0) * t
    }

    /// Where the two segments cross, as fractions of each; `None` for parallel ones.
    pub(super) fn crossing(self, o: Segment) -> Option<(f64, f64)> {
        let (r, s) = (self.1 - self.0, o.1 - o.0);
        let area = r.cross(s);
        if area == 0.0 {
            return None;
        }
        let t = (o.0 - self.0).cross(s) / area;
        let u = (o.0 - self.0).cross(r) / area;
        ((0.0..=1.0).contains(&t) && (0.0..=1.0).contains(&u)).then_some((t, u))
    }

    /// The fraction of the segment that is nearest to `p`.
    pub(super) fn nearest(self, p: Point) -> f64 {
        let d = self.1 - self.0;
        let length2 = d.dot(d);
        if length2 == 0.0 { 0.0 } else { ((p - self.0).dot(d) / length2).clamp(0.0, 1.0) }
    }

    pub(super) fn distance(self, p: Point) -> f64 {
        self.at(self.nearest(p)).distance(p)
    }
}

/// The segments of an open path.
pub(super) fn segments(path: &[Point]) -> impl Iterator<Item = Segment> + '_ {
    path.windows(2).map(|w| Segment(w[0], w[1]))
}

/// The sides of a polygon, whose last point joins its first.
pub(super) fn sides(polygon: &[Point]) -> impl Iterator<Item = Segment> + '_ {
    (0..polygon.len()).map(|k| Segment(polygon[k], polygon[(k + 1) % polygon.len()]))
}

/// Whether `p` lies inside the polygon (even-odd rule).
pub(super) fn inside(polygon: &[Point], p: Point) -> bool {
    sides(polygon).fold(false, |odd, Segment(a, b)| {
        let passes =
            (a.y > p.y) != (b.y > p.y) && p.x < a.x + (p.y - a.y) / (b.y - a.y) * (b.x - a.x);
        odd ^ passes
    })
}

/// The area, positive when the polygon runs counter-clockwise.
pub(super) fn area(polygon: &[Point]) -> f64 {
    sides(polygon).map(|Segment(a, b)| a.cross(b)).sum::<f64>() / 2.0
}

/// The mean of the points.
pub(super) fn middle(points: &[Point]) -> Point {
    points.iter().fold(Point::ORIGIN, |sum, &p| sum + p) * (1.0 / points.len().max(1) as f64)
}

/// A smooth curve through the control points (Catmull-Rom), a point about every `step` metres.
pub(super) fn smooth(controls: &[Point], closed: bool, step: f64) -> Vec<Point> {
    let n = controls.len();
    let control = |k: isize| -> Point {
        if closed {
            controls[k.rem_euclid(n as isize) as usize]
        } else {
            controls[k.clamp(0, n as isize - 1) as usize]
        }
    };
    let spans = if closed { n } else { n - 1 };
    let mut curve = Vec::new();
    for k in 0..spans as isize {
        let (p, a, b, q) = (control(k - 1), control(k), control(k + 1), control(k + 2));
        let pieces = (a.distance(b) / step).ceil().max(1.0);
        for s in 0..pieces as usize {
            let t = s as f64 / pieces;
            let bend = (b - p) * t
                + (p * 2.0 - a * 5.0 + b * 4.0 - q) * (t * t)
                + (a * 3.0 - p - b * 3.0 + q) * (t * t * t);
            curve.push(a + bend * 0.5);
        }
    }
    if !closed {
        curve.extend(controls.last());
    }
    curve
}

/// Segments in square buckets, to find those near a point or another segment.
#[derive(Clone, Debug, Default)]
pub(super) struct SegmentIndex {
    segments: Vec<Segment>,
    buckets: BTreeMap<(i32, i32), Vec<u32>>,
}

impl SegmentIndex {
    const BUCKET: f64 = 150.0;

    fn cells(s: Segment, margin: f64) -> impl Iterator<Item = (i32, i32)> {
        let cell = |v: f64| (v / Self::BUCKET).floor() as i32;
        let (x0, x1) = (cell(s.0.x.min(s.1.x) - margin), cell(s.0.x.max(s.1.x) + margin));
        let (y0, y1) = (cell(s.0.y.min(s.1.y) - margin), cell(s.0.y.max(s.1.y) + margin));
        (x0..=x1).flat_map(move |x| (y0..=y1).map(move |y| (x, y)))
    }

    /// Adds a segment under the next index.
    pub(super) fn push(&mut self, s: Segment) {
        let index = self.segments.len() as u32;
        self.segments.push(s);
        for cell in Self::cells(s, 0.0) {
            self.buckets.entry(cell).or_default().push(index);
        }
    }

    /// Adds every segment of an open path.
    pub(super) fn push_path(&mut self, path: &[Point]) {
        segments(path).for_each(|s| self.push(s));
    }

    /// The indices of all segments that may lie within `margin` of `s`, in order.
    pub(super) fn near(&self, s: Segment, margin: f64) -> Vec<u32> {
        let mut found: Vec<u32> = Self::cells(s, margin)
            .filter_map(|cell| self.buckets.get(&cell))
            .flatten()
            .copied()
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The segment with this index.
    pub(super) fn segment(&self, index: u32) -> Segment {
        self.segments[index as usize]
    }

    /// The smallest fraction of `s` at which it meets one of the segments.
    pub(super) fn first_hit(&self, s: Segment) -> Option<f64> {
        let hits = self.near(s, 0.0).into_iter().filter_map(|k| s.crossing(self.segment(k)));
        hits.map(|(t, _)| t).min_by(f64::total_cmp)
    }

    /// The nearest point on any segment within `reach` of `p`.
    pub(super) fn nearest(&self, p: Point, reach: f64) -> Option<Point> {
        let feet = self.near(Segment(p, p), reach).into_iter().map(|k| {
            let s = self.segment(k);
            s.at(s.nearest(p))
        });
        feet.filter(|f| f.distance(p) <= reach)
            .min_by(|a, b| a.distance(p).total_cmp(&b.distance(p)))
    }
}

/// Cuts a polygon along a path wherever the path runs through it from side to side.
///
/// A path that begins or ends inside cuts nothing there.
pub(super) fn split(polygon: Vec<Point>, path: &[Point]) -> Vec<Vec<Point>> {
    let mut hits: Vec<(usize, f64, usize, f64)> = Vec::new();
    for (k, s) in segments(path).enumerate() {
        for (e, side) in sides(&polygon).enumerate() {
            if let Some((t, u)) = s.crossing(side) {
                hits.push((k, t, e, u));
            }
        }
    }
    hits.sort_by(|a, b| (a.0, a.1).partial_cmp(&(b.0, b.1)).expect("finite fractions"));
    for pair in hits.windows(2) {
        let ((k0, t0, e0, u0), (k1, t1, e1, u1)) = (pair[0], pair[1]);
        let enter = Segment(path[k0], path[k0 + 1]).at(t0);
        let leave = Segment(path[k1], path[k1 + 1]).at(t1);
        let mut cut = vec![enter];
        cut.extend(&path[k0 + 1..=k1]);
        cut.push(leave);
        let longest = segments(&cut).max_by(|a, b| a.0.distance(a.1).total_cmp(&b.0.distance(b.1)));
        let probe = longest.expect("a cut has two ends").at(0.5);
        if enter.distance(leave) < 1.0 || !inside(&polygon, probe) {
            continue;
        }
        let n = polygon.len();
        let walk = |(e, u): (usize, f64), (to, v): (usize, f64)| {
            let steps = if e == to && v >= u { 0 } else { (to + n - e - 1) % n + 1 };
            (1..=steps).map(|s| polygon[(e + s) % n]).collect::<Vec<_>>()
        };
        let mut one = walk((e0, u0), (e1, u1));
        one.extend(cut.iter().rev());
        let mut two = walk((e1, u1), (e0, u0));
        two.extend(cut.iter());
        // What is left of the path starts a metre on, so that the new side is not cut again.
        let onward = Segment(leave, path[k1 + 1]);
        let length = onward.0.distance(onward.1);
        let mut rest = Vec::new();
        if length > 1.0 {
            rest.push(onward.at(1.0 / length));
        }
        rest.extend(&path[k1 + 1..]);
        return [one, two].into_iter().flat_map(|part| split(part, &rest)).collect();
    }
    vec![polygon]
}
