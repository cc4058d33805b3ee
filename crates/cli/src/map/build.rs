//! `lrgeo map build`.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use lrgeo_geo::units::Length;
use lrgeo_geo::{BoundingBox, Coord, Digest};
use lrgeo_map::build::{
    BuildReport, MapPlan, PlacePlan, PriorPlan, TargetPlan, Weights, build, same_places,
};
use lrgeo_map::import::{OsmReport, read_osm, read_sites, read_streets, read_weights};
use lrgeo_map::map::{Map, Source};
use lrgeo_map::region::{Polygon, Region};
use lrgeo_map::streets::Streets;
use lrgeo_mechanism::meaning::SCALED_SPACING;
use lrgeo_show::demo::demo_city;
use lrgeo_tiles::Privacy;
use serde_json::json;

use crate::failure::Failure;
use crate::options::{Column, Travel, bbox};
use crate::ui::{Ui, count};

const EXAMPLES: &str = "\
Examples:
  lrgeo map build --osm reykjavik.osm.pbf --privacy \"factor 2 within 300 m\" -o city.lrmap
  lrgeo map build --nodes nodes.csv --edges edges.csv --undirected --targets random:20 -o rome.lrmap
  lrgeo map build --nodes sf_nodes.csv --edges sf_edges.csv \\
      --prior counts.csv:pickups --targets counts.csv:dropoffs -o sf.lrmap
  lrgeo map build --demo -o demo.lrmap

The columns of CSV files are described in docs/map-files.md.";

/// Make a map.
#[derive(Args)]
#[command(after_help = EXAMPLES, group = ArgGroup::new("source").required(true).args(["osm", "nodes", "demo"]))]
pub struct Build {
    /// OpenStreetMap file (.osm.pbf).
    #[arg(long, value_name = "FILE.osm.pbf")]
    osm: Option<PathBuf>,
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
    /// What the places are: grid (cell centres), nodes (street nodes), or a CSV file (id, lat, lon).
    #[arg(long, default_value = "grid", value_name = "grid|nodes|FILE.csv")]
    places: String,
    /// How far a place may be from a street [default: half a cell's diagonal; 500m for CSV].
    #[arg(long, allow_hyphen_values = true)]
    snap: Option<Length>,
    /// Where users are: uniform, or a CSV file with weights [default: uniform; the demo has its own].
    #[arg(long, value_name = "uniform|FILE.csv[:COLUMN]")]
    prior: Option<String>,
    /// Where they go: uniform (all places), random:N street nodes, or a CSV file [default: uniform;
    /// the demo has its own].
    #[arg(long, value_name = "uniform|random:N|FILE.csv[:COLUMN]")]
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
    osm: Option<OsmReport>,
    prior: PriorPlan,
    targets: TargetPlan,
}

impl Build {
    pub fn run(self, ui: &Ui) -> Result<(), Failure> {
        let given = self.streets(ui)?;
        if let Some(path) = &self.same_places {
            let map = same_places(&Map::open(path)?.0, given.streets, self.travel.into())?;
            return self.finish(&map, &BuildReport::default(), given.osm, ui);
        }
        let region = match (&self.bbox, &self.polygon) {
            (Some(bbox), _) => Region::Box(*bbox),
            (None, Some(path)) => Region::Polygon(Polygon::read(path)?),
            (None, None) => Region::Everything,
        };
        let places = match self.places.as_str() {
            "grid" => PlacePlan::Grid(match self.cell {
                Some(cell) => cell,
                None => self.cell_for_privacy(&given.streets, &region, ui)?,
            }),
            "nodes" => PlacePlan::Nodes,
            path => PlacePlan::Sites(read_sites(path.as_ref())?),
        };
        let prior = match self.prior.as_deref() {
            None => given.prior,
            Some("uniform") => PriorPlan::Uniform,
            Some(file) => PriorPlan::Weights(weights(file)?),
        };
        let targets = match self.targets.as_deref() {
            None => given.targets,
            Some("uniform") => TargetPlan::Uniform,
            Some(text) => match text.strip_prefix("random:") {
                Some(number) => {
                    TargetPlan::Random { count: random_count(number)?, seed: self.seed }
                }
                None => TargetPlan::Weights(weights(text)?),
            },
        };
        let (source, travel, snap) = (given.source, self.travel.into(), self.snap);
        let plan = MapPlan { source, travel, region, places, snap, prior, targets };
        let (map, report) = build(given.streets, plan)?;
        self.finish(&map, &report, given.osm, ui)
    }

    /// Writes the map and says what it has.
    fn finish(
        &self,
        map: &Map,
        report: &BuildReport,
        osm: Option<OsmReport>,
        ui: &Ui,
    ) -> Result<(), Failure> {
        let version = map.save(&self.output)?;
        if self.json {
            ui.json(&account_json(map, report, osm, version));
        } else {
            ui.remark(account(map, report, osm));
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
        let plain = |streets, source, osm| {
            let (prior, targets) = (PriorPlan::Uniform, TargetPlan::Uniform);
            Given { streets, source, osm, prior, targets }
        };
        if let Some(path) = &self.osm {
            let (streets, osm) = read_osm(path, self.travel.into(), ui)?;
            return Ok(plain(streets, Source::OpenStreetMap, Some(osm)));
        }
        if let (Some(nodes), Some(edges)) = (&self.nodes, &self.edges) {
            let streets = read_streets(nodes, edges, self.undirected)?.used_by(self.travel.into());
            return Ok(plain(streets, Source::Csv, None));
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
        osm: None,
        targets: TargetPlan::Weights(Weights::At(targets)),
        prior: PriorPlan::Density(Box::new(move |at| city.demand.weight(at))),
    }
}

fn weights(text: &str) -> Result<Weights, Failure> {
    let file = Column::parse(text);
    Ok(read_weights(&file.path, file.column.as_deref())?)
}

fn random_count(text: &str) -> Result<usize, Failure> {
    let wrong = |_| lrgeo_map::MapError::Invalid {
        field: "targets",
        reason: format!("`random:{text}` has no count; write it like random:20"),
    };
    Ok(text.parse().map_err(wrong)?)
}

/// What was built and what was left out, for people.
fn account(map: &Map, report: &BuildReport, osm: Option<OsmReport>) -> String {
    let mut lines = Vec::new();
    if let Some(osm) = osm {
        lines.push(format!(
            "read {} nodes and {} ways, {} of them usable; {} references to missing nodes",
            count(osm.nodes),
            count(osm.ways),
            count(osm.usable_ways),
            count(osm.missing_references)
        ));
    }
    lines.push(format!(
        "streets: {} nodes, {} arcs ({} nodes outside the region, {} not connected both ways, left out)",
        count(map.graph.node_count()),
        count(map.graph.arc_count()),
        count(report.nodes_outside),
        count(report.nodes_unconnected)
    ));
    lines.push(format!(
        "places: {} ({} without a street within {:.0} m, left out)",
        count(map.places.len()),
        count(report.places_without_street),
        report.snap_km * 1000.0
    ));
    if report.places_twice > 0 {
        lines.push(format!(
            "places: {} street nodes lie less than 1 m from another one and make no place of their own",
            count(report.places_twice)
        ));
    }
    lines.push(format!(
        "targets: {} ({} without a street, left out)",
        count(map.targets.len()),
        count(report.targets_without_street)
    ));
    if report.prior_unmatched > 0.0 {
        let share = 100.0 * report.prior_unmatched;
        lines.push(format!(
            "prior: {share:.1} % of the weight belongs to no place and was left out"
        ));
    }
    lines.join("\n")
}

fn account_json(
    map: &Map,
    report: &BuildReport,
    osm: Option<OsmReport>,
    version: Digest,
) -> serde_json::Value {
    json!({
        "version": version,
        "nodes": map.graph.node_count(),
        "arcs": map.graph.arc_count(),
        "places": map.places.len(),
        "targets": map.targets.len(),
        "left_out": {
            "nodes_outside": report.nodes_outside,
            "nodes_unconnected": report.nodes_unconnected,
            "places_twice": report.places_twice,
            "places_without_street": report.places_without_street,
            "targets_without_street": report.targets_without_street,
            "prior_share": report.prior_unmatched,
        },
        "snap_km": report.snap_km,
        "osm": osm.map(|o| json!({
            "nodes": o.nodes, "ways": o.ways, "usable_ways": o.usable_ways,
            "missing_references": o.missing_references,
        })),
    })
}
