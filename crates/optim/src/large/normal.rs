//! The normal equations `A W A' y = b` of the master: conjugate gradients, preconditioned by dense
//! factors on overlapping parts of the map (additive Schwarz).
//!
//! Rays decay, so A W A' is local, and its inverse nearly is: parts of a few hundred rows with a
//! margin capture it, at a cost linear in the number of places. The preconditioner cuts rays at a
//! smaller radius than the operator, which uses them whole.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::{Mat, Par};
use rayon::prelude::*;

use super::krylov::dot;
use super::partition::Part;
use super::rays::Rays;
use super::tuning::TUNING;
use super::view::{Stopped, View};
use super::window::Windows;

/// `A W A'` with its preconditioner.
pub(crate) struct Normal<'a> {
    view: &'a View<'a>,
    rays: &'a Rays,
    windows: &'a Windows,
    weights: Vec<Vec<f64>>,
    parts: &'a [Part],
    /// The factor of each part's block.
    factors: Vec<Mat<f64>>,
}

impl<'a> Normal<'a> {
    /// Assembles and factors; `weights[k]` are the weights of column k's rays.
    pub(crate) fn new(
        view: &'a View<'a>,
        rays: &'a Rays,
        windows: &'a Windows,
        parts: &'a [Part],
        weights: Vec<Vec<f64>>,
    ) -> Result<Self, Stopped> {
        let n = rays.columns.len();
        let columns = columns_of_parts(windows, parts);
        let factors = parts
            .par_iter()
            .zip(columns)
            .map_init(
                || vec![u32::MAX; n],
                |local, (part, columns)| {
                    view.proceed()?;
                    Ok(factor(assemble(rays, windows, part, &columns, &weights, local)))
                },
            )
            .collect::<Result<_, Stopped>>()?;
        Ok(Self { view, rays, windows, weights, parts, factors })
    }

    fn apply(&self, v: &[f64]) -> Vec<f64> {
        self.rays.product(self.windows, |k| {
            let mut inner = self.rays.transposed(self.windows, k, v);
            inner.iter_mut().zip(&self.weights[k]).for_each(|(t, w)| *t *= w);
            inner
        })
    }

    /// The sum of the parts' solutions. Rows that several parts share count several times, at most fourfold on a map: to
    /// weigh them would spoil the modes that reach into a margin, which are the worst conditioned ones.
    fn precondition(&self, r: &[f64]) -> Vec<f64> {
        let pieces: Vec<Vec<f64>> = self
            .parts
            .par_iter()
            .zip(&self.factors)
            .map(|(part, factor)| {
                let mut rhs = Mat::from_fn(part.rows.len(), 1, |at, _| r[part.rows[at] as usize]);
                let mut memory = MemBuffer::new(llt::solve::solve_in_place_scratch::<f64>(
                    part.rows.len(),
                    1,
                    Par::Seq,
                ));
                llt::solve::solve_in_place(
                    factor.as_ref(),
                    rhs.as_mut(),
                    Par::Seq,
                    MemStack::new(&mut memory),
                );
                rhs.col_as_slice(0).to_vec()
            })
            .collect();
        let mut sum = vec![0.0; r.len()];
        for (part, piece) in self.parts.iter().zip(pieces) {
            for (&i, z) in part.rows.iter().zip(piece) {
                sum[i as usize] += z;
            }
        }
        sum
    }

    /// Solves to a relative residual, or as far as `limit` iterations get.
    pub(crate) fn solve(
        &self,
        b: &[f64],
        tolerance: f64,
        limit: usize,
    ) -> Result<Vec<f64>, Stopped> {
        let mut x = vec![0.0; b.len()];
        let mut r = b.to_vec();
        let target = tolerance * tolerance * dot(b, b);
        let mut z = self.precondition(&r);
        let mut p = z.clone();
        let mut rz = dot(&r, &z);
        for _ in 0..limit {
            if dot(&r, &r) <= target || rz <= 0.0 {
                break;
            }
            self.view.proceed()?;
            let q = self.apply(&p);
            let alpha = rz / dot(&p, &q);
            for i in 0..x.len() {
                x[i] += alpha * p[i];
                r[i] -= alpha * q[i];
            }
            z = self.precondition(&r);
            let next = dot(&r, &z);
            let beta = next / rz;
            rz = next;
            for (p, z) in p.iter_mut().zip(&z) {
                *p = z + beta * *p;
            }
        }
        Ok(x)
    }
}

/// The columns whose cut window meets each part.
fn columns_of_parts(windows: &Windows, parts: &[Part]) -> Vec<Vec<u32>> {
    let mut parts_of_row = vec![Vec::new(); windows.columns()];
    for (part, rows) in parts.iter().map(|part| &part.rows).enumerate() {
        for &i in rows {
            parts_of_row[i as usize].push(part);
        }
    }
    let mut columns = vec![Vec::new(); parts.len()];
    for k in 0..windows.columns() {
        let window = windows.of(k);
        for (&i, _) in window.rows.iter().zip(window.is_near).filter(|(_, near)| **near) {
            for &part in &parts_of_row[i as usize] {
                let list: &mut Vec<u32> = &mut columns[part];
                if list.last() != Some(&(k as u32)) {
                    list.push(k as u32);
                }
            }
        }
    }
    columns
}

/// The part's block of A W A', rays cut where they are no longer near, lower triangle.
fn assemble(
    rays: &Rays,
    windows: &Windows,
    part: &Part,
    columns: &[u32],
    weights: &[Vec<f64>],
    local: &mut [u32],
) -> Mat<f64> {
    let m = part.rows.len();
    for (at, &i) in part.rows.iter().enumerate() {
        local[i as usize] = at as u32;
    }
    let mut block = Mat::<f64>::zeros(m, m);
    let mut entries: Vec<(u32, u32)> = Vec::new();
    let (mut sum, mut pieces) = (Vec::new(), Vec::new());
    for &k in columns {
        let window = windows.of(k as usize);
        entries.clear();
        for (at, (&i, &is_near)) in window.rows.iter().zip(window.is_near).enumerate() {
            if is_near && local[i as usize] != u32::MAX {
                entries.push((local[i as usize], at as u32));
            }
        }
        if entries.is_empty() {
            continue;
        }
        entries.sort_unstable();
        let column = &rays.columns[k as usize];
        // Gathered once, so that the products below run over contiguous numbers.
        let m = entries.len();
        pieces.clear();
        for r in 0..column.len() {
            let ray = column.ray(r);
            pieces.extend(entries.iter().map(|&(_, at)| f64::from(ray[at as usize])));
        }
        for (b, &(row_b, _)) in entries.iter().enumerate() {
            sum.clear();
            sum.resize(m - b, 0.0);
            for (&w, piece) in weights[k as usize].iter().zip(pieces.chunks_exact(m)) {
                let scaled = w * piece[b];
                for (sum, z) in sum.iter_mut().zip(&piece[b..]) {
                    *sum += scaled * z;
                }
            }
            let target = block.col_as_slice_mut(row_b as usize);
            for (sum, &(row, _)) in sum.iter().zip(&entries[b..]) {
                target[row as usize] += sum;
            }
        }
    }
    for &i in &part.rows {
        local[i as usize] = u32::MAX;
    }
    block
}

/// Cholesky factor in the lower triangle.
fn factor(mut block: Mat<f64>) -> Mat<f64> {
    let m = block.nrows();
    let mut relative = TUNING.regularisation;
    let mut memory = MemBuffer::new(llt::factor::cholesky_in_place_scratch::<f64>(
        m,
        Par::Seq,
        Default::default(),
    ));
    loop {
        let mut attempt = block.clone();
        for at in 0..m {
            attempt[(at, at)] += relative * block[(at, at)];
        }
        let done = llt::factor::cholesky_in_place(
            attempt.as_mut(),
            Default::default(),
            Par::Seq,
            MemStack::new(&mut memory),
            Default::default(),
        );
        if done.is_ok() {
            return attempt;
        }
        // Rounding made it indefinite: a larger diagonal, in the limit diagonal scaling.
        relative *= 100.0;
        if relative > 1e3 {
            for at in 0..m {
                let d = block[(at, at)].max(f64::MIN_POSITIVE).sqrt();
                block.col_as_slice_mut(at).fill(0.0);
                block[(at, at)] = d;
            }
            return block;
        }
    }
}
