//! Streets from GraphML as osmnx writes it (`osmnx.save_graphml`): read element by element, never as a whole.

use std::cell::Cell;
use std::collections::HashMap;
use std::io::{BufReader, Read};
use std::path::Path;
use std::rc::Rc;

use lrgeo_geo::Coord;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

use super::names::{DEFAULT_SPEED_KMH, LAT, LON, SPEED};
use crate::MapError;
use crate::geojson::lon_lat;
use crate::progress::Progress;
use crate::streets::Streets;

/// An element or text longer than this is not of a street network.
const MAX_ELEMENT_BYTES: u64 = 16 << 20;

/// What a GraphML file held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GraphmlReport {
    /// Its nodes.
    pub nodes: u64,
    /// Its edges.
    pub edges: u64,
    /// Edges without a length: measured along their geometry, or straight where they have none.
    pub lengths_measured: u64,
    /// Edges without a speed or travel time, taken to be city streets (40 km/h).
    pub speeds_assumed: u64,
}

/// Reads a street network. An edge is one way, from its source to its target, unless the graph is undirected; parallel edges
/// are all kept.
pub fn read_graphml(
    path: &Path,
    progress: &dyn Progress,
) -> Result<(Streets, GraphmlReport), MapError> {
    let file = std::fs::File::open(path).map_err(MapError::io(path))?;
    let size = file.metadata().map_err(MapError::io(path))?.len();
    progress.begin("reading GraphML", size);
    let read = read_elements(path, file, progress);
    progress.end();
    read
}

/// Counts what was read since the last element ended, and stops where that is too much for one.
struct Bounded<'p> {
    file: std::fs::File,
    of_element: Rc<Cell<u64>>,
    progress: &'p dyn Progress,
}

impl Read for Bounded<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.progress.advance(count as u64);
        self.of_element.set(self.of_element.get() + count as u64);
        match self.of_element.get() > MAX_ELEMENT_BYTES {
            true => Err(std::io::Error::other("an element or text of more than 16 MB")),
            false => Ok(count),
        }
    }
}

fn read_elements(
    path: &Path,
    file: std::fs::File,
    progress: &dyn Progress,
) -> Result<(Streets, GraphmlReport), MapError> {
    let of_element = Rc::new(Cell::new(0));
    let bounded = Bounded { file, of_element: Rc::clone(&of_element), progress };
    let mut reader = Reader::from_reader(BufReader::new(bounded));
    let mut network = Network::new(path);
    let mut buffer = Vec::new();
    let mut begun = false;
    loop {
        buffer.clear();
        of_element.set(0);
        let event = reader
            .read_event_into(&mut buffer)
            .map_err(|error| MapError::file(path, format!("not XML, or cut off: {error}")))?;
        match event {
            Event::Start(_) | Event::Empty(_) if !begun => {
                let (Event::Start(element) | Event::Empty(element)) = &event else { continue };
                if element.local_name().as_ref() != "graphml" {
                    let name = element.local_name().as_ref().to_owned();
                    return Err(MapError::field(path, name, "not GraphML; its root is `graphml`"));
                }
                begun = true;
            }
            Event::Start(element) => network.start(&element)?,
            Event::Empty(element) => {
                network.start(&element)?;
                network.end(element.local_name().as_ref())?;
            }
            Event::End(element) => {
                if element.local_name().as_ref() == "graphml" {
                    return network.finish();
                }
                network.end(element.local_name().as_ref())?;
            }
            Event::Text(text) => network.text(&text.xml_content(XmlVersion::Implicit1_0)),
            Event::CData(text) => network.text(&text.xml_content(XmlVersion::Implicit1_0)),
            Event::GeneralRef(reference) => {
                let name = reference.xml_content(XmlVersion::Implicit1_0);
                let letter = match name.as_ref() {
                    "amp" => '&',
                    "lt" => '<',
                    "gt" => '>',
                    "quot" => '"',
                    "apos" => '\'',
                    _ => match reference.resolve_char_ref() {
                        Ok(Some(letter)) => letter,
                        _ => {
                            let field = format!("&{name};");
                            return Err(MapError::field(path, field, "entities are not accepted"));
                        }
                    },
                };
                network.text(letter.encode_utf8(&mut [0; 4]));
            }
            Event::DocType(_) => {
                return Err(MapError::field(path, "DOCTYPE", "not accepted; GraphML needs none"));
            }
            Event::Eof => return Err(MapError::file(path, "cut off: `graphml` does not end")),
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
        }
    }
}

/// What `key` elements call things, as far as they matter here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Lat,
    Lon,
    Length,
    Speed,
    TravelTime,
    Oneway,
    Geometry,
    Crs,
}

impl Key {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            name if LAT.contains(&name) => Key::Lat,
            name if LON.contains(&name) => Key::Lon,
            name if SPEED.contains(&name) => Key::Speed,
            "length" => Key::Length,
            "travel_time" => Key::TravelTime,
            "oneway" => Key::Oneway,
            "geometry" => Key::Geometry,
            "crs" => Key::Crs,
            _ => return None,
        })
    }
}

/// The node or edge that is being read: its name for errors, and the data that matter.
#[derive(Default)]
struct Element {
    name: String,
    ends: [u32; 2],
    data: Vec<(Key, String)>,
}

impl Element {
    fn text(&self, key: Key) -> Option<&str> {
        let found = self.data.iter().find(|(of, text)| *of == key && !text.trim().is_empty());
        found.map(|(_, text)| text.trim())
    }
}

/// The network as it grows. Nodes get their numbers where they are first named, so edges may come before them.
struct Network<'p> {
    path: &'p Path,
    keys: HashMap<String, Key>,
    index: HashMap<String, u32>,
    names: Vec<String>,
    coords: Vec<Option<Coord>>,
    streets: Streets,
    /// The edge of an arc whose length is to be measured between its nodes: they may come later.
    unmeasured: Vec<usize>,
    undirected: bool,
    element: Option<Element>,
    /// The key of the `data` element that is open.
    open: Option<Key>,
    text: String,
    report: GraphmlReport,
}

impl<'p> Network<'p> {
    fn new(path: &'p Path) -> Self {
        Self {
            path,
            keys: HashMap::new(),
            index: HashMap::new(),
            names: Vec::new(),
            coords: Vec::new(),
            streets: Streets::default(),
            unmeasured: Vec::new(),
            undirected: false,
            element: None,
            open: None,
            text: String::new(),
            report: GraphmlReport::default(),
        }
    }

    fn refuse<T>(
        &self,
        field: impl Into<String>,
        reason: impl Into<String>,
    ) -> Result<T, MapError> {
        Err(MapError::field(self.path, field, reason))
    }

    fn attribute(&self, element: &BytesStart<'_>, name: &str) -> Result<Option<String>, MapError> {
        let field = || format!("{}, {name}", element.local_name().as_ref());
        let found = element.try_get_attribute(name);
        let found = found.map_err(|e| MapError::field(self.path, field(), e.to_string()))?;
        let Some(found) = found else { return Ok(None) };
        let value = found.normalized_value(XmlVersion::Implicit1_0);
        let value = value.map_err(|e| MapError::field(self.path, field(), e.to_string()))?;
        Ok(Some(value.into_owned()))
    }

    fn require(&self, element: &BytesStart<'_>, name: &str) -> Result<String, MapError> {
        match self.attribute(element, name)? {
            Some(value) if !value.is_empty() => Ok(value),
            _ => self.refuse(format!("{}, {name}", element.local_name().as_ref()), "missing"),
        }
    }

    fn number_of(&mut self, name: String) -> u32 {
        let next = self.coords.len() as u32;
        let number = *self.index.entry(name.clone()).or_insert(next);
        if number == next {
            self.names.push(name);
            self.coords.push(None);
        }
        number
    }

    fn start(&mut self, element: &BytesStart<'_>) -> Result<(), MapError> {
        match element.local_name().as_ref() {
            "key" => {
                let name = self.attribute(element, "attr.name")?;
                if let Some(key) = name.as_deref().and_then(Key::of) {
                    let id = self.require(element, "id")?;
                    self.keys.insert(id, key);
                }
            }
            "graph" => {
                let default = self.attribute(element, "edgedefault")?;
                self.undirected = default.as_deref() == Some("undirected");
            }
            "node" => {
                let name = self.require(element, "id")?;
                let number = self.number_of(name.clone());
                let name = format!("node `{name}`");
                self.element = Some(Element { name, ends: [number; 2], data: Vec::new() });
            }
            "edge" => {
                let (from, to) =
                    (self.require(element, "source")?, self.require(element, "target")?);
                let name = format!("edge `{from}` - `{to}`");
                let ends = [self.number_of(from), self.number_of(to)];
                self.element = Some(Element { name, ends, data: Vec::new() });
            }
            "data" => {
                let id = self.require(element, "key")?;
                self.open = self.keys.get(&id).copied();
                self.text.clear();
            }
            "hyperedge" => return self.refuse("hyperedge", "a street has two ends"),
            _ => {}
        }
        Ok(())
    }

    fn text(&mut self, text: &str) {
        if self.open.is_some() {
            self.text.push_str(text);
        }
    }

    fn end(&mut self, name: &str) -> Result<(), MapError> {
        match name {
            "data" => {
                let Some(key) = self.open.take() else { return Ok(()) };
                let text = std::mem::take(&mut self.text);
                match &mut self.element {
                    Some(element) => element.data.push((key, text)),
                    None if key == Key::Crs => self.check_crs(&text)?,
                    None => {}
                }
            }
            "node" => self.add_node()?,
            "edge" => self.add_edge()?,
            _ => {}
        }
        Ok(())
    }

    /// Only degrees of WGS84: what osmnx has unless the graph was projected.
    fn check_crs(&self, text: &str) -> Result<(), MapError> {
        let name = text.trim().to_ascii_lowercase();
        let known = name.ends_with("epsg:4326")
            || name.contains("crs84")
            || name.starts_with("geogcrs[\"wgs 84\"");
        match known {
            true => Ok(()),
            false => self.refuse(
                "crs",
                format!("`{}` is not WGS84; save the graph before it is projected", text.trim()),
            ),
        }
    }

    /// A finite number of an element.
    fn number(&self, element: &Element, key: Key, name: &str) -> Result<Option<f64>, MapError> {
        let Some(text) = element.text(key) else { return Ok(None) };
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Some(number)),
            _ => self.refuse(
                format!("{}, {name}", element.name),
                format!("`{text}` is not a finite number"),
            ),
        }
    }

    fn add_node(&mut self) -> Result<(), MapError> {
        let Some(element) = self.element.take() else { return Ok(()) };
        let (lon, lat) =
            (self.number(&element, Key::Lon, "x")?, self.number(&element, Key::Lat, "y")?);
        let (Some(lon), Some(lat)) = (lon, lat) else {
            let missing = if lon.is_none() { "x" } else { "y" };
            return self.refuse(format!("{}, {missing}", element.name), "missing");
        };
        let coord = match lon_lat(lon, lat) {
            Ok(coord) => coord,
            Err(reason) => return self.refuse(format!("{}, x, y", element.name), reason),
        };
        if self.coords[element.ends[0] as usize].replace(coord).is_some() {
            return self.refuse(format!("{}, id", element.name), "stands twice");
        }
        self.report.nodes += 1;
        Ok(())
    }

    fn add_edge(&mut self) -> Result<(), MapError> {
        let Some(element) = self.element.take() else { return Ok(()) };
        self.report.edges += 1;
        let not_negative = |name: &str, number: Option<f64>| match number {
            Some(number) if number < 0.0 => {
                self.refuse(format!("{}, {name}", element.name), format!("{number} is negative"))
            }
            number => Ok(number),
        };
        let length_m = not_negative("length", self.number(&element, Key::Length, "length")?)?;
        let speed = not_negative("speed_kph", self.number(&element, Key::Speed, "speed_kph")?)?;
        let seconds =
            not_negative("travel_time", self.number(&element, Key::TravelTime, "travel_time")?)?;
        let length_km = match (length_m, element.text(Key::Geometry)) {
            (Some(metres), _) => Some(metres / 1000.0),
            (None, Some(text)) => match along(text) {
                Ok(km) => Some(km),
                Err(reason) => return self.refuse(format!("{}, geometry", element.name), reason),
            },
            (None, None) => None,
        };
        let from_time = match (length_km, seconds) {
            (Some(km), Some(seconds)) if km > 0.0 && seconds > 0.0 => Some(3600.0 * km / seconds),
            _ => None,
        };
        let speed = speed.filter(|kmh| *kmh > 0.0).or(from_time);
        let oneway = element.text(Key::Oneway).is_some_and(|text| {
            text.eq_ignore_ascii_case("true") || text == "1" || text.eq_ignore_ascii_case("yes")
        });
        let one_way = !self.undirected || oneway;
        self.report.lengths_measured += u64::from(length_m.is_none());
        self.report.speeds_assumed += u64::from(speed.is_none());
        if length_km.is_none() {
            let arcs = self.streets.arcs.len();
            self.unmeasured.extend(if one_way { arcs..arcs + 1 } else { arcs..arcs + 2 });
        }
        let [from, to] = element.ends;
        let kmh = speed.unwrap_or(DEFAULT_SPEED_KMH);
        self.streets.add(from, to, length_km.unwrap_or(0.0), kmh, one_way);
        Ok(())
    }

    fn finish(mut self) -> Result<(Streets, GraphmlReport), MapError> {
        if let Some(unknown) = self.coords.iter().position(Option::is_none) {
            let reason = format!("no node `{}` in the file", self.names[unknown]);
            return self.refuse("edge, source or target", reason);
        }
        self.streets.nodes = self.coords.iter().flatten().copied().collect();
        for &arc in &self.unmeasured {
            let arc = &mut self.streets.arcs[arc];
            let at = |node: u32| self.streets.nodes[node as usize];
            arc.length_km = at(arc.from).distance_km(at(arc.to));
        }
        Ok((self.streets, self.report))
    }
}

/// The length of `LINESTRING (lon lat, ..)` in kilometres.
fn along(text: &str) -> Result<f64, String> {
    let wrong = || "must be LINESTRING (lon lat, lon lat, ..)".to_owned();
    let body =
        text.strip_prefix("LINESTRING").map(str::trim_start).and_then(|t| t.strip_prefix('('));
    let body = body.and_then(|t| t.strip_suffix(')')).ok_or_else(wrong)?;
    let point = |text: &str| {
        let mut numbers = text.split_whitespace().map(str::parse::<f64>);
        match (numbers.next(), numbers.next()) {
            (Some(Ok(lon)), Some(Ok(lat))) => lon_lat(lon, lat),
            _ => Err(wrong()),
        }
    };
    let points = body.split(',').map(point).collect::<Result<Vec<Coord>, String>>()?;
    if points.len() < 2 {
        return Err(wrong());
    }
    Ok(points.windows(2).map(|pair| pair[0].distance_km(pair[1])).sum())
}
