//! Cholesky factors of the small dense matrices that the central path eliminates with.

/// A symmetric positive definite matrix, row-major; the lower triangle counts.
#[derive(Debug, Clone)]
pub(super) struct Symmetric {
    size: usize,
    values: Vec<f64>,
}

/// The lower triangle L of `L L'`, row-major.
#[derive(Debug, Clone)]
pub(super) struct Factor {
    size: usize,
    values: Vec<f64>,
}

/// A pivot that has lost all but this share of its diagonal entry is noise: its unknown stays put.
const LOST: f64 = 1e-15;

impl Symmetric {
    pub(super) fn zeros(size: usize) -> Self {
        Self { size, values: vec![0.0; size * size] }
    }

    pub(super) fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.size..][..self.size]
    }

    pub(super) fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.values[i * self.size..][..self.size]
    }

    /// Adds to one entry of the lower triangle, whichever way the indices are given.
    pub(super) fn add(&mut self, i: usize, j: usize, value: f64) {
        self.values[i.max(j) * self.size + i.min(j)] += value;
    }

    pub(super) fn factor(mut self) -> Factor {
        let n = self.size;
        for i in 0..n {
            let (above, rest) = self.values.split_at_mut(i * n);
            let row = &mut rest[..n];
            let diagonal = row[i];
            for j in 0..i {
                let other = &above[j * n..][..n];
                row[j] = (row[j] - dot(&row[..j], &other[..j])) / other[j];
            }
            let pivot = diagonal - dot(&row[..i], &row[..i]);
            row[i] = if pivot > LOST * diagonal { pivot.sqrt() } else { f64::MAX.sqrt() };
        }
        Factor { size: n, values: self.values }
    }
}

impl Factor {
    /// Solves `L L' x = b` in place.
    pub(super) fn solve(&self, b: &mut [f64]) {
        let n = self.size;
        for i in 0..n {
            let row = &self.values[i * n..][..n];
            b[i] = (b[i] - dot(&row[..i], &b[..i])) / row[i];
        }
        for i in (0..n).rev() {
            let row = &self.values[i * n..][..n];
            b[i] /= row[i];
            let x = b[i];
            b[..i].iter_mut().zip(row).for_each(|(b, l)| *b -= l * x);
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; 4];
    let (a4, b4) = (a.chunks_exact(4), b.chunks_exact(4));
    let tail: f64 = a4.remainder().iter().zip(b4.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a4.zip(b4) {
        for lane in 0..4 {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    lanes.iter().sum::<f64>() + tail
}
