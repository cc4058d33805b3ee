//! `lrgeo mechanism info`.

use std::path::PathBuf;

use clap::Args;
use lrgeo_geo::PlaceId;
use lrgeo_geo::spacing::spacing_km;
use lrgeo_mechanism::meaning::Meaning;
use lrgeo_mechanism::stand_in::STOPPED_EARLY;
use lrgeo_mechanism::{Built, MechanismError, Rows};
use lrgeo_tiles::{Cover, Distribution, Privacy};
use serde_json::json;

use super::open;
use crate::failure::{Failure, in_options};
use crate::json;
use crate::ui::{Ui, count, counted};

/// The note that keeps the words in which a promise was asked for.
pub const ASKED: &str = "asked";

/// The note that keeps what a report costs people where they stand.
pub const STREET: &str = "on the street";

/// Say what a mechanism promises, costs and means.
#[derive(Args)]
#[command(after_help = "Example:\n  lrgeo mechanism info city.lrmech --json")]
pub struct Info {
    /// The mechanism.
    mechanism: PathBuf,
    /// Refuse the mechanism unless it was made for this map.
    #[arg(long)]
    map: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Info {
    pub fn run(self, ui: &Ui) -> Result<(), Failure> {
        let (built, _) = open(&self.mechanism, self.map.as_deref())?;
        if self.json {
            ui.json(&as_json(&built)?);
        } else {
            ui.lines(&lines(&built)?);
            warn(&built, ui)?;
        }
        Ok(())
    }
}

/// What the epsilon means here; of one matrix for everybody also what its rows do.
fn meaning(built: &Built) -> Result<Meaning, MechanismError> {
    let spacing = spacing_km(&built.coords).unwrap_or(f64::NAN);
    let meaning =
        Meaning::new(built.guarantee.epsilon, spacing)?.with_notion(built.guarantee.notion);
    if built.guarantee.cover == Cover::Round {
        return Ok(meaning);
    }
    let row = |place: usize| {
        let row = built.row(PlaceId::at(place)).map(Distribution::into_vec);
        row.ok_or(MechanismError::Row { row: place, reason: "is missing" })
    };
    meaning.with_rows(&built.coords, &built.prior, &row)
}

/// The account for people.
pub fn lines(built: &Built) -> Result<Vec<(&'static str, String)>, Failure> {
    let mut lines = vec![
        ("mechanism", format!("{}, for map version {}", built.kind, built.map.short())),
        ("rows", rows(built)),
        ("guarantee", built.guarantee.to_string()),
        ("cost", cost(built)),
    ];
    if let Some(proof) = &built.proof {
        lines.push((
            "optimum",
            format!(
                "{}: its programme costs {:.6} {} per report, no solution less than {:.6} (gap {:.1e}); {}, {:.2} s",
                proof.status.as_str(),
                proof.cost,
                built.unit,
                proof.lower_bound,
                proof.gap,
                counted(proof.iterations, "iteration"),
                proof.seconds
            ),
        ));
    }
    let notes = built.notes.iter().filter(|(name, _)| name != STREET);
    let notes = notes.map(|(name, text)| format!("{name}: {text}"));
    lines.push(("built with", notes.collect::<Vec<_>>().join("\n")));
    if let Some(asked) = asked(built) {
        lines.push(("promise", meaning(built)?.between_people(Some(asked))));
    }
    lines.push(("meaning", meaning(built)?.to_string().trim_end().to_owned()));
    lines.retain(|(_, text)| !text.is_empty());
    Ok(lines)
}

/// Both costs, where both are known.
fn cost(built: &Built) -> String {
    let (between, unit) = (built.expected_cost, &built.unit);
    match built.notes.iter().find(|(name, _)| name == STREET) {
        Some((_, street)) => format!(
            "{between:.4} {unit} per report between places, {street} on the street, where people stand"
        ),
        None => format!("{between:.4} {unit} per report between places"),
    }
}

/// What was asked for in words, if it was.
fn asked(built: &Built) -> Option<Privacy> {
    let note = built.notes.iter().find(|(name, _)| name == ASKED);
    note.and_then(|(_, words)| words.parse().ok())
}

fn rows(built: &Built) -> String {
    match &built.rows {
        Rows::Dense(matrix) => format!("one matrix over {} places", count(matrix.places())),
        Rows::Sparse(matrix) => format!(
            "one matrix over {} places, {} explicit entries",
            count(matrix.tail.len()),
            count(matrix.value.len())
        ),
        Rows::Noise(noise) => format!(
            "noise around any coordinate, {} outcomes reported as {} places",
            count(noise.lattice.points()),
            count(built.coords.len())
        ),
        Rows::Users(round) => {
            let sizes = round.users.iter().map(|user| user.relevant.len());
            let (least, most) = (sizes.clone().min().unwrap_or(0), sizes.max().unwrap_or(0));
            format!(
                "one matrix for each of {}, over {least} to {most} relevant places and {} reports",
                counted(round.users.len(), "user"),
                count(round.columns.len())
            )
        }
    }
}

/// What to think about before using it.
pub fn warn(built: &Built, ui: &Ui) -> Result<(), Failure> {
    for (name, text) in built.notes.iter().filter(|(name, _)| name == STOPPED_EARLY) {
        ui.remark(format!("warning: {name}: {}", in_options(text)));
    }
    for warning in meaning(built)?.warnings() {
        ui.remark(format!("warning: {warning}"));
    }
    Ok(())
}

/// The account for programs.
pub fn as_json(built: &Built) -> Result<serde_json::Value, Failure> {
    let meaning = meaning(built)?;
    let proof = built.proof.as_ref().map(|proof| {
        json!({
            "status": proof.status.as_str(),
            "cost": proof.cost,
            "lower_bound": proof.lower_bound,
            "gap": proof.gap,
            "iterations": proof.iterations,
            "elapsed_s": proof.seconds,
        })
    });
    let street = built.notes.iter().find(|(name, _)| name == STREET);
    let street = street.and_then(|(_, cost)| cost.parse::<f64>().ok());
    Ok(json!({
        "kind": built.kind,
        "map": built.map.to_string(),
        "places": built.coords.len(),
        "rows": built.rows.deployed().len(),
        "promise": json::promise(&built.guarantee),
        "expected_cost": built.expected_cost,
        "street": street.map(|cost| json!({ "cost": cost })),
        "unit": built.unit,
        "certificate": proof,
        "notes": built.notes.iter().cloned().collect::<std::collections::BTreeMap<_, _>>(),
        "meaning": {
            "spacing_km": meaning.spacing_km,
            "epsilon_spacing": meaning.scaled_spacing(),
            "protected_radius_km": meaning.protected_radius_km(),
            "radius_of_factor_2_between_places_km": meaning.radius_of_factor_km(2.0),
            "between_people": meaning.between_people(asked(built)),
            "neighbour_factor": meaning.neighbour_factor(),
            "error_radius_95_km": meaning.error_radius_km(),
            "off_grid_factor": meaning.off_grid_factor(),
            "hit_rate": meaning.observed.map(|o| o.hit_rate),
            "blind_hit_rate": meaning.observed.map(|o| o.blind_hit_rate),
            "warnings": meaning.warnings().iter().map(|w| w.to_string()).collect::<Vec<_>>(),
        },
    }))
}
