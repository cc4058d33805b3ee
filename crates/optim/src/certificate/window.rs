//! What a tree over a part of the rows proves, column by column.
//!
//! For feasible z, `sum c z = sum mu + sum_k sum_i (c_ik - mu_i) z_ik`. On large maps a column is looked at on a window of rows
//! only: there it gives at least what [`window_bound`] proves, and the entries of row i outside of all windows give at least
//! `min_k min(0, c_ik - mu_i)` together, because they sum to 1 at most.

use super::flows::SMALLEST;
use super::rounding::{exp_above, exp_below, sum_below};

/// A lower bound of `sum w z` over a window where `z <= 1`: `links` has every row but the first with its parent and the `eps d`
/// between them (rounded to nearest), children before parents. `reached` is working memory.
///
/// Any spanning tree proves one: with `s_i` the weight that reaches row i from below,
/// `s_i z_i >= s_i z_parent / a` if `s_i >= 0` and `s_i z_i >= s_i a z_parent` otherwise, so all weight can be moved to the
/// first row, whose entry lies in [0, 1]. At the optimal tree the bound is the optimum.
pub(crate) fn window_bound(
    weights: &[f64],
    links: impl Iterator<Item = (usize, usize, f64)>,
    reached: &mut [f64],
) -> f64 {
    reached.copy_from_slice(weights);
    for (row, parent, length) in links {
        let (s, length) = (reached[row], length.next_up());
        let factor = if s >= 0.0 { exp_below(-length) } else { exp_above(length) };
        reached[parent] = (reached[parent] + (s * factor).next_down()).next_down();
    }
    // No entry exceeds 1: where the tree proves less than that alone, that is taken.
    let crude = sum_below(weights.iter().copied().filter(|w| *w < 0.0));
    reached[0].min(0.0).max(crude)
}

/// The bound of the whole from what is proven within the windows, and outside of them row by row.
pub(crate) fn bound_of_windows(mu: &[f64], inside: &[f64], outside: &[f64]) -> f64 {
    let [mu, inside, outside] =
        [mu, inside, outside].map(|values| sum_below(values.iter().copied()));
    // Once more than the sums need: an arc longer than the engines' longest adds up to e^-700 of the costs.
    let bound = ((mu + inside).next_down() + outside).next_down().next_down();
    if bound < SMALLEST { bound.min(0.0) } else { bound }
}
