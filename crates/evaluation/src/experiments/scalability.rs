//! LR-Geo's time as the map and the round grow (the paper's figure "Scalability").

use std::time::{Duration, Instant};

use lrgeo_map::progress::Progress;
use lrgeo_mechanism::{City, Engine, MechanismError, Plan, build, by_name};

use super::printed::LONGEST_ROUND;
use super::{Entry, Notebook, Setup, Targets, axis, point, users, values};
use crate::report::{Figure, Series, Shown, number};

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
        series,
        shown: Shown::Plot,
        flags: Vec::new(),
    }])
}

/// 2 to 10 users at K = 400.
pub fn users_grow(
    setup: &Setup<'_>,
    notebook: &mut Notebook,
    progress: &dyn Progress,
) -> Result<Vec<Figure>, MechanismError> {
    let places = setup.pick(25, 400, 400);
    let counts = setup.pick(&[2, 4][..], &[2, 4, 6, 8, 10], &[2, 4, 6, 8, 10]);
    let settings: Vec<(usize, usize)> = counts.iter().map(|&users| (places, users)).collect();
    let series = measure(setup, notebook, progress, "users", &settings, |(_, users)| users as f64)?;
    Ok(vec![Figure {
        id: "scalability-users".into(),
        title: "Scalability: LR-Geo against the number of users".into(),
        about: about(setup, &format!("K = {places}, 20 relevant places each")),
        x: axis("users", false),
        y: axis("seconds, verification included", true),
        series,
        shown: Shown::Plot,
        flags: Vec::new(),
    }])
}

fn about(setup: &Setup<'_>, what: &str) -> String {
    format!(
        "{}, paper settings, {what}, {} repeats. Every curve is named after the engine that solved the round: column generation to a gap \
         of 0.0001 %, Benders along the central path to 0.1 %, Benders to the letter (y from the master) to 0.01 km, one repeat and at most \
         {} s, after which it gave up. The paper reports up to 1.8 s at every K, rising with users.",
        setup.ground.name,
        setup.repeats(),
        PATIENCE.as_secs()
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
                city.table(plan.table_cell, &())?;
                let plan = Plan {
                    users: users(&city, count, seed),
                    sampled: Some(seed),
                    allow_disconnected: true,
                    ..plan
                };
                let mut numbers = values([]);
                for timed in ENGINES.iter().filter(|timed| timed.is_asked(size, repeat)) {
                    let (ended, seconds) = timed.run(&city, &plan);
                    match ended {
                        Ok(()) => numbers.insert(timed.name.into(), seconds),
                        Err(_) if timed.is_plain() => numbers.insert(GAVE_UP.into(), seconds),
                        Err(error) => return Err(error),
                    };
                }
                Ok(numbers)
            })?);
            progress.advance(1);
        }
        for (series, timed) in series.iter_mut().zip(&ENGINES) {
            let paper = (timed.engine == Engine::Benders && count == 10).then_some(LONGEST_ROUND);
            let mut point = point(x((size, count)), &entries, timed.name, paper);
            if timed.is_plain() {
                let gave_up = entries.iter().find_map(|entry| entry.values.get(GAVE_UP));
                point.note = gave_up.map(|s| format!("gave up after {} s", number::rounded(*s)));
                if point.values.is_empty() && point.note.is_none() {
                    continue;
                }
            }
            series.points.push(point);
        }
    }
    progress.end();
    Ok(series)
}

/// The seconds after which plain Benders had nothing to show, in a measurement.
const GAVE_UP: &str = "gave up";

impl Timed {
    fn is_plain(&self) -> bool {
        self.engine == Engine::PlainBenders
    }

    fn is_asked(&self, places: usize, repeat: u64) -> bool {
        places <= self.most_places && (!self.is_plain() || repeat == 0)
    }

    /// How it ended, and after how many seconds.
    fn run(&self, city: &City, plan: &Plan) -> (Result<(), MechanismError>, f64) {
        let mut plan = Plan { engine: self.engine, gap: Some(self.gap), ..plan.clone() };
        if self.is_plain() {
            plan.solver.time_limit = Some(PATIENCE);
        }
        let begun = Instant::now();
        let built = by_name("lr-geo").and_then(|kind| build(kind, city, &plan, &()));
        (built.map(|_| ()), begun.elapsed().as_secs_f64())
    }
}
