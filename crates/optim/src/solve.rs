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
use crate::settings::{Progress, ProgressCallback, Settings};
use crate::solution::Solution;
use crate::verified::{self, examined, fault};
use std::sync::Arc;

/// How to solve a problem; all give the same answer.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Engine {
    /// Whichever suits the problem.
    #[default]
    Auto,
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

/// From what size on which engine is asked. Nobody else knows of sizes.
#[cfg_attr(not(feature = "parallel"), allow(dead_code))]
pub(crate) struct Sizes {
    /// Rows above which the engine for large maps is taken where it applies: the dense master needs memory with the square and time
    /// with the cube of the rows. At 2,500 rows and eps*spacing 0.94 it takes 30 s to 2 %, the other 2 s.
    dense_rows: usize,
    /// The same where places are so near each other ([`Self::fine`]) that hardly anything is local: 2,500 places at eps*spacing 0.47 take the dense master
    /// 30 s to 2 %, and the other does not get there. Above, its memory would pass a few gigabytes.
    dense_rows_if_fine: usize,
    /// Mean length, in logarithms, of the shortest arc of a row below which a map is fine.
    fine: f64,
    /// Rows from which on column generation begins at a coarser level where the closed form is far off: San Francisco (500 m, 497 places, taxi prior) is
    /// proven to 0.05 % after 25 CPU seconds with a level, and was to 2.5 % after 23 without. Smaller problems take no second.
    pub(crate) level_rows: usize,
    /// A gap below which the dense master is taken up to the second limit as well: the other one's proofs are not made for it.
    tight_gap: f64,
    /// Up to so many entries another engine is asked where the first one fails: it takes no more than seconds.
    cheap_entries: usize,
    /// Bounds of more rows than this are proven on windows where that is possible: trees over all rows for every column would fill the
    /// memory.
    pub(crate) proven_whole: usize,
}

pub(crate) const SIZES: Sizes = Sizes {
    dense_rows: 2_000,
    dense_rows_if_fine: 5_000,
    fine: 0.75,
    level_rows: 300,
    tight_gap: 1e-4,
    cheap_entries: 10_000,
    proven_whole: 3_000,
};

impl Engine {
    /// The engine itself, for a problem and a gap where none was named.
    pub fn chosen(self, problem: &Problem, gap: f64) -> Self {
        if self != Self::Auto {
            return self;
        }
        #[cfg(feature = "parallel")]
        if large::applies(problem) && problem.rows() > SIZES.dense_rows {
            let is_dense = gap < SIZES.tight_gap || problem.mean_shortest_arc() < SIZES.fine;
            if !is_dense || problem.rows() > SIZES.dense_rows_if_fine {
                return Self::Large;
            }
        }
        let _ = (problem, gap);
        Self::Colgen
    }

    /// What files and options call it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
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
        let tried = |name, attempt: &dyn Fn(&Problem) -> Result<Solution, Error>| {
            verified::tried(problem, settings, name, attempt)
        };
        match self.chosen(problem, settings.gap) {
            Self::Auto | Self::Colgen => {
                tried(colgen::NAME, &|problem| colgen::attempt(problem, settings))
            }
            #[cfg(feature = "parallel")]
            // It begins with equal rows.
            Self::Large => large::solve(problem, settings),
            #[cfg(feature = "direct")]
            Self::Benders(options) => {
                tried(benders::NAME, &|problem| benders::attempt(problem, settings, &options))
            }
            #[cfg(feature = "direct")]
            Self::Direct => tried(direct::NAME, &|problem| direct::attempt(problem, settings)),
        }
    }
}

/// The engines asked where one has failed, in this order.
const OTHERS: &[Engine] = &[
    Engine::Colgen,
    #[cfg(feature = "direct")]
    Engine::Direct,
];

/// Solves a problem by the engine of the settings. Whatever comes out has passed the independent checkers, and costs no more than the matrix that the
/// settings begin with, if that holds.
///
/// Where the engine finds nothing, and the problem is small, others are asked: numbers that are too much for one may not be for another. The last
/// resort are rows that are all equal, with the gap that this leaves; where bounds or ties forbid them, the first engine's error.
pub fn solve(problem: &Problem, settings: &Settings) -> Result<Solution, Error> {
    let Some(start) = settings.start.as_deref() else { return without_start(problem, settings) };
    let report = examined(problem, start, &[]);
    if fault(&report).is_some() {
        return without_start(problem, settings);
    }
    let told =
        Settings { progress: at_most(settings.progress.clone(), report.cost), ..settings.clone() };
    let solved = match without_start(problem, &told) {
        Err(error) if !error.leaves_open() => return Err(error),
        solved => solved,
    };
    match solved {
        Ok(solution) if solution.objective <= report.cost => Ok(solution),
        solved => {
            let mut solution = match solved {
                Ok(solution) => solution,
                Err(_) => verified::nothing_known(problem),
            };
            solution.z = start.clone();
            solution.y = vec![0.0; problem.columns()];
            (solution.objective, solution.gap) = (report.cost, f64::INFINITY);
            verified::accepted(problem, settings, "the matrix to begin with", solution)
        }
    }
}

/// Progress in which no matrix is dearer than the one that there is from the beginning.
fn at_most(progress: Option<ProgressCallback>, cost: f64) -> Option<ProgressCallback> {
    let tell = progress?;
    Some(Arc::new(move |progress| {
        let Progress { upper_bound, lower_bound, gap, .. } = *progress;
        let gap = if upper_bound <= cost { gap } else { (cost - lower_bound) / cost };
        tell(&Progress { upper_bound: upper_bound.min(cost), gap, ..*progress });
    }))
}

fn without_start(problem: &Problem, settings: &Settings) -> Result<Solution, Error> {
    let stop = settings.start_watch()?;
    let engine = settings.engine.chosen(problem, settings.gap);
    let failed = match engine.tried(problem, settings) {
        Err(error) if error.leaves_open() => error,
        answer => return answer,
    };
    let is_small = problem.rows().saturating_mul(problem.columns()) <= SIZES.cheap_entries;
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
    use crate::problem::{Arc, EntryBound, ProblemParts};

    #[test]
    fn large_problems_without_ties_choose_their_engine() {
        let line = |n: usize, apart: f64| {
            let places: std::sync::Arc<[f64]> = (0..n).map(|i| i as f64).collect();
            let cost = WeightedL1Cost::new(vec![1.0; n], vec![1.0], places.clone(), places);
            let arcs = (1..n).map(|i| Arc { i: i - 1, j: i, d: apart }).collect();
            ProblemParts::untied(1.0, cost.unwrap(), arcs)
        };
        let engine = |parts| Engine::Auto.chosen(&Problem::new(parts).unwrap(), 0.01);
        let rows = SIZES.dense_rows;
        assert_eq!(engine(line(rows, 1.0)), Engine::Colgen);
        assert_eq!(engine(line(rows + 1, 1.0)), Engine::Large);
        // Fine maps, and gaps that are tight, up to a larger size.
        assert_eq!(engine(line(rows + 1, 0.5)), Engine::Colgen);
        assert_eq!(engine(line(SIZES.dense_rows_if_fine + 1, 0.5)), Engine::Large);
        let tight = Engine::Auto.chosen(&Problem::new(line(rows + 1, 1.0)).unwrap(), 1e-6);
        assert_eq!(tight, Engine::Colgen);
        let bound = EntryBound { row: 0, column: 0, low: 0.0, high: 0.5 };
        let bounded = ProblemParts { bounds: vec![bound], ..line(rows + 1, 1.0) };
        assert_eq!(engine(bounded), Engine::Colgen);
    }
}
