//! Solving a round (section 4.3 of the paper): one programme for all its users.

use lrgeo_mechanism::lr_geo::coefficients::Coefficients;
use lrgeo_mechanism::lr_geo::round::Programme;
use lrgeo_mechanism::verify::{Finding, by_distance};
use lrgeo_mechanism::{Engine, MechanismError, Plan};
use lrgeo_optim::{Error, ProgressCallback, Solution};
use lrgeo_protocol::offload::{Certificate, UserMatrix};
use lrgeo_protocol::{Reason, Refusal};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::catalogue::Catalogue;
use crate::store::Outcome;

/// The matrices of all users. One whose upload has no solution is refused and the others are solved
/// without it.
pub fn round(
    uploads: &[Coefficients],
    catalogue: &Catalogue,
    cancel: Arc<AtomicBool>,
    progress: ProgressCallback,
) -> Vec<Outcome> {
    let mut plan = catalogue.plan.clone();
    plan.solver.cancel = Some(cancel);
    plan.solver.progress = Some(progress);
    let mut outcomes: Vec<Option<Outcome>> = vec![None; uploads.len()];
    loop {
        let open: Vec<usize> = (0..uploads.len()).filter(|&u| outcomes[u].is_none()).collect();
        if open.is_empty() {
            return outcomes.into_iter().flatten().collect();
        }
        let picked: Vec<&Coefficients> = open.iter().map(|&user| &uploads[user]).collect();
        match together(&picked, catalogue, &plan) {
            Ok(matrices) => {
                for (user, matrix) in open.into_iter().zip(matrices) {
                    outcomes[user] = Some(matrix);
                }
            }
            Err(MechanismError::Optimiser(Error::Infeasible { row, .. })) => {
                let user = open[owner(&picked, row)];
                outcomes[user] = Some(Err(infeasible()));
            }
            Err(error) => {
                tracing::error!(error = %error, "a round could not be solved");
                for user in open {
                    outcomes[user] = Some(Err(internal()));
                }
            }
        }
    }
}

fn together(
    uploads: &[&Coefficients],
    catalogue: &Catalogue,
    plan: &Plan,
) -> Result<Vec<Outcome>, MechanismError> {
    let places = catalogue.city.places();
    let programme =
        Programme::new(uploads, catalogue.ties, plan.notion, places, catalogue.ceiling())?;
    let solution = programme.solve(plan)?;
    let matrices = programme.split(&solution).into_iter().zip(uploads);
    let outcome = |(values, upload): (Vec<f64>, &&Coefficients)| {
        let width = programme.columns.len();
        let rows: Vec<&[f64]> = values.chunks_exact(width).collect();
        let km = |i: usize, j: usize| upload.between[i * upload.rows + j];
        let finding = by_distance(&rows, km, plan.epsilon, plan.notion.reach_km());
        if !finding.is_private() {
            tracing::error!(excess = finding.worst_log_excess, "a matrix was not private");
            return Err(internal());
        }
        Ok(UserMatrix {
            map: catalogue.map(),
            columns: programme.columns.clone(),
            certificate: certificate(plan, &solution, uploads.len(), &finding),
            y: solution.y.clone(),
            values,
        })
    };
    Ok(matrices.map(outcome).collect())
}

fn certificate(plan: &Plan, solution: &Solution, users: usize, finding: &Finding) -> Certificate {
    let engine = match plan.engine {
        Engine::ColumnGeneration => "colgen",
        Engine::Benders => "benders",
    };
    // A user with one relevant place has no pair to compare.
    let excess = finding.worst_log_excess.max(solution.certificate.worst_log_excess);
    Certificate {
        engine: engine.to_owned(),
        status: solution.status.as_str().to_owned(),
        users: users as u32,
        cost: solution.objective,
        lower_bound: solution.lower_bound,
        gap: solution.gap,
        iterations: solution.iterations as u64,
        worst_log_excess: if excess.is_finite() { excess } else { 0.0 },
        worst_row_sum_error: solution.certificate.worst_row_sum_error,
    }
}

/// The user that a row of the programme belongs to.
fn owner(uploads: &[&Coefficients], row: usize) -> usize {
    let mut last = 0;
    let position = uploads.iter().position(|upload| {
        last += upload.rows;
        row < last
    });
    position.unwrap_or(0)
}

fn infeasible() -> Refusal {
    let message = "no matrix satisfies what was uploaded: a row has no report near enough to put its probability on; \
                   raise r_exp, or upload more columns";
    Refusal { reason: Reason::Infeasible, message: message.into(), field: None }
}

/// The server's fault.
pub fn internal() -> Refusal {
    let message = "the round could not be solved; join again";
    Refusal { reason: Reason::Internal, message: message.into(), field: None }
}
