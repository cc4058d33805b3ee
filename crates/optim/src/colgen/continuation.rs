//! Continuation in epsilon: where eps * spacing is small, first a few easier problems.
//!
//! At large epsilon shortest-path rays are nearly optimal and duals are found at once. Rays of one
//! epsilon, their logarithms scaled, are rays of another; so each stage starts the next one close by.

use super::{Run, WarmStart};
use crate::error::Error;
use crate::problem::Problem;
use crate::settings::{Settings, Stop};

/// Solving starts at an eps * spacing of at least this.
const EASY: f64 = 1.0;

/// Gap to which the easier problems are solved.
const STAGE_GAP: f64 = 0.02;

/// A warm start for `problem`; empty where it needs none.
pub(super) fn approach(
    problem: &Problem,
    settings: &Settings,
    stop: Stop<'_>,
) -> Result<WarmStart, Error> {
    let mut warm = WarmStart::default();
    if problem.has_ties() || !problem.bounds().is_empty() {
        return Ok(warm);
    }
    let difficulty = problem.epsilon() * spacing(problem);
    if difficulty >= super::env("LRGEO_E", EASY) || difficulty == 0.0 {
        return Ok(warm);
    }
    let stages = (super::env("LRGEO_E", EASY) / difficulty).log2().ceil().min(8.0);
    for stage in (1..=stages as i32).rev() {
        let easier = problem.with_epsilon(problem.epsilon() * 2.0_f64.powi(stage))?;
        let mut run = Run::new(&easier, settings, stop)?;
        run.start(&warm);
        loop {
            let round = run.round()?;
            if round.gap <= super::env("LRGEO_G", STAGE_GAP) || stop.requested() {
                break;
            }
            run.add_columns(round);
        }
        run.leave(&mut warm);
    }
    Ok(warm)
}

/// The median over rows of the distance to the nearest row.
fn spacing(problem: &Problem) -> f64 {
    let mut nearest = vec![f64::INFINITY; problem.rows()];
    for arc in problem.arcs() {
        for row in [arc.i, arc.j] {
            nearest[row] = nearest[row].min(arc.d);
        }
    }
    nearest.retain(|d| d.is_finite());
    nearest.sort_by(f64::total_cmp);
    nearest.get(nearest.len() / 2).copied().unwrap_or(0.0)
}
