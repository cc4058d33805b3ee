//! The phone in WebAssembly. JavaScript brings the network and the storage, step by step; everything that decides anything is here.
//!
//! One [`Report`] is one way from a coordinate to a report; `index.js` is the loop around it. [`Noise`] needs no service.

mod blur;

use std::sync::PoisonError;
use std::time::Duration;

use lrgeo_client::clock::Clock;
use lrgeo_client::draws::{Record, Rehearsal};
use lrgeo_client::policy::{Policy, Protects};
use lrgeo_client::state::{State, StateError};
use lrgeo_client::transport::{Answer, TransportError};
use lrgeo_client::{ClientError, Mode, Outcome, Phone, Step, Steps};
use lrgeo_geo::{Coord, PlaceId};
use lrgeo_protocol::encoding::Encoding;
use lrgeo_tiles::{Privacy, PublicKey};
use serde_json::{Value, json};
use wasm_bindgen::prelude::*;

pub use blur::Noise;

/// The browser's clock.
struct JsClock;

impl Clock for JsClock {
    fn since_1970(&self) -> Duration {
        Duration::from_millis(js_sys::Date::now().max(0.0) as u64)
    }
}

fn refused(error: impl std::fmt::Display) -> JsError {
    JsError::new(&error.to_string())
}

fn place(lat: f64, lon: f64) -> Result<Coord, JsError> {
    Coord::new(lat, lon).map_err(|_| JsError::new("at: must be a latitude and a longitude"))
}

fn failed(error: &ClientError) -> Value {
    json!({ "failed": { "kind": kind(error), "message": error.to_string() } })
}

/// A report on its way.
#[wasm_bindgen]
pub struct Report {
    steps: Steps<'static>,
    /// What rehearsals drew from. A person's row is written down nowhere.
    rows: Record,
}

#[wasm_bindgen]
impl Report {
    /// For somebody at a coordinate. `state` is what was kept last; `options` is JSON: key, consent, targets, privacy (the most that
    /// the owner accepts, in words), seed (never for a person).
    #[wasm_bindgen(constructor)]
    pub fn new(
        server: &str,
        state: Option<Vec<u8>>,
        lat: f64,
        lon: f64,
        mode: &str,
        options: &str,
    ) -> Result<Report, JsError> {
        let options: Value = serde_json::from_str(options).map_err(refused)?;
        let mut state = match state {
            Some(bytes) => State::from_bytes(&bytes, "storage").map_err(refused)?,
            None => State::default(),
        };
        accept(&mut state.policy, &options)?;
        let at = place(lat, lon)?;
        let mode: Mode = mode.parse().map_err(refused)?;
        let key =
            options["key"].as_str().map(str::parse::<PublicKey>).transpose().map_err(refused)?;
        let consent = options["consent"].as_bool().unwrap_or(false);
        let targets = options["targets"].as_u64().unwrap_or(0) as usize;
        let rows = Record::default();
        let steps = match options["seed"].as_u64() {
            None => Phone::new(server, state, JsClock)
                .key(key)
                .consent(consent)
                .targets(targets)
                .obfuscate_once(at, mode),
            Some(seed) => {
                let forced = options["forced"].as_u64().map(|report| PlaceId::new(report as u32));
                let draws = Rehearsal::seeded(seed).forced(forced).recorded(rows.clone());
                Phone::rehearse(server, state, JsClock, draws)
                    .key(key)
                    .consent(consent)
                    .targets(targets)
                    .obfuscate_once(at, mode)
            }
        };
        Ok(Self { steps, rows })
    }

    /// What to do next, as JSON: `{"ask": {method, path, accept, body, mostBytes}}`, `{"keep": text}`, `{"done": outcome}` or
    /// `{"failed": {kind, message}}`.
    pub fn next(&mut self) -> String {
        let step = match self.steps.next() {
            Step::Ask { request, most_bytes } => {
                let body = request.body().map(|body| Encoding::Cbor.encode(&body));
                json!({ "ask": {
                    "method": if body.is_some() { "POST" } else { "GET" },
                    "path": request.path(),
                    "body": body,
                    "accept": request.accept(),
                    "media": Encoding::Cbor.media_type(),
                    "mostBytes": most_bytes,
                }})
            }
            Step::Keep(text) => json!({ "keep": String::from_utf8_lossy(&text) }),
            Step::Done(outcome) => match *outcome {
                Ok(outcome) => json!({ "done": described(&outcome) }),
                Err(error) => failed(&error),
            },
        };
        step.to_string()
    }

    /// The row that was drawn from, over all places: of predictable draws only, once there is one.
    pub fn row(&self) -> Option<Vec<f64>> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner).last().cloned()
    }

    /// What the server answered, and the key that it named.
    pub fn answer(&mut self, body: Vec<u8>, key: Option<String>) {
        self.steps.answer(Ok(Answer { body, key }));
    }

    /// It answered with another status than 200.
    pub fn rejected(&mut self, status: u16, body: Vec<u8>) {
        let refusal = Encoding::Cbor.decode(&body).or_else(|_| Encoding::Json.decode(&body));
        let error = refusal.map_or(TransportError::Status { status }, TransportError::Refused);
        self.steps.answer(Err(error));
    }

    /// It did not answer.
    pub fn unreachable(&mut self, reason: String) {
        self.steps.answer(Err(TransportError::Unreachable(reason)));
    }

    /// Whether the state was kept; why not, where it was not.
    pub fn kept(&mut self, failed: Option<String>) {
        let kept = match failed {
            None => Ok(()),
            Some(reason) => {
                let source = std::io::Error::other(reason);
                Err(StateError::Io { name: "storage".into(), source })
            }
        };
        self.steps.kept(kept);
    }
}

/// What the owner accepts, as far as the options say.
fn accept(policy: &mut Policy, options: &Value) -> Result<(), JsError> {
    if let Some(words) = options["privacy"].as_str() {
        let asked: Privacy = words.parse().map_err(refused)?;
        policy.most_epsilon_per_km = asked.epsilon.value();
    }
    if let Some(km) = options["reuseWithinKm"].as_f64() {
        policy.reuse_within_km = Some(km);
    }
    // `local` promises something between the places of one's own programme only; its user must want that.
    if options["protects"].as_str() == Some("relevant-places") {
        policy.protects = Protects::RelevantPlaces;
    }
    if let Some(places) = options["leastPlaces"].as_f64() {
        policy.least_likely_places = places;
    }
    Ok(())
}

/// What a program does about an error.
fn kind(error: &ClientError) -> &'static str {
    match error {
        ClientError::Lie(_) => "lie",
        ClientError::Policy(_) => "policy",
        ClientError::Transport(_) => "transport",
        ClientError::State(_) => "storage",
        ClientError::Ledger(_) => "spent",
        _ => "other",
    }
}

fn described(outcome: &Outcome) -> Value {
    json!({
        "place": outcome.report,
        "lat": outcome.at[0],
        "lon": outcome.at[1],
        "accuracyM": outcome.accuracy.map(|accuracy| accuracy.metres),
        "mode": outcome.mode.to_string(),
        "map": outcome.map.to_string(),
        "epsilonPerKm": outcome.epsilon_per_km,
        "spentPerKm": outcome.spent_per_km,
        "remembered": outcome.remembered.is_some(),
        "reusedWithinKm": outcome.reused_within_km,
        "operator": outcome.operator.to_string(),
        "firstUse": outcome.first_use,
        "targets": outcome.targets.iter().map(|t| json!({ "lat": t.at[0], "lon": t.at[1], "km": t.estimated_km })).collect::<Vec<_>>(),
    })
}
