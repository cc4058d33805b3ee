//! Time for one piece of work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How often the flags are looked after.
const TICK: Duration = Duration::from_millis(20);

/// So much later than asked to stop, work is given up. Where it was about to end it has by then.
const GRACE: Duration = Duration::from_secs(1);

/// How work is told that its time is over.
#[derive(Clone, Default)]
pub struct Flags {
    /// To end with the best so far.
    pub cancel: Arc<AtomicBool>,
    /// To end at once, with nothing.
    pub abort: Arc<AtomicBool>,
}

/// Does some work with flags that are raised when its time is over, or the server stops.
///
/// An engine has a time limit of its own, but a solve may take several engines after one another (`optim::presolve::idle_columns`), each
/// starts its watch anew, and looks at it between iterations only. The flags are the watch of all of them.
pub fn within<T>(limit: Duration, stop: &AtomicBool, work: impl FnOnce(Flags) -> T) -> T {
    let (flags, begun) = (Flags::default(), Instant::now());
    let (working, done) = channel::<()>();
    let raised = flags.clone();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // Whichever way the work ends, its side of the channel is gone then.
            while done.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                let stopping = stop.load(Ordering::Relaxed);
                if stopping || begun.elapsed() >= limit {
                    raised.cancel.store(true, Ordering::Relaxed);
                }
                // What a server that stops has not finished is left for the next start.
                if stopping || begun.elapsed() >= limit + GRACE {
                    raised.abort.store(true, Ordering::Relaxed);
                }
            }
        });
        let _working = working;
        work(flags)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn until_raised(flag: &AtomicBool) -> Duration {
        let begun = Instant::now();
        while !flag.load(Ordering::Relaxed) {
            assert!(begun.elapsed() < Duration::from_secs(20), "never raised");
            std::thread::sleep(Duration::from_millis(1));
        }
        begun.elapsed()
    }

    #[test]
    fn the_flags_are_raised_when_time_is_over_one_after_the_other_and_not_before() {
        let limit = Duration::from_millis(100);
        let [cancelled, aborted] = within(limit, &AtomicBool::new(false), |flags| {
            [flags.cancel, flags.abort].map(|flag| until_raised(&flag))
        });
        let early = Duration::from_millis(5);
        assert!(cancelled + early >= limit, "{cancelled:?}");
        assert!(cancelled + aborted + early >= limit + GRACE, "{cancelled:?}, {aborted:?}");
    }

    #[test]
    fn both_flags_are_raised_when_the_server_stops() {
        let stop = AtomicBool::new(true);
        within(Duration::from_secs(3600), &stop, |flags| {
            for flag in [flags.cancel, flags.abort] {
                until_raised(&flag);
            }
        });
    }

    #[test]
    fn work_that_panics_leaves_nobody_waiting() {
        let stop = AtomicBool::new(false);
        let panicking = std::panic::AssertUnwindSafe(|| {
            within(Duration::from_secs(3600), &stop, |_| panic!("as it was told to"))
        });
        assert!(std::panic::catch_unwind(panicking).is_err());
    }
}
