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
    /// The operating system gave no randomness; nothing may be reported.
    #[error("no randomness from the operating system: {0}")]
    Randomness(#[from] getrandom::Error),
}
