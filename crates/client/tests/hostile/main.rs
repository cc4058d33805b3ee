//! The operator is the adversary: it signs everything correctly, and what it says is well-formed and weaker than it says.
//! Nothing of it is accepted with a worse guarantee than the owner's policy asks for.

#[path = "../common/mod.rs"]
mod common;

mod chain;
mod programmes;
mod promises;
mod published;
mod scene;
mod tiles;
