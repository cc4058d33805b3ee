//! What fetching tiles tells, against an attacker who looks at every set of tiles.

mod common;

use common::random_city;
use lrgeo_evaluation::adversary::{adversary, blind};
use lrgeo_evaluation::tiles::{NEIGHBOURHOOD, TileLeak, doublings, tile_leak};
use lrgeo_geo::PlaceId;
use lrgeo_geo::rng::SplitMix;
use lrgeo_geo::spacing::spacing_km;
use lrgeo_mechanism::{Built, ObfuscationMatrix, Plan, Rows, build, by_name};
use lrgeo_tiles::{Distribution, Epsilon, SparseMatrix};

fn built(seed: u64, places: usize) -> Built {
    let city = random_city(seed, places);
    let plan = Plan::new(&city, Epsilon::per_km(2.5).unwrap());
    build(by_name("exp").unwrap(), &city, &plan, &()).unwrap().into_built()
}

/// Places dealt out to tiles at random, at least one each.
fn dealt(places: usize, tiles: usize, seed: u64) -> Vec<Vec<PlaceId>> {
    let mut random = SplitMix::new(seed);
    let mut dealt = vec![Vec::new(); tiles];
    for place in 0..places {
        let tile = if place < tiles { place } else { random.below(tiles) };
        dealt[tile].push(PlaceId::at(place));
    }
    dealt
}

/// Every place, every set of n tiles that its phone may fetch, every report; the attacker weighs every
/// place by how likely it is to fetch that set and to report that.
fn by_hand(built: &Built, tiles: &[Vec<PlaceId>], n: usize) -> f64 {
    let places = built.coords.len();
    let tile_of = |place: PlaceId| tiles.iter().position(|tile| tile.contains(&place)).unwrap();
    let sets: Vec<u32> =
        (0..1u32 << tiles.len()).filter(|s| s.count_ones() as usize == n).collect();
    let rows: Vec<Distribution> = PlaceId::all(places).map(|i| built.row(i).unwrap()).collect();
    let total: f64 = built.prior.iter().sum();
    let fetches = |i: usize, set: u32| {
        let holds = |set: u32| set >> tile_of(PlaceId::at(i)) & 1 == 1;
        let possible = sets.iter().filter(|&&set| holds(set)).count() as f64;
        if holds(set) { 1.0 / possible } else { 0.0 }
    };
    let mut right = 0.0;
    for &set in &sets {
        let fetched: Vec<f64> = (0..places).map(|i| fetches(i, set)).collect();
        right += (0..places)
            .map(|k| {
                let joint = |i: usize| built.prior[i] / total * rows[i][k] * fetched[i];
                let guess = (0..places).max_by(|&a, &b| joint(a).total_cmp(&joint(b))).unwrap();
                joint(guess)
            })
            .sum::<f64>();
    }
    right
}

fn rates(leak: &TileLeak) -> Vec<f64> {
    leak.guesses.as_ref().unwrap().fetching.iter().map(|with| with.right).collect()
}

#[test]
fn guesses_are_those_of_an_attacker_who_looks_at_every_set_of_tiles() {
    for seed in 1..=4 {
        let (places, count) = (12 + seed as usize, 3 + seed as usize % 3);
        let built = built(seed, places);
        let tiles = dealt(places, count, seed);
        let all: Vec<usize> = (1..=count).collect();
        let leak = tile_leak(&built, &tiles, &all, &()).unwrap();
        for (n, rate) in all.iter().zip(rates(&leak)) {
            let expected = by_hand(&built, &tiles, *n);
            assert!((rate - expected).abs() < 1e-12, "{n} of {count}: {rate} {expected}");
        }
    }
}

#[test]
fn all_tiles_are_the_report_alone_and_one_is_the_attack_within_it() {
    let built = built(7, 120);
    let tiles = dealt(120, 9, 3);
    let all: Vec<usize> = (1..=9).collect();
    let leak = tile_leak(&built, &tiles, &all, &()).unwrap();
    let (rates, guesses) = (rates(&leak), leak.guesses.as_ref().unwrap());
    let alone = adversary(&built, &built.prior, &());
    assert!((guesses.report - alone.hit_rate).abs() < 1e-12);
    assert_eq!(rates[8], guesses.report);
    assert_eq!(guesses.blind, blind(&built.coords, &built.prior).hit_rate);
    // Within a tile the attacker is the one who believes in the prior of that tile alone.
    let mut one = 0.0;
    for (tile, found) in tiles.iter().zip(&leak.tiles) {
        let within =
            |place: PlaceId| if tile.contains(&place) { built.prior[place.index()] } else { 0.0 };
        let prior: Vec<f64> = PlaceId::all(120).map(within).collect();
        let mass: f64 = prior.iter().sum();
        let rate = adversary(&built, &prior, &()).hit_rate;
        assert!((rate - found.right.unwrap()).abs() < 1e-12, "{rate} {found:?}");
        assert_eq!(found.places, tile.len());
        assert!(found.likely > 1.0 && found.likely < tile.len() as f64, "{found:?}");
        one += mass * rate;
    }
    assert!((rates[0] - one).abs() < 1e-12, "{} {one}", rates[0]);
    assert!(rates.windows(2).all(|w| w[0] > w[1]), "every further tile helps: {rates:?}");
    let ruled_out: Vec<f64> = guesses.fetching.iter().map(|with| with.ruled_out).collect();
    assert_eq!((ruled_out[0], ruled_out[4], ruled_out[8]), (1.0, 0.5, 0.0));
}

#[test]
fn rows_with_tails_are_attacked_as_those_without() {
    const PLACES: usize = 40;
    let mut sparse = built(5, PLACES);
    let mut dense = sparse.clone();
    // Every third column is explicit, a little more likely the nearer its number.
    let explicit: Vec<u32> = (0..PLACES as u32).step_by(3).collect();
    let weight = |i: usize, k: u32| 1.0 / (1.0 + (i as f64 - f64::from(k)).abs());
    let value: Vec<f64> = (0..PLACES)
        .flat_map(|i| {
            let sum: f64 = explicit.iter().map(|&k| weight(i, k)).sum();
            explicit.iter().map(move |&k| 0.8 * weight(i, k) / sum)
        })
        .collect();
    let matrix = SparseMatrix {
        start: (0..=PLACES).map(|i| i * explicit.len()).collect(),
        column: explicit.repeat(PLACES),
        value,
        tail: vec![0.2 / (PLACES - explicit.len()) as f64; PLACES],
        present: vec![true; PLACES],
    };
    matrix.validate().unwrap();
    sparse.rows = Rows::Sparse(matrix);
    let entries = PlaceId::all(PLACES).flat_map(|place| sparse.row(place).unwrap()).collect();
    dense.rows = Rows::Dense(ObfuscationMatrix::new(PLACES, entries).unwrap());
    let tiles = dealt(PLACES, 5, 1);
    let leak = |built: &Built| tile_leak(built, &tiles, &[1, 2, 5], &()).unwrap();
    assert_eq!(leak(&dense), leak(&sparse));
}

#[test]
fn borders_separate_the_pairs_that_they_cross() {
    let built = built(2, 60);
    let tiles = dealt(60, 4, 8);
    let leak = tile_leak(&built, &tiles, &[1], &()).unwrap();
    let reach = NEIGHBOURHOOD * spacing_km(&built.coords).unwrap();
    assert_eq!(leak.borders.within_km, reach);
    let (mut near, mut cut) = (0, 0);
    for i in 0..60 {
        for j in 0..i {
            if built.coords[i].distance_km(built.coords[j]) <= reach {
                near += 1;
                let tile = |p: usize| tiles.iter().position(|t| t.contains(&PlaceId::at(p)));
                cut += u64::from(tile(i) != tile(j));
            }
        }
    }
    assert_eq!((leak.borders.neighbours, leak.borders.separated), (near, cut));
    assert!(cut > 0 && cut < near);
    let whole = vec![PlaceId::all(60).collect::<Vec<_>>()];
    let leak = tile_leak(&built, &whole, &[1], &()).unwrap();
    assert_eq!((leak.borders.share(), leak.tiles.len()), (0.0, 1));
    let guesses = leak.guesses.unwrap();
    assert_eq!((guesses.fetching[0].right, guesses.fetching[0].ruled_out), (guesses.report, 0.0));
}

#[test]
fn phones_double_what_they_fetch_until_it_is_all() {
    assert_eq!(doublings(1), [1]);
    assert_eq!(doublings(2), [1, 2]);
    assert_eq!(doublings(8), [1, 2, 4, 8]);
    assert_eq!(doublings(11), [1, 2, 4, 8, 11]);
}

#[test]
fn tiles_that_are_no_tiles_of_the_map_are_refused() {
    let built = built(1, 20);
    let all: Vec<PlaceId> = PlaceId::all(20).collect();
    let refused = |tiles: &[Vec<PlaceId>], n: usize| tile_leak(&built, tiles, &[n], &()).is_err();
    assert!(refused(&[all[1..].to_vec()], 1), "a place is missing");
    assert!(refused(&[all.clone(), vec![PlaceId::new(3)]], 1), "a place is there twice");
    assert!(refused(&[all.clone(), vec![PlaceId::new(20)]], 1), "a place is not on the map");
    let whole = [all];
    assert!(refused(&whole, 0) && refused(&whole, 2));
    let city = random_city(4, 20);
    let plan = Plan {
        users: [3, 10].map(PlaceId::new).to_vec(),
        ..Plan::new(&city, Epsilon::per_km(1.5).unwrap())
    };
    let round = build(by_name("lr-geo").unwrap(), &city, &plan, &()).unwrap();
    assert!(tile_leak(&round, &[PlaceId::all(20).collect()], &[1], &()).is_err());
}
