//! People who go different ways: one place set, several cost reference tables, one shared y.

use std::sync::Arc;

use lrgeo_geo::PlaceId;
use lrgeo_geo::units::Length;
use lrgeo_map::build::same_places;
use lrgeo_map::map::{Map, TravelMode};
use lrgeo_map::utility::{LossMatrix, UtilityKind};
use lrgeo_mechanism::verify::verify;
use lrgeo_mechanism::{City, Losses, MechanismError, Plan, Rows, build, by_name};
use lrgeo_show::demo::{demo_city, demo_map};
use lrgeo_tiles::Epsilon;

const KIND: UtilityKind = UtilityKind::TravelDistance;

fn maps(places: usize) -> [Map; 2] {
    let map = demo_map(3, Length::from_m(500.0).unwrap()).unwrap();
    let map = map.with_places(&map.central_block(places));
    let walk = same_places(&map, demo_city(3).streets.used_by(TravelMode::Walk), TravelMode::Walk);
    [map, walk.unwrap()]
}

/// Cars, pedestrians, and a bus that stops at every second place.
fn ways(walk: Map) -> Vec<(String, Losses)> {
    let n = walk.places.len();
    let bus = (0..n * n).map(|at| if at / n == at % n { 0.0 } else { (at % 7) as f64 }).collect();
    vec![
        ("drive".into(), Losses::Measured(KIND)),
        ("walk".into(), Losses::On(Box::new(walk), KIND)),
        ("bus".into(), Losses::Given(Arc::new(LossMatrix::new(n, bus).unwrap()))),
    ]
}

fn mixed(places: usize, split: [f64; 3]) -> City {
    let [map, walk] = maps(places);
    let version = map.version();
    let split = split.map(|share| vec![share; places]).to_vec();
    City::with_ways(map, version, ways(walk), split, &()).unwrap()
}

fn plan(city: &City) -> Plan {
    let mut plan = Plan::new(city, Epsilon::per_km(2.0).unwrap());
    plan.radii.relevant = 1.6;
    plan.radii.exponential = 0.9;
    plan.radii.obfuscation = 2.2;
    plan.allow_disconnected = true;
    plan
}

#[test]
fn a_mixture_costs_what_its_ways_cost_in_proportion() {
    let city = mixed(40, [0.5, 0.3, 0.2]);
    let all = city.utility().all();
    let parts: Vec<Vec<f64>> = city.ways().iter().map(|way| way.utility().all()).collect();
    for (at, loss) in all.iter().enumerate() {
        let expected = 0.5 * parts[0][at] + 0.3 * parts[1][at] + 0.2 * parts[2][at];
        assert!((loss - expected).abs() < 1e-12, "{at}");
    }
    assert_eq!(city.utility().unit(), "km");
    // On foot one-way streets do not hold: the two ways are not the same.
    assert_ne!(parts[0], parts[1]);
}

#[test]
fn every_user_has_the_costs_of_its_own_way_and_all_share_one_y() {
    let city = mixed(40, [0.4, 0.4, 0.2]);
    let mut plan = plan(&city);
    let place = 17;
    // Three people at one place who go differently, and one who switches.
    plan.users = vec![PlaceId::new(place); 4];
    plan.shares =
        vec![vec![1.0, 0.0, 0.0], vec![0.0, 1.0, 0.0], vec![0.0, 0.0, 1.0], vec![0.2, 0.3, 0.5]];
    let built = build(by_name("lr-geo").unwrap(), &city, &plan, &()).unwrap();
    assert!(
        verify(&built, &()).guaranteed.is_private(),
        "tied entries are private whoever goes how"
    );
    let Rows::Users(round) = &built.rows else { panic!("a round") };
    let tables = city.tables(plan.division, &()).unwrap();
    // What is optimised: all relevant rows, with the costs of the user's own table.
    let cost = |user: usize, way: usize| -> f64 {
        let matrix = &round.users[user];
        let losses = tables[way].upper(&matrix.relevant, &round.columns);
        let prior = |at: usize| city.prior()[matrix.relevant[at / round.columns.len()].index()];
        let terms = matrix.values.iter().zip(losses).enumerate();
        let weight: f64 = matrix.relevant.iter().map(|&i| city.prior()[i.index()]).sum();
        terms.map(|(at, (z, c))| prior(at) * z * c).sum::<f64>() / weight
    };
    let mut differ = false;
    for way in 0..3 {
        for other in (0..3).filter(|other| *other != way) {
            let (own, others) = (cost(way, way), cost(other, way));
            differ |= own < others - 1e-3;
            assert!(
                own <= others + 1e-5,
                "way {way}: {own} by its own matrix, {others} by another"
            );
        }
    }
    assert!(differ, "nobody's matrix is better for its own way");
    for user in &round.users {
        assert_eq!(user.shares.len(), 3);
    }
    // Written and read, users still go as they went.
    let path = std::env::temp_dir().join(format!("lrgeo-ways-{}.lrmech", std::process::id()));
    built.save(&path).unwrap();
    let again = lrgeo_mechanism::Built::open(&path).unwrap().0;
    std::fs::remove_file(&path).unwrap();
    assert!(again.rows == built.rows);
}

#[test]
fn one_matrix_for_everybody_costs_no_less_than_one_for_each_way() {
    let split = [0.5, 0.3, 0.2];
    let city = mixed(30, split);
    let plan = plan(&city);
    let kind = by_name("lp").unwrap();
    let together = build(kind, &city, &plan, &()).unwrap().expected_cost;
    let [map, walk] = maps(30);
    let apart = ways(walk).into_iter().zip(split).map(|((name, losses), share)| {
        let alone =
            City::with_ways(map.clone(), map.version(), vec![(name, losses)], Vec::new(), &());
        share * build(kind, &alone.unwrap(), &plan, &()).unwrap().expected_cost
    });
    let apart: f64 = apart.sum();
    assert!(apart <= together + 1e-9, "{apart} {together}");
    assert!(together < 1.5 * apart, "hiding the way costs {together} instead of {apart}");
}

#[test]
fn ways_that_do_not_fit_are_refused_with_advice() {
    let [map, walk] = maps(30);
    let refused = |ways: Vec<(String, Losses)>, split: Vec<Vec<f64>>| -> String {
        let version = map.version();
        let city = City::with_ways(map.clone(), version, ways, split, &());
        city.map(|_| ()).map_err(|error: MechanismError| error.to_string()).unwrap_err()
    };
    let drive = || ("drive".to_owned(), Losses::Measured(KIND));
    let other = maps(20)[1].clone();
    let error = refused(vec![drive(), ("walk".into(), Losses::On(Box::new(other), KIND))], vec![]);
    assert!(error.contains("way walk") && error.contains("`same_places`"), "{error}");
    let minutes = Losses::On(Box::new(walk.clone()), UtilityKind::TravelTime);
    let error = refused(vec![drive(), ("walk".into(), minutes)], vec![]);
    assert!(error.contains("in km and in min"), "{error}");
    let on_foot = || ("walk".to_owned(), Losses::On(Box::new(walk.clone()), KIND));
    let error = refused(vec![drive(), on_foot()], vec![vec![0.5; 30], vec![0.4; 30]]);
    assert!(error.contains("shares") && error.contains("sum to one"), "{error}");
    let error = refused(vec![drive(), on_foot()], vec![vec![1.0; 30]]);
    assert!(error.contains("1 ways, there are 2"), "{error}");
    let city = City::with_ways(map.clone(), map.version(), vec![drive(), on_foot()], vec![], &());
    let city = city.unwrap();
    let mut plan = plan(&city);
    (plan.users, plan.shares) = (vec![PlaceId::new(3)], vec![vec![0.7, 0.7]]);
    let error = build(by_name("lr-geo").unwrap(), &city, &plan, &()).err().unwrap().to_string();
    assert!(error.contains("shares") && error.contains("sum to one"), "{error}");
}
