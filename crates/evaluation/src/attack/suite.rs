//! Whole attacks: what is tried on a map or a mechanism by whoever asks how much it leaks, on the command line or from
//! another language, and what guessing blindly would have achieved beside it.

use lrgeo_geo::PlaceId;
use lrgeo_geo::rng::SplitMix;
use lrgeo_map::map::Map;
use lrgeo_map::progress::Progress;
use lrgeo_mechanism::lr_geo::coefficients::Costs;
use lrgeo_mechanism::publish::publish;
use lrgeo_mechanism::relevant::geo_ind_graph;
use lrgeo_mechanism::{Built, City, Geography, MechanismError, Plan, build, by_name};
use lrgeo_tiles::{Guarantee, Issued, Link, Manifest, SecretKey};

use super::exact::{Defended, defended};
use super::repeat::repeats;
use super::request::{Centres, Intersection};
use super::trace::{Effort, Followed, Journey, follow};
use super::upload::{Defence, Fingerprints, tile};
use super::{Attack, chance, counted, edges};
use crate::tiles::{TileLeak, doublings, tile_leak};

/// Which settings of the paper's protocol are attacked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Settings {
    /// Those of the paper's experiments.
    Paper,
    /// Those that protect somebody.
    #[default]
    Practical,
}

impl Settings {
    /// All of them, with the names used in options.
    pub const ALL: [(Settings, &'static str); 2] =
        [(Settings::Paper, "paper"), (Settings::Practical, "practical")];

    /// As a plan; with another Gamma than theirs, and then without a cap on the relevant places.
    pub fn plan(self, relevant_km: Option<f64>) -> Result<Plan, MechanismError> {
        let mut plan = match self {
            // Whoever attacks knows which places a user takes: the nearest, not a secret sample.
            Self::Paper => Plan { sampled: None, ..Plan::paper()? },
            Self::Practical => Plan::practical()?,
        };
        if let Some(km) = relevant_km {
            (plan.radii.relevant, plan.radii.relevant_max) = (km, None);
        }
        Ok(plan)
    }
}

/// Different places to attack, drawn by their prior.
pub fn random_users(places: &Geography, count: usize, seed: u64) -> Vec<PlaceId> {
    let mut rng = SplitMix::new(seed);
    let mut weights = places.prior().to_vec();
    if weights.iter().sum::<f64>() <= 0.0 {
        weights.fill(1.0);
    }
    let mut users = Vec::new();
    while users.len() < count {
        let mut left = rng.unit() * weights.iter().sum::<f64>();
        let Some(place) = (0..weights.len()).filter(|&i| weights[i] > 0.0).find(|&i| {
            left -= weights[i];
            left <= 0.0
        }) else {
            break;
        };
        weights[place] = 0.0;
        users.push(PlaceId::at(place));
    }
    users
}

/// What uploads tell, and what tiles tell instead.
pub struct Uploads {
    /// One line per field and defence, the tile, and guessing blindly.
    pub attacks: Vec<Attack>,
    /// What fetching tiles adds to the reports of `laplace-places`,
    pub tiles: TileLeak,
    /// which promises this,
    pub guarantee: Guarantee,
    /// and the tiles that were fetched.
    pub manifest: Manifest,
}

/// Names users from one upload each, and from the tile that they would fetch instead.
pub fn uploads(
    city: &City,
    plan: &Plan,
    users: &[PlaceId],
    seed: u64,
    progress: &dyn Progress,
) -> Result<Uploads, MechanismError> {
    check_users(city, users)?;
    let graph = geo_ind_graph(city, plan);
    let edge = edges(city, graph.as_deref(), plan);
    let tables = city.tables(plan.division, progress)?;
    let costs = Costs::of(city, &tables, vec![1.0]);
    let prints = Fingerprints::new(city, graph.as_deref(), &costs, plan, &edge, progress)?;
    let distances = |aligned, defence| prints.distances(users, aligned, defence, seed);
    let mut attacks = vec![
        prints.costs(users),
        prints.columns(users),
        distances(false, Defence::None),
        distances(true, Defence::None),
    ];
    for defence in [Defence::Rounded(0.1), Defence::Noise(0.05), Defence::Jitter(0.05)] {
        attacks.push(distances(true, defence));
    }
    // Tiles depend on the places and their prior alone: any mechanism has the same, and who signs them does not matter.
    let laplace = build(by_name("laplace-places")?, city, plan, progress)?;
    let key = SecretKey::from_seed([1; 32])?;
    let link = Link::first(Issued::from_unix(0), 1, key.public());
    let published = publish(&laplace, city.version(), None, link, &key, progress)?;
    attacks.push(tile(city, published.signed.manifest(), users, &edge));
    attacks.push(chance(city, users, &edge));
    let fetched = doublings(published.members.len());
    Ok(Uploads {
        attacks: attacks.into_iter().flatten().collect(),
        tiles: tile_leak(&laplace, &published.members, &fetched, progress)?,
        guarantee: laplace.guarantee,
        manifest: published.signed.manifest().clone(),
    })
}

/// Users of the round that prices a defence.
const ROUND: usize = 10;

/// What uploads tell about anybody, computed, with each defence; the first few of `users` price it.
pub fn exact_uploads(
    city: &City,
    plan: &Plan,
    users: &[PlaceId],
    progress: &dyn Progress,
) -> Result<Vec<Defended>, MechanismError> {
    check_users(city, users)?;
    defended(city, plan, &users[..users.len().min(ROUND)], progress)
}

/// Names users from so many requests for circles of the cost table, after each of `counts`.
pub fn requests(
    city: &City,
    plan: &Plan,
    users: &[PlaceId],
    counts: &[usize],
    seed: u64,
    progress: &dyn Progress,
) -> Result<Vec<Attack>, MechanismError> {
    check_users(city, users)?;
    check_counts(counts)?;
    let graph = geo_ind_graph(city, plan);
    let edge = edges(city, graph.as_deref(), plan);
    let intersection = Intersection::new(city, graph.as_deref(), plan, progress);
    let attack = |how| intersection.attack(users, &edge, counts, how, seed);
    let mut attacks = attack(Centres::DrawnAnew);
    let one = attacks.first().cloned();
    attacks.extend(attack(Centres::NeverTwice));
    if let (Some(one), Some(most)) = (one, counts.last()) {
        let name = format!("{}, centre remembered", counted(*most, "request"));
        attacks.push(Attack { name, ..one });
    }
    attacks.extend(chance(city, users, &edge));
    Ok(attacks)
}

/// Names users from so many reports, after each of `counts`.
pub fn reports(
    built: &Built,
    users: &[PlaceId],
    counts: &[usize],
    seed: u64,
    progress: &dyn Progress,
) -> Result<Vec<Attack>, MechanismError> {
    check_counts(counts)?;
    let Reported { places, edge } = Reported::of(built, users)?;
    let mut attacks = repeats(built, &places, users, &edge, counts, seed, progress)?;
    attacks.extend(chance(&places, users, &edge));
    Ok(attacks)
}

/// How people move who are followed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Journeys {
    /// Fixes per journey.
    pub fixes: usize,
    /// Seconds from one to the next.
    pub every_seconds: f64,
    /// How far from its anchor a report is given again.
    pub reuse_km: f64,
    /// How hard they are followed.
    pub effort: Effort,
}

/// What fixes are off by under an open sky, in kilometres.
pub const FIX_NOISE_KM: f64 = 0.01;
/// On foot, and by car in a city, in km/h.
pub const SPEEDS: [(&str, f64); 2] = [("walk", 5.0), ("drive", 36.0)];

/// Follows people who walk and drive on the streets of a map; the last line is guessing blindly.
pub fn journeys(
    built: &Built,
    map: &Map,
    starts: &[PlaceId],
    journeys: &Journeys,
    seed: u64,
    progress: &dyn Progress,
) -> Result<(Vec<Followed>, Option<Attack>), MechanismError> {
    built.expect_map(map.version())?;
    let &Journeys { fixes, every_seconds, reuse_km, effort } = journeys;
    let positive = |km: f64| km > 0.0 && km.is_finite();
    if !positive(every_seconds) {
        return Err(MechanismError::invalid("every", "must be a positive number of seconds"));
    }
    if !(reuse_km >= 0.0 && reuse_km.is_finite()) {
        return Err(MechanismError::invalid("reuse", "must be a length, zero or more"));
    }
    if !(0.0..=1.0).contains(&effort.misfit) {
        return Err(MechanismError::invalid("misfit", "must lie between 0 and 1"));
    }
    for (field, number) in [("fixes", fixes), ("particles", effort.particles)] {
        if number == 0 {
            return Err(MechanismError::invalid(field, "must be at least 1"));
        }
    }
    let Reported { places, edge } = Reported::of(built, starts)?;
    let mut all = Vec::new();
    for (name, speed_kmh) in SPEEDS {
        let noise_km = FIX_NOISE_KM;
        let journey = Journey { name, speed_kmh, fixes, every_seconds, noise_km, reuse_km, effort };
        all.extend(follow(built, &places, map, (starts, &edge), &journey, seed, progress)?);
    }
    Ok((all, chance(&places, starts, &edge)))
}

/// The places of a mechanism, and which are near the edge of its map.
struct Reported {
    places: Geography,
    edge: Vec<bool>,
}

impl Reported {
    fn of(built: &Built, users: &[PlaceId]) -> Result<Self, MechanismError> {
        let places = Geography::new(built.coords.clone(), built.prior.clone())?;
        check_users(&places, users)?;
        let plan = Plan::new(&places, built.guarantee.epsilon);
        let edge = edges(&places, geo_ind_graph(&places, &plan).as_deref(), &plan);
        Ok(Self { places, edge })
    }
}

fn check_users(places: &Geography, users: &[PlaceId]) -> Result<(), MechanismError> {
    let count = places.places();
    match users.iter().all(|user| user.index() < count) {
        true if users.is_empty() => Err(MechanismError::invalid("users", "nobody is attacked")),
        true => Ok(()),
        false => Err(MechanismError::invalid("users", format!("there are {count} places"))),
    }
}

fn check_counts(counts: &[usize]) -> Result<(), MechanismError> {
    let ascend = counts.windows(2).all(|two| two[0] < two[1]);
    match ascend && counts.first().is_some_and(|&first| first > 0) {
        true => Ok(()),
        false => Err(MechanismError::invalid("counts", "must ascend, from 1 on")),
    }
}
