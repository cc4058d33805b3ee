//! What there is to see: a generated city to try everything on ([`demo`]), and maps as pictures ([`draw`]).
//!
//! Nobody's phone needs either, so they have a crate of their own.

pub mod demo;
pub mod draw;
