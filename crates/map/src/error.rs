//! Everything that can be wrong with a map or the files it is made from.

use std::path::{Path, PathBuf};

/// What went wrong, where, and what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum MapError {
    /// A value given by the caller cannot be used.
    #[error("{field}: {reason}")]
    Invalid {
        /// The option, column or field at fault.
        field: &'static str,
        /// What it must be instead.
        reason: String,
    },
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The operating system's answer.
        source: std::io::Error,
    },
    /// A line of a text file cannot be used.
    #[error("{}, line {line}, {field}: {reason}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Line number, the header being line 1.
        line: u64,
        /// The column.
        field: String,
        /// What it must be instead.
        reason: String,
    },
    /// A file as a whole cannot be used.
    #[error("{}: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it and what to do.
        reason: String,
    },
    /// Too much was asked for at once.
    #[error("{what}: {asked} is over the limit of {limit}; {advice}")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How much was asked for.
        asked: u64,
        /// How much is allowed.
        limit: u64,
        /// How to ask for less.
        advice: &'static str,
    },
    /// Nothing is left to build a map from.
    #[error("empty {what}: {advice}")]
    Empty {
        /// What is empty.
        what: &'static str,
        /// What to do about it.
        advice: String,
    },
}

impl MapError {
    /// An [`MapError::Invalid`].
    pub fn invalid(field: &'static str, reason: impl Into<String>) -> Self {
        Self::Invalid { field, reason: reason.into() }
    }

    /// A [`MapError::File`].
    pub fn file(path: &Path, reason: impl Into<String>) -> Self {
        Self::File { path: path.into(), reason: reason.into() }
    }

    /// A [`MapError::Io`]; made for `map_err`.
    pub fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        move |source| Self::Io { path: path.into(), source }
    }
}
