//! Why a server does not start, or stops.

use std::path::PathBuf;

use lrgeo_mechanism::MechanismError;
use lrgeo_mechanism::publish::PublishError;
use lrgeo_tiles::TileError;

/// What went wrong before or beside answering requests; what a request is refused with is a
/// [`lrgeo_protocol::Refusal`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// A setting cannot be used.
    #[error("{field}: {reason}")]
    Setting {
        /// Which, as it stands in the file.
        field: &'static str,
        /// What it must be instead.
        reason: String,
    },
    /// The configuration is no TOML, or has unknown keys.
    #[error("{}: {error}", path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// What the parser says, with line and key.
        error: toml::de::Error,
    },
    /// A file or directory cannot be used.
    #[error("{}: {error}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// The tiles given are not for this map or not signed with this key.
    #[error("{}: {error}; publish them again, signed with the key {}, or leave `tiles` out", path.display(), key.display())]
    Tiles {
        /// The directory.
        path: PathBuf,
        /// The key that they must be signed with.
        key: PathBuf,
        /// What is wrong with them.
        error: Box<PublishError>,
    },
    /// The address cannot be listened on.
    #[error("{address}: {error}; choose another `listen`")]
    Listen {
        /// Which.
        address: String,
        /// What the system says.
        error: std::io::Error,
    },
    /// The storage is damaged or in use by another server.
    #[error("{}: {reason}", path.display())]
    Store {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The map or its mechanism.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
}

impl From<lrgeo_map::MapError> for ServerError {
    fn from(error: lrgeo_map::MapError) -> Self {
        Self::Mechanism(error.into())
    }
}

impl From<PublishError> for ServerError {
    fn from(error: PublishError) -> Self {
        Self::Mechanism(error.into())
    }
}

impl From<TileError> for ServerError {
    fn from(error: TileError) -> Self {
        Self::Mechanism(error.into())
    }
}

impl From<lrgeo_geo::Invalid> for ServerError {
    fn from(error: lrgeo_geo::Invalid) -> Self {
        Self::Mechanism(error.into())
    }
}

impl ServerError {
    /// An input or output error about `path`.
    pub(crate) fn io(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |error| Self::Io { path, error }
    }
}
