//! The attacks find what they must find, and nothing where there is nothing.

use lrgeo_evaluation::attack::repeat::repeats;
use lrgeo_evaluation::attack::request::{Centres, Intersection};
use lrgeo_evaluation::attack::targets::recover;
use lrgeo_evaluation::attack::trace::{Effort, Journey, follow};
use lrgeo_evaluation::attack::upload::{Defence, Fingerprints, tile};
use lrgeo_evaluation::attack::{Trial, chance, edges};
use lrgeo_geo::PlaceId;
use lrgeo_geo::units::Length;
use lrgeo_map::utility::UtilityKind;
use lrgeo_mechanism::lr_geo::coefficients::Costs;
use lrgeo_mechanism::publish::publish;
use lrgeo_mechanism::relevant::{geo_ind_graph, relevant_places};
use lrgeo_mechanism::{City, Plan, build, by_name};
use lrgeo_show::demo::demo_map;
use lrgeo_tiles::{Epsilon, Issued, Link, SecretKey};

fn city(places: usize) -> City {
    let map = demo_map(1, Length::from_m(500.0).unwrap()).unwrap();
    let map = map.with_places(&map.central_block(places));
    let version = map.version();
    City::new(map, version, UtilityKind::TravelDistance, &()).unwrap()
}

fn everybody(city: &City) -> Vec<PlaceId> {
    PlaceId::all(city.places()).collect()
}

#[test]
fn ranks_count_ties_as_chance() {
    let city = city(10);
    let scores = [(0, 1.0), (1, 0.5), (2, 1.0), (3, 2.0)].map(|(v, s)| (PlaceId::new(v), s));
    let trial = Trial::rank(&city, PlaceId::new(2), false, &scores);
    assert_eq!((trial.better, trial.tied), (1, 2));
    assert_eq!(
        trial.error_km,
        city.distance_km(PlaceId::new(1), PlaceId::new(2)),
        "the guess is place 1"
    );
}

#[test]
fn costs_name_everybody_and_a_prior_hardly_anybody() {
    let city = city(80);
    let plan = Plan::practical().unwrap();
    let graph = geo_ind_graph(&city, &plan);
    let edge = edges(&city, graph.as_deref(), &plan);
    assert!(edge.contains(&true));
    let tables = city.tables(plan.division, &()).unwrap();
    let costs = Costs::of(&city, &tables, vec![1.0]);
    let prints = Fingerprints::new(&city, graph.as_deref(), &costs, &plan, &edge, &()).unwrap();
    let users = everybody(&city);
    assert_eq!(prints.costs(&users).unwrap().all.top_1, 1.0);
    let distances = |defence| prints.distances(&users, false, defence, 1).unwrap().all;
    let (plain, coarse) = (distances(Defence::None), distances(Defence::Rounded(5.0)));
    assert!(plain.top_1 > 0.5 && coarse.top_1 < plain.top_1, "{plain:?} {coarse:?}");
    let blind = chance(&city, &users, &edge).unwrap().all;
    assert!(blind.top_1 < 0.1 && blind.anonymity_median > 10.0, "{blind:?}");
}

#[test]
fn a_tile_tells_the_prior_within_it_and_nothing_else() {
    let city = city(120);
    let plan = Plan::new(&city, Epsilon::per_km(2.0).unwrap());
    let built = build(by_name("laplace-places").unwrap(), &city, &plan, &()).unwrap();
    let key = SecretKey::generate().unwrap();
    let link = Link::first(Issued::from_unix(0), 1, key.public());
    let published = publish(&built, city.version(), Some(10), link, &key, &()).unwrap();
    let manifest = published.signed.manifest();
    let users = everybody(&city);
    let attack = tile(&city, manifest, &users, &vec![false; users.len()]).unwrap();
    let mut members = std::collections::BTreeMap::<usize, Vec<PlaceId>>::new();
    for &v in &users {
        let tile = manifest.tile_of(city.coords()[v.index()]).unwrap();
        members.entry(tile).or_default().push(v);
    }
    assert!(members.len() > 3);
    // Everybody in a tile being attacked once, one of its members is named rightly.
    let right = members.len() as f64 / users.len() as f64;
    assert!((attack.all.top_1 - right).abs() < 1e-9, "{attack:?} {right}");
}

#[test]
fn requests_intersect_until_one_place_is_left() {
    let city = city(80);
    let mut plan = Plan::practical().unwrap();
    plan.radii.relevant = 1.0;
    let graph = geo_ind_graph(&city, &plan);
    let edge = vec![false; city.places()];
    let users = everybody(&city);
    let intersection = Intersection::new(&city, graph.as_deref(), &plan, &());
    let attacks = intersection.attack(&users, &edge, &[1, 5, 40], Centres::DrawnAnew, 7);
    let top: Vec<f64> = attacks.iter().map(|attack| attack.all.top_1).collect();
    assert!(top[0] < top[1] && top[1] < top[2] && top[2] > 0.9, "{top:?}");
    // Centres that do not come again say more.
    let fresh = intersection.attack(&users, &edge, &[5], Centres::NeverTwice, 7);
    assert!(fresh[0].all.top_1 > top[1], "{fresh:?} {top:?}");
    // After one request every place that has the centre among its relevant ones is possible.
    let sizes = users.iter().map(|&v| relevant_places(&city, graph.as_deref(), &plan, v).len());
    assert!(attacks[0].all.anonymity_median <= sizes.max().unwrap() as f64);
}

#[test]
fn the_targets_come_out_of_the_table() {
    let map = demo_map(1, Length::from_m(700.0).unwrap()).unwrap();
    let found = recover(&map, 60, 1_500, 3, &()).unwrap();
    assert!(found.total_variation < 1e-6, "{found:?}");
    assert!(found.likeliest_named && found.error_km < 1e-6 && found.chance > 0.3, "{found:?}");
    // Too few entries are not enough.
    let poor = recover(&map, 60, 10, 3, &()).unwrap();
    assert!(poor.total_variation > 0.05, "{poor:?}");
}

#[test]
fn repeated_reports_average_out_unless_they_are_remembered() {
    let city = city(60);
    let plan = Plan { remap: Some(false), ..Plan::new(&city, Epsilon::per_km(2.0).unwrap()) };
    let built = build(by_name("exp").unwrap(), &city, &plan, &()).unwrap();
    let edge = vec![false; city.places()];
    let users: Vec<PlaceId> = everybody(&city).repeat(4);
    let attacks = repeats(&built, &city, &users, &edge, &[1, 10, 100], 5, &()).unwrap();
    let top: Vec<f64> = attacks.iter().map(|attack| attack.all.top_1).collect();
    // Averaged at 1, 10, 100; multiplied likewise; remembered.
    assert!(top[0] < top[1] && top[1] < top[2], "{top:?}");
    assert!(top[3] < top[4] && top[4] < top[5] && top[5] > 0.9, "{top:?}");
    assert!(top[5] >= top[2], "who knows the mechanism does not do worse: {top:?}");
    assert_eq!(top[6], top[3], "remembered, a hundred reports say as much as one");
    // The likelihood attacker with one report is the Bayesian one of the other module.
    let expected = lrgeo_evaluation::adversary::adversary(&built, &built.prior, &()).hit_rate;
    assert!((top[3] - expected).abs() < 0.15, "{} {expected}", top[3]);
}

#[test]
fn who_moves_is_followed_and_remembering_helps() {
    let city = city(120);
    let plan = Plan::new(&city, Epsilon::per_km(2.0).unwrap());
    let built = build(by_name("exp").unwrap(), &city, &plan, &()).unwrap();
    let edge = vec![false; city.places()];
    let starts: Vec<PlaceId> = everybody(&city).into_iter().step_by(6).collect();
    let journey = Journey {
        name: "walk",
        speed_kmh: 5.0,
        fixes: 60,
        every_seconds: 10.0,
        noise_km: 0.01,
        reuse_km: 0.5,
        effort: Effort { particles: 600, misfit: 0.2 },
    };
    let attacked =
        |seed| follow(&built, &city, city.map(), (&starts, &edge), &journey, seed, &()).unwrap();
    let followed = attacked(9);
    assert_eq!(followed[0].attack.all.users, 60 * starts.len());
    let [fresh, place, _, anchor, untimed] = &followed[..] else { panic!("five lines") };
    assert_eq!((fresh.draws, fresh.spent_per_km), (60.0, 120.0));
    // 830 m in all: a draw at the start, and at most one more per radius.
    assert!((1.0..=2.7).contains(&anchor.draws) && anchor.draws <= place.draws, "{followed:?}");
    assert_eq!(anchor.draws, untimed.draws);
    let error = |followed: &lrgeo_evaluation::attack::trace::Followed| followed.attack.all.error_km;
    assert!(error(fresh) < error(place) && error(fresh) < 0.8 * error(anchor), "{followed:?}");
    assert_eq!(followed, attacked(9), "the same seed, the same numbers");
    assert_ne!(followed, attacked(10));
}
