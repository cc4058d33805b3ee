//! GeoParquet: what is written is read back, by us and as the specification wants it; what is wrong is refused.
//!
//! The feature comes with the command line; `cargo test -p lrgeo-map --features geoparquet` for this crate alone.
#![cfg(feature = "geoparquet")]

mod common;

use std::sync::Arc;

use common::{Scratch, random_map};
use lrgeo_map::MapError;
use lrgeo_map::build::Weights;
use lrgeo_map::export::parquet::{Kind, LongTable, Table, Values, places};
use lrgeo_map::import::{read_points, read_sites, read_weights};
use lrgeo_map::write_stream;
use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

#[test]
fn places_come_back_with_ids_priors_and_coordinates() {
    let scratch = Scratch::new("parquet-places");
    let map = random_map(3, 40, 30, 4);
    let path = scratch.path("places.parquet");
    write_stream(&path, |out| places(&map, out)).unwrap();
    let sites = read_sites(&path).unwrap();
    assert!(sites.len() == map.places.len());
    assert!(sites.iter().zip(&map.places).all(|(s, p)| s.id == p.id && s.coord == p.coord));
    let Weights::At(prior) = read_weights(&path, Some("prior")).unwrap() else {
        panic!("no points")
    };
    assert!(prior.iter().zip(&map.places).all(|(w, p)| *w == (p.coord, p.prior)));
    assert_eq!(read_points(&path).unwrap()[2].0.as_deref(), Some("p2"));

    let file = SerializedFileReader::new(std::fs::File::open(&path).unwrap()).unwrap();
    let about = file.metadata().file_metadata();
    let geo = about.key_value_metadata().unwrap().iter().find(|entry| entry.key == "geo").unwrap();
    let geo: serde_json::Value = serde_json::from_str(geo.value.as_deref().unwrap()).unwrap();
    assert_eq!((&geo["version"], &geo["primary_column"]), (&"1.1.0".into(), &"geometry".into()));
    let column = &geo["columns"]["geometry"];
    assert_eq!((&column["encoding"], column.get("crs")), (&"WKB".into(), None));
    assert_eq!(column["geometry_types"], serde_json::json!(["Point"]));
    let [south, west, north, east] = map.bounds().unwrap().to_array();
    assert_eq!(column["bbox"], serde_json::json!([west, south, east, north]));
}

#[test]
fn a_matrix_is_a_long_table_that_joins_by_id() {
    let scratch = Scratch::new("parquet-long");
    let path = scratch.path("z.parquet");
    write_stream(&path, |out| {
        let mut table = LongTable::new(out, "probability")?;
        for (place, report, z) in [("a", "a", 0.75), ("a", "b", 0.25), ("b", "b", 1.0)] {
            table.entry(place, report, z)?;
        }
        table.finish()
    })
    .unwrap();
    let file = SerializedFileReader::new(std::fs::File::open(&path).unwrap()).unwrap();
    let rows: Vec<String> =
        file.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect();
    assert_eq!(rows[1], r#"{place: "a", report: "b", probability: 0.25}"#);
    assert_eq!(rows.len(), 3);
    // No coordinates: weights by id need a column of that name.
    let error = read_weights(&path, Some("probability")).unwrap_err().to_string();
    assert!(error.contains("or a column id"), "{error}");
}

/// A file with a geometry, an id and a weight each row, and metadata `geo` as given.
fn file(scratch: &Scratch, geo: Option<&str>, rows: &[(Vec<u8>, &str, f64)]) -> std::path::PathBuf {
    let schema = "message schema { OPTIONAL BYTE_ARRAY geom; REQUIRED BYTE_ARRAY id (STRING); REQUIRED DOUBLE n; }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let path = scratch.path("in.parquet");
    let out = std::fs::File::create(&path).unwrap();
    let mut writer = SerializedFileWriter::new(out, schema, Arc::new(properties)).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let ids: Vec<ByteArray> = rows.iter().map(|row| row.1.as_bytes().to_vec().into()).collect();
    let there: Vec<i16> = rows.iter().map(|row| i16::from(!row.0.is_empty())).collect();
    let shapes: Vec<ByteArray> =
        rows.iter().filter(|row| !row.0.is_empty()).map(|row| row.0.clone().into()).collect();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<ByteArrayType>().write_batch(&shapes, Some(&there), None).unwrap();
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<ByteArrayType>().write_batch(&ids, None, None).unwrap();
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let numbers: Vec<f64> = rows.iter().map(|row| row.2).collect();
    column.typed::<DoubleType>().write_batch(&numbers, None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    if let Some(geo) = geo {
        writer.append_key_value_metadata(KeyValue::new("geo".into(), geo.to_owned()));
    }
    writer.close().unwrap();
    path
}

fn wkb_point(lon: f64, lat: f64) -> Vec<u8> {
    [&[1u8, 1, 0, 0, 0][..], &lon.to_le_bytes(), &lat.to_le_bytes()].concat()
}

fn wkb_square(lon: f64, lat: f64, side: f64) -> Vec<u8> {
    let mut out = vec![1u8, 3, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0];
    for (x, y) in [(0.0, 0.0), (side, 0.0), (side, side), (0.0, side), (0.0, 0.0)] {
        out.extend_from_slice(&f64::to_le_bytes(lon + x));
        out.extend_from_slice(&f64::to_le_bytes(lat + y));
    }
    out
}

const GEO: &str = r#"{"version":"1.1.0","primary_column":"geom","columns":{"geom":{"encoding":"WKB","geometry_types":[],
    "crs":{"name":"WGS 84","id":{"authority":"EPSG","code":4326}}}}}"#;

#[test]
fn counts_of_areas_and_of_ids_are_read() {
    let scratch = Scratch::new("parquet-in");
    let rows =
        [(wkb_square(12.5, 41.9, 0.01), "x", 3.0), (wkb_square(12.51, 41.9, 0.01), "y", 1.0)];
    let path = file(&scratch, Some(GEO), &rows);
    assert!(
        matches!(read_weights(&path, Some("n")).unwrap(), Weights::Over(areas) if areas.len() == 2)
    );
    let sites = read_sites(&path).unwrap();
    assert!((sites[1].coord.lon() - 12.515).abs() < 1e-9 && sites[1].id == "y");
    // Without geometries rows are joined by id.
    let path = file(&scratch, None, &[(Vec::new(), "x", 3.0), (Vec::new(), "y", 1.0)]);
    let Weights::ById(by_id) = read_weights(&path, Some("n")).unwrap() else { panic!("no ids") };
    assert_eq!(by_id["x"], 3.0);
    // Plain columns lat and lon will do, whole numbers included.
    let path = scratch.path("plain.parquet");
    write_stream(&path, |out| {
        let kinds = [("Latitude", Kind::Number), ("lng", Kind::Number), ("count", Kind::Whole)];
        let mut table = Table::new(out, &kinds)?;
        let columns =
            [Values::Number(vec![41.9]), Values::Number(vec![12.5]), Values::Whole(vec![7])];
        table.write(&columns)?;
        table.finish()
    })
    .unwrap();
    assert!(
        matches!(read_weights(&path, None).unwrap(), Weights::At(points) if points[0].1 == 7.0)
    );
}

#[test]
fn hostile_parquet_is_refused_by_field() {
    let scratch = Scratch::new("parquet-bad");
    let good = |id| (wkb_point(12.5, 41.9), id, 1.0);
    let geo = |from: &str, to: &str| {
        assert!(GEO.contains(from));
        Some(GEO.replace(from, to))
    };
    let cases = [
        (Some("no json".to_owned()), vec![good("a")], "geo: is not JSON"),
        (geo("primary_column", "other"), vec![good("a")], "geo.primary_column: missing"),
        (
            geo("\"geom\"", "\"shape\""),
            vec![good("a")],
            "shape: no such column; the file has: geom, id, n",
        ),
        (
            geo("\"WKB\"", "\"point\""),
            vec![good("a")],
            "geo.columns.geom.encoding: must be WKB, is point",
        ),
        (geo("4326", "3857"), vec![good("a")], "geo.columns.geom.crs: is WGS 84; degrees"),
        (
            geo(r#"{"name":"WGS 84","id":{"authority":"EPSG","code":4326}}"#, "null"),
            vec![good("a")],
            "crs: is unknown (null)",
        ),
        (Some(GEO.into()), vec![good("a"), good("a")], "row 2.id: `a` stands twice"),
        (Some(GEO.into()), vec![good("a"), (Vec::new(), "b", 1.0)], "row 2, geometry: is empty"),
        (
            Some(GEO.into()),
            vec![(wkb_point(41.9, 139.7), "a", 1.0)],
            "row 1, geom: lat: must be between -90 and 90 degrees; longitude comes first, are the two swapped?",
        ),
        (Some(GEO.into()), vec![(wkb_point(f64::NAN, 41.9), "a", 1.0)], "row 1, geom"),
        (
            Some(GEO.into()),
            vec![(wkb_point(12.5, 41.9)[..9].to_vec(), "a", 1.0)],
            "row 1, geom: WKB is cut off",
        ),
        (
            Some(GEO.into()),
            vec![(b"LINESTRING".to_vec(), "a", 1.0)],
            "row 1, geom: WKB starts with 0 or 1",
        ),
        (
            Some(GEO.into()),
            vec![(wkb_point(12.5, 41.9), "a", f64::NAN)],
            "row 1, n: NaN is not finite",
        ),
        (
            Some(GEO.into()),
            vec![(wkb_point(12.5, 41.9), "a", -2.0)],
            "row 1, n: -2 is not finite, or negative",
        ),
        (Some(GEO.into()), vec![], "has no features or rows"),
    ];
    for (geo, rows, expected) in cases {
        let path = file(&scratch, geo.as_deref(), &rows);
        let error = match read_sites(&path) {
            Err(error) => error,
            Ok(_) => read_weights(&path, Some("n"))
                .err()
                .unwrap_or_else(|| panic!("accepted: {expected}")),
        };
        let typed = matches!(error, MapError::Field { .. } | MapError::File { .. });
        assert!(typed && error.to_string().contains(expected), "`{expected}`: {error}");
    }
    let path = file(&scratch, Some(GEO), &[good("a")]);
    let error = read_weights(&path, Some("people")).unwrap_err().to_string();
    assert!(error.contains("people: no such column; the file has: geom, id, n"), "{error}");

    // Cut off anywhere, or with any byte changed: an answer or an error, never a panic.
    let bytes = std::fs::read(file(&scratch, Some(GEO), &[good("a"), good("b")])).unwrap();
    for cut in 0..bytes.len() {
        assert!(read_sites(&scratch.file("cut.parquet", &bytes[..cut])).is_err(), "cut at {cut}");
    }
    for at in 0..bytes.len() {
        for flip in [0x01, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[at] ^= flip;
            let path = scratch.file("changed.parquet", changed);
            let _ = (read_sites(&path), read_weights(&path, Some("n")));
        }
    }
    let text = scratch.file("text.parquet", "id,lat,lon\na,1,2\n");
    assert!(read_sites(&text).unwrap_err().to_string().contains("not Parquet"));
}
