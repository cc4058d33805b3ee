//! What fetching tiles adds to a report (mode `published`, `docs/specification.md` section 9).
//!
//! The epsilon of a mechanism bounds what a report says, not which tiles a phone asked for. Who knows
//! that a phone fetched the tiles S knows that it is at one of their places. A phone that fetches its
//! own tile and n - 1 others, drawn evenly from the rest and remembered, makes every S that holds
//! its own tile equally likely, so for a report k the attacker is left with the weights `p_i z_ik` of the
//! places of S, and guesses the largest.
//!
//! That is worked out exactly, for every n, without drawing any S. Let `m_1 >= m_2 >= .. >= m_T` be the largest
//! weights within each of the T tiles, for one report. Of the sets of n tiles `C(T-j, n-1)` have `m_j`
//! for their largest, and each has the probability `1 / C(T-1, n-1)` given one of its tiles; so the attacker
//! is right with probability `sum_j m_j C(T-j, n-1) / C(T-1, n-1)`, summed over reports. With n = 1 that is the sum
//! of all `m_j` (the own tile and the report), with n = T it is `m_1` (the report alone).

use lrgeo_geo::index::SpatialIndex;
use lrgeo_geo::spacing::spacing_km;
use lrgeo_geo::{Coord, PlaceId};
use lrgeo_map::progress::Progress;
use lrgeo_mechanism::{Built, MechanismError, Rows};
use lrgeo_tiles::likely_places;
use rayon::prelude::*;
use serde::Serialize;

use crate::adversary::even_if_nothing;

/// Places at most this many spacings apart are neighbours: eight of them on an even grid.
pub const NEIGHBOURHOOD: f64 = 1.5;

/// Guesses look at every entry of the matrix; above this many places that takes longer than
/// publishing, and [`TileLeak::guesses`] is left out.
pub const MOST_PLACES: usize = 20_000;

/// What the requests for tiles tell besides the report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TileLeak {
    /// The tiles, by number.
    pub tiles: Vec<OneTile>,
    /// Which neighbours a single tile tells apart.
    pub borders: Borders,
    /// What an attacker makes of tiles and report; `None` above [`MOST_PLACES`] places.
    pub guesses: Option<Guesses>,
}

/// A tile, as an attacker sees it who knows that it was fetched.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct OneTile {
    /// How many places it has,
    pub places: usize,
    /// and how many equally likely ones would hide as well.
    pub likely: f64,
    /// How often the first guess is right about its users who fetch no other tile and report; `None`
    /// where nobody is expected, and above [`MOST_PLACES`] places.
    pub right: Option<f64>,
}

/// Pairs of places and the borders of tiles. Two places of different tiles are told apart for
/// certain by whoever knows the one tile that was fetched: between them there is no Geo-Ind for the
/// request, however small epsilon is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Borders {
    /// Places at most so far apart count as neighbours: [`NEIGHBOURHOOD`] spacings.
    pub within_km: f64,
    /// How many pairs of neighbours there are,
    pub neighbours: u64,
    /// and how many of them are in different tiles.
    pub separated: u64,
}

impl Borders {
    /// The share of neighbouring pairs that are in different tiles.
    pub fn share(&self) -> f64 {
        self.separated as f64 / self.neighbours.max(1) as f64
    }
}

/// How often the first guess of an attacker is right who knows prior and mechanism.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Guesses {
    /// Who sees nothing.
    pub blind: f64,
    /// Who sees the report alone.
    #[serde(rename = "with_report")]
    pub report: f64,
    /// Who sees the report and which tiles were fetched, by their number.
    pub fetching: Vec<Fetching>,
}

/// A phone that fetches its own tile and random others, always the same ones.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Fetching {
    /// How many tiles it fetches.
    pub fetched: usize,
    /// How often the first guess is right.
    pub right: f64,
    /// The probability that a place of some other tile is ruled out for certain: where that is not
    /// zero, request and report together are not Geo-Ind.
    pub ruled_out: f64,
}

/// One tile, then twice as many each time, then all of them.
pub fn doublings(tiles: usize) -> Vec<usize> {
    let powers = std::iter::successors(Some(1usize), |n| n.checked_mul(2));
    powers.take_while(|&n| n < tiles).chain([tiles]).collect()
}

/// What fetching tiles tells besides the reports of a mechanism that has a row for every place.
/// `tiles` holds every place once; `fetched` says how many tiles phones fetch, each from 1 to all.
pub fn tile_leak(
    built: &Built,
    tiles: &[Vec<PlaceId>],
    fetched: &[usize],
    progress: &dyn Progress,
) -> Result<TileLeak, MechanismError> {
    let places = built.coords.len();
    if matches!(built.rows, Rows::Users(_)) {
        let reason = "is made per user; tiles have a row for every place";
        return Err(MechanismError::invalid("mechanism", reason));
    }
    let mut tile_of = vec![None; places];
    for (tile, &place) in
        tiles.iter().enumerate().flat_map(|(t, of)| of.iter().map(move |p| (t, p)))
    {
        let twice = || MechanismError::invalid("tiles", "hold a place twice, or an unknown one");
        let slot = tile_of.get_mut(place.index()).filter(|slot| slot.is_none());
        *slot.ok_or_else(twice)? = Some(tile);
    }
    if tile_of.contains(&None) {
        return Err(MechanismError::invalid("tiles", "do not hold every place"));
    }
    if fetched.iter().any(|n| !(1..=tiles.len()).contains(n)) {
        return Err(MechanismError::invalid("fetched", "is not a number of tiles"));
    }
    let borders = borders(&built.coords, &tile_of);
    let one = |members: &Vec<PlaceId>| OneTile {
        places: members.len(),
        likely: likely_places(members.iter().map(|place| built.prior[place.index()])),
        right: None,
    };
    let mut leak = TileLeak { tiles: tiles.iter().map(one).collect(), borders, guesses: None };
    if places <= MOST_PLACES {
        let (guesses, within) = guesses(built, tiles, fetched, progress);
        leak.guesses = Some(guesses);
        leak.tiles.iter_mut().zip(within).for_each(|(tile, right)| tile.right = right);
    }
    Ok(leak)
}

fn borders(coords: &[Coord], tile_of: &[Option<usize>]) -> Borders {
    let within_km = NEIGHBOURHOOD * spacing_km(coords).unwrap_or(0.0);
    let index = SpatialIndex::new(coords);
    let count = |place: usize| {
        let near = index.within(coords[place], within_km).into_iter().map(|(other, _)| other);
        // Each pair once.
        near.filter(|&other| (other as usize) > place).fold([0, 0], |[all, cut], other| {
            [all + 1, cut + u64::from(tile_of[other as usize] != tile_of[place])]
        })
    };
    let sum = |a: [u64; 2], b: [u64; 2]| [a[0] + b[0], a[1] + b[1]];
    let all = (0..coords.len()).into_par_iter().map(count).reduce(|| [0, 0], sum);
    Borders { within_km, neighbours: all[0], separated: all[1] }
}

/// How often guesses are right, and about the users of each tile who fetch no other.
fn guesses(
    built: &Built,
    tiles: &[Vec<PlaceId>],
    fetched: &[usize],
    progress: &dyn Progress,
) -> (Guesses, Vec<Option<f64>>) {
    let places = built.coords.len();
    let prior = even_if_nothing(built.prior.iter().copied());
    progress.begin("attack on tiles", tiles.len() as u64);
    // The largest weight within each tile, for every report.
    let largest = |members: &Vec<PlaceId>| {
        let (mut largest, mut row) = (vec![0.0f64; places], vec![0.0; places]);
        for &place in members {
            let p = prior[place.index()];
            built.rows.fill(place.index(), &mut row);
            largest.iter_mut().zip(&row).for_each(|(m, z)| *m = m.max(p * z));
        }
        progress.advance(1);
        largest
    };
    let largest: Vec<Vec<f64>> = tiles.par_iter().map(largest).collect();
    progress.end();

    let count = tiles.len();
    let mut asked = fetched.to_vec();
    asked.push(count);
    let odds: Vec<Vec<f64>> = asked.iter().map(|&n| odds_of_rank(count, n)).collect();
    let right: Vec<Vec<f64>> = (0..places)
        .into_par_iter()
        .map_init(
            || vec![0.0; count],
            |ranked, report| {
                ranked.iter_mut().zip(&largest).for_each(|(slot, of)| *slot = of[report]);
                ranked.sort_by(|a, b| b.total_cmp(a));
                let mean = |odds: &Vec<f64>| odds.iter().zip(&*ranked).map(|(o, m)| o * m).sum();
                odds.iter().map(mean).collect()
            },
        )
        .collect();
    // One after the other, so that the sums do not depend on the number of threads.
    let sums = (0..asked.len()).map(|at| right.iter().map(|of| of[at]).sum::<f64>());
    let mut sums: Vec<f64> = sums.collect();
    let report = sums.pop().unwrap_or(0.0);
    let fetching = fetched.iter().zip(sums).map(|(&fetched, right)| Fetching {
        fetched,
        right,
        ruled_out: (count - fetched) as f64 / (count.max(2) - 1) as f64,
    });
    let in_tile = |(of, members): (&Vec<f64>, &Vec<PlaceId>)| {
        let mass: f64 = members.iter().map(|place| prior[place.index()]).sum();
        (mass > 0.0).then(|| of.iter().sum::<f64>() / mass)
    };
    let blind = prior.iter().copied().fold(0.0, f64::max);
    let guesses = Guesses { blind, report, fetching: fetching.collect() };
    (guesses, largest.iter().zip(tiles).map(in_tile).collect())
}

/// `C(T-j, n-1) / C(T-1, n-1)` for j = 1 .. T: how likely no better tile is among the n - 1 others.
fn odds_of_rank(tiles: usize, fetched: usize) -> Vec<f64> {
    let mut odds = vec![1.0; tiles];
    for j in 1..tiles {
        let (left, free) = (tiles - j, (tiles - j + 1).saturating_sub(fetched));
        odds[j] = odds[j - 1] * free as f64 / left as f64;
    }
    odds
}
