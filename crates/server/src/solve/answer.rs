//! From a solution to what its users are sent.

use lrgeo_mechanism::Plan;
use lrgeo_mechanism::lr_geo::coefficients::Coefficients;
use lrgeo_mechanism::lr_geo::round::Programme;
use lrgeo_mechanism::verify::by_distance;
use lrgeo_optim::Solution;
use lrgeo_protocol::offload::{Certificate, Shared, UserMatrix};
use lrgeo_tiles::verify::Finding;

use crate::catalogue::Catalogue;

/// The matrix of every user, each verified; `None` if one of them is not private.
pub fn matrices(
    catalogue: &Catalogue,
    plan: &Plan,
    programme: &Programme,
    solution: &Solution,
    uploads: &[&Coefficients],
    shared: Shared,
) -> Option<Vec<UserMatrix>> {
    let matrices = programme.split(solution).into_iter().zip(uploads);
    let answer = |(values, upload): (Vec<f64>, &&Coefficients)| {
        let width = programme.columns.len();
        let rows: Vec<&[f64]> = values.chunks_exact(width).collect();
        let km = |i: usize, j: usize| upload.between[i * upload.rows + j];
        let finding = by_distance(&rows, km, plan.epsilon, plan.notion.reach_km());
        if !finding.is_private() {
            tracing::error!(excess = finding.worst_log_excess, "a matrix was not private");
            return None;
        }
        let certificate = certificate(plan, solution, uploads.len(), shared, &finding);
        let columns = programme.columns.clone();
        let y = solution.y.clone();
        Some(without_idle(
            UserMatrix { map: catalogue.map(), columns, values, y, certificate },
            upload,
        ))
    };
    matrices.map(answer).collect()
}

/// Leaves out the places that the user did not upload and does not report, since their y is zero. A public y names
/// all places of the map, and the programme of a round those of all its users: where a stranger uploaded some is
/// nobody's business.
fn without_idle(matrix: UserMatrix, upload: &Coefficients) -> UserMatrix {
    let UserMatrix { columns, values, y, .. } = &matrix;
    let is_kept = |at: &usize| y[*at] > 0.0 || upload.columns.binary_search(&columns[*at]).is_ok();
    let kept: Vec<usize> = (0..columns.len()).filter(is_kept).collect();
    let row = |row: &[f64]| kept.iter().map(|&at| row[at]).collect::<Vec<f64>>();
    UserMatrix {
        columns: kept.iter().map(|&at| columns[at]).collect(),
        values: values.chunks_exact(columns.len()).flat_map(row).collect(),
        y: row(y),
        ..matrix
    }
}

/// What a user's matrix costs, as it was uploaded; reports out of range cost the public ceiling.
pub fn own_cost(upload: &Coefficients, matrix: &UserMatrix, ceiling: f64) -> f64 {
    let width = upload.columns.len();
    let uploaded: Vec<Option<usize>> =
        matrix.columns.iter().map(|k| upload.columns.binary_search(k).ok()).collect();
    let rows =
        matrix.values.chunks_exact(matrix.columns.len()).zip(upload.cost.chunks_exact(width));
    let of_row = |(values, cost): (&[f64], &[f64])| -> f64 {
        let price = |at: &Option<usize>| at.map_or(ceiling, |at| cost[at]);
        values.iter().zip(&uploaded).map(|(z, at)| z * price(at)).sum()
    };
    rows.map(of_row).sum()
}

fn certificate(
    plan: &Plan,
    solution: &Solution,
    users: usize,
    shared: Shared,
    finding: &Finding,
) -> Certificate {
    // A user with one relevant place has no pair to compare.
    let excess = finding.worst_log_excess.max(solution.certificate.worst_log_excess);
    Certificate {
        shared,
        engine: plan.engine.name().to_owned(),
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
