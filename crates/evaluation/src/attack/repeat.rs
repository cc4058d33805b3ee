//! A user who stays and reports again and again, with fresh randomness each time (`docs/specification.md` section 9).
//!
//! Two attackers: one takes the place nearest to the mean of the reports and needs to know nothing, the
//! other knows the mechanism and multiplies likelihoods. Remembering the report is the defence: then n
//! reports say as much as one.

use lrgeo_geo::{Coord, PlaceId};
use lrgeo_map::progress::Progress;
use lrgeo_mechanism::{Built, Geography, MechanismError};
use lrgeo_tiles::sample::SeededRandomness;
use rayon::prelude::*;

use super::hidden::Reports;
use super::{Attack, Trial, counted};

/// The attack after each number of reports in `counts`, which ascend; once more for users who
/// remember, whose further reports are the first one again.
pub fn repeats(
    built: &Built,
    places: &Geography,
    users: &[PlaceId],
    edge: &[bool],
    counts: &[usize],
    seed: u64,
    progress: &dyn Progress,
) -> Result<Vec<Attack>, MechanismError> {
    let reports = Reports::new(built)?;
    progress.begin("repeated reports", users.len() as u64);
    let trials = |(number, &user): (usize, &PlaceId)| -> Vec<[Trial; 2]> {
        let mut random = SeededRandomness::new(seed.wrapping_add(number as u64));
        let log_prior = |v: usize| places.prior()[v].max(f64::MIN_POSITIVE).ln();
        let mut posterior: Vec<f64> = (0..reports.places()).map(log_prior).collect();
        let (mut seen, mut sum) = (0, [0.0; 2]);
        let after = |&count: &usize| {
            while seen < count {
                let report = reports.draw(user, &mut random);
                for (v, weight) in posterior.iter_mut().enumerate() {
                    *weight += reports.log(v, report);
                }
                let at = places.coords()[report.index()];
                sum = [sum[0] + at.lat(), sum[1] + at.lon()];
                seen += 1;
            }
            let mean = sum.map(|sum| sum / seen as f64);
            let off = |at: &Coord| {
                let east = (at.lon() - mean[1]) * at.lat().to_radians().cos();
                (at.lat() - mean[0]).hypot(east)
            };
            let rank = |score: &dyn Fn(usize) -> f64| {
                let scores: Vec<(PlaceId, f64)> =
                    (0..reports.places()).map(|v| (PlaceId::at(v), score(v))).collect();
                Trial::rank(places, user, edge[user.index()], &scores)
            };
            [rank(&|v| off(&places.coords()[v])), rank(&|v| -posterior[v])]
        };
        let trials = counts.iter().map(after).collect();
        progress.advance(1);
        trials
    };
    let trials: Vec<Vec<[Trial; 2]>> = users.par_iter().enumerate().map(trials).collect();
    progress.end();
    let attack = |attacker: usize, how: &str, at: usize| {
        let trials: Vec<Trial> = trials.iter().map(|trials| trials[at][attacker]).collect();
        Attack::of(format!("{}, {how}", counted(counts[at], "fresh report")), &trials)
    };
    let averaged = (0..counts.len()).filter_map(|at| attack(0, "averaged", at));
    let multiplied = (0..counts.len()).filter_map(|at| attack(1, "multiplied", at));
    let mut attacks: Vec<Attack> = averaged.chain(multiplied).collect();
    // The posterior after the same report n times is not that of n draws: an attacker who knows that
    // the user remembers counts it once.
    if let (Some(first), Some(&most)) = (attacks.get(counts.len()).cloned(), counts.last())
        && counts.first() == Some(&1)
    {
        attacks.push(Attack { name: format!("{}, remembered", counted(most, "report")), ..first });
    }
    Ok(attacks)
}
