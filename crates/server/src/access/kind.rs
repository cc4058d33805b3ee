//! Kinds of routes: what is limited together and opened by one scope.

use lrgeo_protocol::path;

use super::Scope;

/// What a request is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// What is the same for everybody, the page included.
    Public,
    /// Reports and targets.
    Report,
    /// Joining a round, and the circle of the cost table before it.
    Rounds,
    /// Following a ticket; mostly waiting.
    Ticket,
    /// The reports that were taken.
    Stream,
    /// Metrics and figures.
    Operate,
    /// Whether it is alive: always answered.
    Health,
}

impl Kind {
    /// All, with their names.
    pub const ALL: [(Self, &'static str); 7] = [
        (Self::Public, "public"),
        (Self::Report, "report"),
        (Self::Rounds, "rounds"),
        (Self::Ticket, "ticket"),
        (Self::Stream, "stream"),
        (Self::Operate, "operate"),
        (Self::Health, "health"),
    ];

    /// Of a route, as the router names it; of what is no route, too.
    pub fn of(route: &str) -> Self {
        match route {
            path::HEALTH | path::READY => Self::Health,
            path::METRICS | "/v1/page/operation" => Self::Operate,
            path::REPORTS | path::TARGETS => Self::Report,
            path::ROUNDS | path::TABLE_CIRCLE => Self::Rounds,
            path::STREAM => Self::Stream,
            route if route.starts_with("/v1/rounds/") => Self::Ticket,
            _ => Self::Public,
        }
    }

    /// What opens it; `None` where no API token does.
    pub fn scope(self) -> Option<Scope> {
        match self {
            Self::Public => Some(Scope::Public),
            Self::Report => Some(Scope::Report),
            Self::Rounds => Some(Scope::Rounds),
            Self::Stream => Some(Scope::Stream),
            Self::Operate => Some(Scope::Operate),
            Self::Ticket | Self::Health => None,
        }
    }
}
