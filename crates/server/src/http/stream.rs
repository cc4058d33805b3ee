//! The reports that were taken, for the operator's own system: asked for again and again, each time after the last one that was dealt with.

use std::time::Duration;

use axum::extract::State;
use lrgeo_protocol::{Reason, Refusal};
use serde::Serialize;

use super::message::{Answer, Answered, Asked, No, Reads};
use crate::handover::HandedReport;
use crate::service::App;

/// As many reports as are sent to those who do not say how many they want, and at most.
const USUAL: usize = 100;
const MOST: usize = 1000;

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
    params(("after" = Option<u64>, Query), ("limit" = Option<u32>, Query), ("wait" = Option<f64>, Query)),
    responses((status = 200, body = Taken), (status = 400, body = Refusal), (status = 404, body = Refusal)))]
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
    let (after, limit) = (wanted.after.unwrap_or(0), wanted.limit.unwrap_or(USUAL).clamp(1, MOST));
    let reports = handover.after(after, limit, Duration::from_secs_f64(wait)).await;
    let reports = reports.map_err(|refusal| No(reads, refusal))?;
    let cursor = reports.last().map_or(after, |last| last.sequence);
    Ok(Answer(reads, Taken { reports, cursor }))
}
