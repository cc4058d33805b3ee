//! `lrgeo client`: the phone's side of the service.

mod obfuscate;
mod policy;
mod reset;
mod settings;
mod status;

use std::path::PathBuf;

use clap::Subcommand;
use lrgeo_client::state::{Kept, StateError, StateFile, StateKey};
use lrgeo_client::{ClientError, clock};
use lrgeo_mechanism::MechanismError;

use crate::failure::Failure;
use crate::ui::Ui;

#[derive(Subcommand)]
pub enum ClientCommand {
    /// Report to a server without telling it where you are.
    Obfuscate(Box<obfuscate::Obfuscate>),
    /// Show what is remembered: reports, spent epsilon, operators.
    Status(status::Status),
    /// Forget reports, the ledger, operators, or your policy.
    Reset(reset::Reset),
    /// Show or change what you accept: epsilon per report, per period and ever, places to hide among.
    Policy(Box<policy::ChangePolicy>),
}

impl ClientCommand {
    pub fn run(self, ui: &Ui) -> Result<(), Failure> {
        match self {
            ClientCommand::Obfuscate(obfuscate) => obfuscate.run(ui),
            ClientCommand::Status(status) => status.run(ui),
            ClientCommand::Reset(reset) => reset.run(ui),
            ClientCommand::Policy(policy) => policy.run(ui),
        }
    }
}

/// Where the state is if nobody says otherwise.
fn default_state() -> Result<PathBuf, Failure> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let home = || variable("HOME").map(|home| PathBuf::from(home).join(".local/state"));
    let folder = variable("XDG_STATE_HOME").map(PathBuf::from).or_else(home);
    let unknown =
        || MechanismError::invalid("state", "there is no home directory; give --state FILE");
    Ok(folder.ok_or_else(unknown)?.join("lrgeo").join("client.json"))
}

/// Opens the state, and keeps others waiting until it is dropped.
fn open_state(given: Option<PathBuf>) -> Result<(Kept, PathBuf), Failure> {
    let path = given.map_or_else(default_state, Ok)?;
    let kept = StateFile::open_sealed(&path, state_key).map_err(ClientError::from)?;
    Ok((kept, path))
}

/// What the state is sealed with: `$LRGEO_STATE_KEY` names a file; a service manager hands one over in `$CREDENTIALS_DIRECTORY`; else it
/// is kept with the settings, elsewhere than the state, and made at the first use. Where a state is sealed already, no key is made.
fn state_key(is_sealed: bool) -> Result<StateKey, StateError> {
    let variable =
        |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let handed = variable("CREDENTIALS_DIRECTORY").map(|folder| folder.join("lrgeo-state-key"));
    let handed = handed.filter(|path| path.exists());
    if let Some(path) = variable("LRGEO_STATE_KEY").or(handed) {
        return StateKey::read(&path);
    }
    let home = || variable("HOME").map(|home| home.join(".config"));
    let folder = variable("XDG_CONFIG_HOME").or_else(home).ok_or_else(|| StateError::Io {
        name: "state key".into(),
        source: std::io::Error::other(
            "there is no home directory; name a file in $LRGEO_STATE_KEY",
        ),
    })?;
    let path = folder.join("lrgeo").join("client.key");
    if is_sealed { StateKey::read(&path) } else { StateKey::read_or_make(&path) }
}

/// Seconds since 1970.
fn now() -> u64 {
    clock::Clock::since_1970(&clock::SystemClock).as_secs()
}

/// `18.5/km`. What rounding left of nothing is nothing, and has no sign.
fn per_km(epsilon: f64) -> String {
    let rounded = (epsilon * 1e6).round() / 1e6 + 0.0;
    format!("{rounded}/km")
}

/// `24 h`, `7 days`.
fn duration(seconds: u64) -> String {
    match seconds {
        s if s % 86_400 == 0 && s > 86_400 => format!("{} days", s / 86_400),
        s if s % 3600 == 0 => format!("{} h", s / 3600),
        s if s % 60 == 0 => format!("{} min", s / 60),
        s => format!("{s} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_read_well() {
        assert_eq!(
            [20.0, 0.1 + 0.2, 0.0, 18.5, -1e-15, -0.0].map(per_km),
            ["20/km", "0.3/km", "0/km", "18.5/km", "0/km", "0/km"]
        );
        let written = [86_400, 604_800, 7_200, 90, 1_800].map(duration);
        assert_eq!(written, ["24 h", "7 days", "2 h", "90 s", "30 min"]);
    }
}
