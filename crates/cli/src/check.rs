//! `lrgeo check`: a solution file against its problem, nothing taken on trust.

use std::path::PathBuf;

use clap::Args;
use lrgeo_optim::bound::proven_bound;
use lrgeo_optim::certificate::{Report, check};
use lrgeo_optim::format::{self, SolutionFile};
use lrgeo_optim::{
    Engine, Error, OPTIMAL_GAP, Problem, ROW_SUM_ERROR, Settings, Solution, Status, relative_gap,
    solve,
};
use serde_json::json;

use crate::failure::Failure;
use crate::solve::read;
use crate::ui::Ui;

/// Claims of a row sum's error that differ by less than this are both right: each is an upper bound of rounding.
const SAME_ERROR: f64 = 1e-15;

/// Entries up to which a second engine is asked about a bound.
const SMALL_ENTRIES: usize = 10_000;

/// Verify a solution: every constraint without tolerance, the cost, and the proven bound.
#[derive(Args)]
#[command(after_help = "\
Example:
  lrgeo check problem.json solution.json
Exit code 4: something does not hold.")]
pub struct Check {
    /// The problem, JSON or .npz.
    problem: PathBuf,
    /// The solution, JSON or .npz.
    solution: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// One thing that was verified.
struct Finding {
    what: &'static str,
    holds: bool,
    detail: String,
}

impl Check {
    pub fn run(self, ui: &Ui) -> Result<(), Failure> {
        let problem = read(&self.problem, format::read_problem)?;
        let solution = read(&self.solution, format::read_solution)?;
        let findings = verify(&problem, &solution)?;
        let failed = findings.iter().filter(|finding| !finding.holds).count();
        if self.json {
            let findings: Vec<_> = findings
                .iter()
                .map(|f| json!({ "what": f.what, "holds": f.holds, "detail": f.detail }))
                .collect();
            ui.json(&json!({ "holds": failed == 0, "findings": findings }));
        } else {
            let word = |holds: bool| if holds { "holds" } else { "FAILS" };
            let lines: Vec<_> = findings
                .iter()
                .map(|f| (f.what, format!("{}  {}", word(f.holds), f.detail)))
                .collect();
            ui.lines(&lines);
        }
        if failed > 0 { Err(Failure::CheckFailed { failed }) } else { Ok(()) }
    }
}

fn verify(problem: &Problem, solution: &SolutionFile) -> Result<Vec<Finding>, Failure> {
    let Some(found) = solution.found() else { return verify_infeasible(problem) };
    let report = check(problem, &found.z, &found.y);
    let mut findings = feasibility(problem, &report);
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs().max(b.abs());
    let (costs, bound) = (close(report.cost, found.objective), verify_bound(problem, found)?);
    findings.push(Finding {
        what: "objective",
        holds: costs,
        detail: format!("claimed {}, the matrix costs {}", found.objective, report.cost),
    });
    // Between what the matrix really costs and what is really proven: a gap that rests on a wrong claim is none.
    let gap = relative_gap(problem.mean_cost(), report.cost, found.lower_bound);
    let rests_on = match (costs, bound.holds) {
        (true, true) => "",
        (false, _) => ", but the cost is not the one claimed",
        (true, false) => ", but the bound is not proven",
    };
    findings.push(bound);
    findings.push(Finding {
        what: "gap",
        holds: rests_on.is_empty() && (gap - found.gap).abs() <= 1e-9 + 1e-6 * gap,
        detail: format!("claimed {:e}, recomputed {gap:e}{rests_on}", found.gap),
    });
    let optimal = rests_on.is_empty() && gap <= OPTIMAL_GAP * (1.0 + 1e-6);
    findings.push(Finding {
        what: "status",
        holds: found.status != Status::Optimal || optimal,
        detail: format!("{} at a gap of {gap:.1e}{rests_on}", found.status.as_str()),
    });
    let excess = report.worst_log_excess.max(f64::MIN);
    findings.push(Finding {
        what: "certificate",
        holds: found.certificate.worst_log_excess
            >= excess - 1e-9 * excess.abs() - f64::MIN_POSITIVE
            && found.certificate.worst_row_sum_error >= report.worst_row_sum_error - SAME_ERROR,
        detail: "claims no more strictness than there is".to_owned(),
    });
    Ok(findings)
}

fn feasibility(problem: &Problem, report: &Report) -> Vec<Finding> {
    let at = |entry: Option<(usize, usize)>| {
        entry.map_or_else(String::new, |(i, k)| format!("at row {i}, column {k}"))
    };
    let mut findings = vec![
        Finding {
            what: "probabilities",
            holds: report.not_a_probability.is_none(),
            detail: at(report.not_a_probability),
        },
        Finding {
            what: "privacy",
            holds: report.worst_log_excess <= 0.0,
            detail: format!(
                "worst log excess {:e} {}",
                report.worst_log_excess,
                at(report.worst_entry)
            ),
        },
        Finding {
            what: "row sums",
            holds: report.worst_row_sum_error <= ROW_SUM_ERROR,
            detail: format!(
                "worst error {:.1e} at row {}",
                report.worst_row_sum_error, report.worst_row
            ),
        },
    ];
    if problem.has_ties() {
        let broken = report.broken_y.map(|k| format!("y[{k}] is wrong"));
        findings.push(Finding {
            what: "ties",
            holds: report.broken_tie.is_none() && report.broken_y.is_none(),
            detail: broken.unwrap_or_else(|| at(report.broken_tie)),
        });
    }
    if !problem.bounds().is_empty() {
        findings.push(Finding {
            what: "bounds",
            holds: report.broken_bound.is_none(),
            detail: report.broken_bound.map_or_else(String::new, |b| format!("bounds[{b}]")),
        });
    }
    findings
}

/// The claimed bound from the solution's own dual vector; where it has none or it falls short, from
/// solves of our own.
fn verify_bound(problem: &Problem, found: &Solution) -> Result<Finding, Failure> {
    let (what, claimed) = ("lower bound", found.lower_bound);
    let finding = |holds, detail| Ok(Finding { what, holds, detail });
    // Costs are not negative, so zero needs no proof.
    if claimed <= 0.0 {
        return finding(claimed >= 0.0 || claimed.is_finite(), format!("claimed {claimed}"));
    }
    let slack = 1e-9 * (claimed.abs() + problem.mean_cost());
    if found.certificate.mu.len() == problem.rows() {
        let proven = proven_bound(problem, &found.certificate.mu)?;
        if proven >= claimed - slack {
            return finding(true, format!("claimed {claimed}, the dual vector proves {proven}"));
        }
    }
    let mut detail = String::new();
    for engine in own_engines(problem) {
        let own = match solve(problem, &Settings { engine, ..Settings::default() }) {
            Ok(own) => own,
            Err(error) => {
                detail = format!("claimed {claimed}; our own solve says: {error}");
                continue;
            }
        };
        let is_proven = claimed <= own.lower_bound + OPTIMAL_GAP * own.objective + slack;
        let is_possible = claimed <= own.objective + slack;
        detail = format!(
            "claimed {claimed}, not proven by its dual vector; our own solve proves {} (cost {})",
            own.lower_bound, own.objective
        );
        if is_proven || !is_possible {
            return finding(is_proven && is_possible, detail);
        }
    }
    finding(false, detail)
}

/// The engine that `lrgeo solve` would take, and on small problems one that may prove more where numbers are extreme.
fn own_engines(problem: &Problem) -> Vec<Engine> {
    let small = problem.rows().saturating_mul(problem.columns()) <= SMALL_ENTRIES;
    let second = small.then_some(Engine::Direct);
    std::iter::once(Engine::Auto).chain(second).collect()
}

fn verify_infeasible(problem: &Problem) -> Result<Vec<Finding>, Failure> {
    let solved = solve(problem, &Settings::default());
    let what = "infeasible";
    let finding = match solved {
        Err(error @ Error::Infeasible { .. }) => {
            Finding { what, holds: true, detail: error.to_string() }
        }
        Err(error) => return Err(error.into()),
        Ok(own) => Finding {
            what,
            holds: false,
            detail: format!("a matrix with cost {} exists", own.objective),
        },
    };
    Ok(vec![finding])
}
