//! The inner loop of all costs: `beta(i,k) = sum_l q_l |tc(i,l) - tc(k,l)|` (Eq. 3-5, section 4.5.1).
//!
//! A weighted L1 distance between rows of whole numbers. Rows are taken in blocks that stay in the
//! first-level cache and four columns at a time share each load of row and weights. Eight partial
//! sums are kept in a fixed order (four columns' worth of them fit the registers), so the result is the same bits on every processor; `pulp` picks
//! the widest instructions that this one has.

use pulp::Arch;

use lrgeo_geo::units::Travel;

const LANES: usize = 8;
const HALF: usize = LANES / 2;
const TOGETHER: usize = 4;

/// Travel amounts stay below this so that differences convert to floating point as signed numbers,
/// which every processor does quickly.
pub(crate) const MAX_TRAVEL: Travel = i32::MAX as Travel;

/// `out[r * columns.len() + c] = beta(rows[r], columns[c])`, unscaled.
pub(crate) fn beta_block(rows: &[&[Travel]], columns: &[&[Travel]], q: &[f64], out: &mut [f64]) {
    Arch::new().dispatch(
        #[inline(always)]
        || {
            for (row, out) in rows.iter().zip(out.chunks_exact_mut(columns.len())) {
                let (groups, rest) = columns.as_chunks::<TOGETHER>();
                for (group, out) in groups.iter().zip(out.as_chunks_mut::<TOGETHER>().0) {
                    *out = beta_many(row, group, q);
                }
                let done = groups.len() * TOGETHER;
                for (column, out) in rest.iter().zip(&mut out[done..]) {
                    [*out] = beta_many(row, &[column], q);
                }
            }
        },
    );
}

#[inline(always)]
fn beta_many<const N: usize>(row: &[Travel], columns: &[&[Travel]; N], q: &[f64]) -> [f64; N] {
    let (row_lanes, row_rest) = row.as_chunks::<LANES>();
    let (q_lanes, q_rest) = q.as_chunks::<LANES>();
    let column_lanes = columns.map(|column| column.as_chunks::<LANES>().0);
    let mut sums = [[0.0f64; LANES]; N];
    for (block, (a, w)) in row_lanes.iter().zip(q_lanes).enumerate() {
        for (sum, column) in sums.iter_mut().zip(&column_lanes) {
            let b = &column[block];
            for lane in 0..LANES {
                sum[lane] += w[lane] * f64::from(a[lane].abs_diff(b[lane]) as i32);
            }
        }
    }
    // Of what is left over, four more at a time.
    let (row_half, row_rest) = row_rest.as_chunks::<HALF>();
    let (q_half, q_rest) = q_rest.as_chunks::<HALF>();
    let mut done = row_lanes.len() * LANES;
    if let (Some(a), Some(w)) = (row_half.first(), q_half.first()) {
        for (sum, column) in sums.iter_mut().zip(columns) {
            for lane in 0..HALF {
                sum[lane] += w[lane] * f64::from(a[lane].abs_diff(column[done + lane]) as i32);
            }
        }
        done += HALF;
    }
    let mut totals = [0.0; N];
    for ((total, sum), column) in totals.iter_mut().zip(&sums).zip(columns) {
        let rest = row_rest.iter().zip(&column[done..]).zip(q_rest);
        let rest: f64 = rest.map(|((a, b), w)| w * f64::from(a.abs_diff(*b) as i32)).sum();
        *total = add_up(sum) + rest;
    }
    totals
}

/// The lanes by halves: 8, 4, 2, 1.
#[inline(always)]
fn add_up(sum: &[f64; LANES]) -> f64 {
    let mut sum = *sum;
    let mut half = LANES / 2;
    while half > 0 {
        for lane in 0..half {
            sum[lane] += sum[lane + half];
        }
        half /= 2;
    }
    sum[0]
}
