//! All that a client sends in the modes `published` and `local`.
//!
//! A [`Request`] names a public file or carries a [`Report`]. There is no variant, and no field,
//! that could hold where somebody is: a client that speaks only these requests cannot say it. What is
//! left to learn is which files it asks for, and when, and which reports the app says belong together
//! ([`crate::Reference`]).

use serde::{Deserialize, Serialize};

use crate::encoding::Encoding;
use crate::{Digest, PlaceId, Reference, path};

/// The number of a place that was *drawn* from a row of a mechanism. Not where anybody is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(value_type = u32))]
#[serde(transparent)]
pub struct ReportedPlace(pub PlaceId);

/// A report, as the service gets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// The version of the map that numbers the places.
    pub map: Digest,
    /// The place.
    pub place: ReportedPlace,
    /// What the app calls what it belongs to, for services that hand reports on to the operator's own system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>, pattern = "^[A-Za-z0-9_:-]{1,64}$", nullable = false))]
    pub reference: Option<Reference>,
}

impl Report {
    /// A report that belongs to nothing in particular.
    pub fn new(map: Digest, place: ReportedPlace) -> Self {
        Self { map, place, reference: None }
    }
}

/// Everything that may be asked for quietly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// The description of the map, the same for everybody.
    Map,
    /// The manifest of the tiles, the same for everybody.
    Manifest,
    /// Its signature.
    Signature,
    /// A manifest before it, by its hash: asked for by those who have not been here for a while.
    Earlier(Digest),
    /// The signature of an earlier one.
    EarlierSignature(Digest),
    /// The list of places that the manifest names, the same for everybody.
    Places(Digest),
    /// The noise for coordinates, the same for everybody.
    Noise(Digest),
    /// A published tile: whoever asks is probably at a place of one of the tiles that they ask for.
    Tile(Digest),
    /// The slice of the cost table for a published tile: the same disclosure.
    TableTile(Digest),
    /// A report.
    Report(Report),
    /// What the service makes of a report.
    Targets(Report),
}

impl Request {
    /// The path, with a query where there is one.
    pub fn path(&self) -> String {
        match self {
            Self::Map => path::MAP.to_owned(),
            Self::Manifest => path::MANIFEST.to_owned(),
            Self::Signature => path::SIGNATURE.to_owned(),
            Self::Earlier(hash) => path::file(path::MANIFESTS, *hash),
            Self::EarlierSignature(hash) => {
                format!("{}/signature", path::file(path::MANIFESTS, *hash))
            }
            Self::Places(hash) => path::file(path::PLACES, *hash),
            Self::Noise(hash) => path::file(path::NOISE, *hash),
            Self::Tile(hash) => path::file(path::TILES, *hash),
            Self::TableTile(hash) => path::file(path::TABLE_TILES, *hash),
            Self::Report(_) => path::REPORTS.to_owned(),
            Self::Targets(Report { map, place, .. }) => {
                format!("{}?map={map}&place={}", path::TARGETS, place.0)
            }
        }
    }

    /// What is accepted as an answer: files come as they were signed or hashed, messages in CBOR.
    pub fn accept(&self) -> &'static str {
        match self {
            // There is nothing to negotiate.
            Self::Manifest | Self::Signature | Self::Places(_) | Self::Tile(_) => "*/*",
            _ => Encoding::Cbor.media_type(),
        }
    }

    /// The body, for the one request that has one.
    pub fn body(&self) -> Option<Report> {
        match self {
            Self::Report(report) => Some(*report),
            _ => None,
        }
    }
}
