//! The names under which files have what we read: this project's first, then those of common exports (osmnx, geopandas).

pub(super) const ID: &[&str] = &["id", "node_id", "osmid", "h3"];
pub(super) const LAT: &[&str] = &["lat", "y", "latitude"];
pub(super) const LON: &[&str] = &["lon", "x", "longitude", "lng"];
pub(super) const FROM: &[&str] = &["from", "u"];
pub(super) const TO: &[&str] = &["to", "v"];
pub(super) const LENGTH_KM: &[&str] = &["length_km"];
pub(super) const LENGTH_M: &[&str] = &["length_m", "length"];
pub(super) const SPEED: &[&str] = &["speed_kmh", "speed_kph", "speed_class"];
pub(super) const WEIGHT: &[&str] = &["weight", "prior", "count", "population"];

/// Without a speed: what a city street allows.
pub(super) const DEFAULT_SPEED_KMH: f64 = 40.0;
