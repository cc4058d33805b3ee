//! Long work on a thread of its own, while this one holds the interpreter: progress is told, Ctrl-C is heard.
//!
//! There are two kinds. Solving ends with the best so far ([`solve`]); everything else has nothing to show before its end
//! and is given up ([`finish`]).

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lrgeo_map::progress::Progress as Steps;
use lrgeo_optim::{Progress as Bounds, ProgressCallback, Settings};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};

/// How often somebody who pressed Ctrl-C is listened to.
const LISTEN: Duration = Duration::from_millis(100);

/// What `progress` is in all signatures: nothing, `True`, or what is called with a dict.
pub type Callback<'a, 'py> = Option<&'a Bound<'py, PyAny>>;

/// Runs a solve with what its settings need to tell progress and to end early. Ctrl-C ends it with the best so far; pressed
/// again, or where the callback fails, the work is given up and the error raised.
pub fn solve<T: Send>(
    py: Python<'_>,
    callback: Callback<'_, '_>,
    work: impl FnOnce(&Worker) -> T + Send,
) -> PyResult<T> {
    run(py, callback, true, work)
}

/// Runs anything else. Ctrl-C ends it at its next step and is raised.
pub fn finish<T: Send>(
    py: Python<'_>,
    callback: Callback<'_, '_>,
    work: impl FnOnce(&Worker) -> T + Send,
) -> PyResult<T> {
    run(py, callback, false, work)
}

fn run<T: Send>(
    py: Python<'_>,
    callback: Callback<'_, '_>,
    mut best_so_far: bool,
    work: impl FnOnce(&Worker) -> T + Send,
) -> PyResult<T> {
    let watcher = Watcher::new(py, callback)?;
    let shared = Arc::new(Shared::default());
    let worker = Worker(shared.clone());
    let mut failed: Option<PyErr> = None;
    let result = std::thread::scope(|scope| {
        let thread = scope.spawn(move || {
            let _done = Done(worker.0.clone());
            work(&worker)
        });
        loop {
            let (news, done) = py.detach(|| shared.wait());
            if failed.is_none() {
                let heard = watcher.tell(&news).and_then(|()| py.check_signals());
                if let Err(error) = heard {
                    shared.cancel.store(true, Ordering::Relaxed);
                    if best_so_far && error.is_instance_of::<PyKeyboardInterrupt>(py) {
                        best_so_far = false;
                    } else {
                        shared.given_up.store(true, Ordering::Relaxed);
                        failed = Some(error);
                    }
                }
            }
            if done {
                return py.detach(|| thread.join());
            }
        }
    });
    watcher.close()?;
    match (result, failed) {
        (_, Some(error)) => Err(error),
        (Ok(result), None) => Ok(result),
        (Err(panic), None) => std::panic::resume_unwind(panic),
    }
}

/// What both threads know.
#[derive(Default)]
struct Shared {
    news: Mutex<News>,
    changed: Condvar,
    /// Units of the step that are done.
    done: AtomicU64,
    /// Solvers end with what they have.
    cancel: Arc<AtomicBool>,
    /// Nobody waits for the result any more.
    given_up: AtomicBool,
}

/// What the worker told last.
#[derive(Clone, Copy, Default)]
struct News {
    bounds: Option<Bounds>,
    step: Option<(&'static str, u64, u64)>,
    over: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, News> {
        self.news.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, news: impl FnOnce(&mut News)) {
        news(&mut self.lock());
        self.changed.notify_all();
    }

    /// Waits for news, not for long; and whether the work is over.
    fn wait(&self) -> (News, bool) {
        let quiet = |news: &mut News| !news.over && news.bounds.is_none();
        let waited = self.changed.wait_timeout_while(self.lock(), LISTEN, quiet);
        let (mut guard, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let mut news = *guard;
        guard.bounds = None;
        if let Some((_, done, _)) = &mut news.step {
            *done = self.done.load(Ordering::Relaxed);
        }
        (news, news.over)
    }
}

/// Says that the work is over, also where it panics.
struct Done(Arc<Shared>);

impl Drop for Done {
    fn drop(&mut self) {
        self.0.tell(|news| news.over = true);
    }
}

/// What work tells, and hears.
pub struct Worker(Arc<Shared>);

impl Worker {
    /// For an optimiser that tells its bounds and can be ended.
    pub fn settings(&self, time_limit: Option<Duration>, gap: Option<f64>) -> Settings {
        let shared = self.0.clone();
        let tell: ProgressCallback =
            Arc::new(move |bounds: &Bounds| shared.tell(|news| news.bounds = Some(*bounds)));
        let default = Settings::default();
        Settings {
            cancel: Some(self.0.cancel.clone()),
            progress: Some(tell),
            time_limit,
            gap: gap.unwrap_or(default.gap),
            ..default
        }
    }
}

/// The payload that unwinds work which was given up.
struct GivenUp;

impl Steps for Worker {
    fn begin(&self, step: &'static str, total: u64) {
        self.0.done.store(0, Ordering::Relaxed);
        self.0.tell(|news| news.step = Some((step, 0, total)));
    }

    fn advance(&self, units: u64) {
        self.0.done.fetch_add(units, Ordering::Relaxed);
        if self.0.given_up.load(Ordering::Relaxed) {
            // Steps have no other way out in the middle. Nothing is printed: this is no panic, and it ends in `run`.
            std::panic::resume_unwind(Box::new(GivenUp));
        }
    }

    fn end(&self) {
        self.0.lock().step = None;
    }
}

/// Who is told: nobody, a function, or a bar of tqdm's that is ours to close.
struct Watcher<'py> {
    callback: Option<Bound<'py, PyAny>>,
    own: bool,
}

impl<'py> Watcher<'py> {
    fn new(py: Python<'py>, progress: Callback<'_, '_>) -> PyResult<Self> {
        let Some(progress) = progress else { return Ok(Self { callback: None, own: false }) };
        match progress.cast::<PyBool>().map(|flag| flag.is_true()) {
            Ok(true) => {
                let bar = py.import("lrgeo")?.getattr("progress_bar")?.call0()?;
                Ok(Self { callback: Some(bar), own: true })
            }
            Ok(false) => Ok(Self { callback: None, own: false }),
            Err(_) => {
                let callback = progress.clone().unbind().into_bound(py);
                Ok(Self { callback: Some(callback), own: false })
            }
        }
    }

    fn tell(&self, news: &News) -> PyResult<()> {
        let Some(callback) = &self.callback else { return Ok(()) };
        if let Some(bounds) = news.bounds {
            let said = PyDict::new(callback.py());
            said.set_item("iteration", bounds.iteration)?;
            said.set_item("upper_bound", bounds.upper_bound)?;
            said.set_item("lower_bound", bounds.lower_bound)?;
            said.set_item("gap", bounds.gap)?;
            said.set_item("seconds", bounds.seconds)?;
            callback.call1((said,))?;
        } else if let Some((step, done, total)) = news.step {
            let said = PyDict::new(callback.py());
            said.set_item("step", step)?;
            said.set_item("done", done)?;
            said.set_item("total", total)?;
            callback.call1((said,))?;
        }
        Ok(())
    }

    fn close(&self) -> PyResult<()> {
        match &self.callback {
            Some(bar) if self.own => bar.call_method0("close").map(|_| ()),
            _ => Ok(()),
        }
    }
}
