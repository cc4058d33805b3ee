//! Small streets as bent grids: one orientation per quarter, missing links, streets that end.

use super::network::{Class, Stroke};
use super::plane::{Point, Segment, SegmentIndex};
use super::random::{Chance, Noise};

/// A bent lattice of streets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    /// Where the lattice is pinned.
    pub(super) origin: Point,
    /// Unit vector along its first direction.
    pub(super) along: Point,
    /// Distance between lattice points in both directions, in metres.
    pub(super) block: (f64, f64),
    /// How far the lattice is bent, in metres.
    pub(super) bend: f64,
    /// Share of links that were never built.
    pub(super) missing: f64,
    /// Whether parallel streets are one-way in alternating directions.
    pub(super) one_way: bool,
    /// What kind of street it is made of.
    pub(super) class: Class,
    /// No lattice point lies farther from the origin than this, in metres.
    pub(super) reach: f64,
}

/// The ground a grid is laid on.
pub(super) struct Ground<'a> {
    /// Where streets may be.
    pub(super) inside: &'a dyn Fn(Point) -> bool,
    /// Streets on which the grid's streets end.
    pub(super) fronts: &'a SegmentIndex,
    /// What the grid's streets stop short of.
    pub(super) walls: &'a SegmentIndex,
}

/// A lattice point closer than this to a main street, or than 0.4 blocks, is moved onto it.
const SNAP: f64 = 42.0;
/// A lattice point closer than this to a wall is not built.
const SETBACK: f64 = 30.0;

#[derive(Clone, Copy, PartialEq)]
enum Corner {
    /// Outside, or too close to a wall.
    Absent(Point),
    /// Moved onto a main street.
    OnFront(Point),
    /// A crossing of the grid's own.
    Free(Point),
}

impl Grid {
    /// The streets of the grid on this ground, link by link.
    pub(super) fn fill(&self, ground: &Ground, chance: &mut Chance) -> Vec<Stroke> {
        let noise = chance.noise();
        let columns = (self.reach / self.block.0).ceil() as i64;
        let rows = (self.reach / self.block.1).ceil() as i64;
        let mut strokes = Vec::new();
        for i in -columns..=columns {
            for j in -rows..=rows {
                let here = self.corner(i, j, ground, noise);
                if self.built(i, j, 3, noise) {
                    let link = self.link(here, self.corner(i + 1, j, ground, noise), ground);
                    strokes.extend(link.map(|l| self.stroke(l, j)));
                }
                if self.built(j, i, 4, noise) {
                    let link = self.link(here, self.corner(i, j + 1, ground, noise), ground);
                    strokes.extend(link.map(|l| self.stroke(l, i)));
                }
            }
        }
        strokes
    }

    /// Whether the link at `step` along `line` was built.
    fn built(&self, step: i64, line: i64, channel: u64, noise: Noise) -> bool {
        noise.hash(step, line, channel) >= self.missing
    }

    fn stroke(&self, Segment(a, b): Segment, line: i64) -> Stroke {
        let path = if line.rem_euclid(2) == 0 { vec![a, b] } else { vec![b, a] };
        let stroke = Stroke::new(path, self.class);
        if self.one_way { stroke.one_way() } else { stroke }
    }

    fn corner(&self, i: i64, j: i64, ground: &Ground, noise: Noise) -> Corner {
        // Lines are unevenly spaced, and the whole lattice follows a smooth drift.
        let x = (i as f64 + 0.3 * (noise.hash(i, 0, 5) - 0.5)) * self.block.0;
        let y = (j as f64 + 0.3 * (noise.hash(j, 0, 6) - 0.5)) * self.block.1;
        let straight = self.origin + Point::new(x, y).turned(self.along);
        let wavelength = 5.5 * self.block.0.max(self.block.1);
        let p = straight + noise.drift(straight, wavelength) * self.bend;
        let outside = p.distance(self.origin) > self.reach || !(ground.inside)(p);
        if outside || ground.walls.nearest(p, SETBACK).is_some() {
            Corner::Absent(p)
        } else if let Some(foot) = ground.fronts.nearest(p, SNAP.max(0.4 * self.block.1)) {
            Corner::OnFront(foot)
        } else {
            Corner::Free(p)
        }
    }

    /// The part of a link that can be built.
    fn link(&self, a: Corner, b: Corner, ground: &Ground) -> Option<Segment> {
        let link = match (a, b) {
            (Corner::Free(p), Corner::Free(q))
            | (Corner::Free(p), Corner::OnFront(q))
            | (Corner::OnFront(p), Corner::Free(q)) => Segment(p, q),
            (Corner::Free(p), Corner::Absent(q)) => {
                let t = ground.fronts.first_hit(Segment(p, q))?;
                Segment(p, Segment(p, q).at(t))
            }
            (Corner::Absent(p), Corner::Free(q)) => {
                let t = ground.fronts.first_hit(Segment(q, p))?;
                Segment(Segment(q, p).at(t), q)
            }
            _ => return None,
        };
        ground.walls.first_hit(link).is_none().then_some(link)
    }
}
