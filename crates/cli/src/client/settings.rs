//! The client's config file; options on the command line go before it.

use std::path::{Path, PathBuf};

use lrgeo_client::Mode;
use lrgeo_mechanism::MechanismError;
use serde::Deserialize;

use crate::failure::Failure;

/// Everything that may stand in the file. Unknown keys are refused.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The address of the server.
    pub server: Option<String>,
    /// Who signed the server's certificate (PEM).
    pub ca: Option<PathBuf>,
    /// `published`, `local` or `offload`.
    pub mode: Option<Mode>,
    /// Where reports are remembered.
    pub state: Option<PathBuf>,
    /// The operator's public key.
    pub key: Option<String>,
    /// A file with the API token that the operator gave.
    pub token_file: Option<PathBuf>,
    /// How many targets to ask for.
    pub targets: Option<usize>,
    /// Whether the owner knows what `offload` discloses.
    #[serde(default)]
    pub i_understand_offload: bool,
}

impl Settings {
    /// Reads a file; no file, no settings.
    pub fn open(path: Option<&Path>) -> Result<Self, Failure> {
        let Some(path) = path else { return Ok(Self::default()) };
        let text = std::fs::read_to_string(path)
            .map_err(|error| Failure::Read { path: path.into(), error })?;
        let invalid = |error: toml::de::Error| {
            MechanismError::invalid("config", format!("{}: {}", path.display(), error.message()))
        };
        Ok(toml::from_str(&text).map_err(invalid)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_is_read_and_has_every_key() {
        let sample = include_str!("../../../../docs/client.sample.toml");
        let read: Settings = toml::from_str(sample).unwrap();
        assert_eq!(read.mode, Some(Mode::Coordinates));
        assert!(!read.i_understand_offload, "nobody may understand by copying a sample");
        // Keys without a default are commented out with `#: `.
        let all: String =
            sample.lines().map(|line| line.trim_start_matches("#: ").to_owned() + "\n").collect();
        let Settings { server, ca, mode, state, key, token_file, targets, .. } =
            toml::from_str(&all).unwrap();
        assert!(server.is_some() && ca.is_some() && mode.is_some() && state.is_some());
        assert!(key.is_some() && token_file.is_some() && targets.is_some());
    }

    #[test]
    fn unknown_keys_are_refused() {
        for bad in ["modus = \"local\"", "mode = \"magic\"", "targets = -1", "[client]\n"] {
            assert!(toml::from_str::<Settings>(bad).is_err(), "{bad}");
        }
    }
}
