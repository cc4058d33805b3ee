//! `lrgeo attack upload --exact`: what an upload tells, computed for a map.

use lrgeo_evaluation::attack::exact::{Leak, leaks};
use lrgeo_mechanism::lr_geo::coefficients::Costs;
use lrgeo_mechanism::relevant::geo_ind_graph;
use lrgeo_mechanism::{City, MechanismError, Plan, RangeRule, alike, build, by_name};
use serde_json::{Value, json};

use crate::ui::Ui;

/// Numbers rounded to multiples of so many kilometres before they are uploaded.
const ROUNDINGS: [f64; 4] = [0.0, 0.01, 0.1, 0.5];
/// Sizes of classes of users who upload the same.
const CLASSES: [usize; 4] = [1, 4, 16, 64];

/// A defence, what it leaves, and what it costs.
struct Line {
    name: String,
    leaks: Vec<Leak>,
    /// Classes that the proof speaks of.
    parts: Option<usize>,
    /// km per report of the users' rows.
    cost: Option<f64>,
}

pub fn exact(
    city: &City,
    plan: &Plan,
    users: &[u32],
    as_json: bool,
    ui: &Ui,
) -> Result<(), MechanismError> {
    let graph = geo_ind_graph(city, plan);
    let tables = city.tables(plan.division, ui)?;
    let costs = Costs::of(city, &tables, vec![1.0]);
    let mut lines = Vec::new();
    for rounding in ROUNDINGS {
        let name = match rounding {
            0.0 => "as it is".to_owned(),
            km => format!("rounded to {:.0} m", 1000.0 * km),
        };
        let leaks = leaks(city, graph.as_deref(), &costs, plan, rounding, ui)?;
        lines.push(Line { name, leaks, parts: None, cost: None });
    }
    for count in CLASSES.into_iter().filter(|count| *count <= city.places()) {
        let mut alike = Plan { alike: Some(count), range: RangeRule::Each, ..plan.clone() };
        (alike.radii.relevant_max, alike.allow_disconnected) = (None, true);
        alike.users = users.to_vec();
        let leaks = leaks(city, graph.as_deref(), &costs, &alike, 0.0, ui)?;
        let built = build(by_name("lr-geo")?, city, &alike, ui)?;
        let parts = alike::classes(city.coords(), count).len();
        let name = format!("classes of {count} at least");
        lines.push(Line { name, leaks, parts: Some(parts), cost: Some(built.expected_cost) });
    }
    if as_json {
        ui.json(&json!({ "places": city.places(), "defences": lines.iter().map(Line::json).collect::<Vec<_>>() }));
    } else {
        lines.iter().for_each(|line| println!("{}", line.text()));
        println!(
            "Of a place drawn by the prior: Shannon and min-entropy leak in bits, how likely the best guess is right, how many\n\
             different uploads there are, and the fewest places that upload the same. D over N_m x N_m has no names on either\n\
             side: its leak lies between the two lines. Classes: at most log2(parts) bits, whatever the map."
        );
    }
    Ok(())
}

impl Line {
    fn text(&self) -> String {
        let mut text = self.name.clone();
        if let Some(parts) = self.parts {
            text += &format!(": {parts} parts, at most {:.2} bits", (parts as f64).log2());
        }
        if let Some(cost) = self.cost {
            text += &format!(", {cost:.4} km per report between places");
        }
        text += &format!(
            "\n  {:27} {:>8} {:>8} {:>8} {:>8} {:>9}\n",
            "", "Shannon", "min-ent.", "guess %", "uploads", "alike"
        );
        for leak in &self.leaks {
            text += &format!(
                "  {:27} {:>8.2} {:>8.2} {:>8.1} {:>8} {:>9}\n",
                leak.field.name(),
                leak.bits,
                leak.min_entropy_bits,
                100.0 * leak.guess,
                leak.classes,
                leak.smallest_class
            );
        }
        text
    }

    fn json(&self) -> Value {
        let field = |leak: &Leak| {
            json!({
                "field": leak.field.name(),
                "shannon_bits": leak.bits,
                "min_entropy_bits": leak.min_entropy_bits,
                "guess": leak.guess,
                "uploads": leak.classes,
                "smallest_class": leak.smallest_class,
            })
        };
        json!({
            "defence": self.name,
            "parts": self.parts,
            "cost": self.cost,
            "fields": self.leaks.iter().map(field).collect::<Vec<_>>(),
        })
    }
}
