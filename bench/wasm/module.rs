//! The engine as a WebAssembly module: two programmes of `problems.rs`, solved on demand.

// Exporting a name is what needs the word; there is no unsafe code behind it.
#![allow(unsafe_code)]

mod problems;

/// Cost of the OMG of a grid.
#[unsafe(no_mangle)]
pub extern "C" fn omg(side: u32, epsilon: f64) -> f64 {
    problems::objective(problems::omg(side as usize, epsilon))
}

/// Cost of a round of CLR-Geo on a grid.
#[unsafe(no_mangle)]
pub extern "C" fn clr(side: u32, users: u32, near: u32, epsilon: f64) -> f64 {
    problems::objective(problems::clr(side as usize, users as usize, near as usize, epsilon))
}
