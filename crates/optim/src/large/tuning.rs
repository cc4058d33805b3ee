//! The numbers that the engine for large maps is tuned by, each with its measurement or its reason.
//!
//! None decides what is true: with other numbers a solve takes longer, or leaves a wider gap. When the loop makes matrices and when it
//! ends is its pace (`generate.rs`); how maps are cut is `Tiling`; numbers that rounding asks for stand beside the code that rounds.

/// See the top of this file; [`TUNING`] has the values.
pub(super) struct Tuning {
    // Windows (`window.rs`, `drawn.rs`, `columns.rs`).
    /// Log-radius of windows: what a ray loses beyond is below `T^2 exp(-T) / 2`, 1e-4 of its cost.
    pub(super) window_radius: f64,
    /// Windows reach this many times as far as the nearest row, at least.
    pub(super) hops: f64,
    /// Log-radius around rows that are drawn, but not strongly.
    pub(super) weak_radius: f64,
    /// Windows grown one after the other, so that memory comes and goes in large pieces.
    pub(super) batch: usize,
    /// Log-distance to which rays enter preconditioners, which need not be exact.
    pub(super) preconditioner_radius: f32,
    /// Duals may grow by this factor before rows are drawn that were not.
    pub(super) drawn_margin: f64,
    /// Log-radius of the neighbourhood that says whether a row is drawn strongly.
    pub(super) neighbourhood: f64,
    /// Columns that may draw to one row. Where more would, its dual is kept below the cost of the others:
    /// that costs bound, but windows would grow to the whole map for a row that is indifferent.
    pub(super) most_drawn: usize,
    /// Pivots allowed per row of a window before a stalled column is left as it is.
    pub(super) pivots_per_row: usize,
    /// Columns priced one after the other; families are priced in parallel.
    pub(super) family: usize,

    // The closed form (`closed_form.rs`).
    /// Rounds of shortening arcs before the closed form is given up.
    pub(super) shortening_rounds: usize,
    /// Relative residual of the linear solves.
    pub(super) closed_form_residual: f64,
    /// Iterations allowed for it.
    pub(super) closed_form_iterations: usize,
    /// How many times as large, or as small, as its smooth value a dual may be.
    pub(super) swing: f64,
    /// Share of all subtrees that may rather move at the duals of a closed form that is near the optimum.
    pub(super) near_closed_form: f64,
    /// How much more than needed an arc is shortened, as a part of what is needed: rounds of a tenth were seen to creep.
    pub(super) overshoot: f64,
    /// Rounds of expectation maximisation; row sums are then off by a tenth at worst.
    pub(super) expectation_rounds: usize,
    /// Changes of the active set before the rest is left to shortening.
    pub(super) active_set_rounds: usize,

    // Repair of the duals, and bounds (`dual.rs`, `mod.rs`).
    /// Sweeps of the multiplicative repair; what they leave is paid in full.
    pub(super) cover_sweeps: usize,
    /// Rounds of pricing and repair; what is missing then is taken off the bound.
    pub(super) repair_rounds: usize,
    /// Columns are lifted this much of their cost above zero: what pricing leaves undone would otherwise be
    /// charged at their own rows, where it may count many times as much as at the peak of the ray.
    pub(super) repair_margin: f64,
    /// Part of a bound that may be left to repair where no gap says how much matters.
    pub(super) repaired: f64,
    /// Iterations of column generation for a bound without a matrix.
    pub(super) bound_iterations: usize,
    /// The gap that they may leave.
    pub(super) bound_gap: f64,
    /// Log-radius to which entries of a solution are explicit, about.
    pub(super) explicit_radius: f64,
    /// Most explicit entries that a solution may have: a few gigabytes.
    pub(super) largest_entries: usize,

    // A fresh start (`start.rs`).
    /// Interior steps before the first pricing.
    pub(super) start_steps: usize,
    /// The complementarity that each aims at, relative to the one before.
    pub(super) start_centring: f64,
    /// Least complementarity of a first ray, relative to the mean.
    pub(super) start_complementarity: f64,
    /// Log-radius of the windows on which the first duals are found.
    pub(super) first_radius: f64,
    /// Rows looked at for a host.
    pub(super) hosts: usize,
    /// The log-radius to which their costs are compared.
    pub(super) host_radius: f64,
    /// Log-radius to which a guest's ray is followed.
    pub(super) guest_radius: f64,

    // Column generation (`colgen.rs`).
    /// Complementarity aimed at by each step, relative to the present one.
    pub(super) centring: f64,
    /// The first barrier, as a part of the gap per column.
    pub(super) first_barrier: f64,
    /// A centre may be this much worse than the one before.
    pub(super) astray: f64,
    /// However far from the end of the central path, no centre may be worse than this.
    pub(super) far_astray: f64,
    /// A fresh start that leaves this gap is none.
    pub(super) hopeless_start: f64,
    /// How well columns are priced on the way, as a part of the gap that is wanted.
    pub(super) pricing_precision: f64,
    /// But no worse than this.
    pub(super) least_precision: f64,
    /// How far the row sums of a tile may be from one; what is glued together is projected once more.
    pub(super) tile_row_sums: f64,
    /// Below this reach any centre is taken.
    pub(super) least_reach: f64,

    // The master (`master.rs`, `normal.rs`).
    /// Rows owned by one part of the preconditioner.
    pub(super) part_rows: usize,
    /// The log-distance of its margin.
    pub(super) part_margin: f64,
    /// Relative residual of the normal equations in a step.
    pub(super) step_residual: f64,
    /// Iterations allowed for it.
    pub(super) step_iterations: usize,
    /// Rounds of projection to exact row sums.
    pub(super) projections: usize,
    /// Relative residual of the normal equations in a projection.
    pub(super) projection_residual: f64,
    /// Iterations allowed for it.
    pub(super) projection_iterations: usize,
    /// Part of a weight or reduced cost that a step leaves at least.
    pub(super) least_left: f64,
    /// Part of a column's mass that a new ray takes over from the others.
    pub(super) newcomer_share: f64,
    /// Least complementarity of a ray after the duals were moved, relative to the mean.
    pub(super) least_complementarity: f64,
    /// Relative addition to the diagonal of each part's matrix.
    pub(super) regularisation: f64,

    // Tiles (`tile.rs`, `glue.rs`, `run.rs`).
    /// Iterations before a tile is taken as it is.
    pub(super) tile_iterations: usize,
    /// The gap for which the usual halo is deep enough.
    pub(super) gap_of_halo: f64,
    /// How much deeper it becomes at most for a smaller one.
    pub(super) deeper_halo: f64,
    /// Rays with less than this part of their column's weight are left behind.
    pub(super) glued_weight: f64,
    /// Part of the gap asked for that a tile must promise: gluing takes some, besides repair and strictness.
    pub(super) tile_promise: f64,
    /// How often all tiles are solved.
    pub(super) tile_rounds: usize,
    /// How much farther halos reach each time.
    pub(super) more_halo: f64,

    // Matrices (`run.rs`, `strict.rs`).
    /// A closed form with so many times the gap that is wanted is made without the last of its small entries.
    pub(super) far_from_enough: f64,
    /// Columns looked at for the one that everyone can report until there is something better.
    pub(super) sampled_columns: usize,
    /// Rounds of closing and shortening.
    pub(super) strict_rounds: usize,
    /// Columns whose row sums are added up together, whatever the number of threads.
    pub(super) summed: usize,
    /// Columns that are closed before they are written to their rows: all at once would take as much memory as the matrix.
    pub(super) written: usize,
}

pub(super) const TUNING: Tuning = Tuning {
    window_radius: 14.0,
    hops: 2.0,
    weak_radius: 3.0,
    batch: 256,
    preconditioner_radius: 6.0,
    drawn_margin: 1.1,
    neighbourhood: 2.5,
    most_drawn: 500,
    pivots_per_row: 40,
    family: 250,
    shortening_rounds: 6,
    closed_form_residual: 1e-9,
    closed_form_iterations: 200,
    swing: 2.0,
    near_closed_form: 0.01,
    overshoot: 1.0,
    expectation_rounds: 40,
    active_set_rounds: 12,
    cover_sweeps: 10,
    repair_rounds: 16,
    repair_margin: 1e-8,
    repaired: 1e-6,
    bound_iterations: 4,
    bound_gap: 1e-3,
    explicit_radius: 24.0,
    largest_entries: 200_000_000,
    start_steps: 3,
    start_centring: 0.3,
    start_complementarity: 1e-2,
    first_radius: 8.0,
    hosts: 24,
    host_radius: 6.0,
    guest_radius: 16.0,
    centring: 0.2,
    first_barrier: 0.3,
    astray: 0.02,
    far_astray: 0.1,
    hopeless_start: 0.5,
    pricing_precision: 5e-3,
    least_precision: 1e-4,
    tile_row_sums: 1e-3,
    least_reach: 1e-4,
    part_rows: 400,
    part_margin: 3.0,
    step_residual: 1e-2,
    step_iterations: 60,
    projections: 12,
    projection_residual: 3e-3,
    projection_iterations: 200,
    least_left: 0.1,
    newcomer_share: 0.1,
    least_complementarity: 0.1,
    regularisation: 1e-10,
    tile_iterations: 40,
    gap_of_halo: 1e-3,
    deeper_halo: 8.0,
    glued_weight: 1e-2,
    tile_promise: 0.5,
    tile_rounds: 4,
    more_halo: 2.0,
    far_from_enough: 2.0,
    sampled_columns: 32,
    strict_rounds: 20,
    summed: 1024,
    written: 4096,
};
