//! Rounds: who joins within a window is solved together (the paper's CLR-Geo).
//!
//! A ticket is on disk before it is given out, and all results of a round are on disk before any of
//! them can be seen. So a server that was killed answers every ticket after it is started again, and
//! no ticket ever gets two different matrices.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lrgeo_mechanism::lr_geo::coefficients::Coefficients;
use lrgeo_protocol::offload::{Bounds, Join, Joined, Phase, TicketState, UserMatrix};
use lrgeo_protocol::{Digest, Reason, Refusal};
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use crate::catalogue::Catalogue;
use crate::config::RoundSettings;
use crate::store::{Outcome, Stage, Store, Ticket};
use crate::{ServerError, refuse, solve, upload};

/// How often old results are looked for.
const SWEEP: Duration = Duration::from_secs(10);

/// All rounds of a server.
pub struct Rounds {
    catalogue: Arc<Catalogue>,
    store: Arc<Store>,
    settings: RoundSettings,
    /// Tickets that wait for a round, oldest first.
    queue: Mutex<VecDeque<Waiting>>,
    /// The state of every ticket that is not answered yet.
    live: Mutex<HashMap<String, watch::Sender<TicketState>>>,
    joined: Notify,
    cancel: Arc<AtomicBool>,
}

struct Waiting {
    id: String,
    since: Instant,
    upload: Coefficients,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Seconds since 1970.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

impl Rounds {
    /// Takes up what a process before this one had accepted and not answered.
    pub fn open(
        catalogue: Arc<Catalogue>,
        store: Arc<Store>,
        settings: RoundSettings,
    ) -> Result<Self, ServerError> {
        let rounds = Self {
            catalogue,
            store,
            settings,
            queue: Mutex::default(),
            live: Mutex::default(),
            joined: Notify::new(),
            cancel: Arc::default(),
        };
        for (id, ticket) in rounds.store.tickets()? {
            if ticket.stage != Stage::Accepted {
                continue;
            }
            let checked = match rounds.store.upload(&id)? {
                Some(join) => rounds.check(join),
                None => refuse::because(Reason::Internal, "the upload was lost; join again"),
            };
            match checked {
                Ok(upload) => rounds.enqueue(id, upload),
                Err(refusal) => rounds.store.finish(&[(id, Err(refusal))], now())?,
            }
        }
        Ok(rounds)
    }

    fn check(&self, join: Join) -> refuse::Result<Coefficients> {
        upload::check(join, &self.catalogue, self.settings.most_relevant)
    }

    fn enqueue(&self, id: String, upload: Coefficients) {
        let state = TicketState { phase: Phase::Waiting, users: 0, bounds: None, refusal: None };
        lock(&self.live).insert(id.clone(), watch::Sender::new(state));
        let mut queue = lock(&self.queue);
        queue.push_back(Waiting { id, since: Instant::now(), upload });
        let users = queue.len().min(self.settings.users) as u32;
        let live = lock(&self.live);
        for waiting in queue.iter() {
            if let Some(state) = live.get(&waiting.id) {
                state.send_modify(|state| state.users = users);
            }
        }
        self.joined.notify_one();
    }

    /// Accepts an upload; blocks for as long as it takes to check it and put it on disk.
    pub fn join(&self, join: Join) -> refuse::Result<Joined> {
        if lock(&self.queue).len() >= self.settings.most_waiting {
            return refuse::because(Reason::Busy, "too many users are waiting; try again later");
        }
        let checked = self.check(join.clone())?;
        let (id, token) = (random()?, random()?);
        let ticket = Ticket {
            token: digest_of(&token),
            map: self.catalogue.map(),
            stage: Stage::Accepted,
            since: now(),
        };
        self.store.accept(&id, &ticket, &join).map_err(internal)?;
        self.enqueue(id.clone(), checked);
        Ok(Joined { ticket: id, token })
    }

    /// The ticket, if it is known and the token is its own.
    fn authorised(&self, id: &str, token: Option<&str>) -> refuse::Result<Ticket> {
        let Some(ticket) = self.store.ticket(id).map_err(internal)? else {
            return refuse::because(Reason::UnknownTicket, "no such ticket; join a round first");
        };
        match token.map(digest_of) == Some(ticket.token) {
            true => Ok(ticket),
            false => refuse::because(
                Reason::NotYourTicket,
                "the token does not belong to this ticket; send `Authorization: Bearer <token>`",
            ),
        }
    }

    /// The state of a ticket now, and its changes while it is not answered.
    pub fn state(&self, id: &str, token: Option<&str>) -> refuse::Result<Watched> {
        // The live state first: a ticket that is answered in between is then found in the store.
        let live = lock(&self.live).get(id).map(watch::Sender::subscribe);
        let ticket = self.authorised(id, token)?;
        let of = |phase, users, refusal| TicketState { phase, users, bounds: None, refusal };
        let state = match ticket.stage {
            Stage::Accepted => match live {
                Some(live) => return Ok(Watched::Live(live)),
                None => of(Phase::Waiting, 1, None),
            },
            Stage::Done(users) => of(Phase::Done, users, None),
            Stage::Failed(refusal) => of(Phase::Failed, 0, Some(refusal)),
            Stage::Expired => return expired(),
        };
        Ok(Watched::Final(state))
    }

    /// The matrix of a ticket.
    pub fn matrix(&self, id: &str, token: Option<&str>) -> refuse::Result<UserMatrix> {
        match self.authorised(id, token)?.stage {
            Stage::Accepted => refuse::because(Reason::NotReady, "the round is not solved yet"),
            Stage::Failed(refusal) => Err(refusal),
            Stage::Expired => expired(),
            Stage::Done(_) => match self.store.result(id).map_err(internal)? {
                Some(matrix) => Ok(matrix),
                None => expired(),
            },
        }
    }

    /// Holds rounds until `stop` is notified. What is being solved then is left for the next start.
    pub async fn run(self: Arc<Self>, mut stop: watch::Receiver<bool>) {
        let mut sweep = tokio::time::interval(SWEEP);
        loop {
            tokio::select! {
                waiting = self.next_round() => self.clone().hold(waiting).await,
                _ = sweep.tick() => self.sweep().await,
                // Any change is the wish to stop.
                _ = stop.changed() => return,
            }
        }
    }

    /// Stops solving as soon as possible.
    pub fn cancel(&self) {
        self.cancel.store(true, Ordering::Relaxed);
    }

    /// Waits until enough have joined, or the first has waited long enough. Cancelled between two
    /// awaits it loses nothing: users leave the queue in the last step.
    async fn next_round(&self) -> Vec<Waiting> {
        let window = Duration::from_secs_f64(self.settings.window_seconds);
        loop {
            let first = lock(&self.queue).front().map(|waiting| waiting.since);
            let Some(first) = first else {
                self.joined.notified().await;
                continue;
            };
            if lock(&self.queue).len() < self.settings.users {
                let more = tokio::time::timeout_at(first + window, self.joined.notified()).await;
                if more.is_ok() {
                    continue;
                }
            }
            let mut queue = lock(&self.queue);
            let users = queue.len().min(self.settings.users);
            return queue.drain(..users).collect();
        }
    }

    async fn hold(self: Arc<Self>, waiting: Vec<Waiting>) {
        let (ids, uploads): (Vec<String>, Vec<Coefficients>) =
            waiting.into_iter().map(|waiting| (waiting.id, waiting.upload)).unzip();
        let (rounds, users, begun) = (self.clone(), ids.len(), Instant::now());
        let held = tokio::task::spawn_blocking(move || {
            // A panic in the solver must not leave users waiting for ever.
            let solve = std::panic::AssertUnwindSafe(|| rounds.solve(&ids, &uploads));
            let outcomes = std::panic::catch_unwind(solve).unwrap_or_else(|_| {
                tracing::error!(users, "solving a round panicked");
                ids.iter().map(|_| Err(solve::internal())).collect()
            });
            match rounds.cancel.load(Ordering::Relaxed) {
                true => Ok(false),
                false => rounds.answer(ids.into_iter().zip(outcomes).collect()).map(|()| true),
            }
        });
        let seconds = || begun.elapsed().as_secs_f64();
        match held.await {
            Ok(Ok(true)) => tracing::info!(users, seconds = seconds(), "round solved"),
            Ok(Ok(false)) => tracing::info!(users, "round left for the next start"),
            Ok(Err(error)) => tracing::error!(%error, "results could not be kept"),
            Err(_) => tracing::error!(users, "keeping the results of a round panicked"),
        }
    }

    /// Solves, and tells whoever watches.
    fn solve(&self, ids: &[String], uploads: &[Coefficients]) -> Vec<Outcome> {
        let users = ids.len() as u32;
        let watched: Vec<watch::Sender<TicketState>> = {
            let live = lock(&self.live);
            ids.iter().filter_map(|id| live.get(id).cloned()).collect()
        };
        let solving = TicketState { phase: Phase::Solving, users, bounds: None, refusal: None };
        watched.iter().for_each(|ticket| drop(ticket.send_replace(solving.clone())));
        let progress = Arc::new(move |p: &lrgeo_optim::Progress| {
            let upper = Some(p.upper_bound).filter(|bound| bound.is_finite());
            let bounds = Bounds { iteration: p.iteration as u64, upper, lower: p.lower_bound };
            for ticket in &watched {
                ticket.send_modify(|state| state.bounds = Some(bounds));
            }
        });
        solve::round(uploads, &self.catalogue, self.cancel.clone(), progress)
    }

    /// Keeps all results, then shows them.
    fn answer(&self, outcomes: Vec<(String, Outcome)>) -> Result<(), ServerError> {
        self.store.finish(&outcomes, now())?;
        for (id, outcome) in outcomes {
            let Some(ticket) = lock(&self.live).remove(&id) else { continue };
            ticket.send_modify(|state| match outcome {
                Ok(matrix) => (state.phase, state.users) = (Phase::Done, matrix.certificate.users),
                Err(refusal) => (state.phase, state.refusal) = (Phase::Failed, Some(refusal)),
            });
        }
        Ok(())
    }

    async fn sweep(self: &Arc<Self>) {
        let rounds = self.clone();
        let keep = self.settings.keep_seconds.ceil() as u64;
        let swept = tokio::task::spawn_blocking(move || rounds.store.expire(now(), keep)).await;
        match swept {
            Ok(Ok(0)) => {}
            Ok(Ok(results)) => tracing::info!(results, "results expired"),
            Ok(Err(error)) => tracing::error!(%error, "old results could not be removed"),
            Err(_) => tracing::error!("removing old results panicked"),
        }
    }
}

/// A ticket to be followed.
pub enum Watched {
    /// Not answered yet.
    Live(watch::Receiver<TicketState>),
    /// Answered.
    Final(TicketState),
}

impl Watched {
    /// The state once it is answered, or as it is after `patience`.
    pub async fn wait(self, patience: Duration) -> TicketState {
        match self {
            Self::Final(state) => state,
            Self::Live(mut live) => {
                let answered = live.wait_for(|state| is_final(state.phase));
                if let Ok(Ok(state)) = tokio::time::timeout(patience, answered).await {
                    return state.clone();
                }
                live.borrow().clone()
            }
        }
    }
}

/// Whether a ticket is answered.
pub fn is_final(phase: Phase) -> bool {
    matches!(phase, Phase::Done | Phase::Failed)
}

fn expired<T>() -> refuse::Result<T> {
    refuse::because(Reason::Expired, "the result is not kept any longer; join a round again")
}

fn random() -> refuse::Result<String> {
    let mut bytes = [0; 16];
    match getrandom::fill(&mut bytes) {
        Ok(()) => Ok(hex::encode(bytes)),
        Err(_) => refuse::because(Reason::Internal, "the server has no randomness"),
    }
}

fn digest_of(token: &str) -> Digest {
    Digest(*blake3::hash(token.as_bytes()).as_bytes())
}

/// The server's fault: the log says which, the answer does not.
pub fn internal(error: ServerError) -> Refusal {
    tracing::error!(%error, "storage failed");
    let message = "the server could not read or write its storage";
    Refusal { reason: Reason::Internal, message: message.into(), field: None }
}
