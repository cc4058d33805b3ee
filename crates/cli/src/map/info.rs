//! `lrgeo map info`.

use std::path::PathBuf;

use clap::Args;
use lrgeo_geo::Digest;
use lrgeo_geo::spacing::spacing_km;
use lrgeo_geo::units::Length;
use lrgeo_map::graph::StreetGraph;
use lrgeo_map::h3::H3Resolution;
use lrgeo_map::map::Map;
use lrgeo_map::neighbours::{NeighbourGraph, Stretch};
use serde_json::json;

use crate::failure::Failure;
use crate::json;
use crate::ui::{Ui, count, counted};

/// Looking from more places than this takes longer than people wait; above, a sample is used and
/// its size is said.
const STRETCH_SOURCES: usize = 2_000;

/// Say what a map holds, and how well its places are joined at a given gamma.
#[derive(Args)]
#[command(after_help = "Example:\n  lrgeo map info city.lrmap --gamma 1km --json")]
pub struct Info {
    /// The map.
    map: PathBuf,
    /// Places at most this far apart are neighbours in the Geo-Ind graph.
    #[arg(long, default_value = "1km", allow_hyphen_values = true)]
    gamma: Length,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// The Geo-Ind graph at one gamma.
struct Connectivity {
    pairs: usize,
    components: usize,
    largest: usize,
    stretch: Stretch,
}

impl Info {
    pub fn run(self, ui: &Ui) -> Result<(), Failure> {
        let (map, version) = Map::open(&self.map)?;
        let coords = map.coords();
        let spacing = spacing_km(&coords);
        let graph = NeighbourGraph::new(&coords, self.gamma.km());
        let components = graph.components();
        let mut sizes = vec![0usize; components.iter().max().map_or(0, |&c| c as usize + 1)];
        components.iter().for_each(|&c| sizes[c as usize] += 1);
        let connectivity = Connectivity {
            pairs: graph.edge_count(),
            components: sizes.len(),
            largest: sizes.iter().copied().max().unwrap_or(0),
            stretch: graph.stretch(&coords, STRETCH_SOURCES, ui),
        };
        if self.json {
            ui.json(&self.as_json(&map, version, spacing, &connectivity));
        } else {
            ui.lines(&self.as_lines(&map, version, spacing, &connectivity));
        }
        Ok(())
    }

    fn as_json(
        &self,
        map: &Map,
        version: Digest,
        spacing: Option<f64>,
        c: &Connectivity,
    ) -> serde_json::Value {
        json!({
            "map": version,
            "source": map.source.to_string(),
            "travel": map.travel.name(),
            "bounds": map.bounds().map(json::bounds),
            "nodes": map.graph.node_count(),
            "arcs": map.graph.arc_count(),
            "arc_km": map.streets().ok().map(StreetGraph::arc_length_km),
            "places": map.places.len(),
            "targets": map.targets.len(),
            "cell_km": map.cell.map(Length::km),
            "h3_resolution": H3Resolution::of_places(&map.places).map(H3Resolution::number),
            "spacing_km": spacing,
            "access_km": { "mean": mean_access_km(map), "max": max_access_km(map) },
            "prior_entropy_bits": entropy_bits(map),
            "gamma_km": self.gamma.km(),
            "neighbour_pairs": c.pairs,
            "components": c.components,
            "largest_component": c.largest,
            "stretch": { "worst": c.stretch.worst, "mean": c.stretch.mean, "sources": c.stretch.sources },
        })
    }

    fn as_lines(
        &self,
        map: &Map,
        version: Digest,
        spacing: Option<f64>,
        c: &Connectivity,
    ) -> Vec<(&'static str, String)> {
        let bbox = map.bounds().map_or("none".into(), |b| {
            b.to_array().map(|degrees| format!("{degrees:.5}")).join(", ")
        });
        let joined = if c.components == 1 {
            "connected".to_string()
        } else {
            format!(
                "{}, the largest with {}: between components there is no privacy bound",
                counted(c.components, "component"),
                counted(c.largest, "place")
            )
        };
        let looked = if c.stretch.sources < map.places.len() {
            format!(" (from {} of the places)", count(c.stretch.sources))
        } else {
            String::new()
        };
        vec![
            ("version", version.short()),
            ("source", format!("{}, travel: {}", map.source, map.travel.name())),
            ("bbox", format!("{bbox} (S, W, N, E)")),
            (
                "streets",
                match map.streets() {
                    Ok(graph) => format!(
                        "{} nodes, {} one-way arcs, {:.0} km",
                        count(graph.node_count()),
                        count(graph.arc_count()),
                        graph.arc_length_km()
                    ),
                    Err(_) => format!("none: {} ways of a table", count(map.graph.arc_count())),
                },
            ),
            (
                "places",
                format!(
                    "{}{}, spacing {}",
                    count(map.places.len()),
                    what_places(map),
                    spacing.map_or("none".into(), |km| format!("{:.0} m", km * 1000.0))
                ),
            ),
            (
                "access",
                format!(
                    "{:.0} m from place to street on average, {:.0} m at most",
                    1000.0 * mean_access_km(map),
                    1000.0 * max_access_km(map)
                ),
            ),
            (
                "prior",
                format!(
                    "{:.2} bits; uniform would be {:.2}",
                    entropy_bits(map),
                    (map.places.len() as f64).log2()
                ),
            ),
            ("targets", count(map.targets.len())),
            ("gamma", format!("{}: {} neighbouring pairs, {joined}", self.gamma, count(c.pairs))),
            (
                "stretch",
                format!(
                    "path over straight distance: {:.2} at worst, {:.3} on average{looked}",
                    c.stretch.worst, c.stretch.mean
                ),
            ),
        ]
    }
}

/// What the places are, where that is known.
fn what_places(map: &Map) -> String {
    match (map.cell, H3Resolution::of_places(&map.places)) {
        (Some(cell), _) => format!(" on a grid of {cell} cells"),
        (None, Some(h3)) => format!(" H3 cells of resolution {}", h3.number()),
        (None, None) => String::new(),
    }
}

fn mean_access_km(map: &Map) -> f64 {
    map.places.iter().map(|p| f64::from(p.leg) * 1e-6).sum::<f64>() / map.places.len().max(1) as f64
}

fn max_access_km(map: &Map) -> f64 {
    map.places.iter().map(|p| f64::from(p.leg) * 1e-6).fold(0.0, f64::max)
}

fn entropy_bits(map: &Map) -> f64 {
    map.places.iter().map(|p| p.prior).filter(|p| *p > 0.0).map(|p| -p * p.log2()).sum()
}
