//! The old centre: blocks cut in two, and in two again, each cut a narrow one-way street.
//!
//! Each cut runs from one older street to another, so it is an *ear* of the street graph: whatever its
//! direction, everything stays reachable from everywhere (Robbins 1939).

use super::network::{Class, Stroke};
use super::plane::{Point, Segment, area, middle, sides, split};
use super::random::Chance;

/// Blocks larger than this, in square metres, are cut again.
const BLOCK: f64 = 11_500.0;

/// The old streets and the blocks between them.
#[derive(Clone, Debug, Default)]
pub(super) struct OldTown {
    pub(super) strokes: Vec<Stroke>,
    pub(super) blocks: Vec<Vec<Point>>,
}

impl OldTown {
    /// Cuts every old quarter into blocks.
    pub(super) fn new(seed: u64, quarters: &[Vec<Point>]) -> Self {
        let mut chance = Chance::new(seed, "old town");
        let mut town = Self::default();
        for quarter in quarters {
            town.cut(quarter.clone(), false, &mut chance);
        }
        town
    }

    fn cut(&mut self, block: Vec<Point>, reverse: bool, chance: &mut Chance) {
        let limit = BLOCK * chance.between(0.75, 1.35);
        if area(&block).abs() > limit {
            for attempt in 0..4 {
                let path = cutting_path(&block, attempt < 3, chance);
                let parts = split(block.clone(), &path);
                let smallest = parts.iter().map(|p| area(p).abs()).fold(f64::INFINITY, f64::min);
                if parts.len() != 2 || smallest < 2_200.0 {
                    continue;
                }
                let mut street = within(&block, &path);
                if reverse {
                    street.reverse();
                }
                self.strokes.push(Stroke::new(street, Class::Lane).one_way());
                // The two halves' next cuts are about parallel: send them opposite ways.
                for (k, part) in parts.into_iter().enumerate() {
                    self.cut(part, (k == 0) ^ reverse, chance);
                }
                return;
            }
        }
        self.blocks.push(block);
    }
}

/// A slightly bent line across the longer extent of the block, near its middle.
fn cutting_path(block: &[Point], bent: bool, chance: &mut Chance) -> Vec<Point> {
    let extent = |along: Point| {
        let reach = block.iter().map(|p| p.dot(along));
        let (low, high) =
            reach.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        (low, high)
    };
    // Old streets follow the older ones: the frame of the block is that of its tightest side.
    let frames = sides(block).filter(|s| s.0.distance(s.1) > 25.0).map(|s| (s.1 - s.0).unit());
    let size = |along: &Point| {
        let ((a, b), (c, d)) = (extent(*along), extent(along.left()));
        (b - a) * (d - c)
    };
    let frame = frames.min_by(|a, b| size(a).total_cmp(&size(b))).unwrap_or(Point::new(1.0, 0.0));
    let width = |along: Point| extent(along).1 - extent(along).0;
    let along = if width(frame) >= width(frame.left()) { frame } else { frame.left() };
    let (low, high) = extent(along);
    let at = along * (low + (high - low) * chance.between(0.42, 0.58));
    let across = along.left();
    let (from, to) = extent(across);
    let skew = along * ((to - from) * chance.between(-0.07, 0.07));
    let start = at + across * (from - 30.0) - skew;
    let end = at + across * (to + 30.0) + skew;
    if !bent || to - from < 120.0 {
        return vec![start, end];
    }
    let knee = |s: f64, chance: &mut Chance| {
        Segment(start, end).at(s) + along * chance.between(-14.0, 14.0)
    };
    vec![start, knee(0.35, chance), knee(0.65, chance), end]
}

/// The part of the path between its first and its last meeting with the block's sides.
fn within(block: &[Point], path: &[Point]) -> Vec<Point> {
    let mut inner = Vec::new();
    let mut open = false;
    for pair in path.windows(2) {
        let piece = Segment(pair[0], pair[1]);
        let mut hits: Vec<f64> =
            sides(block).filter_map(|s| piece.crossing(s)).map(|(t, _)| t).collect();
        hits.sort_by(f64::total_cmp);
        if open {
            inner.push(pair[0]);
        }
        for t in hits {
            inner.push(piece.at(t));
            open = !open;
        }
    }
    inner
}

/// A large block near each of the sites, left open as a square, a street's width inside its streets.
pub(super) fn squares(blocks: &[Vec<Point>], sites: &[Point]) -> Vec<Vec<Point>> {
    let nearest = |site: &Point| {
        let near = blocks.iter().filter(|b| middle(b).distance(*site) < 170.0);
        near.max_by(|a, b| area(a).abs().total_cmp(&area(b).abs()))
    };
    let shrink = |block: &Vec<Point>| {
        let centre = middle(block);
        block.iter().map(|&p| centre + (p - centre) * 0.86).collect()
    };
    sites.iter().filter_map(nearest).map(shrink).collect()
}
