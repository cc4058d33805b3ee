//! What a comparison says: nothing about sound mechanisms, and everything about planted violations.

mod common;

use common::random_city;
use lrgeo_evaluation::optimum::Answers;
use lrgeo_evaluation::{Assessment, Flag, assess};
use lrgeo_geo::PlaceId;
use lrgeo_mechanism::verify::Examined;
use lrgeo_mechanism::{Built, City, ObfuscationMatrix, Plan, Rows, build, by_name, expected_cost};
use lrgeo_tiles::{Epsilon, Notion};

fn plan(city: &City) -> Plan {
    // Two of the users are neighbours.
    let first = PlaceId::new(4);
    let near = city.within(city.coords()[first.index()], 10.0);
    let neighbour =
        near.iter().min_by(|a, b| (a.0 == first).cmp(&(b.0 == first)).then(a.1.total_cmp(&b.1)));
    let users = vec![first, neighbour.unwrap().0, PlaceId::new(9)];
    Plan { users, ..Plan::new(city, Epsilon::per_km(2.0).unwrap()) }
}

fn made(city: &City, kind: &str) -> Built {
    build(by_name(kind).unwrap(), city, &plan(city), &()).unwrap().into_built()
}

fn assessed(built: &Built, city: &City) -> Assessment {
    let examined = Examined::new(built.clone(), &());
    assess(&examined, city, &plan(city), &mut Answers::default(), &()).unwrap()
}

#[test]
fn sound_mechanisms_have_no_flag_and_cost_no_less_than_the_optimum() {
    let city = random_city(2, 25);
    for kind in ["lp", "const-opt", "laplace", "exp", "published"] {
        let assessment = assessed(&made(&city, kind), &city);
        assert_eq!(assessment.flags(), [], "{kind}");
        assert!(assessment.ratio().unwrap() >= 1.0 - 1e-9, "{kind}: {assessment:?}");
        assert_eq!(assessment.violations.deployed.violations, 0);
    }
    let lp = assessed(&made(&city, "lp"), &city);
    assert!(lp.ratio().unwrap() < 1.0 + 1e-5, "{lp:?}");
}

#[test]
fn telling_the_truth_is_flagged_as_too_cheap_to_be_private() {
    let city = random_city(2, 25);
    let mut built = made(&city, "lp");
    let truth = (0..25 * 25).map(|e| f64::from(u8::from(e % 26 == 0))).collect();
    built.rows = Rows::Dense(ObfuscationMatrix::new(25, truth).unwrap());
    built.expected_cost = expected_cost(&city, &built.rows);
    let flags = assessed(&built, &city).flags();
    assert!(
        flags.iter().any(|flag| matches!(flag, Flag::BelowOptimum { cost, .. } if *cost == 0.0))
    );
    assert!(flags.iter().any(|flag| matches!(flag, Flag::Violated { .. })));
    let words: Vec<String> = flags.iter().map(Flag::to_string).collect();
    assert!(words.iter().any(|text| text.starts_with("PRIVACY VIOLATED")), "{words:?}");
    assert!(words.iter().any(|text| text.contains("infinitely many times")), "{words:?}");
}

#[test]
fn a_violation_between_two_users_is_flagged_even_where_the_cost_is_high() {
    let city = random_city(2, 25);
    let mut built = made(&city, "lr-geo");
    let before = assessed(&built, &city).violations.deployed;
    let Rows::Users(round) = &mut built.rows else { panic!("made per user") };
    // The first user moves what it would report at the column that it likes best to another one.
    let row = &mut round.users[0].values[..round.columns.len()];
    let best = (0..row.len()).max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap();
    let other = (best + 1) % row.len();
    let moved = row[best] * 0.999;
    row[best] -= moved;
    row[other] += moved;
    let assessment = assessed(&built, &city);
    let found = assessment.violations.deployed;
    assert!(found.worst_log_excess > before.worst_log_excess.max(0.0), "{found:?} {before:?}");
    assert!(assessment.flags().iter().any(|flag| matches!(flag, Flag::Violated { .. })));
}

#[test]
fn parts_without_a_bound_between_them_are_flagged() {
    let city = random_city(2, 25);
    let plan =
        Plan { notion: Notion::Within { gamma_km: 0.2 }, allow_disconnected: true, ..plan(&city) };
    let built = build(by_name("lp").unwrap(), &city, &plan, &()).unwrap();
    let flags = assess(&built, &city, &plan, &mut Answers::default(), &()).unwrap().flags();
    assert!(flags.iter().any(|flag| matches!(flag, Flag::Parts { count, .. } if *count > 1)));
}
