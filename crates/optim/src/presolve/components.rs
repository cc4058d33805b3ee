//! Components: parts of a problem that have nothing to do with each other, each solved by itself.
//!
//! Without ties, rows that no chain of arcs joins share nothing: neither constraints nor row sums. Where y is fixed, tied
//! entries are constants, and they share nothing either. Work grows faster than rows, so parts take less time than
//! the whole, and they may be solved at the same time. Costs, bounds and duals of the parts add up.

use crate::certificate::rounding::sum_below;
use crate::cone::for_each;
use crate::error::Error;
use crate::matrix::{DenseMatrix, Matrix};
use crate::problem::Problem;
use crate::settings::{Progress, ProgressCallback, Settings};
use crate::solution::{Certificate, Solution, Status, TracePoint, relative_gap};
use std::sync::{Arc, Mutex, PoisonError};

/// Each part is solved to this share of the gap. Gaps are relative to an objective or to a share of the mean cost,
/// whichever is larger; the sum of the larger ones is at most twice the larger of the sums.
const SHARE_OF_GAP: f64 = 0.5;

/// Solves a problem part by part where it has parts.
pub(crate) fn solve(
    problem: &Problem,
    settings: &Settings,
    engine: impl Fn(&Problem, &Settings) -> Result<Solution, Error> + Sync + Send,
) -> Result<Solution, Error> {
    let mut parts = match problem.has_ties() && problem.fixed_y().is_none() {
        true => Vec::new(),
        false => connected(problem.rows(), problem.arcs().iter().map(|arc| (arc.i, arc.j))),
    };
    if parts.len() <= 1 {
        return engine(problem, settings);
    }
    let stop = settings.start_watch()?;
    let watch = Arc::new(Mutex::new(vec![None; parts.len()]));
    let one = |(at, rows): (usize, &mut Vec<usize>), (): &mut ()| -> Result<Solution, Error> {
        let spent = std::time::Duration::from_secs_f64(stop.seconds());
        let own = Settings {
            gap: SHARE_OF_GAP * settings.gap,
            time_limit: settings.time_limit.map(|limit| limit.saturating_sub(spent)),
            progress: shared_progress(problem, settings, at, watch.clone()),
            ..settings.clone()
        };
        let part = Problem::new(problem.parts_of_rows(rows)?)?;
        engine(&part, &own).map_err(|error| match error {
            Error::Infeasible { row, reason } => Error::Infeasible { row: rows[row], reason },
            other => other,
        })
    };
    let solutions = for_each(&mut parts, settings.threads != 1, one);
    let solutions = solutions.into_iter().collect::<Result<Vec<_>, Error>>()?;
    Ok(Solution { seconds: stop.seconds(), ..joined(problem, settings, &parts, &solutions) })
}

/// Rows (or whatever is numbered) joined by pairs, each set ascending, in order of their first members.
pub(crate) fn connected(
    count: usize,
    pairs: impl Iterator<Item = (usize, usize)>,
) -> Vec<Vec<usize>> {
    fn root(first: &mut [usize], mut i: usize) -> usize {
        while first[i] != i {
            first[i] = first[first[i]];
            i = first[i];
        }
        i
    }
    let mut first: Vec<usize> = (0..count).collect();
    for (i, j) in pairs {
        let (i, j) = (root(&mut first, i), root(&mut first, j));
        first[i.max(j)] = i.min(j);
    }
    let mut sets: Vec<Vec<usize>> = Vec::new();
    let mut set_of = vec![0; count];
    for i in 0..count {
        let root = root(&mut first, i);
        if root == i {
            set_of[i] = sets.len();
            sets.push(Vec::new());
        }
        sets[set_of[root]].push(i);
    }
    sets
}

/// Tells the caller about all parts whenever one of them has something to say.
fn shared_progress(
    problem: &Problem,
    settings: &Settings,
    at: usize,
    watch: Arc<Mutex<Vec<Option<Progress>>>>,
) -> Option<ProgressCallback> {
    let tell = settings.progress.clone()?;
    let mean_cost = problem.mean_cost();
    Some(Arc::new(move |progress| {
        let mut parts = watch.lock().unwrap_or_else(PoisonError::into_inner);
        parts[at] = Some(*progress);
        let sum = |value: fn(&Progress) -> f64, missing: f64| -> f64 {
            parts.iter().map(|part| part.as_ref().map_or(missing, value)).sum()
        };
        let upper_bound = sum(|part| part.upper_bound, f64::INFINITY);
        let lower_bound = sum(|part| part.lower_bound, 0.0);
        let reported = || parts.iter().flatten();
        tell(&Progress {
            iteration: reported().map(|part| part.iteration).max().unwrap_or(0),
            upper_bound,
            lower_bound,
            gap: relative_gap(mean_cost, upper_bound, lower_bound),
            promised: reported().map(|part| part.promised).fold(0.0, f64::max),
            columns: reported().map(|part| part.columns).sum(),
            seconds: progress.seconds,
        });
    }))
}

/// The solution of the whole: rows and duals of every part in their places, costs and bounds added up.
fn joined(
    problem: &Problem,
    settings: &Settings,
    parts: &[Vec<usize>],
    solutions: &[Solution],
) -> Solution {
    let mut z = DenseMatrix::zeros(problem.rows(), problem.columns());
    let mut mu = vec![0.0; problem.rows()];
    for (rows, solution) in parts.iter().zip(solutions) {
        for (at, &row) in rows.iter().enumerate() {
            solution.z.fill_row(at, z.row_mut(row));
            mu[row] = solution.certificate.mu.get(at).copied().unwrap_or(0.0);
        }
    }
    let sum = |value: fn(&Solution) -> f64| solutions.iter().map(value).sum::<f64>();
    let worst =
        |value: fn(&Solution) -> f64| solutions.iter().map(value).fold(f64::NEG_INFINITY, f64::max);
    let objective = sum(|solution| solution.objective);
    let lower_bound = sum_below(solutions.iter().map(|solution| solution.lower_bound)).max(0.0);
    let gap = relative_gap(problem.mean_cost(), objective, lower_bound);
    Solution {
        status: Status::of_gap(gap, settings.gap),
        objective,
        lower_bound,
        gap,
        iterations: solutions.iter().map(|solution| solution.iterations).max().unwrap_or(0),
        columns: solutions.iter().map(|solution| solution.columns).sum(),
        seconds: 0.0,
        z: Matrix::Dense(z),
        y: problem.fixed_y().map_or_else(|| vec![0.0; problem.columns()], <[f64]>::to_vec),
        certificate: Certificate {
            worst_log_excess: worst(|solution| solution.certificate.worst_log_excess),
            worst_row_sum_error: worst(|solution| solution.certificate.worst_row_sum_error),
            mu,
        },
        trace: joined_trace(solutions),
    }
}

/// The bounds as if all parts were iterated side by side; a part that has ended keeps its last.
fn joined_trace(solutions: &[Solution]) -> Vec<TracePoint> {
    let longest = solutions.iter().map(|solution| solution.trace.len()).max().unwrap_or(0);
    let after = |at: usize| {
        let points = solutions.iter().filter_map(|s| s.trace.get(at).or(s.trace.last()));
        let empty =
            TracePoint { iteration: at + 1, upper_bound: 0.0, lower_bound: 0.0, seconds: 0.0 };
        points.fold(empty, |sum, point| TracePoint {
            iteration: sum.iteration,
            upper_bound: sum.upper_bound + point.upper_bound,
            lower_bound: sum.lower_bound + point.lower_bound,
            seconds: sum.seconds.max(point.seconds),
        })
    };
    (0..longest).map(after).collect()
}
