//! Costs on the street against sums worked out by hand.

mod common;

use common::random_city;
use lrgeo_evaluation::street::People;
use lrgeo_geo::units::Length;
use lrgeo_map::utility::UtilityKind;
use lrgeo_mechanism::{City, ObfuscationMatrix, Plan, Rows, build, by_name};
use lrgeo_show::demo::demo_map;
use lrgeo_tiles::Epsilon;

#[test]
fn people_stand_on_streets_near_their_places_and_pay_for_the_way_to_them() {
    let map = demo_map(1, Length::from_m(500.0).unwrap()).unwrap();
    let map = map.with_places(&map.central_block(40));
    let version = map.version();
    let city = City::new(map, version, UtilityKind::TravelDistance, &()).unwrap();
    let people = People::draw(&city, 400, 3, &()).unwrap();
    assert_eq!(people.coords().len(), 400);
    let plan = Plan::new(&city, Epsilon::per_km(2.0).unwrap());
    let built = build(by_name("laplace-places").unwrap(), &city, &plan, &()).unwrap();
    let mut built = built.into_built();
    let noisy = people.assess(&built, &());
    // Everybody tells the truth: between places that is free, on the street it is not.
    let truth = (0..1600).map(|at| f64::from(u8::from(at / 40 == at % 40))).collect();
    built.rows = Rows::Dense(ObfuscationMatrix::new(40, truth).unwrap());
    let honest = people.assess(&built, &());
    assert!(honest.cost > 0.0 && honest.cost < noisy.cost, "{honest:?} {noisy:?}");
    assert!(honest.guess_error_km < noisy.guess_error_km);
    assert!(honest.moved_km < noisy.moved_km && honest.refused < 0.5);
    // Everybody reports one place: the guess cannot be better than the middle of all.
    let one = (0..1600).map(|at| f64::from(u8::from(at % 40 == 7))).collect();
    built.rows = Rows::Dense(ObfuscationMatrix::new(40, one).unwrap());
    let silent = people.assess(&built, &());
    assert!(silent.guess_error_km > noisy.guess_error_km);
}

#[test]
fn the_same_seed_draws_the_same_people_and_the_prior_counts() {
    let city = random_city(9, 30);
    let draw = |seed| People::draw(&city, 300, seed, &()).unwrap();
    assert_eq!(draw(1).coords(), draw(1).coords());
    assert_ne!(draw(1).coords(), draw(2).coords());
    let nobody: Vec<_> = (0..30).filter(|&i| city.prior()[i] == 0.0).collect();
    assert!(!nobody.is_empty());
    let near =
        |at, place: usize| city.nearest(at).is_some_and(|(nearest, _)| nearest.index() == place);
    // Nearly: a piece of street belongs to the place that its middle is nearest to.
    let there = draw(1).coords().iter().filter(|&&at| nobody.iter().any(|&p| near(at, p))).count();
    assert!(there < 150, "{there} of 300 people where nobody is");
}
