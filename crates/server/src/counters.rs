//! What the server counts about itself, in memory: requests by kind, how long they took, what became of them, rounds. Nothing about
//! anybody's whereabouts: a kind of request is a route, never a path.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;

/// Upper ends of the buckets of latencies, in seconds; one more bucket has everything above.
pub const BUCKETS: [f64; 10] = [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10.0];
/// So many minutes are remembered one by one.
const MINUTES: usize = 60;

/// All counters.
pub struct Counters {
    begun: Instant,
    counts: Mutex<Counts>,
}

/// What was counted so far.
#[derive(Clone, Debug, Default, Serialize, utoipa::ToSchema)]
pub struct Counts {
    /// By method and route.
    pub routes: BTreeMap<String, Route>,
    /// Refusals, by reason.
    pub refusals: BTreeMap<&'static str, u64>,
    /// Of rounds.
    pub rounds: RoundCounts,
    /// Requests in each of the last minutes, oldest first; the last one is not over.
    pub minutes: Vec<u64>,
    #[serde(skip)]
    minute: u64,
}

/// Requests of one kind.
#[derive(Clone, Debug, Default, Serialize, utoipa::ToSchema)]
pub struct Route {
    /// How many.
    pub requests: u64,
    /// How many were refused for what was asked (4xx),
    pub refused: u64,
    /// and how many failed (5xx).
    pub failed: u64,
    /// How long all of them took.
    pub seconds: f64,
    /// How many took at most as long as each of [`BUCKETS`] and longer than the one before; then longer.
    pub buckets: [u64; BUCKETS.len() + 1],
}

/// Rounds of users.
#[derive(Clone, Copy, Debug, Default, Serialize, utoipa::ToSchema)]
pub struct RoundCounts {
    /// Tickets given out.
    pub tickets: u64,
    /// Rounds solved.
    pub rounds: u64,
    /// Their users who got a matrix,
    pub served: u64,
    /// and who did not.
    pub refused: u64,
    /// How long solving took.
    pub seconds: f64,
}

impl Default for Counters {
    fn default() -> Self {
        Self { begun: Instant::now(), counts: Mutex::default() }
    }
}

impl Counters {
    /// How long they have been counting.
    pub fn uptime(&self) -> Duration {
        self.begun.elapsed()
    }

    /// All of them at this moment.
    pub fn now(&self) -> Counts {
        let mut counts = self.lock();
        counts.turn(self.begun.elapsed());
        counts.clone()
    }

    /// A request was answered.
    pub fn request(&self, kind: &str, status: u16, took: Duration) {
        let mut counts = self.lock();
        counts.turn(self.begun.elapsed());
        if let Some(last) = counts.minutes.last_mut() {
            *last += 1;
        }
        if !counts.routes.contains_key(kind) {
            counts.routes.insert(kind.to_owned(), Route::default());
        }
        let Some(route) = counts.routes.get_mut(kind) else { return };
        let seconds = took.as_secs_f64();
        route.requests += 1;
        route.refused += u64::from((400..500).contains(&status));
        route.failed += u64::from(status >= 500);
        route.seconds += seconds;
        route.buckets[BUCKETS.partition_point(|end| *end < seconds)] += 1;
    }

    /// A request was refused, with this reason.
    pub fn refusal(&self, reason: &'static str) {
        *self.lock().refusals.entry(reason).or_default() += 1;
    }

    /// Somebody joined a round.
    pub fn ticket(&self) {
        self.lock().rounds.tickets += 1;
    }

    /// A round was solved.
    pub fn round(&self, served: u64, refused: u64, took: Duration) {
        let rounds = &mut self.lock().rounds;
        rounds.rounds += 1;
        rounds.served += served;
        rounds.refused += refused;
        rounds.seconds += took.as_secs_f64();
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counts {
    /// Begins the minutes that have begun since.
    fn turn(&mut self, since_start: Duration) {
        let minute = since_start.as_secs() / 60;
        let new = if self.minutes.is_empty() { 1 } else { minute - self.minute };
        let new = usize::try_from(new).unwrap_or(MINUTES).min(MINUTES);
        self.minutes.extend(std::iter::repeat_n(0, new));
        let forgotten = self.minutes.len().saturating_sub(MINUTES);
        self.minutes.drain(..forgotten);
        self.minute = minute;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_kind_outcome_and_latency() {
        let counters = Counters::default();
        for (status, milliseconds) in [(200, 1), (200, 3), (404, 3), (503, 20_000)] {
            counters.request("GET /v1/map", status, Duration::from_millis(milliseconds));
        }
        let counts = counters.now();
        let route = &counts.routes["GET /v1/map"];
        assert_eq!((route.requests, route.refused, route.failed), (4, 1, 1));
        assert_eq!(route.buckets, [0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(counts.minutes, [4]);
    }

    #[test]
    fn an_hour_is_remembered_and_no_more() {
        let mut counts = Counts::default();
        counts.turn(Duration::ZERO);
        counts.minutes[0] = 7;
        counts.turn(Duration::from_secs(130));
        assert_eq!(counts.minutes, [7, 0, 0]);
        counts.turn(Duration::from_secs(86_400));
        assert_eq!(counts.minutes, vec![0; MINUTES]);
    }
}
