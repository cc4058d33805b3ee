//! `lrgeo key`: the key that published tiles are signed with.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use lrgeo_mechanism::publish::{open_key, save_new_key};
use lrgeo_tiles::SecretKey;
use serde_json::json;

use crate::failure::Failure;
use crate::ui::Ui;

#[derive(Subcommand)]
pub enum KeyCommand {
    /// Make a new secret key in a file that only you can read.
    New(New),
    /// Print the public half of a key.
    Show(Show),
}

/// Make a new key; an existing file is never overwritten.
#[derive(Args)]
#[command(after_help = "Example:\n  lrgeo key new -o operator.key")]
pub struct New {
    /// Where to write the secret key.
    #[arg(short, long, value_name = "KEYFILE", default_value = "lrgeo.key")]
    output: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Print the public half, which clients check tiles with.
#[derive(Args)]
#[command(after_help = "Example:\n  lrgeo key show operator.key")]
pub struct Show {
    /// The secret key.
    key: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl KeyCommand {
    pub fn run(self, ui: &Ui) -> Result<(), Failure> {
        match self {
            KeyCommand::New(New { output, json }) => {
                let key = SecretKey::generate()?;
                save_new_key(&key, &output)?;
                ui.remark(format!(
                    "wrote the secret key to {}, readable by you only; keep a copy in a safe place",
                    output.display()
                ));
                print(ui, &key, &output, json);
            }
            KeyCommand::Show(Show { key: path, json }) => print(ui, &open(&path)?, &path, json),
        }
        Ok(())
    }
}

fn print(ui: &Ui, key: &SecretKey, path: &Path, json: bool) {
    match json {
        true => {
            ui.json(&json!({ "public_key": key.public().to_string(), "secret_key_file": path }))
        }
        false => println!("{}", key.public()),
    }
}

/// Opens a secret key that only its owner can read.
pub fn open(path: &Path) -> Result<SecretKey, Failure> {
    Ok(open_key(path)?)
}
