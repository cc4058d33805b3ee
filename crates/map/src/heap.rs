//! The queue of a search: nodes by distance, nearest first.

use lrgeo_geo::units::Travel;

/// A heap with four children per entry: half as deep as a binary one, and the four lie in one
/// cache line. Distance and node are packed into one number, so that one comparison orders both.
#[derive(Default)]
pub(crate) struct NodeHeap {
    entries: Vec<u64>,
}

impl NodeHeap {
    pub(crate) fn push(&mut self, distance: Travel, node: u32) {
        let entry = u64::from(distance) << 32 | u64::from(node);
        let mut hole = self.entries.len();
        self.entries.push(entry);
        while hole > 0 {
            let parent = (hole - 1) / 4;
            if self.entries[parent] <= entry {
                break;
            }
            self.entries[hole] = self.entries[parent];
            hole = parent;
        }
        self.entries[hole] = entry;
    }

    pub(crate) fn pop(&mut self) -> Option<(Travel, u32)> {
        let last = self.entries.pop()?;
        let Some(&top) = self.entries.first() else {
            return Some(unpack(last));
        };
        let mut hole = 0;
        while let Some(children) = self.entries.get(4 * hole + 1..)
            && let Some((best, least)) = smallest(children)
            && least < last
        {
            self.entries[hole] = least;
            hole = 4 * hole + 1 + best;
        }
        self.entries[hole] = last;
        Some(unpack(top))
    }
}

/// The smallest of the first four entries and where it is. Four is the usual number and gets a loop
/// of known length.
fn smallest(children: &[u64]) -> Option<(usize, u64)> {
    let smaller =
        |best: (usize, u64), next: (usize, u64)| if next.1 < best.1 { next } else { best };
    if let Some(&[a, b, c, d]) = children.first_chunk() {
        return Some(smaller(smaller((0, a), (1, b)), smaller((2, c), (3, d))));
    }
    children.iter().copied().enumerate().reduce(smaller)
}

fn unpack(entry: u64) -> (Travel, u32) {
    ((entry >> 32) as Travel, entry as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lrgeo_geo::rng::SplitMix;

    #[test]
    fn gives_back_in_order_what_was_pushed() {
        let mut rng = SplitMix::new(3);
        for size in [0, 1, 2, 5, 6, 100, 1000] {
            let mut heap = NodeHeap::default();
            let mut expected: Vec<(Travel, u32)> =
                (0..size).map(|node| (rng.below(50) as Travel, node)).collect();
            expected.iter().for_each(|&(distance, node)| heap.push(distance, node));
            expected.sort_unstable();
            let found: Vec<(Travel, u32)> = std::iter::from_fn(|| heap.pop()).collect();
            assert_eq!(found, expected);
        }
    }
}
