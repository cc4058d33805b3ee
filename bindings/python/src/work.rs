//! Long work on a thread of its own, while this one holds the interpreter: progress is told, Ctrl-C is heard.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use lrgeo_optim::{Progress, ProgressCallback, Settings};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// How often somebody who pressed Ctrl-C is listened to.
const LISTEN: Duration = Duration::from_millis(100);

/// What the worker tells.
#[derive(Default)]
struct Told {
    latest: Option<Progress>,
    done: bool,
}

/// Runs `work` with settings whose progress goes to `callback` and which Ctrl-C cancels: the optimisers then end with the
/// best so far, and so does this. An error of the callback ends the work likewise and is raised.
pub fn run<T: Send>(
    py: Python<'_>,
    callback: Option<&Bound<'_, PyAny>>,
    time_limit: Option<f64>,
    gap: Option<f64>,
    work: impl FnOnce(Settings) -> T + Send,
) -> PyResult<T> {
    let shared = Arc::new((Mutex::new(Told::default()), Condvar::new()));
    let cancel = Arc::new(AtomicBool::new(false));
    let settings = settings(&shared, &cancel, callback.is_some(), time_limit, gap);
    let mut failed = None;
    let result = std::thread::scope(|scope| {
        let telling = shared.clone();
        let worker = scope.spawn(move || {
            let done = Done(telling);
            let result = work(settings);
            drop(done);
            result
        });
        loop {
            let latest = py.detach(|| wait(&shared));
            if let (Some(callback), Some(progress), None) = (callback, latest.0, &failed) {
                failed = told(py, callback, &progress).err();
            }
            if failed.is_none() && py.check_signals().is_err() {
                cancel.store(true, Ordering::Relaxed);
            }
            if failed.is_some() {
                cancel.store(true, Ordering::Relaxed);
            }
            if latest.1 {
                return py.detach(|| worker.join());
            }
        }
    });
    match (result, failed) {
        (_, Some(error)) => Err(error),
        (Ok(result), None) => Ok(result),
        (Err(panic), None) => std::panic::resume_unwind(panic),
    }
}

/// Says that the work is over, also where it panics.
struct Done(Arc<(Mutex<Told>, Condvar)>);

impl Drop for Done {
    fn drop(&mut self) {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).done = true;
        self.0.1.notify_all();
    }
}

fn wait(shared: &(Mutex<Told>, Condvar)) -> (Option<Progress>, bool) {
    let (told, news) = shared;
    let guard = told.lock().unwrap_or_else(PoisonError::into_inner);
    let quiet = |told: &mut Told| !told.done && told.latest.is_none();
    let (mut guard, _) =
        news.wait_timeout_while(guard, LISTEN, quiet).unwrap_or_else(PoisonError::into_inner);
    (guard.latest.take(), guard.done)
}

fn settings(
    shared: &Arc<(Mutex<Told>, Condvar)>,
    cancel: &Arc<AtomicBool>,
    wanted: bool,
    time_limit: Option<f64>,
    gap: Option<f64>,
) -> Settings {
    let shared = shared.clone();
    let tell: ProgressCallback = Arc::new(move |progress: &Progress| {
        shared.0.lock().unwrap_or_else(PoisonError::into_inner).latest = Some(*progress);
        shared.1.notify_all();
    });
    let default = Settings::default();
    Settings {
        cancel: Some(cancel.clone()),
        progress: wanted.then_some(tell),
        time_limit: time_limit.map(Duration::from_secs_f64),
        gap: gap.unwrap_or(default.gap),
        ..default
    }
}

fn told(py: Python<'_>, callback: &Bound<'_, PyAny>, progress: &Progress) -> PyResult<()> {
    let said = PyDict::new(py);
    said.set_item("iteration", progress.iteration)?;
    said.set_item("upper_bound", progress.upper_bound)?;
    said.set_item("lower_bound", progress.lower_bound)?;
    said.set_item("gap", progress.gap)?;
    said.set_item("seconds", progress.seconds)?;
    callback.call1((said,)).map(|_| ())
}
