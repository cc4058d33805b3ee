//! LR-Geo's time as the map and the round grow (the paper's figure "Scalability").

use std::time::Instant;

use lrgeo_map::progress::Progress;
use lrgeo_mechanism::{Engine, MechanismError, Plan, build, by_name};

use super::printed::LONGEST_ROUND;
use super::{Entry, Notebook, Setup, Targets, axis, point, users, values};
use crate::report::{Figure, Series, Shown};

const ENGINES: [(Engine, &str); 2] = [
    (Engine::ColumnGeneration, "column generation"),
    (Engine::Benders, "Benders along the central path"),
];

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
        "{}, paper settings, {what}, {} repeats. The paper reports up to 1.8 s at every K, rising with users.",
        setup.ground.name,
        setup.repeats()
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
        .map(|(_, name)| Series { name: (*name).into(), points: Vec::new() })
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
                let mut numbers = values([]);
                for (engine, name) in ENGINES {
                    let plan = Plan {
                        users: users(&city, count, seed),
                        sampled: Some(seed),
                        engine,
                        allow_disconnected: true,
                        // The paper stops Benders at 0.01 km; a relative gap is stricter.
                        gap: Some(if engine == Engine::Benders { 1e-3 } else { 1e-6 }),
                        ..plan.clone()
                    };
                    let begun = Instant::now();
                    build(by_name("lr-geo")?, &city, &plan, &())?;
                    numbers.insert(name.into(), begun.elapsed().as_secs_f64());
                }
                Ok(numbers)
            })?);
            progress.advance(1);
        }
        for (series, (_, name)) in series.iter_mut().zip(ENGINES) {
            let paper = (name == ENGINES[1].1 && count == 10).then_some(LONGEST_ROUND);
            series.points.push(point(x((size, count)), &entries, name, paper));
        }
    }
    progress.end();
    Ok(series)
}
