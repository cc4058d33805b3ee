//! The experiments of the paper's section 5, with the settings of spec section 7.
//!
//! Each is a function that measures through a [`Notebook`] and returns figures; [`EXPERIMENTS`] lists
//! them in the order of the paper.

mod convergence;
mod ground;
mod notebook;
pub mod printed;
mod ratios;
mod scalability;
mod tables;
mod violated;

use lrgeo_map::progress::Progress;
use lrgeo_map::rng::SplitMix;
use lrgeo_mechanism::{City, MechanismError, Plan};

pub use ground::{Ground, central_city};
pub use notebook::{Entry, Notebook, Values};

use crate::report::{Axis, Figure, Point};

/// How an experiment is run.
pub struct Setup<'a> {
    /// Where.
    pub ground: &'a Ground,
    /// Three repeats instead of twenty, and smaller sizes.
    pub quick: bool,
    /// The seed of users and targets.
    pub seed: u64,
}

impl Setup<'_> {
    /// How often each measurement is repeated.
    pub fn repeats(&self) -> u64 {
        if self.quick { 3 } else { 20 }
    }

    /// What tells its measurements from others.
    pub fn name(&self) -> String {
        format!("{} quick {} seed {}", self.ground.name, self.quick, self.seed)
    }

    /// The seed of a repeat.
    fn seed_of(&self, repeat: u64) -> u64 {
        self.seed.wrapping_add(repeat)
    }
}

/// Measures, and makes figures of it.
type Run = fn(&Setup<'_>, &mut Notebook, &dyn Progress) -> Result<Vec<Figure>, MechanismError>;

/// One experiment.
pub struct Experiment {
    /// Its name in options and keys.
    pub id: &'static str,
    /// For people.
    pub title: &'static str,
    /// Measures, and makes figures of it.
    pub run: Run,
}

/// All of them.
pub const EXPERIMENTS: &[Experiment] = &[
    Experiment { id: "tables", title: "Tables 1 and 2: time and cost", run: tables::run },
    Experiment { id: "places", title: "Scalability in places", run: scalability::places },
    Experiment { id: "users", title: "Scalability in users", run: scalability::users_grow },
    Experiment { id: "benders", title: "Benders' convergence", run: convergence::run },
    Experiment { id: "gamma", title: "Bounds against Gamma", run: ratios::against_gamma },
    Experiment { id: "cells", title: "Bounds against cell size", run: ratios::against_cells },
    Experiment { id: "violations", title: "Violations of Geo-Ind", run: violated::run },
    Experiment { id: "matched", title: "Rows matched per coefficient", run: violated::matched },
];

/// Both settings of spec section 7.
fn settings() -> Result<[(&'static str, Plan); 2], MechanismError> {
    Ok([("paper", Plan::paper()?), ("practical", Plan::practical()?)])
}

/// Random users of a city.
fn users(city: &City, count: usize, seed: u64) -> Vec<u32> {
    let chosen = SplitMix::new(seed).choose(city.places(), count.min(city.places()));
    chosen.into_iter().map(|place| place as u32).collect()
}

fn axis(label: &str, log: bool) -> Axis {
    Axis::new(label, log)
}

/// A point of the repeats of one number.
fn point(x: f64, entries: &[Entry], name: &str, paper: Option<&str>) -> Point {
    let values = entries.iter().filter_map(|entry| entry.values.get(name).copied()).collect();
    let failed: Vec<&str> = entries.iter().filter_map(|entry| entry.failed.as_deref()).collect();
    let note = failed.first().map(|first| match failed.len() {
        1 => first.to_string(),
        more => format!("{first} (and {} more)", more - 1),
    });
    Point { x, values, paper: paper.map(str::to_owned), note }
}

/// Named numbers.
fn values<const N: usize>(numbers: [(&str, f64); N]) -> Values {
    numbers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
