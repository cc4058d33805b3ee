//! The front door: one problem, one engine, and another engine where that one fails.

#[cfg(feature = "direct")]
use crate::benders;
use crate::colgen;
#[cfg(feature = "direct")]
use crate::direct;
use crate::error::Error;
#[cfg(feature = "parallel")]
use crate::large;
use crate::problem::Problem;
use crate::settings::Settings;
use crate::solution::Solution;
use crate::verified;

/// How to solve a problem; all give the same answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Engine {
    /// Column generation.
    Colgen,
    /// Column generation on windows, for thousands of places: memory linear in the rows.
    #[cfg(feature = "parallel")]
    Large,
    /// Benders' decomposition, as in the paper.
    #[cfg(feature = "direct")]
    Benders(benders::Options),
    /// The whole linear program at once.
    #[cfg(feature = "direct")]
    Direct,
}

/// Rows above which the engine for large maps is taken where it applies: the dense master needs
/// memory with the square and time with the cube of the rows.
#[cfg(feature = "parallel")]
const LARGE_ROWS: usize = 2_000;

/// Up to so many entries another engine is asked where the first one fails: it takes no more than seconds.
const CHEAP_ENTRIES: usize = 10_000;

impl Engine {
    /// The engine for a problem when none was named.
    pub fn of(problem: &Problem) -> Self {
        #[cfg(feature = "parallel")]
        if large::applies(problem) && problem.rows() > LARGE_ROWS {
            return Self::Large;
        }
        let _ = problem;
        Self::Colgen
    }

    /// What files and options call it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Colgen => "colgen",
            #[cfg(feature = "parallel")]
            Self::Large => "large",
            #[cfg(feature = "direct")]
            Self::Benders(_) => "benders",
            #[cfg(feature = "direct")]
            Self::Direct => "direct",
        }
    }

    /// The engine's answer, verified, or its error.
    fn tried(self, problem: &Problem, settings: &Settings) -> Result<Solution, Error> {
        match self {
            Self::Colgen => colgen::tried(problem, settings),
            #[cfg(feature = "parallel")]
            // It begins with equal rows.
            Self::Large => large::solve(problem, settings),
            #[cfg(feature = "direct")]
            Self::Benders(options) => benders::tried_with(problem, settings, &options),
            #[cfg(feature = "direct")]
            Self::Direct => direct::tried(problem, settings),
        }
    }
}

/// The engines asked where one has failed, in this order.
const OTHERS: &[Engine] = &[
    Engine::Colgen,
    #[cfg(feature = "direct")]
    Engine::Direct,
];

/// Solves a problem by an engine. Whatever comes out has passed the independent checkers. Where the engine finds nothing that
/// does, and the problem is small, others are asked: numbers that are too much for one may not be for another. The last resort
/// are rows that are all equal, with the gap that this leaves; where bounds or ties forbid them, the first engine's error.
pub fn solve(problem: &Problem, settings: &Settings, engine: Engine) -> Result<Solution, Error> {
    let stop = settings.start()?;
    let failed = match engine.tried(problem, settings) {
        Err(error) if error.leaves_open() => error,
        answer => return answer,
    };
    let is_small = problem.rows().saturating_mul(problem.columns()) <= CHEAP_ENTRIES;
    for other in OTHERS.iter().filter(|other| is_small && **other != engine) {
        if stop.requested() {
            break;
        }
        let answer = other.tried(problem, settings);
        if matches!(answer, Ok(_) | Err(Error::Infeasible { .. })) {
            return answer;
        }
    }
    verified::mended(problem, settings, &stop, Err(failed))
}

#[cfg(all(test, feature = "parallel"))]
mod tests {
    use super::*;
    use crate::cost::WeightedL1Cost;
    use crate::problem::{EntryBound, ProblemParts};
    use std::sync::Arc;

    #[test]
    fn large_problems_without_ties_choose_their_engine() {
        let line = |n: usize| {
            let places: Arc<[f64]> = (0..n).map(|i| i as f64).collect();
            let cost = WeightedL1Cost::new(vec![1.0; n], vec![1.0], places.clone(), places);
            ProblemParts::untied(1.0, cost.unwrap(), vec![])
        };
        let engine = |parts| Engine::of(&Problem::new(parts).unwrap());
        assert_eq!(engine(line(LARGE_ROWS)), Engine::Colgen);
        assert_eq!(engine(line(LARGE_ROWS + 1)), Engine::Large);
        let bound = EntryBound { row: 0, column: 0, low: 0.0, high: 0.5 };
        let bounded = ProblemParts { bounds: vec![bound], ..line(LARGE_ROWS + 1) };
        assert_eq!(engine(bounded), Engine::Colgen);
    }
}
