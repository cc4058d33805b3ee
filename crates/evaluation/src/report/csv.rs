//! The raw numbers as CSV, one row per repeat or place.

use std::fmt::Write;

use super::{Figure, Picture};

/// All figures in one: columns `figure,series,x,mean,spread,repeats`, a row for every setting with values.
pub(super) fn of_all(figures: &[Figure]) -> String {
    let mut out = String::from("figure,series,x,mean,spread,repeats\n");
    for figure in figures {
        for series in &figure.series {
            for point in &series.points {
                let Some(mean) = point.mean() else { continue };
                let spread = point.spread().map(|spread| spread.to_string()).unwrap_or_default();
                let (id, name, x) = (&figure.id, field(&series.name), point.x);
                let _ = writeln!(out, "{id},{name},{x},{mean},{spread},{}", point.values.len());
            }
        }
    }
    out
}

/// Columns `series,x,repeat,value,paper,note`; a setting without values is one row without repeat.
pub(super) fn of_figure(figure: &Figure) -> String {
    let mut out = String::from("series,x,repeat,value,paper,note\n");
    for series in &figure.series {
        let name = field(&series.name);
        for point in &series.points {
            let text = |text: &Option<String>| text.as_deref().map(field).unwrap_or_default();
            let (x, paper, note) = (point.x, text(&point.paper), text(&point.note));
            if point.values.is_empty() {
                let _ = writeln!(out, "{name},{x},,,{paper},{note}");
            }
            for (repeat, value) in point.values.iter().enumerate() {
                let _ = writeln!(out, "{name},{x},{},{value},{paper},{note}", repeat + 1);
            }
        }
    }
    out
}

/// Columns `latitude,longitude,value,marked`.
pub(super) fn of_picture(picture: &Picture) -> String {
    let mut out = String::from("latitude,longitude,value,marked\n");
    for (place, ([lat, lon], value)) in picture.places.iter().zip(&picture.values).enumerate() {
        let marked = picture.marked.is_some_and(|marked| marked.index() == place);
        let _ = writeln!(out, "{lat},{lon},{value},{}", u8::from(marked));
    }
    out
}

/// Quoted where it must be (RFC 4180).
fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.into()
    }
}
