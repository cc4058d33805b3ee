//! `lrgeo`, the command line.

fn main() {}
