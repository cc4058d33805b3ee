use super::*;
use crate::sample::{SeededRandomness, Urn};
use crate::verify::earth::account;

fn noise(epsilon: f64) -> EarthNoise {
    EarthNoise::new(Epsilon::per_km(epsilon).unwrap()).unwrap()
}

fn coord(lat: f64, lon: f64) -> Coord {
    Coord::new(lat, lon).unwrap()
}

/// S over the whole lattice nearby.
fn sum(noise: &EarthNoise, at: Coord) -> f64 {
    noise.around(at).unwrap().total
}

#[test]
fn the_promise_is_proven_for_every_epsilon_that_can_be_asked_for() {
    for epsilon in [0.05, 0.5, 2f64.ln() / 0.3, 10.0, 50.0] {
        let proven = account(&noise(epsilon));
        assert!(proven.epsilon() <= epsilon, "{epsilon}: {proven:?}");
        // And hardly anything is given away.
        assert!(proven.epsilon() > 0.998 * epsilon, "{epsilon}: {proven:?}");
    }
    for outside in [0.001, 100.0] {
        assert!(EarthNoise::new(Epsilon::per_km(outside).unwrap()).is_err());
    }
}

#[test]
fn what_is_proven_depends_on_the_lattice() {
    let promised = 2.0;
    let good = noise(promised);
    let h = good.lattice.spacing_km();
    let mutants = [
        EarthNoise { rate: Epsilon::per_km(promised).unwrap(), ..good },
        EarthNoise { lattice: EarthLattice::with_spacing(1.5 * h), ..good },
        EarthNoise { tip_km: h / 4.0, ..good },
        EarthNoise { reach_km: 0.8 * good.reach_km, ..good },
        EarthNoise { reach_km: 0.0, ..good },
    ];
    for mutant in mutants {
        assert!(account(&mutant).epsilon() > promised, "{mutant:?}");
    }
}

#[test]
fn the_ripple_found_by_differences_is_within_its_bound() {
    let noise = noise(0.5);
    let bound = account(&noise).ripple;
    let step = 0.2 * noise.lattice.spacing_km();
    let mut largest = 0f64;
    for (lat, lon) in [(0.0, 0.0), (45.9627, -30.0025), (-64.2, 179.999), (84.9, 12.0)] {
        let at = coord(lat, lon);
        for (north, east) in [(step, 0.0), (0.0, step), (step, step)] {
            let there = at.offset_km(north, east);
            let gradient = (sum(&noise, there) / sum(&noise, at)).ln() / at.distance_km(there);
            largest = largest.max(gradient.abs());
        }
    }
    assert!(largest <= bound, "{largest} above {bound}");
    assert!(largest > 1e-9, "differences that find nothing show nothing");
}

#[test]
fn no_outcome_is_likelier_from_one_of_two_people_than_promised() {
    let epsilon = 2f64.ln() / 0.3;
    let noise = noise(epsilon);
    let lattice = &noise.lattice;
    for (here, there) in [
        (coord(64.14, -21.92), coord(64.1401, -21.9203)),
        (coord(64.14, -21.92), coord(64.1400001, -21.92)),
        (coord(84.99, 30.0), coord(85.0, 30.01)),
        (coord(-17.0, 179.9999), coord(-17.0003, -179.9999)),
    ] {
        let (a, b) = (noise.around(here).unwrap(), noise.around(there).unwrap());
        let allowed = epsilon * here.distance_km(there);
        // Every outcome of some rows, near, far and just within reach, as likely as it is from both.
        for row in [0, a.spans.len() / 4, a.spans.len() / 2, a.spans.len() - 1] {
            let number = a.first + row as u64;
            let points = a.points(row).unwrap().unwrap();
            let other = number.checked_sub(b.first).map(|row| row as usize);
            let others = other.and_then(|row| b.points(row).unwrap());
            for (k, point) in points.iter().enumerate() {
                let p = a.parts[row] * point;
                let span = &a.spans[row];
                let n = span.row.points as i64;
                let at = (span.first + k as i64).rem_euclid(n);
                let even = lattice.even_part(SPREAD, &span.row);
                let q = other.zip(others.as_ref()).and_then(|(row, points)| {
                    let k = (at - b.spans[row].first).rem_euclid(n);
                    Some(b.parts[row] * points.get(k as usize)?)
                });
                let ratio = (p / q.unwrap_or(even)).ln().abs();
                assert!(ratio <= allowed, "row {row} point {k}: {ratio} above {allowed}");
            }
        }
    }
}

#[test]
fn points_stand_for_cells_that_cover_the_earth() {
    let lattice = EarthLattice::with_spacing(50.0);
    let (mut area, mut centre) = (0.0, 0f64);
    for number in 0..lattice.rows {
        let row = lattice.row(number);
        area += row.points as f64 * row.area_km2;
        assert!(
            row.lat.cos() * row.step() <= 1.001 * lattice.spacing_km() / EARTH_RADIUS_KM,
            "row {number} is too wide"
        );
        centre += row.points as f64 * row.area_km2 * row.lat.sin();
    }
    let earth = 4.0 * std::f64::consts::PI * EARTH_RADIUS_KM * EARTH_RADIUS_KM;
    assert!((area / earth - 1.0).abs() < 1e-12, "{area}");
    assert!((centre / earth).abs() < 1e-9);
}

#[test]
fn draws_follow_the_density_and_accuracy_holds() {
    let noise = noise(2f64.ln() / 0.3);
    let here = coord(64.14, -21.92);
    let around = noise.around(here).unwrap();
    assert!((around.parts.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    let rows = Urn::new(&around.rows().unwrap()).unwrap();
    let mut bits = SeededRandomness::new(7);
    let (draws, moved) = (2000, 0.4);
    let accuracy = [0.0, moved].map(|km| noise.accuracy_km(km));
    assert!(accuracy[0] < accuracy[1] && accuracy[1] < accuracy[0] + moved);
    let there = here.offset_km(0.0, moved);
    let (mut held, mut mean) = ([0; 2], 0.0);
    for _ in 0..draws {
        let row = rows.rehearse(&mut bits);
        let point = Urn::new(&around.points(row).unwrap().unwrap()).unwrap().rehearse(&mut bits);
        let at = around.outcome(row, point).unwrap();
        held[0] += u32::from(at.distance_km(here) <= accuracy[0]);
        held[1] += u32::from(at.distance_km(there) <= accuracy[1]);
        mean += at.distance_km(here) / f64::from(draws);
    }
    // 1900 expected; four standard deviations are 39.
    assert!(held.iter().all(|held| (1861..=1939).contains(held)), "{held:?}");
    // Two over e, and a little for the tip.
    assert!((mean * noise.rate.value() - 2.0).abs() < 0.13, "{mean}");
    assert!((noise.within(accuracy[0]) - HELD).abs() < 1e-3);
}

#[test]
fn what_is_elsewhere_is_not_nearby() {
    let noise = noise(2.0);
    let here = coord(0.00001, 179.99999);
    let around = noise.around(here).unwrap();
    let middle = noise.lattice.rows / 2;
    assert!(around.elsewhere(middle, 0).is_none() && around.elsewhere(middle, 1).is_none());
    let far = around.elsewhere(middle, noise.lattice.row(middle).points / 2).unwrap();
    assert!(far.distance_km(here) > 15_000.0);
    assert!(
        around.elsewhere(3, 1).is_some()
            && around.points(around.parts.len() - 1).unwrap().is_none()
    );
    assert!(noise.around(coord(85.1, 0.0)).is_err());
    // One meridian under two names.
    let (west, east) =
        (noise.around(coord(5.0, -180.0)).unwrap(), noise.around(coord(5.0, 180.0)).unwrap());
    assert_eq!(west.parts, east.parts);
}
