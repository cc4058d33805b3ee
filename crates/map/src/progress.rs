//! How long work tells how far it is. The library prints nothing itself.

/// Someone who wants to know how far a long step is.
pub trait Progress: Sync {
    /// A step of `total` units begins; 0 when the number is not known.
    fn begin(&self, step: &'static str, total: u64);
    /// `units` more are done. Called from any thread.
    fn advance(&self, units: u64);
    /// The step is over.
    fn end(&self);
}

/// Nobody wants to know.
impl Progress for () {
    fn begin(&self, _: &'static str, _: u64) {}
    fn advance(&self, _: u64) {}
    fn end(&self) {}
}
