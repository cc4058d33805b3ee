//! From streets to a map: clip, keep what is connected, set places on streets, weigh them.

mod table;
mod weights;

use std::collections::HashMap;

use lrgeo_geo::index::SpatialIndex;
use lrgeo_geo::parallel::*;
use lrgeo_geo::twins::{Twin, twins};
use lrgeo_geo::units::{Length, travel_from_km};
use lrgeo_geo::{BoundingBox, Coord};

use crate::MapError;
use crate::graph::StreetGraph;
use crate::map::{Map, Source, Target, TravelMode};
use crate::places::{MAX_PLACES, Place, Site, ensure_apart, grid};
use crate::region::{Polygon, Region};
use crate::routing::RoutingTable;
use crate::streets::Streets;
use weights::{pick_targets, weigh_places};

pub use table::{TablePlan, build_on_table};

/// What map to build from the streets.
pub struct MapPlan {
    /// Where the streets come from.
    pub source: Source,
    /// How people move.
    pub travel: TravelMode,
    /// What part of the streets to use.
    pub region: Region,
    /// Where the places are.
    pub places: PlacePlan,
    /// How far a place may be from its street; a default that suits the places when `None`.
    pub snap: Option<Length>,
    /// Where users are.
    pub prior: PriorPlan,
    /// Where they want to go.
    pub targets: TargetPlan,
}

/// Where the places are.
#[derive(Clone, Debug)]
pub enum PlacePlan {
    /// The centres of square cells with this side.
    Grid(Length),
    /// The centres of H3 cells, which are called by their H3 ids.
    #[cfg(feature = "import")]
    H3(crate::h3::H3Resolution),
    /// Every street node.
    Nodes,
    /// Given sites.
    Sites(Vec<Site>),
}

/// Where users are.
pub enum PriorPlan {
    /// Everywhere alike.
    Uniform,
    /// As weighted; made to sum to one.
    Weights(Weights),
    /// As a function of the coordinate says.
    Density(Box<dyn Fn(Coord) -> f64>),
}

/// Where users want to go.
#[derive(Clone, Debug)]
pub enum TargetPlan {
    /// To the street nodes of all places alike, as in the paper's experiments.
    Uniform,
    /// To this many random street nodes alike.
    Random {
        /// How many.
        count: usize,
        /// The same seed picks the same nodes.
        seed: u64,
    },
    /// As weighted: coordinates go to the nearest street node.
    Weights(Weights),
}

/// Weights of places or targets, not yet normalised: finite and not negative.
#[derive(Clone, Debug)]
pub enum Weights {
    /// By the id of the place.
    ById(HashMap<String, f64>),
    /// At coordinates; each counts for the nearest place.
    At(Vec<(Coord, f64)>),
    /// Over areas, evenly; each piece of them counts for the nearest place.
    Over(Vec<(Polygon, f64)>),
}

/// What was left out on the way, and why. Nothing is dropped in silence.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct BuildReport {
    /// Street nodes outside the region.
    pub nodes_outside: usize,
    /// Street nodes that the largest strongly connected component does not hold.
    pub nodes_unconnected: usize,
    /// Street nodes that make no place of their own: they cannot be told apart from another one.
    pub places_twice: usize,
    /// Places with no street within the limit.
    pub places_without_street: usize,
    /// The limit, in kilometres.
    pub snap_km: f64,
    /// The share of prior weight that belongs to no place.
    pub prior_unmatched: f64,
    /// Points, areas or ids of the prior of which nothing belongs to a place.
    pub prior_rows_unmatched: usize,
    /// Targets with no street within the limit.
    pub targets_without_street: usize,
}

/// The same places, prior and targets on other streets: how somebody gets between them who moves differently.
pub fn same_places(map: &Map, streets: Streets, travel: TravelMode) -> Result<Map, MapError> {
    let (sites, prior, targets) = parts_of(map);
    let plan = MapPlan {
        source: map.source,
        travel,
        region: Region::Everything,
        places: PlacePlan::Sites(sites),
        // Everybody reaches a street; how far it is counts as a part of the way.
        snap: Some(Length::from_km(FARTHEST_STREET_KM)?),
        prior,
        targets,
    };
    nothing_lost(build(streets, plan)?)
}

/// The same places, prior and targets with the ways that a routing engine found between them, instead of the map's own.
pub fn same_places_on_table(
    map: &Map,
    table: &RoutingTable,
    travel: TravelMode,
) -> Result<Map, MapError> {
    let (sites, prior, targets) = parts_of(map);
    let snap = Some(Length::from_km(FARTHEST_STREET_KM)?);
    nothing_lost(build_on_table(
        table,
        TablePlan { travel, places: Some(sites), snap, prior, targets },
    )?)
}

/// The places of a map, where users are and where they go.
fn parts_of(map: &Map) -> (Vec<Site>, PriorPlan, TargetPlan) {
    let site = |place: &Place| Site { id: place.id.clone(), coord: place.coord };
    let weight = |place: &Place| (place.id.clone(), place.prior);
    let at = |target: &Target| (map.graph.coords()[target.node as usize], target.weight);
    (
        map.places.iter().map(site).collect(),
        PriorPlan::Weights(Weights::ById(map.places.iter().map(weight).collect())),
        TargetPlan::Weights(Weights::At(map.targets.iter().map(at).collect())),
    )
}

/// The map, if all of its places and targets can be reached.
fn nothing_lost((map, report): (Map, BuildReport)) -> Result<Map, MapError> {
    match report.places_without_street + report.targets_without_street {
        0 => Ok(map),
        lost => Err(MapError::invalid(
            "places",
            format!(
                "{lost} of them or of the targets have no such street within {FARTHEST_STREET_KM} km"
            ),
        )),
    }
}

/// Farther from every street than this, a place has none.
const FARTHEST_STREET_KM: f64 = 3.0;

/// Builds the map that `plan` describes.
pub fn build(streets: Streets, plan: MapPlan) -> Result<(Map, BuildReport), MapError> {
    let mut report = BuildReport::default();
    let graph = connected_streets(streets, &plan.region, &mut report)?;
    let index = SpatialIndex::new(graph.coords());

    let streets = BoundingBox::around(graph.coords().iter().copied());
    let bounds = plan.region.bounds().or(streets).ok_or_else(no_streets)?;
    report.snap_km = snap_limit_km(&plan);
    let sites = match &plan.places {
        PlacePlan::Grid(cell) => grid(bounds, &plan.region, *cell)?,
        #[cfg(feature = "import")]
        PlacePlan::H3(resolution) => {
            let (sites, corner_km) = crate::h3::cells(bounds, &plan.region, *resolution)?;
            if plan.snap.is_none() {
                report.snap_km = corner_km;
            }
            sites
        }
        PlacePlan::Nodes => {
            let twins = twins(graph.coords());
            report.places_twice = twins.len();
            node_sites(graph.coords(), &twins)
        }
        PlacePlan::Sites(sites) => {
            sites.iter().filter(|site| plan.region.contains(site.coord)).cloned().collect()
        }
    };
    if sites.len() as u64 > MAX_PLACES {
        return Err(MapError::TooLarge {
            what: "places",
            asked: sites.len() as u64,
            limit: MAX_PLACES,
            advice: "choose a smaller `region`, or a grid (`places`)",
        });
    }
    let mut places = set_on_streets(sites, &index, &mut report)?;
    ensure_apart("places", &places, advice_against_twins(&plan.places))?;
    weigh_places(&mut places, &plan.prior, &mut report)?;
    let ends = Ends { index: &index, first: 0, count: graph.node_count() };
    let targets = pick_targets(&plan.targets, &ends, &places, &mut report)?;
    let cell = match plan.places {
        PlacePlan::Grid(cell) => Some(cell),
        _ => None,
    };
    Ok((Map { source: plan.source, travel: plan.travel, cell, graph, places, targets }, report))
}

/// Where ways may end: some nodes in a row, and which of them is nearest.
struct Ends<'e> {
    index: &'e SpatialIndex,
    first: u32,
    count: usize,
}

/// A place at every street node, at twins only at the first.
fn node_sites(nodes: &[Coord], twins: &[Twin]) -> Vec<Site> {
    let mut twins = twins.iter().map(|twin| twin.second).peekable();
    let is_first = |node: &u32| twins.next_if_eq(node).is_none();
    let site = |node: u32| Site { id: node.to_string(), coord: nodes[node as usize] };
    (0..nodes.len() as u32).filter(is_first).map(site).collect()
}

/// What to do where two places of a plan are one.
fn advice_against_twins(places: &PlacePlan) -> &'static str {
    match places {
        PlacePlan::Grid(_) => "choose larger cells (`places`), and a `region` away from the poles",
        #[cfg(feature = "import")]
        PlacePlan::H3(_) => "choose a coarser resolution (`places`)",
        PlacePlan::Nodes | PlacePlan::Sites(_) => "keep one of the two",
    }
}

fn no_streets() -> MapError {
    MapError::Empty {
        what: "street graph",
        advice: "the source has no street that this travel mode can use".into(),
    }
}

/// The largest strongly connected part of the streets inside the region.
fn connected_streets(
    streets: Streets,
    region: &Region,
    report: &mut BuildReport,
) -> Result<StreetGraph, MapError> {
    let Some(data) = BoundingBox::around(streets.nodes.iter().copied()) else {
        return Err(no_streets());
    };
    let before = streets.nodes.len();
    let streets = clip(streets, region);
    report.nodes_outside = before - streets.nodes.len();
    if streets.nodes.is_empty() {
        let [s, w, n, e] = data.to_array();
        let advice = format!(
            "no street lies inside the bbox or polygon; the data covers {s:.5},{w:.5},{n:.5},{e:.5} (S,W,N,E)"
        );
        return Err(MapError::Empty { what: "region", advice });
    }
    let all = StreetGraph::new(&streets);
    let (graph, _) = all.largest_component();
    report.nodes_unconnected = all.node_count() - graph.node_count();
    if graph.node_count() < 2 {
        return Err(MapError::Empty {
            what: "street graph",
            advice: "no two street nodes can reach each other; are the arcs one-way only? \
                     (rows of CSV tables hold one way, unless they are read as `undirected`)"
                .into(),
        });
    }
    Ok(graph)
}

/// The nodes inside the region and the arcs between them.
fn clip(streets: Streets, region: &Region) -> Streets {
    if *region == Region::Everything {
        return streets;
    }
    let mut index = vec![u32::MAX; streets.nodes.len()];
    let mut clipped = Streets::default();
    for (old, &coord) in streets.nodes.iter().enumerate() {
        if region.contains(coord) {
            index[old] = clipped.nodes.len() as u32;
            clipped.nodes.push(coord);
        }
    }
    for mut arc in streets.arcs {
        (arc.from, arc.to) = (index[arc.from as usize], index[arc.to as usize]);
        if arc.from != u32::MAX && arc.to != u32::MAX {
            clipped.arcs.push(arc);
        }
    }
    clipped
}

/// A cell is dropped when no street comes near it: its half diagonal. Sites from elsewhere get
/// half a kilometre.
fn snap_limit_km(plan: &MapPlan) -> f64 {
    match (plan.snap, &plan.places) {
        (Some(limit), _) => limit.km(),
        (None, PlacePlan::Grid(cell)) => cell.km() * std::f64::consts::FRAC_1_SQRT_2,
        (None, _) => 0.5,
    }
}

/// Ties each site to the nearest street node (`docs/specification.md` section 2: the straight access leg).
fn set_on_streets(
    sites: Vec<Site>,
    index: &SpatialIndex,
    report: &mut BuildReport,
) -> Result<Vec<Place>, MapError> {
    let asked = sites.len();
    let limit = report.snap_km;
    let swapped =
        sites.first().and_then(|site| Coord::new(site.coord.lon(), site.coord.lat()).ok());
    let places: Vec<Place> = sites
        .into_par_iter()
        .filter_map(|site| {
            let (node, leg_km) = index.nearest(site.coord)?;
            let place = Place {
                id: site.id,
                coord: site.coord,
                node,
                leg: travel_from_km(leg_km),
                prior: 0.0,
            };
            (leg_km <= limit).then_some(place)
        })
        .collect();
    report.places_without_street = asked - places.len();
    if places.is_empty() {
        let near = |at: Coord| index.nearest(at).is_some_and(|(_, km)| km <= limit);
        let advice = match swapped.is_some_and(near) {
            true => "latitude and longitude are swapped",
            false => "raise `snap` or check the coordinates",
        };
        return Err(MapError::Empty {
            what: "location set",
            advice: format!("none of {asked} places has a street within {limit:.3} km; {advice}"),
        });
    }
    Ok(places)
}
