//! The constraint graph of one block: two variables per inequality, in log z.

/// Nodes in compressed rows. Every neighbour appears on both sides, with both directions, each direction in
/// an array of its own: a pivot looks at one of them only, and at nothing more often.
#[derive(Debug)]
pub(crate) struct Graph {
    start: Vec<u32>,
    targets: Vec<u32>,
    up: Vec<f64>,
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
        Links {
            targets: &self.targets[range.clone()],
            up: &self.up[range.clone()],
            down: &self.down[range],
        }
    }
}
