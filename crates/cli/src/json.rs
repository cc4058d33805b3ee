//! How the JSON that we print writes a coordinate, a promise, what a client may spend: see docs/json.md.

use lrgeo_client::policy::Policy;
use lrgeo_client::state::Balance;
use lrgeo_geo::{BoundingBox, Coord};
use lrgeo_tiles::verify::Finding;
use lrgeo_tiles::{Cover, Guarantee, Notion};
use serde_json::{Value, json};

/// A coordinate; `[lon, lat]` stands in GeoJSON only.
pub fn coord(at: Coord) -> Value {
    json!({ "lat": at.lat(), "lon": at.lon() })
}

/// A coordinate that others keep as latitude and longitude.
pub fn lat_lon([lat, lon]: [f64; 2]) -> Value {
    json!({ "lat": lat, "lon": lon })
}

/// A box.
pub fn bounds(bounds: BoundingBox) -> Value {
    let [south, west, north, east] = bounds.to_array();
    json!({ "south": south, "west": west, "north": north, "east": east })
}

/// How a pair of places must be related for a promise to hold for it.
pub fn notion(notion: Notion) -> &'static str {
    match notion {
        Notion::Within { .. } => "within-gamma",
        Notion::AllPairs => "all-pairs",
        Notion::Coordinates => "coordinates",
    }
}

/// What a mechanism promises.
pub fn promise(guarantee: &Guarantee) -> Value {
    let reach = guarantee.notion.reach_km();
    json!({
        "epsilon_per_km": guarantee.epsilon.value(),
        "notion": notion(guarantee.notion),
        "gamma_km": reach.is_finite().then_some(reach),
        "cover": match guarantee.cover {
            Cover::WholeMap => "whole-map",
            Cover::Round => "round",
        },
        "words": guarantee.to_string(),
    })
}

/// What a client allows.
pub fn policy(policy: &Policy) -> Value {
    json!({
        "most_epsilon_per_km": policy.most_epsilon_per_km,
        "protects": policy.protects,
        "least_likely_places": policy.least_likely_places,
        "least_relevant_places": policy.least_relevant_places,
        "cap_per_km": policy.per_period.cap_per_km,
        "period_s": policy.per_period.period_seconds,
        "lifetime_per_km": policy.lifetime_per_km,
        "redraws": policy.redraws,
        "fetch_all_bytes": policy.fetch_all_bytes,
        "reuse_within_km": policy.reuse_within_km,
    })
}

/// What a client has spent and has left.
pub fn balance(balance: &Balance) -> Value {
    json!({
        "spent_per_km": balance.spent_per_km,
        "left_per_km": balance.left_per_km,
        "cap_per_km": balance.limit.cap_per_km,
        "period_s": balance.limit.period_seconds,
        "lifetime_spent_per_km": balance.lifetime_spent_per_km,
        "lifetime_left_per_km": balance.lifetime_left_per_km,
    })
}

/// What was counted of the inequalities of a promise.
pub fn finding(found: &Finding) -> Value {
    // JSON has no infinity.
    let finite = |value: f64| value.is_finite().then_some(value);
    json!({
        "checked": found.checked,
        "violations": found.violations,
        "violation_ratio": found.violation_ratio(),
        "pairs": found.pairs,
        "violated_pairs": found.violated_pairs,
        "worst_log_excess": finite(found.worst_log_excess),
        "effective_epsilon_per_km": finite(found.effective_epsilon),
        "violating_mass": found.violating_mass,
        "largest_error": found.largest_error,
    })
}
