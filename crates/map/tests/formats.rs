//! The formats of other programs: GeoJSON, GraphML, H3, tables of routing engines. What is right, and what is wrong and where.

mod common;

use common::Scratch;
use lrgeo_geo::units::Length;
use lrgeo_geo::{Coord, PlaceId};
use lrgeo_map::MapError;
use lrgeo_map::build::{
    BuildReport, MapPlan, PlacePlan, PriorPlan, TablePlan, TargetPlan, Weights, build,
    build_on_table, same_places_on_table,
};
use lrgeo_map::export::{geojson, places_csv, targets_csv};
use lrgeo_map::graph::Metric;
use lrgeo_map::h3::H3Resolution;
use lrgeo_map::import::{read_graphml, read_points, read_routing_table, read_sites, read_weights};
use lrgeo_map::map::{Map, Source, TravelMode};
use lrgeo_map::region::Region;
use lrgeo_map::streets::Streets;
use lrgeo_map::table::{CostTable, Division};
use lrgeo_map::travel::TravelMatrix;
use lrgeo_map::utility::UtilityKind;

const CENTRE: (f64, f64) = common::CENTRE;

fn at(lat: f64, lon: f64) -> Coord {
    Coord::new(lat, lon).unwrap()
}

/// A grid of two-way streets, 200 m apart, 2 km wide.
fn blocks() -> Streets {
    let side = 11u32;
    let mut streets = Streets::default();
    let corner = at(CENTRE.0, CENTRE.1).offset_km(-1.0, -1.0);
    for n in 0..side * side {
        let (row, column) = (f64::from(n / side), f64::from(n % side));
        streets.nodes.push(corner.offset_km(0.2 * row, 0.2 * column));
    }
    for n in 0..side * side {
        if n % side + 1 < side {
            streets.add(n, n + 1, 0.2, 30.0, false);
        }
        if n / side + 1 < side {
            streets.add(n, n + side, 0.2, 30.0, false);
        }
    }
    streets
}

fn plan(places: PlacePlan, prior: PriorPlan) -> MapPlan {
    MapPlan {
        source: Source::Csv,
        travel: TravelMode::Drive,
        region: Region::Everything,
        places,
        snap: None,
        prior,
        targets: TargetPlan::Random { count: 5, seed: 1 },
    }
}

fn grid(prior: PriorPlan) -> (Map, BuildReport) {
    build(blocks(), plan(PlacePlan::Grid(Length::from_m(200.0).unwrap()), prior)).unwrap()
}

/// Every case is refused with a typed error that names the file and the field.
fn refused<T>(
    cases: &[(&str, &str)],
    name: &str,
    read: impl Fn(&std::path::Path) -> Result<T, MapError>,
) {
    let scratch = Scratch::new(&format!("refused-{name}"));
    for (content, expected) in cases {
        let error = read(&scratch.file(name, content)).err();
        let error = error.unwrap_or_else(|| panic!("accepted: {content}"));
        let typed = matches!(error, MapError::Field { .. } | MapError::File { .. });
        let text = error.to_string();
        assert!(typed && text.contains(name) && text.contains(expected), "`{expected}`: {text}");
    }
}

#[test]
fn h3_cells_cover_the_streets_and_keep_their_ids() {
    let resolution = H3Resolution::new(9).unwrap();
    let (map, report) =
        build(blocks(), plan(PlacePlan::H3(resolution), PriorPlan::Uniform)).unwrap();
    // A cell of resolution 9 has 0.105 km2 on average over the Earth, a little less or more here.
    assert!((30..=60).contains(&map.places.len()), "{} cells", map.places.len());
    assert_eq!(H3Resolution::of_places(&map.places), Some(resolution));
    assert!(report.snap_km > 0.1 && report.snap_km < 0.3, "{}", report.snap_km);
    for place in &map.places {
        let cell: h3o::CellIndex = place.id.parse().unwrap();
        let centre = h3o::LatLng::from(cell);
        assert!(place.coord.distance_km(at(centre.lat(), centre.lng())) < 1e-9);
    }
    // Every street node lies in one of the cells, or in one whose centre is outside the box of the streets.
    let bounds = lrgeo_geo::BoundingBox::around(map.graph.coords().iter().copied()).unwrap();
    for node in map.graph.coords() {
        let cell = h3o::LatLng::new(node.lat(), node.lon()).unwrap().to_cell(h3o::Resolution::Nine);
        let centre = h3o::LatLng::from(cell);
        let inside = bounds.contains(at(centre.lat(), centre.lng()));
        assert_eq!(inside, map.places.iter().any(|p| p.id == cell.to_string()), "{cell}");
    }
    // The ids go through a file, CSV and GeoJSON, and come back as the same places.
    let scratch = Scratch::new("h3");
    map.save(&scratch.path("h3.lrmap")).unwrap();
    assert_eq!(Map::open(&scratch.path("h3.lrmap")).unwrap().0, map);
    for file in [scratch.file("p.csv", places_csv(&map)), scratch.file("p.geojson", geojson(&map))]
    {
        let sites = read_sites(&file).unwrap();
        let same = sites.iter().zip(&map.places).all(|(site, place)| site.id == place.id);
        assert!(same && sites.len() == map.places.len(), "{}", file.display());
    }
    assert!(H3Resolution::new(16).is_err());
    let fine = plan(PlacePlan::H3(H3Resolution::new(15).unwrap()), PriorPlan::Uniform);
    assert!(matches!(build(blocks(), fine), Err(MapError::TooLarge { .. })));
    let (grid, _) = grid(PriorPlan::Uniform);
    assert_eq!(H3Resolution::of_places(&grid.places), None);
}

#[test]
fn geojson_places_are_points_or_centroids_and_keep_their_ids() {
    let scratch = Scratch::new("geojson");
    let text = r#"{"type": "FeatureCollection", "features": [
        {"type": "Feature", "id": 7, "properties": {}, "geometry": {"type": "Point", "coordinates": [12.5, 41.9, 30]}},
        {"type": "Feature", "properties": {"ID": "block"}, "geometry": {"type": "Polygon", "coordinates":
            [[[12.5, 41.9], [12.52, 41.9], [12.52, 41.92], [12.5, 41.92], [12.5, 41.9]],
             [[12.50, 41.90], [12.50, 41.91], [12.51, 41.91], [12.51, 41.90], [12.50, 41.90]]]}}]}"#;
    let sites = read_sites(&scratch.file("p.geojson", text)).unwrap();
    assert_eq!((sites[0].id.as_str(), sites[0].coord), ("7", at(41.9, 12.5)));
    // Three quarters of a square: the hole pulls the centre away.
    let centre = at(41.9 + 0.02 * 7.0 / 12.0, 12.5 + 0.02 * 7.0 / 12.0);
    assert!(sites[1].id == "block" && sites[1].coord.distance_km(centre) < 1e-6, "{:?}", sites[1]);
    // Without any ids they are numbered.
    let bare = r#"{"type": "Point", "coordinates": [12.5, 41.9]}"#;
    assert_eq!(read_sites(&scratch.file("b.json", bare)).unwrap()[0].id, "0");
    let points = read_points(&scratch.file("p.geojson", text)).unwrap();
    assert_eq!(points[1].0.as_deref(), Some("block"));

    let one = |feature: &str| format!(r#"{{"type":"FeatureCollection","features":[{feature}]}}"#);
    let point = |id: &str, at: &str| {
        format!(
            r#"{{"type":"Feature","id":{id},"properties":null,"geometry":{{"type":"Point","coordinates":{at}}}}}"#
        )
    };
    let flat = r#"{"type":"Feature","id":1,"geometry":{"type":"Polygon","coordinates":[[[1,2],[1,3],[1,2]]]}}"#;
    let line =
        r#"{"type":"Feature","id":1,"geometry":{"type":"LineString","coordinates":[[1,2],[1,3]]}}"#;
    let cases = [
        (text[..text.len() / 2].to_owned(), "not GeoJSON"),
        ("id,lat,lon\na,1,2\n".into(), "not GeoJSON"),
        ("[1,2]".into(), "type: missing"),
        (r#"{"type":"FeatureCollection"}"#.into(), "features: must be a list"),
        (one(""), "has no features"),
        (one(&point("1", "[200, 41]")), "features[0].geometry.coordinates: lon: must be between"),
        (one(&point("1", "[41.9, 139.7]")), "are the two swapped?"),
        (one(&point("1", "[291952, 4641623]")), "metres of a projection"),
        (one(&point("1", "[1e999, 4]")), "not GeoJSON"),
        (one(&point("1", "[null, 4]")), "must be [lon, lat]"),
        (one(&point("[1]", "[1, 2]")), "features[0].id: must be a number, or a text"),
        (one(&point("\"a\\nb\"", "[1, 2]")), "features[0].id"),
        (one(&format!("{},{}", point("1", "[1, 2]"), point("1", "[1, 3]"))), "features[1].id: `1` stands twice"),
        (one(&format!("{},{}", point("1", "[1, 2]"), point("null", "[1, 3]"))), "features[1].id: missing"),
        (one(flat), "an area of no size"),
        (one(line), "LineString is no place"),
        (
            r#"{"type":"FeatureCollection","crs":{"properties":{"name":"urn:ogc:def:crs:EPSG::3035"}},"features":[]}"#.into(),
            "crs: `urn:ogc:def:crs:EPSG::3035` is not WGS84",
        ),
    ];
    let cases: Vec<(&str, &str)> =
        cases.iter().map(|(text, word)| (text.as_str(), *word)).collect();
    refused(&cases, "bad.geojson", read_sites);
    let deep = "[".repeat(100_000);
    refused(&[(&deep, "not GeoJSON")], "deep.geojson", read_sites);

    // Swapped numbers that are both latitudes are found where no street is near.
    let swapped = read_sites(&scratch.file("s.geojson", one(&point("1", "[41.9, 12.5]")))).unwrap();
    let error = build(blocks(), plan(PlacePlan::Sites(swapped), PriorPlan::Uniform)).unwrap_err();
    assert!(error.to_string().contains("latitude and longitude are swapped"), "{error}");
}

#[test]
fn people_of_areas_are_spread_and_what_falls_outside_is_said() {
    let scratch = Scratch::new("areas");
    let (south, west) = (CENTRE.0 - 0.009, CENTRE.1 - 0.012);
    let (north, east) = (CENTRE.0 + 0.009, CENTRE.1 + 0.012);
    let middle = CENTRE.1;
    let box_of = |w: f64, e: f64, name: &str| {
        format!(
            r#"{{"type":"Feature","properties":{name},"geometry":{{"type":"Polygon","coordinates":
            [[[{w},{south}],[{e},{south}],[{e},{north}],[{w},{north}],[{w},{south}]]]}}}}"#
        )
    };
    let file = |features: &[String]| {
        let text = format!(r#"{{"type":"FeatureCollection","features":[{}]}}"#, features.join(","));
        scratch.file("w.geojson", text)
    };
    let read = |features: &[String], column| read_weights(&file(features), column);
    let west_half = box_of(west, middle, r#"{"people": 300, "weight": 1}"#);
    let east_half = box_of(middle, east, r#"{"people": 100, "weight": 1}"#);
    let far = box_of(west - 1.0, middle - 1.0, r#"{"people": 100, "weight": 1}"#);

    let prior = read(&[west_half.clone(), east_half.clone()], Some("people")).unwrap();
    let (map, report) = grid(PriorPlan::Weights(prior));
    let west_share: f64 =
        map.places.iter().filter(|p| p.coord.lon() < middle).map(|p| p.prior).sum();
    assert!((west_share - 0.75).abs() < 0.02, "{west_share}");
    assert!(report.prior_unmatched < 0.01 && report.prior_rows_unmatched == 0, "{report:?}");
    // Inside an area places get nearly the same.
    let inner = |p: &&lrgeo_map::places::Place| {
        p.coord.lon() < middle - 0.003
            && (p.coord.lat() - CENTRE.0).abs() < 0.006
            && p.coord.lon() > west + 0.003
    };
    let inside: Vec<f64> = map.places.iter().filter(inner).map(|p| p.prior).collect();
    let mean = inside.iter().sum::<f64>() / inside.len() as f64;
    assert!(
        inside.len() > 10 && inside.iter().all(|p| (p / mean - 1.0).abs() < 0.15),
        "{inside:?}"
    );

    let prior = read(&[west_half.clone(), far], None).unwrap();
    let (_, report) = grid(PriorPlan::Weights(prior));
    assert!(
        (report.prior_unmatched - 0.5).abs() < 0.01 && report.prior_rows_unmatched == 1,
        "{report:?}"
    );
    // An area that reaches far beyond the map leaves there what belongs there.
    let wide = box_of(west, east + (east - west), r#"{"weight": 1}"#);
    let (_, report) = grid(PriorPlan::Weights(read(&[wide], None).unwrap()));
    assert!((report.prior_unmatched - 0.5).abs() < 0.05, "{report:?}");
    // One smaller than the distance between places goes whole to the nearest.
    let small = box_of(middle, middle + 1e-5, r#"{"weight": 2}"#);
    let small = small.replace(&north.to_string(), &(south + 1e-5).to_string());
    let (map, _) = grid(PriorPlan::Weights(read(&[small], None).unwrap()));
    assert_eq!(map.places.iter().filter(|p| p.prior > 0.0).count(), 1);

    let point = r#"{"type":"Feature","properties":{"weight":1},"geometry":{"type":"Point","coordinates":[12.5,41.9]}}"#;
    for (features, column, expected) in [
        (vec![west_half.clone(), point.to_owned()], None, "points and areas in one file"),
        (vec![west_half.clone()], Some("nope"), "features[0], nope: missing"),
        (
            vec![box_of(west, east, r#"{"weight":-1}"#)],
            None,
            "features[0].properties.weight: -1 is not finite, or negative",
        ),
        (vec![box_of(west, east, r#"{"weight":"many"}"#)], None, "is not a number"),
        (
            vec![west_half.clone(), box_of(west, east, r#"{"weight":null}"#)],
            None,
            "features[1], weight: missing",
        ),
    ] {
        let error = read(&features, column).unwrap_err();
        assert!(
            matches!(error, MapError::Field { .. }) && error.to_string().contains(expected),
            "{error}"
        );
    }
}

const GRAPHML: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d9" for="edge" attr.name="travel_time" attr.type="string"/>
  <key id="d8" for="edge" attr.name="geometry" attr.type="string"/>
  <key id="d7" for="edge" attr.name="name" attr.type="string"/>
  <key id="d6" for="edge" attr.name="speed_kph" attr.type="string"/>
  <key id="d5" for="edge" attr.name="length" attr.type="string"/>
  <key id="d4" for="edge" attr.name="oneway" attr.type="string"/>
  <key id="d2" for="node" attr.name="x" attr.type="string"/>
  <key id="d1" for="node" attr.name="y" attr.type="string"/>
  <key id="d0" for="graph" attr.name="crs" attr.type="string"/>
  <graph edgedefault="directed">
    <data key="d0">epsg:4326</data>
    <node id="10"><data key="d1">41.900</data><data key="d2">12.500</data></node>
    <node id="20"><data key="d1">41.901</data><data key="d2">12.500</data></node>
    <node id="30"><data key="d1">41.901</data><data key="d2">12.502</data></node>
    <edge source="10" target="20" id="0"><data key="d4">False</data><data key="d5">112.5</data><data key="d6">50.0</data></edge>
    <edge source="20" target="10" id="0"><data key="d4">False</data><data key="d5">112.5</data><data key="d9">9.0</data></edge>
    <edge source="20" target="10" id="1"><data key="d5">300.0</data><data key="d7">Rue &amp; R&#252;e <![CDATA[<x>]]></data></edge>
    <edge source="20" target="30" id="0"><data key="d8">LINESTRING (12.5 41.901, 12.501 41.902, 12.502 41.901)</data></edge>
    <edge source="30" target="10" id="0"/>
  </graph>
</graphml>
"#;

#[test]
fn graphml_of_osmnx_is_directed_and_missing_lengths_are_measured() {
    let scratch = Scratch::new("graphml");
    let (streets, report) = read_graphml(&scratch.file("g.graphml", GRAPHML), &()).unwrap();
    assert_eq!((report.nodes, report.edges), (3, 5));
    assert_eq!((report.lengths_measured, report.speeds_assumed), (2, 3));
    let arcs: Vec<(u32, u32)> = streets.arcs.iter().map(|arc| (arc.from, arc.to)).collect();
    assert_eq!(arcs, [(0, 1), (1, 0), (1, 0), (1, 2), (2, 0)]);
    assert_eq!((streets.arcs[0].length_km, streets.arcs[0].speed_kmh), (0.1125, 50.0));
    assert!((streets.arcs[1].speed_kmh - 45.0).abs() < 1e-9);
    let [a, b, c] = [at(41.901, 12.5), at(41.902, 12.501), at(41.901, 12.502)];
    assert!((streets.arcs[3].length_km - a.distance_km(b) - b.distance_km(c)).abs() < 1e-12);
    assert!((streets.arcs[4].length_km - c.distance_km(at(41.9, 12.5))).abs() < 1e-12);

    // Undirected: both ways, unless a street is one-way. Edges may come before their nodes.
    let undirected = GRAPHML.replace("\"directed\"", "\"undirected\"").replacen("False", "True", 1);
    let (streets, _) = read_graphml(&scratch.file("u.graphml", &undirected), &()).unwrap();
    assert_eq!(streets.arcs.len(), 9);
    let node = r#"<node id="30"><data key="d1">41.901</data><data key="d2">12.502</data></node>"#;
    let late = GRAPHML.replace(node, "").replace("</graph>", &format!("{node}</graph>"));
    let (streets, _) = read_graphml(&scratch.file("l.graphml", late), &()).unwrap();
    assert!((streets.arcs[4].length_km - c.distance_km(at(41.9, 12.5))).abs() < 1e-12);
}

#[test]
fn hostile_graphml_is_refused_by_field() {
    let with = |from: &str, to: &str| {
        assert!(GRAPHML.contains(from), "{from}");
        GRAPHML.replacen(from, to, 1)
    };
    let bomb = r#"<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY lol "lol"><!ENTITY lol2 "&lol;&lol;&lol;">]><graphml>&lol2;</graphml>"#;
    let cases = [
        (String::new(), "cut off"),
        ("not xml at all".into(), "cut off"),
        (r#"<?xml version="1.0"?><svg><g/></svg>"#.into(), "svg: not GraphML"),
        (bomb.into(), "DOCTYPE: not accepted"),
        (with("Rue &amp;", "Rue &nbsp;"), "entities are not accepted"),
        (GRAPHML[..GRAPHML.len() / 2].into(), "cut off"),
        (with("</node>", "</edge>"), "not XML, or cut off"),
        (with("epsg:4326", "epsg:32633"), "crs: `epsg:32633` is not WGS84"),
        (with("41.900", "NaN"), "node `10`, y: `NaN` is not a finite number"),
        (with("41.900", "1e400"), "node `10`, y"),
        (with("41.900", "141.9"), "are the two swapped?"),
        (with("12.500", "291952.5"), "metres of a projection"),
        (with(r#"<data key="d2">12.500</data>"#, ""), "node `10`, x: missing"),
        (with(r#"<node id="20">"#, r#"<node id="10">"#), "node `10`, id: stands twice"),
        (with(r#"target="30""#, r#"target="99""#), "no node `99`"),
        (with(r#"target="30""#, ""), "edge, target: missing"),
        (with("112.5", "-3"), "edge `10` - `20`, length: -3 is negative"),
        (with("112.5", "inf"), "edge `10` - `20`, length: `inf`"),
        (
            with("LINESTRING (12.5 41.901,", "POINT (12.5"),
            "edge `20` - `30`, geometry: must be LINESTRING",
        ),
        (with("<graph ", "<hyperedge/><graph "), "hyperedge"),
    ];
    let cases: Vec<(&str, &str)> =
        cases.iter().map(|(text, word)| (text.as_str(), *word)).collect();
    refused(&cases, "bad.graphml", |path| read_graphml(path, &()));
    // A text without end does not fill the memory.
    let endless = with("epsg:4326", &"x".repeat(40 << 20));
    refused(&[(&endless, "more than 16 MB")], "endless.graphml", |path| read_graphml(path, &()));
    // Whatever bit flips, the reader answers.
    let scratch = Scratch::new("graphml-flips");
    for n in (0..GRAPHML.len()).step_by(3) {
        let mut bytes = GRAPHML.as_bytes().to_vec();
        bytes[n] ^= 0x15;
        let _ = read_graphml(&scratch.file("f.graphml", bytes), &());
    }
}

/// Places on a line, 1 km apart, and what OSRM says about the ways between them: 1.2 times the straight line, and back 1.5
/// times.
fn osrm(places: &[(f64, f64)], distances: bool, durations: bool) -> serde_json::Value {
    let coords: Vec<Coord> = places.iter().map(|&(lat, lon)| at(lat, lon)).collect();
    let way = |i: usize, j: usize| {
        let stretch = if i <= j { 1.2 } else { 1.5 };
        (stretch * 1000.0 * coords[i].distance_km(coords[j]) * 10.0).round() / 10.0
    };
    let rows = |scale: f64| {
        let row = |i: usize| (0..coords.len()).map(|j| scale * way(i, j)).collect::<Vec<_>>();
        (0..coords.len()).map(row).collect::<Vec<_>>()
    };
    let waypoint = |c: &Coord| serde_json::json!({"hint": "x", "name": "", "location": [c.lon(), c.lat()], "distance": 3.1});
    let all: Vec<_> = coords.iter().map(waypoint).collect();
    let mut json = serde_json::json!({"code": "Ok", "sources": all, "destinations": all});
    if distances {
        json["distances"] = serde_json::json!(rows(1.0));
    }
    if durations {
        json["durations"] = serde_json::json!(rows(0.1));
    }
    json
}

const LINE: [(f64, f64); 4] = [(41.90, 12.5), (41.91, 12.5), (41.92, 12.5), (41.93, 12.51)];

fn on_table(path: &std::path::Path, targets: TargetPlan) -> Result<(Map, BuildReport), MapError> {
    let table = read_routing_table(path)?;
    let (travel, prior) = (TravelMode::Drive, PriorPlan::Uniform);
    build_on_table(&table, TablePlan { travel, places: None, snap: None, prior, targets })
}

#[test]
fn the_table_of_osrm_becomes_the_travel_of_a_map_without_streets() {
    let scratch = Scratch::new("osrm");
    let json = osrm(&LINE, true, true);
    let path = scratch.file("osrm.json", json.to_string());
    let (map, _) = on_table(&path, TargetPlan::Uniform).unwrap();
    assert_eq!(map.source.to_string(), "OSRM table of distances and durations");
    let travel = TravelMatrix::of_places(&map, Metric::Distance, &()).unwrap();
    let time = TravelMatrix::of_places(&map, Metric::Time, &()).unwrap();
    for i in 0..4 {
        for j in 0..4 {
            let metres = json["distances"][i][j].as_f64().unwrap();
            let seconds = json["durations"][i][j].as_f64().unwrap();
            assert!((f64::from(travel.row(i)[j]) / 1000.0 - metres).abs() <= 0.0011, "{i} {j}");
            assert!((f64::from(time.row(i)[j]) / 1000.0 - seconds).abs() <= 0.0011, "{i} {j}");
        }
    }
    // The same losses after a file, and directed ones.
    map.save(&scratch.path("t.lrmap")).unwrap();
    let (again, _) = Map::open(&scratch.path("t.lrmap")).unwrap();
    assert_eq!(again, map);
    let losses = UtilityKind::TravelDistance.of(&again, &()).unwrap();
    let by_hand: f64 = (0..4)
        .map(|l| {
            let d = |i: usize| json["distances"][i][l].as_f64().unwrap() / 1000.0;
            0.25 * (d(0) - d(2)).abs()
        })
        .sum();
    let loss = losses.loss(PlaceId::new(0), PlaceId::new(2));
    assert!((loss - by_hand).abs() < 1e-5, "{} {by_hand}", loss);
    // What needs streets says so.
    let cells = Division::Grid(Length::from_m(100.0).unwrap());
    let refused = CostTable::build(&map, map.version(), cells, UtilityKind::TravelDistance, &());
    assert!(refused.err().unwrap().to_string().contains("has no streets (OSRM table"));
    assert!(!geojson(&map).contains("street\""));

    // Targets elsewhere go to the nearest column; what lies too far is counted.
    let targets = Weights::At(vec![
        (at(41.9101, 12.5), 3.0),
        (at(41.93, 12.512), 1.0),
        (at(45.0, 12.5), 1.0),
    ]);
    let (map, report) = on_table(&path, TargetPlan::Weights(targets)).unwrap();
    let aimed: Vec<(u32, f64)> = map.targets.iter().map(|t| (t.node, t.weight)).collect();
    assert_eq!((aimed, report.targets_without_street), (vec![(5, 0.75), (7, 0.25)], 1));
    assert!(targets_csv(&map).starts_with("lat,lon,weight\n41.91,12.5,0.75\n"));

    // Only durations: no distances are invented.
    let path = scratch.file("time.json", osrm(&LINE, false, true).to_string());
    let (map, _) = on_table(&path, TargetPlan::Uniform).unwrap();
    assert!(UtilityKind::TravelTime.of(&map, &()).is_ok());
    let error = UtilityKind::TravelDistance.of(&map, &()).err().unwrap().to_string();
    assert!(error.contains("OSRM table of durations; use travel-time"), "{error}");
}

#[test]
fn a_table_replaces_the_streets_of_a_map() {
    let (map, _) = grid(PriorPlan::Uniform);
    let map = map.with_places(&map.central_block(6));
    let scratch = Scratch::new("replace");
    let places: Vec<(f64, f64)> =
        map.places.iter().map(|p| (p.coord.lat(), p.coord.lon())).collect();
    let targets: Vec<Coord> =
        map.targets.iter().map(|t| map.graph.coords()[t.node as usize]).collect();
    // A table of places only: every target goes to the nearest place, which may be too far.
    let path = scratch.file("places.json", osrm(&places, true, false).to_string());
    let table = read_routing_table(&path).unwrap();
    let by_places = same_places_on_table(&map, &table, TravelMode::Drive).unwrap();
    assert_eq!(by_places.coords(), map.coords());
    assert!(by_places.targets.len() <= map.targets.len());

    // Places to targets, concise, without coordinates: in the order of the map. Twice the straight line, in miles.
    let miles = |a: Coord, b: Coord| 2.0 * a.distance_km(b) / 1.609344;
    let rows: Vec<Vec<f64>> =
        map.places.iter().map(|p| targets.iter().map(|&t| miles(p.coord, t)).collect()).collect();
    let json = serde_json::json!({"algorithm": "costmatrix", "units": "miles", "sources_to_targets": {"distances": rows}});
    let path = scratch.file("valhalla.json", json.to_string());
    let other =
        same_places_on_table(&map, &read_routing_table(&path).unwrap(), TravelMode::Drive).unwrap();
    assert_eq!(other.source.to_string(), "Valhalla table of distances");
    assert_eq!(other.targets.len(), map.targets.len());
    let travel = TravelMatrix::of_places(&other, Metric::Distance, &()).unwrap();
    for (i, place) in map.places.iter().enumerate() {
        for (l, target) in other.targets.iter().enumerate() {
            let there = other.graph.coords()[target.node as usize];
            let km = f64::from(travel.row(i)[l]) * 1e-6;
            assert!((km - 2.0 * place.coord.distance_km(there)).abs() < 2e-6);
        }
    }
}

#[test]
fn valhalla_answers_with_objects_or_with_matrices() {
    let scratch = Scratch::new("valhalla");
    let cell = |i: usize, j: usize, km: f64| serde_json::json!({"from_index": i, "to_index": j, "distance": km, "time": (km * 120.0).round()});
    let (a, b) = (at(41.90, 12.5), at(41.91, 12.5));
    let km = 1.3 * a.distance_km(b);
    let place = |c: Coord| serde_json::json!({"lon": c.lon(), "lat": c.lat()});
    let json = serde_json::json!({
        "sources": [[place(a)], [place(b)]], "targets": [[place(a)], [place(b)]], "units": "kilometers",
        "sources_to_targets": [[cell(0, 0, 0.0), cell(0, 1, km)], [cell(1, 0, km), cell(1, 1, 0.0)]],
    });
    let (map, _) =
        on_table(&scratch.file("v.json", json.to_string()), TargetPlan::Uniform).unwrap();
    assert_eq!(map.source.to_string(), "Valhalla table of distances and durations");
    let travel = TravelMatrix::of_places(&map, Metric::Distance, &()).unwrap();
    assert!((f64::from(travel.row(0)[1]) * 1e-6 - km).abs() < 2e-6);
    // The newer form: locations without lists around them.
    let mut flat = json.clone();
    flat["sources"] = serde_json::json!([place(a), place(b)]);
    assert!(on_table(&scratch.file("f.json", flat.to_string()), TargetPlan::Uniform).is_ok());
}

#[test]
fn wrong_tables_are_refused_by_field() {
    let good = osrm(&LINE, true, true);
    let change = |pointer: &str, value: serde_json::Value| {
        let mut json = good.clone();
        *json.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer}")) = value;
        json.to_string()
    };
    let null = serde_json::Value::Null;
    let scaled = |field: &str, by: f64| {
        let mut json = good.clone();
        for value in
            json[field].as_array_mut().unwrap().iter_mut().flat_map(|r| r.as_array_mut().unwrap())
        {
            *value = (value.as_f64().unwrap() * by).into();
        }
        json.to_string()
    };
    let valhalla = |units: &str, cell: &str| {
        format!(
            r#"{{{units}"sources":[{{"lon":12.5,"lat":41.9}}],"targets":[{{"lon":12.5,"lat":41.91}}],"sources_to_targets":[[{cell}]]}}"#
        )
    };
    let km = r#""units":"kilometers","#;
    let two = serde_json::json!([1.0, 2.0]);
    let cases = [
        ("{}".to_owned(), "code: missing"),
        (good.to_string()[..200].to_owned(), "not the JSON of a routing engine"),
        (
            r#"{"code":"NoTable","message":"too big"}"#.into(),
            "code: is \"NoTable\", not \"Ok\": too big",
        ),
        (osrm(&LINE, false, false).to_string(), "distances: neither distances nor durations"),
        (change("/distances/1/2", null.clone()), "distances[1][2]: null: the engine found no way"),
        (change("/durations/1/2", "1".into()), "durations[1][2]: `\"1\"` is not a number"),
        (change("/distances/1/2", (-1.0).into()), "distances[1][2]: -1 is negative"),
        (change("/distances/1/2", 1e300.into()), "more than any way in a city"),
        (change("/distances/1", two.clone()), "distances[1]: has 2 entries, the first row 4"),
        (change("/durations", serde_json::json!([[0.0]])), "are 4 x 4, durations 1 x 1"),
        (change("/distances", 3.into()), "distances: must be a list of rows"),
        (change("/sources/1", null.clone()), "sources[1].location: must have a longitude"),
        (change("/sources/1/location", serde_json::json!([200, 1])), "sources[1].location: lon"),
        (change("/sources", serde_json::json!([])), "sources: has 0 entries, the table 4"),
        (change("/destinations", 1.into()), "destinations: must be a list"),
        (scaled("distances", 0.001), "distances: ways are 0.001 times"),
        (scaled("distances", 1000.0), "more than any way in a city"),
        (scaled("distances", 100.0), "times as long as straight lines"),
        (scaled("durations", 1.0 / 60.0), "are they in seconds"),
        (scaled("durations", 1000.0), "are they in seconds"),
        (valhalla("", r#"{"distance":1.3,"time":100}"#), "units: missing"),
        (valhalla(r#""units":"furlongs","#, r#"{"distance":1.3,"time":100}"#), "units: `furlongs`"),
        (
            valhalla(km, r#"{"distance":null,"time":null}"#),
            "sources_to_targets[0][0].distance: null",
        ),
        (valhalla(km, "{}"), "neither distances nor durations"),
        (valhalla(km, r#"{"distance":1300,"time":100}"#), "are they in what `units` says"),
    ];
    let cases: Vec<(&str, &str)> =
        cases.iter().map(|(text, word)| (text.as_str(), *word)).collect();
    refused(&cases, "bad.json", |path| on_table(path, TargetPlan::Uniform));

    // Places in another order than the table's, or too few of them.
    let scratch = Scratch::new("order");
    let table = read_routing_table(&scratch.file("t.json", good.to_string())).unwrap();
    let attempt = |order: &[usize]| {
        let text: String =
            order.iter().map(|&n| format!("p{n},{},{}\n", LINE[n].0, LINE[n].1)).collect();
        let places = read_sites(&scratch.file("p.csv", format!("id,lat,lon\n{text}"))).unwrap();
        let (travel, prior, targets) = (TravelMode::Drive, PriorPlan::Uniform, TargetPlan::Uniform);
        build_on_table(
            &table,
            TablePlan { travel, places: Some(places), snap: None, prior, targets },
        )
    };
    assert!(attempt(&[0, 1, 2, 3]).is_ok());
    let error = attempt(&[0, 2, 1, 3]).unwrap_err().to_string();
    assert!(error.contains("sources[1]: lies 1.11 km from place `p2`"), "{error}");
    assert!(
        attempt(&[0, 1])
            .unwrap_err()
            .to_string()
            .contains("sources: the table has 4, there are 2 places")
    );
}
