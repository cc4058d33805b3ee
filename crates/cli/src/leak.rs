//! `lrgeo attack upload --exact`: what an upload tells, computed for a map.

use lrgeo_evaluation::attack::exact::Defended;
use serde_json::json;

use crate::ui::Ui;

pub fn print(places: usize, defences: &[Defended], as_json: bool, ui: &Ui) {
    if as_json {
        ui.json(&json!({ "places": places, "defences": defences }));
        return;
    }
    defences.iter().for_each(|defended| println!("{}", text(defended)));
    println!(
        "Of a place drawn by the prior: Shannon and min-entropy leak in bits, how likely the best guess is right, how many\n\
         different uploads there are, and the fewest places that upload the same. D over N_m x N_m has no names on either\n\
         side: its leak lies between the two lines. Classes: at most log2(parts) bits, whatever the map."
    );
}

fn text(defended: &Defended) -> String {
    let mut text = defended.defence.clone();
    if let Some(parts) = defended.parts {
        text += &format!(": {parts} parts, at most {:.2} bits", (parts as f64).log2());
    }
    if let Some(cost) = defended.cost {
        text += &format!(", {cost:.4} km per report between places");
    }
    text += &format!(
        "\n  {:27} {:>8} {:>8} {:>8} {:>8} {:>9}\n",
        "", "Shannon", "min-ent.", "guess %", "uploads", "alike"
    );
    for leak in &defended.leaks {
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
