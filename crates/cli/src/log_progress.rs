//! How far long work is, in the log: for whoever watches a service and not a terminal.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use lrgeo_map::progress::Progress;
use lrgeo_optim::ProgressCallback;

/// How often a step that goes on says so.
const EVERY: Duration = Duration::from_secs(10);

/// One line when a step begins, one every ten seconds, one when it took longer than that.
#[derive(Default)]
pub struct LogProgress {
    step: Mutex<Option<Step>>,
    done: AtomicU64,
}

struct Step {
    name: &'static str,
    total: u64,
    begun: Instant,
    said: Instant,
}

impl Progress for LogProgress {
    fn begin(&self, step: &'static str, total: u64) {
        tracing::info!(step, "begins");
        self.done.store(0, Ordering::Relaxed);
        if let Ok(mut slot) = self.step.lock() {
            let now = Instant::now();
            *slot = Some(Step { name: step, total, begun: now, said: now });
        }
    }

    fn advance(&self, units: u64) {
        let done = self.done.fetch_add(units, Ordering::Relaxed) + units;
        // Whoever finds another thread speaking need not.
        let Ok(mut slot) = self.step.try_lock() else { return };
        let Some(step) = slot.as_mut().filter(|step| step.said.elapsed() >= EVERY) else { return };
        step.said = Instant::now();
        let percent = (100 * done).checked_div(step.total).unwrap_or(0);
        tracing::info!(
            step = step.name,
            percent,
            seconds = step.begun.elapsed().as_secs(),
            "goes on"
        );
    }

    fn end(&self) {
        let step = self.step.lock().ok().and_then(|mut slot| slot.take());
        if let Some(step) = step.filter(|step| step.begun.elapsed() >= EVERY) {
            tracing::info!(step = step.name, seconds = step.begun.elapsed().as_secs(), "is done");
        }
    }
}

/// The same for what an engine has reached: cost, bound and gap every ten seconds.
pub fn log_solving() -> ProgressCallback {
    let said = Mutex::new(Instant::now());
    std::sync::Arc::new(move |progress| {
        let Ok(mut said) = said.try_lock() else { return };
        if said.elapsed() >= EVERY {
            *said = Instant::now();
            let (cost, bound, gap) = (progress.upper_bound, progress.lower_bound, progress.gap);
            tracing::info!(iteration = progress.iteration, cost, bound, gap, "solving goes on");
        }
    })
}
