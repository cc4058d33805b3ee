//! Reports posted to the operator's own system, signed as <https://www.standardwebhooks.com> says, so that there is a library for it in every language.
//!
//! Reports go along lanes, those of one reference along one, each after the one before was taken. A report that is not taken holds up its
//! lane, and no other.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use lrgeo_protocol::encoding::Encoding;
use sha2::Sha256;
use tokio::sync::watch;

use super::{HandedReport, Handover, HandoverSettings};
use crate::clock::now;
use crate::{ServerError, owner_only};

/// So many reports are on their way at once.
const LANES: u64 = 8;
/// So many are read from the outbox at a time.
const PAGE: usize = 64;
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// What a secret begins with.
const PREFIX: &str = "whsec_";

/// Where reports are posted, and how they are signed.
pub struct Webhook {
    url: String,
    secret: Vec<u8>,
    agent: ureq::Agent,
    most_pause: Duration,
    give_up_seconds: f64,
}

impl Webhook {
    /// As the settings say; `None` where they say nothing.
    pub fn open(settings: &HandoverSettings, data: &Path) -> Result<Option<Self>, ServerError> {
        let Some(url) = settings.webhook.clone() else { return Ok(None) };
        let default = data.join("webhook.secret");
        let secret = secret(settings.secret_file.as_deref().unwrap_or(&default))?;
        let config = ureq::Agent::config_builder()
            .user_agent("lrgeo")
            .proxy(None)
            // A redirect is no receipt.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_secs_f64(settings.timeout_seconds)))
            .build();
        Ok(Some(Self {
            url,
            secret,
            agent: config.into(),
            most_pause: Duration::from_secs_f64(settings.most_pause_seconds),
            give_up_seconds: settings.give_up_seconds,
        }))
    }

    /// Posts a report; whether it was taken. Says why not without saying what.
    fn post(&self, report: &HandedReport) -> Result<(), String> {
        let body = Encoding::Json.encode(report);
        let timestamp = now();
        let signature = sign(&self.secret, &report.id, timestamp, &body);
        let posted = self
            .agent
            .post(&self.url)
            .header("content-type", "application/json")
            .header("webhook-id", &report.id)
            .header("webhook-timestamp", timestamp.to_string())
            .header("webhook-signature", signature)
            .send(&body[..]);
        match posted {
            Ok(answer) if answer.status().is_success() => Ok(()),
            Ok(answer) => Err(format!("status {}", answer.status().as_u16())),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// `v1,` and the HMAC of id, time and body.
fn sign(secret: &[u8], id: &str, timestamp: u64, body: &[u8]) -> String {
    // Keys of any length are taken; this has one.
    let mut mac =
        Hmac::<Sha256>::new_from_slice(secret).unwrap_or_else(|_| Hmac::new(&Default::default()));
    mac.update(format!("{id}.{timestamp}.").as_bytes());
    mac.update(body);
    format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
}

/// Reads the secret, or makes one.
fn secret(path: &Path) -> Result<Vec<u8>, ServerError> {
    use std::io::{Seek, Write};
    let io = || ServerError::io(path);
    let mut file = owner_only::file(path)?;
    let mut text = String::new();
    (&file).take(4096).read_to_string(&mut text).map_err(io())?;
    if text.is_empty() {
        let mut secret = [0; 32];
        let no_randomness = |_| std::io::Error::other("the system has no randomness");
        getrandom::fill(&mut secret).map_err(no_randomness).map_err(io())?;
        text = format!("{PREFIX}{}\n", STANDARD.encode(secret));
        file.rewind().and_then(|()| file.write_all(text.as_bytes())).map_err(io())?;
        file.sync_all().map_err(io())?;
    }
    let secret = text.trim().strip_prefix(PREFIX).and_then(|text| STANDARD.decode(text).ok());
    secret.filter(|secret| secret.len() >= 24).ok_or_else(|| ServerError::Store {
        path: path.into(),
        reason: "is no secret: it must be `whsec_` and at least 24 bytes in base64; delete it to have one made".into(),
    })
}

/// Which lane a report takes: those of one reference the same.
fn lane(report: &HandedReport) -> u64 {
    let Some(reference) = &report.reference else { return report.sequence % LANES };
    let mut hasher = DefaultHasher::new();
    reference.as_str().hash(&mut hasher);
    hasher.finish() % LANES
}

/// All lanes, until the server stops.
pub async fn run(handover: Arc<Handover>, stop: watch::Receiver<bool>) {
    let along = |number| tokio::spawn(run_lane(handover.clone(), number, stop.clone()));
    let lanes: Vec<_> = (0..LANES).map(along).collect();
    for lane in lanes {
        if lane.await.is_err() {
            tracing::error!("a lane of the webhook panicked");
        }
    }
}

async fn run_lane(handover: Arc<Handover>, number: u64, mut stop: watch::Receiver<bool>) {
    let mut news = handover.outbox.news();
    let mut last = 0;
    while !*stop.borrow() {
        let reader = handover.clone();
        let page = tokio::task::spawn_blocking(move || reader.outbox.after(last, PAGE)).await;
        let page = match page {
            Ok(Ok(page)) => page,
            Ok(Err(error)) => {
                tracing::error!(%error, "the outbox could not be read");
                pause(FIRST_PAUSE, &mut stop).await;
                continue;
            }
            Err(_) => return,
        };
        if page.is_empty() {
            tokio::select! {
                _ = news.changed() => {}
                _ = stop.changed() => {}
            }
            continue;
        }
        for report in page {
            last = report.sequence;
            if lane(&report) != number {
                continue;
            }
            let sequence = report.sequence;
            if !deliver(&handover, report, &mut stop).await {
                return;
            }
            handover.outbox.forget(sequence).await;
        }
    }
}

/// Tries until the report was taken or is given up; `false` if the server stops first.
async fn deliver(
    handover: &Arc<Handover>,
    report: HandedReport,
    stop: &mut watch::Receiver<bool>,
) -> bool {
    let report = Arc::new(report);
    let mut wait = FIRST_PAUSE;
    loop {
        let (poster, posted) = (handover.clone(), report.clone());
        let post = move || poster.webhook.as_ref().map_or(Ok(()), |webhook| webhook.post(&posted));
        let outcome = tokio::select! {
            outcome = tokio::task::spawn_blocking(post) => outcome,
            // Whether it was taken is not known then: after the next start it is posted once more.
            _ = stop.wait_for(|stop| *stop) => return false,
        };
        let reason = match outcome {
            Ok(Ok(())) => {
                handover.counts.delivered.fetch_add(1, Ordering::Relaxed);
                return true;
            }
            Ok(Err(reason)) => reason,
            Err(_) => "posting panicked".to_owned(),
        };
        handover.counts.failed_tries.fetch_add(1, Ordering::Relaxed);
        let Some(webhook) = &handover.webhook else { return true };
        if now().saturating_sub(report.received_at) as f64 > webhook.give_up_seconds {
            handover.counts.dropped.fetch_add(1, Ordering::Relaxed);
            tracing::error!(
                id = report.id,
                reason,
                "a report was given up: the webhook did not take it"
            );
            return true;
        }
        tracing::warn!(
            id = report.id,
            reason,
            again_in = wait.as_secs_f64(),
            "the webhook did not take a report"
        );
        if pause(wait, stop).await {
            return false;
        }
        wait = (2 * wait).min(webhook.most_pause);
    }
}

/// Waits; whether the server stops.
async fn pause(wait: Duration, stop: &mut watch::Receiver<bool>) -> bool {
    let stopped = stop.wait_for(|stop| *stop);
    tokio::time::timeout(wait, stopped).await.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_those_of_the_standard() {
        // The example of the specification of standard webhooks.
        let secret = STANDARD.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let body = br#"{"test": 2432232314}"#;
        let signature = sign(&secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body);
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_secret_is_made_once_and_read_again() {
        let path = std::env::temp_dir().join(format!("lrgeo-secret-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let made = secret(&path).unwrap();
        assert_eq!((made.len(), secret(&path).unwrap()), (32, made));
        std::fs::write(&path, "whsec_short").unwrap();
        assert!(secret(&path).unwrap_err().to_string().contains("whsec_"));
        std::fs::remove_file(path).unwrap();
    }
}
