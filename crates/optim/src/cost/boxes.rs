//! Points in boxes within boxes: a k-d tree over the features of columns.

/// Points in a box that is not divided further.
const LEAF: usize = 16;

/// From the least to the largest value of one feature in a box.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Range {
    low: f64,
    high: f64,
}

impl Range {
    /// How far `value` is from the nearest number of this range.
    pub(crate) fn distance(self, value: f64) -> f64 {
        (self.low - value).max(value - self.high).max(0.0)
    }
}

/// A box: its points, and where the boxes that follow inside it end.
#[derive(Debug, Clone)]
struct Node {
    first: u32,
    end: u32,
    /// The next box that is not within this one.
    after: u32,
}

/// All boxes, each before those within it.
#[derive(Debug, Clone)]
pub(crate) struct Boxes {
    dimensions: usize,
    points: Vec<u32>,
    nodes: Vec<Node>,
    /// The ranges of each box, dimension by dimension.
    ranges: Vec<Range>,
}

impl Boxes {
    /// Divides points, given row by row, at the median of the feature that spreads most, weighted.
    pub(crate) fn new(features: &[f64], weights: &[f64]) -> Self {
        let dimensions = weights.len();
        let points = (0..(features.len() / dimensions) as u32).collect::<Vec<u32>>();
        let mut boxes = Self { dimensions, points, nodes: Vec::new(), ranges: Vec::new() };
        boxes.divide(features, weights, 0, boxes.points.len());
        boxes
    }

    fn divide(&mut self, features: &[f64], weights: &[f64], first: usize, end: usize) {
        let dimensions = self.dimensions;
        let points = &mut self.points[first..end];
        let feature = |point: u32, l: usize| features[point as usize * dimensions + l];
        let ranges = (0..dimensions).map(|l| {
            let none = Range { low: f64::INFINITY, high: f64::NEG_INFINITY };
            points.iter().map(|&point| feature(point, l)).fold(none, |range, value| Range {
                low: range.low.min(value),
                high: range.high.max(value),
            })
        });
        let ranges: Vec<Range> = ranges.collect();
        let spread = |l: &usize| weights[*l] * (ranges[*l].high - ranges[*l].low);
        let widest = (0..dimensions).max_by(|a, b| spread(a).total_cmp(&spread(b)));
        let node = self.nodes.len();
        self.nodes.push(Node { first: first as u32, end: end as u32, after: 0 });
        let half = points.len() / 2;
        if let Some(l) = widest.filter(|_| points.len() > LEAF) {
            points.select_nth_unstable_by(half, |&a, &b| feature(a, l).total_cmp(&feature(b, l)));
        }
        self.ranges.extend(&ranges);
        if end - first > LEAF {
            self.divide(features, weights, first, first + half);
            self.divide(features, weights, first + half, end);
        }
        self.nodes[node].after = self.nodes.len() as u32;
    }

    /// Hands the points of all undivided boxes to `look` that lie in no box for which `enter` says no.
    pub(crate) fn visit(&self, enter: impl Fn(&[Range]) -> bool, mut look: impl FnMut(&[u32])) {
        let mut at = 0;
        while let Some(node) = self.nodes.get(at) {
            if !enter(&self.ranges[at * self.dimensions..][..self.dimensions]) {
                at = node.after as usize;
                continue;
            }
            at += 1;
            if at == node.after as usize {
                look(&self.points[node.first as usize..node.end as usize]);
            }
        }
    }
}
