//! The formats of other programs, from file to file, as a person uses them.

mod common;

use common::Scratch;
use lrgeo_map::import::{read_points, read_sites, read_weights};
use lrgeo_map::map::Map;
use serde_json::{Value, json};

#[test]
fn h3_cells_go_from_a_map_to_reports_in_parquet() {
    let scratch = Scratch::new("h3");
    let built = scratch.json("map build --demo --places h3:8 -o h3.lrmap --json -q");
    let info = scratch.json("map info h3.lrmap --json -q");
    assert_eq!((&info["h3_resolution"], &info["cell_km"]), (&8.into(), &Value::Null));
    assert_eq!(built["map"], info["map"]);
    assert!(scratch.succeed("map info h3.lrmap -q").contains("H3 cells of resolution 8"));
    scratch.succeed(
        "map export h3.lrmap --geojson m.geojson --places-csv m.csv --parquet m.parquet -q",
    );
    let ids: Vec<String> =
        Map::open(&scratch.path("h3.lrmap")).unwrap().0.places.into_iter().map(|p| p.id).collect();
    assert!(ids.iter().all(|id| id.len() == 15 && id.starts_with("88")), "{ids:?}");
    for file in ["m.geojson", "m.csv", "m.parquet"] {
        let sites = read_sites(&scratch.path(file)).unwrap();
        assert!(sites.iter().map(|site| &site.id).eq(&ids), "{file}");
    }
    // Counts by cell join by id.
    scratch.file("counts.csv", &format!("h3,n\n{},3\n{},1\n88ffffffffffffff,4\n", ids[0], ids[1]));
    let joined =
        scratch.json("map build --demo --places h3:8 --prior counts.csv:n -o j.lrmap --json -q");
    assert_eq!(
        (&joined["left_out"]["prior_rows"], &joined["left_out"]["prior_share"]),
        (&1.into(), &0.5.into())
    );

    scratch.succeed("mechanism build h3.lrmap --kind laplace --epsilon 2/km -o h3.lrmech -q");
    scratch.succeed("mechanism export h3.lrmech --parquet z.parquet --csv z.csv --least 1e-3 -q");
    let entries = scratch.read("z.csv").lines().count() - 1;
    let error = read_weights(&scratch.path("z.parquet"), None).unwrap_err().to_string();
    assert!(error.contains("column id") && entries > ids.len(), "{error}");

    // Reports for the people of a file, in the order of the file.
    scratch.file("people.csv", "id,lat,lon\nann,46.003,-30.002\nbob,46.011,-29.995\n");
    for file in ["r.parquet", "r.geojson", "r.csv"] {
        scratch.succeed(&format!("obfuscate h3.lrmech --points people.csv -o {file} -q"));
        let reports = read_points(&scratch.path(file)).unwrap();
        let names: Vec<_> = reports.iter().map(|(id, _)| id.as_deref().unwrap()).collect();
        assert_eq!(names, ["ann", "bob"], "{file}");
    }
    let reports: Value = serde_json::from_str(&scratch.read("r.geojson")).unwrap();
    let report = reports["features"][0]["properties"]["report"].as_str().unwrap();
    assert!(ids.iter().any(|id| id == report) && !scratch.read("r.geojson").contains("46.003,"));
    scratch.file("off.csv", "lat,lon\n46.003,-30.002\n10,10\n");
    let off = scratch.fail("obfuscate h3.lrmech --points off.csv -o off.parquet -q");
    assert!(
        off.contains("points: lies outside the map") && !scratch.path("off.parquet").exists(),
        "{off}"
    );

    for (arguments, expected) in [
        ("--places h3:99", "an H3 resolution lies between 0 and 15"),
        ("--places h3:fine", "write it like h3:9"),
        ("--places h3:15", "over the limit"),
        ("--places absent.geojson", "absent.geojson"),
    ] {
        let error = scratch.fail(&format!("map build --demo {arguments} -o x.lrmap -q"));
        assert!(error.contains(expected), "{error}");
    }
}

/// What OSRM answers for these places and targets: one and a half straight lines, 30 km/h.
fn osrm(places: &[lrgeo_geo::Coord], targets: &[lrgeo_geo::Coord]) -> Value {
    let waypoint = |c: &lrgeo_geo::Coord| json!({ "location": [c.lon(), c.lat()], "distance": 0.0, "name": "" });
    let rows = |scale: f64| -> Vec<Vec<f64>> {
        let row = |p: &lrgeo_geo::Coord| {
            targets.iter().map(|t| scale * 1500.0 * p.distance_km(*t)).collect()
        };
        places.iter().map(row).collect()
    };
    json!({
        "code": "Ok",
        "sources": places.iter().map(waypoint).collect::<Vec<_>>(),
        "destinations": targets.iter().map(waypoint).collect::<Vec<_>>(),
        "distances": rows(1.0),
        "durations": rows(0.12),
    })
}

#[test]
fn a_routing_engine_stands_for_streets() {
    let scratch = Scratch::new("table");
    scratch.succeed("map build --demo --cell 1km -o city.lrmap -q");
    scratch.succeed("map export city.lrmap --places-csv places.csv --targets-csv targets.csv -q");
    let points = |file: &str| -> Vec<lrgeo_geo::Coord> {
        read_points(&scratch.path(file)).unwrap().into_iter().map(|(_, at)| at).collect()
    };
    let (places, targets) = (points("places.csv"), points("targets.csv"));
    scratch.file("osrm.json", &osrm(&places, &targets).to_string());
    let by_osrm = scratch
        .json("map build --table osrm.json --same-places city.lrmap -o osrm.lrmap --json -q");
    assert_eq!(by_osrm["source"], "OSRM table of distances and durations");
    assert_eq!(by_osrm["arcs"].as_u64(), Some((places.len() * targets.len()) as u64));
    // The same from files: rows are the places, targets find their columns.
    scratch.succeed("map build --table osrm.json --places places.csv --prior places.csv --targets targets.csv -o files.lrmap -q");
    scratch.succeed("map export osrm.lrmap --costs a.npy -q");
    scratch.succeed("map export files.lrmap --costs b.npy -q");
    assert_eq!(
        std::fs::read(scratch.path("a.npy")).unwrap(),
        std::fs::read(scratch.path("b.npy")).unwrap()
    );
    assert!(scratch.succeed("map info osrm.lrmap -q").contains("ways of a table"));
    scratch.succeed("map export osrm.lrmap --svg m.svg --geojson m.geojson --costs c.parquet --utility travel-time -q");

    // A mechanism on it, in kilometres and in minutes; what walks on streets says that there are none.
    let km =
        scratch.json("mechanism build osrm.lrmap --kind lp --epsilon 2/km -o km.lrmech --json -q");
    let minutes = scratch.json("mechanism build osrm.lrmap --kind lp --epsilon 2/km --utility travel-time -o min.lrmech --json -q");
    let cost = |built: &Value| built["expected_cost"].as_f64().unwrap();
    // 30 km/h: two minutes a kilometre.
    assert!((cost(&minutes) / cost(&km) - 2.0).abs() < 0.02, "{} {}", cost(&minutes), cost(&km));
    assert_eq!(scratch.json("verify km.lrmech --json -q")["holds"], true);
    for command in [
        "cost-table build osrm.lrmap -o t.lrtable",
        "attack targets osrm.lrmap",
        "attack trace km.lrmech --map osrm.lrmap",
    ] {
        let error = scratch.fail(&format!("{command} -q"));
        assert!(error.contains("has no streets (OSRM table"), "{command}: {error}");
    }
    for (arguments, expected) in [
        ("--table osrm.json --places h3:9", "the places of a table are its rows"),
        ("--table places.csv", "not the JSON of a routing engine"),
        ("--table osrm.json --same-places x.lrmap", "x.lrmap"),
    ] {
        let error = scratch.fail(&format!("map build {arguments} -o x.lrmap -q"));
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn people_of_areas_and_streets_of_osmnx() {
    let scratch = Scratch::new("areas");
    let area = |west: f64, east: f64, people: u32| {
        json!({ "type": "Feature", "properties": { "people": people }, "geometry": { "type": "Polygon", "coordinates":
            [[[west, 45.9], [east, 45.9], [east, 46.1], [west, 46.1], [west, 45.9]]] } })
    };
    let census = json!({ "type": "FeatureCollection", "features": [area(-30.1, -30.0, 30), area(-30.0, -29.9, 10), area(10.0, 10.1, 10)] });
    scratch.file("census.geojson", &census.to_string());
    let built = scratch
        .json("map build --demo --cell 1km --prior census.geojson:people -o c.lrmap --json -q");
    assert_eq!(built["left_out"]["prior_rows"], 1);
    let share = built["left_out"]["prior_share"].as_f64().unwrap();
    assert!(share > 0.2, "the far area, and what lies around the city: {share}");
    let said = scratch.run("map build --demo --cell 1km --prior census.geojson:people -o c.lrmap");
    let said = String::from_utf8(said.stderr).unwrap();
    assert!(
        said.contains("% of the weight belongs to no place")
            && said.contains("(1 points, areas or ids wholly)"),
        "{said}"
    );

    let node = |n: usize| {
        let (row, column) = (n / 5, n % 5);
        let (lat, lon) = (41.9 + 0.002 * row as f64, 12.5 + 0.002 * column as f64);
        format!("<node id=\"{n}\"><data key=\"y\">{lat}</data><data key=\"x\">{lon}</data></node>")
    };
    let edge = |a: usize, b: usize| {
        format!("<edge source=\"{a}\" target=\"{b}\"/><edge source=\"{b}\" target=\"{a}\"/>")
    };
    let nodes: String = (0..25).map(node).collect();
    let along: String = (0..25).filter(|n| n % 5 < 4).map(|n| edge(n, n + 1)).collect();
    let across: String = (0..20).map(|n| edge(n, n + 5)).collect();
    let graph = format!(
        "<graphml><key id=\"x\" attr.name=\"x\"/><key id=\"y\" attr.name=\"y\"/><graph edgedefault=\"directed\">{nodes}{along}{across}</graph></graphml>"
    );
    scratch.file("g.graphml", &graph);
    let built = scratch.json("map build --graphml g.graphml --places nodes -o g.lrmap --json -q");
    assert_eq!((&built["places"], &built["graphml"]["lengths_measured"]), (&25.into(), &80.into()));
    assert_eq!(built["source"], "GraphML");
    let said = scratch.run("map build --graphml g.graphml --places nodes -o g.lrmap");
    assert!(String::from_utf8_lossy(&said.stderr).contains("80 without a length were measured"));
}
