//! What is used in place of an optimised matrix when the optimiser was stopped early.
//!
//! A matrix of an unfinished solve keeps its promise, but it may cost several times as much as noise that needs no optimiser at all.
//! So where time was up, or somebody cancelled, planar Laplace noise and the calibrated exponential mechanism are made as
//! well, for the same notion at the same epsilon, and whoever is cheapest is verified and used. Where the
//! optimiser ended by itself nothing of this happens: an optimum is never dearer.
//!
//! The time limit is for all of it. How long making and verifying will take is found out before, on a few places
//! (`rehearsed`), and the optimiser gets the rest. If it is not back by then it is called off (`called_off_after`).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use lrgeo_geo::PlaceId;
use lrgeo_geo::parallel::*;
use lrgeo_map::progress::Progress;
use lrgeo_optim::{Error, Settings, Status};
use lrgeo_tiles::Notion;

use crate::exponential::real::real_epsilon;
use crate::exponential::{ExpMech, Exponential, Score};
use crate::laplace::{Laplace, PlanarLaplace};
use crate::mechanism::{Made, Mechanism, made};
use crate::programme::{LARGEST_DENSE, shrunk};
use crate::remap::best_reports;
use crate::verify::by_distance;
use crate::{City, Exponent, MechanismError, Plan, Proof, expected_cost};

/// The note that says how an optimiser was stopped, and what was taken.
pub const STOPPED_EARLY: &str = "stopped early";

/// A stop that leaves more than this between a matrix and what is proven says so, and what to do about it.
const MUCH_OPEN: f64 = 0.05;

/// Something that can be used, and what it costs where that is known already.
pub(crate) struct Candidate {
    pub made: Made,
    pub cost: Option<f64>,
}

/// What needs no optimiser, with a name for people.
const STAND_INS: [(&str, &dyn Mechanism); 2] =
    [("the exponential mechanism", &ExpMech), ("Laplace noise", &PlanarLaplace)];

/// The optimiser is called off so long after it should have been back: it goes by guesses of how long its own end takes.
const GRACE: Duration = Duration::from_secs(1);

/// What a kind makes, if its optimiser ended by itself; else that and all stand-ins, the cheapest first.
pub(crate) fn candidates(
    kind: &dyn Mechanism,
    city: &City,
    plan: &Plan,
    progress: &dyn Progress,
) -> Result<Vec<Candidate>, MechanismError> {
    let begun = Instant::now();
    let abort = Arc::new(AtomicBool::new(false));
    let solver = Settings { abort: Some(abort.clone()), ..plan.solver.clone() };
    let mut limited = Plan { solver, ..plan.clone() };
    let mut allowed = Duration::MAX;
    if let Some(limit) = plan.solver.time_limit {
        let clock = plan.solver.clock.as_ref().ok_or(Error::ClockMissing)?;
        let now = clock.now();
        let left = limit.saturating_sub(rehearsed(city, plan, kind.guarantee(plan).notion)?);
        limited.deadline = Some(now + left);
        // With nothing to put in its place, an optimiser may be late.
        if has_stand_ins(city) {
            allowed = left.saturating_sub(begun.elapsed()) + GRACE;
        }
    }
    let is_unwanted =
        || plan.solver.abort.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed));
    let made =
        called_off_after(allowed, is_unwanted, &abort, || made(kind, city, &limited, progress));
    if is_unwanted() {
        return Err(Error::StoppedEarly.into());
    }
    let made = match made {
        Ok(made) if made.proof.is_some_and(|proof| proof.status == Status::Limit) => Some(made),
        Ok(made) => return Ok(vec![Candidate { made, cost: None }]),
        Err(MechanismError::Optimiser(Error::StoppedEarly)) if has_stand_ins(city) => None,
        Err(error) => return Err(error),
    };
    let stopped = Stopped { why: why(plan), seconds: begun.elapsed().as_secs_f64() };
    ranked(kind, city, plan, made, &stopped, progress)
}

/// Stand-ins are whole matrices.
fn has_stand_ins(city: &City) -> bool {
    city.places() <= LARGEST_DENSE
}

/// How an optimiser ended.
struct Stopped {
    why: &'static str,
    seconds: f64,
}

fn why(plan: &Plan) -> &'static str {
    let cancelled = plan.solver.cancel.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed));
    match (cancelled, plan.solver.time_limit) {
        (true, _) => "cancelled",
        (false, Some(_)) => "stopped",
        (false, None) => "no progress any more",
    }
}

/// What the optimiser has, if anything, and all stand-ins, the cheapest first; each says of itself that it was taken, and
/// what the others cost.
fn ranked(
    kind: &dyn Mechanism,
    city: &City,
    plan: &Plan,
    engine: Option<Made>,
    stopped: &Stopped,
    progress: &dyn Progress,
) -> Result<Vec<Candidate>, MechanismError> {
    let proof = engine.as_ref().and_then(|made| made.proof);
    let proven = engine.as_ref().and_then(|made| made.floor);
    let floor = proven.unwrap_or(0.0);
    let mut found: Vec<(&str, Made, f64)> = Vec::new();
    let mut missing: Vec<String> = Vec::new();
    match engine {
        Some(made) => {
            let cost = expected_cost(city, &made.rows);
            found.push(("the optimiser's matrix", made, cost));
        }
        None => missing.push("the optimiser had no matrix yet".into()),
    }
    if has_stand_ins(city) {
        let plan = Plan {
            // As programmes are solved, so that their bounds hold for stand-ins too.
            epsilon: shrunk(plan.epsilon)?,
            notion: kind.guarantee(plan).notion,
            exponent: Exponent::Distance,
            calibrated: true,
            ..plan.clone()
        };
        for (name, stand_in) in STAND_INS {
            match made(stand_in, city, &plan, progress) {
                Ok(made) => {
                    let cost = expected_cost(city, &made.rows);
                    let proof = Some(proof_of(cost, floor, proof, stopped));
                    found.push((name, Made { proof, floor: proven, ..made }, cost));
                }
                Err(error) => missing.push(format!("{name} cannot be had ({error})")),
            }
        }
    } else {
        missing.push(format!("nothing stands in for it on more than {LARGEST_DENSE} places"));
    }
    if found.is_empty() {
        return Err(Error::StoppedEarly.into());
    }
    found.sort_by(|a, b| a.2.total_cmp(&b.2));
    let unit = city.utility().unit();
    let costs: Vec<String> =
        found.iter().map(|(name, _, cost)| format!("{name} costs {cost:.4} {unit}")).collect();
    let account = |taken: &str, cost: f64| {
        let Stopped { why, seconds } = stopped;
        let all = [costs.as_slice(), missing.as_slice()].concat().join(", ");
        let open = 1.0 - floor.min(cost) / cost.max(f64::MIN_POSITIVE);
        let advice = match open > MUCH_OPEN {
            true => {
                let most = 100.0 * open;
                format!(
                    "; the best may cost up to {most:.0} % less: more time, or larger cells, would tell"
                )
            }
            false => String::new(),
        };
        format!("{why} after {seconds:.1} s: {all}; {taken} was taken{advice}")
    };
    let candidate = |(name, mut made, cost): (&str, Made, f64)| {
        made.notes.push((STOPPED_EARLY, account(name, cost)));
        Candidate { made, cost: Some(cost) }
    };
    Ok(found.into_iter().map(candidate).collect())
}

/// What is proven about a stand-in: its own cost, and a bound of the notion that the optimiser has found.
fn proof_of(cost: f64, floor: f64, engine: Option<Proof>, stopped: &Stopped) -> Proof {
    let lower_bound = floor.min(cost);
    Proof {
        status: Status::Limit,
        cost,
        lower_bound,
        gap: if cost > 0.0 { (cost - lower_bound) / cost } else { 0.0 },
        iterations: engine.map_or(0, |proof| proof.iterations),
        seconds: engine.map_or(stopped.seconds, |proof| proof.seconds),
    }
}

/// How often somebody looks whether work is to be called off.
const LOOK: Duration = Duration::from_millis(50);

/// Raises a flag after some time, or as soon as the work is unwanted, unless it is done before.
fn called_off_after<T>(
    time: Duration,
    is_unwanted: impl Fn() -> bool + Send,
    flag: &AtomicBool,
    work: impl FnOnce() -> T,
) -> T {
    let begun = Instant::now();
    let (done, is_done) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            while is_done.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                if begun.elapsed() >= time || is_unwanted() {
                    flag.store(true, Ordering::Relaxed);
                }
            }
        });
        let result = work();
        drop(done);
        result
    })
}

/// So many places tell how long all of them take.
const REHEARSED_PLACES: usize = 48;
/// The exponent is found after about so many trials.
const TRIALS: f64 = 10.0;
/// More than what was measured: a machine that is busy is not busy evenly.
const SPARE: f64 = 1.4;

/// How long making the stand-ins takes, saying what they cost and verifying one matrix, going by the work on a few places.
fn rehearsed(city: &City, plan: &Plan, notion: Notion) -> Result<Duration, MechanismError> {
    if !has_stand_ins(city) {
        return Ok(Duration::ZERO);
    }
    let places = city.places();
    let step = places.div_ceil(REHEARSED_PLACES).max(1);
    let sample: Vec<PlaceId> = PlaceId::all(places).step_by(step).collect();
    let times = places as f64 / sample.len() as f64;
    let coords: Vec<_> = sample.iter().map(|place| city.coords()[place.index()]).collect();
    let mut total = 0.0;

    let (rows, took): (Result<Vec<Vec<f64>>, MechanismError>, f64) = timed(|| {
        let exponential = Exponential::new(city.coords(), Score::Distance, plan.epsilon);
        real_epsilon(&exponential, notion.reach_km())?;
        sample.par_iter().map(|place| exponential.row(place.index())).collect()
    });
    let rows = rows?;
    total += TRIALS * took;
    // A kind that refuses some places takes no time on them.
    if let Ok(laplace) = Laplace::new(city.coords(), plan.epsilon) {
        let row = |place: &PlaceId| laplace.row(place.index()).is_ok();
        total += times * timed(|| sample.par_iter().filter(|place| row(place)).count()).1;
    }
    let pairs = match notion {
        Notion::AllPairs | Notion::Coordinates => (places * places) as f64,
        Notion::Within { gamma_km } => 2.0 * city.neighbours(gamma_km).edge_count() as f64,
    };
    let compared = (sample.len() * sample.len()) as f64;
    let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
    let km = |i: usize, j: usize| coords[i].distance_km(coords[j]);
    let compare = || by_distance(&rows, km, plan.epsilon, f64::INFINITY);
    total += pairs / compared * timed(compare).1;
    let near = |outcome: usize, out: &mut [f64]| {
        let from = coords[outcome];
        let weight = |place: usize| -plan.epsilon.value() * from.distance_km(city.coords()[place]);
        out.iter_mut().enumerate().for_each(|(place, slot)| *slot = weight(place).exp());
    };
    let remap = || best_reports(city, sample.len(), near, &());
    // Measured for the optimiser anyway where they are kept.
    let _ = city.kept_losses();
    total += times * STAND_INS.len() as f64 * timed(remap).1;
    if !city.keeps_losses() {
        let cost = |_: usize, losses: &[f64]| losses.iter().sum::<f64>();
        total +=
            times * (1 + STAND_INS.len()) as f64 * timed(|| city.for_each_loss(&sample, cost)).1;
    }
    Ok(Duration::from_secs_f64(SPARE * total))
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let begun = Instant::now();
    let result = work();
    (result, begun.elapsed().as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_called_off_in_time_and_not_after_it_is_done() {
        let flag = AtomicBool::new(false);
        let hour = Duration::from_secs(3600);
        assert_eq!(called_off_after(hour, || false, &flag, || 7), 7);
        assert!(!flag.load(Ordering::Relaxed));
        let wait = || {
            while !flag.swap(false, Ordering::Relaxed) {
                std::thread::yield_now();
            }
        };
        called_off_after(Duration::from_millis(1), || false, &flag, wait);
        called_off_after(hour, || true, &flag, wait);
    }
}
