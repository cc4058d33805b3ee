//! What can be wrong with a mechanism.

use lrgeo_geo::Digest;
use lrgeo_tiles::{DrawError, NoDistribution};

use crate::publish::PublishError;

/// What went wrong, and where. No variant carries a user's place.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
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
    /// The neighbour threshold leaves places without any bound between them.
    #[error(
        "gamma: within {gamma_km:.3} km the places fall into {components} parts with no privacy between them; \
         raise `gamma_km` to {enough_km:.3} km or more, compare all pairs (`notion`), or accept it (`allow_disconnected`)"
    )]
    Disconnected {
        /// The threshold asked for.
        gamma_km: f64,
        /// How many parts.
        components: usize,
        /// The smallest threshold that joins them, about.
        enough_km: f64,
    },
    /// A promise to people that a mechanism on places cannot keep.
    #[error(
        "{kind} promises something between places, {spacing_m:.0} m apart, not between people, who stand anywhere; use the kind `laplace`, which \
         keeps it for every two coordinates, or an epsilon between places of {between_places}, which on this map is a factor of 2 within {radius_m:.0} m \
         between people (finer places cost less of it)"
    )]
    NotForCoordinates {
        /// The name of the kind.
        kind: &'static str,
        /// The radius within which a factor of 2 was asked for.
        radius_m: f64,
        /// How far apart the places are.
        spacing_m: f64,
        /// The epsilon between places that keeps it up to that radius.
        between_places: lrgeo_tiles::Epsilon,
    },
    /// Two things that do not belong to one version of a map.
    #[error(
        "map: made for version {}, not for version {}; make it again with this map",
        made_for.short(),
        given.short()
    )]
    OtherMap {
        /// The version it was made for.
        made_for: Digest,
        /// The version it was used with.
        given: Digest,
    },
    /// A mechanism that does not keep its promise; it is not used.
    #[error(
        "the mechanism exceeds its guarantee by a log-ratio of {worst_log_excess:.3e}; it was not used"
    )]
    NotPrivate {
        /// By how much.
        worst_log_excess: f64,
    },
    /// Something about the map or its files.
    #[error(transparent)]
    Map(#[from] lrgeo_map::MapError),
    /// The optimiser gave up.
    #[error(transparent)]
    Optimiser(#[from] lrgeo_optim::Error),
    /// Something about published tiles.
    #[error(transparent)]
    Tiles(#[from] lrgeo_tiles::TileError),
    /// Something about publishing them.
    #[error(transparent)]
    Publish(PublishError),
    /// The operating system gave no randomness; nothing may be reported.
    #[error("no randomness from the operating system: {0}")]
    Randomness(#[from] getrandom::Error),
}

impl From<lrgeo_geo::Invalid> for MechanismError {
    fn from(lrgeo_geo::Invalid { field, reason }: lrgeo_geo::Invalid) -> Self {
        Self::Invalid { field, reason }
    }
}

impl From<DrawError> for MechanismError {
    fn from(error: DrawError) -> Self {
        match error {
            DrawError::Invalid(invalid) => invalid.into(),
            DrawError::Row { row, reason } => Self::Row { row, reason },
            DrawError::Distribution(error) => Self::invalid("row", error.reason()),
            DrawError::TooExtreme => Self::TooExtreme,
            DrawError::Randomness(error) => Self::Randomness(error),
            other => Self::invalid("row", other.to_string()),
        }
    }
}

impl From<PublishError> for MechanismError {
    fn from(error: PublishError) -> Self {
        match error {
            PublishError::Tiles(error) => Self::Tiles(error),
            error => Self::Publish(error),
        }
    }
}

impl MechanismError {
    /// A [`MechanismError::Row`]; made for `map_err`.
    pub fn row(row: usize) -> impl FnOnce(NoDistribution) -> Self {
        move |error| Self::Row { row, reason: error.reason() }
    }

    /// A [`MechanismError::Invalid`].
    pub fn invalid(field: &'static str, reason: impl Into<String>) -> Self {
        Self::Invalid { field, reason: reason.into() }
    }
}
