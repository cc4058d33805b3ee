//! From two CSV tables to a mechanism that a verifier has looked at entry by entry.
//!
//! `cargo run --example map_from_csv -p lrgeo-mechanism`

use lrgeo_geo::units::Length;
use lrgeo_map::build::{MapPlan, PlacePlan, PriorPlan, TargetPlan, build as build_map};
use lrgeo_map::import::read_streets;
use lrgeo_map::map::{Source, TravelMode};
use lrgeo_map::region::Region;
use lrgeo_map::utility::UtilityKind;
use lrgeo_mechanism::{City, Plan, build, by_name};
use lrgeo_tiles::Epsilon;

/// A town of 12 x 12 crossings, 150 m apart; every third street is one-way.
fn tables() -> (String, String) {
    let (mut nodes, mut edges) = ("id,lat,lon\n".to_owned(), "from,to,length_m\n".to_owned());
    for (row, column) in (0..144).map(|n| (n / 12, n % 12)) {
        let (lat, lon) = (47.0 + 0.00135 * f64::from(row), 8.0 + 0.00198 * f64::from(column));
        nodes += &format!("{row}/{column},{lat:.5},{lon:.5}\n");
        let mut street = |to: (i32, i32), one_way: bool| {
            if to.0 < 12 && to.1 < 12 {
                let (here, there) = (format!("{row}/{column}"), format!("{}/{}", to.0, to.1));
                edges += &format!("{here},{there},150\n");
                if !one_way {
                    edges += &format!("{there},{here},150\n");
                }
            }
        };
        street((row, column + 1), row % 3 == 1 && row < 11);
        street((row + 1, column), false);
    }
    (nodes, edges)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join(format!("lrgeo-example-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let (nodes, edges) = (folder.join("nodes.csv"), folder.join("edges.csv"));
    let tables = tables();
    std::fs::write(&nodes, tables.0)?;
    std::fs::write(&edges, tables.1)?;

    // Streets become a map: places in cells of 300 m, twenty places where people want to go.
    let plan = MapPlan {
        source: Source::Csv,
        travel: TravelMode::Drive,
        region: Region::Everything,
        places: PlacePlan::Grid(Length::from_m(300.0)?),
        snap: None,
        prior: PriorPlan::Uniform,
        targets: TargetPlan::Random { count: 20, seed: 1 },
    };
    let (map, left_out) = build_map(read_streets(&nodes, &edges, false)?.0, plan)?;
    std::fs::remove_dir_all(&folder)?;
    println!(
        "{} places, {} targets, {} places without a street",
        map.places.len(),
        map.targets.len(),
        left_out.places_without_street
    );

    // A map becomes a mechanism: the cheapest for all pairs of places, within a proven gap.
    let version = map.version();
    let city = City::new(map, version, UtilityKind::TravelDistance, &())?;
    let built = build(by_name("published")?, &city, &Plan::new(&city, Epsilon::per_km(3.0)?), &())?;
    println!("{}: {}", built.kind, built.guarantee);
    println!("{:.3} km of misjudged way per report", built.expected_cost);
    if let Some(proof) = &built.proof {
        println!("within {:.2} % of the cheapest, proven", 100.0 * proof.gap);
    }

    // What comes out is verified by type: the verifier, which knows nothing of how it was made, has looked at every pair and every report.
    let found = &built.verdict().guaranteed;
    println!("{} pairs of places, {} violations", found.pairs, found.violations);
    Ok(())
}
