//! Benders to the letter (section 4.4, appendix C): y is the master's minimiser, whatever corner that is.
//!
//! Nothing is known in advance: the cut set is empty at first, and y = 0 the first guess. The bounds of Proposition
//! 4.2 hold at every iteration; the lower one rises, and the upper one exists once a guess leaves every subproblem
//! a matrix. The paper speaks of a long tail, which it cuts at 0.01 km. `InOut` tries the middle between the
//! master's guess and the best y so far instead (Ben-Ameur and Neto).

use super::master::Master;
use super::subproblem::Subproblem;
use super::{Guide, Options, consult, feasible_y, finish, guess, is_done, take};
use crate::direct::Limits;
use crate::error::Error;
use crate::incumbent::{Estimate, Incumbent};
use crate::problem::Problem;
use crate::settings::Settings;
use crate::solution::Solution;

/// More iterations than this are not worth it: the best so far is returned.
const MOST_ITERATIONS: usize = 500;

/// A guess that differs from the last by no more than this share of the largest entry is the same.
const SAME: f64 = 1e-12;

pub(super) fn solve(
    problem: &Problem,
    settings: &Settings,
    options: &Options,
) -> Result<Solution, Error> {
    let stop = settings.start_watch()?;
    let subproblems = Subproblem::all(problem)?;
    let mut master = Master::without_cuts(&subproblems, problem.fixed_y());
    let mut best = Incumbent::new(settings, stop, problem.rows(), problem.mean_cost());
    let mut centre = match options.guide {
        Guide::InOut => feasible_y(problem, settings)?,
        _ => None,
    };
    let (mut last, mut stalled) = (Vec::new(), false);
    while best.iterations < MOST_ITERATIONS {
        best.iterations += 1;
        let before = (best.cost(), best.lower_bound);
        let limits = Limits::of(settings, &stop);
        // Stage 1: the master's guess of y and w under all cuts.
        let Some(guess) = guess(&mut master, &limits, &mut best)? else { break };
        // Where the middle taught nothing, the guess itself does.
        let y: Vec<f64> = match &centre {
            Some(centre) if !stalled => {
                centre.iter().zip(&guess).map(|(a, b)| 0.5 * (a + b)).collect()
            }
            _ => guess,
        };
        let repeated = is_same(&y, &last);
        last.clone_from(&y);
        // Stage 2: every subproblem validates it, or proposes a cut.
        let matrices = consult(&subproblems, &y, settings, &limits, &mut master);
        take(&mut best, problem, &subproblems, &y, matrices);
        if best.cost() < before.0 && centre.is_some() {
            centre = Some(y);
        }
        best.report(&Estimate { gap: best.gap(), bound: 0.0, columns: master.cuts() });
        stalled = before == (best.cost(), best.lower_bound);
        let stuck = stalled && repeated;
        if is_done(&best, options) || stop.requested() || stuck {
            break;
        }
    }
    finish(best, problem, options, master.cuts())
}

fn is_same(y: &[f64], last: &[f64]) -> bool {
    let largest = y.iter().copied().fold(0.0, f64::max);
    y.len() == last.len() && y.iter().zip(last).all(|(a, b)| (a - b).abs() <= SAME * largest)
}
