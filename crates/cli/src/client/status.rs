//! `lrgeo client status`: what is remembered.

use std::path::PathBuf;

use clap::Args;
use lrgeo_client::state::{Pinned, Remembered, State};
use lrgeo_tiles::Issued;
use serde_json::json;

use super::{duration, now, open_state, per_km};
use crate::failure::Failure;
use crate::json;
use crate::ui::Ui;

/// Show reports, spent epsilon and operators. Where reports were drawn is not printed; it stands in the state file.
#[derive(Args)]
#[command(after_help = "Example:\n  lrgeo client status --json")]
pub struct Status {
    /// The state file [default: ~/.local/state/lrgeo/client.json].
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Status {
    pub fn run(self, ui: &Ui) -> Result<(), Failure> {
        let (kept, path) = open_state(self.state)?;
        match self.json {
            true => ui.json(&as_json(&kept.state, &path)),
            false => ui.lines(&as_lines(&kept.state, &path)),
        }
        Ok(())
    }
}

fn as_json(state: &State, path: &std::path::Path) -> serde_json::Value {
    let report = |r: &Remembered| {
        json!({
            "at": json::lat_lon(r.report), "operator": r.operator, "mode": r.mode, "accuracy_m": r.accuracy_m,
            "epsilon_per_km": r.epsilon_per_km, "reuse_within_km": r.radius_km, "drawn": Issued::from_unix(r.at),
        })
    };
    let server = |pinned: &Pinned| {
        json!({
            "server": pinned.server, "operator": pinned.key, "since": Issued::from_unix(pinned.since),
            "sequence": pinned.sequence, "manifest": pinned.manifest, "issued": pinned.issued,
            "signer": pinned.signer, "next_key": pinned.next_key, "terms": pinned.terms, "fork": pinned.fork,
        })
    };
    json!({
        "state": path,
        "policy": json::policy(&state.policy),
        "balance": json::balance(&state.ledger.balance(&state.policy, now())),
        "reports": state.memory.reports.iter().map(report).collect::<Vec<_>>(),
        "servers": state.servers.iter().map(server).collect::<Vec<_>>(),
        "offload_understood": state.offload_understood,
    })
}

fn as_lines(state: &State, path: &std::path::Path) -> Vec<(&'static str, String)> {
    let balance = state.ledger.balance(&state.policy, now());
    let report = |r: &Remembered| {
        let [lat, lon] = r.report;
        let (epsilon, drawn) = (per_km(r.epsilon_per_km), Issued::from_unix(r.at));
        let metres = 1000.0 * r.radius_km;
        let mode = r.mode;
        format!(
            "{lat:.6},{lon:.6}  {mode}, {epsilon}, drawn {drawn}, given again within {metres:.0} m of there"
        )
    };
    let server = |p: &Pinned| {
        let fork = if p.fork.is_some() {
            "\n  SIGNED TWO DIFFERENT MANIFESTS: not used any more"
        } else {
            ""
        };
        format!("{}\n  {}, manifest {} of {}{fork}", p.server, p.key, p.sequence, p.issued)
    };
    let list = |lines: Vec<String>| match lines.is_empty() {
        true => "none".to_owned(),
        false => lines.join("\n"),
    };
    vec![
        ("state", path.display().to_string()),
        (
            "epsilon",
            format!(
                "{} spent, {} left of {} per {}; {} left for ever (`lrgeo client policy`)",
                per_km(balance.spent_per_km),
                per_km(balance.left_per_km),
                per_km(balance.limit.cap_per_km),
                duration(balance.limit.period_seconds),
                per_km(balance.lifetime_left_per_km)
            ),
        ),
        ("reports", list(state.memory.reports.iter().map(report).collect())),
        ("servers", list(state.servers.iter().map(server).collect())),
        (
            "offload",
            if state.offload_understood { "acknowledged" } else { "not acknowledged" }.into(),
        ),
    ]
}
