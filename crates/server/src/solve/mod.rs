//! Solving a round (section 4.3 of the paper), so that no stranger decides about anybody's matrix.
//!
//! Every user is first solved alone with the public y of the map: that depends on nobody else, and whoever's own
//! programme fails or does not end is refused alone. Then the others are solved together, for the y that suits
//! them best. That y depends on what strangers uploaded, so it is taken only where it costs nobody much
//! more than being alone; where it does, or is not found in time, the whole round gets the public y. Never a
//! part of it: Theorem 4.4 speaks of users who share one y. On a map without a public y they become rounds of one.

mod answer;
mod limit;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use lrgeo_geo::PlaceId;
use lrgeo_mechanism::lr_geo::coefficients::Coefficients;
use lrgeo_mechanism::lr_geo::round::Programme;
use lrgeo_mechanism::{Engine, MechanismError, Plan};
use lrgeo_optim::{Error, ProgressCallback};
use lrgeo_protocol::offload::{Shared, UserMatrix};
use lrgeo_protocol::{Reason, Refusal};

use crate::catalogue::Catalogue;
use crate::config::RoundSettings;
use answer::{matrices, own_cost};
use limit::Flags;
pub use limit::within;

/// What became of a user.
pub type Outcome = Result<UserMatrix, Refusal>;

/// Two costs may differ by this share of the largest there can be, for no reason but rounding.
const ROUNDING: f64 = 1e-9;

/// What rounds are solved with.
pub struct Solver<'a> {
    /// The map, its rules and its public y.
    pub catalogue: &'a Catalogue,
    /// How long, how well, and how much strangers may cost.
    pub settings: &'a RoundSettings,
    /// Raised when the server stops.
    pub stop: &'a AtomicBool,
}

impl Solver<'_> {
    /// The matrices of all users of a round, or why one has none.
    pub fn round(&self, uploads: &[Coefficients], progress: ProgressCallback) -> Vec<Outcome> {
        let mut outcomes = self.each_alone(uploads);
        let served: Vec<usize> = (0..uploads.len()).filter(|&u| outcomes[u].is_ok()).collect();
        let alone: Vec<(&Coefficients, &UserMatrix)> = uploads
            .iter()
            .zip(&outcomes)
            .filter_map(|(u, o)| Some((u, o.as_ref().ok()?)))
            .collect();
        match self.together(&alone, progress) {
            Ok(matrices) => {
                for (user, matrix) in served.into_iter().zip(matrices) {
                    outcomes[user] = Ok(matrix);
                }
            }
            Err(why) => tracing::info!(users = served.len(), why, "users of a round solved alone"),
        }
        outcomes
    }

    /// Every user by itself, as many at a time as there are processors, each within its own time.
    fn each_alone(&self, uploads: &[Coefficients]) -> Vec<Outcome> {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let outcomes: Vec<Mutex<Outcome>> =
            uploads.iter().map(|_| Mutex::new(Err(unsolved()))).collect();
        let next = AtomicUsize::new(0);
        let work = || {
            loop {
                let user = next.fetch_add(1, Ordering::Relaxed);
                let Some(upload) = uploads.get(user) else { return };
                // One user's panic is that user's misfortune.
                let alone = std::panic::AssertUnwindSafe(|| self.alone(upload));
                let outcome = std::panic::catch_unwind(alone).unwrap_or_else(|_| {
                    tracing::error!("solving a user alone panicked");
                    Err(unsolved())
                });
                *outcomes[user].lock().unwrap_or_else(PoisonError::into_inner) = outcome;
            }
        };
        // Threads of their own, not those of a shared pool: a thread that waits there takes up other work, and one
        // user's time would pass with another's programme.
        std::thread::scope(|scope| {
            for _ in 0..processors.min(uploads.len()) {
                scope.spawn(work);
            }
        });
        let outcome =
            |cell: Mutex<Outcome>| cell.into_inner().unwrap_or_else(PoisonError::into_inner);
        outcomes.into_iter().map(outcome).collect()
    }

    /// One user by itself, with the public y where there is one.
    fn alone(&self, upload: &Coefficients) -> Outcome {
        let (ties, ceiling) = (&self.catalogue.ties, self.catalogue.ceiling());
        let limit = Duration::from_secs_f64(self.settings.user_seconds);
        let solved = within(limit, self.stop, |flags| {
            let mut plan = self.plan(limit, flags);
            // With y given there is nothing for Benders to decompose; without, one user is one subproblem.
            plan.engine = Engine::ColumnGeneration;
            plan.solver.threads = 1;
            let (programme, shared) = match self.catalogue.public_y() {
                Some(y) => {
                    let alone = Programme::alone(upload, ties, plan.notion, ceiling, y)?;
                    (alone, Shared::PublicY)
                }
                None => {
                    let places = self.catalogue.city.places();
                    let alone = Programme::new(&[upload], ties, plan.notion, places, ceiling)?;
                    (alone, Shared::Alone)
                }
            };
            let solution = programme.solve(&plan)?;
            Ok(matrices(self.catalogue, &plan, &programme, &solution, &[upload], shared))
        });
        match solved {
            Ok(Some(mut matrices)) => matrices.pop().ok_or_else(unsolved),
            Ok(None) => Err(unsolved()),
            Err(MechanismError::Optimiser(Error::Infeasible { .. })) => Err(infeasible()),
            Err(error) => {
                tracing::info!(error = kind(&error), "a user could not be solved alone");
                Err(unsolved())
            }
        }
    }

    /// All users with the y that suits them best; or why they are better off alone, each with the matrix it has.
    fn together(
        &self,
        users: &[(&Coefficients, &UserMatrix)],
        progress: ProgressCallback,
    ) -> Result<Vec<UserMatrix>, &'static str> {
        let (uploads, alone): (Vec<&Coefficients>, Vec<&UserMatrix>) =
            users.iter().copied().unzip();
        if uploads.is_empty() {
            return Err("nobody is left");
        }
        if uploads.len() == 1 && self.catalogue.public_y().is_none() {
            return Err("a round of one");
        }
        if entries(&uploads) > self.settings.most_round_entries {
            return Err("the round is too large to be solved together");
        }
        let ceiling = self.catalogue.ceiling();
        let limit = Duration::from_secs_f64(self.settings.time_limit_seconds);
        let solve = |flags| {
            let mut plan = self.plan(limit, flags);
            plan.solver.progress = Some(progress);
            let (ties, places) = (&self.catalogue.ties, self.catalogue.city.places());
            let programme = Programme::new(&uploads, ties, plan.notion, places, ceiling)?;
            let solution = programme.solve(&plan)?;
            Ok(matrices(self.catalogue, &plan, &programme, &solution, &uploads, Shared::Round))
        };
        let solved = std::panic::AssertUnwindSafe(|| within(limit, self.stop, solve));
        let together = match std::panic::catch_unwind(solved) {
            Ok(Ok(Some(matrices))) => matrices,
            Ok(Ok(None)) => return Err("a matrix of the round was not private"),
            Ok(Err(error)) => return Err(kind(&error)),
            Err(_) => return Err("solving the round panicked"),
        };
        let most = 1.0 + self.settings.most_stranger_cost;
        let costs_little =
            |((upload, alone), together): ((&&Coefficients, &&UserMatrix), &UserMatrix)| {
                let rounding = ROUNDING * ceiling * upload.rows as f64;
                let [alone, together] =
                    [alone, together].map(|matrix| own_cost(upload, matrix, ceiling));
                // What is not a number costs too much.
                together <= most * alone + rounding
            };
        match uploads.iter().zip(&alone).zip(&together).all(costs_little) {
            true => Ok(together),
            false => Err("somebody would pay for strangers"),
        }
    }

    /// The plan of the map, for so long.
    fn plan(&self, limit: Duration, flags: Flags) -> Plan {
        let mut plan = self.catalogue.plan.clone();
        plan.solver.time_limit = Some(limit);
        (plan.solver.cancel, plan.solver.abort) = (Some(flags.cancel), Some(flags.abort));
        plan
    }
}

/// The entries of the programme of some users together.
pub fn entries(uploads: &[&Coefficients]) -> usize {
    let mut columns: Vec<PlaceId> = uploads.iter().flat_map(|u| &u.columns).copied().collect();
    columns.sort_unstable();
    columns.dedup();
    let rows: usize = uploads.iter().map(|upload| upload.rows).sum();
    rows.saturating_mul(columns.len() + 1)
}

/// What went wrong, in words that repeat nothing of an upload.
fn kind(error: &MechanismError) -> &'static str {
    match error {
        MechanismError::Optimiser(Error::Infeasible { .. }) => "no matrix satisfies it",
        MechanismError::Optimiser(Error::StoppedEarly) => "no matrix was found in time",
        MechanismError::Optimiser(Error::NotStrict { .. }) => "no strict matrix was found",
        _ => "the programme was refused",
    }
}

fn infeasible() -> Refusal {
    let message = "no matrix satisfies what was uploaded: a row has no report near enough to put its probability on; \
                   raise r_exp, or upload more columns";
    Refusal { reason: Reason::Infeasible, message: message.into(), field: None }
}

/// A user's own programme asks for more than a user gets.
fn unsolved() -> Refusal {
    let message = "your programme could not be solved in the time that a user has; cap the relevant places, or use \
                   mode `local` or `published`";
    Refusal { reason: Reason::TooLarge, message: message.into(), field: None }
}

/// The server's fault.
pub fn internal() -> Refusal {
    let message = "the round could not be solved; join again";
    Refusal { reason: Reason::Internal, message: message.into(), field: None }
}
