//! `lrgeo client reset`: forget.

use std::path::PathBuf;

use clap::Args;
use lrgeo_client::ClientError;
use lrgeo_client::policy::Policy;
use lrgeo_client::state::{Ledger, Memory};
use lrgeo_mechanism::MechanismError;

use super::open_state;
use crate::failure::Failure;
use crate::ui::{Ui, counted};

/// Forget what is named; without a name, all but the policy.
#[derive(Args)]
#[command(after_help = "\
Example:
  lrgeo client reset --servers --yes
Who forgets reports draws new ones for the same places, and several draws together tell more than one.
The ledger is kept apart for that reason: forgetting reports gives back nothing of what was spent.")]
pub struct Reset {
    /// Forget all reports: places are drawn anew.
    #[arg(long)]
    reports: bool,
    /// Forget what was spent; the caps stay.
    #[arg(long)]
    ledger: bool,
    /// Forget the keys of servers: the next one they show is believed.
    #[arg(long)]
    servers: bool,
    /// Go back to the default policy.
    #[arg(long)]
    policy: bool,
    /// Really do it.
    #[arg(long)]
    yes: bool,
    /// The state file [default: ~/.local/state/lrgeo/client.json].
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
}

impl Reset {
    pub fn run(self, ui: &Ui) -> Result<(), Failure> {
        let (mut kept, _) = open_state(self.state)?;
        let all = !(self.reports || self.ledger || self.servers || self.policy);
        let state = &mut kept.state;
        let mut forgotten = Vec::new();
        if self.reports || all {
            forgotten.push(counted(state.memory.reports.len(), "report"));
            state.memory = Memory::default();
        }
        if self.ledger || all {
            forgotten.push(format!("{} spends", state.ledger.spends.len()));
            state.ledger = Ledger::default();
        }
        if self.servers || all {
            forgotten.push(format!("{} servers", state.servers.len()));
            state.servers.clear();
            state.offload_understood &= !all;
        }
        if self.policy {
            forgotten.push("your policy".to_owned());
            state.policy = Policy::default();
        }
        let forgotten = forgotten.join(", ");
        if !self.yes {
            let reason =
                format!("would forget {forgotten}; nothing was changed, add --yes to do it");
            return Err(MechanismError::invalid("reset", reason).into());
        }
        kept.commit().map_err(ClientError::from)?;
        ui.remark(format!("forgot {forgotten}"));
        Ok(())
    }
}
