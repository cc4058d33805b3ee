//! Noise without a service, for JavaScript: everything in one call, since nothing has to be fetched.

use lrgeo_client::ClientError;
use lrgeo_client::blur::{Blur, BlurState, Blurred, PublicPlaces};
use lrgeo_client::clock::Clock;
use lrgeo_client::draws::{Draws, Rehearsal};
use lrgeo_client::state::Limit;
use lrgeo_geo::Coord;
use lrgeo_tiles::sample::SystemRandomness;
use serde_json::{Value, json};
use wasm_bindgen::prelude::*;

use crate::{JsClock, failed, place, refused};

/// A promise, and the noise that keeps it.
#[wasm_bindgen]
pub struct Noise {
    blur: Blur,
    /// Predictable draws, never for a person.
    seed: Option<u64>,
}

#[wasm_bindgen]
impl Noise {
    /// For a promise in words. `options` is JSON: reuseWithinKm, perDayPerKm, lifetimePerKm, places (of latitude, longitude, weight), seed.
    #[wasm_bindgen(constructor)]
    pub fn new(privacy: &str, options: &str) -> Result<Noise, JsError> {
        let options: Value = serde_json::from_str(options).map_err(refused)?;
        let mut blur = Blur::new(&privacy.parse().map_err(refused)?).map_err(refused)?;
        let limit = options["perDayPerKm"].as_f64().map(|cap| Limit::new(cap, 86_400));
        let limit = limit.transpose().map_err(refused)?;
        blur = blur
            .policy(|policy| {
                policy.reuse_within_km = options["reuseWithinKm"].as_f64();
                policy.per_period = limit.unwrap_or(policy.per_period);
                let lifetime = options["lifetimePerKm"].as_f64();
                policy.lifetime_per_km = lifetime.unwrap_or(policy.lifetime_per_km);
            })
            .map_err(refused)?;
        if let Some(places) = options["places"].as_array() {
            blur = blur.places(public_places(places)?);
        }
        Ok(Self { blur, seed: options["seed"].as_u64() })
    }

    /// A report for somebody at a coordinate, as JSON: `{"keep": text, "done": report}`, where the text is to be kept before anybody is told, or
    /// `{"failed": {kind, message}}`. `state` is what was kept last.
    pub fn report(&self, state: Option<Vec<u8>>, lat: f64, lon: f64) -> Result<String, JsError> {
        let at = place(lat, lon)?;
        let mut state = match opened(state) {
            Ok(state) => state,
            Err(error) => return Ok(failed(&error).to_string()),
        };
        let mut draws: Box<dyn Draws> = match self.seed {
            None => Box::new(SystemRandomness),
            Some(seed) => Box::new(Rehearsal::seeded(seed)),
        };
        let now = JsClock.since_1970().as_secs();
        let said = match self.blur.report(&mut state, at, now, &mut *draws) {
            Ok(report) => {
                let text = state.to_bytes();
                json!({ "keep": String::from_utf8_lossy(&text), "done": described(&report) })
            }
            Err(error) => failed(&error),
        };
        Ok(said.to_string())
    }

    /// What is spent, left and remembered, as JSON.
    pub fn account(&self, state: Option<Vec<u8>>) -> Result<String, JsError> {
        let state = opened(state).map_err(refused)?;
        let now = JsClock.since_1970().as_secs();
        let balance = self.blur.balance(&state, now);
        let account = json!({
            "spentPerKm": balance.spent_per_km,
            "leftPerKm": balance.left_per_km,
            "lifetimeSpentPerKm": balance.lifetime_spent_per_km,
            "lifetimeLeftPerKm": balance.lifetime_left_per_km,
            "reports": state.anchors.len(),
        });
        Ok(account.to_string())
    }

    /// What is promised and what it costs, as JSON.
    pub fn about(&self) -> String {
        let noise = self.blur.noise();
        json!({
            "epsilonPerKm": self.blur.epsilon_per_km(),
            "provenPerKm": self.blur.proven_per_km(),
            "reuseWithinM": 1000.0 * self.blur.reuse_radius_km(),
            "accuracyM": self.blur.accuracy_m(),
            "latticeM": 1000.0 * noise.lattice.spacing_km(),
        })
        .to_string()
    }

    /// How likely an outcome is so many metres away, per square kilometre.
    pub fn density(&self, metres: f64) -> f64 {
        self.blur.noise().density(metres / 1000.0)
    }

    /// How likely an outcome is within so many metres.
    pub fn within(&self, metres: f64) -> f64 {
        self.blur.noise().within(metres / 1000.0)
    }
}

fn opened(state: Option<Vec<u8>>) -> Result<BlurState, ClientError> {
    match state {
        Some(bytes) => Ok(BlurState::from_bytes(&bytes, "storage")?),
        None => Ok(BlurState::default()),
    }
}

fn public_places(places: &[Value]) -> Result<PublicPlaces, JsError> {
    let wrong = || JsError::new("places: must be lists of latitude, longitude and weight");
    let mut coords = Vec::with_capacity(places.len());
    let mut prior = Vec::with_capacity(places.len());
    for place in places {
        let number = |k: usize| place.get(k).and_then(Value::as_f64).ok_or_else(wrong);
        coords.push(Coord::new(number(0)?, number(1)?).map_err(refused)?);
        prior.push(number(2)?);
    }
    PublicPlaces::new(coords, prior).map_err(refused)
}

fn described(report: &Blurred) -> Value {
    json!({
        "lat": report.at[0],
        "lon": report.at[1],
        "accuracyM": report.accuracy_m,
        "epsilonPerKm": report.epsilon_per_km,
        "spentPerKm": report.spent_per_km,
        "remembered": report.remembered.is_some(),
        "reusedWithinKm": report.reused_within_km,
        "leftPerKm": report.balance.left_per_km,
    })
}
