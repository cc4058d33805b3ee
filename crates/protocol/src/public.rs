//! What the server says to everybody alike.

use serde::{Deserialize, Serialize};

use crate::Digest;

/// What the modes `local` and `offload` need besides the manifest and the list of places (`GET /v1/map`). The
/// signed manifest holds the hash of its CBOR encoding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct MapDescription {
    /// [`crate::VERSION`].
    pub protocol: u32,
    /// The version of the map.
    pub map: Digest,
    /// Privacy and radii.
    pub parameters: Parameters,
    /// The ways that people go, each with a cost reference table, without its content; at least one.
    pub ways: Vec<WayDescription>,
    /// No estimated cost, prior included, is larger, whichever way somebody goes; reports out of range are charged this.
    pub ceiling: f64,
    /// What `local` needs; absent where the server does not offer it.
    pub local: Option<Local>,
    /// How rounds are held, for `offload`.
    pub rounds: Rounds,
}

/// Epsilon and the radii of the paper, in kilometres.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Epsilon, in 1/km.
    pub epsilon_per_km: f64,
    /// The neighbour threshold gamma; absent: all pairs.
    pub gamma_km: Option<f64>,
    /// Gamma: how far locally relevant places may be.
    pub relevant_km: f64,
    /// At most this many of them.
    pub relevant_max: Option<u32>,
    /// r_exp: farther reports follow the exponential kernel.
    pub exponential_km: f64,
    /// r_obf: the obfuscation range.
    pub obfuscation_km: f64,
    /// The range rule.
    pub range: Range,
    /// Users of so many neighbouring places at least have the same relevant places, so that an upload tells no more
    /// than which of these classes its user is in; absent: each its own.
    pub alike: Option<u32>,
}

/// Whose range decides what is tied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Range {
    /// The user's, as in the paper.
    Own,
    /// That of each row.
    Each,
}

/// A way to go, by car or on foot, and its cost reference table (section 4.5 of the paper).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct WayDescription {
    /// What people call it.
    pub name: String,
    /// How many people go it: what a user is taken for who does not say.
    pub share: f64,
    /// The side of the table's cells, or the length of its road segments.
    pub cell_km: f64,
    /// The cell that stands for each place (v-hat).
    pub cells: Vec<u32>,
    /// How wrong that is at most (o_v), in the unit of `beta`.
    pub offsets: Vec<f64>,
}

/// What a phone needs to solve its programme by itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Local {
    /// The public y, one per place: from ConstOPT over the whole map.
    pub y: Vec<f64>,
    /// What that ConstOPT costs per report.
    pub cost: f64,
    /// No ConstOPT costs less.
    pub lower_bound: f64,
    /// For each published tile, by number, the [`TableTile`] for its places.
    pub table_tiles: Vec<PublicFile>,
}

/// A public file that never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PublicFile {
    /// Its hash and name.
    pub hash: Digest,
    /// Its length.
    pub bytes: u64,
}

/// How rounds are held.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Rounds {
    /// A round begins when so many users have joined,
    pub users: u32,
    /// or so many seconds after the first one did.
    pub window_seconds: f64,
    /// Results are kept for so many seconds.
    pub keep_seconds: f64,
    /// A user may upload at most so many relevant places.
    pub most_relevant: u32,
}

/// A fixed part of the cost tables, for all places of one published tile. It has all ways, so that whoever fetches it
/// does not say how they go.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct TableTile {
    /// The version of the map.
    pub map: Digest,
    /// The number of the published tile.
    pub tile: u32,
    /// Of every way, in the order of the description.
    pub ways: Vec<TablePart>,
}

/// What a cost table says between some cells and some others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct TablePart {
    /// The cells of all places that are relevant to a place of the tile, ascending.
    pub rows: Vec<u32>,
    /// The cells of all places that may be reported from one of those, ascending.
    pub columns: Vec<u32>,
    /// `beta` between them, row-major: kilometres, or what the losses are measured in.
    pub beta: Vec<f64>,
}

/// The answer to a report: where the service would send this user, as far as it can tell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Targets {
    /// By estimated travel distance from the reported place, nearest first.
    pub targets: Vec<Target>,
}

/// Somewhere to go.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Its number.
    pub target: u32,
    /// Latitude and longitude.
    pub at: [f64; 2],
    /// The way from the reported place.
    pub estimated_km: f64,
}

/// What a report was answered with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Received {
    /// How many reports of this map the service has had, this one included.
    pub reports: u64,
}
