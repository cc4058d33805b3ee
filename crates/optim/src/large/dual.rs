//! Lower bounds: repairing a dual vector until every column prices out, and proving what is left.

use rayon::prelude::*;

use super::columns::Columns;
use super::tuning::TUNING;
use super::view::{Stopped, View};
use crate::certificate::bound_of_windows;
use crate::cone::Pricer;

/// Precision of what is proven at every row, relative to the mean weight: it may count `exp(eps D)`
/// times as much at the anchor.
const SETTLED: f64 = 1e-13;

/// Pricing precision relative to a column's weight, where something is proven.
pub(crate) const PRECISION: f64 = 1e-9;

/// Lowers `mu` until (nearly) no column has a negative reduced cost: until what is missing, which the bound will
/// lack, is at most `enough` of it.
///
/// The simple repair `mu_anchor += rc_k` wastes much, because one row serves many columns. A small
/// `p >= 0` with `R' p >= -rc`, R the current rays, is found by multiplicative sweeps, topped up
/// at the anchors, and the columns are priced again.
pub(crate) fn repair(
    view: &View<'_>,
    columns: &mut Columns,
    mu: &mut [f64],
    enough: f64,
) -> Result<(), Stopped> {
    let total: f64 = mu.iter().map(|m| m.abs()).sum();
    for round in 0..TUNING.repair_rounds {
        let reduced = columns.price(view, mu, PRECISION)?;
        let missing: f64 = reduced.iter().map(|r| (-r).max(0.0)).sum();
        if missing <= enough * total || round + 1 == TUNING.repair_rounds {
            break;
        }
        for (m, p) in mu.iter_mut().zip(cover(columns, &reduced)) {
            *m -= p;
        }
    }
    Ok(())
}

/// A small `p >= 0` with `R' p >= max(0, -reduced)`.
///
/// Each column pays at the row where its ray is largest, not at its own: where costs are uneven a ray
/// may grow away from its place by orders of magnitude, and a payment there would count for little.
pub(crate) fn cover(columns: &Columns, reduced: &[f64]) -> Vec<f64> {
    let peaks = columns.peaks();
    let costs = columns.ray_costs();
    let need: Vec<f64> = (0..reduced.len())
        .map(|k| (TUNING.repair_margin * costs[k] - reduced[k]).max(0.0) / peaks[k].value)
        .collect();
    let scaled_product = |p: &[f64]| -> Vec<f64> {
        let product = columns.transposed_product(p);
        product.into_iter().zip(&peaks).map(|(sum, peak)| sum / peak.value).collect()
    };
    let wanting = || (0..need.len()).filter(|&k| need[k] > 0.0);
    let mass = scaled_product(&vec![1.0; need.len()]);
    let mut p = vec![0.0f64; need.len()];
    for k in wanting() {
        let row = &mut p[peaks[k].row];
        *row = row.max(need[k] / mass[k]);
    }
    for _ in 0..TUNING.cover_sweeps {
        let covered = scaled_product(&p);
        let mut factor = vec![0.0f64; p.len()];
        for k in wanting() {
            let row = &mut factor[peaks[k].row];
            *row = row.max(need[k] / covered[k]);
        }
        p.iter_mut().zip(factor).for_each(|(p, factor)| *p *= factor);
    }
    let covered = scaled_product(&p);
    for k in wanting() {
        p[peaks[k].row] += (need[k] - covered[k]).max(0.0);
    }
    p
}

/// What a dual vector proves.
pub(crate) struct Proof {
    /// No feasible matrix costs less; rounding included.
    pub(crate) bound: f64,
    /// What the pairs outside the windows took from the bound.
    pub(crate) outside: f64,
    /// The mean cost over all columns, summed over the rows.
    pub(crate) mean_cost: f64,
}

/// The bound that `mu` proves for every feasible matrix, safe against rounding. Pairs with `c_ik < mu_i` outside a window
/// cost bound: they are the validity check of truncated pricing.
pub(crate) fn prove(view: &View<'_>, columns: &Columns, mu: &[f64]) -> Result<Proof, Stopped> {
    let n = view.rows();
    let windows = &columns.windows;
    let inside: Vec<f64> = (0..n)
        .into_par_iter()
        .map_init(
            || Pricer::new(n),
            |pricer, k| {
                view.proceed()?;
                let range = windows.range(k);
                let window = windows.of(k);
                let weight = |(&i, c): (&u32, &f64)| (c - mu[i as usize]).next_down();
                let weights = window.rows.iter().zip(&columns.cost[range.clone()]).map(weight);
                let size: f64 = weights.clone().map(f64::abs).sum();
                pricer.load(&view.graph, window.rows, weights);
                pricer.plant(&columns.tree[range]);
                let rows = window.rows.len();
                pricer.settle(SETTLED * size / rows as f64, TUNING.pivots_per_row * rows);
                Ok(pricer.proven_value())
            },
        )
        .collect::<Result<_, Stopped>>()?;

    let outside: Vec<f64> = (0..n)
        .into_par_iter()
        .map_init(Vec::new, |cheap, i| {
            view.proceed()?;
            cheap.clear();
            view.columns_below(i, mu[i], cheap);
            cheap.sort_by(|a, b| a.1.total_cmp(&b.1));
            let is_outside =
                |&&(k, _): &&(u32, f64)| !windows.of(k as usize).rows.contains(&(i as u32));
            Ok(cheap.iter().find(is_outside).map_or(0.0, |&(_, cost)| (cost - mu[i]).next_down()))
        })
        .collect::<Result<_, Stopped>>()?;

    Ok(Proof {
        bound: bound_of_windows(mu, &inside, &outside),
        outside: outside.iter().sum(),
        mean_cost: view.mean_cost()?,
    })
}
