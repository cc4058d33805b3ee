//! The figures that the paper prints, to stand beside ours; at K = 100, 200, 300 and 400.

/// A method with the paper's figures: seconds (Table 1), km (Table 2), at each K.
pub type Method = (&'static str, [&'static str; 4], [&'static str; 4]);

/// Its Tables 1 and 2.
pub const METHODS: [Method; 8] = [
    (
        "lr-geo",
        ["1.28±1.35", "1.42±0.63", "1.34±0.64", "1.20±0.85"],
        ["0.36±0.04", "0.36±0.07", "0.35±0.03", "0.37±0.05"],
    ),
    (
        "lr-geo-f",
        ["1.63±1.00", "2.14±0.71", "2.42±0.85", "3.56±1.07"],
        ["0.38±0.03", "0.36±0.05", "0.38±0.06", "0.40±0.05"],
    ),
    ("lp", ["27.31±10.31", "287.50±48.28", "≥1800", "≥1800"], ["0.33±0.02", "0.33±0.03", "-", "-"]),
    (
        "const-opt",
        ["3.69±1.92", "75.88±10.81", "≥1800", "≥1800"],
        ["0.35±0.03", "0.34±0.04", "-", "-"],
    ),
    ("laplace-places", ["≤0.005"; 4], ["0.81±0.02", "0.78±0.02", "0.80±0.06", "0.79±0.01"]),
    ("exp", ["≤0.005"; 4], ["0.67±0.04", "0.64±0.07", "0.68±0.12", "0.70±0.05"]),
    // Ours: the paper remaps nothing.
    ("laplace-places remapped", ["-"; 4], ["-"; 4]),
    ("exp remapped", ["-"; 4], ["-"; 4]),
];
/// Its lower bounds of LR-Geo's cost.
pub const LOWER: [&str; 4] = ["0.29±0.08", "0.30±0.06", "0.31±0.08", "0.30±0.05"];
/// Its approximation ratios.
pub const RATIOS: [&str; 4] = ["1.24", "1.20", "1.13", "1.23"];
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
