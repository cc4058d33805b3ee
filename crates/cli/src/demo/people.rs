//! Invented people who use the service.

use std::path::Path;

use lrgeo_client::http::Http;
use lrgeo_client::policy::Protects;
use lrgeo_client::state::StateFile;
use lrgeo_client::{Client, ClientError, Mode, Outcome};
use lrgeo_geo::{Coord, PlaceId};
use lrgeo_server::Catalogue;
use lrgeo_tiles::sample::{SystemRandomness, Urn};
use lrgeo_tiles::{Distribution, DrawError};

use crate::failure::Failure;

/// What somebody did, and what only they and the demo know.
pub struct Person {
    /// Where they are.
    pub at: Coord,
    /// What happened.
    pub outcome: Outcome,
    /// How far the reported place is from where they are.
    pub moved_km: f64,
    /// Where they want to go: the likeliest target of the city.
    pub target: usize,
    /// The way there as the service estimates it from the report.
    pub estimated_km: f64,
    /// The way there as it is.
    pub true_km: f64,
    /// By how much the service misjudges the ways to all targets, on average.
    pub loss_km: f64,
    /// Asked again, they reported the same place and spent nothing.
    pub same_again: bool,
}

/// One person each in the modes `coordinates`, `published` and `local`, and `round` at once in `offload`, of whom
/// the first is told about.
pub fn use_the_service(
    address: &str,
    folder: &Path,
    catalogue: &Catalogue,
    round: usize,
) -> Result<Vec<Person>, Failure> {
    let travel = catalogue.travel();
    let targets = &catalogue.city.map().targets;
    let likelier = |&a: &usize, &b: &usize| targets[a].weight.total_cmp(&targets[b].weight);
    let target = (0..targets.len()).max_by(likelier).unwrap_or(0);
    let city = &catalogue.city;
    let anywhere = Distribution::new(city.prior().to_vec());
    let anywhere = Urn::new(&anywhere.map_err(DrawError::from)?)?;
    let person = |number: usize, mode: Mode| -> Result<Person, Failure> {
        let place = anywhere.draw(&mut SystemRandomness)?;
        // Somewhere in the cell, not at its centre.
        let at = city.coords()[place].offset_km(0.04, -0.07);
        let state = StateFile::open(&folder.join(format!("person-{number}.json")));
        let mut state = state.map_err(ClientError::from)?;
        let policy = &mut state.state.policy;
        // These people agree to the epsilon of the demo, and to what the paper's own modes promise.
        policy.most_epsilon_per_km =
            policy.most_epsilon_per_km.max(2.0 * catalogue.plan.epsilon.value());
        if matches!(mode, Mode::Local | Mode::Offload) {
            policy.protects = Protects::RelevantPlaces;
            // Wherever on the map they are, its loneliest corner included.
            policy.least_relevant_places = 1;
        }
        let http = Http::new(address).map_err(ClientError::from)?;
        let mut client = Client::new(http, state).targets(usize::MAX);
        if mode == Mode::Offload {
            client.understand_offload()?;
        }
        let outcome = client.obfuscate(at, mode)?;
        let again = client.obfuscate(at, mode)?;
        let answered = outcome.targets.iter().find(|answer| answer.target as usize == target);
        Ok(Person {
            at,
            target,
            estimated_km: answered.map_or(f64::NAN, |answer| answer.estimated_km),
            loss_km: city.utility().loss(PlaceId::at(place), outcome.report),
            moved_km: city.distance_km(PlaceId::at(place), outcome.report),
            true_km: travel
                .map_or(f64::NAN, |travel| f64::from(travel.row(place)[target]) * travel.scale()),
            same_again: again.report == outcome.report && again.spent_per_km == 0.0,
            outcome,
        })
    };
    let alone = [Mode::Coordinates, Mode::Published, Mode::Local];
    let people = alone.into_iter().enumerate().map(|(number, mode)| person(number, mode));
    let mut people = people.collect::<Result<Vec<Person>, Failure>>()?;
    let together = std::thread::scope(|scope| {
        let person = &person;
        let joined: Vec<_> = (0..round)
            .map(|n| scope.spawn(move || person(alone.len() + n, Mode::Offload)))
            .collect();
        let people = joined
            .into_iter()
            .map(|one| one.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        people.collect::<Result<Vec<Person>, Failure>>()
    })?;
    people.extend(together.into_iter().take(1));
    Ok(people)
}
