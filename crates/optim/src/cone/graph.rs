//! The constraint graph: two variables per inequality, in log z.

/// Nodes in compressed rows. Every neighbour appears on both sides, with both directions, each direction in
/// an array of its own: a pivot looks at one of them only, and at nothing more often.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    start: Vec<u32>,
    targets: Vec<u32>,
    up: Vec<f64>,
    /// Empty where both directions are alike.
    down: Vec<f64>,
}

/// The neighbours of a node `u` with their limits: `log z_u <= up + log z_target` and
/// `log z_target <= down + log z_u`. An absent direction is infinite.
pub(crate) struct Links<'a> {
    pub targets: &'a [u32],
    pub up: &'a [f64],
    pub down: &'a [f64],
}

impl Graph {
    /// From undirected pairs `(u, v, up, down)` seen from `u`.
    pub fn new(nodes: usize, pairs: &[(u32, u32, f64, f64)]) -> Self {
        let mut start = vec![0_u32; nodes + 1];
        for &(u, v, ..) in pairs {
            start[u as usize + 1] += 1;
            start[v as usize + 1] += 1;
        }
        for u in 0..nodes {
            start[u + 1] += start[u];
        }
        let mut fill = start.clone();
        let links = 2 * pairs.len();
        let mut graph =
            Self { start, targets: vec![0; links], up: vec![0.0; links], down: vec![0.0; links] };
        for &(u, v, up, down) in pairs {
            for (from, target, up, down) in [(u, v, up, down), (v, u, down, up)] {
                let at = fill[from as usize] as usize;
                (graph.targets[at], graph.up[at], graph.down[at]) = (target, up, down);
                fill[from as usize] += 1;
            }
        }
        graph
    }

    pub fn nodes(&self) -> usize {
        self.start.len() - 1
    }

    #[inline(always)]
    pub fn links(&self, node: usize) -> Links<'_> {
        let range = self.start[node] as usize..self.start[node + 1] as usize;
        let up = &self.up[range.clone()];
        let down = if self.down.is_empty() { up } else { &self.down[range.clone()] };
        Links { targets: &self.targets[range], up, down }
    }
}

/// Graphs whose arcs are as long both ways: an arc's length is `eps * d`, the logarithm of the largest ratio that Geo-Ind
/// allows across it.
impl Graph {
    /// From arcs `(i, j, length)`, each pair given once.
    pub(crate) fn symmetric(rows: usize, arcs: impl Iterator<Item = (u32, u32, f64)>) -> Self {
        let pairs: Vec<_> = arcs.map(|(i, j, length)| (i, j, length, length)).collect();
        Self { down: Vec::new(), ..Self::new(rows, &pairs) }
    }

    /// The arcs that leave a row, as `(neighbour, length)`.
    pub(crate) fn arcs(&self, row: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let Links { targets, up, .. } = self.links(row);
        targets.iter().copied().zip(up.iter().copied())
    }
}

#[cfg(feature = "parallel")]
impl Graph {
    /// Length of the arc between two rows; of parallel arcs the shortest binds.
    pub(crate) fn between(&self, from: usize, to: usize) -> f64 {
        let lengths = self.arcs(from).filter(|arc| arc.0 == to as u32).map(|arc| arc.1);
        lengths.fold(f64::INFINITY, f64::min)
    }

    /// The same arcs with every length replaced by `change(i, j, length)`.
    pub(crate) fn map_lengths(&self, change: impl Fn(usize, usize, f64) -> f64) -> Self {
        let mut mapped = self.clone();
        for i in 0..self.nodes() {
            for at in self.start[i] as usize..self.start[i + 1] as usize {
                mapped.up[at] = change(i, self.targets[at] as usize, self.up[at]);
            }
        }
        mapped
    }

    /// The same arcs, each length a function of its length here and in `other`, a graph made from
    /// this one or from a common ancestor by mapping lengths.
    pub(crate) fn zip_lengths(&self, other: &Self, mut f: impl FnMut(f64, f64) -> f64) -> Self {
        let up = self.up.iter().zip(&other.up).map(|(&a, &b)| f(a, b)).collect();
        Self { up, ..self.clone() }
    }

    /// Becomes the subgraph of some rows of another, renumbered by `local` (`u32::MAX`: not among them).
    pub(crate) fn become_part(&mut self, whole: &Self, rows: &[u32], local: &[u32]) {
        let Self { start, targets, up, down } = self;
        start.clear();
        targets.clear();
        up.clear();
        down.clear();
        for &i in rows {
            start.push(targets.len() as u32);
            for (j, length) in whole.arcs(i as usize) {
                let at = local[j as usize];
                if at != u32::MAX {
                    targets.push(at);
                    up.push(length);
                }
            }
        }
        start.push(targets.len() as u32);
    }
}
