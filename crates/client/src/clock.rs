//! What time it is, passed in.

use std::time::Duration;

/// A clock.
pub trait Clock {
    /// The time since 1970, leap seconds not counted.
    fn since_1970(&self) -> Duration;
}

/// The clock of the machine.
#[cfg(feature = "system")]
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

#[cfg(feature = "system")]
impl Clock for SystemClock {
    fn since_1970(&self) -> Duration {
        // A clock before 1970 counts as 1970: the ledger then sees it going backwards.
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default()
    }
}

impl<F: Fn() -> Duration> Clock for F {
    fn since_1970(&self) -> Duration {
        self()
    }
}
