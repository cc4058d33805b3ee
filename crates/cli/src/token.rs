//! `lrgeo token`: who may use a server, and for what.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::{Args, Subcommand};
use lrgeo_server::{Scope, Token, TokenFile, WantedToken};
use lrgeo_tiles::Issued;
use serde_json::json;

use crate::failure::Failure;
use crate::options::seconds;
use crate::ui::{Ui, columns};

#[derive(Subcommand)]
pub enum TokenCommand {
    /// Make a token and print it, once.
    New(New),
    /// List the tokens, without what opens.
    List(List),
    /// Take a token back; a running server knows within a second or two.
    Revoke(Revoke),
}

/// Make a token for an app or a system. Only its digest is kept: whoever loses it needs a new one.
#[derive(Args)]
#[command(after_help = "\
Example:
  lrgeo token new --data city-data --name ride-app --scope public,report --per-second 500
  lrgeo token new --data city-data --name dispatch --scope stream --expires 90d
Which scopes need a token is said in the settings of the server ([access], docs/operations.md); the stream of reports always does. Give an
app one token for all its users: one for each would tell the server which reports are whose.")]
pub struct New {
    /// The data directory of the server.
    #[arg(long, value_name = "DIR", default_value = "lrgeo-data")]
    data: PathBuf,
    /// What you call it.
    #[arg(long)]
    name: String,
    /// What it is for: public, report, rounds, stream, operate.
    #[arg(long = "scope", value_name = "SCOPE,..", value_delimiter = ',', required = true)]
    scopes: Vec<Scope>,
    /// At most so many requests a second [default: they count with everybody else's].
    #[arg(long, value_name = "N")]
    per_second: Option<f64>,
    /// How long it opens: 90d, 12h [default: until it is revoked].
    #[arg(long, value_name = "DURATION", value_parser = seconds)]
    expires: Option<u64>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// List the tokens of a server.
#[derive(Args)]
#[command(after_help = "Example:\n  lrgeo token list --data city-data")]
pub struct List {
    /// The data directory of the server.
    #[arg(long, value_name = "DIR", default_value = "lrgeo-data")]
    data: PathBuf,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Take a token back.
#[derive(Args)]
#[command(after_help = "Example:\n  lrgeo token revoke --data city-data ride-app")]
pub struct Revoke {
    /// The data directory of the server.
    #[arg(long, value_name = "DIR", default_value = "lrgeo-data")]
    data: PathBuf,
    /// Its id or name.
    token: String,
}

impl TokenCommand {
    pub fn run(self, ui: &Ui) -> Result<(), Failure> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        match self {
            Self::New(New { data, name, scopes, per_second, expires, json }) => {
                let wanted = WantedToken { name, scopes, per_second, lifetime_seconds: expires };
                let (text, token) = TokenFile::change(&data, |file| file.issue(&wanted, now))?;
                ui.remark("keep it in a safe place: it is shown once, and only its digest is kept");
                match json {
                    true => {
                        let mut value = as_json(&token, now);
                        value["token"] = text.into();
                        ui.json(&value);
                    }
                    false => println!("{text}"),
                }
            }
            Self::List(List { data, json }) => {
                let file = TokenFile::open(&data)?;
                let all = file.tokens().iter();
                match json {
                    true => ui.json(&all.map(|token| as_json(token, now)).collect()),
                    false => {
                        let head = ["id", "name", "scopes", "a second", "made", "ends"];
                        let head = head.map(str::to_owned).to_vec();
                        let rows: Vec<_> =
                            std::iter::once(head).chain(all.map(|token| row(token, now))).collect();
                        columns(&rows, 6).iter().for_each(|line| println!("{line}"));
                    }
                }
            }
            Self::Revoke(Revoke { data, token }) => {
                let token = TokenFile::change(&data, |file| file.revoke(&token))?;
                println!("revoked {} ({})", token.id, token.name);
            }
        }
        Ok(())
    }
}

fn scopes(token: &Token) -> Vec<&'static str> {
    token.scopes.iter().map(|scope| scope.name()).collect()
}

fn row(token: &Token, now: u64) -> Vec<String> {
    let ends = match token.expires {
        None => "never".to_owned(),
        Some(end) if token.is_valid(now) => Issued::from_unix(end).to_string(),
        Some(_) => "expired".to_owned(),
    };
    vec![
        token.id.clone(),
        token.name.clone(),
        scopes(token).join(","),
        token.per_second.map_or("-".to_owned(), |rate| rate.to_string()),
        Issued::from_unix(token.issued).to_string(),
        ends,
    ]
}

fn as_json(token: &Token, now: u64) -> serde_json::Value {
    json!({
        "id": token.id,
        "name": token.name,
        "scopes": scopes(token),
        "per_second": token.per_second,
        "issued": Issued::from_unix(token.issued),
        "expires": token.expires.map(Issued::from_unix),
        "valid": token.is_valid(now),
    })
}
