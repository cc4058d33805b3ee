//! The constraint graph of one block: two variables per inequality, in log z.

/// Nodes in compressed rows. Every neighbour appears on both sides, with both directions.
#[derive(Debug)]
pub(crate) struct Graph {
    start: Vec<u32>,
    links: Vec<Link>,
}

/// From node `u`: `log z_u <= up + log z_target` and `log z_target <= down + log z_u`.
/// An absent direction is infinite.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Link {
    pub target: u32,
    pub up: f64,
    pub down: f64,
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
        let mut links = vec![Link { target: 0, up: 0.0, down: 0.0 }; 2 * pairs.len()];
        for &(u, v, up, down) in pairs {
            links[fill[u as usize] as usize] = Link { target: v, up, down };
            fill[u as usize] += 1;
            links[fill[v as usize] as usize] = Link { target: u, up: down, down: up };
            fill[v as usize] += 1;
        }
        Self { start, links }
    }

    pub fn nodes(&self) -> usize {
        self.start.len() - 1
    }

    pub fn links(&self, node: usize) -> &[Link] {
        &self.links[self.start[node] as usize..self.start[node + 1] as usize]
    }
}
