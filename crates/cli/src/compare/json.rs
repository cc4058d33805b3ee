//! The comparison for programs: every number that was found.

use lrgeo_evaluation::adversary::Adversary;
use serde_json::{Value, json};

use super::{Comparison, Line, Sheet};
use crate::assessor::Found;
use crate::json;

/// Everything.
pub(super) fn of(comparison: &Comparison) -> Value {
    let city = &comparison.city;
    json!({
        "map": city.version(),
        "source": city.map().source.to_string(),
        "places": city.places(),
        "spacing_km": city.spacing_km(),
        "targets": city.map().targets.len(),
        "users": comparison.users,
        "seed": comparison.seed,
        "without_report": adversary(&comparison.blind),
        "settings": comparison.sheets.iter().map(|s| sheet(s, city.spacing_km())).collect::<Vec<_>>(),
    })
}

fn sheet(sheet: &Sheet, spacing_km: f64) -> Value {
    let (plan, radii) = (&sheet.plan, sheet.plan.radii);
    json!({
        "name": sheet.name,
        "epsilon_per_km": plan.epsilon.value(),
        "epsilon_spacing": plan.epsilon.value() * spacing_km,
        "gamma_km": number(plan.notion.reach_km()),
        "relevant_km": number(radii.relevant),
        "relevant_max": radii.relevant_max,
        "exponential_km": number(radii.exponential),
        "obfuscation_km": number(radii.obfuscation),
        "mechanisms": sheet.lines.iter().map(line).collect::<Vec<_>>(),
    })
}

fn line(line: &Line) -> Value {
    let mut value = match &line.outcome {
        Ok(found) => numbers(found),
        Err(reason) => json!({ "failed": reason }),
    };
    value["name"] = line.name.as_str().into();
    value["remapped"] = line.remapped.into();
    value["per_user"] = line.per_user.into();
    value["notion"] = json::notion(line.notion).into();
    value
}

/// The numbers of one mechanism.
pub fn numbers(found: &Found) -> Value {
    let a = &found.assessment;
    json!({
        "promise": json::promise(&a.guarantee),
        "elapsed_s": found.seconds,
        "expected_cost": a.spending.expected,
        "street": a.street.map(|street| json!({
            "cost": street.cost,
            "error_km": street.guess_error_km,
            "moved_km": street.moved_km,
        })),
        "worst_place_cost": a.spending.worst_place,
        "cost_95_percent": a.spending.at_95_percent,
        "lower_bound": a.lower_bound(),
        "ratio": a.ratio().and_then(number),
        "optimum": a.optimum.as_ref().ok().map(|optimum| json!({
            "lower_bound": optimum.lower_bound,
            "tight": optimum.tight,
        })),
        "theorems": a.bounds.map(|bounds| json!({ "upper_bound": bounds.upper, "lower_bound": bounds.lower })),
        "certificate": a.proof.map(|proof| json!({
            "status": proof.status.as_str(),
            "cost": proof.cost,
            "lower_bound": proof.lower_bound,
            "gap": number(proof.gap),
            "iterations": proof.iterations,
            "elapsed_s": proof.seconds,
        })),
        "as_the_paper_counts": json::finding(&a.violations.as_the_paper_counts),
        "among_reported": json::finding(&a.violations.among_reported),
        "violation_bound": a.violations.bound,
        "deployed": json::finding(&a.violations.deployed),
        "adversary": adversary(&a.adversary),
        "adversary_with_even_prior": adversary(&a.even_adversary),
        "components": a.parts,
        "flags": found.remarks(),
    })
}

/// What an attacker achieves.
pub fn adversary(adversary: &Adversary) -> Value {
    json!({
        "error_km": adversary.inference_error_km,
        "hit_rate": adversary.hit_rate,
        "entropy_bits": adversary.entropy_bits,
        "worst_decile_error_km": adversary.worst_decile_error_km,
        "worst_decile_hit_rate": adversary.worst_decile_hit_rate,
    })
}

/// JSON has no infinity: where one is meant as "none", nothing.
fn number(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}
