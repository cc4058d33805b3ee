//! Rounds of invented users, solved by Benders' decomposition both ways, to be watched: the letter of the paper, and along the central path.
//!
//! Each size of a round is solved once in the life of a server, one at a time, on one thread and for a limited time, however many watch
//! and however often: whoever comes later gets the recording. So nobody can keep the server busy with it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use lrgeo_geo::PlaceId;
use lrgeo_geo::rng::SplitMix;
use lrgeo_mechanism::Radii;
use lrgeo_mechanism::lr_geo::coefficients::{Costs, UserPart};
use lrgeo_mechanism::lr_geo::round::Programme;
use lrgeo_mechanism::relevant::{TieRule, geo_ind_graph};
use lrgeo_optim::benders::{Guide, Options, solve_with};
use lrgeo_protocol::{Reason, Refusal};
use serde::Serialize;
use tokio::sync::watch;

use crate::catalogue::Catalogue;
use crate::solve::{entries, within};

/// How many users a round may have.
pub const ROUND_SIZES: [usize; 3] = [2, 4, 6];
/// Each of the two ways gets so long.
const LIMIT: Duration = Duration::from_secs(12);
/// Who is in a round follows from this and from its size.
const SEED: u64 = 19;
/// Relevant places of each, so that both ways end in seconds.
const RELEVANT: usize = 12;
/// Gamma, r_exp and r_obf in spacings: those of the paper's evaluation. Larger ones, as servers choose for `local`, leave so few entries tied that users
/// hardly share anything, and there is nothing to decompose.
const RADII: [f64; 3] = [4.26, 2.13, 8.5];
/// Solved as well as this, relative to the cost.
const GAP: f64 = 1e-4;
/// Of a user's row, entries below this are not sent.
const NEGLIGIBLE: f64 = 1e-6;

/// What happened in a round, one after the other.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Event {
    /// Who is in it. None of them exists.
    Users {
        /// Their places.
        places: Vec<PlaceId>,
        /// The places relevant to each.
        relevant: Vec<Vec<PlaceId>>,
        /// The reports that each may make.
        reported: Vec<usize>,
    },
    /// The bounds after an iteration, in km per report.
    Bounds {
        /// `plain` or `path`.
        engine: &'static str,
        /// Of this engine.
        seconds: f64,
        /// How many.
        iteration: usize,
        /// The cost of the best matrix so far.
        upper: Option<f64>,
        /// What no matrix costs less than.
        lower: f64,
    },
    /// An engine is done.
    Solved {
        /// `plain` or `path`.
        engine: &'static str,
        /// How long it took.
        seconds: f64,
        /// Cost and bound, in km per report; absent where it found no matrix in time.
        cost: Option<f64>,
        /// See `cost`.
        lower: Option<f64>,
        /// Of each user, the reports from its own place: place and probability.
        rows: Vec<Vec<(PlaceId, f64)>>,
    },
    /// Nothing more comes.
    End,
}

/// Where events go.
type Tell = Arc<dyn Fn(Event) + Send + Sync>;

/// What is known of a round so far.
type Recording = watch::Receiver<Vec<Event>>;

/// All rounds of invented users.
pub struct Invented {
    catalogue: Arc<Catalogue>,
    recordings: Mutex<HashMap<usize, Recording>>,
    /// One is solved at a time.
    solving: Arc<Mutex<()>>,
    stop: Arc<AtomicBool>,
}

impl Invented {
    pub fn new(catalogue: Arc<Catalogue>) -> Self {
        Self {
            catalogue,
            recordings: Mutex::default(),
            solving: Arc::default(),
            stop: Arc::default(),
        }
    }

    /// A round of so many users, as far as it is known; it begins when somebody asks for it first.
    pub fn watch(self: &Arc<Self>, users: usize) -> Result<Recording, Refusal> {
        if !ROUND_SIZES.contains(&users) {
            let message = format!("must be one of {ROUND_SIZES:?}");
            let field = Some("users".to_owned());
            return Err(Refusal { reason: Reason::InvalidField, message, field });
        }
        let mut recordings = self.recordings.lock().unwrap_or_else(PoisonError::into_inner);
        let recording = recordings.entry(users).or_insert_with(|| {
            let (sender, receiver) = watch::channel(Vec::new());
            let (invented, solving) = (self.clone(), self.solving.clone());
            tokio::task::spawn_blocking(move || {
                let _alone = solving.lock().unwrap_or_else(PoisonError::into_inner);
                let tell: Tell = Arc::new(move |event| {
                    sender.send_modify(|events: &mut Vec<Event>| events.push(event));
                });
                let solve = std::panic::AssertUnwindSafe(|| invented.solve(users, &tell));
                if std::panic::catch_unwind(solve).is_err() {
                    tracing::error!("solving a round of invented users panicked");
                }
                tell(Event::End);
            });
            receiver
        });
        Ok(recording.clone())
    }

    /// Stops what is being solved.
    pub fn cancel(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    fn solve(&self, users: usize, tell: &Tell) {
        let Catalogue { city, plan, .. } = &*self.catalogue;
        let mut plan = plan.clone();
        let [relevant, exponential, obfuscation] = RADII.map(|n| n * city.spacing_km());
        plan.radii = Radii { relevant, relevant_max: Some(RELEVANT), exponential, obfuscation };
        plan.alike = None;
        let Ok(ties) = &TieRule::of(&plan, city) else { return };
        let graph = geo_ind_graph(city, &plan);
        let parts: Vec<UserPart> = self
            .places(users)
            .into_iter()
            .map(|place| {
                let costs = Costs::of(city, self.catalogue.tables(), city.shares_at(place));
                UserPart::prepare(city, graph.as_deref(), &costs, (&plan, ties), place)
            })
            .collect();
        tell(Event::Users {
            places: parts.iter().map(|part| part.place).collect(),
            relevant: parts.iter().map(|part| part.relevant.clone()).collect(),
            reported: parts.iter().map(|part| part.upload.columns.len()).collect(),
        });
        let uploads: Vec<_> = parts.iter().map(|part| &part.upload).collect();
        let people = parts.iter().flat_map(|part| &part.relevant);
        let weight = people.map(|i| city.prior()[i.index()]).sum::<f64>().max(f64::MIN_POSITIVE);
        let programme =
            Programme::new(&uploads, ties, plan.notion, city.places(), self.catalogue.ceiling());
        let Ok(programme) = programme.inspect_err(|error| tracing::warn!(%error, "invented users"))
        else {
            return;
        };
        tracing::info!(users, entries = entries(&uploads), "solving a round of invented users");
        for (engine, guide) in [("path", Guide::CentralPath), ("plain", Guide::Master)] {
            let begun = Instant::now();
            let solved = within(LIMIT, &self.stop, |flags| {
                let mut settings = plan.settings(GAP);
                (settings.gap, settings.time_limit, settings.threads) = (GAP, Some(LIMIT), 1);
                (settings.cancel, settings.abort) = (Some(flags.cancel), Some(flags.abort));
                let tell = tell.clone();
                settings.progress = Some(Arc::new(move |p: &lrgeo_optim::Progress| {
                    let upper = Some(p.upper_bound / weight).filter(|bound| bound.is_finite());
                    let (iteration, lower) = (p.iteration, p.lower_bound / weight);
                    let seconds = begun.elapsed().as_secs_f64();
                    tell(Event::Bounds { engine, seconds, iteration, upper, lower });
                }));
                let options = Options { guide, reports: weight, absolute_gap: 0.0 };
                solve_with(&programme.problem, &settings, &options)
            });
            let seconds = begun.elapsed().as_secs_f64();
            let (mut cost, mut lower, mut rows) = (None, None, Vec::new());
            if let Ok(solution) = &solved {
                (cost, lower) =
                    (Some(solution.objective / weight), Some(solution.lower_bound / weight));
                let matrices = programme.split(solution);
                // The own place is the first row.
                let own = |matrix: &Vec<f64>| {
                    let row = programme.columns.iter().copied().zip(matrix.iter().copied());
                    row.filter(|(_, probability)| *probability > NEGLIGIBLE).collect()
                };
                rows = matrices.iter().map(own).collect();
            }
            tell(Event::Solved { engine, seconds, cost, lower, rows });
        }
    }

    /// Where they are: places drawn from the prior, all different.
    fn places(&self, users: usize) -> Vec<PlaceId> {
        let prior = self.catalogue.city.prior();
        let mut rng = SplitMix::new(SEED);
        let mut chosen: Vec<PlaceId> = Vec::new();
        while chosen.len() < users.min(prior.len()) {
            let free = |i: &usize| !chosen.contains(&PlaceId::at(*i));
            // A prior that is zero wherever nobody is yet counts as even.
            let total: f64 = (0..prior.len()).filter(free).map(|i| prior[i]).sum();
            let weight = |i: usize| if total > 0.0 { prior[i] } else { 1.0 };
            let all: f64 = (0..prior.len()).filter(free).map(weight).sum();
            let mut left = rng.unit() * all;
            let drawn = (0..prior.len()).filter(free).find(|&i| {
                left -= weight(i);
                left <= 0.0
            });
            let last = (0..prior.len()).rfind(free);
            chosen.extend(drawn.or(last).map(PlaceId::at));
        }
        chosen
    }
}
