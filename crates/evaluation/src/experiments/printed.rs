//! The figures that the paper prints, to stand beside ours.

/// Sizes K of its Tables 1 and 2.
pub const SIZES: [usize; 4] = [100, 200, 300, 400];

/// What a table of the paper says of a method at each of [`SIZES`].
pub type Row = [&'static str; 4];

/// What it says of LR-Geo: seconds (Table 1), km (Table 2).
pub const LR_GEO: [Row; 2] = [
    ["1.28±1.35", "1.42±0.63", "1.34±0.64", "1.20±0.85"],
    ["0.36±0.04", "0.36±0.07", "0.35±0.03", "0.37±0.05"],
];
/// Of LR-Geo-F.
pub const LR_GEO_F: [Row; 2] = [
    ["1.63±1.00", "2.14±0.71", "2.42±0.85", "3.56±1.07"],
    ["0.38±0.03", "0.36±0.05", "0.38±0.06", "0.40±0.05"],
];
/// Of LP.
pub const LP: [Row; 2] =
    [["27.31±10.31", "287.50±48.28", "≥1800", "≥1800"], ["0.33±0.02", "0.33±0.03", "-", "-"]];
/// Of ConstOPT.
pub const CONST_OPT: [Row; 2] =
    [["3.69±1.92", "75.88±10.81", "≥1800", "≥1800"], ["0.35±0.03", "0.34±0.04", "-", "-"]];
/// Of Laplace.
pub const LAPLACE: [Row; 2] = [["≤0.005"; 4], ["0.81±0.02", "0.78±0.02", "0.80±0.06", "0.79±0.01"]];
/// Of ExpMech.
pub const EXP_MECH: [Row; 2] =
    [["≤0.005"; 4], ["0.67±0.04", "0.64±0.07", "0.68±0.12", "0.70±0.05"]];
/// Its lower bounds of LR-Geo's cost.
pub const LOWER: Row = ["0.29±0.08", "0.30±0.06", "0.31±0.08", "0.30±0.05"];
/// Its approximation ratios.
pub const RATIOS: Row = ["1.24", "1.20", "1.13", "1.23"];

/// What a row says at a size; the paper has no other sizes.
pub fn at(row: Row, size: usize) -> Option<&'static str> {
    SIZES.iter().position(|of| *of == size).map(|at| row[at])
}

/// How its ratio of bounds changes with Gamma in km; the figure itself prints no numbers.
pub const GAMMA_RATIOS: [(f64, &str); 2] =
    [(20.0, "34.72 % below 10 km"), (50.0, "0.79 % below 20 km")];
/// Its largest Geo-Ind violation ratio over all numbers of users.
pub const VIOLATION_RATIO: &str = "≤0.0013";
/// Its largest Geo-Ind violation error.
pub const VIOLATION_ERROR: &str = "≤0.021";
/// Its longest time at any K up to 1,600, in seconds.
pub const LONGEST_ROUND: &str = "≤1.8";
/// Rows of the cost table that match a coefficient, on average, at cells of 0.1 km.
pub const MATCHED_ROWS: &str = "102.98";
