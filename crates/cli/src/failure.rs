//! What a command can fail with.

use std::path::PathBuf;

use lrgeo_client::{Caught, ClientError};
use lrgeo_mechanism::MechanismError;
use lrgeo_optim::Error;

/// Why a command did not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Something about a map or its files.
    #[error(transparent)]
    Map(#[from] lrgeo_map::MapError),
    /// Something about a mechanism.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
    /// The client could not report, or would not.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The server cannot start or go on.
    #[error(transparent)]
    Server(#[from] lrgeo_server::ServerError),
    /// A table made from another version of the map.
    #[error("{}: was made from another version of the map; make it again with `lrgeo cost-table build`", .0.display())]
    OtherMap(PathBuf),
    /// A file cannot be read.
    #[error("{}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// A problem or solution file is not one.
    #[error("{}: {error}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, by field and index.
        error: lrgeo_optim::format::FormatError,
    },
    /// The engine gave up.
    #[error(transparent)]
    Engine(#[from] Error),
    /// The problem has no solution.
    #[error(transparent)]
    Infeasible(Error),
    /// A solution does not hold what it claims.
    #[error("{}", if *failed == 1 { "one check failed".to_owned() } else { format!("{failed} checks failed") })]
    CheckFailed {
        /// How many.
        failed: usize,
    },
}

impl From<lrgeo_geo::Invalid> for Failure {
    fn from(error: lrgeo_geo::Invalid) -> Self {
        Self::Mechanism(error.into())
    }
}

impl From<lrgeo_tiles::DrawError> for Failure {
    fn from(error: lrgeo_tiles::DrawError) -> Self {
        Self::Mechanism(error.into())
    }
}

impl From<lrgeo_tiles::TileError> for Failure {
    fn from(error: lrgeo_tiles::TileError) -> Self {
        Self::Mechanism(error.into())
    }
}

impl From<lrgeo_mechanism::publish::PublishError> for Failure {
    fn from(error: lrgeo_mechanism::publish::PublishError) -> Self {
        Self::Mechanism(error.into())
    }
}

impl Failure {
    /// What a person may do about it, where the error itself, which knows no commands, does not say.
    pub fn advice(&self) -> Option<String> {
        match self {
            Self::Client(ClientError::Lie(lie)) if matches!(lie.caught, Caught::Key | Caught::Fork) => Some(
                "if the operator announced this elsewhere, begin anew with the server: `lrgeo client reset --servers`".into(),
            ),
            Self::Mechanism(MechanismError::NotForCoordinates { between_places, .. }) => Some(format!(
                "give `--kind laplace`, or `--epsilon {between_places}` instead of `--privacy`, or build the map with a smaller `--cell`"
            )),
            _ => None,
        }
    }

    /// What the program exits with; see `lrgeo --help`.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Infeasible(_) => 3,
            Self::Mechanism(MechanismError::Optimiser(Error::Infeasible { .. })) => 3,
            Self::CheckFailed { .. } => 4,
            Self::Client(ClientError::Lie(_)) => 4,
            Self::Client(ClientError::Policy(_)) => 5,
            _ => 1,
        }
    }
}

/// What libraries call a setting, and how it is given on the command line.
const OPTIONS: [(&str, &str); 28] = [
    ("places", "--cell"),
    ("same_places", "--same-places"),
    ("region", "--bbox"),
    ("snap", "--snap"),
    ("undirected", "--undirected"),
    ("users", "--users"),
    ("gamma_km", "--gamma"),
    ("notion", "--all-pairs"),
    ("allow_disconnected", "--allow-disconnected"),
    ("radii.relevant", "--lr-radius"),
    ("radii.relevant_max", "--lr-max"),
    ("radii.exponential", "--exp-radius"),
    ("radii.obfuscation", "--obf-radius"),
    ("policy.most_epsilon_per_km", "lrgeo client policy --per-report"),
    ("policy.per_period", "lrgeo client policy --per-period"),
    ("policy.lifetime_per_km", "lrgeo client policy --lifetime"),
    ("policy.protects", "lrgeo client policy --protects"),
    ("policy.least_likely_places", "lrgeo client policy --least-places"),
    ("policy.least_relevant_places", "lrgeo client policy --least-relevant"),
    ("policy.fetch_all_bytes", "lrgeo client policy --fetch-all"),
    ("state.ledger", "lrgeo client reset --ledger"),
    ("offload_understood", "--i-understand"),
    ("consent", "--consent"),
    ("key", "--key"),
    ("retiring_key", "--retiring-key"),
    ("data", "--data"),
    ("listen", "--listen"),
    ("tiles", "--tiles"),
];

/// A message of a library for somebody at a command line. Libraries name fields: at fault at the beginning, `radii.exponential: ...`, and in
/// advice between backticks. Both become the options that set them.
pub fn in_options(message: &str) -> String {
    let mut text = message.to_owned();
    for (field, option) in OPTIONS {
        if let Some(rest) = text.strip_prefix(&format!("{field}: ")).filter(|_| field.contains('.'))
        {
            text = format!("{option}: {rest}");
        }
        text = text.replace(&format!("`{field}`"), &format!("`{option}`"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_at_fault_and_in_advice_become_options() {
        let said = "radii.exponential: r_exp = 5 km is larger than r_obf = 4 km; raise `radii.obfuscation` or lower `radii.exponential`";
        let expected = "--exp-radius: r_exp = 5 km is larger than r_obf = 4 km; raise `--obf-radius` or lower `--exp-radius`";
        assert_eq!(in_options(said), expected);
        assert_eq!(
            in_options("places: is none; `published` has one"),
            "places: is none; `published` has one"
        );
    }

    #[test]
    fn every_option_is_one_of_the_program() {
        use clap::CommandFactory;
        fn options(command: &clap::Command, found: &mut Vec<String>) {
            let own = command.get_arguments().filter_map(|argument| argument.get_long());
            found.extend(own.map(|name| format!("--{name}")));
            command.get_subcommands().for_each(|command| options(command, found));
        }
        let mut known = Vec::new();
        options(&crate::Arguments::command(), &mut known);
        for (field, option) in OPTIONS {
            let option = option.rsplit(' ').next().unwrap_or(option);
            assert!(known.iter().any(|name| name == option), "{field}: there is no {option}");
        }
    }
}
