//! Why nothing was published.

use std::path::{Path, PathBuf};

use lrgeo_tiles::TileError;

/// Why tiles were not made or written, or not read from a directory. No variant carries a user's place.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PublishError {
    /// What was read is not believed.
    #[error(transparent)]
    Tiles(#[from] TileError),
    /// A mechanism made for the users of one round.
    #[error(
        "`{kind}` was made for the users of one round; only a mechanism for the whole map can be published, \
         such as `published`"
    )]
    PerUser {
        /// Its kind.
        kind: String,
    },
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

impl PublishError {
    /// A [`PublishError::Io`]; made for `map_err`.
    pub(super) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        move |source| Self::Io { path: path.into(), source }
    }
}
