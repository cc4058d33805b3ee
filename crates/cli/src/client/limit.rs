//! `lrgeo client limit`: how much epsilon may be spent.

use std::path::PathBuf;

use clap::Args;
use lrgeo_client::ClientError;
use lrgeo_client::state::Limit;
use lrgeo_mechanism::{Epsilon, MechanismError};
use serde_json::json;

use super::{duration, now, open_state, per_km};
use crate::failure::Failure;
use crate::ui::Ui;

/// Show or change the cap. New reports spend their epsilon; remembered ones are free. Over the cap nothing
/// new is reported.
#[derive(Args)]
#[command(after_help = "Example:\n  lrgeo client limit --cap 10/km --period 7d")]
pub struct ChangeLimit {
    /// The most epsilon per period.
    #[arg(long, value_name = "EPSILON", allow_hyphen_values = true)]
    cap: Option<Epsilon>,
    /// The period: seconds, minutes, hours or days, like 90s, 30m, 24h, 7d.
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    period: Option<u64>,
    /// The state file [default: ~/.local/state/lrgeo/client.json].
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl ChangeLimit {
    pub fn run(self, ui: &Ui) -> Result<(), Failure> {
        let (mut kept, _) = open_state(self.state)?;
        let known = kept.state.ledger.limit;
        let cap = self.cap.map_or(known.cap_per_km, Epsilon::value);
        let limit = Limit::new(cap, self.period.unwrap_or(known.period_seconds));
        kept.state.ledger.limit = limit.map_err(|e| MechanismError::invalid("limit", e))?;
        kept.commit().map_err(ClientError::from)?;
        let balance = kept.state.ledger.balance(now());
        match self.json {
            true => ui.json(&json!(balance)),
            false => ui.lines(&[
                ("cap", format!("{} per {}", per_km(cap), duration(balance.limit.period_seconds))),
                ("spent", per_km(balance.spent_per_km)),
                ("left", per_km(balance.left_per_km)),
            ]),
        }
        Ok(())
    }
}

fn seconds(text: &str) -> Result<u64, String> {
    let wrong = || "must be a time like 90s, 30m, 24h or 7d".to_owned();
    let text = text.trim();
    let split = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
    let (number, unit) = text.split_at(split);
    let unit = match unit.trim() {
        "s" => 1,
        "m" | "min" => 60,
        "h" => 3600,
        "d" | "day" | "days" => 86_400,
        _ => return Err(wrong()),
    };
    number.parse::<u64>().ok().and_then(|n| n.checked_mul(unit)).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_are_read_as_people_write_them() {
        for (text, value) in [("90s", 90), ("30m", 1800), ("24h", 86_400), ("7 d", 604_800)] {
            assert_eq!(seconds(text), Ok(value));
        }
        for bad in ["", "24", "h", "-1h", "1.5h", "99999999999999999999d", "1y"] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }
}
