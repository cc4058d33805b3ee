//! Dense kernels of the master: the normal matrix, its Cholesky factor, and vector sums.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, Conj, Mat, MatMut, MatRef, Par};

/// Runs a loop of [`dot`] or [`axpy`] with the widest registers that the machine has.
pub(super) fn vectorised<R>(work: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(work)
}

/// `sum a b`, in eight lanes so that it vectorises.
#[inline(always)]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let length = a.len().min(b.len());
    let (a, b) = (&a[..length], &b[..length]);
    let mut lanes = [0.0; 8];
    let (chunks_a, chunks_b) = (a.chunks_exact(8), b.chunks_exact(8));
    let tail: f64 =
        (chunks_a.remainder().iter()).zip(chunks_b.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in chunks_a.zip(chunks_b) {
        for lane in 0..8 {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    lanes.iter().sum::<f64>() + tail
}

/// `out += scale * v`.
#[inline(always)]
pub(crate) fn axpy(scale: f64, v: &[f64], out: &mut [f64]) {
    for (out, v) in out.iter_mut().zip(v) {
        *out += scale * v;
    }
}

/// A normal matrix `W W' + local parts + diagonal` and its Cholesky factor.
#[derive(Debug, Default)]
pub(crate) struct Factor {
    rows: usize,
    /// Scaled columns W, one after another.
    wide: Vec<f64>,
    /// The matrix, lower triangle, column-major; the factor after [`Factor::factor`].
    matrix: Vec<f64>,
}

impl Factor {
    pub fn new(rows: usize) -> Self {
        Self { rows, wide: Vec::new(), matrix: vec![0.0; rows * rows] }
    }

    pub fn clear(&mut self) {
        self.wide.clear();
        self.matrix.fill(0.0);
    }

    /// Adds `(scale v)(scale v)'` to what will be multiplied out.
    pub fn add_scaled(&mut self, scale: f64, rows: Option<&[u32]>, values: &[f64]) {
        match rows {
            None => self.wide.extend(values.iter().map(|v| scale * v)),
            Some(rows) => {
                let start = self.wide.len();
                self.wide.resize(start + self.rows, 0.0);
                for (&row, value) in rows.iter().zip(values) {
                    self.wide[start + row as usize] = scale * value;
                }
            }
        }
    }

    /// Adds `v v'` on the given rows (ascending) at once.
    #[inline(always)]
    pub fn add_local(&mut self, rows: &[u32], values: &[f64]) {
        let adjacent = rows.first().zip(rows.last());
        let adjacent = adjacent.is_some_and(|(a, b)| (b - a) as usize + 1 == rows.len());
        for (position, (&column, &scale)) in rows.iter().zip(values).enumerate() {
            if scale == 0.0 {
                continue;
            }
            let target = &mut self.matrix[column as usize * self.rows..][..self.rows];
            if adjacent {
                axpy(scale, &values[position..], &mut target[column as usize..]);
                continue;
            }
            for (&row, value) in rows[position..].iter().zip(&values[position..]) {
                target[row as usize] += scale * value;
            }
        }
    }

    /// Multiplies out, adds the diagonal and a trace of regularisation, and factors.
    pub fn factor(&mut self, diagonal: &[f64], threads: usize) {
        let rows = self.rows;
        let par = parallelism(rows, threads);
        let count = self.wide.len() / rows.max(1);
        let wide = MatRef::from_column_major_slice(&self.wide, rows, count);
        let mut matrix = MatMut::from_column_major_slice_mut(&mut self.matrix, rows, rows);
        triangular::matmul_with_conj(
            matrix.as_mut(),
            BlockStructure::TriangularLower,
            Accum::Add,
            wide,
            BlockStructure::Rectangular,
            Conj::No,
            wide.transpose(),
            BlockStructure::Rectangular,
            Conj::No,
            1.0,
            par,
        );
        let mut largest = 0.0_f64;
        for i in 0..rows {
            let own = matrix[(i, i)] + diagonal[i];
            matrix[(i, i)] = own * (1.0 + 1e-14) + f64::MIN_POSITIVE;
            largest = largest.max(own);
        }
        let request = llt::factor::cholesky_in_place_scratch::<f64>(rows, par, Default::default());
        let mut memory = MemBuffer::new(request);
        let regularization = llt::factor::LltRegularization {
            dynamic_regularization_delta: 1e60 * largest + 1.0,
            dynamic_regularization_epsilon: 1e-25 * largest + f64::MIN_POSITIVE,
        };
        // With dynamic regularisation a vanishing pivot is replaced, so this cannot fail.
        let _ = llt::factor::cholesky_in_place(
            matrix,
            regularization,
            par,
            MemStack::new(&mut memory),
            Default::default(),
        );
    }

    /// Solves in place.
    pub fn solve(&self, right_side: &mut [f64]) {
        let rows = self.rows;
        let matrix = MatRef::from_column_major_slice(&self.matrix, rows, rows);
        let mut vector: Mat<f64> = Mat::zeros(rows, 1);
        for i in 0..rows {
            vector[(i, 0)] = right_side[i];
        }
        let par = Par::Seq;
        let request = llt::solve::solve_in_place_scratch::<f64>(rows, 1, par);
        let mut memory = MemBuffer::new(request);
        llt::solve::solve_in_place(matrix, vector.as_mut(), par, MemStack::new(&mut memory));
        for i in 0..rows {
            right_side[i] = vector[(i, 0)];
        }
    }
}

/// Threads pay only from a few hundred rows on.
#[cfg(feature = "parallel")]
fn parallelism(rows: usize, threads: usize) -> Par {
    if rows < 200 || threads == 1 { Par::Seq } else { Par::rayon(threads) }
}

#[cfg(not(feature = "parallel"))]
fn parallelism(_rows: usize, _threads: usize) -> Par {
    Par::Seq
}
