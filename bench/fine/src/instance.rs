//! The instances of the table, by name: real cities as the command line makes them, and generated maps.

use std::path::Path;
use std::sync::Arc as Shared;

use lrgeo_geo::Coord;
use lrgeo_geo::rng::SplitMix;
use lrgeo_geo::units::Length;
use lrgeo_map::build::{MapPlan, PlacePlan, PriorPlan, TargetPlan, build};
use lrgeo_map::import::{read_osm, read_streets, read_weights};
use lrgeo_map::map::{Source, TravelMode};
use lrgeo_map::region::Region;
use lrgeo_map::streets::Streets;
use lrgeo_map::utility::UtilityKind;
use lrgeo_mechanism::programme::Constraints;
use lrgeo_mechanism::{City, Plan};
use lrgeo_optim::{Arc, Problem, ProblemParts, WeightedL1Cost};
use lrgeo_tiles::{Epsilon, Notion};

use crate::map::Map;

/// Kilometres between the places of the triangular lattice; its epsilon is 1/km.
const LATTICE_KM: f64 = 0.3;

/// A programme to solve, and where its places are if it is known.
pub struct Instance {
    pub problem: Problem,
    /// The epsilon that is promised between all pairs: that of the programme times its arcs' stretch.
    pub epsilon: f64,
    /// Of rows and columns alike.
    pub coords: Option<Vec<Coord>>,
}

/// One that can be asked for: how large it is, and how much smaller a version shows that everything works.
pub struct Named {
    pub name: &'static str,
    pub about: &'static str,
    make: fn(&Setting) -> Instance,
}

/// What an instance may depend on besides its name.
pub struct Setting<'a> {
    pub data: &'a Path,
    pub stretch: f64,
    /// Some hundred places instead of thousands.
    pub smoke: bool,
}

pub const ALL: [Named; 9] = [
    Named {
        name: "reykjavik",
        about: "Reykjavik, 250 m, factor 2 within 300 m",
        make: |s| reykjavik(s),
    },
    Named {
        name: "jittered50",
        about: "jittered 50x50, eps*spacing 0.47",
        make: |s| jittered(s, 50, 1.0),
    },
    Named {
        name: "jittered100",
        about: "jittered 100x100, eps*spacing 0.47",
        make: |s| jittered(s, 100, 1.0),
    },
    Named {
        name: "triangular2500",
        about: "triangular lattice 50x50, eps*spacing 0.3",
        make: |s| triangular(if s.smoke { 12 } else { 50 }),
    },
    Named {
        name: "sf500",
        about: "San Francisco, 500 m, taxi prior and drop-offs, 2/km",
        make: |s| san_francisco(s, 500.0, 2.0, true),
    },
    Named {
        name: "sf500-even",
        about: "the same with an even prior",
        make: |s| san_francisco(s, 500.0, 2.0, false),
    },
    Named {
        name: "sf200",
        about: "San Francisco, 200 m, taxi prior and drop-offs, 2.3/km",
        make: |s| san_francisco(s, 200.0, 2.3, true),
    },
    Named {
        name: "sf200-even",
        about: "the same with an even prior",
        make: |s| san_francisco(s, 200.0, 2.3, false),
    },
    Named {
        name: "coarse100",
        about: "jittered 100x100, eps*spacing 0.94",
        make: |s| jittered(s, 100, 2.0),
    },
];

impl Named {
    pub fn by_name(name: &str) -> Option<&'static Self> {
        ALL.iter().find(|named| named.name == name)
    }

    pub fn make(&self, setting: &Setting) -> Instance {
        (self.make)(setting)
    }
}

fn jittered(setting: &Setting, side: usize, epsilon: f64) -> Instance {
    let side = if setting.smoke { 16 } else { side };
    Instance { problem: Map::square(side, epsilon).problem(), epsilon, coords: None }
}

/// `lrgeo map build --osm reykjavik.osm.pbf --cell 250m --targets random:20`, factor 2 within 300 m.
fn reykjavik(setting: &Setting) -> Instance {
    let file = setting.data.join("03-osm-pbf/reykjavik-2019-05-09.osm.pbf");
    let (streets, _) = read_osm(&file, TravelMode::Drive, &()).expect("the streets of Reykjavik");
    let cell = if setting.smoke { 1_500.0 } else { 250.0 };
    let targets = TargetPlan::Random { count: 20, seed: 1 };
    let source = Source::OpenStreetMap;
    city(setting, streets, source, cell, (PriorPlan::Uniform, targets), 2_f64.ln() / 0.3)
}

/// `lrgeo map build --nodes .. --edges .. --prior counts.csv:pickups --targets counts.csv:dropoffs`.
fn san_francisco(setting: &Setting, cell: f64, per_km: f64, taxis: bool) -> Instance {
    let at = |file: &str| setting.data.join(file);
    let (nodes, edges) = (at("04-sf-streets/sf_nodes.csv"), at("04-sf-streets/sf_edges.csv"));
    let (streets, _) = read_streets(&nodes, &edges, false).expect("the streets of San Francisco");
    let counts = at("05-sf-taxi-counts/sf_cab_node_counts.csv");
    let column = |name| read_weights(&counts, Some(name)).expect("taxi counts");
    let prior = match taxis {
        true => PriorPlan::Weights(column("pickups")),
        false => PriorPlan::Uniform,
    };
    let demand = (prior, TargetPlan::Weights(column("dropoffs")));
    let cell = if setting.smoke { 1_000.0 } else { cell };
    city(setting, streets, Source::Csv, cell, demand, per_km)
}

fn city(
    setting: &Setting,
    streets: Streets,
    source: Source,
    cell_m: f64,
    (prior, targets): (PriorPlan, TargetPlan),
    per_km: f64,
) -> Instance {
    let plan = MapPlan {
        source,
        travel: TravelMode::Drive,
        region: Region::Everything,
        places: PlacePlan::Grid(Length::from_m(cell_m).expect("a length")),
        snap: None,
        prior,
        targets,
    };
    let (map, _) = build(streets, plan).expect("a map");
    let version = map.version();
    let city = City::new(map, version, UtilityKind::TravelDistance, &()).expect("a city");
    let mut plan = Plan::new(&city, Epsilon::per_km(per_km).expect("an epsilon"));
    (plan.notion, plan.stretch) = (Notion::AllPairs, setting.stretch);
    let constraints = Constraints::new(&city, &plan, &()).expect("a spanner");
    let problem = constraints.omg(&city).expect("a programme");
    Instance { problem, epsilon: per_km, coords: Some(city.coords().to_vec()) }
}

/// A rhombus-free patch of the triangular lattice: `side` rows, every other one shifted by half a spacing. Arcs to the six
/// neighbours and to the six next ones, between the rows of which paths are 3.5 % longer than straight lines at most.
fn triangular(side: usize) -> Instance {
    let corner = Coord::new(0.0, 0.0).expect("a coordinate");
    let height = LATTICE_KM * 0.75_f64.sqrt();
    let coords: Vec<Coord> = (0..side * side)
        .map(|v| {
            let (x, y) = ((v % side) as f64, v / side);
            corner.offset_km(height * y as f64, LATTICE_KM * (x + 0.5 * (y % 2) as f64))
        })
        .collect();
    let n = coords.len();
    // Neighbours are one spacing away, the next ones the square root of three, and those after them two.
    let reach = 1.8 * LATTICE_KM;
    let mut arcs = Vec::new();
    for i in 0..n {
        for j in i + 1..n.min(i + 3 * side) {
            let d = coords[i].distance_km(coords[j]);
            if d <= reach {
                arcs.push(Arc { i, j, d });
            }
        }
    }
    let mut random = SplitMix::new(1);
    let width = LATTICE_KM * side as f64;
    let mut part = |of: f64| of * random.unit();
    let targets: Vec<Coord> =
        (0..20).map(|_| corner.offset_km(part(height * side as f64), part(width))).collect();
    let features: Shared<[f64]> = coords
        .iter()
        .flat_map(|place| targets.iter().map(|target| place.distance_km(*target)))
        .collect();
    let (prior, weights) = (vec![1.0 / n as f64; n], vec![0.05; 20]);
    let cost = WeightedL1Cost::new(prior, weights, features.clone(), features);
    let parts = ProblemParts::untied(1.0, cost.expect("distances are finite"), arcs);
    let problem = Problem::new(parts).expect("a valid problem");
    Instance { problem, epsilon: 1.0, coords: Some(coords) }
}
