//! Reports for the operator's own system: posted to it as they come, or read by it from a stream.
//!
//! A server that is told of neither keeps nothing of a report but a count. With one, a report is in the outbox, on disk, before it is answered, and
//! goes from there when the operator's system has it: at least once, and those of one reference in order.

mod outbox;
mod settings;
mod webhook;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use lrgeo_protocol::quiet::Report;
use lrgeo_protocol::{Digest, PlaceId, Reason, Reference};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

pub use settings::HandoverSettings;

use crate::clock::now;
use crate::{ServerError, refuse};
use outbox::{NotKept, Outbox};
use webhook::Webhook;

/// A report as it is handed on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct HandedReport {
    /// The same each time it is handed on, and of no other report.
    pub id: String,
    /// Later reports have larger ones.
    pub sequence: u64,
    /// What the app calls what it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false)]
    pub reference: Option<Reference>,
    /// The version of the map that numbers the places.
    #[schema(value_type = String)]
    pub map: Digest,
    /// The reported place: drawn, not where anybody is.
    #[schema(value_type = u32)]
    pub place: PlaceId,
    /// Its latitude and longitude.
    pub at: [f64; 2],
    /// When the server got it, in seconds since 1970.
    pub received_at: u64,
}

/// What becomes of reports.
pub struct Handover {
    outbox: Outbox,
    webhook: Option<Webhook>,
    /// What was handed on, and what was not.
    pub counts: HandoverCounts,
}

/// What was handed on since the start, and what was not.
#[derive(Default)]
pub struct HandoverCounts {
    /// Reports that the operator's system took.
    pub delivered: AtomicU64,
    /// Tries that it did not take.
    pub failed_tries: AtomicU64,
    /// Reports that were given up.
    pub dropped: AtomicU64,
}

impl Handover {
    /// Opens the outbox where reports are to be handed on.
    pub fn open(
        settings: &HandoverSettings,
        data: &Path,
    ) -> Result<Option<Arc<Self>>, ServerError> {
        let webhook = Webhook::open(settings, data)?;
        if webhook.is_none() && !settings.stream {
            return Ok(None);
        }
        let outbox = Outbox::open(&data.join("outbox.redb"), settings.most_events)?;
        Ok(Some(Arc::new(Self { outbox, webhook, counts: HandoverCounts::default() })))
    }

    /// Whether the operator's system reads reports itself.
    pub fn is_stream(&self) -> bool {
        self.webhook.is_none()
    }

    /// How many reports wait.
    pub fn waiting(&self) -> u64 {
        self.outbox.waiting()
    }

    /// Keeps a report until it is handed on; it is on disk when this is over.
    pub async fn keep(&self, report: &Report, at: [f64; 2]) -> refuse::Result<()> {
        let mut id = [0; 16];
        if getrandom::fill(&mut id).is_err() {
            return refuse::because(Reason::Internal, "the server has no randomness");
        }
        let handed = HandedReport {
            id: lrgeo_geo::to_hex(&id),
            sequence: 0,
            reference: report.reference,
            map: report.map,
            place: report.place.0,
            at,
            received_at: now(),
        };
        match self.outbox.keep(handed).await {
            Ok(()) => Ok(()),
            Err(NotKept::Full) => refuse::because(
                Reason::Busy,
                "too many reports wait for the operator's system; try again later",
            ),
            Err(NotKept::Failed) => {
                refuse::because(Reason::Internal, "the server could not read or write its storage")
            }
        }
    }

    /// Hands reports on until the server stops.
    pub async fn run(self: Arc<Self>, stop: watch::Receiver<bool>) {
        if self.webhook.is_some() {
            webhook::run(self, stop).await;
        }
    }

    /// The reports after this one, oldest first. Whoever asks has dealt with that one and all before it: they are forgotten.
    pub async fn after(
        self: &Arc<Self>,
        cursor: u64,
        most: usize,
        patience: std::time::Duration,
    ) -> refuse::Result<Vec<HandedReport>> {
        let forgotten = self.outbox.forget_up_to(cursor).await;
        let forgotten = forgotten.map_err(|_| failed())?;
        self.counts.delivered.fetch_add(forgotten, Ordering::Relaxed);
        let end = tokio::time::Instant::now() + patience;
        // Before the first look: what comes in between is seen by the next.
        let mut news = self.outbox.news();
        loop {
            let handover = self.clone();
            let read = move || handover.outbox.after(cursor, most);
            let found = match tokio::task::spawn_blocking(read).await {
                Ok(Ok(found)) => found,
                Ok(Err(error)) => {
                    tracing::error!(%error, "storage failed");
                    return Err(failed());
                }
                Err(_) => return Err(failed()),
            };
            if !found.is_empty() || tokio::time::timeout_at(end, news.changed()).await.is_err() {
                return Ok(found);
            }
        }
    }
}

fn failed() -> lrgeo_protocol::Refusal {
    let message = "the server could not read or write its storage".to_owned();
    lrgeo_protocol::Refusal { reason: Reason::Internal, message, field: None }
}
