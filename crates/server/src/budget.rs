//! So many bytes of something at a time, and no more.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What may be held, and what is.
pub struct Budget {
    most: usize,
    held: AtomicUsize,
}

/// A share of a budget; given back when dropped.
pub struct Held {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Budget {
    /// Of so many bytes.
    pub fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, held: AtomicUsize::new(0) })
    }

    /// Nothing of it yet.
    pub fn share(self: &Arc<Self>) -> Held {
        Held { budget: self.clone(), bytes: 0 }
    }

    /// So much of it, if there is as much left.
    pub fn hold(self: &Arc<Self>, bytes: usize) -> Option<Held> {
        let mut held = self.share();
        held.grow(bytes).then_some(held)
    }
}

impl Held {
    /// Takes more, if there is as much left.
    pub fn grow(&mut self, bytes: usize) -> bool {
        let Budget { most, held } = &*self.budget;
        let more = |held: usize| held.checked_add(bytes).filter(|sum| sum <= most);
        let fits = held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok();
        self.bytes += if fits { bytes } else { 0 };
        fits
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.budget.held.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_back_can_be_held_again() {
        let budget = Budget::new(10);
        let mut first = budget.hold(6).unwrap();
        assert!(budget.hold(5).is_none() && first.grow(4) && !first.grow(1));
        drop(first);
        assert!(budget.hold(10).is_some() && budget.hold(usize::MAX).is_none());
    }
}
