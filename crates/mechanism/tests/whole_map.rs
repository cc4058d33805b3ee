//! Every mechanism of the registry on one city: verified, comparable, refused where it must be.

#[path = "common/city.rs"]
mod city;

use lrgeo_geo::PlaceId;
use lrgeo_map::map::Map;
use lrgeo_mechanism::spanner::Spanner;
use lrgeo_mechanism::verify::{Method, verify, verify_by};
use lrgeo_mechanism::{
    Built, City, Exponent, MechanismError, ObfuscationMatrix, Plan, REGISTRY, Rows, build, by_name,
};
use lrgeo_tiles::sample::exact::at_most;
use lrgeo_tiles::sample::weights;
use lrgeo_tiles::{Cover, Epsilon, Notion};

fn per_km(value: f64) -> Epsilon {
    Epsilon::per_km(value).unwrap()
}

fn even(map: &Map) -> Map {
    let mut map = map.clone();
    let share = 1.0 / map.places.len() as f64;
    map.places.iter_mut().for_each(|place| place.prior = share);
    map
}

fn make(name: &str, city: &City, plan: &Plan) -> Built {
    let made = build(by_name(name).unwrap(), city, plan, &());
    made.unwrap_or_else(|e| panic!("{name}: {e}")).into_built()
}

#[test]
fn all_of_them_keep_their_promise_and_none_of_one_notion_beats_the_optimum() {
    let map = city::demo_map(2, 500.0);
    let map = map.with_places(&map.central_block(70));
    for (epsilon, map) in [(2.0, map.clone()), (8.0, even(&map))] {
        let city = city::of(map);
        for notion in [Plan::new(&city, per_km(epsilon)).notion, Notion::AllPairs] {
            let mut plan = Plan::new(&city, per_km(epsilon));
            plan.notion = notion;
            plan.users = [3, 30, 60].map(PlaceId::new).to_vec();
            let optimum = make("lp", &city, &plan);
            let best = optimum.proof.unwrap().lower_bound;
            for kind in REGISTRY {
                let built = make(kind.name(), &city, &plan);
                let verdict = verify(&built, &());
                assert!(verdict.holds(), "{}: {verdict:?}", kind.name());
                let same = built.guarantee == optimum.guarantee;
                let dearer = built.expected_cost >= best * (1.0 - 1e-9);
                assert!(!same || dearer, "{} costs {}", kind.name(), built.expected_cost);
                // A stronger notion on the same rows cannot be cheaper either.
                let whole = built.guarantee.cover == Cover::WholeMap;
                assert!(!whole || dearer, "{} costs {}", kind.name(), built.expected_cost);
            }
        }
    }
}

#[test]
fn exponential_by_cost_promises_what_it_really_has() {
    let city = city::block(2, 500.0, 60);
    let mut plan = Plan::new(&city, per_km(2.0));
    plan.exponent = Exponent::Cost;
    plan.calibrated = false;
    let nominal = make("exp", &city, &plan);
    assert!(verify(&nominal, &()).holds());
    assert_ne!(nominal.guarantee.epsilon, plan.epsilon);
    plan.calibrated = true;
    let calibrated = make("exp", &city, &plan);
    assert_eq!(calibrated.guarantee.epsilon, plan.epsilon);
}

/// One probability of one row is moved; both ways of verifying must see it.
#[test]
fn a_planted_violation_is_caught_however_it_is_checked() {
    let city = city::block(4, 500.0, 120);
    let mut plan = Plan::new(&city, per_km(3.0));
    plan.notion = Notion::AllPairs;
    let honest = make("published", &city, &plan);
    assert!(!honest.witness.is_empty());
    for method in [Method::EveryPair, Method::Chained] {
        assert!(verify_by(&honest, method, &()).holds(), "{method:?}");
    }
    let places = city.places();
    for (row, extra) in [(0, 1e-3), (57, 1e-6), (119, 1e-9)] {
        let mut entries: Vec<f64> =
            PlaceId::all(places).flat_map(|i| honest.row(i).unwrap()).collect();
        let line = &mut entries[row * places..(row + 1) * places];
        let largest = (0..places).max_by(|&a, &b| line[a].total_cmp(&line[b])).unwrap();
        let least = (0..places)
            .filter(|&k| line[k] > 0.0)
            .min_by(|&a, &b| line[a].total_cmp(&line[b]))
            .unwrap();
        line[least] += extra;
        line[largest] -= extra;
        let rows = Rows::Dense(ObfuscationMatrix::new(places, entries).unwrap());
        let mutant = Built { rows, ..honest.clone() };
        for method in [Method::EveryPair, Method::Chained] {
            let verdict = verify_by(&mutant, method, &());
            assert!(!verdict.holds(), "row {row} by {extra}: {method:?} saw nothing");
            assert!(verdict.guaranteed.violated_pairs > 0);
        }
    }
}

/// What is really drawn from are whole numbers: they satisfy the promise themselves.
#[test]
fn integer_weights_satisfy_the_promise_exactly() {
    let city = city::block(3, 500.0, 60);
    for (name, epsilon) in [("published", 2.0), ("lp", 8.0), ("const-opt", 2.0), ("laplace", 4.0)] {
        let plan = Plan::new(&city, per_km(epsilon));
        let built = make(name, &city, &plan);
        let rows: Vec<Vec<u128>> =
            PlaceId::all(60).map(|i| weights(&built.row(i).unwrap()).unwrap()).collect();
        let reach = built.guarantee.notion.reach_km();
        let mut pairs = 0;
        for i in PlaceId::all(60) {
            for j in PlaceId::all(60).filter(|&j| j != i && city.distance_km(i, j) <= reach) {
                let factor = (epsilon * city.distance_km(i, j) * (1.0 - 1e-13)).exp();
                let (a, b) = (&rows[i.index()], &rows[j.index()]);
                assert!(
                    a.iter().zip(b).all(|(a, b)| at_most(*a, factor, *b)),
                    "{name}: rows {i} and {j}"
                );
                pairs += 1;
            }
        }
        assert!(pairs > 100);
    }
}

/// The account's own words, read back: how far below this matrix the best one for all pairs may be.
#[test]
fn the_default_spanner_leaves_less_than_one_per_cent() {
    let city = city::block(3, 500.0, 120);
    let left = |plan: &Plan| {
        let built = make("published", &city, plan);
        let note = built.notes.iter().find(|(name, _)| name == "price of the spanner");
        let (_, text) = note.expect("what the spanner costs");
        let words: Vec<&str> = text.split_whitespace().collect();
        let percent = words.iter().position(|word| *word == "%").expect("a share");
        words[percent - 1].parse::<f64>().unwrap()
    };
    let plan = Plan::new(&city, per_km(2.0));
    let (by_default, wider) = (left(&plan), left(&Plan { stretch: 1.05, ..plan }));
    assert!(0.0 < by_default && by_default < 1.0, "{by_default}");
    assert!(wider > 2.0, "{wider}");
}

#[test]
fn a_spanner_is_as_straight_as_it_says_also_around_holes_and_at_doubled_places() {
    let map = city::demo_map(5, 400.0);
    let mut keep = map.central_block(200);
    // A hole in the middle, and two places at one spot.
    let centre = map.bounds().unwrap().centre();
    keep.retain(|&i| map.places[i.index()].coord.distance_km(centre) > 1.1);
    let mut map = map.with_places(&keep);
    map.places[7].coord = map.places[8].coord;
    let city = city::of(map);
    let spanner = Spanner::greedy(&city, 1.05, &());
    let n = city.places();
    let mut path = vec![f64::INFINITY; n * n];
    (0..n).for_each(|i| path[i * n + i] = 0.0);
    for link in &spanner.arcs {
        let (i, j) = (link.i as usize, link.j as usize);
        assert_eq!(link.km, city.distance_km(PlaceId::new(link.i), PlaceId::new(link.j)));
        path[i * n + j] = link.km;
        path[j * n + i] = link.km;
    }
    for k in 0..n {
        for i in 0..n {
            for j in 0..n {
                path[i * n + j] = path[i * n + j].min(path[i * n + k] + path[k * n + j]);
            }
        }
    }
    let mut worst = 1.0f64;
    for i in 0..n {
        for j in (0..n).filter(|&j| j != i) {
            let km = city.distance_km(PlaceId::at(i), PlaceId::at(j));
            assert!(path[i * n + j] <= 1.05 * km * (1.0 + 1e-12), "{i} {j}");
            worst = worst.max(if km > 0.0 { path[i * n + j] / km } else { 1.0 });
        }
    }
    // Proven, and not much more than it is.
    assert!(spanner.stretch <= 1.05, "{}", spanner.stretch);
    assert!(worst <= spanner.stretch * (1.0 + 1e-12), "{worst} {}", spanner.stretch);
    assert!(spanner.stretch < worst + 0.01, "{worst} {}", spanner.stretch);
    assert!(spanner.arcs.len() < 12 * n, "{} arcs for {n} places", spanner.arcs.len());

    let mut plan = Plan::new(&city, per_km(2.0));
    plan.notion = Notion::AllPairs;
    assert!(verify(&make("published", &city, &plan), &()).holds());
}

#[test]
fn contradictions_are_refused_by_name() {
    let city = city::block(1, 500.0, 40);
    let plan = Plan::new(&city, per_km(2.0));
    let refused = |name: &str, plan: &Plan| {
        build(by_name(name).unwrap(), &city, plan, &()).err().map(|e| e.to_string())
    };
    type Change = fn(&mut Plan);
    let cases: [(&str, &str, Change); 8] = [
        ("lr-geo", "radii.exponential", |p| p.radii.exponential = 9.0),
        ("lr-geo", "radii.relevant", |p| p.radii.relevant = 0.3),
        ("lr-geo", "users", |p| p.users = vec![]),
        ("lr-geo", "users", |p| p.users = vec![PlaceId::new(40)]),
        ("lp", "epsilon", |p| p.epsilon = per_km(1e6)),
        ("lp", "epsilon", |p| p.epsilon = per_km(1e-9)),
        ("lp", "gamma", |p| p.notion = Notion::Within { gamma_km: 0.2 }),
        ("published", "stretch", |p| p.stretch = 0.9),
    ];
    for (name, field, change) in cases {
        let mut wrong = plan.clone();
        wrong.users = [1, 2].map(PlaceId::new).to_vec();
        change(&mut wrong);
        let message = refused(name, &wrong).unwrap_or_else(|| panic!("{name} {field} accepted"));
        assert!(message.starts_with(field), "{field}: {message}");
    }
    // Asked for by name, a graph in parts is accepted.
    let mut parts = plan.clone();
    parts.notion = Notion::Within { gamma_km: 0.2 };
    parts.allow_disconnected = true;
    assert_eq!(refused("lp", &parts), None);
}

#[test]
fn the_default_gamma_joins_all_places_even_one_far_away() {
    let map = city::demo_map(1, 500.0);
    let mut keep = map.central_block(60);
    let far = PlaceId::all(map.places.len())
        .max_by(|&a, &b| {
            let centre = map.bounds().unwrap().centre();
            let km = |i: PlaceId| map.places[i.index()].coord.distance_km(centre);
            km(a).total_cmp(&km(b))
        })
        .unwrap();
    keep.push(far);
    let city = city::of(map.with_places(&keep));
    let plan = Plan::new(&city, per_km(2.0));
    assert!(build(by_name("exp").unwrap(), &city, &plan, &()).is_ok());
    let Notion::Within { gamma_km } = plan.notion else { panic!("no gamma") };
    let far = PlaceId::new(60);
    let nearest = PlaceId::all(60).map(|i| city.distance_km(i, far)).fold(f64::INFINITY, f64::min);
    assert!(gamma_km >= nearest && gamma_km < 1.3 * nearest, "{gamma_km} {nearest}");
}

#[test]
fn a_mechanism_of_another_map_is_refused() {
    let city = city::block(1, 500.0, 30);
    let other = city::block(2, 500.0, 30);
    let built = make("laplace", &city, &Plan::new(&city, per_km(2.0)));
    assert!(built.expect_map(city.version()).is_ok());
    assert!(matches!(built.expect_map(other.version()), Err(MechanismError::OtherMap { .. })));
}
