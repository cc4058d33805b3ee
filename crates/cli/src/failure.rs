//! What a command can fail with.

use std::path::PathBuf;

/// Why a command did not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Something about a map or its files.
    #[error(transparent)]
    Map(#[from] lrgeo_map::MapError),
    /// Something about a mechanism.
    #[error(transparent)]
    Mechanism(#[from] lrgeo_mechanism::MechanismError),
    /// A table made from another version of the map.
    #[error("{}: was made from another version of the map; make it again with `lrgeo cost-table build`", .0.display())]
    OtherMap(PathBuf),
    /// A matrix that does not keep its promise; it is not used.
    #[error(
        "the mechanism violates its guarantee; it was not used. This is a bug: please report it"
    )]
    NotPrivate,
}
