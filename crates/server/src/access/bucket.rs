//! So many a second: a bucket that fills at a steady rate and is emptied by requests.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A bucket holds this many seconds of its rate, and never less than one request: who was quiet may be quick for a moment.
const BURST_SECONDS: f64 = 2.0;

/// The bucket.
pub struct Bucket {
    per_second: f64,
    level: Mutex<(f64, Instant)>,
}

impl Bucket {
    /// Full at first. Not positive: no limit.
    pub fn new(per_second: f64) -> Self {
        let full = Self::size(per_second);
        Self { per_second, level: Mutex::new((full, Instant::now())) }
    }

    fn size(per_second: f64) -> f64 {
        (BURST_SECONDS * per_second).max(1.0)
    }

    /// Its rate.
    pub fn per_second(&self) -> f64 {
        self.per_second
    }

    /// Takes one, or says how long until there is one.
    pub fn take(&self) -> Result<(), Duration> {
        self.take_at(Instant::now())
    }

    fn take_at(&self, now: Instant) -> Result<(), Duration> {
        if self.per_second <= 0.0 {
            return Ok(());
        }
        let mut level = self.level.lock().unwrap_or_else(PoisonError::into_inner);
        let (before, at) = *level;
        let gained = now.saturating_duration_since(at).as_secs_f64() * self.per_second;
        let filled = (before + gained).min(Self::size(self.per_second));
        let taken = filled >= 1.0;
        *level = (if taken { filled - 1.0 } else { filled }, now.max(at));
        match taken {
            true => Ok(()),
            false => Err(Duration::from_secs_f64(((1.0 - filled) / self.per_second).min(3600.0))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_a_burst_requests_pass_at_the_rate() {
        let begun = Instant::now();
        let bucket = Bucket::new(10.0);
        let after = |milliseconds| begun + Duration::from_millis(milliseconds);
        // Two seconds' worth at once, and a tenth of a second until the next.
        let burst = (0..100).take_while(|_| bucket.take_at(after(1)).is_ok()).count();
        assert_eq!(burst, 20);
        let wait = bucket.take_at(after(1)).unwrap_err();
        assert!((0.09..=0.1).contains(&wait.as_secs_f64()), "{wait:?}");
        let passed = (0..10_000).filter(|ms| bucket.take_at(after(1 + ms)).is_ok()).count();
        assert!((99..=101).contains(&passed), "{passed} in ten seconds");
        // A clock that goes back gives nothing.
        assert!(bucket.take_at(begun).is_err());
    }

    #[test]
    fn a_slow_bucket_still_lets_one_through_and_no_rate_is_no_limit() {
        let slow = Bucket::new(0.01);
        assert!(slow.take().is_ok() && slow.take().is_err());
        let none = Bucket::new(0.0);
        assert!((0..1000).all(|_| none.take().is_ok()));
    }
}
