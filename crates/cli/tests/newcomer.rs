//! What somebody does who has never used the program before, and what it says then.

mod common;

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::Scratch;

/// A map and a mechanism to make mistakes with. The demo city lies around 46 north, 30 west.
fn scratch(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.succeed("map build --demo --cell 1500m -o city.lrmap -q");
    scratch.succeed("mechanism build city.lrmap --kind exp --epsilon 1/km -o city.lrmech -q");
    scratch
}

#[test]
fn a_place_off_the_map_is_told_so_with_the_box_of_the_map() {
    let scratch = scratch("off");
    scratch.succeed("mechanism build city.lrmap --privacy 1/km -o noise.lrmech -q");
    for mechanism in ["city.lrmech", "noise.lrmech"] {
        let reversed = scratch.fail(&format!("obfuscate {mechanism} --at -30.0017,46.0031"));
        for words in
            ["latitude and longitude exchanged", "latitude comes first", "the map: latitude 4"]
        {
            assert!(reversed.contains(words), "{words}: {reversed}");
        }
        let elsewhere = scratch.fail(&format!("obfuscate {mechanism} --at 10.125,20.25"));
        assert!(elsewhere.contains("lies outside the map"), "{elsewhere}");
        assert!(
            elsewhere.contains("the map: latitude 4") && elsewhere.contains("longitude -30."),
            "{elsewhere}"
        );
        for message in [reversed, elsewhere] {
            assert!(!message.contains("46.0031") && !message.contains("10.125"), "{message}");
        }
    }
    // What cannot be a latitude is found before anything is opened.
    let swapped = scratch.fail("obfuscate city.lrmech --at 139.7,35.6");
    assert!(swapped.contains("latitude comes first"), "{swapped}");
    // In a file of people too.
    scratch.file("people.csv", "lat,lon\n-30.0017,46.0031\n");
    let people = scratch.fail("obfuscate city.lrmech --points people.csv -o reports.csv");
    assert!(people.contains("exchanged") && !people.contains("46.0031"), "{people}");
}

#[test]
fn numbers_without_a_unit_are_refused_alike_with_what_to_write() {
    let scratch = scratch("units");
    for (command, bare, written) in [
        ("map build --demo --cell 500 -o x.lrmap", "`500`", "500m or 0.5km"),
        ("map build --demo --privacy 2 -o x.lrmap", "`2`", "2/km"),
        ("map info city.lrmap --gamma 1", "`1`", "500m or 0.5km"),
        ("mechanism build city.lrmap --epsilon 2 -o x.lrmech", "`2`", "2/km"),
        ("mechanism build city.lrmap --epsilon 2/km --time-limit 60 -o x.lrmech", "`60`", "60s"),
        ("evaluate exp --map city.lrmap --epsilon 1/km,2", "`2`", "2/km"),
        ("compare city.lrmap --epsilon 2", "`2`", "2/km"),
        ("attack trace city.lrmech --every 10", "`10`", "60s"),
        ("cost-table slice city.lrtable --circle 46.0,-30.0,700", "`700`", "500m or 0.5km"),
        ("client policy --per-report 2 --state x.json", "`2`", "2/km"),
        ("client policy --period 24 --state x.json", "`24`", "24h"),
        ("client policy --fetch-all 8000000 --state x.json", "`8000000`", "8MB"),
        ("client policy --reuse-within 300 --state x.json", "`300`", "500m or 0.5km"),
    ] {
        let message = scratch.fail(command);
        assert!(
            message.contains(&format!("{bare} has no unit; write it like")),
            "{command}: {message}"
        );
        assert!(message.contains(written), "{command}: {message}");
    }
    assert!(!scratch.path("x.lrmap").exists() && !scratch.path("x.json").exists());
}

#[test]
fn a_file_of_another_kind_is_called_by_its_whole_name() {
    let scratch = scratch("kinds");
    let said = scratch.fail("map info city.lrmech");
    assert!(said.contains("is a mechanism, not a map"), "{said}");
    let said = scratch.fail("verify city.lrmap");
    assert!(said.contains("is a map, not a mechanism"), "{said}");
}

/// A street of five nodes, 0.01 degrees or 1112 m apart, with these lengths.
fn street(scratch: &Scratch, column: &str, lengths: [f64; 4]) {
    let nodes: String =
        (0..5).map(|n| format!("{n},{},7.0\n", 45.0 + 0.01 * f64::from(n))).collect();
    scratch.file("nodes.csv", &format!("id,lat,lon\n{nodes}"));
    let edges = lengths.iter().enumerate().map(|(n, length)| format!("{n},{},{length}\n", n + 1));
    scratch.file("edges.csv", &format!("from,to,{column}\n{}", edges.collect::<String>()));
}

#[test]
fn lengths_in_another_unit_are_refused_and_edges_that_are_too_short_are_flagged() {
    let scratch = Scratch::new("lengths");
    let build =
        "map build --nodes nodes.csv --edges edges.csv --undirected --places nodes -o s.lrmap";
    street(&scratch, "length_m", [1.13; 4]);
    let said = scratch.fail(build);
    assert!(
        said.contains("length_m")
            && said.contains("kilometres given as metres: call the column length_km"),
        "{said}"
    );
    street(&scratch, "length_km", [1130.0; 4]);
    let said = scratch.fail(build);
    assert!(said.contains("metres given as kilometres: call the column length_m"), "{said}");
    assert!(!scratch.path("s.lrmap").exists());

    street(&scratch, "length_m", [1130.0, 900.0, 1130.0, 700.0]);
    let said = String::from_utf8(scratch.run(build).stderr).unwrap();
    assert!(said.contains("warning: 2 edges shorter than the straight line"), "{said}");
    assert!(said.contains("line 5 (0.700 km instead of at least 1.112 km)"), "{said}");
    let json = scratch.json(&format!("{build} --json -q"));
    assert_eq!(json["csv"]["edges_too_short"], 2);

    // Rounded to metres, and nothing is wrong.
    street(&scratch, "length_m", [1112.0, 1111.0, 1112.0, 1200.0]);
    let said = String::from_utf8(scratch.run(build).stderr).unwrap();
    assert!(!said.contains("warning"), "{said}");
}

#[test]
fn what_depends_on_a_wrong_claim_fails_with_it() {
    let scratch = Scratch::new("claims");
    let problem =
        r#"{"version": 1, "epsilon": 1.0, "cost": [[0, 1], [1, 0]], "arcs": [[0, 1, 1.0]]}"#;
    scratch.file("problem.json", problem);
    scratch.succeed("solve problem.json -o solution.json -q");
    let mut solution: serde_json::Value =
        serde_json::from_str(&scratch.read("solution.json")).unwrap();
    let objective = solution["objective"].as_f64().unwrap();
    solution["objective"] = (0.9 * objective).into();
    scratch.file("solution.json", &solution.to_string());
    let output = scratch.run("check problem.json solution.json");
    assert_eq!(output.status.code(), Some(4));
    let said = String::from_utf8(output.stdout).unwrap();
    let line = |what: &str| said.lines().find(|line| line.starts_with(what)).unwrap().to_owned();
    assert!(line("objective").contains("FAILS") && line("gap").contains("FAILS"), "{said}");
    assert!(line("privacy").contains("holds"), "{said}");
}

#[test]
fn one_is_not_plural_and_nothing_has_no_sign() {
    let scratch = scratch("one");
    let requests = scratch.succeed("attack request city.lrmap --users random:3 --counts 1,2 -q");
    assert!(requests.contains("1 request, ") && !requests.contains("1 requests"), "{requests}");
    let reports = scratch.succeed("attack repeat city.lrmech --users random:3 --counts 1,2 -q");
    assert!(
        reports.contains("1 fresh report, ") && reports.contains("2 fresh reports, "),
        "{reports}"
    );
    scratch.file("people.csv", "lat,lon\n46.0031,-30.0017\n");
    let one = scratch.run("obfuscate city.lrmech --points people.csv -o reports.csv");
    assert!(String::from_utf8_lossy(&one.stderr).contains("wrote 1 report to"));
}

#[test]
fn a_mechanism_for_another_map_is_refused_before_anything_is_measured() {
    let scratch = scratch("other");
    scratch.succeed("map build --demo --seed 2 --cell 1500m -o other.lrmap -q");
    scratch.succeed("cost-table build other.lrmap --cell 500m -o other.lrtable -q");
    for command in [
        "evaluate city.lrmech laplace --map other.lrmap",
        "compare other.lrmap --with city.lrmech",
        "attack trace city.lrmech --map other.lrmap",
        "verify city.lrmech --map other.lrmap",
        "obfuscate city.lrmech --map other.lrmap --at 46.0,-30.0",
        "mechanism build city.lrmap --epsilon 1/km --kind lr-geo --table other.lrtable -o x.lrmech",
    ] {
        let said = scratch.fail(command);
        assert!(said.contains("made for version"), "{command}: {said}");
        // Not a word about work: the error is all that is said.
        assert_eq!(said.lines().count(), 1, "{command}: {said}");
    }
}

/// The longest time that a command says nothing, from its start to its end.
fn longest_silence(scratch: &Scratch, arguments: &str) -> (Duration, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lrgeo"));
    command.args(arguments.split_whitespace()).current_dir(&scratch.0);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let (mut said, mut last, mut longest) = (String::new(), Instant::now(), Duration::ZERO);
    let mut stderr = child.stderr.take().unwrap();
    let mut buffer = [0; 4096];
    loop {
        let read = stderr.read(&mut buffer).unwrap();
        longest = longest.max(last.elapsed());
        last = Instant::now();
        if read == 0 {
            break;
        }
        said += &String::from_utf8_lossy(&buffer[..read]);
    }
    assert!(child.wait().unwrap().success(), "lrgeo {arguments}: {said}");
    (longest, said)
}

#[test]
fn long_work_shows_signs_of_life_where_there_is_no_terminal() {
    let scratch = Scratch::new("alive");
    scratch.succeed("map build --demo --cell 400m -o city.lrmap -q");
    let build = "mechanism build city.lrmap --kind published --epsilon 2/km --gap 0.000001 --time-limit 7s -o x.lrmech";
    let (silence, said) = longest_silence(&scratch, build);
    // A line every two seconds; the rest is for a machine that has something else to do.
    assert!(silence < Duration::from_secs(8), "{silence:?}: {said}");
    assert!(said.contains("gap ") || said.contains("left") || said.contains("at work"), "{said}");
    let (_, said) = longest_silence(&scratch, &format!("{build} --quiet"));
    assert!(said.is_empty(), "{said}");
}

#[test]
fn an_evaluation_says_how_far_it_is_and_how_long_it_will_take() {
    let scratch = scratch("estimate");
    let output = scratch.run("evaluate city.lrmech exp --map city.lrmap --epsilon 1/km,2/km");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("1 of 5: city")
            && said.contains("5 of 5: exp remapped, epsilon 2/km, about "),
        "{said}"
    );
}
