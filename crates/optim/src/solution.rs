//! What every solver returns: a strictly feasible matrix, a proven bound, and the evidence.

use crate::matrix::Matrix;

/// A relative gap at or below this is called optimal.
pub const OPTIMAL_GAP: f64 = 1e-6;

/// How a solve ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// The gap is at most [`OPTIMAL_GAP`].
    Optimal,
    /// The gap asked for was reached, wider than [`OPTIMAL_GAP`].
    Gap,
    /// Time limit, cancellation, or no further progress; matrix and bound are valid.
    Limit,
    /// No matrix exists. Only in files: in code this is [`crate::Error::Infeasible`].
    Infeasible,
}

impl Status {
    /// The word used in solution files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Optimal => "optimal",
            Self::Gap => "gap",
            Self::Limit => "limit",
            Self::Infeasible => "infeasible",
        }
    }

    /// The status of a word in a solution file.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Optimal, Self::Gap, Self::Limit, Self::Infeasible]
            .into_iter()
            .find(|status| status.as_str() == word)
    }

    /// The status of a solve that ended with `gap` when `asked` was wanted.
    pub fn of_gap(gap: f64, asked: f64) -> Self {
        if gap <= OPTIMAL_GAP {
            Self::Optimal
        } else if gap <= asked {
            Self::Gap
        } else {
            Self::Limit
        }
    }
}

/// The bounds after one iteration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TracePoint {
    /// Iteration, from 1.
    pub iteration: usize,
    /// Cost of the best matrix so far.
    pub upper_bound: f64,
    /// Best proven lower bound so far.
    pub lower_bound: f64,
    /// Seconds since the start.
    pub seconds: f64,
}

/// What the independent checkers found, and the dual vector that proves the bound.
#[derive(Debug, Clone, PartialEq)]
pub struct Certificate {
    /// Worst `ln(z_ik / z_jk) - eps d_ij` over all arcs and columns, rounded up; at most zero.
    pub worst_log_excess: f64,
    /// Worst `|sum_k z_ik - 1|`, rounded up.
    pub worst_row_sum_error: f64,
    /// The dual vector mu, one entry per row: re-pricing every column with it gives the lower bound
    /// again. Empty when the solver has none (the bound is then not claimed beyond zero).
    pub mu: Vec<f64>,
}

/// A solved problem.
#[derive(Debug, Clone)]
pub struct Solution {
    /// How the solve ended.
    pub status: Status,
    /// The cost of the matrix as returned.
    pub objective: f64,
    /// Proven lower bound of the optimum.
    pub lower_bound: f64,
    /// Relative gap between the two, see [`relative_gap`].
    pub gap: f64,
    /// Iterations of the outer loop.
    pub iterations: usize,
    /// Columns (rays) generated.
    pub columns: usize,
    /// Seconds of solving.
    pub seconds: f64,
    /// The matrix.
    pub z: Matrix,
    /// The shared factors; zero in columns without tied entries.
    pub y: Vec<f64>,
    /// What was checked.
    pub certificate: Certificate,
    /// The bounds, iteration by iteration.
    pub trace: Vec<TracePoint>,
}

/// `(objective - lower_bound)` relative to the objective, or to a hundredth of the mean cost where
/// the objective is smaller still: probabilities in `f64` cannot resolve an optimum below that.
pub fn relative_gap(problem_mean_cost: f64, objective: f64, lower_bound: f64) -> f64 {
    if objective == f64::INFINITY {
        return f64::INFINITY;
    }
    let difference = (objective - lower_bound).max(0.0);
    if difference == 0.0 {
        return 0.0;
    }
    difference / objective.abs().max(0.01 * problem_mean_cost)
}
