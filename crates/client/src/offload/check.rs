//! Is the matrix that the server sent one to draw from? Nothing of it is believed.

use lrgeo_geo::PlaceId;
use lrgeo_mechanism::relevant::TieRule;
use lrgeo_mechanism::rows::{self, Round};
use lrgeo_mechanism::verify::promised;
use lrgeo_protocol::offload::{Certificate, Shared, UserMatrix};
use lrgeo_tiles::SUM_ERROR;
use lrgeo_tiles::sample::FLOOR;

use super::Upload;
use crate::{Described, Lie};

const WHAT: &str = "matrix";

/// Tied entries are products of two numbers that both sides know.
const TIE_ERROR: f64 = 1e-12;
/// Costs are sums of thousands of products.
const COST_ERROR: f64 = 1e-9;

fn wrong(field: &'static str, reason: &str) -> Lie {
    Lie::nonsense(WHAT, field, reason)
}

/// The user's matrix, if it is for this map and upload, every row is a distribution,
/// every pair of rows within gamma keeps epsilon (rounding against the server, no tolerance), every tied entry
/// is `y_k f_ik`, and the certificate does not contradict it.
///
/// What one client cannot see is whether other users got the same y: Theorem 4.4 speaks of one round.
pub fn check(described: &Described, upload: &Upload, answer: UserMatrix) -> Result<Round, Lie> {
    let Described { description, geography, plan, ties, .. } = described;
    if answer.map != description.map {
        return Err(Lie::other_map(WHAT, answer.map, description.map));
    }
    let UserMatrix { columns, values, y, certificate, .. } = answer;
    let (height, width) = (upload.relevant.len(), columns.len());
    let is_amount = |x: &f64| x.is_finite() && *x >= 0.0;
    if y.len() != width || !y.iter().all(is_amount) {
        return Err(wrong("y", "is not one number per column, none below zero"));
    }
    if values.len() != height * width {
        return Err(wrong("values", "are not one per row and column"));
    }
    if !upload.join.columns.iter().all(|k| columns.binary_search(k).is_ok()) {
        return Err(wrong("columns", "lack one that was uploaded"));
    }
    // Back into the order of the relevant places: the user's own row first.
    let row = |at: &usize| values[at * width..(at + 1) * width].to_vec();
    let values: Vec<f64> = upload.row_of.iter().flat_map(row).collect();
    let user = rows::UserMatrix {
        place: upload.relevant[0],
        shares: Vec::new(),
        relevant: upload.relevant.clone(),
        values,
    };
    let places = geography.places();
    let round = Round { places, columns: columns.into(), users: vec![user], ties: ties.clone() };
    round.validate().map_err(|error| wrong("rows", &error.to_string()))?;
    let finding = promised(&round, geography.coords(), plan.epsilon, plan.notion.reach_km());
    if !finding.is_private() {
        return Err(Lie::not_private(WHAT, finding.worst_log_excess));
    }
    check_ties(described, &round, ties, &y)?;
    // Who says that the public y was taken is held to it: then no stranger had a part in this matrix.
    if certificate.shared == Shared::PublicY {
        let public = described.description.local.as_ref().map(|local| &local.y);
        let same = |(k, &y): (&PlaceId, &f64)| public.is_some_and(|public| public[k.index()] == y);
        if !round.columns.iter().zip(&y).all(same) {
            return Err(wrong("y", "is not the public one that it is said to be"));
        }
    }
    check_certificate(&certificate, own_cost(described, upload, &round))?;
    Ok(round)
}

/// `z_ik = y_k f_ik` where it is tied (Eq. 18), with the constant that every entry is raised by.
fn check_ties(described: &Described, round: &Round, ties: &TieRule, y: &[f64]) -> Result<(), Lie> {
    let user = &round.users[0];
    let km = |i: PlaceId, k: PlaceId| described.geography.distance_km(i, k);
    for (index, &place) in user.relevant.iter().enumerate() {
        for ((&k, &z), &y) in round.columns.iter().zip(user.row(index)).zip(y) {
            let Some(factor) = ties.factor((place, k), km(place, k), km(user.place, k)) else {
                continue;
            };
            let tied = y * factor + if z > 0.0 { FLOOR } else { 0.0 };
            // Written so that what is not a number does not pass.
            let equal = (z - tied).abs() <= TIE_ERROR * tied;
            if !equal {
                return Err(wrong("values", "have an entry that is not tied to y as it must be"));
            }
        }
    }
    Ok(())
}

/// What this user's matrix costs, as it was uploaded; reports out of range cost the public ceiling.
fn own_cost(described: &Described, upload: &Upload, round: &Round) -> f64 {
    let join = &upload.join;
    let mut sum = 0.0;
    for (index, &at) in upload.row_of.iter().enumerate() {
        let cost = &join.cost[at * join.columns.len()..(at + 1) * join.columns.len()];
        for (&k, &z) in round.columns.iter().zip(round.users[0].row(index)) {
            let uploaded = join.columns.binary_search(&k);
            sum += z * uploaded.map_or(described.description.ceiling, |column| cost[column]);
        }
    }
    sum
}

/// A certificate need not be believed, since the matrix was checked; one that cannot be true says that
/// something is wrong.
fn check_certificate(certificate: &Certificate, own_cost: f64) -> Result<(), Lie> {
    let Certificate { status, users, cost, lower_bound, gap, .. } = certificate;
    let absurd = |reason: &str| Err(wrong("certificate", reason));
    if !["optimal", "gap", "limit"].contains(&status.as_str()) || *users == 0 {
        return absurd("does not say how a round ended");
    }
    let slack = COST_ERROR * cost.abs();
    let bounded = *lower_bound <= cost + slack && (-COST_ERROR..=1.0 + COST_ERROR).contains(gap);
    if !(cost.is_finite() && lower_bound.is_finite() && bounded) {
        return absurd("has bounds that contradict each other");
    }
    // The other users' costs are not below zero.
    if own_cost > cost + slack {
        return absurd("claims less than this matrix alone costs");
    }
    // Each may be nothing at all in a round without pairs.
    if certificate.worst_log_excess > 0.0 || certificate.worst_row_sum_error > SUM_ERROR {
        return absurd("admits that the round is not private");
    }
    Ok(())
}
