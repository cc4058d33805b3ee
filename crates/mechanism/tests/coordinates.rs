//! The promise between coordinates, wherever people stand: kept, and broken ones are caught.

#[path = "common/city.rs"]
mod city;

use lrgeo_geo::rng::SplitMix;
use lrgeo_geo::{Coord, PlaceId, STEP_DEGREES};
use lrgeo_mechanism::verify::verify;
use lrgeo_mechanism::{Built, City, MechanismError, Plan, Rows, build, by_name};
use lrgeo_tiles::coordinates::LatticeNoise;
use lrgeo_tiles::sample::exact::at_most;
use lrgeo_tiles::sample::{SeededRandomness, Urn, weights};
use lrgeo_tiles::verify::coordinates::account;
use lrgeo_tiles::{Epsilon, Notion};

fn per_km(value: f64) -> Epsilon {
    Epsilon::per_km(value).unwrap()
}

fn made(kind: &str, city: &City, epsilon: f64) -> Built {
    let plan = Plan::new(city, per_km(epsilon));
    build(by_name(kind).unwrap(), city, &plan, &()).unwrap().into_built()
}

fn noise(built: &Built) -> &LatticeNoise {
    match &built.rows {
        Rows::Noise(noise) => noise,
        _ => panic!("laplace is noise"),
    }
}

/// Somewhere on the map, between places, and somebody else at most `reach_km` away; at times a single step of coordinates.
fn two_people(built: &Built, rng: &mut SplitMix, reach_km: f64) -> Option<(Coord, Coord)> {
    let place = built.coords[rng.below(built.coords.len())];
    let mut offset = |km: f64| rng.between(-km, km);
    let here = place.offset_km(offset(0.3), offset(0.3)).rounded();
    let there = match offset(1.0) < -0.5 {
        true => Coord::new(here.lat(), here.lon() + STEP_DEGREES).unwrap().rounded(),
        false => here.offset_km(offset(reach_km), offset(reach_km)).rounded(),
    };
    (here != there).then_some((here, there))
}

#[test]
fn no_report_tells_two_coordinates_apart_by_more_than_was_promised() {
    let city = city::block(2, 500.0, 60);
    let mut rng = SplitMix::new(41);
    for epsilon in [0.5, 2.31, 8.0] {
        let built = made("laplace", &city, epsilon);
        assert_eq!(built.guarantee.notion, Notion::Coordinates);
        let (mut largest, mut compared) = (0.0f64, 0);
        for _ in 0..200 {
            let Some((here, there)) = two_people(&built, &mut rng, 0.3) else { continue };
            let (Some(a), Some(b)) = (built.row_at(here), built.row_at(there)) else { continue };
            let km = here.distance_km(there);
            let allowed = (epsilon * km).exp() * (1.0 - 1e-13);
            let (a, b) = (weights(&a).unwrap(), weights(&b).unwrap());
            for (&a, &b) in a.iter().zip(&b) {
                assert!(at_most(a, allowed, b) && at_most(b, allowed, a), "{km} km apart");
                if b > 0 {
                    largest = largest.max((a as f64 / b as f64).ln() / (epsilon * km));
                }
            }
            compared += 1;
        }
        // Not by luck: the promise is nearly used up somewhere.
        assert!(compared > 100 && largest > 0.98, "{compared} pairs, {largest}");
    }
}

#[test]
fn a_mechanism_on_places_tells_neighbours_apart_who_stand_on_either_side_of_a_border() {
    let city = city::block(2, 500.0, 60);
    let built = made("laplace-places", &city, 2.31);
    let (a, b) = (city.coords()[20], city.coords()[21]);
    let middle = |t: f64| {
        Coord::new(a.lat() + t * (b.lat() - a.lat()), a.lon() + t * (b.lon() - a.lon())).unwrap()
    };
    let rows = [0.499, 0.501].map(|t| built.row_at(middle(t)).unwrap());
    let ratio = rows[0].iter().zip(&rows[1]).map(|(x, y)| x / y).fold(0.0, f64::max);
    let km = middle(0.499).distance_km(middle(0.501));
    assert!(km < 0.002 && ratio > 2.0 * (2.31 * km).exp(), "{ratio} at {km} km");
}

/// The bound of the verifier against the gradient of `ln S` as it is, found by differences over one cell of the lattice.
#[test]
fn the_ripple_is_bounded_from_above_and_not_by_much() {
    let city = city::block(2, 500.0, 30);
    let built = made("laplace", &city, 2.0);
    let noise = noise(&built);
    let (e, h, b) = (noise.noise.value(), noise.lattice.spacing_km, noise.lattice.tip_km);
    let sum = |x: f64, y: f64| -> f64 {
        let reach = (20.0 / e / h) as i64;
        let at = |i: i64, j: i64| {
            let (dx, dy) = (x - i as f64 * h, y - j as f64 * h);
            (-e * (dx * dx + dy * dy + b * b).sqrt()).exp()
        };
        let lattice = (-reach..=reach).flat_map(|i| (-reach..=reach).map(move |j| (i, j)));
        lattice.map(|(i, j)| at(i, j)).sum()
    };
    let (step, mut steepest) = (h / 64.0, 0.0f64);
    for i in 0..6 {
        for j in 0..=i {
            let (x, y) = (f64::from(i) * h / 12.0, f64::from(j) * h / 12.0);
            let slope = |dx: f64, dy: f64| {
                (sum(x + dx, y + dy).ln() - sum(x - dx, y - dy).ln()) / (2.0 * step)
            };
            steepest = steepest.max(slope(step, 0.0).hypot(slope(0.0, step)));
        }
    }
    let bound = account(noise).ripple;
    assert!(steepest <= bound && bound < 6.0 * steepest, "{steepest} against {bound}");
    assert!(bound < 1e-3 * e);
}

#[test]
fn broken_promises_are_caught() {
    let city = city::block(2, 500.0, 40);
    let built = made("laplace", &city, 2.0);
    assert!(verify(&built, &()).holds());
    type Mutant = (&'static str, fn(&mut LatticeNoise));
    let mutants: [Mutant; 7] = [
        ("steeper noise", |n| n.noise = Epsilon::per_km(1.002 * n.noise.value()).unwrap()),
        ("a coarser lattice", |n| n.lattice.spacing_km *= 4.0),
        ("a sharp tip", |n| n.lattice.tip_km *= 0.2),
        ("a border that is near", |n| n.lattice.first[0] += 70),
        ("a lattice that ends early", |n| n.lattice.squares[1] -= 20),
        ("a larger area", |n| n.area[3] += 5.0),
        ("a plane that touches far away", |n| n.centre = Coord::new(89.9, 0.0).unwrap()),
    ];
    for (what, change) in mutants {
        let mut mutant = built.clone();
        let Rows::Noise(noise) = &mut mutant.rows else { unreachable!() };
        change(noise);
        if what == "a lattice that ends early" {
            let squares = noise.lattice.squares[0] as usize * noise.lattice.squares[1] as usize;
            noise.reports.truncate(squares);
        }
        let verdict = verify(&mutant, &());
        assert!(!verdict.holds(), "{what} was not noticed: {:?}", verdict.guaranteed);
    }
}

#[test]
fn noise_around_the_coordinate_costs_less_than_noise_around_the_place() {
    let city = city::block(2, 300.0, 150);
    let cost = |kind: &str, remap: Option<bool>| {
        let plan = Plan { remap, ..Plan::new(&city, per_km(2.0)) };
        build(by_name(kind).unwrap(), &city, &plan, &()).unwrap().expected_cost
    };
    let (plain, remapped) = (cost("laplace-places", Some(false)), cost("laplace-places", None));
    let coordinates = cost("laplace", None);
    assert!(remapped < plain, "{remapped} {plain}");
    // A finer outcome leaves more to choose from; the tip and the charges cost next to nothing.
    assert!(coordinates < 1.01 * remapped, "{coordinates} {remapped}");
}

#[test]
fn remapping_never_costs_more_and_leaves_optima_alone() {
    let city = city::block(2, 500.0, 60);
    for kind in ["exp", "laplace-places", "lp", "const-opt", "published"] {
        let built = |remap| {
            let plan = Plan { remap: Some(remap), ..Plan::new(&city, per_km(2.0)) };
            build(by_name(kind).unwrap(), &city, &plan, &()).unwrap()
        };
        let (before, after) = (built(false), built(true));
        assert!(verify(&after, &()).holds(), "{kind}");
        assert!(after.expected_cost <= before.expected_cost * (1.0 + 1e-12), "{kind}");
        if ["lp", "published"].contains(&kind) {
            let lowered = 1.0 - after.expected_cost / before.expected_cost;
            assert!(lowered < 2.0 * before.proof.unwrap().gap + 1e-9, "{kind}: {lowered}");
        }
    }
}

#[test]
fn rounds_cannot_be_remapped() {
    let city = city::block(2, 500.0, 40);
    let mut plan = Plan { remap: Some(true), ..Plan::new(&city, per_km(3.0)) };
    plan.users = [3, 30].map(PlaceId::new).to_vec();
    let refused = build(by_name("lr-geo").unwrap(), &city, &plan, &());
    assert!(matches!(refused, Err(MechanismError::Invalid { field: "remap", .. })));
}

#[test]
fn a_promise_to_people_is_kept_or_refused() {
    let city = city::block(2, 500.0, 40);
    let plan = Plan { notion: Notion::Coordinates, ..Plan::new(&city, per_km(2.31)) };
    for kind in ["lp", "published", "exp", "laplace-places"] {
        let refused = build(by_name(kind).unwrap(), &city, &plan, &());
        assert!(matches!(refused, Err(MechanismError::NotForCoordinates { .. })), "{kind}");
    }
    assert!(build(by_name("laplace").unwrap(), &city, &plan, &()).is_ok());
}

#[test]
fn who_is_off_the_map_has_no_row_and_everybody_on_it_has() {
    let city = city::block(2, 500.0, 40);
    let built = made("laplace", &city, 2.0);
    for &place in city.coords() {
        let row = built.row_at(place.offset_km(0.2, -0.2)).unwrap();
        assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }
    assert!(built.row_at(city.coords()[0].offset_km(30.0, 0.0)).is_none());
    // A coordinate is rounded before anything else: what is finer than a step does not show.
    let at = city.coords()[7];
    let beside = Coord::new(at.rounded().lat() + 0.2e-7, at.rounded().lon()).unwrap();
    assert_eq!(built.row_at(at), built.row_at(beside));
}

/// Honest accuracy: of people drawn by the prior, spread over their cells, and of the reports that they draw, 95 % are within the radius
/// that comes with the report.
#[test]
fn the_radius_that_comes_with_a_report_holds_the_truth() {
    let city = city::block(2, 500.0, 80);
    for kind in ["laplace", "exp", "published"] {
        let built = made(kind, &city, 2.0);
        let radius: Vec<f64> =
            (0..80).map(|report| built.accuracy_km(PlaceId::new(report))).collect();
        let mut rng = SplitMix::new(17);
        let mut randomness = SeededRandomness::new(23);
        let total: f64 = city.prior().iter().sum();
        let (mut held, mut drawn) = (0, 0);
        for (place, &p) in city.prior().iter().enumerate() {
            for _ in 0..(4000.0 * p / total).round() as usize {
                let mut offset = || rng.between(-0.25, 0.25);
                let at = city.coords()[place].offset_km(offset(), offset());
                let Some(row) = built.row_at(at) else { continue };
                let report = Urn::new(&row).unwrap().rehearse(&mut randomness);
                drawn += 1;
                held += usize::from(at.distance_km(city.coords()[report]) <= radius[report]);
            }
        }
        let share = held as f64 / drawn as f64;
        // Half a cell's diagonal is added for where in its cell somebody is, so it is rather more than 95 %.
        assert!(drawn > 3000 && (0.945..0.995).contains(&share), "{kind}: {share} of {drawn}");
        assert!(radius.iter().all(|km| *km < 8.0), "{kind}");
    }
}
