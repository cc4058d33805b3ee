//! What can be wrong with published tiles, and with rows to draw from.

use crate::{Digest, Issued};

/// Why tiles were not believed. No variant carries a user's place.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TileError {
    /// Not the operator's signature, or not of this manifest.
    #[error("signature: the manifest was not signed with this key; nothing in it is believed")]
    Signature,
    /// A file of another version of the format.
    #[error(
        "{file}: has format version {found}, this lrgeo reads {reads}; it was not used. It must be published again by an lrgeo like this one"
    )]
    OtherFormat {
        /// Which file.
        file: &'static str,
        /// Its version.
        found: u64,
        /// The version that is read.
        reads: u32,
    },
    /// Made for another version of the map: stale, or ahead of what the reader knows.
    #[error("{file}: made for map version {made_for}, not for {wanted}; fetch the manifest again")]
    OtherMap {
        /// Which file.
        file: &'static str,
        /// The version it was made for.
        made_for: Digest,
        /// The version that was wanted.
        wanted: Digest,
    },
    /// A manifest that is older than one seen before.
    #[error("manifest: issued {issued}, before the one of {known} that is known already")]
    Older {
        /// When it was issued.
        issued: Issued,
        /// When the known one was.
        known: Issued,
    },
    /// A file that is not the one the manifest speaks of.
    #[error("{file}: its hash is {found}, the manifest says {expected}; it was not used")]
    HashMismatch {
        /// Which file.
        file: &'static str,
        /// The hash in the manifest.
        expected: Digest,
        /// The hash that it has.
        found: Digest,
    },
    /// A file that ends too early.
    #[error("{file}: cut off after {found} of {expected} bytes")]
    Truncated {
        /// Which file.
        file: &'static str,
        /// Its length according to the manifest.
        expected: u64,
        /// Its length.
        found: u64,
    },
    /// A file whose content makes no sense although it is the one that was meant.
    #[error("{file}: {field} {reason}")]
    Malformed {
        /// Which file.
        file: &'static str,
        /// The field at fault.
        field: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// The rows of a tile do not keep the promise that comes with them.
    #[error(
        "tile: its rows exceed the guarantee by a log-ratio of {worst_log_excess:.3e}; it was not used"
    )]
    NotPrivate {
        /// By how much.
        worst_log_excess: f64,
    },
    /// A grid of a size that cannot be used.
    #[error("tile: {0}")]
    Size(String),
    /// A key that cannot be used.
    #[error("key: {0}")]
    Key(String),
}

impl TileError {
    /// A [`TileError::Malformed`].
    pub fn malformed(
        file: &'static str,
        field: &'static str,
        reason: impl std::fmt::Display,
    ) -> Self {
        Self::Malformed { file, field, reason: reason.to_string() }
    }
}

/// Why nothing is drawn from a row, or from the rows of a matrix.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DrawError {
    /// It is no row, or they are no matrix.
    #[error(transparent)]
    Invalid(#[from] lrgeo_geo::Invalid),
    /// A row that is none to draw from.
    #[error("row: {0}")]
    Distribution(#[from] crate::NoDistribution),
    /// One of many rows is not a probability distribution.
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
