//! Optima and bounds: against the whole linear programme, and against each other.

mod common;

use common::random_city;
use lrgeo_evaluation::bounds::{Costs, cost_bounds, relaxed};
use lrgeo_evaluation::optimum::Question;
use lrgeo_geo::PlaceId;
use lrgeo_mechanism::{City, Plan, Radii, RangeRule, Rows, build, by_name, connecting_gamma};
use lrgeo_optim::{Arc, DenseCost, Problem, ProblemParts, Settings, direct};
use lrgeo_tiles::{Epsilon, Notion};

/// The optimum of some rows by the general solver, every pair written out.
fn by_hand(city: &City, question: &Question) -> f64 {
    let rows = &question.rows;
    let all: Vec<PlaceId> = PlaceId::all(city.places()).collect();
    let weights: Vec<f64> = rows.iter().map(|&i| city.prior()[i.index()]).collect();
    let mut cost = city.utility().losses(rows, &all);
    for (line, w) in cost.chunks_exact_mut(all.len()).zip(&weights) {
        line.iter_mut().for_each(|c| *c *= w);
    }
    let mut arcs = Vec::new();
    for i in 0..rows.len() {
        for j in 0..i {
            let d = city.distance_km(rows[i], rows[j]);
            if d <= question.notion.reach_km() {
                arcs.push(Arc { i, j, d });
            }
        }
    }
    let cost = DenseCost::new(rows.len(), all.len(), cost).unwrap();
    let problem = Problem::new(ProblemParts::untied(question.epsilon.value(), cost, arcs)).unwrap();
    let solution = direct::solve(&problem, &Settings::default()).unwrap();
    solution.objective / weights.iter().sum::<f64>()
}

#[test]
fn the_optimum_is_that_of_the_whole_programme() {
    for seed in 0..6 {
        let city = random_city(seed, 16);
        let epsilon = Epsilon::per_km([1.0, 3.0][seed as usize % 2]).unwrap();
        let gamma_km = connecting_gamma(&city, 1.0);
        let whole: Vec<PlaceId> = PlaceId::all(16).collect();
        // Two users may be at one place: their rows must then be equal.
        for rows in [whole, [1, 7, 7, 3, 12].map(PlaceId::new).to_vec()] {
            for notion in [Notion::Within { gamma_km }, Notion::AllPairs] {
                let question = Question { rows: rows.clone(), notion, epsilon };
                let found = question.answer(&city, &Settings::default(), &()).unwrap();
                let expected = by_hand(&city, &question);
                // Where the optimum is nearly nothing, gaps are measured against the losses.
                let scale = expected.max(0.01);
                let off = (found.lower_bound - expected) / scale;
                assert!(found.tight && off.abs() < 1e-5, "seed {seed}: {found:?} {expected}");
                assert!(off < 1e-9, "seed {seed}: {found:?} is no lower bound of {expected}");
            }
        }
    }
}

#[test]
fn users_with_nobody_near_may_tell_the_truth() {
    let city = random_city(1, 20);
    let notion = Notion::Within { gamma_km: 1e-6 };
    let epsilon = Epsilon::per_km(1.0).unwrap();
    let question = Question { rows: [1, 2, 3].map(PlaceId::new).to_vec(), notion, epsilon };
    let optimum = question.answer(&city, &Settings::default(), &()).unwrap();
    assert_eq!(optimum.lower_bound, 0.0);
}

#[test]
fn on_larger_maps_the_bound_of_all_pairs_stays_below_the_mechanisms() {
    let city = random_city(11, 130);
    let plan = Plan::new(&city, Epsilon::per_km(4.0).unwrap());
    let built = build(by_name("published").unwrap(), &city, &plan, &()).unwrap();
    let optimum = Question::of(&built).answer(&city, &Settings::default(), &()).unwrap();
    assert!(!optimum.tight);
    assert!(optimum.lower_bound <= built.expected_cost);
    assert!(optimum.lower_bound > 0.8 * built.expected_cost, "{optimum:?} {}", built.expected_cost);
}

/// Theorems 4.6 and 4.7: `R(c_tilde) <= R(c) <= CLR(c_hat)`, and whoever solves OMG for the whole
/// map pays at least `R(c)` for the same rows.
#[test]
fn the_best_cost_lies_between_the_bounds_of_the_theorems() {
    for seed in 0..12 {
        let city = random_city(20 + seed, 24);
        let gamma_km = connecting_gamma(&city, 0.8);
        let epsilon = Epsilon::per_km([1.0, 3.0, 8.0][seed as usize % 3]).unwrap();
        let plan = Plan {
            notion: Notion::Within { gamma_km },
            radii: Radii {
                relevant: gamma_km.max(1.5),
                relevant_max: Some(8),
                exponential: 1.0,
                obfuscation: 2.0,
            },
            range: [RangeRule::Own, RangeRule::Each][seed as usize % 2],
            users: [seed as u32, 20, 3].map(PlaceId::new).to_vec(),
            ..Plan::new(&city, epsilon)
        };
        let lp = build(by_name("lp").unwrap(), &city, &plan, &()).unwrap();
        for kind in ["lr-geo", "lr-geo-f"] {
            let built = build(by_name(kind).unwrap(), &city, &plan, &()).unwrap();
            let settings = Settings::default();
            let bounds = cost_bounds(&built, &city, plan.division, &settings, &());
            let bounds = bounds.unwrap().expect("made per user");
            let Rows::Users(round) = &built.rows else { panic!("made per user") };
            let reach_km = built.guarantee.notion.reach_km();
            let best =
                relaxed(round, &city, epsilon, reach_km, Costs::True, &settings, &()).unwrap();
            let slack = 1e-6 * bounds.upper;
            assert!(bounds.lower <= best + slack, "seed {seed} {kind}: {bounds:?} {best}");
            assert!(best <= bounds.upper + slack, "seed {seed} {kind}: {bounds:?} {best}");
            assert!(bounds.lower > 0.0 && bounds.ratio() >= 1.0 - 1e-6);
            if kind == "lr-geo" {
                let rows: Vec<PlaceId> =
                    round.users.iter().flat_map(|user| user.relevant.clone()).collect();
                let all: Vec<PlaceId> = PlaceId::all(24).collect();
                let (mut cost, mut weight) = (0.0, 0.0);
                for i in rows {
                    let (row, p) = (lp.row(i).unwrap(), city.prior()[i.index()]);
                    let losses = city.utility().losses(&[i], &all);
                    cost += p * row.iter().zip(losses).map(|(z, c)| z * c).sum::<f64>();
                    weight += p;
                }
                assert!(best <= cost / weight + slack, "seed {seed}: {best} {}", cost / weight);
            }
        }
        assert!(
            cost_bounds(&lp, &city, plan.division, &Settings::default(), &()).unwrap().is_none()
        );
    }
}
