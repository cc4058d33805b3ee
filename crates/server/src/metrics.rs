//! What the server counts, as Prometheus reads it. Every name stands in docs/operations.md; labels are routes, kinds and reasons, which
//! are few and fixed: nothing about anybody, and nothing that somebody can make up.

use std::fmt::{Display, Write};
use std::sync::atomic::Ordering;

use crate::access::Kind;
use crate::counters::{BUCKETS, Counts, Route};
use crate::service::Service;

/// The text, in the format that `Content-Type: text/plain; version=0.0.4` names.
pub fn render(service: &Service) -> String {
    let counts = service.counters.now();
    let mut text = Text(String::new());
    text.one(
        "lrgeo_build_info",
        "gauge",
        "Always 1; the label says which version runs.",
        &[("version", env!("CARGO_PKG_VERSION"))],
        1,
    );
    text.plain(
        "lrgeo_uptime_seconds",
        "gauge",
        "Since the start.",
        service.counters.uptime().as_secs_f64(),
    );
    let expires = service.catalogue.tiles.link.expires.unix();
    text.plain(
        "lrgeo_manifest_expires_seconds",
        "gauge",
        "When phones stop to believe the manifest, in seconds since 1970.",
        expires,
    );
    requests(&mut text, &counts);
    text.family(
        "lrgeo_refusals_total",
        "counter",
        "Requests that were refused, by the reason in the answer.",
    );
    for (reason, count) in &counts.refusals {
        text.sample("lrgeo_refusals_total", &[("reason", reason)], count);
    }
    text.family("lrgeo_under_way", "gauge", "Requests that are being answered, by kind of route.");
    for (kind, name) in Kind::ALL {
        text.sample("lrgeo_under_way", &[("kind", name)], service.access.under_way(kind));
    }
    text.plain(
        "lrgeo_api_tokens",
        "gauge",
        "API tokens in the list, expired ones included.",
        service.access.tokens(),
    );
    rounds(&mut text, &counts, service.rounds.waiting());
    handover(&mut text, service);
    if let Some((bytes, files)) = process() {
        text.plain("lrgeo_resident_bytes", "gauge", "Memory of the process.", bytes);
        text.plain(
            "lrgeo_open_files",
            "gauge",
            "Open files and connections of the process.",
            files,
        );
    }
    text.0
}

fn requests(text: &mut Text, counts: &Counts) {
    let per_route = |text: &mut Text, name: &str, help: &str, of: fn(&Route) -> u64| {
        text.family(name, "counter", help);
        for (key, route) in &counts.routes {
            text.sample(name, &labels(key), of(route));
        }
    };
    per_route(text, "lrgeo_requests_total", "Requests answered, by method and route.", |r| {
        r.requests
    });
    per_route(
        text,
        "lrgeo_requests_refused_total",
        "Of these, refused for what was asked (4xx).",
        |r| r.refused,
    );
    per_route(text, "lrgeo_requests_failed_total", "Of these, failed or turned away (5xx).", |r| {
        r.failed
    });
    let name = "lrgeo_request_seconds";
    text.family(name, "histogram", "How long requests took until the answer began.");
    for (key, route) in &counts.routes {
        let mut below = 0;
        for (count, end) in
            route.buckets.iter().zip(BUCKETS.iter().map(f64::to_string).chain(["+Inf".into()]))
        {
            below += count;
            let [method, path] = labels(key);
            text.sample(&format!("{name}_bucket"), &[method, path, ("le", &end)], below);
        }
        text.sample(&format!("{name}_sum"), &labels(key), route.seconds);
        text.sample(&format!("{name}_count"), &labels(key), route.requests);
    }
}

/// `GET /v1/map` as two labels.
fn labels(key: &str) -> [(&'static str, &str); 2] {
    let (method, route) = key.split_once(' ').unwrap_or((key, ""));
    [("method", method), ("route", route)]
}

fn rounds(text: &mut Text, counts: &Counts, waiting: usize) {
    let rounds = &counts.rounds;
    text.plain("lrgeo_waiting_users", "gauge", "Users who wait for a round.", waiting);
    text.plain("lrgeo_tickets_total", "counter", "Tickets given out.", rounds.tickets);
    text.plain("lrgeo_rounds_total", "counter", "Rounds solved.", rounds.rounds);
    text.plain(
        "lrgeo_round_users_served_total",
        "counter",
        "Users of rounds who got a matrix.",
        rounds.served,
    );
    text.plain(
        "lrgeo_round_users_refused_total",
        "counter",
        "Users of rounds who got none.",
        rounds.refused,
    );
    text.plain(
        "lrgeo_round_seconds_total",
        "counter",
        "Time spent solving rounds.",
        rounds.seconds,
    );
}

fn handover(text: &mut Text, service: &Service) {
    let handover = service.handover.as_ref();
    let count = |of: fn(&crate::handover::HandoverCounts) -> &std::sync::atomic::AtomicU64| {
        handover.map_or(0, |handover| of(&handover.counts).load(Ordering::Relaxed))
    };
    text.plain(
        "lrgeo_outbox_reports",
        "gauge",
        "Reports that wait for the operator's system.",
        handover.map_or(0, |h| h.waiting()),
    );
    text.plain(
        "lrgeo_handed_reports_total",
        "counter",
        "Reports that the operator's system took.",
        count(|c| &c.delivered),
    );
    text.plain(
        "lrgeo_webhook_failed_tries_total",
        "counter",
        "Tries that the webhook did not take.",
        count(|c| &c.failed_tries),
    );
    text.plain(
        "lrgeo_dropped_reports_total",
        "counter",
        "Reports that were given up.",
        count(|c| &c.dropped),
    );
}

/// Resident bytes and open files, where the system says so in files.
fn process() -> Option<(u64, usize)> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some((kilobytes * 1024, std::fs::read_dir("/proc/self/fd").ok()?.count()))
}

/// The text as it grows. Values of labels are ours and need no escaping: routes, names of methods, kinds and reasons.
struct Text(String);

impl Text {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        let labels: Vec<String> = labels.iter().map(|(n, v)| format!("{n}=\"{v}\"")).collect();
        let labels = match labels.is_empty() {
            true => String::new(),
            false => format!("{{{}}}", labels.join(",")),
        };
        let _ = writeln!(self.0, "{name}{labels} {value}");
    }

    fn one(
        &mut self,
        name: &str,
        kind: &str,
        help: &str,
        labels: &[(&str, &str)],
        value: impl Display,
    ) {
        self.family(name, kind, help);
        self.sample(name, labels, value);
    }

    fn plain(&mut self, name: &str, kind: &str, help: &str, value: impl Display) {
        self.one(name, kind, help, &[], value);
    }
}
