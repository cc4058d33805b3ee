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
    pub per_second: PerKind<f64>,
    /// Requests at the same time. More get 503.
    pub at_once: PerKind<usize>,
    /// The largest report.
    pub report_bytes: usize,
}

impl Default for RouteSettings {
    fn default() -> Self {
        Self { per_second: PerKind::default(), at_once: PerKind::default(), report_bytes: 4096 }
    }
}

/// A number for each kind of route that has one.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, bound = "T: Deserialize<'de>, PerKind<T>: Default")]
#[allow(missing_docs)] // One for each kind of route.
pub struct PerKind<T> {
    pub public: T,
    pub report: T,
    pub rounds: T,
    pub ticket: T,
    pub stream: T,
    pub operate: T,
}

/// Requests a second.
impl Default for PerKind<f64> {
    fn default() -> Self {
        // What costs little is bounded by how much of it is under way; an upload costs seconds of a processor.
        Self { public: 0.0, report: 0.0, rounds: 50.0, ticket: 0.0, stream: 0.0, operate: 50.0 }
    }
}

/// Requests at the same time.
impl Default for PerKind<usize> {
    fn default() -> Self {
        Self { public: 1024, report: 1024, rounds: 32, ticket: 2048, stream: 16, operate: 16 }
    }
}

impl<T: Copy> PerKind<T> {
    /// Of a kind of route; `None` for those that are never limited.
    pub(crate) fn of(&self, kind: Kind) -> Option<T> {
        match kind {
            Kind::Public => Some(self.public),
            Kind::Report => Some(self.report),
            Kind::Rounds => Some(self.rounds),
            Kind::Ticket => Some(self.ticket),
            Kind::Stream => Some(self.stream),
            Kind::Operate => Some(self.operate),
            Kind::Health => None,
        }
    }
}

impl RouteSettings {
    /// Refuses values that make no sense.
    pub(crate) fn check(&self) -> Result<(), ServerError> {
        let all = || Kind::ALL.iter().map(|(kind, _)| *kind);
        let field =
            |field, reason: &str| Err(ServerError::Setting { field, reason: reason.into() });
        if all()
            .filter_map(|kind| self.per_second.of(kind))
            .any(|rate| !(0.0..=1e9).contains(&rate))
        {
            return field(
                "routes.per_second",
                "must be numbers of requests a second, 0 for no limit",
            );
        }
        if all().any(|kind| self.at_once.of(kind) == Some(0)) {
            return field("routes.at_once", "must be at least 1 each");
        }
        match self.report_bytes {
            0..256 => field("routes.report_bytes", "must be at least 256: a report has about 200"),
            _ => Ok(()),
        }
    }
}
