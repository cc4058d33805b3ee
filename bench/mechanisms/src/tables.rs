//! Tables 1 and 2 as `lrgeo reproduce` makes them, both settings, twenty repeats.
//!
//! Measurements are kept in `bench/out/` and not made again; delete the file for new ones.

use std::fmt::Write;
use std::path::Path;

use lrgeo_evaluation::experiments::{EXPERIMENTS, Ground, Notebook, Setup, Size};
use lrgeo_evaluation::report::{Figure, Point};
use serde_json::json;

use crate::{SEED, Section};

const NOTEBOOK: &str = "bench/out/measurements.jsonl";

pub fn section(rome: &Ground) -> Section {
    let setup = Setup { ground: rome, size: Size::Full, seed: SEED };
    std::fs::create_dir_all("bench/out").expect("a directory");
    let mut notebook = Notebook::open(Path::new(NOTEBOOK), &setup.name()).expect("a notebook");
    let tables = EXPERIMENTS.iter().find(|experiment| experiment.id == "tables").expect("it");
    let figures = (tables.run)(&setup, &mut notebook, &()).expect("measurements");
    Section {
        title: "Tables 1 and 2",
        text: figures.iter().map(markdown).collect(),
        numbers: json!(figures),
    }
}

/// A figure as a table: mean ± 1.96 standard deviations, the paper's figure after a slash.
fn markdown(figure: &Figure) -> String {
    let mut text = format!(
        "### {}\n\n{}\n\n{}:\n\n| {} |",
        figure.title, figure.about, figure.y.label, figure.x.label
    );
    let first = figure.series.first().map_or(&[][..], |series| &series.points);
    first.iter().for_each(|point| write!(text, " {} |", point.x).expect("a string"));
    text += &format!("\n|{}\n", "---|".repeat(first.len() + 1));
    for series in &figure.series {
        let cells = series.points.iter().map(|point| format!(" {} |", cell(point)));
        text += &format!("| {} |{}\n", series.name, cells.collect::<String>());
    }
    let flags = figure.flags.iter().map(|flag| format!("- {flag}\n")).collect::<String>();
    text + "\n" + &flags + if flags.is_empty() { "" } else { "\n" }
}

fn cell(point: &Point) -> String {
    let ours = match (point.mean(), point.spread()) {
        (Some(mean), Some(spread)) if spread > 0.0 => format!("{mean:.3}±{spread:.3}"),
        (Some(mean), _) => format!("{mean:.3}"),
        (None, _) => "-".into(),
    };
    match &point.paper {
        Some(paper) => format!("{ours} / {paper}"),
        None => ours,
    }
}
