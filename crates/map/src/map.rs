//! A map: streets, places on them, where users are and where they want to go.

use std::path::Path;

use lrgeo_geo::Digest;
use lrgeo_geo::units::Length;
use lrgeo_geo::{BoundingBox, Coord, PlaceId};

use crate::MapError;
use crate::file::{Kind, Reader, Writer};
use crate::graph::{Arc, Metric, StreetGraph};
use crate::places::{Place, ensure_apart};
use crate::routing::{Engine, Measured};

/// How people move; decides which ways may be used, in which direction and how fast.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum TravelMode {
    /// By car: one-way streets hold.
    #[default]
    Drive,
    /// On foot: nearly everything both ways, no motorways.
    Walk,
    /// By bicycle.
    Bike,
}

impl TravelMode {
    /// All of them, with the names used in options and files.
    pub const ALL: [(TravelMode, &'static str); 3] =
        [(TravelMode::Drive, "drive"), (TravelMode::Walk, "walk"), (TravelMode::Bike, "bike")];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// Speed on the straight leg between a place and its street, in km/h: what the slowest
    /// streets of the mode allow.
    pub fn access_speed_kmh(self) -> f64 {
        match self {
            TravelMode::Drive => 20.0,
            TravelMode::Walk => 5.0,
            TravelMode::Bike => 10.0,
        }
    }
}

/// Where the streets of a map come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The generated demo city of this seed.
    Demo(u64),
    /// An OpenStreetMap file.
    OpenStreetMap,
    /// CSV tables.
    Csv,
    /// A GraphML file.
    GraphMl,
    /// No streets of its own: a routing engine's table of travel costs.
    Table {
        /// Whose.
        engine: Engine,
        /// What it holds.
        measured: Measured,
    },
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Source::Demo(seed) => write!(f, "demo city {seed}"),
            Source::OpenStreetMap => f.write_str("OpenStreetMap"),
            Source::Csv => f.write_str("CSV"),
            Source::GraphMl => f.write_str("GraphML"),
            Source::Table { engine, measured } => {
                let names = Measured::ALL.iter().find(|(other, _)| other == measured);
                write!(
                    f,
                    "{} table of {}",
                    engine.name(),
                    names.map_or("nothing", |(_, name)| name)
                )
            }
        }
    }
}

impl Source {
    /// The inverse of its text.
    fn from_text(text: &str) -> Option<Self> {
        match text {
            "OpenStreetMap" => Some(Source::OpenStreetMap),
            "CSV" => Some(Source::Csv),
            "GraphML" => Some(Source::GraphMl),
            _ => match text.split_once(" table of ") {
                Some((by, what)) => {
                    let engine = Engine::ALL.iter().find(|(_, name)| *name == by)?.0;
                    let measured = Measured::ALL.iter().find(|(_, name)| *name == what)?.0;
                    Some(Source::Table { engine, measured })
                }
                None => text.strip_prefix("demo city ")?.parse().ok().map(Source::Demo),
            },
        }
    }
}

/// Where users want to go: a street node and the probability that it is the target (q).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// The street node.
    pub node: u32,
    /// Its probability.
    pub weight: f64,
}

/// Everything the later stages need to know about a city.
#[derive(Clone, Debug, PartialEq)]
pub struct Map {
    /// Where its streets come from.
    pub source: Source,
    /// How people move on it.
    pub travel: TravelMode,
    /// The side of the grid cells, when the places are a grid.
    pub cell: Option<Length>,
    /// The streets: strongly connected. Of a map without streets ([`Source::Table`]), one arc from each source of the table to
    /// each of its destinations: what searches find is then what the table says.
    pub graph: StreetGraph,
    /// The location set V, with prior p.
    pub places: Vec<Place>,
    /// The targets, with distribution q.
    pub targets: Vec<Target>,
}

const KIND: Kind = Kind { tag: *b"map     ", name: "map", version: 1, made_by: "lrgeo map build" };

impl Map {
    /// The coordinates of the places, in order.
    pub fn coords(&self) -> Vec<Coord> {
        self.places.iter().map(|p| p.coord).collect()
    }

    /// The streets, for what walks on them; refused where the map has none.
    pub fn streets(&self) -> Result<&StreetGraph, MapError> {
        match self.source {
            Source::Table { .. } => Err(MapError::invalid(
                "map",
                format!("has no streets ({}); this needs a map made from streets", self.source),
            )),
            _ => Ok(&self.graph),
        }
    }

    /// Refuses a metric that the map cannot measure.
    pub(crate) fn ensure_measured(&self, metric: Metric) -> Result<(), MapError> {
        match self.source {
            Source::Table { measured, .. } if !measured.has(metric) => {
                let other = match metric {
                    Metric::Distance => "travel-time",
                    Metric::Time => "travel-distance",
                };
                let reason = format!(
                    "the map is made from an {}; use {other}, or ask the engine for both",
                    self.source
                );
                Err(MapError::invalid("utility", reason))
            }
            _ => Ok(()),
        }
    }

    /// The same streets and targets with only some of the places, their priors scaled to sum to
    /// one again: how experiments vary K.
    pub fn with_places(&self, keep: &[PlaceId]) -> Self {
        let mut places: Vec<Place> =
            keep.iter().map(|place| self.places[place.index()].clone()).collect();
        let total: f64 = places.iter().map(|p| p.prior).sum();
        if total > 0.0 {
            places.iter_mut().for_each(|p| p.prior /= total);
        }
        Self { places, ..self.clone() }
    }

    /// Every place is as likely a target as any other, and nothing else is one: the paper's uniform targets.
    pub fn aim_at_places(&mut self) {
        let mut nodes: Vec<u32> = self.places.iter().map(|place| place.node).collect();
        nodes.sort_unstable();
        let weight = 1.0 / nodes.len() as f64;
        let alike = nodes.chunk_by(|a, b| a == b);
        self.targets =
            alike.map(|n| Target { node: n[0], weight: n.len() as f64 * weight }).collect();
    }

    /// The `count` places that make the squarest block around the middle of the map: those with
    /// the smallest larger offset, north-south or east-west, from its centre.
    pub fn central_block(&self, count: usize) -> Vec<PlaceId> {
        let Some(bounds) = self.bounds() else { return Vec::new() };
        let centre = bounds.centre();
        let east_scale = centre.lat().to_radians().cos();
        let offset = |c: Coord| {
            let (north, east) = (c.lat() - centre.lat(), (c.lon() - centre.lon()) * east_scale);
            north.abs().max(east.abs())
        };
        let mut order: Vec<PlaceId> = PlaceId::all(self.places.len()).collect();
        let key = |i: &PlaceId| offset(self.places[i.index()].coord);
        order.sort_by(|a, b| key(a).total_cmp(&key(b)).then(a.cmp(b)));
        order.truncate(count);
        order.sort_unstable();
        order
    }

    /// The box around the places.
    pub fn bounds(&self) -> Option<BoundingBox> {
        BoundingBox::around(self.places.iter().map(|p| p.coord))
    }

    /// Which version of the map this is: what [`Map::save`] would give.
    pub fn version(&self) -> Digest {
        self.to_file().fingerprint()
    }

    /// Writes the map; nothing is left under `path` if that fails.
    pub fn save(&self, path: &Path) -> Result<Digest, MapError> {
        self.to_file().save(path)
    }

    fn to_file(&self) -> Writer {
        let mut file = Writer::new(KIND);
        file.texts("about", [self.source.to_string().as_str(), self.travel.name()]);
        file.numbers("cell", [self.cell.map_or(0.0, Length::km)]);
        put_coords(&mut file, "nodes", self.graph.coords().iter().copied());
        file.numbers("arcs", self.graph.arcs().flat_map(|(from, to, mm, ms)| [from, to, mm, ms]));
        put_coords(&mut file, "places", self.places.iter().map(|p| p.coord));
        file.texts("ids", self.places.iter().map(|p| p.id.as_str()));
        file.numbers("access", self.places.iter().flat_map(|p| [p.node, p.leg]));
        file.numbers("prior", self.places.iter().map(|p| p.prior));
        file.numbers("targets", self.targets.iter().map(|t| t.node));
        file.numbers("weights", self.targets.iter().map(|t| t.weight));
        file
    }

    /// Opens a map that [`Map::save`] wrote.
    pub fn open(path: &Path) -> Result<(Self, Digest), MapError> {
        let file = Reader::open(path, KIND)?;
        let about = file.texts("about")?;
        let [source, travel] = about.as_slice() else {
            return Err(file.broken("about", "must have two lines"));
        };
        let source = Source::from_text(source)
            .ok_or_else(|| file.broken("about", "names an unknown source"))?;
        let travel = TravelMode::ALL.iter().find(|(_, name)| name == travel);
        let travel = travel.ok_or_else(|| file.broken("about", "names an unknown travel mode"))?.0;
        let cell = file.numbers::<f64>("cell")?;
        let cell = cell.first().and_then(|&km| Length::from_km(km).ok());

        let coords = get_coords(&file, "nodes")?;
        let node_count = coords.len();
        let check_node = |section: &str, node: u32| {
            let known = (node as usize) < node_count;
            known.then_some(node).ok_or_else(|| file.broken(section, "refers to an unknown node"))
        };
        let arcs = file
            .numbers::<u32>("arcs")?
            .chunks_exact(4)
            .map(|a| {
                let (from, to) = (check_node("arcs", a[0])?, check_node("arcs", a[1])?);
                Ok(Arc { from, to, mm: a[2], ms: a[3] })
            })
            .collect::<Result<Vec<_>, MapError>>()?;

        let place_coords = get_coords(&file, "places")?;
        let (ids, access) = (file.texts("ids")?, file.numbers::<u32>("access")?);
        let prior = get_distribution(&file, "prior")?;
        let count = place_coords.len();
        if ids.len() != count || access.len() != 2 * count || prior.len() != count {
            return Err(file.broken("places", "disagrees with ids, access or prior in length"));
        }
        let places = place_coords
            .into_iter()
            .zip(ids)
            .zip(access.chunks_exact(2).zip(prior))
            .map(|((coord, id), (access, prior))| {
                Ok(Place {
                    id,
                    coord,
                    node: check_node("access", access[0])?,
                    leg: access[1],
                    prior,
                })
            })
            .collect::<Result<Vec<_>, MapError>>()?;

        let advice = "it was made by an older version or another program; make it again with \
                      lrgeo map build from places listed once";
        ensure_apart(&path.display().to_string(), &places, advice)?;

        let (nodes, weights) =
            (file.numbers::<u32>("targets")?, get_distribution(&file, "weights")?);
        if nodes.len() != weights.len() {
            return Err(file.broken("targets", "disagrees with weights in length"));
        }
        let targets = nodes
            .into_iter()
            .zip(weights)
            .map(|(node, weight)| Ok(Target { node: check_node("targets", node)?, weight }))
            .collect::<Result<Vec<_>, MapError>>()?;

        let graph = StreetGraph::from_arcs(coords, arcs);
        let map = Map { source, travel, cell, graph, places, targets };
        Ok((map, file.fingerprint))
    }
}

/// Writes coordinates as a section.
pub fn put_coords(file: &mut Writer, name: &str, coords: impl Iterator<Item = Coord>) {
    file.numbers(name, coords.flat_map(|c| [c.lat(), c.lon()]));
}

/// Reads a section of coordinates.
pub fn get_coords(file: &Reader<'_>, name: &str) -> Result<Vec<Coord>, MapError> {
    let numbers = file.numbers::<f64>(name)?;
    numbers
        .chunks_exact(2)
        .map(|c| Coord::new(c[0], c[1]).map_err(|e| file.broken(name, &e.to_string())))
        .collect()
}

/// Probabilities: each finite and not negative.
pub(crate) fn get_distribution(file: &Reader<'_>, name: &str) -> Result<Vec<f64>, MapError> {
    let values = file.numbers::<f64>(name)?;
    if values.iter().all(|v| v.is_finite() && *v >= 0.0) {
        Ok(values)
    } else {
        Err(file.broken(name, "holds a number that is no probability"))
    }
}
