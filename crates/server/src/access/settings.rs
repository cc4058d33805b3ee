//! What of access an operator may set.

use serde::Deserialize;

use super::{Kind, Scope};
use crate::ServerError;

/// Which routes need a token.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AccessSettings {
    /// The scopes that need one: `public`, `report`, `rounds`, `operate`. The stream of reports always does.
    pub required: Vec<String>,
    /// So many wrong tokens a second are answered with 401, more with 429.
    pub guesses_per_second: f64,
}

impl Default for AccessSettings {
    fn default() -> Self {
        Self { required: Vec::new(), guesses_per_second: 10.0 }
    }
}

impl AccessSettings {
    /// The scopes that need a token.
    pub(crate) fn required(&self) -> Result<Vec<Scope>, ServerError> {
        let scope = |name: &String| {
            let reason = |reason: &str| reason.to_owned();
            name.parse::<Scope>().map_err(reason)
        };
        let named: Result<Vec<Scope>, String> = self.required.iter().map(scope).collect();
        let mut named =
            named.map_err(|reason| ServerError::Setting { field: "access.required", reason })?;
        named.push(Scope::Stream);
        Ok(named)
    }
}

/// How much all users together may ask of each kind of route.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RouteSettings {
    /// Requests a second, without those whose token has a rate of its own; 0 for no limit. More get 429.
    pub per_second: Rates,
    /// Requests at the same time. More get 503.
    pub at_once: AtOnce,
    /// The largest report.
    pub report_bytes: usize,
}

impl Default for RouteSettings {
    fn default() -> Self {
        Self { per_second: Rates::default(), at_once: AtOnce::default(), report_bytes: 4096 }
    }
}

/// Requests a second.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)] // One for each kind of route.
pub struct Rates {
    pub public: f64,
    pub report: f64,
    pub rounds: f64,
    pub ticket: f64,
    pub stream: f64,
    pub operate: f64,
}

impl Default for Rates {
    fn default() -> Self {
        // What costs little is bounded by how much of it is under way; an upload costs seconds of a processor.
        Self { public: 0.0, report: 0.0, rounds: 50.0, ticket: 0.0, stream: 0.0, operate: 50.0 }
    }
}

impl Rates {
    /// Of a kind of route.
    pub(crate) fn of(&self, kind: Kind) -> f64 {
        match kind {
            Kind::Public => self.public,
            Kind::Report => self.report,
            Kind::Rounds => self.rounds,
            Kind::Ticket => self.ticket,
            Kind::Stream => self.stream,
            Kind::Operate => self.operate,
            Kind::Health => 0.0,
        }
    }
}

/// Requests at the same time.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs)] // One for each kind of route.
pub struct AtOnce {
    pub public: usize,
    pub report: usize,
    pub rounds: usize,
    pub ticket: usize,
    pub stream: usize,
    pub operate: usize,
}

impl Default for AtOnce {
    fn default() -> Self {
        Self { public: 1024, report: 1024, rounds: 32, ticket: 2048, stream: 16, operate: 16 }
    }
}

impl AtOnce {
    /// Of a kind of route.
    pub(crate) fn of(&self, kind: Kind) -> usize {
        match kind {
            Kind::Public => self.public,
            Kind::Report => self.report,
            Kind::Rounds => self.rounds,
            Kind::Ticket => self.ticket,
            Kind::Stream => self.stream,
            Kind::Operate => self.operate,
            Kind::Health => usize::MAX,
        }
    }
}

impl RouteSettings {
    /// Refuses values that make no sense.
    pub(crate) fn check(&self) -> Result<(), ServerError> {
        let all = || Kind::ALL.iter().map(|(kind, _)| *kind);
        let field =
            |field, reason: &str| Err(ServerError::Setting { field, reason: reason.into() });
        if all().any(|kind| !(0.0..=1e9).contains(&self.per_second.of(kind))) {
            return field(
                "routes.per_second",
                "must be numbers of requests a second, 0 for no limit",
            );
        }
        if all().any(|kind| self.at_once.of(kind) == 0) {
            return field("routes.at_once", "must be at least 1 each");
        }
        match self.report_bytes {
            0..256 => field("routes.report_bytes", "must be at least 256: a report has about 200"),
            _ => Ok(()),
        }
    }
}
