//! The snapped matrix of the planar Laplace mechanism is private without tolerance, and is the
//! distribution of what the noise does.

mod common;

use common::{grid, per_km};
use lrgeo_geo::Coord;
use lrgeo_geo::rng::SplitMix;
use lrgeo_mechanism::laplace::Laplace;
use lrgeo_mechanism::verify;
use lrgeo_tiles::Distribution;
use lrgeo_tiles::sample::{SeededRandomness, SystemRandomness, exact, weights};

fn scattered(seed: u64, count: usize, spread_km: f64) -> Vec<Coord> {
    let mut rng = SplitMix::new(seed);
    let middle = Coord::new(59.3, 18.1).unwrap();
    let mut offset = || rng.between(-spread_km, spread_km);
    (0..count).map(|_| middle.offset_km(offset(), offset())).collect()
}

#[test]
fn every_pair_is_private_at_the_nominal_epsilon_without_tolerance() {
    let maps = [grid(12, 0.47), scattered(1, 150, 8.0), scattered(2, 100, 400.0)];
    for places in maps {
        for epsilon in [0.01, 0.5, 2.0, 10.0, 100.0].map(per_km) {
            let laplace = Laplace::new(&places, epsilon).unwrap();
            let matrix = laplace.matrix().unwrap();
            let verdict = verify::all_pairs(&matrix, &places, epsilon);
            assert!(verdict.is_private(), "{epsilon}: {verdict:?}");
            let (charged, nominal) = (laplace.charged(), laplace.nominal());
            assert!(charged < nominal && nominal == epsilon);
            for i in 0..places.len() {
                assert!((matrix.row(i).iter().sum::<f64>() - 1.0).abs() < 1e-14);
                assert!(matrix.row(i).iter().all(|z| *z > 0.0));
            }
        }
    }
}

#[test]
fn the_whole_numbers_that_are_drawn_from_are_private_too() {
    let places = scattered(7, 60, 6.0);
    for epsilon in [0.3, 12.0] {
        let laplace = Laplace::new(&places, per_km(epsilon)).unwrap();
        let row = |i: usize| weights(&Distribution::new(laplace.row(i).unwrap()).unwrap()).unwrap();
        let rows: Vec<Vec<u128>> = (0..places.len()).map(row).collect();
        for i in 0..places.len() {
            for j in (0..places.len()).filter(|&j| j != i) {
                let factor = (epsilon * places[i].distance_km(places[j])).exp() * (1.0 - 1e-13);
                let mut columns = rows[i].iter().zip(&rows[j]);
                assert!(columns.all(|(&a, &b)| exact::at_most(a, factor, b)), "{i}, {j}");
            }
        }
    }
}

#[test]
fn on_a_city_next_to_nothing_is_charged_and_next_to_nothing_is_left() {
    // Two far places behind each other as seen from the edge: their ratio uses up epsilon.
    let places = grid(12, 0.47);
    let laplace = Laplace::new(&places, per_km(2.0)).unwrap();
    assert!(laplace.charged().value() > 2.0 * (1.0 - 1e-6), "{}", laplace.charged());
    let less = verify::all_pairs(&laplace.matrix().unwrap(), &places, per_km(1.9));
    assert!(!less.is_private(), "{less:?}");
}

#[test]
fn the_matrix_is_the_distribution_of_the_noise() {
    for (places, epsilon) in [(grid(7, 0.5), 1.5), (scattered(3, 40, 3.0), 0.8)] {
        let laplace = Laplace::new(&places, per_km(epsilon)).unwrap();
        // A corner, an edge, the middle.
        for (seed, from) in [(1, 0), (2, 3), (3, 24)] {
            let row = laplace.row(from).unwrap();
            let mut randomness = SeededRandomness::new(seed);
            let (draws, mut counts) = (200_000, vec![0u32; places.len()]);
            for _ in 0..draws {
                counts[laplace.rehearse(from, &mut randomness).unwrap()] += 1;
            }
            let expected = row.iter().map(|z| z * f64::from(draws));
            let cells: Vec<(f64, u32)> =
                expected.zip(counts).filter(|(expected, _)| *expected >= 8.0).collect();
            let chi2: f64 = cells.iter().map(|(e, n)| (f64::from(*n) - e).powi(2) / e).sum::<f64>();
            // Mean plus four standard deviations of a chi-square.
            let freedom = cells.len() as f64;
            assert!(cells.len() > 20, "only {freedom} cells to compare");
            assert!(chi2 < freedom + 4.0 * (2.0 * freedom).sqrt(), "{chi2} for {freedom}");
        }
    }
}

#[test]
fn a_continent_is_stretched_by_the_plane_and_the_charge_pays_for_it() {
    // Three rows of places 50 km apart along 4,000 km of the equator: near the ends the plane is
    // longer than the Earth by two per cent, and rows differ by all that the plane allows.
    let degrees = |n: i32| 0.45 * f64::from(n);
    let row = |n: i32| (-40..=40).map(move |m| Coord::new(degrees(n), degrees(m)).unwrap());
    let places: Vec<Coord> = (-1..=1).flat_map(row).collect();
    let laplace = Laplace::new(&places, per_km(0.02)).unwrap();
    let matrix = laplace.matrix().unwrap();
    assert!(verify::all_pairs(&matrix, &places, laplace.nominal()).is_private());
    assert!(!verify::all_pairs(&matrix, &places, laplace.charged()).is_private());
}

#[test]
fn the_edge_of_the_map_reports_what_lies_beyond_it() {
    let places = grid(9, 0.5);
    let laplace = Laplace::new(&places, per_km(1.0)).unwrap();
    let (corner, middle) = (laplace.row(0).unwrap(), laplace.row(40).unwrap());
    // A quarter plane and more belongs to the corner; the middle has one cell of many.
    assert!(corner[0] > 0.25 && middle[40] < 0.05, "{} {}", corner[0], middle[40]);
    // Seen from the middle the map is symmetric, up to the shape of the Earth.
    assert!((middle[0] / middle[80] - 1.0).abs() < 1e-3);
}

#[test]
fn one_and_two_places_share_the_plane() {
    let alone = Laplace::new(&grid(1, 1.0), per_km(1.0)).unwrap();
    assert_eq!(alone.row(0).unwrap(), [1.0]);
    let two = [Coord::new(0.0, 0.0).unwrap(), Coord::new(0.0, 0.01).unwrap()];
    let laplace = Laplace::new(&two, per_km(1.0)).unwrap();
    let row = laplace.row(0).unwrap();
    // Half a plane at distance a: 1/pi times the integral of (1 + s) e^-s over half a turn, s = a/cos.
    let a = two[0].distance_km(two[1]) / 2.0;
    let steps = 200_000;
    let value = |n: i32| {
        let s = a / (std::f64::consts::FRAC_PI_2 * (f64::from(n) + 0.5) / f64::from(steps)).cos();
        (1.0 + s) * (-s).exp()
    };
    let other = (0..steps).map(value).sum::<f64>() / f64::from(steps) / 2.0;
    assert!((row[1] / other - 1.0).abs() < 1e-6, "{} is not {other}", row[1]);
    assert!((row[0] + row[1] - 1.0).abs() < 1e-15);
}

#[test]
fn places_at_one_spot_have_one_region_and_the_first_owns_it() {
    let mut places = scattered(4, 30, 2.0);
    places[20] = places[5];
    places[29] = places[5];
    let laplace = Laplace::new(&places, per_km(2.0)).unwrap();
    let matrix = laplace.matrix().unwrap();
    for i in 0..30 {
        let row = matrix.row(i);
        assert!(row[20] == 0.0 && row[29] == 0.0);
        assert!(row.iter().enumerate().all(|(k, z)| k == 20 || k == 29 || *z > 0.0));
    }
    assert_eq!(matrix.row(5), matrix.row(20));
    let verdict = verify::all_pairs(&matrix, &places, per_km(2.0));
    assert!(verdict.is_private(), "{verdict:?}");
}

#[test]
fn places_in_a_line_and_places_very_close_together_work() {
    let line: Vec<Coord> =
        (0..20).map(|i| Coord::new(45.0, 0.01 * f64::from(i)).unwrap()).collect();
    let mut close = scattered(5, 40, 3.0);
    close[7] = close[8].offset_km(0.0005, 0.0);
    for places in [line, close] {
        for epsilon in [0.1, 3.0].map(per_km) {
            let matrix = Laplace::new(&places, epsilon).unwrap().matrix().unwrap();
            let verdict = verify::all_pairs(&matrix, &places, epsilon);
            assert!(verdict.is_private(), "{epsilon}: {verdict:?}");
        }
    }
}

#[test]
fn what_cannot_be_done_exactly_is_refused() {
    let mut places = scattered(6, 10, 3.0);
    places[1] = places[0].offset_km(1e-8, 0.0);
    assert!(Laplace::new(&places, per_km(0.1)).is_err());
    assert!(Laplace::new(&[], per_km(1.0)).is_err());
    let laplace = Laplace::new(&grid(2, 1.0), per_km(1.0)).unwrap();
    assert!(laplace.row(4).is_err());
    assert!(laplace.report(4, &mut SystemRandomness).is_err());
    assert!(laplace.report(3, &mut SystemRandomness).unwrap() < 4);
}
