//! A map without streets: places and targets, and a routing engine's table of the ways between them.

use lrgeo_geo::Coord;
use lrgeo_geo::index::SpatialIndex;
use lrgeo_geo::units::{Length, Travel, travel_from_km};

use super::{BuildReport, Ends, PriorPlan, TargetPlan, Weights, weights};
use crate::MapError;
use crate::graph::{Arc, StreetGraph};
use crate::map::{Map, Source, TravelMode};
use crate::places::{Place, Site, ensure_apart};
use crate::routing::RoutingTable;

/// What map to build on a table.
pub struct TablePlan {
    /// How people move: what the engine was asked for.
    pub travel: TravelMode,
    /// The places, in the order of the table's sources; the sources themselves when `None`.
    pub places: Option<Vec<Site>>,
    /// How far a place may be from where the engine began, and a target from where it ended; 500 m when `None`.
    pub snap: Option<Length>,
    /// Where users are.
    pub prior: PriorPlan,
    /// Where they want to go: to the nearest destination of the table.
    pub targets: TargetPlan,
}

/// Farther from a place than this, the engine began somewhere else.
const SNAP_KM: f64 = 0.5;

/// Builds the map: an arc from every source to every destination, as long as the table says. No way leads through another
/// place then, and searches find the numbers of the table.
pub fn build_on_table(
    table: &RoutingTable,
    plan: TablePlan,
) -> Result<(Map, BuildReport), MapError> {
    let snap_km = plan.snap.map_or(SNAP_KM, Length::km);
    let mut report = BuildReport { snap_km, ..BuildReport::default() };
    let sites = sites(table, plan.places)?;
    let sources = match &table.sources {
        Some(sources) => sources.clone(),
        None => sites.iter().map(|site| site.coord).collect(),
    };
    let destinations = destinations(table, &plan.targets, &sites)?;
    for (n, (site, source)) in sites.iter().zip(&sources).enumerate() {
        let km = site.coord.distance_km(*source);
        if km > snap_km {
            let reason = format!(
                "lies {km:.2} km from place `{}`; are the places in the order of the table? (`snap` allows more than {snap_km} km)",
                site.id
            );
            return Err(table.refuse(format!("sources[{n}]"), reason));
        }
    }
    table.ensure_units(&sources, &destinations)?;

    let rows = sources.len();
    let place = |(n, (site, source)): (usize, (Site, &Coord))| Place {
        leg: travel_from_km(site.coord.distance_km(*source)),
        id: site.id,
        coord: site.coord,
        node: n as u32,
        prior: 0.0,
    };
    let mut places: Vec<Place> = sites.into_iter().zip(&sources).enumerate().map(place).collect();
    ensure_apart("places", &places, "keep one of the two, in the table as well")?;
    weights::weigh_places(&mut places, &plan.prior, &mut report)?;
    let targets = match plan.targets {
        TargetPlan::Uniform => {
            let alike = destinations.iter().map(|&at| (at, 1.0)).collect();
            TargetPlan::Weights(Weights::At(alike))
        }
        other => other,
    };
    let index = SpatialIndex::new(&destinations);
    let ends = Ends { index: &index, first: rows as u32, count: destinations.len() };
    let targets = weights::pick_targets(&targets, &ends, &places, &mut report)?;

    let milliseconds = |seconds: f64| (1000.0 * seconds).ceil() as Travel;
    let columns = destinations.len();
    let arc = |pair: usize| Arc {
        from: (pair / columns) as u32,
        to: (rows + pair % columns) as u32,
        mm: table.km.as_ref().map_or(0, |km| travel_from_km(km[pair])),
        ms: table.seconds.as_ref().map_or(0, |seconds| milliseconds(seconds[pair])),
    };
    let arcs = (0..rows * columns).map(arc).collect();
    let graph = StreetGraph::from_arcs([sources, destinations].concat(), arcs);
    let source = Source::Table { engine: table.engine, measured: table.measured() };
    let map = Map { source, travel: plan.travel, cell: None, graph, places, targets };
    Ok((map, report))
}

/// The places: as many as the table has sources.
fn sites(table: &RoutingTable, given: Option<Vec<Site>>) -> Result<Vec<Site>, MapError> {
    let rows = table.size[0];
    match (given, &table.sources) {
        (Some(sites), _) if sites.len() == rows => Ok(sites),
        (Some(sites), _) => {
            let reason = format!(
                "the table has {rows}, there are {} places; ask the engine for all of them, in their order",
                sites.len()
            );
            Err(table.refuse("sources", reason))
        }
        (None, Some(sources)) => {
            let site = |(n, &coord): (usize, &Coord)| Site { id: n.to_string(), coord };
            Ok(sources.iter().enumerate().map(site).collect())
        }
        (None, None) => {
            let reason = "the table does not say where they are; give the places in their order";
            Err(table.refuse("sources", reason))
        }
    }
}

/// Where the columns of the table are: as it says, or else as the targets or the places are given.
fn destinations(
    table: &RoutingTable,
    targets: &TargetPlan,
    sites: &[Site],
) -> Result<Vec<Coord>, MapError> {
    let columns = table.size[1];
    match (&table.destinations, targets) {
        (Some(destinations), _) => Ok(destinations.clone()),
        (None, TargetPlan::Weights(Weights::At(points))) if points.len() == columns => {
            Ok(points.iter().map(|(at, _)| *at).collect())
        }
        (None, _) if sites.len() == columns => Ok(sites.iter().map(|site| site.coord).collect()),
        (None, _) => {
            let reason = format!(
                "the table does not say where its {columns} columns are; give as many targets with coordinates, in their order"
            );
            Err(table.refuse("destinations", reason))
        }
    }
}
