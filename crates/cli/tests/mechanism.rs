//! `lrgeo mechanism`, `verify` and `obfuscate` through the real binary.

mod common;

use common::Scratch;
use lrgeo_map::map::Map;

const BUILD: &str = "mechanism build city.lrmap -o m.lrmech -q";

/// A directory with a map in it.
fn with_map(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.succeed("map build --demo --cell 1km -o city.lrmap");
    scratch
}

#[test]
fn every_kind_is_built_verified_and_drawn_from() {
    let scratch = with_map("mechanism-kinds");
    scratch.succeed("map export city.lrmap --places-csv places.csv");
    let places = scratch.read("places.csv");
    let first: Vec<&str> = places.lines().nth(1).unwrap().split(',').collect();
    let at = format!("{},{}", first[1], first[2]);
    let ninth = places.lines().nth(9).unwrap().split(',').next().unwrap();
    scratch.file("users", &format!("# a place by its id, one by position\n{ninth}\n{at}\n"));
    let kinds = ["lp", "lr-geo", "lr-geo-f", "const-opt", "exp", "published"];
    for kind in kinds.into_iter().chain(["laplace", "laplace-places"]) {
        let built =
            scratch.json(&format!("{BUILD} --kind {kind} --epsilon 1/km --users users --json"));
        assert_eq!(built["kind"], kind);
        assert!(built["expected_cost"].as_f64().unwrap() > 0.0);
        let info = scratch.json("mechanism info m.lrmech --json");
        assert_eq!(info["expected_cost"], built["expected_cost"]);
        assert_eq!(info["promise"]["epsilon_per_km"], 1.0);
        let verdict = scratch.json("verify m.lrmech --map city.lrmap --json");
        assert_eq!(verdict["holds"], true);
        assert_eq!(verdict["guaranteed"]["violations"], 0);
        assert_eq!(verdict["deployed"].is_null(), !kind.starts_with("lr-geo"));
        let report = scratch.json(&format!("obfuscate m.lrmech --at {at} --json"));
        assert_eq!(report["type"], "Feature");
        assert!(report["properties"]["accuracy_m"].as_u64().unwrap() >= 500);
        let many = scratch.json(&format!("obfuscate m.lrmech --at {at} --count 3 --json"));
        assert_eq!(many["features"].as_array().unwrap().len(), 3);
    }
}

#[test]
fn a_round_without_users_is_one_of_ten_random_ones_and_says_so() {
    let scratch = with_map("mechanism-users");
    let build = "mechanism build city.lrmap --kind lr-geo --epsilon 1/km";
    let output = scratch.run(&format!("{build} -o left-out.lrmech"));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    assert!(said.contains("no --users: 10 random ones, seed 1"), "{said}");
    scratch.succeed(&format!("{build} --users random:10 -o asked-for.lrmech -q"));
    let cost = |file: &str| {
        let info = scratch.json(&format!("mechanism info {file} --json"));
        assert_eq!(info["kind"], "lr-geo");
        info["expected_cost"].clone()
    };
    assert_eq!(cost("left-out.lrmech"), cost("asked-for.lrmech"));
}

#[test]
fn the_rows_are_exported_as_they_are() {
    let scratch = with_map("mechanism-export");
    let built = scratch.json(&format!("{BUILD} --privacy 'factor 2 within 300 m' --json"));
    let epsilon = built["promise"]["epsilon_per_km"].as_f64().unwrap();
    assert!((epsilon - 2f64.ln() / 0.3).abs() < 1e-12);
    scratch.succeed("mechanism export m.lrmech -q --npy m.npy --csv m.csv --geojson m.geojson");
    let places = built["places"].as_u64().unwrap() as usize;
    let npy = std::fs::read(scratch.path("m.npy")).unwrap();
    let entries: Vec<f64> = npy[npy.len() - 8 * places * places..]
        .chunks_exact(8)
        .map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap()))
        .collect();
    for row in entries.chunks_exact(places) {
        assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }
    let csv = scratch.read("m.csv");
    let written: Vec<f64> =
        csv.lines().skip(1).map(|line| line.rsplit(',').next().unwrap().parse().unwrap()).collect();
    let positive: Vec<f64> = entries.iter().copied().filter(|z| *z > 0.0).collect();
    assert_eq!(written, positive);
    let geojson: serde_json::Value = serde_json::from_str(&scratch.read("m.geojson")).unwrap();
    assert_eq!(geojson["features"].as_array().unwrap().len(), places);
}

#[test]
fn people_are_told_what_it_means_and_warned() {
    let scratch = with_map("mechanism-words");
    let output =
        scratch.run("mechanism build city.lrmap --kind laplace-places --epsilon 10/km -o m.lrmech");
    let (text, remarks) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    for word in ["guarantee", "10/km", "protected radius", "between people", "per report"] {
        assert!(text.contains(word), "{word} is missing:\n{text}");
    }
    assert!(remarks.contains("nearly no privacy"), "{remarks}");
    assert!(remarks.contains("the promise is between places"), "{remarks}");
}

#[test]
fn a_promise_to_people_is_kept_or_refused_with_what_keeps_it() {
    let scratch = with_map("mechanism-people");
    let asked = "--privacy 'factor 2 within 300 m'";
    let built = scratch.json(&format!("{BUILD} {asked} --json"));
    assert_eq!(
        (&built["kind"], &built["promise"]["notion"]),
        (&"laplace".into(), &"coordinates".into())
    );
    let words = built["meaning"]["between_people"].as_str().unwrap();
    assert_eq!(words, "asked: factor 2 within 300 m; between people: factor 2.0 within 300 m");
    assert!((built["meaning"]["protected_radius_km"].as_f64().unwrap() - 0.3).abs() < 1e-9);
    let verdict = scratch.json("verify m.lrmech --json");
    assert_eq!((&verdict["holds"], &verdict["method"]), (&true.into(), &"closed-form".into()));
    std::fs::remove_file(scratch.path("m.lrmech")).unwrap();
    for kind in ["published", "lp", "exp", "laplace-places"] {
        let message = scratch.fail(&format!("{BUILD} {asked} --kind {kind}"));
        for choice in ["--kind laplace", "--epsilon 0.3", "--cell"] {
            assert!(message.contains(choice), "{kind}: no {choice} in {message}");
        }
        assert!(!scratch.path("m.lrmech").exists());
    }
    // Between places the same epsilon is another thing, and the account says which.
    let built = scratch.json(&format!("{BUILD} --kind laplace-places --epsilon 2.31/km --json"));
    assert_eq!(built["meaning"]["protected_radius_km"], 0.0);
    let words = built["meaning"]["between_people"].as_str().unwrap();
    assert!(words.starts_with("between people: factor 5"), "{words}");
}

#[test]
fn rows_are_written_for_any_coordinates() {
    let scratch = with_map("mechanism-rows");
    scratch.succeed("map export city.lrmap --places-csv places.csv");
    let places = scratch.read("places.csv");
    let at: Vec<f64> = places
        .lines()
        .nth(20)
        .unwrap()
        .split(',')
        .skip(1)
        .take(2)
        .map(|n| n.parse().unwrap())
        .collect();
    let (here, near) = ((at[0], at[1]), (at[0] + 0.0009, at[1]));
    scratch.file("p.csv", &format!("lat,lon\n{},{}\n{},{}\n", here.0, here.1, near.0, near.1));
    let columns = places.lines().count() - 1;
    for kind in ["laplace", "published"] {
        scratch.succeed(&format!("{BUILD} --kind {kind} --epsilon 2/km"));
        scratch.succeed("mechanism rows m.lrmech --points p.csv --npy rows.npy -q");
        let npy = std::fs::read(scratch.path("rows.npy")).unwrap();
        let entries: Vec<f64> = npy[npy.len() - 16 * columns..]
            .chunks_exact(8)
            .map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap()))
            .collect();
        let (a, b) = entries.split_at(columns);
        assert!((a.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        let ratio =
            a.iter().zip(b).filter(|(x, _)| **x > 0.0).map(|(x, y)| x / y).fold(0.0, f64::max);
        // A hundred metres apart: noise around the coordinate moves with it, cells do not know.
        match kind {
            "laplace" => assert!(ratio > 1.05 && ratio <= (2.0f64 * 0.1002).exp(), "{ratio}"),
            _ => assert_eq!(ratio, 1.0),
        }
    }
    scratch.file("far.csv", "lat,lon\n10,10\n");
    let message = scratch.fail("mechanism rows m.lrmech --points far.csv --npy far.npy");
    assert!(message.contains("outside the map") && !scratch.path("far.npy").exists(), "{message}");
    scratch.file("bad.csv", "lat,lon\n10\n");
    assert!(
        scratch.fail("mechanism rows m.lrmech --points bad.csv --npy x.npy").contains("bad.csv")
    );
}

#[test]
fn cells_follow_the_privacy_that_is_asked_for() {
    let scratch = Scratch::new("mechanism-cells");
    let places = |asked: &str| {
        scratch.json(&format!("map build --demo {asked} -o m.lrmap --json -q"))["places"]
            .as_u64()
            .unwrap()
    };
    let (fine, coarse) = (places("--privacy 2/km"), places("--privacy 0.5/km"));
    assert!(fine > 8 * coarse, "{fine} {coarse}");
    let output = scratch.run("map build --demo --privacy 0.5/km -o m.lrmap");
    let remarks = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        remarks.contains("cells of 1000 m") && remarks.contains("epsilon x spacing is then 0.50"),
        "{remarks}"
    );
}

#[test]
fn bad_input_is_refused_by_name_and_leaves_nothing() {
    let scratch = with_map("mechanism-bad");
    scratch.file("users", "nowhere\n");
    scratch.file("far", "10,10\n");
    let cases = [
        ("--epsilon 0/km", "epsilon"),
        ("--epsilon 9999/km", "epsilon"),
        ("--epsilon 1/km --kind magic", "--kind"),
        ("--epsilon 1/km --kind lp --gamma 300m", "gamma"),
        ("--epsilon 1/km --kind lr-geo --users users", "users: line 1"),
        ("--epsilon 1/km --kind lr-geo --users far", "users: line 1"),
        ("--epsilon 1/km --kind lr-geo --users random:0", "--users"),
        (
            "--epsilon 1/km --kind lr-geo --users random:3 --exp-radius 5km --obf-radius 3km",
            "--exp-radius: r_exp",
        ),
        ("--epsilon 1/km --kind lr-geo --users random:3 --lr-radius 500m", "lr-radius"),
        ("--epsilon 1/km --lr-max 0", "lr-max"),
        ("--epsilon 1/km --stretch 0.5", "stretch"),
        ("--privacy very", "--privacy"),
    ];
    for (more, field) in cases {
        let output = scratch.run(&format!("{BUILD} {more}"));
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.contains(field), "{more}: {message}");
        assert!(matches!(output.status.code(), Some(1 | 2)), "{more}: {}", output.status);
        assert!(!message.contains("10,10"), "a position was repeated: {message}");
        assert!(!scratch.path("m.lrmech").exists(), "{more} left a file");
    }
    scratch.succeed(&format!("{BUILD} --epsilon 1/km --kind lp --gamma 300m --allow-disconnected"));

    scratch.succeed(&format!("{BUILD} --epsilon 1/km --kind laplace"));
    let message = scratch.fail("obfuscate m.lrmech --at 10.125,10.5");
    assert!(message.contains("outside the map") && !message.contains("10.125"), "{message}");
    scratch.succeed("map build --demo --cell 900m -o other.lrmap");
    for command in ["verify m.lrmech", "mechanism info m.lrmech"] {
        let message = scratch.fail(&format!("{command} --map other.lrmap"));
        assert!(message.contains("version"), "{message}");
    }
    let bytes = std::fs::read(scratch.path("m.lrmech")).unwrap();
    std::fs::write(scratch.path("cut.lrmech"), &bytes[..bytes.len() / 2]).unwrap();
    assert!(scratch.fail("verify cut.lrmech").contains("checksum"));
    assert!(scratch.fail("verify city.lrmap").contains("not a mechanism"));
    assert!(!scratch.names().iter().any(|name| name.contains("part")));
}

/// A map of an older version or of another program may hold a place twice; spacing zero once kept the commands below busy for ever.
#[test]
fn a_place_listed_twice_is_refused_by_whoever_meets_it() {
    let scratch = with_map("mechanism-twice");
    scratch.succeed("map export city.lrmap --places-csv places.csv");
    let places = scratch.read("places.csv");
    let again = places.lines().nth(4).unwrap().split_once(',').unwrap().1;
    scratch.file("twice.csv", &format!("{places}again,{again}\n"));
    let message = scratch.fail("map build --demo --places twice.csv -o twice.lrmap");
    let lines = format!("twice.csv, lines 5 and {}", places.lines().count() + 1);
    assert!(message.contains(&lines) && message.contains("keep one"), "{message}");
    assert!(!scratch.path("twice.lrmap").exists());

    let (mut map, _) = Map::open(&scratch.path("city.lrmap")).unwrap();
    let spot = map.places[0].coord;
    map.places.iter_mut().skip(5).for_each(|place| place.coord = spot);
    map.save(&scratch.path("old.lrmap")).unwrap();
    for command in [
        "mechanism build old.lrmap --epsilon 1/km -o m.lrmech",
        "mechanism build old.lrmap --epsilon 1/km --kind laplace -o m.lrmech",
        "serve --map old.lrmap --data data --listen 127.0.0.1:0",
        "map info old.lrmap",
    ] {
        let message = scratch.fail(command);
        assert!(message.contains("old.lrmap") && message.contains("the same"), "{message}");
    }
    assert!(!scratch.path("m.lrmech").exists());
    let nodes = scratch.json("map build --demo --places nodes -o nodes.lrmap --json");
    assert!(nodes["left_out"]["places_twice"].is_u64());
}

#[test]
fn stopped_early_the_cheapest_there_is_gets_written_and_said_so() {
    let scratch = with_map("mechanism-stopped");
    let build = "mechanism build city.lrmap -o m.lrmech --epsilon 1/km";
    let laplace = scratch.json(&format!("{build} --kind laplace-places -q --json"));
    for kind in ["published", "lp --all-pairs", "const-opt --all-pairs"] {
        let built =
            scratch.json(&format!("{build} --kind {kind} --gap 0 --time-limit 1ms -q --json"));
        let note =
            built["notes"]["stopped early"].as_str().unwrap_or_else(|| panic!("{kind}: {built}"));
        for word in ["stopped after", "optimiser", "exponential", "Laplace", "was taken"] {
            assert!(note.contains(word), "{word} is missing: {note}");
        }
        let cost = |built: &serde_json::Value| built["expected_cost"].as_f64().unwrap();
        assert!(cost(&built) <= cost(&laplace) * (1.0 + 1e-6), "{kind}: {note}");
        assert_eq!(built["certificate"]["status"], "limit");
        assert_eq!(scratch.json("verify m.lrmech --json")["holds"], true);
    }
    let output = scratch.run(&format!("{build} --gap 0 --time-limit 1ms"));
    let remarks = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && remarks.contains("warning: stopped early"), "{remarks}");
}

#[test]
fn people_on_streets_are_followed() {
    let scratch = with_map("mechanism-trace");
    scratch.succeed(&format!("{BUILD} --kind exp --epsilon 1/km"));
    let trace = "attack trace m.lrmech --users random:3 --fixes 8 --particles 100 -q";
    // Streets of another map than the mechanism's are of no use.
    assert!(scratch.fail(trace).contains("map"), "the demo city has other places at 500 m");
    let followed = scratch.json(&format!("{trace} --map city.lrmap --json"));
    let results = followed["results"].as_array().unwrap();
    // On foot and by car, in three ways, and one attacker who does not look at the clock.
    assert_eq!((results.len(), &followed["reuse_within_km"]), (10, &1.0.into()));
    assert_eq!(results[0]["draws_per_journey"], 8.0);
    assert!(results[3]["draws_per_journey"].as_f64().unwrap() < 2.0);
    let table = scratch.succeed(&format!("{trace} --map city.lrmap --reuse-within 200m"));
    for words in ["walk: every fix drawn anew", "drive: remembered per anchor", "within 200 m"] {
        assert!(table.contains(words), "{words}: {table}");
    }
}
