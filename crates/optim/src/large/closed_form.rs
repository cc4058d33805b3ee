//! The closed form: `z_ik = x_k exp(-eps D_ik)` with `E x = 1`, and its dual `E' mu = c_bar`.
//!
//! Nearly optimal where eps times the spacing is large, and a first answer everywhere. Where the
//! solution has negative parts, the complementarity problem `E x >= 1, x >= 0` is solved by an
//! active set; rows whose sum then exceeds 1 are divided by it, and the arcs on which that
//! division would break Geo-Ind are shortened before the next round.

use rayon::prelude::*;

use super::columns::Columns;
use super::krylov::bicgstab;
use super::tuning::TUNING;
use super::view::{Stopped, View};
use crate::cone::Graph as ArcGraph;

/// The primal closed form: weights `x` on the rays `exp(-length)` of `graph`.
pub(crate) struct ClosedForm {
    pub(crate) graph: ArcGraph,
    pub(crate) x: Vec<f64>,
}

/// The dual of the closed form on the shortest-path rays that `columns` starts with.
pub(crate) fn dual(view: &View<'_>, columns: &Columns) -> Result<Vec<f64>, Stopped> {
    let c_bar = columns.ray_costs();
    let mut mu = vec![0.0; c_bar.len()];
    let apply = |v: &[f64]| view.proceed().map(|()| columns.transposed_product(v));
    bicgstab(apply, &c_bar, &mut mu, TUNING.closed_form_residual, TUNING.closed_form_iterations)?;
    // Where costs are uneven the solution swings between neighbours, and rays priced at such duals
    // grow without measure. It is kept near the smooth duals that spread every ray's cost evenly.
    let mass = columns.transposed_product(&vec![1.0; c_bar.len()]);
    for ((mu, cost), mass) in mu.iter_mut().zip(&c_bar).zip(mass) {
        let smooth = cost / mass;
        *mu = mu.clamp(TUNING.swing.recip() * smooth, TUNING.swing * smooth);
    }
    Ok(mu)
}

/// Whether the closed form's duals are worth going on from: whether most subtrees of the shortest-path
/// trees, which `columns` starts with, stay where they are at `mu`.
pub(crate) fn is_near(columns: &Columns, mu: &[f64]) -> bool {
    let windows = &columns.windows;
    let improving: usize = (0..windows.columns())
        .into_par_iter()
        .map(|k| {
            let (window, range) = (windows.of(k), windows.range(k));
            let weight = |((&i, c), &r): ((&u32, &f64), &f32)| (c - mu[i as usize]) * f64::from(r);
            let entries = window.rows.iter().zip(&columns.cost[range.clone()]);
            let mut sum: Vec<f64> = entries.zip(&columns.ray[range]).map(weight).collect();
            let mut improving = 0;
            for at in (1..sum.len()).rev() {
                improving += usize::from(sum[at] < 0.0);
                sum[window.parent[at] as usize] += sum[at];
            }
            improving
        })
        .sum();
    improving as f64 <= TUNING.near_closed_form * windows.entries() as f64
}

/// Weights for the current rays with row sums of at least 1, and 1 wherever possible.
pub(crate) fn weights(view: &View<'_>, columns: &Columns) -> Result<Vec<f64>, Stopped> {
    complementarity(view, columns, vec![1.0; columns.windows.columns()])
}

/// Weights for the current rays that are positive and bring row sums near one, by expectation maximisation (`E x = 1` after Richardson
/// and Lucy): where the closed form is far from feasible, no active set is found, and these are what can be had.
pub(crate) fn mixture(view: &View<'_>, columns: &Columns) -> Result<Vec<f64>, Stopped> {
    let n = columns.windows.columns();
    let mass = columns.transposed_product(&vec![1.0; n]);
    let mut x: Vec<f64> = mass.iter().map(|mass| mass.recip()).collect();
    for _ in 0..TUNING.expectation_rounds {
        view.proceed()?;
        let inverse: Vec<f64> = columns.transposed_product(&x).iter().map(|s| s.recip()).collect();
        let share = columns.transposed_product(&inverse);
        for ((x, share), mass) in x.iter_mut().zip(share).zip(&mass) {
            *x *= share / mass;
        }
    }
    Ok(x)
}

/// The primal closed form with all arcs scaled by `1 - shrink`; `None` if shortening arcs does not
/// settle. `columns` must hold the rays of those scaled arcs.
pub(crate) fn primal(
    view: &View<'_>,
    columns: &Columns,
    radius: f64,
    shrink: f64,
) -> Result<Option<ClosedForm>, Stopped> {
    let mut x = weights(view, columns)?;
    let mut sums = columns.transposed_product(&x);
    let mut graph = view.graph.map_lengths(|_, _, l| l * (1.0 - shrink));
    for _ in 0..TUNING.shortening_rounds {
        let log_sum: Vec<f64> = sums.iter().map(|s| s.max(f64::MIN_POSITIVE).ln()).collect();
        let Some(shortened) = shorten(&view.graph, &graph, &log_sum, 0.5 * shrink) else {
            return Ok(Some(ClosedForm { graph, x }));
        };
        graph = shortened;
        let windows = Columns::rays_only(view, &graph, radius)?;
        x = complementarity(view, &windows, x)?;
        sums = windows.transposed_product(&x);
    }
    Ok(None)
}

/// `current` with the arcs shortened across which `|log_sum_i - log_sum_j|` takes more than is
/// left of the full length; `None` when every arc fits.
pub(crate) fn shorten(
    full: &ArcGraph,
    current: &ArcGraph,
    log_sum: &[f64],
    slack: f64,
) -> Option<ArcGraph> {
    let allowed = full.map_lengths(|i, j, l| l * (1.0 - slack) - (log_sum[i] - log_sum[j]).abs());
    let mut broken = false;
    let shortened = current.zip_lengths(&allowed, |now, allowed| {
        if now <= allowed {
            return now;
        }
        broken = true;
        // Shorter arcs raise the sums whose difference shortened them: with more than is needed the rounds end.
        (allowed - TUNING.overshoot * (now - allowed)).max(0.0)
    });
    broken.then_some(shortened)
}

/// `E x >= 1, x >= 0`, with equality where `x > 0`, by an active set from a warm start.
///
/// E is symmetric (distances are), so its transposed product serves as its product.
fn complementarity(
    view: &View<'_>,
    columns: &Columns,
    mut x: Vec<f64>,
) -> Result<Vec<f64>, Stopped> {
    let n = x.len();
    let mut active: Vec<bool> = x.iter().map(|&x| x > 0.0).collect();
    for _ in 0..TUNING.active_set_rounds {
        let mask = |v: &mut [f64]| {
            for (v, &on) in v.iter_mut().zip(&active) {
                if !on {
                    *v = 0.0;
                }
            }
        };
        let mut ones = vec![1.0; n];
        mask(&mut ones);
        mask(&mut x);
        let apply = |v: &[f64]| {
            view.proceed()?;
            let mut y = columns.transposed_product(v);
            mask(&mut y);
            Ok(y)
        };
        bicgstab(apply, &ones, &mut x, TUNING.closed_form_residual, TUNING.closed_form_iterations)?;
        let sums = columns.transposed_product(&x);
        let mut changed = false;
        for i in 0..n {
            if active[i] && x[i] < 0.0 {
                (active[i], x[i], changed) = (false, 0.0, true);
            } else if !active[i] && sums[i] < 1.0 - 1e-7 {
                (active[i], changed) = (true, true);
            }
        }
        if !changed {
            break;
        }
    }
    for x in &mut x {
        *x = x.max(0.0);
    }
    Ok(x)
}
