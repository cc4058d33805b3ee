//! Maps for other programs: GeoJSON and CSV.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::MapError;
use crate::map::Map;
use crate::utility::Utility;

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
    let streets = map.graph.arcs().filter_map(|(from, to, mm, ms)| {
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
    let quoted = |id: &str| {
        if id.contains([',', '"']) { format!("\"{}\"", id.replace('"', "\"\"")) } else { id.into() }
    };
    let mut out = String::from("id,lat,lon,prior\n");
    for p in &map.places {
        let (lat, lon) = (p.coord.lat(), p.coord.lon());
        let _ = writeln!(out, "{},{lat},{lon},{}", quoted(&p.id), p.prior);
    }
    out
}

/// A matrix of more places than this is not written: it would be gigabytes.
const MAX_MATRIX_PLACES: usize = 20_000;

fn check_size(losses: &dyn Utility) -> Result<(), MapError> {
    if losses.places() <= MAX_MATRIX_PLACES {
        return Ok(());
    }
    Err(MapError::TooLarge {
        what: "places of a cost matrix",
        asked: losses.places() as u64,
        limit: MAX_MATRIX_PLACES as u64,
        advice: "choose larger cells (`places`) or a smaller `region`",
    })
}

/// The head of a numpy `.npy` file with a float64 array; its numbers follow, row by row.
pub fn npy_header(rows: usize, columns: usize) -> Vec<u8> {
    let dict =
        format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    // The header ends with a line end at a multiple of 64 bytes.
    let length = (10 + dict.len() + 1).next_multiple_of(64) - 10;
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend_from_slice(&(length as u16).to_le_bytes());
    out.extend_from_slice(format!("{dict:<width$}\n", width = length - 1).as_bytes());
    out
}

/// All losses as numpy's `.npy`: a float64 array, one row per true place.
pub fn losses_npy(losses: &dyn Utility) -> Result<Vec<u8>, MapError> {
    check_size(losses)?;
    let mut out = npy_header(losses.places(), losses.places());
    losses.all().iter().for_each(|value| out.extend_from_slice(&value.to_le_bytes()));
    Ok(out)
}

/// All losses as CSV without a header, one line per true place.
pub fn losses_csv(losses: &dyn Utility) -> Result<Vec<u8>, MapError> {
    check_size(losses)?;
    let mut out = String::new();
    for row in losses.all().chunks_exact(losses.places()) {
        let line: Vec<String> = row.iter().map(f64::to_string).collect();
        let _ = writeln!(out, "{}", line.join(","));
    }
    Ok(out.into_bytes())
}
