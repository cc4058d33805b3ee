//! The phone: fetches, prepares, verifies, remembers, draws, reports.
