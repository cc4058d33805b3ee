//! Warm starts between columns: the tree that a column ends with is nearly that of a column with similar costs.
//!
//! Where costs of rows differ by orders of magnitude, rays are far from shortest-path trees: a column may take hundreds or
//! thousands of pivots from there, and a fraction of them from the tree of a column that has just been priced.

/// A column, and the earlier member of its family whose tree it may start from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub(crate) column: u32,
    pub(crate) starts_from: Option<u32>,
}

/// Takes a family of at most so many from those waiting, each after the one that it starts from: the cheapest tree (Prim's) from
/// column to column, by what `distances` finds between one and the others.
pub(crate) fn family(
    waiting: &mut Vec<u32>,
    most: usize,
    mut distances: impl FnMut(u32, &[u32], &mut [f64]),
) -> Vec<Member> {
    let mut family: Vec<Member> = Vec::with_capacity(most.min(waiting.len()));
    let mut nearest: Vec<(f64, Option<u32>)> = vec![(f64::INFINITY, None); waiting.len()];
    let mut distance = vec![0.0; waiting.len()];
    while family.len() < most {
        let by_distance = |&a: &usize, &b: &usize| nearest[a].0.total_cmp(&nearest[b].0);
        let Some(next) = (0..waiting.len()).min_by(by_distance) else { break };
        let column = waiting.swap_remove(next);
        let (_, starts_from) = nearest.swap_remove(next);
        distance.truncate(waiting.len());
        distances(column, waiting, &mut distance);
        for (nearest, &distance) in nearest.iter_mut().zip(&distance) {
            if distance < nearest.0 {
                *nearest = (distance, Some(family.len() as u32));
            }
        }
        family.push(Member { column, starts_from });
    }
    family
}
