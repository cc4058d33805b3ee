use crate::error::Error;
use thiserror::Error as ThisError;

/// Why a file is not a problem or a solution.
#[derive(Debug, Clone, PartialEq, ThisError)]
#[non_exhaustive]
pub enum FormatError {
    /// The file ends before its content does.
    #[error("the file is truncated (at {path})")]
    Truncated {
        /// The field being read when it ended.
        path: String,
    },
    /// Not the syntax, or not the type, expected at this place.
    #[error("{path}: {message}")]
    Syntax {
        /// The field and index, such as `cost[1][3]`.
        path: String,
        /// What was found and what was expected.
        message: String,
    },
    /// A file of another version.
    #[error("version is {found}, this program reads version {supported}")]
    Version {
        /// The version of the file.
        found: u64,
        /// The one understood.
        supported: u64,
    },
    /// A field that must be there is not.
    #[error("{field} is missing")]
    Missing {
        /// The field.
        field: &'static str,
    },
    /// An array of an `.npz` file has the wrong type or number of dimensions.
    #[error("{field} is {found}, expected {expected}")]
    Array {
        /// The array.
        field: &'static str,
        /// Its type or shape.
        found: String,
        /// What it should be.
        expected: &'static str,
    },
    /// The status of a solution is no known word.
    #[error("status is {found:?}, expected optimal, gap, limit or infeasible")]
    Status {
        /// The word found.
        found: String,
    },
    /// The file reads well, but what it says is not valid.
    #[error(transparent)]
    Invalid(#[from] Error),
}
