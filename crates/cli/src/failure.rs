//! What a command can fail with.

use std::path::PathBuf;

use lrgeo_client::{Caught, ClientError};
use lrgeo_mechanism::MechanismError;
use lrgeo_optim::Error;

/// Why a command did not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Something about a map or its files.
    #[error(transparent)]
    Map(#[from] lrgeo_map::MapError),
    /// Something about a mechanism.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
    /// The client could not report, or would not.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The server cannot start or go on.
    #[error(transparent)]
    Server(#[from] lrgeo_server::ServerError),
    /// A table made from another version of the map.
    #[error("{}: was made from another version of the map; make it again with `lrgeo cost-table build`", .0.display())]
    OtherMap(PathBuf),
    /// A file cannot be read.
    #[error("{}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// A problem or solution file is not one.
    #[error("{}: {error}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, by field and index.
        error: lrgeo_optim::format::FormatError,
    },
    /// The engine gave up.
    #[error(transparent)]
    Engine(#[from] Error),
    /// The problem has no solution.
    #[error(transparent)]
    Infeasible(Error),
    /// A solution does not hold what it claims.
    #[error("{failed} of the checks failed")]
    CheckFailed {
        /// How many.
        failed: usize,
    },
}

impl From<lrgeo_geo::Invalid> for Failure {
    fn from(error: lrgeo_geo::Invalid) -> Self {
        Self::Mechanism(error.into())
    }
}

impl From<lrgeo_tiles::DrawError> for Failure {
    fn from(error: lrgeo_tiles::DrawError) -> Self {
        Self::Mechanism(error.into())
    }
}

impl From<lrgeo_tiles::TileError> for Failure {
    fn from(error: lrgeo_tiles::TileError) -> Self {
        Self::Mechanism(error.into())
    }
}

impl From<lrgeo_mechanism::publish::PublishError> for Failure {
    fn from(error: lrgeo_mechanism::publish::PublishError) -> Self {
        Self::Mechanism(error.into())
    }
}

impl Failure {
    /// What a person may do about it, where the error itself, which knows no commands, does not say.
    pub fn advice(&self) -> Option<&'static str> {
        let Self::Client(ClientError::Lie(lie)) = self else { return None };
        match lie.caught {
            Caught::Key | Caught::Fork => Some(
                "if the operator announced this elsewhere, begin anew with the server: `lrgeo client reset --servers`",
            ),
            _ => None,
        }
    }

    /// What the program exits with; see `lrgeo --help`.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Infeasible(_) => 3,
            Self::Mechanism(MechanismError::Optimiser(Error::Infeasible { .. })) => 3,
            Self::CheckFailed { .. } => 4,
            Self::Client(ClientError::Lie(_)) => 4,
            Self::Client(ClientError::Policy(_)) => 5,
            _ => 1,
        }
    }
}
