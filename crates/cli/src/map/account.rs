//! What `lrgeo map build` says about a map: what it read, built and left out.

use lrgeo_geo::Digest;
use lrgeo_map::build::BuildReport;
use lrgeo_map::import::{CsvReport, GraphmlReport, OsmReport};
use lrgeo_map::map::Map;
use serde_json::{Value, json};

use crate::ui::{count, counted};

/// What the files of streets held.
#[derive(Clone, Copy, Default)]
pub struct Read {
    pub osm: Option<OsmReport>,
    pub graphml: Option<GraphmlReport>,
    pub csv: Option<CsvReport>,
}

/// What was built and what was left out, for people.
pub fn text(map: &Map, report: &BuildReport, read: Read) -> String {
    let mut lines = Vec::new();
    if let Some(osm) = read.osm {
        lines.push(format!(
            "read {} nodes and {} ways, {} of them usable; {} references to missing nodes",
            count(osm.nodes),
            count(osm.ways),
            count(osm.usable_ways),
            count(osm.missing_references)
        ));
    }
    if let Some(graphml) = read.graphml {
        lines.push(format!(
            "read {} nodes and {} edges; {} without a length were measured, {} without a speed count as city streets (40 km/h)",
            count(graphml.nodes),
            count(graphml.edges),
            count(graphml.lengths_measured),
            count(graphml.speeds_assumed)
        ));
    }
    if let Some(csv) = read.csv {
        let (nodes, edges) = (counted(csv.nodes, "node"), counted(csv.edges, "edge"));
        lines.push(format!("read {nodes} and {edges}"));
        if let Some(worst) = csv.shortest {
            lines.push(format!(
                "warning: {} shorter than the straight line from end to end, by most in line {} ({:.3} km instead of at least \
                 {:.3} km): travel costs there are too low; are lengths and coordinates of one source, and in the unit that the \
                 column says?",
                counted(csv.too_short, "edge"),
                worst.line,
                worst.length_km,
                worst.straight_km
            ));
        }
    }
    lines.push(match map.streets() {
        Err(_) => format!("travel: {}, {} ways from places to targets", map.source, count(map.graph.arc_count())),
        Ok(_) => format!(
        "streets: {} nodes, {} arcs ({} nodes outside the region, {} not connected both ways, left out)",
        count(map.graph.node_count()),
        count(map.graph.arc_count()),
        count(report.nodes_outside),
        count(report.nodes_unconnected)
    )});
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
            "prior: {share:.1} % of the weight belongs to no place and was left out ({} points, areas or ids wholly)",
            count(report.prior_rows_unmatched)
        ));
    }
    lines.join("\n")
}

/// The same for programs.
pub fn json(map: &Map, report: &BuildReport, read: Read, version: Digest) -> Value {
    json!({
        "map": version,
        "source": map.source.to_string(),
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
            "prior_rows": report.prior_rows_unmatched,
        },
        "snap_km": report.snap_km,
        "osm": read.osm.map(|o| json!({
            "nodes": o.nodes, "ways": o.ways, "usable_ways": o.usable_ways,
            "missing_references": o.missing_references,
        })),
        "graphml": read.graphml.map(|g| json!({
            "nodes": g.nodes, "edges": g.edges, "lengths_measured": g.lengths_measured,
            "speeds_assumed": g.speeds_assumed,
        })),
        "csv": read.csv.map(|c| json!({
            "nodes": c.nodes, "edges": c.edges, "edges_too_short": c.too_short,
            "shortest": c.shortest.map(|s| json!({
                "line": s.line, "length_km": s.length_km, "straight_km": s.straight_km,
            })),
        })),
    })
}
