//! Tables as Parquet, and as GeoParquet 1.1 where a column holds points.

use std::io::{Error, Write};
use std::sync::Arc;

use lrgeo_geo::{BoundingBox, Coord};
use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use serde_json::json;

use crate::map::Map;
use crate::wkb;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Texts.
    Text,
    /// Floating-point numbers.
    Number,
    /// Whole numbers.
    Whole,
    /// Points, as WKB with longitude before latitude. The first such column makes the file GeoParquet.
    Point,
}

/// The values of a column, for some rows.
#[derive(Clone, Debug)]
pub enum Values<'v> {
    /// Texts.
    Text(Vec<&'v str>),
    /// Floating-point numbers.
    Number(Vec<f64>),
    /// Whole numbers.
    Whole(Vec<i64>),
    /// Points.
    Point(Vec<Coord>),
}

/// A Parquet file being written, some rows at a time.
pub struct Table<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    columns: Vec<(String, Kind)>,
    bounds: Option<BoundingBox>,
}

impl<W: Write + Send> Table<W> {
    /// A table with these columns.
    pub fn new(out: W, columns: &[(&str, Kind)]) -> std::io::Result<Self> {
        let column = |(name, kind): &(&str, Kind)| match kind {
            Kind::Text => format!("REQUIRED BYTE_ARRAY {name} (STRING);"),
            Kind::Number => format!("REQUIRED DOUBLE {name};"),
            Kind::Whole => format!("REQUIRED INT64 {name};"),
            Kind::Point => format!("REQUIRED BYTE_ARRAY {name};"),
        };
        let fields: String = columns.iter().map(column).collect();
        let schema = parse_message_type(&format!("message schema {{ {fields} }}"));
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let schema = Arc::new(schema.map_err(Error::other)?);
        let writer = SerializedFileWriter::new(out, schema, Arc::new(properties));
        let columns = columns.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).collect();
        Ok(Self { writer: writer.map_err(Error::other)?, columns, bounds: None })
    }

    /// Adds rows: the values of every column, in order, all of one length.
    pub fn write(&mut self, values: &[Values<'_>]) -> std::io::Result<()> {
        let mut group = self.writer.next_row_group().map_err(Error::other)?;
        for values in values {
            let Some(mut column) = group.next_column().map_err(Error::other)? else {
                return Err(Error::other("more values than columns"));
            };
            let written = match values {
                Values::Text(texts) => {
                    let bytes: Vec<ByteArray> = texts.iter().map(|&text| text.into()).collect();
                    column.typed::<ByteArrayType>().write_batch(&bytes, None, None)
                }
                Values::Number(numbers) => {
                    column.typed::<DoubleType>().write_batch(numbers, None, None)
                }
                Values::Whole(numbers) => {
                    column.typed::<Int64Type>().write_batch(numbers, None, None)
                }
                Values::Point(points) => {
                    let corners = self.bounds.map(|b| [b.south_west, b.north_east]);
                    let all = corners.into_iter().flatten().chain(points.iter().copied());
                    self.bounds = BoundingBox::around(all);
                    let bytes: Vec<ByteArray> =
                        points.iter().map(|&at| wkb::point(at).into()).collect();
                    column.typed::<ByteArrayType>().write_batch(&bytes, None, None)
                }
            };
            written.map_err(Error::other)?;
            column.close().map_err(Error::other)?;
        }
        group.close().map_err(Error::other)?;
        Ok(())
    }

    /// Completes the file.
    pub fn finish(mut self) -> std::io::Result<()> {
        let points = self.columns.iter().find(|(_, kind)| *kind == Kind::Point);
        if let Some((name, _)) = points {
            // Without `crs` it is OGC:CRS84: longitude, latitude in degrees of WGS84.
            let mut column = json!({ "encoding": "WKB", "geometry_types": ["Point"] });
            if let Some(bounds) = self.bounds {
                let [south, west, north, east] = bounds.to_array();
                column["bbox"] = json!([west, south, east, north]);
            }
            let geo =
                json!({ "version": "1.1.0", "primary_column": name, "columns": { name: column } });
            self.writer.append_key_value_metadata(KeyValue::new("geo".into(), geo.to_string()));
        }
        self.writer.close().map_err(Error::other)?;
        Ok(())
    }
}

/// The places of a map: `id`, `lat`, `lon`, `prior`, `access_m`, `geometry`.
pub fn places(map: &Map, out: &mut (dyn Write + Send)) -> std::io::Result<()> {
    let columns = [
        ("id", Kind::Text),
        ("lat", Kind::Number),
        ("lon", Kind::Number),
        ("prior", Kind::Number),
        ("access_m", Kind::Number),
        ("geometry", Kind::Point),
    ];
    let mut table = Table::new(out, &columns)?;
    let places = &map.places;
    table.write(&[
        Values::Text(places.iter().map(|p| p.id.as_str()).collect()),
        Values::Number(places.iter().map(|p| p.coord.lat()).collect()),
        Values::Number(places.iter().map(|p| p.coord.lon()).collect()),
        Values::Number(places.iter().map(|p| p.prior).collect()),
        Values::Number(places.iter().map(|p| f64::from(p.leg) / 1000.0).collect()),
        Values::Point(map.coords()),
    ])?;
    table.finish()
}

/// Rows of a group of a long table: a few megabytes at a time.
const ROWS_AT_ONCE: usize = 1 << 20;

/// A matrix as a long table being written: `place`, `report`, and the number of the two under a name of its own.
pub struct LongTable<'t, W: Write + Send> {
    table: Table<W>,
    places: Vec<&'t str>,
    reports: Vec<&'t str>,
    numbers: Vec<f64>,
}

impl<'t, W: Write + Send> LongTable<'t, W> {
    /// An empty one; `number` is what its third column is called.
    pub fn new(out: W, number: &str) -> std::io::Result<Self> {
        let columns = [("place", Kind::Text), ("report", Kind::Text), (number, Kind::Number)];
        let table = Table::new(out, &columns)?;
        Ok(Self { table, places: Vec::new(), reports: Vec::new(), numbers: Vec::new() })
    }

    /// Adds an entry.
    pub fn entry(&mut self, place: &'t str, report: &'t str, number: f64) -> std::io::Result<()> {
        self.places.push(place);
        self.reports.push(report);
        self.numbers.push(number);
        if self.numbers.len() < ROWS_AT_ONCE { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        if self.numbers.is_empty() {
            return Ok(());
        }
        self.table.write(&[
            Values::Text(std::mem::take(&mut self.places)),
            Values::Text(std::mem::take(&mut self.reports)),
            Values::Number(std::mem::take(&mut self.numbers)),
        ])
    }

    /// Completes the file.
    pub fn finish(mut self) -> std::io::Result<()> {
        self.flush()?;
        self.table.finish()
    }
}
