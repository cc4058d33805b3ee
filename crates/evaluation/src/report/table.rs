//! A figure as a table: ours, and the paper's beside it.

use std::fmt::Write;

use super::html::Text;
use super::number::{self, Measured};
use super::{Figure, Point, Series};

/// Beyond so many settings a table lies on its side, and its columns are the series.
const WIDEST: usize = 7;
/// More rows than this may not fit on the rest of a page.
const LONGEST: usize = 20;

/// The table, in a container in which it scrolls.
pub(super) fn draw(out: &mut String, figure: &Figure) {
    let settings = settings(figure);
    if settings.is_empty() {
        out.push_str("<p class=\"nothing\">There are no values.</p>\n");
        return;
    }
    let on_its_side = settings.len() > WIDEST && settings.len() > figure.series.len();
    let spreads = figure.series.iter().flat_map(|s| &s.points).any(|p| p.spread().is_some());
    let single = if spreads { "" } else { " single" };
    // Only a long table may be torn apart between printed pages.
    let rows = if on_its_side { settings.len() } else { figure.series.len() };
    let long = if rows > LONGEST { " long" } else { "" };
    let (x, y) = (Text(&figure.x.label), Text(&figure.y.label));
    let _ = writeln!(
        out,
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">\
         <table class=\"numbers{single}{long}\"><caption>{y}</caption>",
        Text(&figure.title)
    );
    if on_its_side {
        let _ = write!(out, "<thead><tr><th scope=\"col\">{x}</th>");
        for series in &figure.series {
            let _ = write!(out, "<th scope=\"col\">{}</th>", Text(&series.name));
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        for &setting in &settings {
            let _ = write!(out, "<tr><th scope=\"row\">{}</th>", number::short(setting));
            figure.series.iter().for_each(|series| draw_cell(out, series, setting));
            out.push_str("</tr>\n");
        }
    } else {
        let _ = write!(out, "<thead><tr><th scope=\"col\">{x}</th>");
        for &setting in &settings {
            let _ = write!(out, "<th scope=\"col\">{}</th>", number::short(setting));
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        for series in &figure.series {
            let _ = write!(out, "<tr><th scope=\"row\">{}</th>", Text(&series.name));
            settings.iter().for_each(|&setting| draw_cell(out, series, setting));
            out.push_str("</tr>\n");
        }
    }
    out.push_str("</tbody></table></div>\n");
}

/// How often the figure's settings were repeated, in words.
pub(super) fn repeats(figure: &Figure) -> Option<String> {
    let counts = || figure.series.iter().flat_map(|s| &s.points).map(|p| p.values.len());
    let (fewest, most) = (counts().filter(|&n| n > 0).min()?, counts().max()?);
    Some(match (fewest, most) {
        (_, 1) => "One run each.".into(),
        (a, b) if a == b => format!("Mean ± 1.96 standard deviations of {b} repeats."),
        (a, b) => format!("Mean ± 1.96 standard deviations of {a} to {b} repeats."),
    })
}

/// Every x of the figure, ascending.
pub(super) fn settings(figure: &Figure) -> Vec<f64> {
    let mut all: Vec<f64> =
        figure.series.iter().flat_map(|series| &series.points).map(|point| point.x).collect();
    all.sort_by(f64::total_cmp);
    all.dedup_by(|a, b| a.total_cmp(b).is_eq());
    all
}

fn draw_cell(out: &mut String, series: &Series, setting: f64) {
    out.push_str("<td>");
    for point in series.points.iter().filter(|point| point.x.total_cmp(&setting).is_eq()) {
        draw_point(out, point);
    }
    out.push_str("</td>");
}

fn draw_point(out: &mut String, point: &Point) {
    let Measured { mean, spread } =
        number::measured(point.mean().unwrap_or(f64::NAN), point.spread());
    let _ = write!(out, "<span class=\"cell\"><span class=\"mean\">{mean}</span>");
    if let Some(spread) = spread {
        let _ = write!(out, "<span class=\"spread\">± {spread}</span>");
    }
    out.push_str("</span>");
    if let Some(paper) = &point.paper {
        let _ = write!(out, "<span class=\"paper\">paper {}</span>", Text(paper));
    }
    if let Some(note) = &point.note {
        let _ = write!(out, "<span class=\"note\">{}</span>", Text(note));
    }
}
