//! What can be wrong with a mechanism.

/// What went wrong, and where.
#[derive(Debug, thiserror::Error)]
pub enum MechanismError {
    /// A value given by the caller cannot be used.
    #[error("{field}: {reason}")]
    Invalid {
        /// The option or field at fault.
        field: &'static str,
        /// What it must be instead.
        reason: String,
    },
    /// A row of a matrix is not a probability distribution.
    #[error("row {row}: {reason}")]
    Row {
        /// Which row.
        row: usize,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A row holds a positive probability below 2^-107: as a whole number of units of 2^-127 it would
    /// be rounded too coarsely.
    #[error(
        "a row is too extreme to be drawn from exactly: one of its probabilities is below 2^-107"
    )]
    TooExtreme,
    /// The operating system gave no randomness; nothing may be reported.
    #[error("no randomness from the operating system: {0}")]
    Randomness(#[from] getrandom::Error),
}
