//! `lrgeo client` as a person runs it, against `lrgeo serve`.

mod common;

use std::io::Write;
use std::process::Stdio;

use common::served::Served;
use serde_json::Value;

const AT: &str = "46.0031,-30.0017";

#[test]
fn a_person_reports_and_looks_after_what_is_remembered() {
    let served = Served::new("person");
    let ask = format!("obfuscate --server {} --json -q", served.address);

    // The paper's own modes promise less than a person wants who has not said otherwise; and a promise that is too weak is
    // refused with the rule, the offer and the way out.
    let refused = served.fail(5, &format!("{ask} --at {AT} --mode local"));
    assert!(refused.contains("`lrgeo client policy --protects` to relevant-places"), "{refused}");
    served.json("policy --per-report 1/km --json");
    let refused = served.fail(5, &format!("{ask} --at {AT}"));
    for words in [
        "epsilon per report",
        "2/km",
        "1/km",
        "`lrgeo client policy --per-report` to 2/km",
        "Nothing was reported",
    ] {
        assert!(refused.contains(words), "{words}: {refused}");
    }
    let policy = served
        .json("policy --protects relevant-places --least-relevant 3 --least-places 10 --json");
    assert_eq!(policy["policy"]["most_epsilon_per_km"], 1.0);
    let words =
        served.command("policy --per-report").arg("factor 2 within 300 m").output().unwrap();
    assert!(String::from_utf8_lossy(&words.stdout).contains("factor 2 within 300 m"));

    // A new report, then the same again, from standard input and in another mode.
    let drawn = served.json(&format!("{ask} --at {AT}"));
    assert_eq!(drawn["type"], "Feature");
    assert_eq!(
        (&drawn["properties"]["first_use"], &drawn["properties"]["mode"]),
        (&true.into(), &"coordinates".into())
    );
    assert_eq!(drawn["properties"]["balance"]["left_per_km"], 18.0);
    assert_eq!(drawn["properties"]["nearest_targets"].as_array().unwrap().len(), 3);
    let mut again = served
        .command(&format!("{ask} --at - --mode local --targets 0"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    again.stdin.take().unwrap().write_all(format!("{AT}\n").as_bytes()).unwrap();
    let known: Value = serde_json::from_slice(&again.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(known["geometry"], drawn["geometry"]);
    assert_eq!(known["properties"]["spent_per_km"], 0.0);
    assert!(known["properties"]["drawn"].is_string());

    // Nearby nothing new is drawn; how near is the owner's to say.
    assert_eq!(drawn["properties"]["reuse_within_km"], 0.5);
    let nearby = served.json(&format!("{ask} --at 46.0051,-30.0027 --targets 0"));
    assert_eq!(nearby["geometry"], drawn["geometry"]);
    let policy = served.json("policy --reuse-within 300m --json");
    assert_eq!(policy["policy"]["reuse_within_km"], 0.3);
    assert!(served.fail(1, "policy --reuse-within 5m").contains("50 m"));
    assert!(
        served.json("policy --reuse-within auto --json")["policy"]["reuse_within_km"].is_null()
    );

    // What offload does is said before it is done, and once.
    let elsewhere = "46.0131,-30.0117";
    let unaware = served.fail(1, &format!("{ask} --at {elsewhere} --mode offload"));
    assert!(
        unaware.contains("the costs alone tell the server") && unaware.contains("--i-understand")
    );
    let aware = served.run(&format!("{ask} --at {elsewhere} --mode offload --i-understand"));
    assert!(aware.status.success(), "{}", String::from_utf8_lossy(&aware.stderr));
    assert!(String::from_utf8_lossy(&aware.stderr).contains("the costs alone tell the server"));
    let used = served.run(&format!("{ask} --at 46.0131,-29.9917 --mode offload"));
    assert!(used.status.success() && used.stderr.is_empty(), "once is enough");

    // Another key, and a position that is none; neither message repeats the position.
    let stranger = "ed25519:d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
    let refused = served.fail(4, &format!("{ask} --at {AT} --key {stranger}"));
    assert!(refused.contains("reset --servers") && !refused.contains("46.003"), "{refused}");
    let refused = served.fail(1, &format!("{ask} --at 46.0031;-30.0017"));
    assert!(refused.contains("LAT,LON") && !refused.contains("46.003"), "{refused}");

    // Status, limit, reset.
    let status = served.json("status --json");
    assert_eq!(status["reports"].as_array().unwrap().len(), 3);
    let spent = status["balance"]["spent_per_km"].as_f64().unwrap();
    // Two of the three from own matrices, at what was measured of them.
    assert!((6.0..6.7).contains(&spent), "{spent}");
    assert_eq!(status["offload_understood"], true);
    let text = String::from_utf8(served.run("status").stdout).unwrap();
    assert!(text.contains("left of 20/km per 24 h"), "{text}");
    assert!(
        text.contains("given again within 500 m of there") && !text.contains("46.0031"),
        "{text}"
    );
    let limit = served.json("policy --per-period 7/km --period 7d --json");
    assert_eq!(limit["balance"]["period_s"], 604_800);
    assert!(limit["balance"]["left_per_km"].as_f64().unwrap() < 1.001);
    let over = served.fail(1, &format!("{ask} --at 45.9931,-30.0017"));
    assert!(over.contains("budget is used up") && over.contains("lrgeo client policy"), "{over}");
    assert!(served.fail(1, "reset --ledger").contains("add --yes"));
    assert!(served.run("reset --ledger --reports --yes").status.success());
    let status = served.json("status --json");
    assert_eq!(
        (status["reports"].as_array().unwrap().len(), &status["balance"]["spent_per_km"]),
        (0, &0.0.into())
    );
    assert_eq!(status["servers"].as_array().unwrap().len(), 1);
}

#[test]
fn a_config_file_says_the_rest() {
    let served = Served::new("config");
    let config = format!(
        "server = \"{}\"\nmode = \"local\"\nstate = \"mine.json\"\ntargets = 1\n",
        served.address
    );
    std::fs::write(served.folder.join("client.toml"), config).unwrap();
    served.json("policy --protects relevant-places --least-relevant 3 --least-places 10 --state mine.json --json");
    let drawn = served.json(&format!("obfuscate --config client.toml --at {AT} --json -q"));
    assert_eq!(drawn["properties"]["mode"], "local");
    assert_eq!(drawn["properties"]["nearest_targets"].as_array().unwrap().len(), 1);
    assert!(served.folder.join("mine.json").exists());
    // What the command line says goes first.
    let other = served
        .json(&format!("obfuscate --config client.toml --at {AT} --mode published --json -q"));
    assert_eq!(other["properties"]["mode"], "published");
    assert_eq!(other["geometry"], drawn["geometry"]);
    std::fs::write(served.folder.join("client.toml"), "colour = 1\n").unwrap();
    assert!(
        served.fail(1, &format!("obfuscate --config client.toml --at {AT}")).contains("colour")
    );
    assert!(served.fail(1, &format!("obfuscate --at {AT}")).contains("--server"));
}
