//! Streets, places, priors and targets from CSV files with a header line.
//!
//! Columns are found by name, in any order; others are ignored. The accepted names are those of
//! this project and of the common exports (osmnx): see `docs/map-files.md`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use csv::StringRecord;
use lrgeo_geo::Coord;
use lrgeo_geo::twins::{Twin, twins};

use super::names::{DEFAULT_SPEED_KMH, FROM, ID, LAT, LENGTH_KM, LENGTH_M, LON, SPEED, TO, WEIGHT};
use crate::MapError;
use crate::build::Weights;
use crate::places::Site;
use crate::streets::Streets;

/// What the tables of streets held that may be wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CsvReport {
    /// Rows of the nodes file.
    pub nodes: u64,
    /// Rows of the edges file.
    pub edges: u64,
    /// Edges that are shorter than the straight line between their ends.
    pub too_short: u64,
    /// The worst of them.
    pub shortest: Option<TooShort>,
}

/// An edge that is shorter than the straight line between its ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TooShort {
    /// Its line in the file.
    pub line: u64,
    /// What the file says, in kilometres.
    pub length_km: f64,
    /// From end to end, in kilometres.
    pub straight_km: f64,
}

/// Coordinates and lengths are rounded: this much shorter than the straight line is not wrong.
const ROUNDING_KM: f64 = 0.002;
const ROUNDING: f64 = 0.98;
/// Edges whose ends are nearer than this say little about the unit of their lengths.
const TELLING_KM: f64 = 0.01;
/// A median of lengths over straight lines below the one or above the other is no street network but another unit.
const OTHER_UNIT: [f64; 2] = [0.01, 100.0];

/// Holds the lengths of edges against the straight lines between their ends.
#[derive(Default)]
struct Lengths {
    ratios: Vec<f64>,
    report: CsvReport,
}

impl Lengths {
    fn add(&mut self, line: u64, length_km: f64, straight_km: f64) {
        self.report.edges += 1;
        if straight_km > TELLING_KM {
            self.ratios.push(length_km / straight_km);
        }
        if length_km + ROUNDING_KM < ROUNDING * straight_km {
            self.report.too_short += 1;
            let missing = |edge: &TooShort| edge.straight_km - edge.length_km;
            let edge = TooShort { line, length_km, straight_km };
            if self.report.shortest.is_none_or(|worst| missing(&edge) > missing(&worst)) {
                self.report.shortest = Some(edge);
            }
        }
    }

    /// What is wrong with the unit, where most edges say so.
    fn other_unit(&mut self) -> Option<String> {
        self.ratios.sort_by(f64::total_cmp);
        let median = *self.ratios.get(self.ratios.len() / 2)?;
        let [low, high] = OTHER_UNIT;
        let advice = match median {
            m if m < low => "they look like kilometres given as metres: call the column length_km",
            m if m > high => "they look like metres given as kilometres: call the column length_m",
            _ => return None,
        };
        Some(format!(
            "half of the lengths are at most {median:.2e} of the straight line between their ends; {advice}"
        ))
    }
}

/// Reads a street network: nodes `id,lat,lon`, edges `from,to,length_m[,speed_kmh]`.
///
/// Each edge row holds one way, from `from` to `to`; with `undirected` every row holds both ways. Lengths that are in another unit
/// are refused; edges that are shorter than the straight line between their ends are counted.
pub fn read_streets(
    nodes: &Path,
    edges: &Path,
    undirected: bool,
) -> Result<(Streets, CsvReport), MapError> {
    let mut streets = Streets::default();
    let mut index = HashMap::new();
    let mut table = Table::open(nodes)?;
    let (id, lat, lon) = (table.require(ID)?, table.require(LAT)?, table.require(LON)?);
    while let Some(row) = table.next()? {
        let coord = row.coord(lat, lon)?;
        let name = row.text(id)?.to_owned();
        if index.insert(name, streets.nodes.len() as u32).is_some() {
            return Err(row.error(id, "stands twice; ids must be different"));
        }
        streets.nodes.push(coord);
    }

    let mut table = Table::open(edges)?;
    let (from, to) = (table.require(FROM)?, table.require(TO)?);
    let (length, per_km) = match table.find(LENGTH_KM) {
        Some(column) => (column, 1.0),
        None => (table.require(LENGTH_M)?, 1000.0),
    };
    let speed = table.find(SPEED);
    let mut lengths = Lengths::default();
    lengths.report.nodes = streets.nodes.len() as u64;
    while let Some(row) = table.next()? {
        let node = |column: usize| {
            let name = row.text(column)?;
            index.get(name).copied().ok_or_else(|| {
                row.error(column, format!("node `{name}` is not in {}", nodes.display()))
            })
        };
        let (from, to) = (node(from)?, node(to)?);
        let length_km = row.weight(length)? / per_km;
        let speed_kmh = match speed {
            Some(column) if !row.raw(column).is_empty() => {
                let kmh = row.weight(column)?;
                if kmh == 0.0 {
                    return Err(row.error(column, "must be positive"));
                }
                kmh
            }
            _ => DEFAULT_SPEED_KMH,
        };
        let straight_km = streets.nodes[from as usize].distance_km(streets.nodes[to as usize]);
        lengths.add(row.line(), length_km, straight_km);
        streets.add(from, to, length_km, speed_kmh, !undirected);
    }
    if let Some(reason) = lengths.other_unit() {
        return Err(table.header_error(length, reason));
    }
    Ok((streets, lengths.report))
}

/// Reads places: `id,lat,lon`. A place that is listed twice, under whatever ids, is refused: which of
/// the two was meant, and whose weight counts, is for the owner of the file to say.
pub(super) fn read_sites(path: &Path) -> Result<Vec<Site>, MapError> {
    let mut table = Table::open(path)?;
    let (id, lat, lon) = (table.require(ID)?, table.require(LAT)?, table.require(LON)?);
    let (mut sites, mut seen) = (Vec::new(), std::collections::HashSet::new());
    let mut lines = Vec::new();
    while let Some(row) = table.next()? {
        let name = row.text(id)?.to_owned();
        if name.contains(['\n', '\r']) {
            return Err(row.error(id, "must not hold a line end"));
        }
        if !seen.insert(name.clone()) {
            return Err(row.error(id, "stands twice; ids must be different"));
        }
        sites.push(Site { id: name, coord: row.coord(lat, lon)? });
        lines.push(row.line());
    }
    let coords: Vec<Coord> = sites.iter().map(|site| site.coord).collect();
    let twins = twins(&coords);
    if let Some(&Twin { first, second, km }) = twins.first() {
        let lines = [lines[first as usize], lines[second as usize]];
        let (metres, others) = (1000.0 * km, twins.len() - 1);
        return Err(MapError::ListedTwice { path: path.into(), lines, metres, others });
    }
    Ok(sites)
}

/// Reads coordinates: `lat,lon`, and `id` where there is one.
pub(super) fn read_points(path: &Path) -> Result<Vec<(Option<String>, Coord)>, MapError> {
    let mut table = Table::open(path)?;
    let (lat, lon, id) = (table.require(LAT)?, table.require(LON)?, table.find(ID));
    let mut points = Vec::new();
    while let Some(row) = table.next()? {
        let id = id.map(|column| row.text(column).map(str::to_owned)).transpose()?;
        points.push((id, row.coord(lat, lon)?));
    }
    Ok(points)
}

/// Reads weights from the named column (or `weight`, `prior`, `count`): at coordinates where the
/// file has `lat,lon`, by `id` otherwise. Without any weight column every row counts one.
pub(super) fn read_weights(path: &Path, column: Option<&str>) -> Result<Weights, MapError> {
    let mut table = Table::open(path)?;
    let weight = match column {
        Some(name) => Some(table.require(&[name])?),
        None => table.find(WEIGHT),
    };
    let weigh = |row: &Row<'_>| weight.map_or(Ok(1.0), |column| row.weight(column));
    if let (Some(lat), Some(lon)) = (table.find(LAT), table.find(LON)) {
        let mut points = Vec::new();
        while let Some(row) = table.next()? {
            points.push((row.coord(lat, lon)?, weigh(&row)?));
        }
        return Ok(Weights::At(points));
    }
    let id = table.require(ID)?;
    let mut by_id = HashMap::new();
    while let Some(row) = table.next()? {
        if by_id.insert(row.text(id)?.to_owned(), weigh(&row)?).is_some() {
            return Err(row.error(id, "stands twice; ids must be different"));
        }
    }
    Ok(Weights::ById(by_id))
}

/// A CSV file being read, and where in it we are.
struct Table {
    path: PathBuf,
    reader: csv::Reader<std::fs::File>,
    header: StringRecord,
    record: StringRecord,
}

/// One line of a [`Table`].
struct Row<'t> {
    table: &'t Table,
}

impl Table {
    fn open(path: &Path) -> Result<Self, MapError> {
        let file = std::fs::File::open(path).map_err(MapError::io(path))?;
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(file);
        let header = reader.headers().map_err(|e| unreadable(path, &e))?.clone();
        if header.is_empty() {
            return Err(MapError::file(path, "the file is empty; a header line is needed"));
        }
        Ok(Self { path: path.into(), reader, header, record: StringRecord::new() })
    }

    fn find(&self, names: &[&str]) -> Option<usize> {
        names.iter().find_map(|name| {
            self.header
                .iter()
                .position(|h| h.trim_start_matches('\u{feff}').eq_ignore_ascii_case(name))
        })
    }

    fn require(&self, names: &[&str]) -> Result<usize, MapError> {
        self.find(names).ok_or_else(|| MapError::Line {
            path: self.path.clone(),
            line: 1,
            field: names[0].into(),
            reason: format!(
                "no such column (accepted names: {}); the header has: {}",
                names.join(", "),
                self.header.iter().collect::<Vec<_>>().join(", ")
            ),
        })
    }

    /// Something is wrong with a whole column.
    fn header_error(&self, column: usize, reason: String) -> MapError {
        let field = self.header.get(column).unwrap_or_default().to_owned();
        MapError::Line { path: self.path.clone(), line: 1, field, reason }
    }

    fn next(&mut self) -> Result<Option<Row<'_>>, MapError> {
        match self.reader.read_record(&mut self.record) {
            Ok(true) => Ok(Some(Row { table: self })),
            Ok(false) => Ok(None),
            Err(error) => Err(unreadable(&self.path, &error)),
        }
    }
}

fn unreadable(path: &Path, error: &csv::Error) -> MapError {
    match error.position() {
        Some(position) => MapError::Line {
            path: path.into(),
            line: position.line(),
            field: "row".into(),
            reason: match error.kind() {
                csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                    format!("has {len} fields where the header has {expected_len}")
                }
                csv::ErrorKind::Utf8 { .. } => "is not UTF-8".into(),
                _ => error.to_string(),
            },
        },
        None => MapError::file(path, error.to_string()),
    }
}

impl Row<'_> {
    fn raw(&self, column: usize) -> &str {
        self.table.record.get(column).unwrap_or("")
    }

    fn text(&self, column: usize) -> Result<&str, MapError> {
        match self.raw(column) {
            "" => Err(self.error(column, "is empty")),
            text => Ok(text),
        }
    }

    /// A finite number.
    fn number(&self, column: usize) -> Result<f64, MapError> {
        let text = self.text(column)?;
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            _ => Err(self.error(column, format!("`{text}` is not a finite number"))),
        }
    }

    /// A finite number that is not negative: a length, a speed, a weight.
    fn weight(&self, column: usize) -> Result<f64, MapError> {
        let value = self.number(column)?;
        if value < 0.0 {
            return Err(self.error(column, format!("{value} is negative")));
        }
        Ok(value)
    }

    fn coord(&self, lat: usize, lon: usize) -> Result<Coord, MapError> {
        let (north, east) = (self.number(lat)?, self.number(lon)?);
        Coord::new(north, east).map_err(|error| {
            let column = if north.abs() > 90.0 { lat } else { lon };
            self.error(column, error.to_string())
        })
    }

    /// Where it stands in the file, the header being line 1.
    fn line(&self) -> u64 {
        self.table.record.position().map_or(0, csv::Position::line)
    }

    fn error(&self, column: usize, reason: impl Into<String>) -> MapError {
        MapError::Line {
            path: self.table.path.clone(),
            line: self.line(),
            field: self.table.header.get(column).unwrap_or("row").into(),
            reason: reason.into(),
        }
    }
}
