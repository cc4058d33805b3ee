//! The reports that were taken, for the operator's own system: asked for again and again, each time after the last one that was dealt with.

use std::time::Duration;

use axum::extract::State;
use lrgeo_protocol::{Reason, Refusal};
use serde::Serialize;

use super::message::{Answer, Answered, Asked, No, Reads};
use crate::handover::HandedReport;
use crate::refuse;
use crate::service::App;

/// As many reports as are sent to those who do not say how many they want, and at most.
const USUAL: usize = 100;
const MOST: usize = 1000;
/// Sequences fit in numbers with a sign, which is what some languages have.
const LAST: u64 = i64::MAX as u64;

/// After which report, how many, how patiently.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    after: Option<u64>,
    limit: Option<usize>,
    wait: Option<f64>,
}

/// Reports that were taken.
#[derive(Serialize, utoipa::ToSchema)]
pub struct Taken {
    /// Oldest first.
    reports: Vec<HandedReport>,
    /// What to ask for next, once these are dealt with: `after` this one.
    cursor: u64,
}

/// Reports after the one with the sequence `after`, once there are any or after `wait` seconds. Asking so says that that one and all before
/// it were dealt with: they are deleted. There is one reader: two would take reports from each other.
#[utoipa::path(get, path = "/v1/stream", tag = "operation",
    params(("after" = Option<i64>, Query, minimum = 0), ("limit" = Option<u32>, Query, minimum = 1, maximum = 1000), ("wait" = Option<f64>, Query)),
    responses((status = 200, body = Taken), (status = 404, body = Refusal), (status = 422, body = Refusal)))]
pub async fn stream(
    State(app): State<App>,
    Reads(reads): Reads,
    Asked(wanted): Asked<Wanted>,
) -> Answered<Answer<Taken>> {
    let Some(handover) = app.handover.as_ref().filter(|handover| handover.is_stream()) else {
        let message = "this server has no stream of reports (handover.stream)".to_owned();
        return Err(No(reads, Refusal { reason: Reason::NotOffered, message, field: None }));
    };
    let most = (app.limits.request_seconds - 1.0).max(0.0);
    let wait = wanted.wait.filter(|wait| *wait > 0.0).unwrap_or(0.0).min(most);
    let (after, limit) = (wanted.after.unwrap_or(0), wanted.limit.unwrap_or(USUAL));
    let asked = match (after, limit) {
        (..=LAST, 1..=MOST) => Ok(()),
        (..=LAST, _) => refuse::field("limit", "must be 1 to 1000"),
        _ => refuse::field("after", "is no cursor of this server"),
    };
    asked.map_err(|refusal| No(reads, refusal))?;
    let reports = handover.after(after, limit, Duration::from_secs_f64(wait)).await;
    let reports = reports.map_err(|refusal| No(reads, refusal))?;
    let cursor = reports.last().map_or(after, |last| last.sequence);
    Ok(Answer(reads, Taken { reports, cursor }))
}
