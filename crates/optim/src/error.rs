//! Everything that can be wrong with a problem, a setting or a solution, by field and index.

use thiserror::Error as ThisError;

/// Why no matrix satisfies a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Infeasibility {
    /// The row sum cannot reach 1: its free and tied entries are capped below it.
    RowTooSmall,
    /// The row sum cannot come down to 1: fixed entries and lower bounds exceed it.
    RowTooLarge,
    /// A lower bound or fixed entry contradicts an upper bound across the arcs.
    BoundsContradict,
    /// The row sums cannot all be 1 at once; the row named carries the largest share of the proof.
    RowsContradict,
}

impl std::fmt::Display for Infeasibility {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::RowTooSmall => "its entries cannot sum up to 1",
            Self::RowTooLarge => "its entries must exceed a sum of 1",
            Self::BoundsContradict => "its bounds contradict each other across the arcs",
            Self::RowsContradict => "the row sums cannot all be 1 at once",
        })
    }
}

/// What the independent checker found wrong with a matrix.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Fault {
    /// Two entries differ by more than their arc allows.
    Privacy {
        /// Row of the larger entry.
        row: usize,
        /// Column of both.
        column: usize,
        /// By how much, in logarithms.
        log_excess: f64,
    },
    /// A row does not sum up to 1.
    RowSum {
        /// The row.
        row: usize,
        /// By how much.
        error: f64,
    },
    /// An entry is not a number from 0 to 1.
    Probability {
        /// Row of the entry.
        row: usize,
        /// Column of the entry.
        column: usize,
    },
    /// A tied entry is not its factor times y.
    Tie {
        /// Row of the entry.
        row: usize,
        /// Column of the entry.
        column: usize,
    },
    /// A bound does not hold.
    Bound {
        /// Position of the bound.
        index: usize,
    },
    /// A y is not the fixed one, or not a finite number from zero up.
    Y {
        /// Its column.
        column: usize,
    },
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Privacy { row, column, log_excess } => {
                write!(f, "log excess {log_excess:e} at row {row}, column {column}")
            }
            Self::RowSum { row, error } => write!(f, "row {row} is {error:e} off a sum of 1"),
            Self::Probability { row, column } => {
                write!(f, "the entry at row {row}, column {column} is no probability")
            }
            Self::Tie { row, column } => {
                write!(f, "the tie at row {row}, column {column} does not hold")
            }
            Self::Bound { index } => write!(f, "bounds[{index}] does not hold"),
            Self::Y { column } => write!(f, "y[{column}] is no factor"),
        }
    }
}

/// The crate's error: bad input names the field and the index, an infeasible problem names a row.
#[derive(Debug, Clone, PartialEq, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// A number is NaN or infinite.
    #[error("{field}{} is {value}, not a finite number", At(index))]
    NotFinite {
        /// The field of the problem.
        field: &'static str,
        /// Where in the field (row, column; or position).
        index: Vec<usize>,
        /// The offending value.
        value: f64,
    },
    /// A number that must not be negative is.
    #[error("{field}{} is {value}, below zero", At(index))]
    Negative {
        /// The field of the problem.
        field: &'static str,
        /// Where in the field.
        index: Vec<usize>,
        /// The offending value.
        value: f64,
    },
    /// A number lies outside its range.
    #[error("{field}{} is {value}, outside {range}", At(index))]
    OutOfRange {
        /// The field of the problem or setting.
        field: &'static str,
        /// Where in the field.
        index: Vec<usize>,
        /// The offending value.
        value: f64,
        /// The range, as text.
        range: &'static str,
    },
    /// An index points past the end.
    #[error("{field}{} refers to {value}, but there are only {limit}", At(index))]
    IndexOutOfRange {
        /// The field of the problem.
        field: &'static str,
        /// Where in the field.
        index: Vec<usize>,
        /// The index found there.
        value: usize,
        /// How many there are.
        limit: usize,
    },
    /// An array has the wrong length (ragged or mismatched).
    #[error("{field}{} has {found} entries, expected {expected}", At(index))]
    Length {
        /// The field of the problem.
        field: &'static str,
        /// Where in the field.
        index: Vec<usize>,
        /// The length required.
        expected: usize,
        /// The length found.
        found: usize,
    },
    /// There is nothing to optimise: no rows or no columns.
    #[error("{field} is empty")]
    Empty {
        /// The field of the problem.
        field: &'static str,
    },
    /// The same pair (an arc, in either direction, or a bound) is given twice.
    #[error("{field}[{second}] repeats {field}[{first}]")]
    Duplicate {
        /// The field of the problem.
        field: &'static str,
        /// The first occurrence.
        first: usize,
        /// The repetition.
        second: usize,
    },
    /// An arc joins rows of two groups.
    #[error("arcs[{arc}] joins rows {i} and {j} of different groups")]
    ArcBetweenGroups {
        /// Position of the arc.
        arc: usize,
        /// Its first row.
        i: usize,
        /// Its second row.
        j: usize,
    },
    /// An arc joins a row to itself.
    #[error("arcs[{arc}] joins row {row} to itself")]
    ArcLoop {
        /// Position of the arc.
        arc: usize,
        /// The row.
        row: usize,
    },
    /// A bound has low > high.
    #[error("bounds[{index}] has low {low} above high {high}")]
    EmptyBound {
        /// Position of the bound.
        index: usize,
        /// Lower bound.
        low: f64,
        /// Upper bound.
        high: f64,
    },
    /// A bound is put on a tied entry.
    #[error("bounds[{index}] bounds entry ({row}, {column}), which is tied")]
    BoundOnTie {
        /// Position of the bound.
        index: usize,
        /// Row of the entry.
        row: usize,
        /// Column of the entry.
        column: usize,
    },
    /// No matrix satisfies the problem.
    #[error("infeasible at row {row}: {reason}")]
    Infeasible {
        /// The row that shows it.
        row: usize,
        /// How it shows.
        reason: Infeasibility,
    },
    /// A time limit was asked for without a clock to measure it.
    #[error("settings.time_limit needs settings.clock")]
    ClockMissing,
    /// The problem exceeds what this engine accepts.
    #[error("{field} is {found}, above the limit of {limit}")]
    TooLarge {
        /// What is too large.
        field: &'static str,
        /// Its size.
        found: usize,
        /// The limit.
        limit: usize,
    },
    /// The repaired matrix did not pass the independent checker, so it is not returned.
    #[error(
        "no strictly feasible matrix: worst log excess {worst_log_excess:e} at row {row}, column {column}"
    )]
    NotStrict {
        /// The excess found.
        worst_log_excess: f64,
        /// Row of the worst entry.
        row: usize,
        /// Column of the worst entry.
        column: usize,
    },
    /// An engine's answer did not pass the independent checker, so it is not returned.
    #[error(
        "the {engine} engine found no matrix that holds what it must: {fault}; try another engine, or numbers nearer to 1"
    )]
    Unverified {
        /// The engine.
        engine: &'static str,
        /// What the checker found.
        fault: Fault,
    },
    /// An engine found no matrix, and nothing proves that there is none.
    #[error(
        "the {engine} engine found no matrix (row {row}: {reason}), but that there is none is not proven; try another engine, or numbers nearer to 1"
    )]
    Undecided {
        /// The engine.
        engine: &'static str,
        /// The row that it says shows it.
        row: usize,
        /// How.
        reason: Infeasibility,
    },
    /// An engine gave up with neither a matrix nor a proof that there is none.
    #[error(
        "the {engine} engine found neither a matrix nor that there is none; try another engine, or numbers nearer to 1"
    )]
    NothingFound {
        /// The engine.
        engine: &'static str,
    },
    /// The engine does not solve problems of this kind.
    #[error("the {engine} engine does not support {feature}")]
    Unsupported {
        /// The engine.
        engine: &'static str,
        /// What the problem has that it cannot handle.
        feature: &'static str,
    },
    /// The time limit or a cancellation came before any feasible matrix was known.
    #[error("stopped before a feasible matrix was found")]
    StoppedEarly,
}

impl Error {
    /// Whether an engine failed, rather than the problem, so that another engine may find an answer.
    pub(crate) fn leaves_open(&self) -> bool {
        matches!(
            self,
            Self::NotStrict { .. }
                | Self::NothingFound { .. }
                | Self::StoppedEarly
                | Self::Undecided { .. }
                | Self::Unverified { .. }
        )
    }
}

/// An index in brackets; nothing where the field is a single number, or meant as a whole.
struct At<'a>(&'a [usize]);

impl std::fmt::Display for At<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, "{:?}", self.0) }
    }
}

/// The largest cost: sums over all entries, and squares of them, are finite.
const LARGEST_COST: f64 = 1e100;

/// `Ok` when `value` can be a cost, else the error naming field and index.
pub(crate) fn cost(field: &'static str, index: &[usize], value: f64) -> Result<(), Error> {
    non_negative(field, index, value)?;
    if value > LARGEST_COST {
        let (index, range) = (index.to_vec(), "[0, 1e100]");
        return Err(Error::OutOfRange { field, index, value, range });
    }
    Ok(())
}

/// `Ok` when `value` is finite and not negative, else the error naming field and index.
pub(crate) fn non_negative(field: &'static str, index: &[usize], value: f64) -> Result<(), Error> {
    if !value.is_finite() {
        return Err(Error::NotFinite { field, index: index.to_vec(), value });
    }
    if value < 0.0 {
        return Err(Error::Negative { field, index: index.to_vec(), value });
    }
    Ok(())
}

/// `Ok` when `found == expected`, else the error naming field and index.
pub(crate) fn length(
    field: &'static str,
    index: &[usize],
    expected: usize,
    found: usize,
) -> Result<(), Error> {
    if found != expected {
        return Err(Error::Length { field, index: index.to_vec(), expected, found });
    }
    Ok(())
}
