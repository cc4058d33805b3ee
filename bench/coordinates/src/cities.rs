//! Four cities: the generated one, and three from `../shared/data` where that is present.

use std::path::Path;

use lrgeo_geo::BoundingBox;
use lrgeo_geo::units::Length;
use lrgeo_map::build::{MapPlan, PlacePlan, PriorPlan, TargetPlan, Weights, build};
use lrgeo_map::import::{read_osm, read_streets, read_weights};
use lrgeo_map::map::{Map, Source, TravelMode};
use lrgeo_map::region::Region;
use lrgeo_map::utility::UtilityKind;
use lrgeo_mechanism::City;
use lrgeo_show::demo::demo_city;

pub const ALL: [&str; 4] = ["demo", "reykjavik", "san-francisco", "rome"];

/// A city with cells of a size; `None` where its data is absent.
pub fn city(name: &str, cell_km: f64, data: &Path) -> Option<City> {
    let cell = Length::from_km((100.0 * cell_km).round() / 100.0).expect("a length");
    let places = PlacePlan::Grid(cell);
    let random = TargetPlan::Random { count: 20, seed: 1 };
    let plan = |source, region, prior, targets| MapPlan {
        source,
        travel: TravelMode::Drive,
        region,
        places: places.clone(),
        snap: None,
        prior,
        targets,
    };
    let map: Map = match name {
        "demo" => {
            let demo = demo_city(1);
            let targets = demo.demand.targets.iter().map(|t| (t.at, t.weight)).collect();
            let targets = TargetPlan::Weights(Weights::At(targets));
            let prior = PriorPlan::Density(Box::new(move |at| demo.demand.weight(at)));
            build(demo.streets, plan(Source::Demo(1), Region::Everything, prior, targets))
        }
        "reykjavik" => {
            let file = data.join("03-osm-pbf/reykjavik-2019-05-09.osm.pbf");
            let (streets, _) = read_osm(&file, TravelMode::Drive, &()).ok()?;
            let plan = plan(Source::OpenStreetMap, Region::Everything, PriorPlan::Uniform, random);
            build(streets, plan)
        }
        "san-francisco" => {
            let folder = data.join("04-sf-streets");
            let streets = [folder.join("sf_nodes.csv"), folder.join("sf_edges.csv")];
            let counts = data.join("05-sf-taxi-counts/sf_cab_node_counts.csv");
            let streets = read_streets(&streets[0], &streets[1], false).ok()?.0;
            let weights = |column| read_weights(&counts, Some(column)).expect("readable counts");
            // As many targets as elsewhere: with all 9,600 nodes where taxis stop, losses alone take an hour.
            let prior = PriorPlan::Weights(weights("pickups"));
            build(streets, plan(Source::Csv, Region::Everything, prior, random))
        }
        "rome" => {
            let folder = data.join("02-rome-streets");
            let files = [folder.join("rome_full_nodes.csv"), folder.join("rome_full_edges.csv")];
            let streets = read_streets(&files[0], &files[1], true).ok()?.0;
            // The centre: 10 km around the Forum.
            let bounds = BoundingBox::new(41.847, 12.425, 41.937, 12.545);
            let region = Region::Box(bounds.expect("a box"));
            build(streets, plan(Source::Csv, region, PriorPlan::Uniform, random))
        }
        _ => panic!("there are {ALL:?}"),
    }
    .expect("a map")
    .0;
    let version = map.version();
    Some(City::new(map, version, UtilityKind::TravelDistance, &()).expect("a city"))
}
