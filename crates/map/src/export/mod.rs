//! Maps for other programs: GeoJSON, CSV, GeoParquet, and matrices.

mod matrix;
#[cfg(feature = "geoparquet")]
pub mod parquet;

use std::fmt::Write;

use serde_json::{Value, json};

use crate::map::Map;
pub use matrix::{losses_csv, losses_npy, npy_header};

/// Coordinates to 1e-7 degrees (a centimetre), longitude first as GeoJSON wants it.
fn position(c: lrgeo_geo::Coord) -> Value {
    let round = |v: f64| (v * 1e7).round() / 1e7;
    json!([round(c.lon()), round(c.lat())])
}

/// Streets as lines, places and targets as points. A street that can be used both ways is one
/// line with `"oneway": false`.
pub fn geojson(map: &Map) -> String {
    let coords = map.graph.coords();
    let arcs: std::collections::HashSet<(u32, u32)> =
        map.graph.arcs().map(|(from, to, ..)| (from, to)).collect();
    // The ways of a table are not streets.
    let graph = map.streets().ok().into_iter();
    let streets = graph.flat_map(|graph| graph.arcs()).filter_map(|(from, to, mm, ms)| {
        let oneway = !arcs.contains(&(to, from));
        (oneway || from < to).then(|| {
            let speed = f64::from(mm) / f64::from(ms.max(1)) * 3.6;
            feature(
                json!({"type": "LineString",
                    "coordinates": [position(coords[from as usize]), position(coords[to as usize])]}),
                json!({"kind": "street", "length_m": f64::from(mm) / 1000.0,
                    "speed_kmh": (speed * 10.0).round() / 10.0, "oneway": oneway}),
            )
        })
    });
    let places = map.places.iter().map(|p| {
        feature(
            json!({"type": "Point", "coordinates": position(p.coord)}),
            json!({"kind": "place", "id": p.id, "prior": p.prior, "access_m": f64::from(p.leg) / 1000.0}),
        )
    });
    let targets = map.targets.iter().map(|t| {
        feature(
            json!({"type": "Point", "coordinates": position(coords[t.node as usize])}),
            json!({"kind": "target", "weight": t.weight}),
        )
    });
    // One feature a line: a large map is not built up as one value, and diffs stay readable.
    let mut out = String::from("{\"type\":\"FeatureCollection\",\"features\":[\n");
    for (n, feature) in streets.chain(places).chain(targets).enumerate() {
        let _ = write!(out, "{}{feature}", if n == 0 { "" } else { ",\n" });
    }
    out.push_str("\n]}\n");
    out
}

fn feature(geometry: Value, properties: Value) -> Value {
    json!({"type": "Feature", "geometry": geometry, "properties": properties})
}

/// `id,lat,lon,prior`, one place a line; `lrgeo map build --places` reads it back.
pub fn places_csv(map: &Map) -> String {
    let mut out = String::from("id,lat,lon,prior\n");
    for p in &map.places {
        let (lat, lon) = (p.coord.lat(), p.coord.lon());
        let _ = writeln!(out, "{},{lat},{lon},{}", quoted(&p.id), p.prior);
    }
    out
}

/// A cell of CSV: quoted where it must be.
pub fn quoted(text: &str) -> std::borrow::Cow<'_, str> {
    match text.contains([',', '"']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")).into(),
        false => text.into(),
    }
}

/// `lat,lon,weight`, one target a line; `lrgeo map build --targets` reads it back.
pub fn targets_csv(map: &Map) -> String {
    let mut out = String::from("lat,lon,weight\n");
    for target in &map.targets {
        let at = map.graph.coords()[target.node as usize];
        let _ = writeln!(out, "{},{},{}", at.lat(), at.lon(), target.weight);
    }
    out
}
