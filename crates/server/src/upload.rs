//! Believing nothing that a user uploads.

use lrgeo_mechanism::lr_geo::coefficients::Coefficients;
use lrgeo_protocol::offload::Join;

use crate::catalogue::Catalogue;
use crate::config::RoundSettings;
use crate::refuse;

/// How far the triangle inequality may be off, in kilometres: the rounding of haversines.
const SLACK_KM: f64 = 1e-9;

/// The coefficients of an upload, if they can be those of places on a map and ask for no more work than a user may: nothing
/// that is looked at here or solved later grows with more than rows x rows and rows x columns, which are limited first.
pub fn check(
    join: Join,
    catalogue: &Catalogue,
    settings: &RoundSettings,
) -> refuse::Result<Coefficients> {
    refuse::other_map(join.map, catalogue.map())?;
    let Join { rows, columns, between, towards, cost, .. } = join;
    let rows = rows as usize;
    if rows == 0 {
        return refuse::field("rows", "must be at least 1");
    }
    let RoundSettings { most_relevant, most_entries, .. } = *settings;
    if rows > most_relevant {
        return refuse::too_large(format!("more than {most_relevant} relevant places; cap them"));
    }
    if rows.saturating_mul(columns.len()) > most_entries {
        return refuse::too_large(format!(
            "more than {most_entries} pairs of a relevant and a reported place; cap the relevant places"
        ));
    }
    let places = catalogue.city.places();
    if columns.is_empty() || columns.last().is_some_and(|k| k.index() >= places) {
        return refuse::field("columns", "must be places of the map, at least one");
    }
    if !columns.windows(2).all(|pair| pair[0] < pair[1]) {
        return refuse::field("columns", "must ascend, each place once");
    }
    let width = columns.len();
    for (name, values, length) in [
        ("between", &between, rows * rows),
        ("towards", &towards, rows * width),
        ("cost", &cost, rows * width),
    ] {
        if values.len() != length {
            let message = format!("must have {length} numbers, has {}", values.len());
            return refuse::field(name, message);
        }
        if let Some(at) = values.iter().position(|v| !(v.is_finite() && *v >= 0.0)) {
            let message = format!("number {at} is negative, infinite or none at all");
            return refuse::field(name, message);
        }
    }
    let ceiling = catalogue.ceiling() * (1.0 + 1e-9);
    if let Some(at) = cost.iter().position(|c| *c > ceiling) {
        let message = format!("number {at} is larger than any cost on this map");
        return refuse::field("cost", message);
    }
    check_metric(rows, &between)?;
    check_towards(rows, &between, &towards)?;
    let upload = Coefficients { rows, columns, between, towards, cost, ties: Vec::new() };
    Ok(upload.tie(&catalogue.ties))
}

/// Distances between places: zero to itself, symmetric, with the triangle inequality.
fn check_metric(rows: usize, between: &[f64]) -> refuse::Result<()> {
    let d = |i: usize, j: usize| between[i * rows + j];
    for i in 0..rows {
        if d(i, i) != 0.0 {
            return refuse::field("between", format!("row {i} is not at distance 0 from itself"));
        }
        for j in 0..i {
            if (d(i, j) - d(j, i)).abs() > SLACK_KM {
                let message = format!("rows {j} and {i} are not equally far from each other");
                return refuse::field("between", message);
            }
        }
    }
    for i in 0..rows {
        for j in 0..rows {
            let (direct, row) = (d(i, j), &between[j * rows..][..rows]);
            let shorter = between[i * rows..][..rows].iter().zip(row);
            if shorter.into_iter().any(|(a, b)| a + b < direct - SLACK_KM) {
                let message = format!("rows {i} and {j} are farther apart than a way between them");
                return refuse::field("between", message);
            }
        }
    }
    Ok(())
}

/// Distances to reported places: no two rows differ by more than they are apart.
fn check_towards(rows: usize, between: &[f64], towards: &[f64]) -> refuse::Result<()> {
    let width = towards.len() / rows;
    let row = |i: usize| &towards[i * width..][..width];
    for i in 0..rows {
        for j in 0..i {
            let apart = between[i * rows + j] + SLACK_KM;
            if row(i).iter().zip(row(j)).any(|(a, b)| (a - b).abs() > apart) {
                let message = format!("rows {j} and {i} differ by more than they are apart");
                return refuse::field("towards", message);
            }
        }
    }
    Ok(())
}
