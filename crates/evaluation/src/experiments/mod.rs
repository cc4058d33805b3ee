//! The experiments of the paper's section 5, with the settings of `docs/specification.md` section 7.
//!
//! Each is a function that measures through a [`Notebook`] and returns figures; [`EXPERIMENTS`] lists
//! them in the order of the paper.

mod choices;
mod convergence;
mod epsilons;
mod geography;
mod ground;
mod letter;
mod notebook;
pub mod printed;
mod radii;
mod ratios;
mod scalability;
mod tables;
mod verdict;
mod violated;
mod ways;

use lrgeo_geo::PlaceId;
use lrgeo_geo::rng::SplitMix;
use lrgeo_map::progress::Progress;
use lrgeo_mechanism::{City, MechanismError, Plan};

pub use ground::{Ground, Targets, central_city};
pub use notebook::{Entry, Notebook, Values};
pub use verdict::verdict;

use crate::report::{Axis, Figure, Point};

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Every experiment in seconds, on a few places: for tests.
    Tiny,
    /// Three repeats, smaller sizes.
    Quick,
    /// As in the paper: twenty repeats. On the demo city, whose numbers nobody compares with the paper's, two, and sizes up to 200 places or so.
    Full,
}

/// How an experiment is run.
pub struct Setup<'a> {
    /// Where.
    pub ground: &'a Ground,
    /// How much.
    pub size: Size,
    /// The seed of users and targets.
    pub seed: u64,
}

impl Setup<'_> {
    /// How often each measurement is repeated.
    pub fn repeats(&self) -> u64 {
        match (self.size, self.ground.is_demo()) {
            (Size::Tiny, _) | (_, true) => 2,
            (Size::Quick, false) => 3,
            (Size::Full, false) => 20,
        }
    }

    /// The same where a measurement is long and varies little.
    fn few_repeats(&self) -> u64 {
        self.pick(1, 2, 5)
    }

    /// What suits the size.
    fn pick<T>(&self, tiny: T, quick: T, full: T) -> T {
        match self.size {
            Size::Tiny => tiny,
            Size::Quick => quick,
            Size::Full if self.ground.is_demo() => quick,
            Size::Full => full,
        }
    }

    /// What tells its measurements from others.
    pub fn name(&self) -> String {
        format!("{} {:?} seed {}", self.ground.name, self.size, self.seed)
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
    Experiment { id: "epsilon", title: "Cost against epsilon", run: epsilons::run },
    Experiment { id: "letter", title: "What each substitution changes", run: letter::run },
    Experiment { id: "radii", title: "Cost against violations: r_exp and r_obf", run: radii::run },
    Experiment { id: "choices", title: "What the paper leaves open", run: choices::run },
    Experiment { id: "ways", title: "Mixed users: some drive, some walk", run: ways::run },
    Experiment { id: "places", title: "Scalability in places", run: scalability::places },
    Experiment { id: "users", title: "Scalability in users", run: scalability::users_grow },
    Experiment { id: "benders", title: "Benders' convergence", run: convergence::run },
    Experiment { id: "gamma", title: "Bounds against Gamma", run: ratios::against_gamma },
    Experiment { id: "geography", title: "The printed geography", run: geography::run },
    Experiment { id: "cells", title: "Bounds against cell size", run: ratios::against_cells },
    Experiment { id: "violations", title: "Violations of Geo-Ind", run: violated::run },
    Experiment { id: "matched", title: "Rows matched per coefficient", run: violated::matched },
];

/// A set of parameters, and where users want to go.
struct Setting {
    name: &'static str,
    plan: Plan,
    targets: Targets,
}

/// The paper's letter, and what we would choose (`docs/specification.md` section 7).
fn settings() -> Result<[Setting; 2], MechanismError> {
    Ok([
        Setting { name: "paper", plan: Plan::paper()?, targets: Targets::Uniform },
        Setting { name: "practical", plan: Plan::practical()?, targets: Targets::Random },
    ])
}

/// Random users of a city.
fn users(city: &City, count: usize, seed: u64) -> Vec<PlaceId> {
    let chosen = SplitMix::new(seed).choose(city.places(), count.min(city.places()));
    chosen.into_iter().map(PlaceId::at).collect()
}

/// Random users among the places nearest to a random one.
fn neighbours(city: &City, count: usize, seed: u64) -> Vec<PlaceId> {
    let centre = users(city, 1, seed)[0];
    let mut places: Vec<PlaceId> = PlaceId::all(city.places()).collect();
    places.sort_by(|&a, &b| city.distance_km(centre, a).total_cmp(&city.distance_km(centre, b)));
    places.truncate(3 * count);
    let chosen = SplitMix::new(!seed).choose(places.len(), count);
    chosen.into_iter().map(|at| places[at]).collect()
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
