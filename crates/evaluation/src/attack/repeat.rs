//! Averaging: a user who stays and reports again and again, with fresh randomness each time (spec
//! section 9). Remembering the report is the defence: then n reports say as much as one.

use lrgeo_map::progress::Progress;
use lrgeo_mechanism::sample::SeededRandomness;
use lrgeo_mechanism::{Built, Geography, MechanismError};
use rayon::prelude::*;

use super::hidden::Reports;
use super::{Attack, Trial};

/// The attack after each number of reports in `counts`, which ascend; once more for users who
/// remember, whose further reports are the first one again.
pub fn repeats(
    built: &Built,
    places: &Geography,
    users: &[u32],
    edge: &[bool],
    counts: &[usize],
    seed: u64,
    progress: &dyn Progress,
) -> Result<Vec<Attack>, MechanismError> {
    let reports = Reports::new(built)?;
    progress.begin("repeated reports", users.len() as u64);
    let trials = |(number, &user): (usize, &u32)| -> Vec<Trial> {
        let mut random = SeededRandomness::new(seed.wrapping_add(number as u64));
        let log_prior = |v: usize| places.prior()[v].max(f64::MIN_POSITIVE).ln();
        let mut posterior: Vec<f64> = (0..reports.places()).map(log_prior).collect();
        let mut seen = 0;
        let after = |&count: &usize| {
            while seen < count {
                let report = reports.draw(user, &mut random);
                for (v, weight) in posterior.iter_mut().enumerate() {
                    *weight += reports.log(v, report);
                }
                seen += 1;
            }
            let scores: Vec<(u32, f64)> =
                posterior.iter().enumerate().map(|(v, weight)| (v as u32, -weight)).collect();
            Trial::rank(places, user, edge[user as usize], &scores)
        };
        let trials = counts.iter().map(after).collect();
        progress.advance(1);
        trials
    };
    let trials: Vec<Vec<Trial>> = users.par_iter().enumerate().map(trials).collect();
    progress.end();
    let attack = |(at, count): (usize, &usize)| {
        let trials: Vec<Trial> = trials.iter().map(|trials| trials[at]).collect();
        Attack::of(format!("{count} fresh reports"), &trials)
    };
    let mut attacks: Vec<Attack> = counts.iter().enumerate().filter_map(attack).collect();
    // The posterior after the same report n times is not that of n draws: an attacker who knows that
    // the user remembers counts it once.
    if let (Some(first), Some(&most)) = (attacks.first().cloned(), counts.last())
        && counts.first() == Some(&1)
    {
        attacks.push(Attack { name: format!("{most} reports, remembered"), ..first });
    }
    Ok(attacks)
}
