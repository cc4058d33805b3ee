//! Where everything is.

use crate::Digest;

/// The description of the map: [`crate::public::MapDescription`].
pub const MAP: &str = "/v1/map";
/// The manifest of the published tiles, as signed (`docs/tiles.md`).
pub const MANIFEST: &str = "/v1/manifest";
/// Its signature.
pub const SIGNATURE: &str = "/v1/manifest/signature";
/// Earlier manifests, by hash, each with its signature.
pub const MANIFESTS: &str = "/v1/manifests";
/// Lists of places, by hash.
pub const PLACES: &str = "/v1/places";
/// The noise for coordinates, by hash.
pub const NOISE: &str = "/v1/noise";
/// Published tiles, by hash.
pub const TILES: &str = "/v1/tiles";
/// Fixed slices of the cost table, by hash.
pub const TABLE_TILES: &str = "/v1/table/tiles";
/// A circle of the cost table.
pub const TABLE_CIRCLE: &str = "/v1/table/circle";
/// Joining a round.
pub const ROUNDS: &str = "/v1/rounds";
/// Reporting a place.
pub const REPORTS: &str = "/v1/reports";
/// The targets by estimated travel distance.
pub const TARGETS: &str = "/v1/targets";
/// Reports that were taken, for the operator's own system.
pub const STREAM: &str = "/v1/stream";
/// What the server counts about itself, for Prometheus.
pub const METRICS: &str = "/metrics";
/// Whether the process is alive.
pub const HEALTH: &str = "/healthz";
/// Whether it can serve.
pub const READY: &str = "/readyz";
/// The description of this interface for programs.
pub const OPENAPI: &str = "/v1/openapi.json";

/// A public file.
pub fn file(folder: &str, hash: Digest) -> String {
    format!("{folder}/{hash}")
}

/// The state of a ticket.
pub fn ticket(id: &str) -> String {
    format!("{ROUNDS}/{id}")
}

/// Its state as it changes, as server-sent events.
pub fn events(id: &str) -> String {
    format!("{ROUNDS}/{id}/events")
}

/// The matrix it stands for.
pub fn matrix(id: &str) -> String {
    format!("{ROUNDS}/{id}/matrix")
}
