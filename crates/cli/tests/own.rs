//! Matrices, costs and ways of one's own, through the real binary.

mod common;

use common::Scratch;

fn with_map(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.succeed("map build --demo --cell 1km -o city.lrmap");
    scratch
}

#[test]
fn a_matrix_of_ones_own_is_a_mechanism_like_any_other() {
    let scratch = with_map("own-matrix");
    let made =
        "mechanism build city.lrmap --kind exp --epsilon 1/km --all-pairs -o m.lrmech -q --json";
    let exp = scratch.json(made);
    scratch.succeed("mechanism export m.lrmech -q --npy m.npy");
    // Plain numbers, as another program writes them.
    let npy = std::fs::read(scratch.path("m.npy")).unwrap();
    let places = exp["places"].as_u64().unwrap() as usize;
    let number = |bytes: &[u8]| f64::from_le_bytes(bytes.try_into().unwrap()).to_string();
    let numbers: Vec<String> =
        npy[npy.len() - 8 * places * places..].chunks_exact(8).map(number).collect();
    let lines: Vec<String> = numbers.chunks_exact(places).map(|row| row.join(",")).collect();
    scratch.file("own.csv", &lines.join("\n"));
    let own = scratch.json("mechanism import own.csv --map city.lrmap -o own.lrmech -q --json");
    assert_eq!(own["kind"], "own");
    let epsilon = own["promise"]["epsilon_per_km"].as_f64().unwrap();
    assert!(epsilon <= 1.0 && epsilon > 0.5, "{epsilon}");
    let costs = [&own, &exp].map(|built| built["expected_cost"].as_f64().unwrap());
    assert!((costs[0] - costs[1]).abs() < 1e-9, "{costs:?}");
    // It is taken everywhere.
    assert_eq!(scratch.json("verify own.lrmech --map city.lrmap --json")["holds"], true);
    let compared = scratch
        .json("compare city.lrmap -q --settings practical --kinds laplace-places --with own.lrmech --json");
    let kinds: Vec<&str> = compared["settings"][0]["mechanisms"]
        .as_array()
        .or(compared["sheets"][0]["mechanisms"].as_array())
        .unwrap()
        .iter()
        .map(|line| line["name"].as_str().unwrap())
        .collect();
    assert!(kinds.contains(&"own"), "{kinds:?}");
    scratch.succeed("evaluate own.lrmech --map city.lrmap -q --json");
    scratch.succeed("key new -o operator.key");
    scratch.succeed("publish own.lrmech --key operator.key -o tiles -q");
    // An epsilon that it does not keep is refused, and so is what is no matrix of this map.
    let strict = format!(
        "mechanism import own.csv --map city.lrmap --epsilon {}/km -o x.lrmech",
        epsilon / 2.0
    );
    let refused = scratch.fail(&strict);
    assert!(refused.contains("exceeds its guarantee"), "{refused}");
    scratch.file("short.csv", &lines[1..].join("\n"));
    assert!(
        scratch.fail("mechanism import short.csv --map city.lrmap -o x.lrmech").contains("rows")
    );
    let nonsense = lines.join("\n").replacen('0', "-", 1);
    scratch.file("nonsense.csv", &nonsense);
    scratch.fail("mechanism import nonsense.csv --map city.lrmap -o x.lrmech");
}

#[test]
fn another_way_is_built_mixed_and_named() {
    let scratch = with_map("own-ways");
    scratch.succeed("map build --demo --same-places city.lrmap --travel walk -o walk.lrmap");
    let ways = "--way walk=walk.lrmap --split drive:0.6,walk:0.4";
    let build = "mechanism build city.lrmap --epsilon 1/km -q --json";
    let mixed = scratch.json(&format!("{build} {ways} --kind laplace-places -o mixed.lrmech"));
    let plain = scratch.json(&format!("{build} --kind laplace-places -o plain.lrmech"));
    assert_ne!(mixed["expected_cost"], plain["expected_cost"]);
    // Each user with a way, or a mixture, after its place.
    scratch.succeed("map export city.lrmap --places-csv places.csv");
    let places = scratch.read("places.csv");
    let id = |line: usize| places.lines().nth(line).unwrap().split(',').next().unwrap().to_owned();
    scratch.file("users", &format!("{} walk\n{} drive:0.5,walk:0.5\n{}\n", id(4), id(9), id(12)));
    scratch.json(&format!("{build} {ways} --kind lr-geo --users users -o round.lrmech"));
    let refused = |options: &str| scratch.fail(&format!("{build} {options} -o x.lrmech"));
    assert!(
        refused("--way walk=walk.lrmap --split fly:1").contains("none of the ways drive, walk")
    );
    assert!(refused("--way walk=walk.lrmap --split drive:0.6,walk:0.6").contains("sum to one"));
    assert!(refused("--way drive=walk.lrmap").contains("two called drive"));
    // Tables of road segments, in minutes.
    let table =
        "cost-table build city.lrmap --segments 200m --utility travel-time -o t.lrtable --json";
    let table = scratch.json(table);
    assert_eq!(
        (table["unit"].as_str(), table["division"].as_str()),
        (Some("min"), Some("road segments of 200 m"))
    );
}
