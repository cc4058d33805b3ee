//! `lrgeo evaluate` and `lrgeo reproduce` as a person runs them: tables, pages, and what they flag.

mod common;

use common::Scratch;
use lrgeo_geo::PlaceId;
use lrgeo_mechanism::{Built, ObfuscationMatrix, Rows};
use serde_json::Value;

/// A small city and a mechanism for it, in a directory of their own.
fn city(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.succeed("map build --demo --cell 1km -o city.lrmap -q");
    scratch.succeed("mechanism build city.lrmap --kind lp --epsilon 2/km -o sound.lrmech -q");
    scratch
}

/// Moves probability from one entry of a row to another, a thousandth of it.
fn plant(scratch: &Scratch) {
    let (mut built, _) = Built::open(&scratch.path("sound.lrmech")).unwrap();
    let places = built.coords.len();
    let mut entries: Vec<f64> = PlaceId::all(places).flat_map(|i| built.row(i).unwrap()).collect();
    let row = &mut entries[3 * places..4 * places];
    let likeliest = (0..places).max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap();
    let other = (0..places).find(|&k| k != likeliest && row[k] > 1e-6).unwrap();
    row[other] += row[likeliest] * 1e-3;
    row[likeliest] *= 1.0 - 1e-3;
    built.rows = Rows::Dense(ObfuscationMatrix::new(places, entries).unwrap());
    built.save(&scratch.path("planted.lrmech")).unwrap();
}

#[test]
fn a_planted_violation_is_flagged_and_sound_mechanisms_are_not() {
    let scratch = city("planted");
    plant(&scratch);
    let text = scratch.succeed(
        "evaluate sound.lrmech planted.lrmech laplace --map city.lrmap --epsilon 2/km -o report -q",
    );
    let flags: Vec<&str> = text.lines().filter(|line| line.starts_with('!')).collect();
    assert!(flags.iter().any(|flag| flag.contains("privacy violated between")), "{text}");
    assert!(flags.iter().all(|flag| flag.starts_with("! planted")), "{text}");
    let report: Value = serde_json::from_str(&scratch.read("report/report.json")).unwrap();
    let flags = report["figures"][0]["flags"].as_array().unwrap();
    assert!(!flags.is_empty());
    assert!(flags.iter().all(|flag| flag.as_str().unwrap().starts_with("planted")), "{flags:?}");
    let page = scratch.read("report/index.html");
    assert!(page.contains("privacy violated between"), "the page must say it too");
    let share = |name: &str| -> f64 {
        let figures = report["figures"].as_array().unwrap();
        let figure = figures.iter().find(|figure| figure["id"] == "violated-pairs").unwrap();
        let series = figure["series"].as_array().unwrap();
        let series = series.iter().find(|series| series["name"] == name).unwrap();
        series["points"][0]["values"][0].as_f64().unwrap()
    };
    assert!(share("planted") > 0.0);
    assert_eq!((share("sound"), share("laplace")), (0.0, 0.0));
}

#[test]
fn every_kind_is_on_the_picture_and_the_numbers_fit_together() {
    let scratch = city("kinds");
    let account = scratch.json(
        "evaluate --map city.lrmap --places 30 --epsilon 1/km,3/km --users random:3 --json -q -o report",
    );
    let lines = account["mechanisms"].as_array().unwrap();
    let number = |line: &Value, name: &str| line[name].as_f64().unwrap();
    for kind in ["lp", "lr-geo", "lr-geo-f", "const-opt", "laplace", "exp", "published"] {
        let of_kind: Vec<&Value> = lines.iter().filter(|line| line["name"] == kind).collect();
        assert_eq!(of_kind.len(), 2, "{kind}");
        for line in &of_kind {
            assert!(number(line, "expected_cost") <= number(line, "worst_place_cost"), "{line}");
            assert!(number(line, "cost_95_percent") >= 0.0);
            for prior in ["adversary", "adversary_with_even_prior"] {
                let seen = |name: &str| line[prior][name].as_f64().unwrap();
                assert!(seen("worst_decile_error_km") <= seen("error_km") + 1e-9);
                assert!(seen("worst_decile_hit_rate") >= seen("hit_rate") - 1e-9);
                assert!(seen("entropy_bits") >= 0.0);
            }
        }
        assert!(
            number(of_kind[0], "expected_cost") >= number(of_kind[1], "expected_cost") - 1e-9,
            "{kind}: more privacy cannot cost less"
        );
    }
    let report: Value = serde_json::from_str(&scratch.read("report/report.json")).unwrap();
    let curve = &report["figures"][0];
    assert_eq!(curve["id"], "privacy-utility");
    // Every kind, and those that are remapped by default once more.
    assert_eq!(curve["series"].as_array().unwrap().len(), 10);
    alone(&scratch.read("report/index.html"));
}

/// Nothing on the page asks anybody for anything.
fn alone(page: &str) {
    for forbidden in ["http://", "https://", "<script", "@import", "url("] {
        let namespace = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!namespace.contains(forbidden), "{forbidden}");
    }
}

#[test]
fn what_cannot_be_evaluated_is_refused_at_once() {
    let scratch = city("refused");
    scratch.succeed("map build --demo --cell 2km -o other.lrmap -q");
    let refused = |arguments: &str, says: &str| {
        let message = scratch.fail(&format!("evaluate {arguments} -q"));
        assert!(message.contains(says), "{arguments}: {message}");
    };
    refused("nonsense --map city.lrmap", "no file and none of lp");
    refused("absent.lrmech --map city.lrmap", "absent.lrmech");
    refused("sound.lrmech --map other.lrmap", "map");
    refused("lp --map city.lrmap --epsilon 0/km", "epsilon");
    refused("lp --map city.lrmap --places 1", "places");
    refused("lp exp lp --map city.lrmap", "`lp` names two of them");
    refused("city.lrmap --map city.lrmap", "city.lrmap");
}

#[test]
fn another_seed_makes_another_report_and_a_second_run_only_looks_up() {
    let scratch = Scratch::new("reproduce");
    let made = |seed: u32, dir: &str| -> Value {
        let said = scratch
            .run(&format!("reproduce --quick --only matched,benders --seed {seed} -o {dir}"));
        assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
        let mut report: Value =
            serde_json::from_str(&scratch.read(&format!("{dir}/report.json"))).unwrap();
        report["settings"] = Value::Null;
        report
    };
    let (first, other) = (made(1, "first"), made(2, "other"));
    assert_ne!(first["figures"], other["figures"]);
    let notes = scratch.read("first/measurements.jsonl");
    assert_eq!(made(1, "first"), first);
    let lines = |text: &str| -> std::collections::BTreeSet<String> {
        text.lines().map(str::to_owned).collect()
    };
    assert_eq!(lines(&scratch.read("first/measurements.jsonl")), lines(&notes));
    alone(&scratch.read("first/index.html"));
}
