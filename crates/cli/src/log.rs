//! What a server says about its work, on standard error: a line for each request and round, as text for a person or as JSON for a program.

use std::io::IsTerminal;

use clap::{Args, ValueEnum};
use tracing::Level;

use crate::ui::Ui;

/// How to log.
#[derive(Args, Clone, Copy, Default)]
pub struct LogOptions {
    /// How the log is written [default: text on a terminal, else json].
    #[arg(long, value_name = "FORMAT")]
    log: Option<Format>,
    /// How much is logged: error, warn, info, debug, trace [default: info; warn with --quiet].
    #[arg(long, value_name = "LEVEL")]
    log_level: Option<Level>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// A line to read; coloured on a terminal only.
    Text,
    /// An object a line.
    Json,
}

impl LogOptions {
    /// Logs to standard error from now on.
    pub fn start(self, ui: &Ui) {
        let usual = if ui.is_quiet() { Level::WARN } else { Level::INFO };
        let terminal = std::io::stderr().is_terminal();
        let format = self.log.unwrap_or(if terminal { Format::Text } else { Format::Json });
        let log = tracing_subscriber::fmt()
            .with_max_level(self.log_level.unwrap_or(usual))
            .with_writer(std::io::stderr)
            .with_target(false)
            .with_ansi(terminal);
        let _ = match format {
            Format::Text => log.try_init(),
            Format::Json => log.json().flatten_event(true).try_init(),
        };
    }
}
