//! `lrgeo compare` as a person runs it, on the demo city.

mod common;

use common::Scratch;
use serde_json::Value;

fn succeed(arguments: &str) -> String {
    Scratch::new("compare").succeed(&format!("compare {arguments}"))
}

fn json(arguments: &str) -> Value {
    serde_json::from_str(&succeed(arguments)).unwrap()
}

#[test]
fn the_numbers_of_all_mechanisms_fit_together() {
    let account = json("--demo --places 30 --settings practical --users random:4 --json --quiet");
    assert_eq!(account["places"], 30);
    let sheet = &account["settings"][0];
    assert!((sheet["epsilon_spacing"].as_f64().unwrap() - 1.0).abs() < 0.01);
    let lines = sheet["mechanisms"].as_array().unwrap();
    let line = |kind: &str| {
        let found = lines.iter().find(|line| line["name"] == kind);
        found.unwrap_or_else(|| panic!("no {kind}"))
    };
    let cost = |kind: &str| line(kind)["expected_cost"].as_f64().unwrap();
    for kind in ["lp", "const-opt", "exp", "laplace", "published"] {
        let line = line(kind);
        assert_eq!(line["deployed"]["violated_pairs"], 0, "{line}");
        assert_eq!(line["flags"], Value::Array(vec![]), "{line}");
        assert!(line["deployed"]["worst_log_excess"].as_f64().unwrap() <= 0.0);
        assert!(line["deployed"]["effective_epsilon_per_km"].as_f64().unwrap() <= 2.0);
        let optimum = line["optimum"]["lower_bound"].as_f64().unwrap();
        assert!(optimum <= cost(kind) * (1.0 + 1e-9), "{line}");
        let street = line["street"]["cost"].as_f64().unwrap();
        assert!((0.5..2.0).contains(&(street / cost(kind))), "{line}");
        let (seen, unseen) = (&line["adversary"], &account["without_report"]);
        for (better, worse) in [("hit_rate", false), ("error_km", true)] {
            let (seen, unseen) = (seen[better].as_f64().unwrap(), unseen[better].as_f64().unwrap());
            assert!(if worse { seen < unseen } else { seen > unseen }, "{line}");
        }
    }
    for other in ["const-opt", "exp"] {
        assert_eq!(line(other)["notion"], line("lp")["notion"]);
        assert!(cost("lp") <= cost(other) * (1.0 + 1e-6));
    }
    assert_eq!(line("laplace")["notion"], "coordinates");
    assert_eq!(line("laplace-places")["notion"], "all-pairs");
    assert!(cost("laplace") <= cost("laplace-places"));
    assert!(cost("published") <= cost("laplace"));
    let round = line("lr-geo");
    let (upper, lower) = (&round["theorems"]["upper_bound"], &round["theorems"]["lower_bound"]);
    assert!(lower.as_f64().unwrap() <= upper.as_f64().unwrap(), "{round}");
    let counted = round["as_the_paper_counts"]["violation_ratio"].as_f64().unwrap();
    assert!(counted <= round["violation_bound"].as_f64().unwrap(), "{round}");
}

#[test]
fn the_table_fits_a_terminal_and_says_what_its_numbers_are() {
    let table = succeed("--demo --places 30 --kinds laplace,exp,published --quiet");
    for line in table.lines() {
        assert!(line.chars().count() <= 120, "{line}");
    }
    for part in [
        "paper settings",
        "practical settings",
        "epsilon x spacing",
        "nearly no privacy",
        "laplace",
        "<= 1 km",
        "on the",
    ] {
        assert!(table.contains(part), "no `{part}` in\n{table}");
    }
}

#[test]
fn another_seed_is_another_round() {
    let hits = |seed: u32| {
        let account = json(&format!(
            "--demo --places 30 --settings practical --kinds lr-geo --users random:3 --seed {seed} --json -q"
        ));
        account["settings"][0]["mechanisms"][0]["adversary"]["hit_rate"].as_f64().unwrap()
    };
    assert_eq!(hits(1), hits(1));
    assert_ne!(hits(1), hits(2));
}

#[test]
fn parts_without_a_bound_are_flagged_and_failures_stand_in_their_row() {
    // Places 1.5 km apart are not joined by gamma = 1 km.
    let scratch = Scratch::new("coarse");
    scratch.succeed("map build --demo --cell 1500m -q -o coarse.lrmap");
    let json = |options: &str| scratch.json(&format!("compare coarse.lrmap {options} --json -q"));
    let account = json("--settings paper --kinds lp,exp");
    let line = &account["settings"][0]["mechanisms"][0];
    assert!(line["components"].as_u64().unwrap() > 1, "{line}");
    assert!(line["flags"][0].as_str().unwrap().contains("no bound between"), "{line}");
    let account = json("--settings paper --kinds lp --epsilon 100/km");
    let line = &account["settings"][0]["mechanisms"][0];
    assert!(line["failed"].as_str().unwrap().contains("epsilon"), "{line}");
}

#[test]
fn wrong_input_is_refused_with_a_reason() {
    for (arguments, reason) in [
        ("", "required"),
        ("--demo --kinds magic", "magic"),
        ("--demo --places 1", "between 2 and"),
        ("--demo --places 100000", "between 2 and"),
        ("--demo --users random:0", "random:N"),
        ("nowhere.lrmap", "nowhere.lrmap"),
    ] {
        let error = Scratch::new("refused").fail(&format!("compare {arguments}"));
        assert!(error.contains(reason), "{arguments}: {error}");
    }
}
