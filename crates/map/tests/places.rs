//! The Geo-Ind graph and the building of maps.

mod common;

use common::{CENTRE, Scratch, random_city, random_map};
use lrgeo_geo::rng::SplitMix;
use lrgeo_geo::spacing::spacing_km;
use lrgeo_geo::units::Length;
use lrgeo_geo::{BoundingBox, Coord, PlaceId};
use lrgeo_map::MapError;
use lrgeo_map::build::{MapPlan, PlacePlan, PriorPlan, TargetPlan, Weights, build};
use lrgeo_map::map::{Map, Source, TravelMode};
use lrgeo_map::neighbours::NeighbourGraph;
use lrgeo_map::places::{Site, grid};
use lrgeo_map::region::{Polygon, Region};

fn cell(metres: f64) -> Length {
    Length::from_m(metres).unwrap()
}

fn plan(places: PlacePlan, region: Region) -> MapPlan {
    MapPlan {
        source: Source::Csv,
        travel: TravelMode::Drive,
        region,
        places,
        snap: None,
        prior: PriorPlan::Uniform,
        targets: TargetPlan::Uniform,
    }
}

#[test]
fn the_geo_ind_graph_equals_comparing_all_pairs_and_floyd_warshall() {
    for seed in 0..12 {
        let coords = random_map(seed, 30, 40, 3).coords();
        let gamma = 0.9;
        let graph = NeighbourGraph::new(&coords, gamma);
        let n = coords.len();
        let mut path = vec![vec![f64::INFINITY; n]; n];
        for i in 0..n {
            path[i][i] = 0.0;
            for j in (0..n).filter(|&j| j != i) {
                let d = coords[i].distance_km(coords[j]);
                let joined = graph.neighbours(PlaceId::at(i)).iter().find(|e| e.0.index() == j);
                assert_eq!(joined.map(|e| e.1), (d <= gamma).then_some(d), "pair {i} {j}");
                if d <= gamma {
                    path[i][j] = d;
                }
            }
        }
        for k in 0..n {
            for i in 0..n {
                for j in 0..n {
                    path[i][j] = path[i][j].min(path[i][k] + path[k][j]);
                }
            }
        }
        let components = graph.components();
        let mut worst: f64 = 1.0;
        for i in 0..n {
            let limit = 1.7;
            let within = graph.within(PlaceId::at(i), limit);
            assert!(within.is_sorted_by(|a, b| a.1 <= b.1));
            let expected = (0..n).filter(|&j| path[i][j] <= limit).count();
            assert_eq!(within.len(), expected, "seed {seed}, place {i}");
            for (j, distance) in graph.within(PlaceId::at(i), f64::INFINITY) {
                assert!((distance - path[i][j.index()]).abs() < 1e-9);
                if j.index() != i {
                    worst = worst.max(distance / coords[i].distance_km(coords[j.index()]));
                }
            }
            for j in 0..n {
                assert_eq!(components[i] == components[j], path[i][j].is_finite());
            }
        }
        assert!((graph.stretch(&coords, usize::MAX, &()).worst - worst).abs() < 1e-12);
    }
}

#[test]
fn grid_cells_are_square_and_cover_the_box() {
    let bounds = BoundingBox::new(41.80, 12.40, 41.90, 12.60).unwrap();
    let sites = grid(bounds, &Region::Everything, cell(500.0)).unwrap();
    let coords: Vec<Coord> = sites.iter().map(|s| s.coord).collect();
    assert!((spacing_km(&coords).unwrap() - 0.5).abs() < 0.002);
    let mut rng = SplitMix::new(1);
    for _ in 0..200 {
        let p = Coord::new(rng.between(41.80, 41.90), rng.between(12.40, 12.60)).unwrap();
        let nearest = coords.iter().map(|c| c.distance_km(p)).fold(f64::INFINITY, f64::min);
        assert!(
            nearest <= 0.5 * std::f64::consts::FRAC_1_SQRT_2 * 1.01,
            "{nearest} km to the nearest"
        );
    }
    let expected = (0.1f64.to_radians() * 6371.0088 / 0.5).ceil();
    let rows: std::collections::BTreeSet<_> = coords.iter().map(|c| c.lat().to_bits()).collect();
    assert_eq!(rows.len() as f64, expected);
}

#[test]
fn more_than_four_million_places_are_refused_before_they_are_made() {
    let bounds = BoundingBox::new(-80.0, -170.0, 80.0, 170.0).unwrap();
    for metres in [500.0, 0.001] {
        let error = grid(bounds, &Region::Everything, cell(metres)).unwrap_err();
        assert!(matches!(error, MapError::TooLarge { limit: 4_000_000, .. }), "{error}");
    }
}

#[test]
fn places_without_a_street_are_dropped_and_counted() {
    let streets = random_city(&mut SplitMix::new(9), 40);
    let (map, report) =
        build(streets.clone(), plan(PlacePlan::Grid(cell(200.0)), Region::Everything)).unwrap();
    assert!(report.places_without_street > 0);
    assert!((report.snap_km - 0.2 * std::f64::consts::FRAC_1_SQRT_2).abs() < 1e-12);
    for place in &map.places {
        let leg = place.coord.distance_km(map.graph.coords()[place.node as usize]);
        assert!(leg <= report.snap_km && (f64::from(place.leg) * 1e-6 - leg).abs() < 2e-6);
        let nearest = map
            .graph
            .coords()
            .iter()
            .map(|c| c.distance_km(place.coord))
            .fold(f64::INFINITY, f64::min);
        assert_eq!(leg, nearest);
    }
    let prior: f64 = map.places.iter().map(|p| p.prior).sum();
    let q: f64 = map.targets.iter().map(|t| t.weight).sum();
    assert!((prior - 1.0).abs() < 1e-12 && (q - 1.0).abs() < 1e-12);
    let (map, _) = build(streets, plan(PlacePlan::Nodes, Region::Everything)).unwrap();
    assert_eq!(map.places.len(), map.graph.node_count());
    assert!(map.places.iter().all(|p| p.leg == 0));
}

#[test]
fn a_region_outside_the_data_says_what_the_data_covers() {
    let streets = random_city(&mut SplitMix::new(9), 40);
    let region = Region::Box(BoundingBox::new(10.0, 10.0, 11.0, 11.0).unwrap());
    let error = build(streets, plan(PlacePlan::Grid(cell(200.0)), region)).unwrap_err().to_string();
    assert!(error.contains("the data covers 41.8"), "{error}");
}

#[test]
fn an_empty_graph_and_one_without_a_way_back_are_refused() {
    let nothing = build(Default::default(), plan(PlacePlan::Nodes, Region::Everything));
    assert!(matches!(nothing, Err(MapError::Empty { what: "street graph", .. })));
    let mut one_way = random_city(&mut SplitMix::new(1), 3);
    one_way.arcs.clear();
    one_way.add(0, 1, 1.0, 30.0, true);
    let error = build(one_way, plan(PlacePlan::Nodes, Region::Everything)).unwrap_err().to_string();
    assert!(error.contains("`undirected`"), "{error}");
}

#[test]
fn a_polygon_keeps_what_is_inside_and_leaves_holes_out() {
    let scratch = Scratch::new("polygon");
    let (lat, lon) = CENTRE;
    let square = |r: f64| {
        let corner = |y: f64, x: f64| format!("[{},{}]", lon + x * r, lat + y * r);
        let ring =
            [(-1., -1.), (-1., 1.), (1., 1.), (1., -1.), (-1., -1.)].map(|(y, x)| corner(y, x));
        format!("[{}]", ring.join(","))
    };
    let geojson = format!(
        r#"{{"type":"FeatureCollection","features":[{{"type":"Feature","properties":{{}},
            "geometry":{{"type":"Polygon","coordinates":[{},{}]}}}}]}}"#,
        square(0.01),
        square(0.004)
    );
    let polygon = Region::Polygon(Polygon::read(&scratch.file("p.geojson", geojson)).unwrap());
    let at = |y: f64, x: f64| polygon.contains(Coord::new(lat + y, lon + x).unwrap());
    assert!(at(0.007, 0.0) && at(-0.009, 0.009));
    assert!(!at(0.0, 0.0) && !at(0.011, 0.0) && !at(0.0, -0.5));
    let streets = random_city(&mut SplitMix::new(9), 300);
    let (map, report) =
        build(streets, plan(PlacePlan::Grid(cell(150.0)), polygon.clone())).unwrap();
    assert!(report.nodes_outside > 0);
    assert!(map.places.iter().all(|p| polygon.contains(p.coord)));

    for (text, field) in [
        ("{", "GeoJSON"),
        ("{}", "type"),
        (r#"{"type":"Point","coordinates":[1,2]}"#, "no Polygon"),
        (r#"{"type":"Polygon","coordinates":[[[1,2],[3,"x"],[1,2]]]}"#, "coordinates[0][1]"),
        (r#"{"type":"Polygon","coordinates":[[[1,200],[3,4],[1,2]]]}"#, "lat"),
        (r#"{"type":"Polygon","coordinates":[[[1,2],[3,4]]]}"#, "three points"),
    ] {
        let error = Polygon::read(&scratch.file("bad.geojson", text)).unwrap_err().to_string();
        assert!(error.contains(field) && error.contains("bad.geojson"), "{error}");
    }
}

#[test]
fn weights_reach_the_nearest_place_and_the_rest_is_counted() {
    let streets = random_city(&mut SplitMix::new(9), 60);
    let (first, second) = (streets.nodes[0], streets.nodes[7]);
    let far = Coord::new(45.0, 12.0).unwrap();
    let mut plan = plan(PlacePlan::Nodes, Region::Everything);
    plan.prior = PriorPlan::Weights(Weights::At(vec![(first, 3.0), (second, 1.0), (far, 4.0)]));
    plan.targets = TargetPlan::Weights(Weights::At(vec![(second, 2.0), (far, 5.0)]));
    let (map, report) = build(streets, plan).unwrap();
    assert_eq!(report.prior_unmatched, 0.5);
    assert_eq!(report.targets_without_street, 1);
    assert_eq!(map.targets.len(), 1);
    assert_eq!(map.graph.coords()[map.targets[0].node as usize], second);
    let heaviest = map.places.iter().max_by(|a, b| a.prior.total_cmp(&b.prior)).unwrap();
    assert_eq!((heaviest.coord, heaviest.prior), (first, 0.75));
}

/// Places at these offsets in metres north of the centre, by their number.
fn sites_at(metres: &[f64]) -> Vec<Site> {
    let centre = Coord::new(CENTRE.0, CENTRE.1).unwrap();
    let site = |(at, &m): (usize, &f64)| Site {
        id: format!("p{at}"),
        coord: centre.offset_km(m / 1000.0, 0.0),
    };
    metres.iter().enumerate().map(site).collect()
}

#[test]
fn a_place_listed_twice_is_refused_with_both_names() {
    let streets = random_city(&mut SplitMix::new(9), 300);
    let made = |metres: &[f64]| {
        let mut plan = plan(PlacePlan::Sites(sites_at(metres)), Region::Everything);
        plan.snap = Some(cell(5000.0));
        build(streets.clone(), plan)
    };
    for (metres, ids, others) in [
        (&[0.0, 300.0, 0.0][..], ["p0", "p2"], 0),
        (&[0.0, 300.0, 300.99, 0.5, 300.2], ["p1", "p2"], 2),
    ] {
        let error = made(metres).unwrap_err();
        assert!(error.to_string().contains("less than 1 m"), "{error}");
        let MapError::SamePlace { ids: found, others: more, .. } = error else { panic!("{error}") };
        assert_eq!((found, more), (ids.map(String::from), others));
    }
    assert_eq!(made(&[0.0, 300.0, 301.01]).unwrap().0.places.len(), 3);
}

#[test]
fn street_nodes_at_one_spot_make_one_place() {
    let mut streets = random_city(&mut SplitMix::new(9), 40);
    let beside = streets.nodes[3].offset_km(0.0005, 0.0);
    (streets.nodes[20], streets.nodes[30]) = (beside, streets.nodes[3]);
    let (map, report) = build(streets, plan(PlacePlan::Nodes, Region::Everything)).unwrap();
    assert_eq!((map.graph.node_count(), map.places.len(), report.places_twice), (40, 38, 2));
    // Places are called after their nodes, whether or not some are left out.
    for place in &map.places {
        assert_eq!(place.id, place.node.to_string());
        assert_eq!(map.graph.coords()[place.node as usize], place.coord);
    }
}

#[test]
fn a_map_file_with_a_place_twice_is_refused_by_name() {
    let scratch = Scratch::new("same-place");
    let path = scratch.path("old.lrmap");
    let mut map = random_map(4, 30, 20, 3);
    map.save(&path).unwrap();
    Map::open(&path).unwrap();
    map.places[11].coord = map.places[5].coord;
    map.save(&path).unwrap();
    let error = Map::open(&path).unwrap_err();
    assert!(matches!(&error, MapError::SamePlace { ids, .. } if ids == &["p5", "p11"]), "{error}");
    let error = error.to_string();
    assert!(error.contains("old.lrmap") && error.contains("lrgeo map build"), "{error}");
}

#[test]
fn the_spacing_is_that_of_the_places_that_can_be_told_apart() {
    let mut coords: Vec<Coord> =
        sites_at(&[0.0, 400.0, 800.0, 1200.0]).iter().map(|site| site.coord).collect();
    let alone = spacing_km(&coords).unwrap();
    assert!((alone - 0.4).abs() < 1e-9);
    // Nearly all places at one spot, or a hair from it.
    let crowd = (0..500).map(|i| coords[1].offset_km(1e-6 * f64::from(i), 0.0));
    let crowd: Vec<Coord> = crowd.collect();
    coords.extend(&crowd);
    assert_eq!(spacing_km(&coords), Some(alone));
    assert_eq!(spacing_km(&crowd), None);
    assert_eq!((spacing_km(&coords[..1]), spacing_km(&[])), (None, None));
}
