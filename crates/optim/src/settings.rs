//! How long and how well to solve; clock, cancellation and progress are passed in.

use crate::error::Error;
use crate::matrix::Matrix;
use crate::solve::Engine;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A monotonic clock. Injected, so that the engine runs where there is none (WebAssembly) and so
/// that tests can stop it at will.
pub trait Clock: Send + Sync {
    /// Time since some fixed moment.
    fn now(&self) -> Duration;
}

/// The operating system's monotonic clock.
#[cfg(not(target_family = "wasm"))]
#[derive(Debug, Clone, Copy)]
pub struct StdClock(std::time::Instant);

#[cfg(not(target_family = "wasm"))]
impl Default for StdClock {
    fn default() -> Self {
        Self(std::time::Instant::now())
    }
}

#[cfg(not(target_family = "wasm"))]
impl Clock for StdClock {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }
}

/// What a solver reports after every iteration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Iterations done.
    pub iteration: usize,
    /// Cost of the best matrix so far, which would be the result if the solve were stopped now; infinite before there is one.
    pub upper_bound: f64,
    /// Best proven lower bound.
    pub lower_bound: f64,
    /// Relative gap between the two, see [`crate::relative_gap`].
    pub gap: f64,
    /// The gap that the iterate promises; a matrix that keeps it has yet to be made.
    pub promised: f64,
    /// Columns (rays, cuts) in the master problem.
    pub columns: usize,
    /// Seconds since the start; zero without a clock.
    pub seconds: f64,
}

/// Called after every iteration, from the solving thread.
pub type ProgressCallback = Arc<dyn Fn(&Progress) + Send + Sync>;

/// Settings common to all engines.
#[derive(Clone)]
pub struct Settings {
    /// Who solves it.
    pub engine: Engine,
    /// A matrix to begin with: a mechanism that needs no optimiser, say. If it holds, nothing dearer comes out.
    pub start: Option<Arc<Matrix>>,
    /// Stop once the relative gap is at most this.
    pub gap: f64,
    /// Stop after this much time, with the best matrix and bound so far. Needs a clock.
    pub time_limit: Option<Duration>,
    /// The clock; without one, `seconds` is reported as zero.
    pub clock: Option<Arc<dyn Clock>>,
    /// Set to true from anywhere to stop as if the time limit had come.
    pub cancel: Option<Arc<AtomicBool>>,
    /// Set to true from anywhere to give up at once, without a matrix. Stopping otherwise ends the iteration at hand and proves
    /// what was found, and an iteration may take long where somebody wants it to.
    pub abort: Option<Arc<AtomicBool>>,
    /// Whether the result is wanted when the time limit comes, rather than as soon after as the iteration at hand and the
    /// proof allow. The last iteration is then begun early enough, going by those before it.
    pub on_time: bool,
    /// Called after every iteration.
    pub progress: Option<ProgressCallback>,
    /// Number of threads; 0 means all. Without feature `parallel` always one.
    pub threads: usize,
}

impl Default for Settings {
    fn default() -> Self {
        #[cfg(not(target_family = "wasm"))]
        let clock: Option<Arc<dyn Clock>> = Some(Arc::new(StdClock::default()));
        #[cfg(target_family = "wasm")]
        let clock = None;
        Self {
            engine: Engine::Auto,
            start: None,
            gap: 1e-6,
            time_limit: None,
            clock,
            cancel: None,
            abort: None,
            on_time: false,
            progress: None,
            threads: 0,
        }
    }
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Settings")
            .field("gap", &self.gap)
            .field("time_limit", &self.time_limit)
            .field("threads", &self.threads)
            .finish_non_exhaustive()
    }
}

impl Settings {
    /// Default settings with another gap.
    pub fn to_gap(gap: f64) -> Self {
        Self { gap, ..Self::default() }
    }

    /// Does the work on as many threads as the settings say.
    #[cfg(feature = "parallel")]
    pub(crate) fn on_threads<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        if self.threads > 0
            && let Ok(pool) = rayon::ThreadPoolBuilder::new().num_threads(self.threads).build()
        {
            return pool.install(work);
        }
        // All threads, or no threads to be had: the global pool serves as well.
        work()
    }

    /// Starts the watch; the settings themselves are checked here.
    pub fn start_watch(&self) -> Result<Stop<'_>, Error> {
        if !(self.gap >= 0.0 && self.gap.is_finite()) {
            let (index, range) = (vec![], "[0, infinity)");
            return Err(Error::OutOfRange { field: "settings.gap", index, value: self.gap, range });
        }
        if self.time_limit.is_some() && self.clock.is_none() {
            return Err(Error::ClockMissing);
        }
        let started = self.clock.as_ref().map_or(Duration::ZERO, |clock| clock.now());
        Ok(Stop { settings: self, started })
    }
}

/// The watch of one solve: how long it has run and whether it must stop.
#[derive(Debug, Clone, Copy)]
pub struct Stop<'a> {
    settings: &'a Settings,
    started: Duration,
}

impl Stop<'_> {
    /// Seconds since the start; zero without a clock.
    pub fn seconds(&self) -> f64 {
        let clock = self.settings.clock.as_ref();
        clock.map_or(0.0, |clock| clock.now().saturating_sub(self.started).as_secs_f64())
    }

    /// Whether the time limit has passed, or the caller has cancelled or given up.
    pub fn requested(&self) -> bool {
        let cancelled = self.settings.cancel.as_ref();
        cancelled.is_some_and(|flag| flag.load(Ordering::Relaxed))
            || self.aborted()
            || self.seconds_left() <= 0.0
    }

    /// Whether work of so many seconds would end after the time limit, where the result is wanted by then.
    pub fn is_too_late_for(&self, seconds: f64) -> bool {
        self.settings.on_time && self.seconds_left() <= seconds
    }

    /// Seconds until the time limit; infinite without one.
    pub fn seconds_left(&self) -> f64 {
        let limit = self.settings.time_limit;
        limit.map_or(f64::INFINITY, |limit| limit.as_secs_f64() - self.seconds())
    }

    /// Whether the caller wants no result any more.
    pub fn aborted(&self) -> bool {
        self.settings.abort.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// Hands one iteration to the progress callback.
    pub fn report(&self, progress: Progress) {
        if let Some(callback) = &self.settings.progress {
            callback(&Progress { seconds: self.seconds(), ..progress });
        }
    }
}
