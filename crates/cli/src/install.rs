//! `lrgeo completions` and `lrgeo man`: what a package puts beside the program.

use std::path::PathBuf;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::failure::Failure;
use crate::ui::Ui;

/// Print completions for a shell.
#[derive(Args)]
#[command(after_help = "\
Examples:
  lrgeo completions bash > ~/.local/share/bash-completion/completions/lrgeo
  lrgeo completions zsh > ~/.zfunc/_lrgeo
  lrgeo completions fish > ~/.config/fish/completions/lrgeo.fish")]
pub struct Completions {
    /// The shell.
    shell: Shell,
}

impl Completions {
    pub fn run(self) -> Result<(), Failure> {
        clap_complete::generate(
            self.shell,
            &mut crate::Arguments::command(),
            "lrgeo",
            &mut std::io::stdout(),
        );
        Ok(())
    }
}

/// Write a manual page for every command.
#[derive(Args)]
#[command(after_help = "Example:\n  lrgeo man ~/.local/share/man/man1")]
pub struct Man {
    /// Where to: lrgeo.1, lrgeo-map-build.1 and so on; made where it is not there.
    folder: PathBuf,
}

impl Man {
    pub fn run(self, ui: &Ui) -> Result<(), Failure> {
        let failed = |error| Failure::Read { path: self.folder.clone(), error };
        std::fs::create_dir_all(&self.folder).map_err(failed)?;
        clap_mangen::generate_to(crate::Arguments::command(), &self.folder).map_err(failed)?;
        ui.remark(format!(
            "wrote manual pages to {}; try `man -l {}/lrgeo.1`",
            self.folder.display(),
            self.folder.display()
        ));
        Ok(())
    }
}
