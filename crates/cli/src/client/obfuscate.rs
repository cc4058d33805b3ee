//! `lrgeo client obfuscate`: a report to a server.

use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;
use lrgeo_client::http::{ApiToken, Http};
use lrgeo_client::offload::DISCLOSURE;
use lrgeo_client::{Client, ClientError, Mode, Outcome};
use lrgeo_geo::Coord;
use lrgeo_mechanism::MechanismError;
use lrgeo_protocol::Reference;
use lrgeo_protocol::public::Target;
use lrgeo_tiles::{Issued, PublicKey};
use serde_json::json;

use super::settings::Settings;
use super::{duration, open_state, per_km};
use crate::failure::Failure;
use crate::json;
use crate::mechanism::off_the_map;
use crate::options::coord;
use crate::ui::Ui;

/// Report a place near you, and see what the service makes of it. Your position stays in this process.
#[derive(Args)]
#[command(after_help = "\
Example:
  lrgeo client obfuscate --server http://localhost:8417 --at 64.14,-21.92
Modes, by what the server learns besides the report: `published` (default) and `local` at most that you are in one of
several public tiles, `offload` nearly always where you are. What a server offers is held against your policy
(`lrgeo client policy`). A report is remembered for where it was drawn and given again nearby (`lrgeo client policy
--reuse-within`), in every mode, for free; a new one spends its epsilon. docs/client.md has more. Prints GeoJSON with --json. Exit code 4: the server lies; 5: your policy
says no.")]
pub struct Obfuscate {
    /// The server, like http://localhost:8417.
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// Who signed the certificate of an https:// server (PEM), if nobody that browsers trust.
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Where you are; `-` reads it from standard input, so that no list of processes shows it.
    #[arg(long, value_name = "LAT,LON", allow_hyphen_values = true)]
    at: String,
    /// published, local or offload [default: published].
    #[arg(long)]
    mode: Option<Mode>,
    /// The state file [default: ~/.local/state/lrgeo/client.json].
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// The operator's public key [default: the one that was seen first].
    #[arg(long, value_name = "ed25519:HEX")]
    key: Option<String>,
    /// How you go, where the city has several ways: walk, or drive:0.7,walk:0.3 [default: as people there do]. For `local` and
    /// `offload`; stays on this device.
    #[arg(long, value_name = "WAY", value_parser = going)]
    by: Option<Going>,
    /// How many targets to ask for after the report [default: 3].
    #[arg(long, value_name = "N")]
    targets: Option<usize>,
    /// What your app calls what this report belongs to, a ride or a task: sent along, and handed on to the operator's own system
    /// (docs/integration.md). Reports with one reference can be told to belong together.
    #[arg(long, value_name = "NAME")]
    reference: Option<Reference>,
    /// A file with the API token that the operator gave your app, where one is needed.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Settings; see docs/client.sample.toml.
    #[arg(long, value_name = "FILE.toml")]
    config: Option<PathBuf>,
    /// You know what `offload` tells the server.
    #[arg(long)]
    i_understand: bool,
    /// You agree to terms that are weaker than those you accepted before, once, within your policy.
    #[arg(long)]
    consent: bool,
    /// Print GeoJSON.
    #[arg(long)]
    json: bool,
}

impl Obfuscate {
    /// The client does not say what it knows of where its user is; here, where the user wrote it, what is wrong with it may be said.
    fn off_the_map(error: ClientError, at: Coord) -> Failure {
        match error {
            ClientError::OffTheMap { reach_km, bounds } => {
                let reason = off_the_map(bounds, at, reach_km);
                MechanismError::invalid("at", format!("{reason}. Nothing was reported")).into()
            }
            other => other.into(),
        }
    }

    pub fn run(self, ui: &Ui) -> Result<(), Failure> {
        let settings = Settings::open(self.config.as_deref())?;
        let at = position(&self.at)?;
        let missing = || MechanismError::invalid("server", "give --server URL, or a config file");
        let address = self.server.or(settings.server).ok_or_else(missing)?;
        let token = token(self.token_file.or(settings.token_file).as_deref())?;
        let http = match self.ca.or(settings.ca) {
            Some(path) => {
                let authorities = std::fs::read(&path);
                let authorities = authorities.map_err(|error| Failure::Read { path, error })?;
                Http::signed_by(&address, &authorities)
            }
            None => Http::new(&address),
        };
        let http = http.map_err(ClientError::from)?.token(token);
        if http.is_plain() {
            ui.remark("warning: the connection is not encrypted; whoever is in between reads what the server reads");
        }
        let key = self.key.or(settings.key).map(|key| key.parse::<PublicKey>()).transpose();
        let mode = self.mode.or(settings.mode).unwrap_or_default();
        let (kept, _) = open_state(self.state.or(settings.state))?;
        let mut client = Client::new(http, kept)
            .key(key.map_err(MechanismError::from)?)
            .consent(self.consent)
            .going(self.by.map_or_else(Vec::new, |by| by.0))
            .reference(self.reference)
            .targets(self.targets.or(settings.targets).unwrap_or(3));
        if mode == Mode::Offload && !client.state().offload_understood {
            // Once, and whether or not remarks are wanted.
            eprintln!("{DISCLOSURE}");
            if self.i_understand || settings.i_understand_offload {
                client.understand_offload()?;
            }
        }
        let outcome = client.obfuscate(at, mode).map_err(|error| Self::off_the_map(error, at))?;
        if outcome.first_use {
            ui.remark(format!(
                "seen for the first time: this server's operator has the key {}. It is remembered; compare it with what \
                 the operator says elsewhere",
                outcome.operator
            ));
        }
        match self.json {
            true => ui.json(&as_json(&outcome)),
            false => ui.lines(&as_lines(&outcome)),
        }
        Ok(())
    }
}

fn token(path: Option<&Path>) -> Result<Option<ApiToken>, Failure> {
    let Some(path) = path else { return Ok(None) };
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|error| Failure::Read { path: path.into(), error })?;
    Ok(Some(text.parse().map_err(ClientError::from)?))
}

/// Ways by name, with how often each is gone.
#[derive(Clone, Debug)]
struct Going(Vec<(String, f64)>);

fn going(text: &str) -> Result<Going, String> {
    let way = |part: &str| {
        let (name, share) = part.split_once(':').unwrap_or((part, "1"));
        let share =
            share.trim().parse().map_err(|_| "must be WAY or WAY:SHARE,.., like walk:0.3")?;
        Ok((name.trim().to_owned(), share))
    };
    Ok(Going(text.split(',').map(way).collect::<Result<_, String>>()?))
}

/// Reads a position without ever repeating it in an error.
fn position(text: &str) -> Result<Coord, Failure> {
    let invalid = |reason: String| MechanismError::invalid("at", reason);
    let mut typed = String::new();
    let text = match text {
        "-" => {
            let mut input = std::io::stdin().lock().take(1 << 10);
            input.read_to_string(&mut typed).map_err(|_| invalid("cannot be read".into()))?;
            typed.trim()
        }
        text => text,
    };
    Ok(coord(text).map_err(invalid)?)
}

fn as_lines(o: &Outcome) -> Vec<(&'static str, String)> {
    let [lat, lon] = o.at;
    let limit = o.balance.limit;
    let metres = 1000.0 * o.reused_within_km;
    let drawn = match o.remembered {
        Some(at) => format!(
            "remembered: drawn {} within {metres:.0} m of here, so nothing new was drawn",
            Issued::from_unix(at)
        ),
        None => format!(
            "just now; everywhere within {metres:.0} m of here the same will be reported from now on, for free"
        ),
    };
    let mut lines = vec![
        ("report", format!("{lat:.6},{lon:.6}  (place {})", o.report)),
        (
            "accuracy",
            o.accuracy.map_or("not known: drawn by an earlier lrgeo".into(), |accuracy| {
                format!("{} m: {}", accuracy.metres, accuracy.meaning)
            }),
        ),
        ("drawn", drawn),
        (
            "epsilon",
            format!(
                "{}; {} spent now, {} left of {} per {}, {} ever",
                per_km(o.epsilon_per_km),
                per_km(o.spent_per_km),
                per_km(o.balance.left_per_km),
                per_km(limit.cap_per_km),
                duration(limit.period_seconds),
                per_km(o.balance.lifetime_left_per_km)
            ),
        ),
        (
            "between people",
            match o.off_grid_factor {
                1.0 => format!(
                    "no report is more than twice as likely from one of two people as from the other who are within {:.0} m, wherever they stand",
                    1000.0 * 2f64.ln() / o.epsilon_per_km
                ),
                more => format!(
                    "the promise is between places; two people anywhere around theirs are told apart by up to {more:.1} times more"
                ),
            },
        ),
        ("server learnt", o.learnt.to_string()),
    ];
    if let Some(compared) = o.compared {
        lines.push(("compared", compared.to_string()));
    }
    if !o.targets.is_empty() {
        let target = |t: &Target| {
            format!("{:.2} km by its estimate: {:.6},{:.6}", t.estimated_km, t.at[0], t.at[1])
        };
        let targets: Vec<String> = o.targets.iter().map(target).collect();
        lines.push(("targets", targets.join("\n")));
    }
    let t = o.times;
    lines.push((
        "took",
        format!(
            "{:.2} s: {:.2} opening, {:.2} preparing ({}), {:.2} reporting",
            t.opening + t.preparing + t.sending,
            t.opening,
            t.preparing,
            o.mode,
            t.sending
        ),
    ));
    lines
}

fn as_json(o: &Outcome) -> serde_json::Value {
    let [lat, lon] = o.at;
    let target = |t: &Target| json!({ "target": t.target, "at": json::lat_lon(t.at), "estimated_km": t.estimated_km });
    json!({
        "type": "Feature",
        "geometry": { "type": "Point", "coordinates": [lon, lat] },
        "properties": {
            "place": o.report,
            "map": o.map,
            "mode": o.mode,
            "accuracy_m": o.accuracy.map(|accuracy| accuracy.metres),
            "accuracy_meaning": o.accuracy.map(|accuracy| accuracy.meaning),
            "drawn": o.remembered.map(Issued::from_unix),
            "epsilon_per_km": o.epsilon_per_km,
            "spent_per_km": o.spent_per_km,
            "reuse_within_km": o.reused_within_km,
            "balance": json::balance(&o.balance),
            "off_grid_factor": o.off_grid_factor,
            "compared_places": o.compared.map(|compared| compared.places),
            "server_learns": o.learnt.to_string(),
            "operator": o.operator.to_string(),
            "first_use": o.first_use,
            "nearest_targets": o.targets.iter().map(target).collect::<Vec<_>>(),
            "elapsed_s": o.times.opening + o.times.preparing + o.times.sending,
            "steps_s": { "opening": o.times.opening, "preparing": o.times.preparing, "reporting": o.times.sending },
        },
    })
}
