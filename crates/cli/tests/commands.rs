//! The commands as a person runs them: the real program, real files, exit codes.

mod common;

use std::path::Path;

use common::Scratch;
use serde_json::Value;

#[test]
fn help_is_a_table_of_contents_with_an_example_for_every_command() {
    let scratch = Scratch::new("help");
    let help = scratch.succeed("--help");
    let commands = |help: &str| -> Vec<String> {
        let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
        listed
            .take_while(|line| !line.is_empty())
            .filter_map(|line| line.split_whitespace().next().map(str::to_owned))
            .filter(|name| name != "help")
            .collect()
    };
    for command in commands(&help) {
        assert!(help.contains(&format!("  lrgeo {command} ")), "no example for {command}");
        let page = scratch.succeed(&format!("{command} --help"));
        for subcommand in commands(&page) {
            assert!(
                help.contains(&format!("  lrgeo {command} {subcommand} ")),
                "{command} {subcommand}"
            );
            let page = scratch.succeed(&format!("{command} {subcommand} --help"));
            assert!(page.contains("Example"), "no example in {command} {subcommand} --help");
            assert!(page.contains("--quiet"), "{command} {subcommand} has no --quiet");
        }
    }
}

#[test]
fn the_demo_tells_its_story() {
    let scratch = Scratch::new("demo");
    let text = scratch.succeed("demo --no-serve");
    for part in [
        "city",
        "places",
        "cost table",
        "epsilon 1/km",
        "0 violations",
        "wherever they are",
        "coordinates  reports a place",
        "published    reports a place",
        "local        reports a place",
        "offload      reports a place",
        "the server learns",
    ] {
        assert!(text.contains(part), "`{part}` is missing in:\n{text}");
    }
    let demo = scratch.json("demo --no-serve --json --epsilon 3/km --cell 700m --seed 5");
    assert_eq!(demo["violations"], 0);
    let people = demo["people"].as_array().unwrap();
    let modes: Vec<&str> = people.iter().map(|person| person["mode"].as_str().unwrap()).collect();
    assert_eq!(modes, ["coordinates", "published", "local", "offload"]);
    assert!(people.iter().all(|person| person["same_again"] == true));
    for person in people {
        let off = person["estimated_km"].as_f64().unwrap() - person["true_km"].as_f64().unwrap();
        let moved = person["moved_km"].as_f64().unwrap();
        assert!(moved > 0.0 || off == 0.0, "who reports the own place is not misjudged");
    }
    assert!(demo["worst_log_excess"].as_f64().unwrap() <= 0.0);
    let loss = &demo["mean_loss_km"];
    assert!(
        loss["lower_bound"].as_f64() < loss["true"].as_f64()
            && loss["true"].as_f64() < loss["upper_bound"].as_f64()
    );
    let strict = scratch.json("demo --no-serve --json --epsilon 0.5/km --cell 700m --seed 5");
    assert!(
        strict["expected_cost"].as_f64() > demo["expected_cost"].as_f64(),
        "more privacy costs more"
    );
    assert!(scratch.names().is_empty(), "the demo left {:?} behind", scratch.names());
}

#[test]
fn from_the_demo_city_to_a_slice_of_its_cost_table() {
    let scratch = Scratch::new("flow");
    let built = scratch.json("map build --demo --cell 600m -o a.lrmap --json");
    let info = scratch.json("map info a.lrmap --gamma 1.3km --json");
    assert_eq!(built["map"], info["map"]);
    assert_eq!(built["places"], info["places"]);
    let side = |name: &str| info["bounds"][name].as_f64().unwrap();
    assert!(side("south") < side("north") && side("west") < side("east"));
    assert!((info["spacing_km"].as_f64().unwrap() - 0.6).abs() < 0.01);
    assert!(info["stretch"]["worst"].as_f64().unwrap() >= 1.0);
    assert_eq!(info["largest_component"], info["places"]);
    let split = scratch.json("map info a.lrmap --gamma 500m --json");
    assert_eq!(split["components"], split["places"], "below the spacing nobody has a neighbour");

    let quiet = scratch
        .run("map export a.lrmap --geojson a.geojson --places-csv a.csv --svg a.svg --quiet");
    assert!(quiet.status.success() && quiet.stderr.is_empty() && quiet.stdout.is_empty());
    let geojson: Value =
        serde_json::from_str(&std::fs::read_to_string(scratch.0.join("a.geojson")).unwrap())
            .unwrap();
    let kinds = |kind: &str| {
        let features = geojson["features"].as_array().unwrap();
        features.iter().filter(|f| f["properties"]["kind"] == kind).count() as u64
    };
    assert_eq!(kinds("place"), info["places"].as_u64().unwrap());
    assert_eq!(kinds("target"), info["targets"].as_u64().unwrap());
    assert!(kinds("street") * 2 >= info["arcs"].as_u64().unwrap());
    let csv = std::fs::read_to_string(scratch.0.join("a.csv")).unwrap();
    assert!(csv.starts_with("id,lat,lon,prior\n"));
    assert_eq!(csv.lines().count() as u64, 1 + info["places"].as_u64().unwrap());
    assert!(std::fs::read_to_string(scratch.0.join("a.svg")).unwrap().contains("</svg>"));

    // The exported places and prior make the same places again.
    scratch.succeed("map build --demo --places a.csv --prior a.csv --snap 1km -o b.lrmap");
    scratch.succeed("map export b.lrmap --places-csv b.csv");
    let again = std::fs::read_to_string(scratch.0.join("b.csv")).unwrap();
    for (a, b) in csv.lines().zip(again.lines()).skip(1) {
        let ((a, p), (b, q)) = (a.rsplit_once(',').unwrap(), b.rsplit_once(',').unwrap());
        let (p, q): (f64, f64) = (p.parse().unwrap(), q.parse().unwrap());
        assert!(a == b && (p - q).abs() < 1e-12, "{a},{p} became {b},{q}");
    }

    let table = scratch.json("cost-table build a.lrmap --cell 150m -o a.lrtable --json");
    assert_eq!(table["map"], info["map"]);
    assert_eq!(table, scratch.json("cost-table info a.lrtable --map a.lrmap --json"));
    let other = scratch.fail("cost-table info a.lrtable --map b.lrmap");
    assert!(other.contains("another version of the map"), "{other}");
    let tile = &table["tiles"][0];
    let slice = scratch.json(&format!(
        "cost-table slice a.lrtable --tile {},{} --json",
        tile["row"], tile["column"]
    ));
    assert_eq!(slice["slice"].as_array().unwrap().len() as u64, tile["cells"].as_u64().unwrap());
    assert_eq!(slice["beta"][0][0], 0.0);
    scratch.succeed("cost-table slice a.lrtable --circle 46.0,-30.0,600m -o slice.csv");
    let lines = std::fs::read_to_string(scratch.0.join("slice.csv")).unwrap().lines().count() - 1;
    let side = (lines as f64).sqrt();
    assert!(side > 3.0 && side.fract() == 0.0, "{lines} pairs are no square");
}

#[test]
fn costs_are_exported_for_every_utility() {
    let scratch = Scratch::new("costs");
    scratch.succeed("map build --demo --cell 1500m --snap 2km -o a.lrmap");
    let mut diagonal_free = Vec::new();
    for utility in ["travel-distance", "travel-time", "straight-line", "given.csv"] {
        scratch.succeed(&format!("map export a.lrmap --costs {utility}.csv --utility {utility}"));
        if utility == "travel-distance" {
            std::fs::copy(scratch.0.join("travel-distance.csv"), scratch.0.join("given.csv"))
                .unwrap();
        }
        let text = std::fs::read_to_string(scratch.0.join(format!("{utility}.csv"))).unwrap();
        diagonal_free
            .push(text.lines().next().unwrap().split(',').nth(1).unwrap().parse::<f64>().unwrap());
    }
    assert!(diagonal_free.iter().all(|loss| *loss > 0.0), "{diagonal_free:?}");
    assert_eq!(diagonal_free[0], diagonal_free[3], "a matrix file gives back what it holds");
    scratch.succeed("map export a.lrmap --costs a.npy");
    assert!(std::fs::read(scratch.0.join("a.npy")).unwrap().starts_with(b"\x93NUMPY"));
}

#[test]
fn wrong_input_is_named_and_leaves_nothing_behind() {
    let scratch = Scratch::new("wrong");
    scratch.file("n.csv", "id,lat,lon\na,41.9,12.5\nb,41.91,12.5\n");
    scratch.file("e.csv", "from,to,length_m\na,b,1200\n");
    scratch.file("bad.csv", "from,to,length_m\na,b,NaN\n");
    scratch.file("x.osm.pbf", "not a map");
    scratch.file("x.lrmap", "not a map either, but longer than the header of one would have to be");
    let before = scratch.names();
    for (arguments, expected) in [
        ("map build --osm x.osm.pbf -o o.lrmap", "x.osm.pbf"),
        ("map build --osm absent.osm.pbf -o o.lrmap", "absent.osm.pbf"),
        ("map build --nodes n.csv --edges bad.csv -o o.lrmap", "bad.csv, line 2, length_m"),
        ("map build --nodes n.csv --edges e.csv -o o.lrmap", "--undirected"),
        ("map build --demo --cell 0m -o o.lrmap", "not a positive length"),
        ("map build --demo --cell -5m -o o.lrmap", "not a positive length"),
        ("map build --demo --cell 500 -o o.lrmap", "has no unit"),
        ("map build --demo --cell 1m -o o.lrmap", "limit of 4000000"),
        ("map build --demo --bbox 10,10,11,11 -o o.lrmap", "the data covers 45.9"),
        ("map build --demo --bbox 11,10,10,11 -o o.lrmap", "south must lie below north"),
        ("map build --demo --bbox 1,2,3 -o o.lrmap", "S,W,N,E"),
        ("map build --demo --targets random:0 -o o.lrmap", "targets: random:0"),
        ("map build --demo --targets random:x -o o.lrmap", "targets: `random:x`"),
        ("map build --demo --prior absent.csv -o o.lrmap", "absent.csv"),
        ("map build --demo --prior n.csv:no -o o.lrmap", "n.csv, line 1, no: no such column"),
        ("map build --demo -o no/such/folder/o.lrmap", "no/such/folder"),
        ("map build -o o.lrmap", "--demo"),
        ("map info x.lrmap", "x.lrmap: not an lrgeo file"),
        ("map info absent.lrmap", "absent.lrmap"),
        ("cost-table build x.lrmap -o o.lrtable", "x.lrmap"),
        ("cost-table info x.lrmap", "x.lrmap"),
        ("demo --epsilon 0/km", "epsilon"),
        ("demo --epsilon nan", "epsilon"),
        ("demo --epsilon -1", "epsilon"),
    ] {
        let error = scratch.fail(arguments);
        assert!(error.contains(expected), "lrgeo {arguments}: expected `{expected}` in `{error}`");
        assert!(!error.contains("panicked"), "{error}");
        assert_eq!(scratch.names(), before, "lrgeo {arguments} left something behind");
    }
}

#[test]
fn a_table_slice_that_is_too_large_says_what_to_do() {
    let scratch = Scratch::new("slice");
    scratch.succeed("map build --demo -o a.lrmap --quiet");
    scratch.succeed("cost-table build a.lrmap --cell 1m -o a.lrtable --quiet");
    let far = scratch.fail("cost-table slice a.lrtable --circle 10,10,1km --json");
    assert!(far.contains("no cell of the table lies there"), "{far}");
    let missing = scratch.fail("cost-table slice a.lrtable --tile 99999,9 --json");
    assert!(missing.contains("tile: 99999,9"), "{missing}");
}

#[test]
fn real_streets_where_present() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let Ok(data) = data.canonicalize() else { return };
    let scratch = Scratch::new("real");
    let (rome, sf) = (data.join("02-rome-streets"), data.join("04-sf-streets"));
    let places = data.join("01-rome-grid-40x40/reget_rome_cell_node40x40.csv");
    scratch.succeed(&format!(
        "map build --nodes {0}/rome_full_nodes.csv --edges {0}/rome_full_edges.csv --undirected --places {1} --targets random:20 -o rome.lrmap",
        rome.display(),
        places.display()
    ));
    let info = scratch.json("map info rome.lrmap --gamma 1km --json");
    assert_eq!((info["places"].as_u64(), info["targets"].as_u64()), (Some(1_331), Some(20)));
    let worst = info["stretch"]["worst"].as_f64().unwrap();
    assert!(
        (7.5..7.7).contains(&worst),
        "`docs/specification.md` section 1 says 7.6, this is {worst}"
    );
    assert_eq!(info["components"], 1);
    assert_ne!(scratch.json("map info rome.lrmap --gamma 0.7km --json")["components"], 1);

    let counts = data.join("05-sf-taxi-counts/sf_cab_node_counts.csv");
    let built = scratch.json(&format!(
        "map build --nodes {0}/sf_nodes.csv --edges {0}/sf_edges.csv --prior {1}:pickups --targets {1}:dropoffs -o sf.lrmap --json",
        sf.display(),
        counts.display()
    ));
    assert_eq!(built["nodes"], 9_793, "the largest strong component of San Francisco");
    assert!(built["left_out"]["prior_share"].as_f64().unwrap() < 0.1);
}
