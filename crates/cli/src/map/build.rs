//! `lrgeo map build`.

use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};
use lrgeo_geo::units::Length;
use lrgeo_geo::{BoundingBox, Coord};
use lrgeo_map::MapError;
use lrgeo_map::build::{
    BuildReport, MapPlan, PlacePlan, PriorPlan, TablePlan, TargetPlan, Weights, build,
    build_on_table, same_places, same_places_on_table,
};
use lrgeo_map::h3::H3Resolution;
use lrgeo_map::import::{
    read_graphml, read_osm, read_routing_table, read_sites, read_streets, read_weights,
};
use lrgeo_map::map::{Map, Source};
use lrgeo_map::region::{Polygon, Region};
use lrgeo_map::streets::Streets;
use lrgeo_mechanism::meaning::SCALED_SPACING;
use lrgeo_show::demo::demo_city;
use lrgeo_tiles::Privacy;

use super::account::{self, Read};
use crate::failure::Failure;
use crate::options::{Column, Travel, bbox};
use crate::ui::Ui;

const EXAMPLES: &str = "\
Examples:
  lrgeo map build --osm reykjavik.osm.pbf --privacy \"factor 2 within 300 m\" -o city.lrmap
  lrgeo map build --nodes nodes.csv --edges edges.csv --undirected --targets random:20 -o rome.lrmap
  lrgeo map build --nodes sf_nodes.csv --edges sf_edges.csv \\
      --prior counts.csv:pickups --targets counts.csv:dropoffs -o sf.lrmap
  lrgeo map build --graphml osmnx.graphml --places h3:9 --prior census.geojson:population -o city.lrmap
  lrgeo map build --table osrm.json --places shops.geojson --prior visits.parquet:n -o shops.lrmap
  lrgeo map build --table valhalla.json --same-places city.lrmap -o city-by-valhalla.lrmap
  lrgeo map build --demo -o demo.lrmap

What files may look like is described in docs/map-files.md.";

/// Make a map.
#[derive(Args)]
#[command(after_help = EXAMPLES, group = ArgGroup::new("source").required(true).args(["osm", "graphml", "nodes", "table", "demo"]))]
pub struct Build {
    /// OpenStreetMap file (.osm.pbf).
    #[arg(long, value_name = "FILE.osm.pbf")]
    osm: Option<PathBuf>,
    /// Street network as osmnx saves it (GraphML).
    #[arg(long, value_name = "FILE.graphml")]
    graphml: Option<PathBuf>,
    /// Travel costs instead of streets: the answer of OSRM's /table or of Valhalla's sources_to_targets. Rows are the places, in
    /// their order; targets go to the nearest column.
    #[arg(long, value_name = "FILE.json", conflicts_with_all = ["cell", "bbox", "polygon"])]
    table: Option<PathBuf>,
    /// Street nodes: columns id, lat, lon.
    #[arg(long, value_name = "N.csv", requires = "edges")]
    nodes: Option<PathBuf>,
    /// Streets: columns from, to, length_m and optionally speed_kmh; one way each.
    #[arg(long, value_name = "E.csv", requires = "nodes")]
    edges: Option<PathBuf>,
    /// Every row of the edges file holds both ways.
    #[arg(long, requires = "edges")]
    undirected: bool,
    /// The generated demo city, with its own prior and targets.
    #[arg(long)]
    demo: bool,
    /// Where to write the map.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Side of the square cells whose centres are the places [default: half of 1/epsilon for the privacy that is wanted, or as
    /// fine as 10,000 places allow].
    #[arg(long, allow_hyphen_values = true)]
    cell: Option<Length>,
    /// The privacy that the map is for, which decides how fine it is: "factor 2 within 300 m", or an epsilon like 2/km.
    #[arg(long, default_value = "factor 2 within 300 m", conflicts_with = "cell")]
    privacy: Privacy,
    /// Only what lies in this box: south, west, north, east in degrees.
    #[arg(long, value_name = "S,W,N,E", value_parser = bbox, allow_hyphen_values = true, conflicts_with = "polygon")]
    bbox: Option<BoundingBox>,
    /// Only what lies in the areas of this file.
    #[arg(long, value_name = "FILE.geojson")]
    polygon: Option<PathBuf>,
    /// What the places are: grid (cell centres), nodes (street nodes), h3:N (H3 cells of resolution N), or a file of points or
    /// areas with ids (.csv, .geojson, .parquet) [default: grid; with --table its rows].
    #[arg(long, value_name = "grid|nodes|h3:N|FILE")]
    places: Option<String>,
    /// How far a place may be from a street [default: from a cell's centre to its corners; 500m for files].
    #[arg(long, allow_hyphen_values = true)]
    snap: Option<Length>,
    /// Where users are: uniform, or a file with weights of points, areas or ids (.csv, .geojson, .parquet) [default: uniform; the
    /// demo has its own].
    #[arg(long, value_name = "uniform|FILE[:COLUMN]")]
    prior: Option<String>,
    /// Where they go: uniform (all places; of a table all columns), random:N street nodes, or a file like that of --prior
    /// [default: uniform; the demo has its own].
    #[arg(long, value_name = "uniform|random:N|FILE[:COLUMN]")]
    targets: Option<String>,
    /// The places, prior and targets of this map, on the streets that --travel allows: another way for `mechanism build --way`.
    #[arg(long, value_name = "FILE.lrmap", conflicts_with_all = ["cell", "bbox", "polygon", "places", "snap", "prior", "targets"])]
    same_places: Option<PathBuf>,
    /// How people move: which ways, one-way rules, speeds.
    #[arg(long, value_enum, default_value_t)]
    travel: Travel,
    /// Seed of the demo city and of random targets.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print the account as JSON.
    #[arg(long)]
    json: bool,
}

/// No cell is chosen that is finer than this.
const LEAST_CELL_KM: f64 = 0.05;
/// More cells than this are not chosen without being asked for.
const MOST_CHOSEN_PLACES: f64 = 10_000.0;

/// To tens of metres.
pub fn rounded_km(km: f64) -> f64 {
    (km * 100.0).round().max(1.0) / 100.0
}

/// Streets, and what came with them.
struct Given {
    streets: Streets,
    source: Source,
    read: Read,
    prior: PriorPlan,
    targets: TargetPlan,
}

impl Build {
    pub fn run(self, ui: &Ui) -> Result<(), Failure> {
        if let Some(table) = &self.table {
            return self.on_table(table, ui);
        }
        let given = self.streets(ui)?;
        if let Some(path) = &self.same_places {
            let map = same_places(&Map::open(path)?.0, given.streets, self.travel.into())?;
            return self.finish(&map, &BuildReport::default(), given.read, ui);
        }
        let region = match (&self.bbox, &self.polygon) {
            (Some(bbox), _) => Region::Box(*bbox),
            (None, Some(path)) => Region::Polygon(Polygon::read(path)?),
            (None, None) => Region::Everything,
        };
        let places = match self.places.as_deref() {
            None | Some("grid") => PlacePlan::Grid(match self.cell {
                Some(cell) => cell,
                None => self.cell_for_privacy(&given.streets, &region, ui)?,
            }),
            Some("nodes") => PlacePlan::Nodes,
            Some(text) => match text.strip_prefix("h3:") {
                Some(number) => PlacePlan::H3(resolution(number)?),
                None => PlacePlan::Sites(read_sites(text.as_ref())?),
            },
        };
        let prior = self.prior()?.unwrap_or(given.prior);
        let targets = self.targets()?.unwrap_or(given.targets);
        let (source, travel, snap) = (given.source, self.travel.into(), self.snap);
        let plan = MapPlan { source, travel, region, places, snap, prior, targets };
        let (map, report) = build(given.streets, plan)?;
        self.finish(&map, &report, given.read, ui)
    }

    /// A map without streets.
    fn on_table(&self, path: &Path, ui: &Ui) -> Result<(), Failure> {
        let table = read_routing_table(path)?;
        let travel = self.travel.into();
        if let Some(path) = &self.same_places {
            let map = same_places_on_table(&Map::open(path)?.0, &table, travel)?;
            return self.finish(&map, &BuildReport::default(), Read::default(), ui);
        }
        let places = match self.places.as_deref() {
            None => None,
            Some(text) if text == "grid" || text == "nodes" || text.starts_with("h3:") => {
                let reason = "the places of a table are its rows; give them as a file, in their order, or leave them out";
                return Err(MapError::invalid("places", reason).into());
            }
            Some(file) => Some(read_sites(file.as_ref())?),
        };
        let prior = self.prior()?.unwrap_or(PriorPlan::Uniform);
        let targets = self.targets()?.unwrap_or(TargetPlan::Uniform);
        let plan = TablePlan { travel, places, snap: self.snap, prior, targets };
        let (map, report) = build_on_table(&table, plan)?;
        self.finish(&map, &report, Read::default(), ui)
    }

    /// Where users are, if that was said.
    fn prior(&self) -> Result<Option<PriorPlan>, Failure> {
        Ok(match self.prior.as_deref() {
            None => None,
            Some("uniform") => Some(PriorPlan::Uniform),
            Some(file) => Some(PriorPlan::Weights(weights(file)?)),
        })
    }

    /// Where they go, if that was said.
    fn targets(&self) -> Result<Option<TargetPlan>, Failure> {
        Ok(match self.targets.as_deref() {
            None => None,
            Some("uniform") => Some(TargetPlan::Uniform),
            Some(text) => Some(match text.strip_prefix("random:") {
                Some(number) => {
                    TargetPlan::Random { count: random_count(number)?, seed: self.seed }
                }
                None => TargetPlan::Weights(weights(text)?),
            }),
        })
    }

    /// Writes the map and says what it has.
    fn finish(&self, map: &Map, report: &BuildReport, read: Read, ui: &Ui) -> Result<(), Failure> {
        let version = map.save(&self.output)?;
        if self.json {
            ui.json(&account::json(map, report, read, version));
        } else {
            ui.remark(account::text(map, report, read));
            ui.remark(format!("wrote {} (version {})", self.output.display(), version.short()));
        }
        Ok(())
    }

    /// Cells for the privacy that the map is made for, and why.
    fn cell_for_privacy(
        &self,
        streets: &Streets,
        region: &Region,
        ui: &Ui,
    ) -> Result<Length, Failure> {
        let epsilon = self.privacy.epsilon.value();
        let wanted_km = (SCALED_SPACING / epsilon).max(LEAST_CELL_KM);
        let inside = streets.nodes.iter().copied().filter(|&node| region.contains(node));
        let largest_km = BoundingBox::around(inside).map_or(0.0, |bounds| {
            let [south, west, north, east] = bounds.to_array();
            let corner = |lat: f64, lon: f64| Coord::new(lat, lon);
            let side = |a: Result<Coord, _>, b: Result<Coord, _>| match (a, b) {
                (Ok(a), Ok(b)) => a.distance_km(b),
                _ => 0.0,
            };
            let height = side(corner(south, west), corner(north, west));
            let width = side(corner(south, west), corner(south, east));
            (height * width / MOST_CHOSEN_PLACES).sqrt()
        });
        let km = rounded_km(wanted_km.max(largest_km));
        let metres = 1000.0 * km;
        ui.remark(match wanted_km >= largest_km {
            true => format!(
                "cells of {metres:.0} m: for \"{}\" epsilon x spacing is then {:.2} (--cell or --privacy choose others)",
                self.privacy,
                epsilon * km
            ),
            false => format!(
                "cells of {metres:.0} m: \"{}\" wants {:.0} m, which would be more than {MOST_CHOSEN_PLACES} cells here; choose a smaller \
                 region (--bbox) or say --cell (epsilon x spacing is {:.2})",
                self.privacy,
                1000.0 * wanted_km,
                epsilon * km
            ),
        });
        Ok(Length::from_km(km)?)
    }

    fn streets(&self, ui: &Ui) -> Result<Given, Failure> {
        let plain = |streets, source, read| {
            let (prior, targets) = (PriorPlan::Uniform, TargetPlan::Uniform);
            Given { streets, source, read, prior, targets }
        };
        if let Some(path) = &self.osm {
            let (streets, osm) = read_osm(path, self.travel.into(), ui)?;
            return Ok(plain(
                streets,
                Source::OpenStreetMap,
                Read { osm: Some(osm), ..Read::default() },
            ));
        }
        if let Some(path) = &self.graphml {
            let (streets, graphml) = read_graphml(path, ui)?;
            let streets = streets.used_by(self.travel.into());
            return Ok(plain(
                streets,
                Source::GraphMl,
                Read { graphml: Some(graphml), ..Read::default() },
            ));
        }
        if let (Some(nodes), Some(edges)) = (&self.nodes, &self.edges) {
            let (streets, csv) = read_streets(nodes, edges, self.undirected)?;
            let streets = streets.used_by(self.travel.into());
            return Ok(plain(streets, Source::Csv, Read { csv: Some(csv), ..Read::default() }));
        }
        let demo = demo_given(self.seed);
        Ok(Given { streets: demo.streets.used_by(self.travel.into()), ..demo })
    }
}

/// The demo city with the demand that comes with it.
fn demo_given(seed: u64) -> Given {
    let city = demo_city(seed);
    let targets = city.demand.targets.iter().map(|t| (t.at, t.weight)).collect();
    Given {
        streets: city.streets,
        source: Source::Demo(seed),
        read: Read::default(),
        targets: TargetPlan::Weights(Weights::At(targets)),
        prior: PriorPlan::Density(Box::new(move |at| city.demand.weight(at))),
    }
}

fn weights(text: &str) -> Result<Weights, Failure> {
    let file = Column::parse(text);
    Ok(read_weights(&file.path, file.column.as_deref())?)
}

fn resolution(text: &str) -> Result<H3Resolution, Failure> {
    let wrong = |_| {
        MapError::invalid("places", format!("`h3:{text}` has no resolution; write it like h3:9"))
    };
    Ok(H3Resolution::new(text.parse().map_err(wrong)?)?)
}

fn random_count(text: &str) -> Result<usize, Failure> {
    let wrong = |_| MapError::Invalid {
        field: "targets",
        reason: format!("`random:{text}` has no count; write it like random:20"),
    };
    Ok(text.parse().map_err(wrong)?)
}
