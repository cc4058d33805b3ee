//! The numbers that pricing is tuned by, each with its reason. With others it takes longer, and finds the same.

/// See the top of this file; [`TUNING`] has the values.
#[cfg_attr(not(feature = "parallel"), allow(dead_code))]
pub(super) struct Tuning {
    // Which column starts from which (`family.rs`, `transplant.rs`).
    /// Columns priced one after the other; families are priced in parallel.
    pub(super) family: usize,
    /// Rows by which the costs of columns are compared.
    pub(super) sampled_rows: usize,
    /// How often rows that do not fit are taken out of a tree before it is given up.
    pub(super) transplant_attempts: usize,

    // The network simplex (`window.rs`, `tree/long_step.rs`).
    /// Sweeps to the end from fresh sums are repeated so often at most.
    pub(super) last_sweeps: usize,
    /// Steps up to this, in logarithms, may be long ones. On a fine map arcs are shorter and are passed by the hundred; where they are longer hardly any
    /// is, and sums over rows that differ by e^100 would be added up in another order.
    pub(super) long_step: f64,
}

pub(super) const TUNING: Tuning = Tuning {
    family: 128,
    sampled_rows: 48,
    transplant_attempts: 4,
    last_sweeps: 4,
    long_step: 1.0,
};
