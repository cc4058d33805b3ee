//! Everything that can be wrong with a map or the files it is made from.

use std::path::{Path, PathBuf};

/// What went wrong, where, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
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
    /// A field of a structured file (GeoJSON, Parquet, a routing table) cannot be used.
    #[error("{}, {field}: {reason}", path.display())]
    Field {
        /// The file.
        path: PathBuf,
        /// The field, with its place in the file: `features[3].id`.
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
    /// A table lists one place twice.
    #[error(
        "{}, lines {} and {}: one place listed twice ({metres:.2} m apart; nothing tells places less than 1 m \
         apart from each other){}; keep one of the two lines and add up their weights",
        path.display(), lines[0], lines[1], others_too(*others)
    )]
    ListedTwice {
        /// The file.
        path: PathBuf,
        /// The lines of the two, the header being line 1.
        lines: [u64; 2],
        /// How far apart they are.
        metres: f64,
        /// How many other lines list a place again.
        others: usize,
    },
    /// Two of the places of a map are one and the same.
    #[error(
        "{what}: places `{}` and `{}` are the same ({metres:.2} m apart; nothing tells places less than 1 m \
         apart from each other){}; {advice}",
        ids[0], ids[1], others_too(*others)
    )]
    SamePlace {
        /// The file, or what the places were given as.
        what: String,
        /// What the two are called.
        ids: [String; 2],
        /// How far apart they are.
        metres: f64,
        /// How many other places stand twice.
        others: usize,
        /// What to do about it.
        advice: &'static str,
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

/// That a pair is not the only one.
fn others_too(others: usize) -> String {
    match others {
        0 => String::new(),
        n => format!(", and {n} more like them"),
    }
}

impl From<lrgeo_geo::Invalid> for MapError {
    fn from(lrgeo_geo::Invalid { field, reason }: lrgeo_geo::Invalid) -> Self {
        Self::Invalid { field, reason }
    }
}

impl MapError {
    /// An [`MapError::Invalid`].
    pub fn invalid(field: &'static str, reason: impl Into<String>) -> Self {
        Self::Invalid { field, reason: reason.into() }
    }

    /// A [`MapError::Field`].
    pub fn field(path: &Path, field: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Field { path: path.into(), field: field.into(), reason: reason.into() }
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
