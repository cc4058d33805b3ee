//! All JSON that the commands print follows docs/json.md: coordinates, ids, times and units are written in one way, and a name
//! stands for one shape.

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::Scratch;
use common::served::Served;
use serde_json::Value;

/// Names that would be a second one for something that has one.
const SECOND_NAMES: [(&str, &str); 22] = [
    ("seconds", "elapsed_s"),
    ("build_s", "elapsed_s"),
    ("objective", "cost"),
    ("street_cost", "cost, in street"),
    ("lower", "lower_bound"),
    ("upper", "upper_bound"),
    ("inference_error_km", "error_km"),
    ("guess_error_km", "error_km"),
    ("violations_as_the_paper_counts", "as_the_paper_counts"),
    ("violations_among_reported", "among_reported"),
    ("violation_ratio_among_reported", "violation_ratio, in among_reported"),
    ("version", "map, mechanism"),
    ("map_version", "map"),
    ("guarantee", "promise"),
    ("solver", "certificate"),
    ("ledger", "balance"),
    ("remembered", "drawn"),
    ("coords", "a list of lat, lon"),
    ("bbox", "bounds"),
    ("latitude", "lat"),
    ("longitude", "lon"),
    ("lng", "lon"),
];

/// Endings that would be a second one for a unit.
const SECOND_UNITS: [&str; 9] = [
    "_seconds",
    "_sec",
    "_minutes",
    "_metres",
    "_meters",
    "_kilometres",
    "_kph",
    "_degrees",
    "_ms",
];

/// Endings of numbers.
const UNITS: [&str; 7] = ["_km", "_m", "_kmh", "_per_km", "_s", "_bits", "_bytes"];

/// Times, always as texts.
const TIMES: [&str; 4] = ["issued", "expires", "drawn", "since"];

/// Digests and keys: lower-case hexadecimal, keys after `ed25519:`.
const DIGESTS: [&str; 8] =
    ["map", "mechanism", "manifest", "public_key", "operator", "signer", "next_key", "hash"];

/// What a value is, for comparing the same name in two places.
fn shape(value: &Value) -> Option<&'static str> {
    match value {
        Value::Null => None,
        Value::Bool(_) => Some("truth value"),
        Value::Number(_) => Some("number"),
        Value::String(_) => Some("text"),
        Value::Array(_) => Some("list"),
        Value::Object(_) => Some("object"),
    }
}

fn is_time(text: &str) -> bool {
    let pattern = "dddd-dd-ddTdd:dd:ddZ";
    text.len() == pattern.len()
        && text
            .chars()
            .zip(pattern.chars())
            .all(|(c, p)| if p == 'd' { c.is_ascii_digit() } else { c == p })
}

/// What was found, over all commands.
#[derive(Default)]
struct Walk {
    wrong: Vec<String>,
    shapes: BTreeMap<String, BTreeSet<(&'static str, String)>>,
}

impl Walk {
    fn object(&mut self, path: &str, fields: &serde_json::Map<String, Value>) {
        if fields.contains_key("lat") != fields.contains_key("lon") {
            self.wrong.push(format!("{path}: lat and lon stand together"));
        }
        for (name, value) in fields {
            let path = format!("{path}.{name}");
            // GeoJSON has its own order, and notes are words of mechanisms.
            if name == "geometry" && fields.get("type") == Some(&"Feature".into())
                || name == "notes"
            {
                continue;
            }
            self.name(&path, name, value);
            self.value(&path, value);
        }
    }

    fn name(&mut self, path: &str, name: &str, value: &Value) {
        let letters = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(letters) {
            self.wrong.push(format!("{path}: names are snake_case"));
        }
        if let Some((_, known)) = SECOND_NAMES.iter().find(|(second, _)| *second == name) {
            self.wrong.push(format!("{path}: is called {known}"));
        }
        if SECOND_UNITS.iter().any(|ending| name.ends_with(ending)) || name.starts_with("eps_") {
            self.wrong
                .push(format!("{path}: another ending for a unit, or another word for epsilon"));
        }
        if name.contains("epsilon")
            && value.is_number()
            && !name.ends_with("_per_km")
            && name != "epsilon_spacing"
        {
            self.wrong.push(format!("{path}: epsilon is in 1/km, and says so"));
        }
        let numbers = matches!(shape(value), None | Some("number" | "object" | "list"));
        if UNITS.iter().any(|unit| name.ends_with(unit)) && !numbers {
            self.wrong.push(format!("{path}: has a unit and is no number"));
        }
        match value {
            Value::String(text) if TIMES.contains(&name) && !is_time(text) => {
                self.wrong.push(format!("{path}: {text} is no time in UTC"));
            }
            Value::Number(_) if TIMES.contains(&name) => {
                self.wrong.push(format!("{path}: times are texts"));
            }
            Value::String(text) if DIGESTS.contains(&name) => {
                let text = text.strip_prefix("ed25519:").unwrap_or(text);
                let hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
                if !(text.len() >= 16 && text.chars().all(hex)) {
                    self.wrong.push(format!("{path}: {text} is no digest or key"));
                }
            }
            _ => {}
        }
        if let Some(shape) = shape(value) {
            self.shapes.entry(name.to_owned()).or_default().insert((shape, path.to_owned()));
        }
    }

    fn value(&mut self, path: &str, value: &Value) {
        match value {
            Value::Object(fields) => self.object(path, fields),
            Value::Array(list) => {
                // The demo city lies around 46 north, 30 west.
                let near = |value: &Value, degrees: f64| {
                    value.as_f64().is_some_and(|number| (number - degrees).abs() < 0.5)
                };
                if let [a, b] = list.as_slice()
                    && (near(a, 46.0) && near(b, -30.0) || near(a, -30.0) && near(b, 46.0))
                {
                    self.wrong.push(format!("{path}: a coordinate is an object with lat and lon"));
                }
                for (n, value) in list.iter().enumerate() {
                    self.value(&format!("{path}[{n}]"), value);
                }
            }
            Value::Number(number) => {
                let number = number.as_f64().unwrap_or(0.0);
                if (1.5e9..3e9).contains(&number) {
                    self.wrong.push(format!("{path}: {number} looks like seconds since 1970"));
                }
            }
            Value::String(text) => {
                let dated = text.len() >= 10
                    && text.is_char_boundary(10)
                    && is_time(&format!("{}T00:00:00Z", &text[..10]));
                if dated && !is_time(text) {
                    self.wrong.push(format!("{path}: {text} is no time in UTC"));
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }
}

/// The commands that have `--json`, as their help says.
fn with_json(scratch: &Scratch, command: &str) -> Vec<String> {
    let help = scratch.succeed(&format!("{command} --help"));
    let Some(listed) = help.split("\nCommands:\n").nth(1) else {
        return if help.contains("--json") { vec![command.to_owned()] } else { Vec::new() };
    };
    let names = listed.lines().take_while(|line| !line.is_empty());
    let names = names.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let names = names.filter(|name| !name.is_empty() && *name != "help");
    names.flat_map(|name| with_json(scratch, format!("{command} {name}").trim())).collect()
}

const PROBLEM: &str =
    r#"{"version": 1, "epsilon": 1.0, "cost": [[0, 1], [1, 0]], "arcs": [[0, 1, 1.0]]}"#;

/// Every command once, in an order in which each finds the files of those before it.
const COMMANDS: [&str; 25] = [
    "map build --demo --cell 1km -o city.lrmap",
    "map info city.lrmap --gamma 2km",
    "cost-table build city.lrmap --cell 300m -o city.lrtable",
    "cost-table info city.lrtable",
    "cost-table slice city.lrtable --circle 46.0,-30.0,700m",
    "mechanism build city.lrmap --kind published --epsilon 2/km -o city.lrmech",
    "mechanism import matrix.npy --map city.lrmap -o own.lrmech",
    "mechanism info city.lrmech",
    "verify city.lrmech",
    "mechanism build city.lrmap --kind lr-geo --epsilon 2/km --users random:3 -o round.lrmech",
    "verify round.lrmech",
    "obfuscate city.lrmech --at 46.0,-30.0",
    "compare city.lrmap --settings practical --kinds lp,laplace,lr-geo --places 20",
    "evaluate city.lrmech laplace --map city.lrmap --epsilon 2/km -o evaluation",
    "attack upload city.lrmap --users random:5",
    "attack request city.lrmap --users random:5",
    "attack targets city.lrmap",
    "attack repeat city.lrmech --users random:5",
    "attack trace city.lrmech --map city.lrmap --users random:2 --fixes 4",
    "key new -o operator.key",
    "key show operator.key",
    "publish city.lrmech -o tiles --key operator.key",
    "token new --data data --name app --scope report --per-second 5 --expires 90d",
    "token list --data data",
    "solve problem.json -o solution.json",
];

#[test]
fn every_command_writes_json_in_one_way() {
    let scratch = Scratch::new("json");
    scratch.file("problem.json", PROBLEM);
    let mut walk = Walk::default();
    let mut known: BTreeSet<String> = with_json(&scratch, "").into_iter().collect();
    let mut see = |command: &str, json: &Value| {
        known.retain(|name| !format!("{command} ").starts_with(&format!("{name} ")));
        walk.value(command, json);
    };
    for command in COMMANDS {
        if command.starts_with("mechanism import") {
            scratch.succeed("mechanism export city.lrmech --npy matrix.npy -q");
        }
        see(command, &scratch.json(&format!("{command} --json -q")));
    }
    see("check", &scratch.json("check problem.json solution.json --json -q"));
    see("attack upload", &scratch.json("attack upload city.lrmap --exact --json -q"));
    see("demo", &scratch.json("demo --no-serve --json -q"));

    let served = Served::new("json");
    let ask = format!("obfuscate --server {} --at 46.0031,-30.0017 --json -q", served.address);
    for command in [ask.as_str(), "status --json", "policy --json"] {
        see(&format!("client {command}"), &served.json(command));
    }
    see("client obfuscate", &served.json(&ask));
    assert!(known.is_empty(), "not looked at: {known:?}");

    // One name, one shape.
    for (name, shapes) in &walk.shapes {
        let kinds: BTreeMap<&str, &str> =
            shapes.iter().map(|(kind, path)| (*kind, path.as_str())).collect();
        if kinds.len() > 1 {
            walk.wrong.push(format!("{name} has several shapes: {kinds:?}"));
        }
    }
    assert!(walk.shapes.len() > 120, "{} names", walk.shapes.len());
    assert!(walk.wrong.is_empty(), "{:#?}", walk.wrong);
}

/// The test above can fail.
#[test]
fn other_ways_are_noticed() {
    for (json, expected) in [
        (r#"{"at": [46.1, -30.2]}"#, "a coordinate is an object"),
        (r#"{"at": [-30.2, 46.1]}"#, "a coordinate is an object"),
        (r#"{"lat": 1}"#, "stand together"),
        (r#"{"took_seconds": 1}"#, "another ending"),
        (r#"{"eps_spacing": 1}"#, "another word for epsilon"),
        (r#"{"epsilon": 1}"#, "1/km"),
        (r#"{"map_version": "ab"}"#, "is called map"),
        (r#"{"map": "demo city 1"}"#, "no digest"),
        (r#"{"drawn": 1763424000}"#, "times are texts"),
        (r#"{"when": 1763424000}"#, "since 1970"),
        (r#"{"issued": "2026-11-17 10:00"}"#, "no time in UTC"),
        (r#"{"spacing_km": "1 km"}"#, "no number"),
        (r#"{"spacingKm": 1}"#, "snake_case"),
    ] {
        let mut walk = Walk::default();
        walk.value("", &serde_json::from_str(json).unwrap());
        assert!(
            walk.wrong.iter().any(|wrong| wrong.contains(expected)),
            "{json}: {:?}",
            walk.wrong
        );
    }
}
