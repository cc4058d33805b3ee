//! The arc graph in compressed rows: who is tied to whom, and by how much in logarithms.

/// Rows and the symmetric arcs between them; an arc's length is `eps * d`, the logarithm of the
/// largest ratio that Geo-Ind allows across it.
#[derive(Clone, Debug)]
pub(crate) struct ArcGraph {
    start: Vec<usize>,
    head: Vec<u32>,
    length: Vec<f64>,
}

impl ArcGraph {
    /// Builds the graph from arcs `(i, j, length)`, each pair given once and meant both ways.
    pub(crate) fn new(rows: usize, arcs: &[(u32, u32, f64)]) -> Self {
        let mut start = vec![0usize; rows + 1];
        for &(i, j, _) in arcs {
            start[i as usize + 1] += 1;
            start[j as usize + 1] += 1;
        }
        for i in 0..rows {
            start[i + 1] += start[i];
        }
        let mut next = start.clone();
        let mut head = vec![0u32; 2 * arcs.len()];
        let mut length = vec![0.0; 2 * arcs.len()];
        for &(i, j, l) in arcs {
            for (from, to) in [(i, j), (j, i)] {
                let at = next[from as usize];
                next[from as usize] += 1;
                head[at] = to;
                length[at] = l;
            }
        }
        Self { start, head, length }
    }

    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.start.len() - 1
    }

    /// The arcs that leave `row`, as `(neighbour, length)`.
    pub(crate) fn arcs(&self, row: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let range = self.start[row]..self.start[row + 1];
        self.head[range.clone()].iter().copied().zip(self.length[range].iter().copied())
    }

    /// The same arcs with every length replaced by `change(i, j, length)`.
    pub(crate) fn map_lengths(&self, change: impl Fn(usize, usize, f64) -> f64) -> Self {
        let mut mapped = self.clone();
        for i in 0..self.rows() {
            for at in self.start[i]..self.start[i + 1] {
                mapped.length[at] = change(i, self.head[at] as usize, self.length[at]);
            }
        }
        mapped
    }

    /// The same arcs, each length a function of its length here and in `other`, a graph made from
    /// this one or from a common ancestor by mapping lengths.
    pub(crate) fn zip_lengths(&self, other: &Self, mut f: impl FnMut(f64, f64) -> f64) -> Self {
        let length = self.length.iter().zip(&other.length).map(|(&a, &b)| f(a, b)).collect();
        Self { start: self.start.clone(), head: self.head.clone(), length }
    }

    /// The subgraph of `rows` (global indices), renumbered by their position in that list.
    pub(crate) fn restrict(&self, rows: &[u32], local: &[u32]) -> Self {
        let mut arcs = Vec::new();
        for (a, &i) in rows.iter().enumerate() {
            for (j, l) in self.arcs(i as usize) {
                let b = local[j as usize];
                if b != u32::MAX && (a as u32) < b {
                    arcs.push((a as u32, b, l));
                }
            }
        }
        Self::new(rows.len(), &arcs)
    }
}
