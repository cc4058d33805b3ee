//! Mechanisms: what a place reports, and the proof that it may.
