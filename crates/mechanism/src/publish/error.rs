//! What can be wrong with published tiles.

use std::path::{Path, PathBuf};

use super::{Hash, Issued};

/// Why tiles were not published, or not believed. No variant carries a user's place.
#[derive(Debug, thiserror::Error)]
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
        made_for: Hash,
        /// The version that was wanted.
        wanted: Hash,
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
        expected: Hash,
        /// The hash that it has.
        found: Hash,
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
    /// A mechanism made for the users of one round.
    #[error(
        "`{kind}` was made for the users of one round; only a mechanism for the whole map can be published \
         (`lrgeo mechanism build --kind published`)"
    )]
    PerUser {
        /// Its kind.
        kind: String,
    },
    /// Tiles of a size that cannot be used.
    #[error("tile: {0}")]
    Size(String),
    /// The directory holds something else.
    #[error(
        "{}: exists and holds something else ({reason}); published directories never change, choose another name",
        path.display()
    )]
    Occupied {
        /// The directory.
        path: PathBuf,
        /// What it holds.
        reason: String,
    },
    /// What was written is not what was to be written.
    #[error("{what} was read back differently from what was written; nothing was published")]
    ReadBack {
        /// What differs.
        what: &'static str,
    },
    /// A key file that cannot be used.
    #[error("key: {0}")]
    Key(String),
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The operating system's answer.
        source: std::io::Error,
    },
}

impl TileError {
    /// A [`TileError::Malformed`].
    pub(super) fn malformed(
        file: &'static str,
        field: &'static str,
        reason: impl std::fmt::Display,
    ) -> Self {
        Self::Malformed { file, field, reason: reason.to_string() }
    }

    /// A [`TileError::Io`]; made for `map_err`.
    pub(super) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        move |source| Self::Io { path: path.into(), source }
    }
}
