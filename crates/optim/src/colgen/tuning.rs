//! The numbers that the dense master is tuned by, each with its measurement or its reason.
//!
//! None decides what is true: with other numbers a solve takes longer, or ends at another matrix that is as good. When the loop makes
//! matrices and when it ends is its pace (`generate.rs`); numbers that rounding asks for stand beside the code that rounds.

/// See the top of this file; [`TUNING`] has the values.
pub(super) struct Tuning {
    // Where a solve begins (`start.rs`, `closed_form.rs`, `warm.rs`).
    /// The closed form is a good place to begin from where no more than this share of all subtrees of all
    /// shortest-path trees would rather move at its duals. Beyond, pricing there takes longer than
    /// what it gives.
    pub(super) near_closed_form: f64,
    /// Trees looked at for that: so many tell what most of them do.
    pub(super) sampled_trees: usize,
    /// Rows from which on there is a matrix before the first iteration is over: below, iterations take no second.
    pub(super) early_incumbent: usize,
    /// A row's unit is no smaller than this share of the mean cost of a row: a place that nobody visits has none of its own. With a tenth of this, San Francisco
    /// (500 m, taxi prior) promised 0.1 % while sums of such rows were off by half, and putting them right cost 0.6 %; with three times as much every pricing takes twice as long.
    pub(super) least_unit: f64,
    /// Weight of what the closed form leaves out or makes negative: an interior point starts inside.
    pub(super) least_weight: f64,
    /// Columns of costs multiplied out in one go: enough for a matrix product, without an array of rows x columns.
    pub(super) columns_at_once: usize,
    /// A warm start is entered no closer to the optimum than this: a vertex of the old problem is a bad
    /// place to start an interior point from.
    pub(super) warm_gap: f64,

    // Where that is a coarser level (`coarse_start.rs`).
    /// How well a coarser level is solved: its duals are off by more than that in any case.
    pub(super) level_gap: f64,
    /// What is open, as a share of the bound, after a start from it.
    pub(super) level_open: f64,

    // One iteration (`round.rs`).
    /// The master is priced once its own gap is down to this share of the whole gap.
    pub(super) master_share: f64,
    /// Where pricing found points for less than this share of the blocks, what is open is the master's own: it
    /// is solved further before it is priced again, in proportion.
    pub(super) few_found: f64,
    /// But no further than to this part of its usual share.
    pub(super) least_found: f64,
    /// Interior steps aim at no less than this share of the complementarity wanted: central duals price
    /// better than extreme ones.
    pub(super) centrality: f64,
    /// Radius of the box around the duals, in units of each row, at a gap of 1.
    pub(super) box_radius: f64,
    /// Duals whose repair cost more than this many times the mean cost are no place to go on from: with
    /// ties at large eps, reduced costs are differences of numbers like e^(eps D), and their noise is paid for.
    pub(super) hopeless_repair: f64,
    /// Nor are those whose bound is below the best by more than this share of what is open: a *null step* in the words of bundle methods.
    /// The next iteration begins at the best duals again, with the new rays and in a box half as wide. With a taxi prior (San Francisco, 497
    /// places) every iteration would lead further away for a dozen of them.
    pub(super) null_step: f64,
    /// How much narrower the box gets with each step back.
    pub(super) narrower: f64,
    /// How much narrower it becomes at most.
    pub(super) narrowest: f64,
    /// What is left of that after a step forward.
    pub(super) wider_again: f64,
    /// Columns kept in the master, per row: twice what a vertex needs.
    pub(super) columns_per_row: usize,
    /// A round that raises no bound after another one adds this part of a row's worth of columns to those kept: columns that are
    /// dropped and found again bring none forward.
    pub(super) idle_columns: usize,

    // Repair of the duals (`dual.rs`).
    /// Rounds of paying and pricing again for one tied column; Newton's method ends after a few.
    pub(super) repair_rounds: usize,
    /// Rounds in which the row with the largest entry pays alone. A tied column that spans many rows would
    /// pass the burden from row to row; after these, all of its rows pay alike.
    pub(super) single_payers: usize,
    /// What a tied column may still take off the bound, in tolerances.
    pub(super) tied_tolerances: f64,
    /// Cones priced at once: only such as hardly touch where the others pay.
    pub(super) cones_at_once: usize,
    /// Cones looked at to find those.
    pub(super) cones_looked_at: usize,
    /// A ray that is larger than this where another column pays has more than a little of its own burden taken off by that.
    pub(super) touching: f64,
    /// Rows from which on pricing takes long enough to be worth other threads.
    pub(super) rows_worth_threads: usize,

    // The interior point (`interior.rs`, `master.rs`).
    /// Corrections tried after a predictor-corrector direction: each costs two passes over the columns, a tenth
    /// of a new factor.
    pub(super) correctors: usize,
    /// How much longer a step each correction aims at.
    pub(super) longer_step: f64,
    /// Products up to this factor off are left as they are.
    pub(super) off_centre: f64,
    /// A point that carries less than this share of its link may be dropped.
    pub(super) link_share: f64,

    // When matrices are made (`mod.rs`).
    /// Above this promised gap the iterate is too far from a vertex to be polished.
    pub(super) polished_gap: f64,
    /// A gap from which on a solve ends while the iterate is still far from every vertex.
    pub(super) loose_gap: f64,
    /// The share of the time of such a solve that goes into incumbents on the way.
    pub(super) loose_share: f64,
    /// The share of others: less, since polishing will end them.
    pub(super) tight_share: f64,
    /// Solves that have not taken so many seconds yet will end soon: their incumbents are not improved on the way.
    pub(super) first_seconds: f64,
    /// Mixing the rays anew takes about as long as so many steps of the master.
    pub(super) attempt_steps: f64,
    /// A further iteration, and the matrix and proof after it, take about so many times as long as the iteration before.
    pub(super) round_and_end: f64,

    // How rays are mixed into a matrix (`incumbent.rs`, `normalise.rs`).
    /// Radius of the box around the duals while rays are mixed, in units of each row or of the mean one: a row that nobody visits may cost nothing
    /// itself, but left short it costs its neighbours. At 30 one row in a hundred is left short by more than
    /// 1e-3 on a fine map, at 100 by 4e-4.
    pub(super) wide_box: f64,
    /// Interior steps of one attempt at most: San Francisco (500 m, taxi prior) takes 16.
    pub(super) mixing_steps: usize,
    /// The same from so many rows on, where a step takes a second and half of them leave a fraction of a per cent.
    pub(super) many_rows: usize,
    pub(super) mixing_steps_of_many: usize,
    /// Share of the incumbent in what the mixing begins with.
    pub(super) kept_share: f64,
    /// The artificials' weights then: an interior point starts inside.
    pub(super) left_short: f64,
    /// Part of what is open between incumbent and bound that the mixing may leave.
    pub(super) left_open: f64,
    /// Row sums are off by no more than this before they are normalised, but for the artificials.
    pub(super) nearly_one: f64,
    /// Rounds of expectation maximisation: after 10 sums are off by a quarter at worst, after 40 by a tenth, and costs fall by 1 to 6 %;
    /// 160 would halve that once more, for a twentieth of the time of a solve to 1e-6.
    pub(super) expectation_rounds: usize,
    /// Rounds before the attempt is given up. Sums that are off by a hundredth take eight.
    pub(super) normalise_rounds: usize,
    /// How much more than needed an arc is shortened, as a part of what is needed: with a third of that, rounds were seen to creep.
    pub(super) overshoot: f64,
    /// Columns closed together: with a few thousand rows they fit into a core's cache.
    pub(super) panel: usize,
    /// Sweeps over all arcs in one closure; what is left then is left to the next round.
    pub(super) sweeps: usize,

    // How an iterate near a vertex is made exact (`polish.rs`, `settle.rs`, `output.rs`).
    /// Rounds of projection: each begins with weights that the one before has moved.
    pub(super) polish_rounds: usize,
    /// A round that cuts weights off at zero may leave more than it found, which the next ones make up for. So many in a row
    /// that do not halve the residual are the last.
    pub(super) idle_polish_rounds: usize,
    /// Steps of conjugate gradients in one projection.
    pub(super) polish_steps: usize,
    /// Beyond this many numbers elimination takes too long for what it gives.
    pub(super) most_elimination: usize,
    /// Rounds of elimination. A weight that would fall below zero is cut there, and what that breaks is
    /// left to the next round, in which the weight is the last to be chosen.
    pub(super) elimination_rounds: usize,
    /// Row sums that are off by more than this are not polished.
    pub(super) polished_sums: f64,
    /// A proof may lose this share of the gap wanted.
    pub(super) proof_loss: f64,
}

pub(super) const TUNING: Tuning = Tuning {
    near_closed_form: 0.006,
    sampled_trees: 200,
    early_incumbent: 300,
    least_unit: 1e-2,
    least_weight: 1e-3,
    columns_at_once: 64,
    warm_gap: 1e-3,
    level_gap: 0.01,
    level_open: 0.1,
    master_share: 0.2,
    few_found: 0.1,
    least_found: 0.1,
    centrality: 0.8,
    box_radius: 0.5,
    hopeless_repair: 10.0,
    null_step: 0.3,
    narrower: 2.0,
    narrowest: 20.0,
    wider_again: 0.67,
    columns_per_row: 2,
    idle_columns: 4,
    repair_rounds: 25,
    single_payers: 4,
    tied_tolerances: 1e3,
    cones_at_once: 8,
    cones_looked_at: 32,
    touching: 0.05,
    rows_worth_threads: 300,
    correctors: 3,
    longer_step: 0.3,
    off_centre: 10.0,
    link_share: 1e-3,
    polished_gap: 1e-3,
    loose_gap: 1e-3,
    loose_share: 0.2,
    tight_share: 0.03,
    first_seconds: 1.0,
    attempt_steps: 15.0,
    round_and_end: 2.5,
    wide_box: 100.0,
    mixing_steps: 24,
    many_rows: 1_500,
    mixing_steps_of_many: 12,
    kept_share: 0.9,
    left_short: 1e-3,
    left_open: 0.15,
    nearly_one: 1e-5,
    expectation_rounds: 40,
    normalise_rounds: 24,
    overshoot: 1.0,
    panel: 32,
    sweeps: 400,
    polish_rounds: 16,
    idle_polish_rounds: 3,
    polish_steps: 20,
    most_elimination: 100_000_000,
    elimination_rounds: 12,
    polished_sums: 1e-9,
    proof_loss: 0.1,
};
