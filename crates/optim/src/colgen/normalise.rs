//! Row sums of one for columns that have none yet: the way from any iterate to a strict matrix.
//!
//! Dividing every row by its sum `S` keeps an arc only if `|ln S_i - ln S_j|` leaves room for what the columns themselves
//! take. So arcs across which sums differ are shortened, the columns are closed under the shorter arcs (raised to the least
//! ones of that cone), which raises the sums a little, and so on until everything fits. What that costs is local: nothing changes far
//! from rows whose sums are off.

use super::tuning::TUNING;
use crate::cone::for_each;
use crate::matrix::DenseMatrix;
use crate::problem::Problem;

/// Part of every length that is left to rounding.
const SPARE: f64 = 1e-11;

/// Divides the rows of a matrix whose columns lie in the cone by their sums, and raises entries where that would break an arc.
/// `false` where that does not come to an end.
pub(crate) fn normalise(problem: &Problem, z: &mut DenseMatrix, parallel: bool) -> bool {
    let full: Vec<f64> = problem.arcs().iter().map(|arc| problem.log_ratio(arc)).collect();
    let mut lengths: Vec<f64> = full.iter().map(|length| length * (1.0 - SPARE)).collect();
    for _ in 0..TUNING.normalise_rounds {
        let sums: Vec<f64> = (0..z.rows()).map(|i| z.row(i).iter().sum()).collect();
        if sums.iter().any(|sum| !(*sum > 0.0 && sum.is_finite())) {
            return false;
        }
        let logs: Vec<f64> = sums.iter().map(|sum| sum.ln()).collect();
        let mut is_broken = false;
        for ((length, full), arc) in lengths.iter_mut().zip(&full).zip(problem.arcs()) {
            let allowed = full * (1.0 - SPARE) - (logs[arc.i] - logs[arc.j]).abs();
            if *length > allowed * (1.0 + 1e-12) {
                is_broken = true;
                *length = (allowed - TUNING.overshoot * (*length - allowed)).max(0.0);
            }
        }
        if !is_broken {
            for (i, sum) in sums.iter().enumerate() {
                z.row_mut(i).iter_mut().for_each(|value| *value /= sum);
            }
            return true;
        }
        close(problem, &lengths, z, parallel);
    }
    false
}

/// Raises every column to the least one that is nowhere below it and lies in the cone of these lengths.
fn close(problem: &Problem, lengths: &[f64], z: &mut DenseMatrix, parallel: bool) {
    let (rows, columns) = (z.rows(), z.columns());
    let mut neighbours: Vec<Vec<(usize, f64)>> = vec![Vec::new(); rows];
    for (arc, length) in problem.arcs().iter().zip(lengths) {
        let factor = (-length).exp();
        neighbours[arc.i].push((arc.j, factor));
        neighbours[arc.j].push((arc.i, factor));
    }
    let mut panels: Vec<Vec<f64>> = (0..columns)
        .step_by(TUNING.panel)
        .map(|first| {
            let width = TUNING.panel.min(columns - first);
            let mut panel = vec![0.0; rows * TUNING.panel];
            for (i, lanes) in panel.chunks_exact_mut(TUNING.panel).enumerate() {
                lanes[..width].copy_from_slice(&z.row(i)[first..first + width]);
            }
            panel
        })
        .collect();
    for_each(&mut panels, parallel, |(_, panel): (usize, &mut Vec<f64>), _: &mut ()| {
        close_panel(&neighbours, panel);
    });
    for (at, panel) in panels.into_iter().enumerate() {
        let (first, width) = (at * TUNING.panel, TUNING.panel.min(columns - at * TUNING.panel));
        for (i, lanes) in panel.chunks_exact(TUNING.panel).enumerate() {
            z.row_mut(i)[first..first + width].copy_from_slice(&lanes[..width]);
        }
    }
}

/// Relaxes all arcs until nothing rises (Bellman and Ford), from the largest rows of the panel to its smallest: near columns fall off in
/// nearly the same order, so that most of the work is done in one sweep, as if each had a heap of its own.
fn close_panel(neighbours: &[Vec<(usize, f64)>], panel: &mut [f64]) {
    let largest = |lanes: &[f64]| lanes.iter().fold(0.0, |most: f64, value| most.max(*value));
    let sizes: Vec<f64> = panel.chunks_exact(TUNING.panel).map(largest).collect();
    let mut order: Vec<usize> = (0..neighbours.len()).collect();
    order.sort_by(|&a, &b| sizes[b].total_cmp(&sizes[a]));
    let mut is_waiting = vec![true; neighbours.len()];
    for _ in 0..TUNING.sweeps {
        let mut raised_any = false;
        for &i in &order {
            if !std::mem::take(&mut is_waiting[i]) {
                continue;
            }
            let mut from = [0.0; TUNING.panel];
            from.copy_from_slice(&panel[i * TUNING.panel..][..TUNING.panel]);
            for &(j, factor) in &neighbours[i] {
                let mut raised = false;
                for (value, from) in panel[j * TUNING.panel..][..TUNING.panel].iter_mut().zip(&from)
                {
                    let floor = from * factor;
                    raised |= floor > *value;
                    *value = value.max(floor);
                }
                is_waiting[j] |= raised;
                raised_any |= raised;
            }
        }
        if !raised_any {
            break;
        }
    }
}
