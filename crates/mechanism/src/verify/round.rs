//! The matrices of a round: what the paper promises of them, what is really used, and how the paper
//! counts (Theorem 4.4, Proposition 4.5, `docs/specification.md` section 7).

use lrgeo_geo::parallel::*;
use lrgeo_geo::{Coord, Located, PlaceId};
use lrgeo_tiles::Epsilon;
use lrgeo_tiles::verify::{Finding, Pair};

use crate::RangeRule;
use crate::rows::Round;

/// One row of one user's matrix, over the columns that somebody may report.
struct Line {
    user: usize,
    place: PlaceId,
    deployed: bool,
    values: Vec<f64>,
    /// Which columns are tied to the shared y in this row.
    tied: Vec<bool>,
}

fn lines(round: &Round, coords: &[Coord]) -> Vec<Line> {
    let used = used_columns(round);
    let located = |place: PlaceId| coords[place.index()].located();
    let reports: Vec<Located> = used.iter().map(|&k| located(round.columns[k])).collect();
    let mut lines = Vec::new();
    for (user, matrix) in round.users.iter().enumerate() {
        let user_km = distances(located(matrix.place), &reports);
        for (index, &place) in matrix.relevant.iter().enumerate() {
            let row_km = distances(located(place), &reports);
            let is_tied = |(at, &k): (usize, &usize)| {
                let pair = (place, round.columns[k]);
                round.ties.factor(pair, row_km[at], user_km[at]).is_some()
            };
            let tied = used.iter().enumerate().map(is_tied).collect();
            let row = matrix.row(index);
            let values = used.iter().map(|&k| row[k]).collect();
            lines.push(Line { user, place, deployed: index == 0, values, tied });
        }
    }
    lines
}

fn distances(from: Located, to: &[Located]) -> Vec<f64> {
    to.iter().map(|&there| from.distance_km(there)).collect()
}

/// The columns that are not zero in every row of every user: the others satisfy anything.
fn used_columns(round: &Round) -> Vec<usize> {
    let mut used = vec![false; round.columns.len()];
    for matrix in &round.users {
        for index in 0..matrix.relevant.len() {
            used.iter_mut().zip(matrix.row(index)).for_each(|(used, z)| *used |= *z != 0.0);
        }
    }
    (0..used.len()).filter(|&k| used[k]).collect()
}

/// Compares every ordered pair of lines that `wanted` names, as far as they are `reach_km` apart at
/// most, over the columns that it names.
fn compare(
    lines: &[Line],
    coords: &[Coord],
    epsilon: Epsilon,
    reach_km: f64,
    wanted: impl Fn(&Line, &Line) -> Option<Columns> + Sync,
) -> Finding {
    (0..lines.len())
        .into_par_iter()
        .map(|a| {
            let mut finding = Finding::default();
            for b in (0..lines.len()).filter(|&b| b != a) {
                let (here, there) = (&lines[a], &lines[b]);
                let Some(columns) = wanted(here, there) else { continue };
                let km = coords[here.place.index()].distance_km(coords[there.place.index()]);
                if km > reach_km {
                    continue;
                }
                let pair = Pair { at: (a as u32, b as u32), km };
                match columns {
                    Columns::All => finding.add(pair, &here.values, &there.values, epsilon),
                    Columns::TiedInBoth => {
                        let both = |k: &usize| here.tied[*k] && there.tied[*k];
                        let picked: Vec<usize> = (0..here.tied.len()).filter(both).collect();
                        let pick = |line: &Line| -> Vec<f64> {
                            picked.iter().map(|&k| line.values[k]).collect()
                        };
                        finding.add(pair, &pick(here), &pick(there), epsilon);
                    }
                }
            }
            finding
        })
        .reduce(Finding::default, Finding::merge)
}

enum Columns {
    All,
    TiedInBoth,
}

/// What [`lrgeo_tiles::Cover::Round`] promises: every pair within a matrix, and between users the entries
/// tied in both; of all rows under *each*, of the deployed rows under *own*.
pub fn promised(round: &Round, coords: &[Coord], epsilon: Epsilon, reach_km: f64) -> Finding {
    let lines = lines(round, coords);
    let every_row = round.ties.range == RangeRule::Each;
    compare(&lines, coords, epsilon, reach_km, |a, b| {
        if a.user == b.user {
            Some(Columns::All)
        } else {
            (every_row || a.deployed && b.deployed).then_some(Columns::TiedInBoth)
        }
    })
}

/// The mechanism in the field: user m uses row m of its own matrix and nothing else. All entries,
/// between users, two users at one place included.
pub fn deployed_rows(round: &Round, coords: &[Coord], epsilon: Epsilon, reach_km: f64) -> Finding {
    let mut lines = lines(round, coords);
    lines.retain(|line| line.deployed);
    compare(&lines, coords, epsilon, reach_km, |_, _| Some(Columns::All))
}

/// As the paper counts (Eq. 32): over all LR rows of all users, whether used or not, and over all of V. A
/// column that nobody may report satisfies its inequality (0 <= 0) and counts.
pub fn as_the_paper_counts(
    round: &Round,
    coords: &[Coord],
    epsilon: Epsilon,
    reach_km: f64,
) -> Finding {
    let found = among_reported(round, coords, epsilon, reach_km);
    Finding { checked: found.pairs * round.places as u64, ..found }
}

/// Ours: the same rows over the columns that somebody may report, so that a larger map around the same users
/// does not make their ratio smaller.
pub fn among_reported(round: &Round, coords: &[Coord], epsilon: Epsilon, reach_km: f64) -> Finding {
    compare(&lines(round, coords), coords, epsilon, reach_km, |_, _| Some(Columns::All))
}

/// Proposition 4.5 (2): the violation ratio as the paper counts it is at most this. With a reach of infinity it
/// is the formula as printed, which counts far pairs within a matrix as satisfied; linear constraints hold up to
/// gamma only, so that with gamma the bound is one that holds.
///
/// Departure: an entry tied in both rows is counted as satisfied if its two factors satisfy Geo-Ind, whatever y
/// is. Under *each* they always do, and this is the paper's count; under *own* Theorem 4.4 fails for some rows
/// that are not deployed, and those entries are not counted.
pub fn violation_bound(round: &Round, coords: &[Coord], reach_km: f64) -> f64 {
    let all: Vec<usize> = (0..round.users.len()).collect();
    bound_of(round, coords, reach_km, &all)
}

/// Proposition 4.5 (1): the same for two users of the round, by their numbers.
pub fn violation_bound_between(
    round: &Round,
    coords: &[Coord],
    reach_km: f64,
    users: [usize; 2],
) -> f64 {
    bound_of(round, coords, reach_km, &users)
}

/// A row without its probabilities: of every place, the logarithm of the factor that ties it; NaN where it is free.
struct Kernel {
    user: usize,
    place: PlaceId,
    log: Vec<f64>,
}

fn bound_of(round: &Round, coords: &[Coord], reach_km: f64, users: &[usize]) -> f64 {
    let located: Vec<Located> = coords[..round.places].iter().map(|at| at.located()).collect();
    let mut kernels = Vec::new();
    for &user in users {
        let matrix = &round.users[user];
        let user_km = distances(located[matrix.place.index()], &located);
        for &place in &matrix.relevant {
            let row_km = distances(located[place.index()], &located);
            let log = |k: usize| {
                let factor = round.ties.factor((place, PlaceId::at(k)), row_km[k], user_km[k]);
                factor.map_or(f64::NAN, f64::ln)
            };
            let log = (0..round.places).map(log).collect();
            kernels.push(Kernel { user, place, log });
        }
    }
    let epsilon = round.ties.epsilon.value();
    let counts = |a: usize| {
        let (here, mut covered, mut all) = (&kernels[a], 0u64, 0u64);
        for (b, there) in kernels.iter().enumerate() {
            let km = located[here.place.index()].distance_km(located[there.place.index()]);
            if a == b || km > reach_km {
                continue;
            }
            all += round.places as u64;
            covered += match here.user == there.user {
                true => round.places as u64,
                false => {
                    let both = here.log.iter().zip(&there.log);
                    // Not a number is not at most anything: free entries are not covered.
                    both.filter(|(x, y)| **x - **y <= epsilon * km).count() as u64
                }
            };
        }
        (covered, all)
    };
    let add = |x: (u64, u64), y: (u64, u64)| (x.0 + y.0, x.1 + y.1);
    let (covered, all) = (0..kernels.len()).into_par_iter().map(counts).reduce(|| (0, 0), add);
    1.0 - covered as f64 / (all as f64).max(1.0)
}
