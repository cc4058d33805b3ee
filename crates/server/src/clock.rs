//! What time it is, for a process that must not be led astray by somebody who sets the clock.

use std::sync::LazyLock;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// The system's clock is asked once; from then on time passes, whatever it is set to.
static STARTED: LazyLock<(u64, Instant)> = LazyLock::new(|| {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
    (since_1970.map_or(0, |since| since.as_secs()), Instant::now())
});

/// Seconds since 1970.
pub fn now() -> u64 {
    let (since_1970, begun) = *STARTED;
    since_1970 + begun.elapsed().as_secs()
}
