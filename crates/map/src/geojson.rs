//! Reading GeoJSON (RFC 7946): features with an id, a shape and properties.

use std::path::Path;

use lrgeo_geo::Coord;
use serde_json::{Map, Value};

use crate::MapError;
use crate::region::Polygon;

/// A larger file is refused: it would be read into many times its size.
const MAX_BYTES: u64 = 1 << 29;

/// What a feature covers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    /// A point.
    Point(Coord),
    /// An area: of a Polygon or MultiPolygon.
    Area(Polygon),
    /// Something else, by the name of its type.
    Other(String),
}

/// One feature of a file.
#[derive(Clone, Debug)]
pub(crate) struct Feature {
    /// Where it stands in the file, for errors: `features[3]`.
    pub(crate) at: String,
    pub(crate) id: Option<String>,
    pub(crate) shape: Shape,
    pub(crate) properties: Map<String, Value>,
}

/// A file of JSON that is not too large.
pub(crate) fn read_json(path: &Path, what: &str) -> Result<Value, MapError> {
    let size = std::fs::metadata(path).map_err(MapError::io(path))?.len();
    if size > MAX_BYTES {
        return Err(MapError::TooLarge {
            what: "bytes of a JSON file",
            asked: size,
            limit: MAX_BYTES,
            advice: "cut it into parts, or use Parquet or CSV",
        });
    }
    let text = std::fs::read(path).map_err(MapError::io(path))?;
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
    serde_json::from_slice(text).map_err(|e| MapError::file(path, format!("not {what}: {e}")))
}

/// All features of a file: of a collection, of one Feature, or of a bare geometry.
pub(crate) fn read(path: &Path) -> Result<Vec<Feature>, MapError> {
    let json = read_json(path, "GeoJSON")?;
    let refuse = |(field, reason): Refused| MapError::field(path, field, reason);
    if let Some(crs) = json.get("crs").filter(|crs| !crs.is_null()) {
        let name = crs["properties"]["name"].as_str().unwrap_or_default();
        if !name.contains("CRS84") && !name.ends_with("EPSG::4326") && name != "EPSG:4326" {
            let reason =
                format!("`{name}` is not WGS84; GeoJSON has longitude, latitude in degrees");
            return Err(MapError::field(path, "crs", reason));
        }
    }
    match json["type"].as_str() {
        Some("FeatureCollection") => {
            let Some(features) = json["features"].as_array() else {
                return Err(MapError::field(path, "features", "must be a list"));
            };
            let read = |(n, json): (usize, &Value)| feature(json, format!("features[{n}]"));
            features.iter().enumerate().map(read).collect::<Result<_, _>>().map_err(refuse)
        }
        Some("Feature") => Ok(vec![feature(&json, "feature".into()).map_err(refuse)?]),
        Some(_) => {
            let shape = shape(&json, "").map_err(refuse)?;
            Ok(vec![Feature { at: "geometry".into(), id: None, shape, properties: Map::new() }])
        }
        None => Err(MapError::field(path, "type", "missing; not a GeoJSON object")),
    }
}

/// The field at fault, and why.
type Refused = (String, String);

fn refused<T>(field: String, reason: impl Into<String>) -> Result<T, Refused> {
    Err((field, reason.into()))
}

fn feature(json: &Value, at: String) -> Result<Feature, Refused> {
    if json["type"] != "Feature" {
        return refused(format!("{at}.type"), "must be \"Feature\"");
    }
    let properties = json["properties"].as_object().cloned().unwrap_or_default();
    let id = match &json["id"] {
        Value::Null => None,
        id => Some(id_text(id, || format!("{at}.id"))?),
    };
    let shape = shape(&json["geometry"], &format!("{at}.geometry."))?;
    Ok(Feature { at, id, shape, properties })
}

/// An id: a text or a number.
pub(crate) fn id_text(id: &Value, field: impl FnOnce() -> String) -> Result<String, Refused> {
    match id {
        Value::String(text) if !text.is_empty() && !text.contains(['\n', '\r']) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        _ => refused(field(), "must be a number, or a text that is not empty and has one line"),
    }
}

/// `at` is what comes before the names of fields: empty, or ends with a dot.
fn shape(json: &Value, at: &str) -> Result<Shape, Refused> {
    let coordinates = &json["coordinates"];
    let field = format!("{at}coordinates");
    match json["type"].as_str() {
        Some("Point") => Ok(Shape::Point(position(coordinates, || field)?)),
        Some("Polygon") => area(rings(coordinates, &field)?, field),
        Some("MultiPolygon") => {
            let Some(parts) = coordinates.as_array() else {
                return refused(field, "must be a list");
            };
            let mut all = Vec::new();
            for (n, part) in parts.iter().enumerate() {
                all.extend(rings(part, &format!("{field}[{n}]"))?);
            }
            area(all, field)
        }
        Some("GeometryCollection") => {
            let Some(parts) = json["geometries"].as_array() else {
                return refused(format!("{at}geometries"), "must be a list");
            };
            let mut all = Vec::new();
            for (n, part) in parts.iter().enumerate() {
                if let Shape::Area(polygon) = shape(part, &format!("{at}geometries[{n}]."))? {
                    all.extend(polygon.into_rings());
                }
            }
            Ok(Polygon::new(all).map_or(Shape::Other("GeometryCollection".into()), Shape::Area))
        }
        Some(other) => Ok(Shape::Other(other.into())),
        None => refused(format!("{at}type"), "missing; a geometry is needed"),
    }
}

fn area(rings: Vec<Vec<Coord>>, field: String) -> Result<Shape, Refused> {
    Polygon::new(rings).map(Shape::Area).ok_or_else(|| (field, "is empty".into()))
}

fn rings(json: &Value, field: &str) -> Result<Vec<Vec<Coord>>, Refused> {
    let Some(list) = json.as_array() else {
        return refused(field.into(), "must be a list");
    };
    let mut rings = Vec::with_capacity(list.len());
    for (r, ring) in list.iter().enumerate() {
        let field = || format!("{field}[{r}]");
        let Some(points) = ring.as_array() else {
            return refused(field(), "must be a list");
        };
        let mut coords = Vec::with_capacity(points.len() + 1);
        for (i, point) in points.iter().enumerate() {
            coords.push(position(point, || format!("{}[{i}]", field()))?);
        }
        rings.push(closed(coords).ok_or_else(|| (field(), FEW_POINTS.into()))?);
    }
    Ok(rings)
}

/// What is wrong with a ring that [`closed`] refuses.
pub(crate) const FEW_POINTS: &str = "a ring needs at least three points";

/// A ring that ends where it began.
pub(crate) fn closed(mut ring: Vec<Coord>) -> Option<Vec<Coord>> {
    let first = *ring.first()?;
    if ring.len() < 3 {
        return None;
    }
    if ring.last() != Some(&first) {
        ring.push(first);
    }
    Some(ring)
}

fn position(json: &Value, field: impl FnOnce() -> String) -> Result<Coord, Refused> {
    let (Some(lon), Some(lat)) = (json[0].as_f64(), json[1].as_f64()) else {
        return refused(field(), "must be [lon, lat], two numbers");
    };
    lon_lat(lon, lat).map_err(|reason| (field(), reason))
}

/// A coordinate as geographic formats order it; the reason says what such numbers often are.
pub(crate) fn lon_lat(lon: f64, lat: f64) -> Result<Coord, String> {
    Coord::new(lat, lon).map_err(|error| {
        let hint = match lon.abs() <= 90.0 && lat.abs() <= 180.0 {
            true => "; longitude comes first, are the two swapped?",
            false => "; degrees of WGS84 are needed, are these metres of a projection?",
        };
        format!("{error}{hint}")
    })
}
