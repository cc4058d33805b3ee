//! `lrgeo client policy`: what the owner of the phone accepts.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use lrgeo_client::ClientError;
use lrgeo_client::policy::{Policy, Protects, in_words};
use lrgeo_geo::Invalid;
use lrgeo_geo::units::Length;
use lrgeo_mechanism::MechanismError;
use lrgeo_tiles::Epsilon;
use serde_json::json;

use super::{duration, now, open_state, per_km};
use crate::failure::Failure;
use crate::json;
use crate::options::seconds;
use crate::ui::Ui;

/// Show or change your policy. What a server offers is measured and held against it; what is weaker is refused, whoever
/// signed it. New reports spend their epsilon; remembered ones are free.
#[derive(Args)]
#[command(after_help = "\
Examples:
  lrgeo client policy --per-report \"factor 2 within 300 m\" --per-period 10/km --period 7d
  lrgeo client policy --protects relevant-places     allows the modes local and offload
docs/client.md says what each rule is for.")]
pub struct ChangePolicy {
    /// The most epsilon of one report: 2/km, or in words \"factor 2 within 300 m\".
    #[arg(long, value_name = "EPSILON", allow_hyphen_values = true)]
    per_report: Option<Epsilon>,
    /// The most epsilon per period, all reports together.
    #[arg(long, value_name = "EPSILON", allow_hyphen_values = true)]
    per_period: Option<Epsilon>,
    /// The period: seconds, minutes, hours or days, like 90s, 30m, 24h, 7d.
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    period: Option<u64>,
    /// The most epsilon ever, all reports together.
    #[arg(long, value_name = "EPSILON", allow_hyphen_values = true)]
    lifetime: Option<Epsilon>,
    /// Between whom: all-pairs of places, or only the relevant-places of your own programme.
    #[arg(long, value_enum)]
    protects: Option<Between>,
    /// The least number of likely places behind the tiles that are fetched.
    #[arg(long, value_name = "N")]
    least_places: Option<f64>,
    /// The least number of relevant places in the modes local and offload.
    #[arg(long, value_name = "N")]
    least_relevant: Option<u32>,
    /// How often a place may be drawn anew when the operator changes the map; else the old report is moved.
    #[arg(long, value_name = "N")]
    redraws: Option<u32>,
    /// How far from where it was drawn a report is given again, 50m to 2km; `auto` follows the report's epsilon (1/epsilon).
    #[arg(long, value_name = "LENGTH|auto", value_parser = reuse)]
    reuse_within: Option<Reuse>,
    /// Fetch all tiles where they are no larger than this together: 8MB, 500kB, 0.
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    fetch_all: Option<u64>,
    /// The state file [default: ~/.local/state/lrgeo/client.json].
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// `--reuse-within`.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Reuse {
    /// As far as the report's epsilon says.
    ByEpsilon,
    /// As far as the owner says.
    Within(Length),
}

/// `--protects`.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Between {
    /// Every two places of the map.
    AllPairs,
    /// Every two places of your own programme.
    RelevantPlaces,
}

impl ChangePolicy {
    pub fn run(self, ui: &Ui) -> Result<(), Failure> {
        let (mut kept, _) = open_state(self.state.clone())?;
        let policy = self.apply(kept.state.policy);
        policy.validate().map_err(|error| MechanismError::invalid("policy", error))?;
        kept.state.policy = policy;
        kept.commit().map_err(ClientError::from)?;
        let balance = kept.state.ledger.balance(&policy, now());
        match self.json {
            true => ui.json(
                &json!({ "policy": json::policy(&policy), "balance": json::balance(&balance) }),
            ),
            false => ui.lines(&[
                ("per report", format!("at most {}", in_words(policy.most_epsilon_per_km))),
                (
                    "per period",
                    format!(
                        "at most {} per {}; {} spent, {} left",
                        per_km(policy.per_period.cap_per_km),
                        duration(policy.per_period.period_seconds),
                        per_km(balance.spent_per_km),
                        per_km(balance.left_per_km)
                    ),
                ),
                (
                    "ever",
                    format!(
                        "at most {}; {} spent, {} left",
                        per_km(policy.lifetime_per_km),
                        per_km(balance.lifetime_spent_per_km),
                        per_km(balance.lifetime_left_per_km)
                    ),
                ),
                (
                    "protects",
                    match policy.protects {
                        Protects::AllPairs => "every two places of the map (mode published)",
                        Protects::RelevantPlaces => {
                            "every two relevant places of your own programme (all modes)"
                        }
                    }
                    .into(),
                ),
                (
                    "hidden among",
                    format!(
                        "at least {} likely places; in local and offload at least {} relevant ones",
                        policy.least_likely_places, policy.least_relevant_places
                    ),
                ),
                ("reuses", reuse_in_words(&policy)),
                ("redraws", format!("{} per place when the map changes", policy.redraws)),
                (
                    "fetches",
                    format!(
                        "all tiles up to {:.1} MB, else some at random",
                        policy.fetch_all_bytes as f64 / 1e6
                    ),
                ),
            ]),
        }
        Ok(())
    }

    fn apply(&self, known: Policy) -> Policy {
        let mut policy = known;
        let set = |slot: &mut f64, epsilon: Option<Epsilon>| {
            *slot = epsilon.map_or(*slot, Epsilon::value);
        };
        set(&mut policy.most_epsilon_per_km, self.per_report);
        set(&mut policy.per_period.cap_per_km, self.per_period);
        set(&mut policy.lifetime_per_km, self.lifetime);
        policy.per_period.period_seconds = self.period.unwrap_or(known.per_period.period_seconds);
        policy.least_likely_places = self.least_places.unwrap_or(known.least_likely_places);
        policy.least_relevant_places = self.least_relevant.unwrap_or(known.least_relevant_places);
        policy.redraws = self.redraws.unwrap_or(known.redraws);
        policy.reuse_within_km = match self.reuse_within {
            Some(Reuse::ByEpsilon) => None,
            Some(Reuse::Within(length)) => Some(length.km()),
            None => known.reuse_within_km,
        };
        policy.fetch_all_bytes = self.fetch_all.unwrap_or(known.fetch_all_bytes);
        policy.protects = self.protects.map_or(known.protects, |between| match between {
            Between::AllPairs => Protects::AllPairs,
            Between::RelevantPlaces => Protects::RelevantPlaces,
        });
        policy
    }
}

/// `auto`, `300m`.
fn reuse(text: &str) -> Result<Reuse, String> {
    match text {
        "auto" => Ok(Reuse::ByEpsilon),
        length => length.parse().map(Reuse::Within).map_err(|error: Invalid| error.to_string()),
    }
}

fn reuse_in_words(policy: &Policy) -> String {
    match policy.reuse_within_km {
        Some(km) => format!("a report within {:.0} m of where it was drawn", 1000.0 * km),
        None => format!(
            "a report within 1/epsilon of where it was drawn ({:.0} m at 2/km)",
            1000.0 * policy.reuse_radius_km(2.0)
        ),
    }
}

/// `8MB`, `500kB`, `0`.
fn bytes(text: &str) -> Result<u64, String> {
    let wrong = || "must be a size like 8MB or 500kB".to_owned();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit: u64 = match text[digits.len()..].to_ascii_lowercase().as_str() {
        // Nothing is nothing in every unit.
        "" if digits == "0" => 1,
        "" => return Err(format!("`{text}` has no unit; write it like 8MB or 500kB")),
        "b" => 1,
        "kb" => 1_000,
        "mb" => 1_000_000,
        _ => return Err(wrong()),
    };
    let number: u64 = digits.trim().parse().map_err(|_| wrong())?;
    number.checked_mul(unit).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_are_read_as_people_write_them() {
        for (text, value) in [("90s", 90), ("30m", 1800), ("24h", 86_400), ("7 d", 604_800)] {
            assert_eq!(seconds(text), Ok(value));
        }
        assert_eq!([bytes("8MB"), bytes("500kB"), bytes("0")], [Ok(8_000_000), Ok(500_000), Ok(0)]);
        assert_eq!(reuse("auto"), Ok(Reuse::ByEpsilon));
        assert_eq!(reuse("300m"), Ok(Reuse::Within(Length::from_m(300.0).unwrap())));
        assert!(reuse("near").is_err());
        assert!(bytes("-1MB").is_err() && bytes("8 bananas").is_err());
        for bare in [bytes("8000000").map(|_| ()), seconds("24").map(|_| ())] {
            assert!(bare.unwrap_err().contains("has no unit; write it like"));
        }
        for bad in ["", "24", "h", "-1h", "1.5h", "99999999999999999999d", "1y"] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }
}
