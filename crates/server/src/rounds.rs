//! Rounds: who joins within a window is solved together (the paper's CLR-Geo).
//!
//! A ticket is on disk before it is given out, and all results of a round are on disk before any of
//! them can be seen. So a server that was killed answers every ticket that is asked for after it is started
//! again, and no ticket ever gets two different matrices. What is on disk opens with a ticket's token only: an upload
//! that was not solved waits there until its owner asks.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lrgeo_mechanism::lr_geo::coefficients::Coefficients;
use lrgeo_protocol::encoding::Encoding;
use lrgeo_protocol::offload::{Bounds, Join, Joined, Phase, Shared, TicketState, UserMatrix};
use lrgeo_protocol::{Reason, Refusal};
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use crate::budget::{Budget, Held};
use crate::catalogue::Catalogue;
use crate::clock::now;
use crate::config::RoundSettings;
use crate::counters::Counters;
use crate::listen::wish_to_stop;
use crate::seal::{Key, Keys};
use crate::solve::{Outcome, Solver};
use crate::store::{Sealed, Stage, Store, Ticket};
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
    /// Held while tickets of an earlier process are taken up or given up, so that none is both.
    taking_up: Mutex<()>,
    /// The memory of those who wait or are being solved.
    memory: Arc<Budget>,
    joined: Notify,
    cancel: AtomicBool,
    retired: AtomicBool,
    started: u64,
    counters: Arc<Counters>,
}

/// A user in memory: the upload, and what its result is to be sealed with. Neither outlives the round.
struct Waiting {
    id: String,
    since: Instant,
    upload: Coefficients,
    held: Held,
    key: Key,
}

/// The users of one round.
#[derive(Default)]
struct Round {
    ids: Vec<String>,
    uploads: Vec<Coefficients>,
    keys: Vec<Key>,
    held: Vec<Held>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Rounds {
    /// All rounds from now on.
    pub fn new(catalogue: Arc<Catalogue>, store: Arc<Store>, settings: RoundSettings) -> Self {
        Self {
            catalogue,
            store,
            memory: Budget::new(settings.most_waiting_bytes),
            settings,
            queue: Mutex::default(),
            live: Mutex::default(),
            taking_up: Mutex::default(),
            joined: Notify::new(),
            cancel: AtomicBool::new(false),
            retired: AtomicBool::new(false),
            started: now(),
            counters: Arc::default(),
        }
    }

    /// The same, counted where the server's other counters are.
    pub fn counted_by(self, counters: Arc<Counters>) -> Self {
        Self { counters, ..self }
    }

    /// How many users wait for a round.
    pub fn waiting(&self) -> usize {
        lock(&self.queue).len()
    }

    /// Whether a ticket waits or is being solved here.
    pub fn is_live(&self, id: &str) -> bool {
        lock(&self.live).contains_key(id)
    }

    /// Takes nobody new: rounds of a newer version are held from now on. Those who are here are still answered.
    pub fn retire(&self) {
        self.retired.store(true, Ordering::Relaxed);
    }

    fn check(&self, join: Join) -> refuse::Result<Coefficients> {
        upload::check(join, &self.catalogue, &self.settings)
    }

    /// The memory that an upload takes until its round is over.
    fn memory_for(&self, upload: &Coefficients) -> refuse::Result<Held> {
        self.memory.hold(bytes_of(upload)).map_or_else(too_many, Ok)
    }

    fn enqueue(&self, id: String, (upload, held): (Coefficients, Held), key: Key) {
        let state = TicketState { phase: Phase::Waiting, users: 0, bounds: None, refusal: None };
        lock(&self.live).insert(id.clone(), watch::Sender::new(state));
        let mut queue = lock(&self.queue);
        queue.push_back(Waiting { id, since: Instant::now(), upload, held, key });
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
        if self.retired.load(Ordering::Relaxed)
            || lock(&self.queue).len() >= self.settings.most_waiting
        {
            return too_many();
        }
        let plain = Encoding::Cbor.encode(&join);
        let checked = self.check(join)?;
        let held = self.memory_for(&checked)?;
        if self.store.kept() + plain.len() as u64 > self.settings.most_kept_bytes {
            let message = "too many results are kept; try again later";
            return refuse::because(Reason::Busy, message);
        }
        let (id, token) = (random()?, random()?);
        let keys = Keys::of(&token);
        let ticket = Ticket {
            token: keys.digest,
            map: self.catalogue.map(),
            stage: Stage::Accepted,
            since: now(),
        };
        let sealed = keys.upload.seal(&id, &plain).ok_or_else(no_randomness)?;
        self.store.accept(&id, &ticket, &sealed).map_err(internal)?;
        self.enqueue(id.clone(), (checked, held), keys.result);
        self.counters.ticket();
        Ok(Joined { ticket: id, token })
    }

    /// The ticket and its keys, if it is known and the token is its own.
    fn authorised(&self, id: &str, token: Option<&str>) -> refuse::Result<(Ticket, Keys)> {
        let Some(ticket) = self.store.ticket(id).map_err(internal)? else {
            return refuse::because(Reason::UnknownTicket, "no such ticket; join a round first");
        };
        match token.map(Keys::of).filter(|keys| keys.digest == ticket.token) {
            Some(keys) => Ok((ticket, keys)),
            None => refuse::because(
                Reason::NotYourTicket,
                "the token does not belong to this ticket; send `Authorization: Bearer <token>`",
            ),
        }
    }

    /// Puts a ticket that an earlier process accepted back into the queue, or refuses it for good. Its owner has
    /// brought the token, without which nobody could read the upload.
    fn take_up(&self, id: &str, keys: &Keys) -> refuse::Result<()> {
        let _alone = lock(&self.taking_up);
        if lock(&self.live).contains_key(id) {
            return Ok(());
        }
        // An upload that is not there was solved by now.
        let Some(sealed) = self.store.upload(id).map_err(internal)? else { return Ok(()) };
        let plain = keys.upload.open(id, &sealed);
        let join = plain.and_then(|plain| Encoding::Cbor.decode(&plain).ok());
        let checked = match join {
            Some(join) => self.check(join),
            None => refuse::because(Reason::Internal, "the upload was lost; join again"),
        };
        match checked {
            Ok(upload) => {
                let held = self.memory_for(&upload)?;
                self.enqueue(id.to_owned(), (upload, held), keys.result.clone());
            }
            Err(no) => self.store.finish(&[(id.to_owned(), Err(no))], now()).map_err(internal)?,
        }
        Ok(())
    }

    /// The state of a ticket now, and its changes while it is not answered.
    pub fn state(&self, id: &str, token: Option<&str>) -> refuse::Result<Watched> {
        let (ticket, keys) = self.authorised(id, token)?;
        if ticket.stage == Stage::Accepted {
            self.take_up(id, &keys)?;
        }
        // The live state first: a ticket that is answered in between is then found in the store.
        let live = lock(&self.live).get(id).map(watch::Sender::subscribe);
        let (ticket, _) = self.authorised(id, token)?;
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
        let (ticket, keys) = self.authorised(id, token)?;
        match ticket.stage {
            Stage::Accepted => {
                self.take_up(id, &keys)?;
                refuse::because(Reason::NotReady, "the round is not solved yet")
            }
            Stage::Failed(refusal) => Err(refusal),
            Stage::Expired => expired(),
            Stage::Done(_) => {
                let Some(sealed) = self.store.result(id).map_err(internal)? else {
                    return expired();
                };
                let plain = keys.result.open(id, &sealed);
                let matrix = plain.and_then(|plain| Encoding::Cbor.decode(&plain).ok());
                matrix.ok_or_else(|| {
                    tracing::error!("a result that was kept cannot be read");
                    solve::internal()
                })
            }
        }
    }

    /// Holds rounds until `stop` is notified. What is being solved then is left for the next start.
    pub async fn run(self: Arc<Self>, mut stop: watch::Receiver<bool>) {
        let mut sweep = tokio::time::interval(SWEEP);
        loop {
            tokio::select! {
                waiting = self.next_round() => self.clone().hold(waiting).await,
                _ = sweep.tick() => match self.retired.load(Ordering::Relaxed) {
                    true if lock(&self.live).is_empty() => return,
                    true => {}
                    false => self.sweep().await,
                },
                // A wish to stop that came before this was listening counts too.
                () = wish_to_stop(&mut stop) => return,
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
        let (rounds, users, begun) = (self.clone(), waiting.len(), Instant::now());
        let held = tokio::task::spawn_blocking(move || {
            let mut round = Round::default();
            for Waiting { id, upload, key, held, .. } in waiting {
                round.ids.push(id);
                round.uploads.push(upload);
                round.keys.push(key);
                round.held.push(held);
            }
            // A panic in the solver must not leave users waiting for ever.
            let solve = std::panic::AssertUnwindSafe(|| rounds.solve(&round.ids, &round.uploads));
            let outcomes = std::panic::catch_unwind(solve).unwrap_or_else(|_| {
                tracing::error!(users, "solving a round panicked");
                round.ids.iter().map(|_| Err(solve::internal())).collect()
            });
            if rounds.cancel.load(Ordering::Relaxed) {
                return Ok(false);
            }
            let served = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
            rounds.counters.round(served as u64, (users - served) as u64, begun.elapsed());
            rounds.answer(round, outcomes).map(|()| true)
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
        let (catalogue, settings) = (&*self.catalogue, &self.settings);
        Solver { catalogue, settings, stop: &self.cancel }.round(uploads, progress)
    }

    /// Keeps all results, sealed, then shows them.
    fn answer(&self, round: Round, outcomes: Vec<Outcome>) -> Result<(), ServerError> {
        let served = outcomes.iter().filter(|outcome| outcome.is_ok()).count() as u32;
        let seal = |((id, key), outcome): ((&String, &Key), Outcome)| {
            let sealed = outcome.and_then(|matrix| {
                // Without a public y those who could not be solved together became rounds of one.
                let alone = matrix.certificate.shared == Shared::Alone;
                let users = if alone { 1 } else { served };
                let plain = Encoding::Cbor.encode(&matrix);
                let bytes = key.seal(id, &plain).ok_or_else(no_randomness)?;
                Ok(Sealed { users, bytes })
            });
            (id.clone(), sealed)
        };
        let sealed: Vec<_> = round.ids.iter().zip(&round.keys).zip(outcomes).map(seal).collect();
        let kept = self.store.finish(&sealed, now());
        for (id, outcome) in sealed {
            // Where nothing could be kept nothing is shown either: whoever asks again is taken up again.
            let Some(ticket) = lock(&self.live).remove(&id).filter(|_| kept.is_ok()) else {
                continue;
            };
            ticket.send_modify(|state| match outcome {
                Ok(matrix) => (state.phase, state.users) = (Phase::Done, matrix.users),
                Err(refusal) => (state.phase, state.refusal) = (Phase::Failed, Some(refusal)),
            });
        }
        kept
    }

    async fn sweep(self: &Arc<Self>) {
        let rounds = self.clone();
        let keep = self.settings.keep_seconds.ceil() as u64;
        let sweep = move || {
            let _alone = lock(&rounds.taking_up);
            let is_live = |id: &str| rounds.is_live(id);
            let expired = rounds.store.expire(now(), keep, rounds.started, is_live)?;
            rounds.store.give_back()?;
            Ok::<_, ServerError>(expired)
        };
        match tokio::task::spawn_blocking(sweep).await {
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

/// The numbers of an upload, which is nearly all of it.
fn bytes_of(upload: &Coefficients) -> usize {
    let Coefficients { between, towards, cost, .. } = upload;
    8 * (between.len() + towards.len() + cost.len())
}

fn too_many<T>() -> refuse::Result<T> {
    refuse::because(Reason::Busy, "too many users are waiting; try again later")
}

fn expired<T>() -> refuse::Result<T> {
    refuse::because(Reason::Expired, "the result is not kept any longer; join a round again")
}

fn random() -> refuse::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|_| no_randomness())?;
    Ok(lrgeo_geo::to_hex(&bytes))
}

fn no_randomness() -> Refusal {
    let message = "the server has no randomness";
    Refusal { reason: Reason::Internal, message: message.into(), field: None }
}

/// The server's fault: the log says which, the answer does not.
pub fn internal(error: ServerError) -> Refusal {
    tracing::error!(%error, "storage failed");
    let message = "the server could not read or write its storage";
    Refusal { reason: Reason::Internal, message: message.into(), field: None }
}
