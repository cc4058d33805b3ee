//! Tables of travel costs from OSRM (`/table`) and Valhalla (`sources_to_targets`), as the engines answer.

use std::path::Path;

use lrgeo_geo::Coord;
use serde_json::Value;

use crate::MapError;
use crate::geojson::{lon_lat, read_json};
use crate::routing::{Engine, RoutingTable};

/// More pairs than this are refused.
const MAX_PAIRS: usize = 25_000_000;
/// Nobody travels farther within a city; a number beyond is no distance.
const MAX_KM: f64 = 2_000.0;
/// Nor longer.
const MAX_SECONDS: f64 = 30.0 * 24.0 * 3600.0;
const KM_PER_MILE: f64 = 1.609_344;

/// Reads a table. Which engine wrote it, the file itself says.
pub fn read_routing_table(path: &Path) -> Result<RoutingTable, MapError> {
    let json = read_json(path, "the JSON of a routing engine")?;
    let table = match (json.get("sources_to_targets"), json.get("code")) {
        (Some(_), _) => valhalla(path, &json)?,
        (None, Some(_)) => osrm(path, &json)?,
        (None, None) => {
            let reason =
                "missing, and so is `sources_to_targets`; neither OSRM's table nor Valhalla's";
            return Err(MapError::field(path, "code", reason));
        }
    };
    let [rows, columns] = table.size;
    for (name, points, expected) in [
        ("sources", &table.sources, rows),
        (destinations_of(table.engine), &table.destinations, columns),
    ] {
        if let Some(points) = points.as_ref().filter(|points| points.len() != expected) {
            let reason = format!("has {} entries, the table {expected}", points.len());
            return Err(table.refuse(name, reason));
        }
    }
    Ok(table)
}

fn destinations_of(engine: Engine) -> &'static str {
    match engine {
        Engine::Osrm => "destinations",
        Engine::Valhalla => "targets",
    }
}

fn osrm(path: &Path, json: &Value) -> Result<RoutingTable, MapError> {
    let refuse = |field: &str, reason: String| Err(MapError::field(path, field, reason));
    if json["code"] != "Ok" {
        let message = json["message"].as_str().unwrap_or("no message");
        return refuse("code", format!("is {}, not \"Ok\": {message}", json["code"]));
    }
    let km = rows(path, "distances", &json["distances"], |metres| metres / 1000.0, MAX_KM)?;
    let seconds = rows(path, "durations", &json["durations"], |s| s, MAX_SECONDS)?;
    let size = same_size(path, &km, &seconds, "distances")?;
    let place = |entry: &Value, field: String| {
        let location = &entry["location"];
        point(path, &location[0], &location[1], format!("{field}.location"))
    };
    Ok(RoutingTable {
        path: path.into(),
        engine: Engine::Osrm,
        size,
        sources: points(path, json, "sources", &place)?,
        destinations: points(path, json, "destinations", &place)?,
        km: km.map(|table| table.values),
        seconds: seconds.map(|table| table.values),
    })
}

fn valhalla(path: &Path, json: &Value) -> Result<RoutingTable, MapError> {
    let matrix = &json["sources_to_targets"];
    let km_per_unit = match json["units"].as_str() {
        Some("kilometers" | "km") => 1.0,
        Some("miles" | "mi") => KM_PER_MILE,
        Some(other) => {
            let reason = format!("`{other}`; must be kilometers or miles");
            return Err(MapError::field(path, "units", reason));
        }
        None => return Err(MapError::field(path, "units", "missing; kilometers or miles")),
    };
    let to_km = |distance: f64| distance * km_per_unit;
    let name = |which: &str| format!("sources_to_targets.{which}");
    let (km, seconds) = match matrix {
        // Concise: two matrices.
        Value::Object(_) => (
            rows(path, &name("distances"), &matrix["distances"], to_km, MAX_KM)?,
            rows(path, &name("durations"), &matrix["durations"], |s| s, MAX_SECONDS)?,
        ),
        // Verbose: one matrix of objects.
        Value::Array(_) => (
            of_objects(path, matrix, "distance", to_km, MAX_KM)?,
            of_objects(path, matrix, "time", |s| s, MAX_SECONDS)?,
        ),
        _ => {
            let reason = "must be a list of lists, or `distances` and `durations`";
            return Err(MapError::field(path, "sources_to_targets", reason));
        }
    };
    let size = same_size(path, &km, &seconds, "sources_to_targets")?;
    let place = |entry: &Value, field: String| {
        // Some versions wrap each location in a list of its own.
        let entry = entry.get(0).unwrap_or(entry);
        point(path, &entry["lon"], &entry["lat"], field)
    };
    Ok(RoutingTable {
        path: path.into(),
        engine: Engine::Valhalla,
        size,
        sources: points(path, json, "sources", &place)?,
        destinations: points(path, json, "targets", &place)?,
        km: km.map(|table| table.values),
        seconds: seconds.map(|table| table.values),
    })
}

/// Numbers row by row, and how many there are each way.
struct Numbers {
    values: Vec<f64>,
    size: [usize; 2],
}

/// A matrix of numbers; none where the field is missing.
fn rows(
    path: &Path,
    field: &str,
    json: &Value,
    convert: impl Fn(f64) -> f64,
    most: f64,
) -> Result<Option<Numbers>, MapError> {
    if json.is_null() {
        return Ok(None);
    }
    gather(path, field, json, |value, field| number(path, value, field, &convert, most)).map(Some)
}

/// One number of a matrix of objects; none where no object has it.
fn of_objects(
    path: &Path,
    json: &Value,
    key: &str,
    convert: impl Fn(f64) -> f64,
    most: f64,
) -> Result<Option<Numbers>, MapError> {
    if json[0][0].get(key).is_none() {
        return Ok(None);
    }
    let read = |value: &Value, field: String| {
        number(path, &value[key], format!("{field}.{key}"), &convert, most)
    };
    gather(path, "sources_to_targets", json, read).map(Some)
}

fn gather(
    path: &Path,
    field: &str,
    json: &Value,
    read: impl Fn(&Value, String) -> Result<f64, MapError>,
) -> Result<Numbers, MapError> {
    let refuse = |field: String, reason: String| Err(MapError::field(path, field, reason));
    let Some(rows) = json.as_array().filter(|rows| !rows.is_empty()) else {
        return refuse(field.into(), "must be a list of rows, at least one".into());
    };
    let columns = rows[0].as_array().map_or(0, Vec::len);
    if columns == 0 {
        return refuse(format!("{field}[0]"), "must be a list of at least one".into());
    }
    if rows.len().saturating_mul(columns) > MAX_PAIRS {
        return Err(MapError::TooLarge {
            what: "pairs of a routing table",
            asked: (rows.len() * columns) as u64,
            limit: MAX_PAIRS as u64,
            advice: "choose fewer places or targets",
        });
    }
    let mut values = Vec::with_capacity(rows.len() * columns);
    for (i, row) in rows.iter().enumerate() {
        let row = row.as_array().map_or(&[][..], Vec::as_slice);
        if row.len() != columns {
            let reason = format!("has {} entries, the first row {columns}", row.len());
            return refuse(format!("{field}[{i}]"), reason);
        }
        for (j, value) in row.iter().enumerate() {
            values.push(read(value, format!("{field}[{i}][{j}]"))?);
        }
    }
    Ok(Numbers { values, size: [rows.len(), columns] })
}

fn number(
    path: &Path,
    value: &Value,
    field: String,
    convert: &impl Fn(f64) -> f64,
    most: f64,
) -> Result<f64, MapError> {
    let refuse = |reason: String| Err(MapError::field(path, field, reason));
    match value.as_f64() {
        None if value.is_null() => {
            refuse("null: the engine found no way; leave out the place or the target".into())
        }
        None => refuse(format!("`{value}` is not a number")),
        Some(number) if number < 0.0 => refuse(format!("{number} is negative")),
        Some(number) if convert(number) <= most => Ok(convert(number)),
        Some(number) => refuse(format!("{number} is more than any way in a city")),
    }
}

/// Both matrices have one size, and one of them is there.
fn same_size(
    path: &Path,
    km: &Option<Numbers>,
    seconds: &Option<Numbers>,
    field: &str,
) -> Result<[usize; 2], MapError> {
    match (km, seconds) {
        (Some(km), Some(seconds)) if km.size != seconds.size => {
            let ([a, b], [c, d]) = (km.size, seconds.size);
            let reason = format!("are {a} x {b}, durations {c} x {d}");
            Err(MapError::field(path, field, reason))
        }
        (Some(table), _) | (None, Some(table)) => Ok(table.size),
        (None, None) => {
            let reason = "neither distances nor durations; ask for annotations=distance,duration";
            Err(MapError::field(path, field, reason))
        }
    }
}

fn points(
    path: &Path,
    json: &Value,
    field: &str,
    place: &impl Fn(&Value, String) -> Result<Coord, MapError>,
) -> Result<Option<Vec<Coord>>, MapError> {
    match json.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Array(list)) => {
            let read = |(n, entry): (usize, &Value)| place(entry, format!("{field}[{n}]"));
            list.iter().enumerate().map(read).collect::<Result<Vec<_>, _>>().map(Some)
        }
        Some(_) => Err(MapError::field(path, field, "must be a list")),
    }
}

fn point(path: &Path, lon: &Value, lat: &Value, field: String) -> Result<Coord, MapError> {
    let (Some(lon), Some(lat)) = (lon.as_f64(), lat.as_f64()) else {
        return Err(MapError::field(path, field, "must have a longitude and a latitude"));
    };
    lon_lat(lon, lat).map_err(|reason| MapError::field(path, field, reason))
}
