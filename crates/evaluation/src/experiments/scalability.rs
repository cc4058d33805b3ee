//! LR-Geo's time as the map and the round grow (the paper's figure "Scalability").

use std::time::{Duration, Instant};

use lrgeo_map::progress::Progress;
use lrgeo_mechanism::{City, Engine, MechanismError, Plan, build, by_name};
use lrgeo_optim::Status;

use super::printed::LONGEST_ROUND;
use super::{Entry, Notebook, Setup, Targets, axis, point, users, values};
use crate::report::{Figure, Point, Series, Shown, number};

/// An engine whose time is taken.
struct Timed {
    engine: Engine,
    name: &'static str,
    /// The relative gap it is asked to prove; plain Benders stops at the paper's 0.01 km whatever stands here.
    gap: f64,
    /// The largest map that it is asked for.
    most_places: usize,
}

const ENGINES: [Timed; 3] = [
    Timed {
        engine: Engine::ColumnGeneration,
        name: "column generation",
        gap: 1e-6,
        most_places: usize::MAX,
    },
    // The paper stops Benders at 0.01 km; a relative gap is stricter.
    Timed {
        engine: Engine::Benders,
        name: "Benders along the central path",
        gap: 1e-3,
        most_places: usize::MAX,
    },
    Timed {
        engine: Engine::PlainBenders,
        name: "Benders to the letter",
        gap: 0.0,
        most_places: 400,
    },
];

/// Plain Benders gives up after this long, and is asked in the first repeat only.
const PATIENCE: Duration = Duration::from_secs(5);

/// The others after this long: ten times what the paper reports.
const LIMIT: Duration = Duration::from_secs(18);

/// K = 100 to 1,600, ten users.
pub fn places(
    setup: &Setup<'_>,
    notebook: &mut Notebook,
    progress: &dyn Progress,
) -> Result<Vec<Figure>, MechanismError> {
    let most = setup.ground.most_places()?;
    let all = setup.pick(&[20, 30][..], &[100, 200, 400, 800], &[100, 200, 400, 800, 1_200, 1_600]);
    let sizes: Vec<usize> = all.iter().copied().filter(|size| *size <= most).collect();
    let settings: Vec<(usize, usize)> = sizes.iter().map(|&size| (size, 10)).collect();
    let series = measure(setup, notebook, progress, "places", &settings, |(size, _)| size as f64)?;
    Ok(vec![Figure {
        id: "scalability-places".into(),
        title: "Scalability: LR-Geo against the number of places".into(),
        about: about(setup, "10 users, 20 relevant places each; users anywhere in the block"),
        x: axis("K", true),
        y: axis("seconds, verification included", true),
        flags: flags(&series),
        series,
        shown: Shown::Plot,
    }])
}

/// 2 to 10 users at K = 400.
pub fn users_grow(
    setup: &Setup<'_>,
    notebook: &mut Notebook,
    progress: &dyn Progress,
) -> Result<Vec<Figure>, MechanismError> {
    let most = if setup.ground.is_demo() { 200 } else { 400 };
    let places = setup.pick(25, most, most);
    let counts = setup.pick(&[2, 4][..], &[2, 4, 6, 8, 10], &[2, 4, 6, 8, 10]);
    let settings: Vec<(usize, usize)> = counts.iter().map(|&users| (places, users)).collect();
    let series = measure(setup, notebook, progress, "users", &settings, |(_, users)| users as f64)?;
    Ok(vec![Figure {
        id: "scalability-users".into(),
        title: "Scalability: LR-Geo against the number of users".into(),
        about: about(setup, &format!("K = {places}, 20 relevant places each")),
        x: axis("users", false),
        y: axis("seconds, verification included", true),
        flags: flags(&series),
        series,
        shown: Shown::Plot,
    }])
}

/// Where an engine found nothing.
fn flags(series: &[Series]) -> Vec<String> {
    let said = |series: &Series, point: &Point| {
        let note = point.note.as_ref()?;
        Some(format!("{} at {}: {note}", series.name, point.x))
    };
    let all = series.iter().flat_map(|s| s.points.iter().filter_map(move |p| said(s, p)));
    all.collect()
}

fn about(setup: &Setup<'_>, what: &str) -> String {
    format!(
        "{}, paper settings, {what}, {} repeats. Every curve is named after the engine that solved the round: column generation to a gap \
         of 0.0001 %, Benders along the central path to 0.1 %, Benders to the letter (y from the master) to 0.01 km, one repeat and at most \
         {} s; the others at most {} s. The paper reports up to 1.8 s at every K, rising with users.",
        setup.ground.name,
        setup.repeats(),
        PATIENCE.as_secs(),
        LIMIT.as_secs()
    )
}

fn measure(
    setup: &Setup<'_>,
    notebook: &mut Notebook,
    progress: &dyn Progress,
    name: &'static str,
    settings: &[(usize, usize)],
    x: impl Fn((usize, usize)) -> f64,
) -> Result<Vec<Series>, MechanismError> {
    progress.begin(name, settings.len() as u64 * setup.repeats());
    let mut series: Vec<Series> = ENGINES
        .iter()
        .map(|timed| Series { name: timed.name.into(), points: Vec::new() })
        .collect();
    for &(size, count) in settings {
        let mut entries: Vec<Entry> = Vec::new();
        for repeat in 0..setup.repeats() {
            let key = format!("{name} {size} {count} {repeat}");
            entries.push(notebook.measure(&key, || {
                let seed = setup.seed_of(repeat);
                let city = setup.ground.city_with(size, seed, Targets::Uniform)?;
                let plan = Plan::paper()?;
                city.table(plan.division, &())?;
                let plan = Plan {
                    users: users(&city, count, seed),
                    sampled: Some(seed),
                    allow_disconnected: true,
                    ..plan
                };
                let mut numbers = values([]);
                for timed in ENGINES.iter().filter(|timed| timed.is_asked(size, repeat)) {
                    let (reached, seconds) = timed.run(&city, &plan)?;
                    // One that fails does not take the others' times with it.
                    let key = if reached { timed.name.to_owned() } else { timed.gave_up() };
                    numbers.insert(key, seconds);
                }
                Ok(numbers)
            })?);
            progress.advance(1);
        }
        for (series, timed) in series.iter_mut().zip(&ENGINES) {
            let paper = (timed.engine == Engine::Benders && count == 10).then_some(LONGEST_ROUND);
            let mut point = point(x((size, count)), &entries, timed.name, paper);
            let gave_up = entries.iter().filter_map(|entry| entry.values.get(&timed.gave_up()));
            let gave_up: Vec<f64> = gave_up.copied().collect();
            if let Some(longest) = gave_up.iter().copied().reduce(f64::max) {
                let asked = gave_up.len() + point.values.len();
                let (count, longest) = (gave_up.len(), number::rounded(longest));
                point.note = Some(format!("{count} of {asked} gave up, after up to {longest} s"));
            } else if point.values.is_empty() && point.note.is_none() {
                // Nobody asked.
                continue;
            }
            series.points.push(point);
        }
    }
    progress.end();
    Ok(series)
}

impl Timed {
    fn is_plain(&self) -> bool {
        self.engine == Engine::PlainBenders
    }

    /// What a measurement calls the seconds after which it had nothing to show.
    fn gave_up(&self) -> String {
        format!("{}, gave up", self.name)
    }

    fn is_asked(&self, places: usize, repeat: u64) -> bool {
        places <= self.most_places && (!self.is_plain() || repeat == 0)
    }

    /// Whether it reached its gap, and after how many seconds it ended.
    fn run(&self, city: &City, plan: &Plan) -> Result<(bool, f64), MechanismError> {
        let mut plan = Plan { engine: self.engine, gap: Some(self.gap), ..plan.clone() };
        plan.solver.time_limit = Some(if self.is_plain() { PATIENCE } else { LIMIT });
        let begun = Instant::now();
        let proof = match build(by_name("lr-geo")?, city, &plan, &()) {
            Ok(built) => built.proof,
            Err(MechanismError::Optimiser(_)) => None,
            Err(error) => return Err(error),
        };
        let reached = proof.is_some_and(|proof| proof.status != Status::Limit);
        Ok((reached, begun.elapsed().as_secs_f64()))
    }
}
