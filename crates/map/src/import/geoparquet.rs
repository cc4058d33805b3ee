//! Rows of a Parquet file; of GeoParquet, with their geometries.

use std::path::Path;
use std::sync::Arc;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use parquet::schema::types::Type;
use serde_json::Value;

use super::features::{Row, Rows, weight};
use super::names::{ID, LAT, LON, WEIGHT};
use crate::MapError;
use crate::geojson::{Shape, lon_lat};
use crate::wkb;

/// More rows than this are refused: no map has so many places, and they would fill the memory.
const MAX_ROWS: i64 = 20_000_000;

/// Reads the rows: the geometry of GeoParquet, or columns `lat` and `lon`; `id`; a weight.
///
/// The library panics at some damaged files (negative lengths, for one), and whoever gives us a file must not end the program.
pub(super) fn from_parquet<'p>(path: &'p Path, column: Option<&str>) -> Result<Rows<'p>, MapError> {
    let read = std::panic::AssertUnwindSafe(|| read_rows(path, column));
    std::panic::catch_unwind(read).unwrap_or_else(|_| {
        Err(MapError::file(path, "damaged: its metadata contradict each other"))
    })
}

fn read_rows<'p>(path: &'p Path, column: Option<&str>) -> Result<Rows<'p>, MapError> {
    let file = std::fs::File::open(path).map_err(MapError::io(path))?;
    let broken = |error: parquet::errors::ParquetError| {
        MapError::file(
            path,
            format!("not Parquet, damaged, or packed in another way than snappy or gzip: {error}"),
        )
    };
    let reader = SerializedFileReader::new(file).map_err(broken)?;
    let about = reader.metadata().file_metadata();
    if about.num_rows() > MAX_ROWS {
        return Err(MapError::TooLarge {
            what: "rows of a Parquet file",
            asked: about.num_rows().unsigned_abs(),
            limit: MAX_ROWS.unsigned_abs(),
            advice: "add them up, or cut out the part that is needed",
        });
    }
    let schema = about.schema();
    let fields = schema.get_fields();
    let find = |names: &[&str]| {
        let is = |name: &&str| fields.iter().position(|f| f.name().eq_ignore_ascii_case(name));
        names.iter().find_map(is)
    };
    let require = |name: &str| {
        let has: Vec<&str> = fields.iter().map(|field| field.name()).collect();
        let reason = format!("no such column; the file has: {}", has.join(", "));
        find(&[name]).ok_or_else(|| MapError::field(path, name, reason))
    };
    let geo =
        about.key_value_metadata().and_then(|all| all.iter().find(|entry| entry.key == "geo"));
    let geometry = match geo.and_then(|entry| entry.value.as_deref()) {
        Some(text) => Some(require(&primary_column(path, text)?)?),
        None => None,
    };
    let [lat, lon] = match (geometry, find(LAT), find(LON)) {
        (None, Some(lat), Some(lon)) => [Some(lat), Some(lon)],
        _ => [None, None],
    };
    let id = find(ID);
    let weighed = match column {
        Some(name) => Some(require(name)?),
        None => find(WEIGHT),
    };
    if geometry.is_none() && lat.is_none() && id.is_none() {
        let reason = "needs the metadata `geo` of GeoParquet, columns lat and lon, or a column id";
        return Err(MapError::file(path, reason));
    }
    // Only what is needed is unpacked; the columns keep their order.
    let mut wanted: Vec<usize> = [geometry, lat, lon, id, weighed].into_iter().flatten().collect();
    wanted.sort_unstable();
    wanted.dedup();
    let chosen = wanted.iter().map(|&column| Arc::clone(&fields[column])).collect();
    let chosen = Type::group_type_builder(schema.name()).with_fields(chosen).build();
    let mut rows = Vec::new();
    for (n, row) in reader.get_row_iter(Some(chosen.map_err(broken)?)).map_err(broken)?.enumerate()
    {
        let values = row.map_err(broken)?.into_columns();
        let at = format!("row {}", n + 1);
        let value = |column: Option<usize>| {
            let place = wanted.binary_search(&column?).ok()?;
            values.get(place).filter(|(_, value)| !matches!(value, Field::Null))
        };
        let number = |column: Option<usize>| {
            let Some((name, value)) = value(column) else { return Ok(None) };
            let wrong = || MapError::field(path, format!("{at}, {name}"), "must be a number");
            as_number(value).ok_or_else(wrong).map(Some)
        };
        let refuse = |field: &str, reason: String| {
            Err(MapError::field(path, format!("{at}, {field}"), reason))
        };
        let shape = match (value(geometry), number(lat)?, number(lon)?) {
            (Some((name, Field::Bytes(bytes))), ..) => match wkb::shape(bytes.data()) {
                Ok(shape) => Some(shape),
                Err(reason) => return refuse(name, reason),
            },
            (Some((name, _)), ..) => return refuse(name, "must be WKB, as bytes".into()),
            (None, Some(lat), Some(lon)) => match lon_lat(lon, lat) {
                Ok(coord) => Some(Shape::Point(coord)),
                Err(reason) => return refuse("lat, lon", reason),
            },
            (None, ..) if geometry.is_some() || lat.is_some() => {
                return refuse("geometry", "is empty".into());
            }
            (None, ..) => None,
        };
        let id = match value(id) {
            Some((name, value)) => match as_id(value) {
                Some(id) => Some(id),
                None => return refuse(name, "must be a whole number or a text of one line".into()),
            },
            None => None,
        };
        let weight = match number(weighed)? {
            Some(number) => {
                Some(weight(path, number, || format!("{at}, {}", column.unwrap_or(WEIGHT[0])))?)
            }
            None => None,
        };
        rows.push(Row { at, id, shape, weight });
    }
    Ok(Rows { path, rows })
}

/// The geometry column that the metadata of GeoParquet name, if it is WKB in degrees of WGS84.
fn primary_column(path: &Path, text: &str) -> Result<String, MapError> {
    let refuse = |field: String, reason: String| MapError::field(path, field, reason);
    let geo: Value = serde_json::from_str(text)
        .map_err(|error| refuse("geo".into(), format!("is not JSON: {error}")))?;
    let Some(name) = geo["primary_column"].as_str() else {
        return Err(refuse("geo.primary_column".into(), "missing".into()));
    };
    let column = &geo["columns"][name];
    let field = |which: &str| format!("geo.columns.{name}.{which}");
    if column["encoding"] != "WKB" {
        let found = column["encoding"].as_str().unwrap_or("nothing");
        return Err(refuse(field("encoding"), format!("must be WKB, is {found}")));
    }
    // A column without `crs` is in OGC:CRS84. Whatever the system says, longitude comes first.
    if let Some(crs) = column.get("crs") {
        let id = (crs["id"]["authority"].as_str(), crs["id"]["code"].to_string());
        let known = matches!(
            (id.0, id.1.trim_matches('"')),
            (Some("OGC"), "CRS84") | (Some("EPSG"), "4326")
        );
        if !known {
            let what = match crs.is_null() {
                true => "is unknown (null)".into(),
                false => format!("is {}", crs["name"].as_str().unwrap_or("without a name")),
            };
            let reason = format!(
                "{what}; degrees of WGS84 are needed: to_crs(\"EPSG:4326\") of geopandas makes them"
            );
            return Err(refuse(field("crs"), reason));
        }
    }
    Ok(name.into())
}

fn as_number(value: &Field) -> Option<f64> {
    Some(match value {
        Field::Byte(n) => f64::from(*n),
        Field::Short(n) => f64::from(*n),
        Field::Int(n) => f64::from(*n),
        Field::Long(n) => *n as f64,
        Field::UByte(n) => f64::from(*n),
        Field::UShort(n) => f64::from(*n),
        Field::UInt(n) => f64::from(*n),
        Field::ULong(n) => *n as f64,
        Field::Float16(n) => n.to_f64(),
        Field::Float(n) => f64::from(*n),
        Field::Double(n) => *n,
        _ => return None,
    })
}

fn as_id(value: &Field) -> Option<String> {
    Some(match value {
        Field::Byte(n) => n.to_string(),
        Field::Short(n) => n.to_string(),
        Field::Int(n) => n.to_string(),
        Field::Long(n) => n.to_string(),
        Field::UByte(n) => n.to_string(),
        Field::UShort(n) => n.to_string(),
        Field::UInt(n) => n.to_string(),
        Field::ULong(n) => n.to_string(),
        Field::Str(text) if !text.is_empty() && !text.contains(['\n', '\r']) => text.clone(),
        _ => return None,
    })
}
