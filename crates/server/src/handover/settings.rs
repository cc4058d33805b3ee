//! What of handing reports on an operator may set.

use std::path::PathBuf;

use serde::Deserialize;

use crate::ServerError;

/// Where reports go besides being counted. Nowhere by default.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HandoverSettings {
    /// The address that they are posted to.
    pub webhook: Option<String>,
    /// The file with the secret that they are signed with; without, one in the data directory, made at the first start.
    pub secret_file: Option<PathBuf>,
    /// Whether they are read from `/v1/stream` instead.
    pub stream: bool,
    /// How long the operator's system has for an answer.
    pub timeout_seconds: f64,
    /// The longest pause between two tries; the first is a second, each twice the one before.
    pub most_pause_seconds: f64,
    /// A report that was not taken for so long is given up.
    pub give_up_seconds: f64,
    /// So many reports may wait; then new ones are refused.
    pub most_events: u64,
}

impl Default for HandoverSettings {
    fn default() -> Self {
        Self {
            webhook: None,
            secret_file: None,
            stream: false,
            timeout_seconds: 10.0,
            most_pause_seconds: 300.0,
            give_up_seconds: 259_200.0,
            most_events: 1_000_000,
        }
    }
}

impl HandoverSettings {
    /// Refuses values that make no sense.
    pub(crate) fn check(&self) -> Result<(), ServerError> {
        let field =
            |field, reason: &str| Err(ServerError::Setting { field, reason: reason.into() });
        for (name, value) in [
            ("handover.timeout_seconds", self.timeout_seconds),
            ("handover.most_pause_seconds", self.most_pause_seconds),
            ("handover.give_up_seconds", self.give_up_seconds),
        ] {
            if !(value > 0.0 && value <= 1e9) {
                return field(name, "must be a positive number of seconds");
            }
        }
        if self.most_events == 0 {
            return field("handover.most_events", "must be at least 1");
        }
        let Some(url) = &self.webhook else { return Ok(()) };
        if self.stream {
            // Each forgets what it has handed on.
            return field("handover.stream", "and handover.webhook exclude each other: choose one");
        }
        let rest = url.strip_prefix("http://").or(url.strip_prefix("https://"));
        if !rest.is_some_and(|rest| !rest.is_empty() && !rest.contains(['@', '#', ' '])) {
            return field(
                "handover.webhook",
                "must be an address like https://dispatch.example/lrgeo",
            );
        }
        if url.starts_with("https://") && !cfg!(feature = "tls") {
            return field(
                "handover.webhook",
                "needs TLS, which this lrgeo was built without (feature `tls`)",
            );
        }
        Ok(())
    }
}
