//! How near LR-Geo is to the best, against Gamma and against the cells of the cost table (the paper's
//! figure "Ratio of upper bound and lower bound").

use lrgeo_geo::units::Length;
use lrgeo_map::progress::Progress;
use lrgeo_mechanism::{MechanismError, Plan, build, by_name};

use super::printed::GAMMA_RATIOS;
use super::{Entry, Notebook, Setup, Targets, Values, axis, point, users, values};
use crate::bounds::cost_bounds;
use crate::report::{Figure, Series, Shown};

/// Gamma from 10 to 50 km, one user with all of its relevant places.
pub fn against_gamma(
    setup: &Setup<'_>,
    notebook: &mut Notebook,
    progress: &dyn Progress,
) -> Result<Vec<Figure>, MechanismError> {
    let (places, count) = (setup.pick(20, 150, 400), 1);
    let steps = [2.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0];
    let variations: Vec<(f64, Plan)> = steps[..setup.pick(2, 7, 7)]
        .iter()
        .map(|&km| {
            let mut plan = Plan::paper()?;
            (plan.radii.relevant, plan.radii.relevant_max) = (km, None);
            Ok((km, plan))
        })
        .collect::<Result<_, MechanismError>>()?;
    let about = format!(
        "{}, K = {places}, paper settings with every relevant place within Gamma, {count} user. The paper: a ratio \
         that falls by 35 % from 10 to 20 km and hardly from there; its map reaches farther than this block.",
        setup.ground.name
    );
    let sweep = Sweep { id: "gamma", x: "Gamma, km", about, places, count, variations };
    sweep.figures(setup, notebook, progress)
}

/// Cells from 0.05 to 0.275 km.
pub fn against_cells(
    setup: &Setup<'_>,
    notebook: &mut Notebook,
    progress: &dyn Progress,
) -> Result<Vec<Figure>, MechanismError> {
    let (places, count) = (setup.pick(20, 200, 200), 10);
    let steps = [0.05, 0.075, 0.1, 0.125, 0.15, 0.175, 0.2, 0.225, 0.25, 0.275];
    let variations: Vec<(f64, Plan)> = steps[..setup.pick(2, 10, 10)]
        .iter()
        .map(|&km| Ok((km, Plan { division: Length::from_km(km)?.into(), ..Plan::paper()? })))
        .collect::<Result<_, MechanismError>>()?;
    let about = format!(
        "{}, K = {places}, paper settings, {count} users. The paper: stable up to 0.2 km, then a marked increase.",
        setup.ground.name
    );
    let sweep = Sweep { id: "cells", x: "cell size, km", about, places, count, variations };
    sweep.figures(setup, notebook, progress)
}

/// One setting varied, everything else kept.
struct Sweep {
    id: &'static str,
    x: &'static str,
    about: String,
    places: usize,
    count: usize,
    variations: Vec<(f64, Plan)>,
}

impl Sweep {
    fn figures(
        self,
        setup: &Setup<'_>,
        notebook: &mut Notebook,
        progress: &dyn Progress,
    ) -> Result<Vec<Figure>, MechanismError> {
        let Self { id, x, about, places, count, variations } = self;
        let repeats = setup.few_repeats();
        progress.begin(id, variations.len() as u64 * repeats);
        let (mut ratio, mut upper, mut lower) = (Vec::new(), Vec::new(), Vec::new());
        for (value, plan) in &variations {
            let mut entries: Vec<Entry> = Vec::new();
            for repeat in 0..repeats {
                let key = format!("{id} {value} {repeat}");
                entries
                    .push(notebook.measure(&key, || bounds(setup, plan, places, count, repeat))?);
                progress.advance(1);
            }
            let printed = GAMMA_RATIOS.iter().find(|(km, _)| id == "gamma" && km == value);
            ratio.push(point(*value, &entries, "ratio", printed.map(|(_, text)| *text)));
            upper.push(point(*value, &entries, "upper", None));
            lower.push(point(*value, &entries, "lower", None));
        }
        progress.end();
        let series = |name: &str, points| Series { name: name.to_owned(), points };
        let shown = Shown::Plot;
        Ok(vec![
            Figure {
                id: format!("ratio-{id}"),
                title: format!("Ratio of upper and lower bound against {x}"),
                about: about.clone(),
                x: axis(x, false),
                y: axis("ratio", false),
                series: vec![series("ratio", ratio)],
                shown,
                flags: Vec::new(),
            },
            Figure {
                id: format!("bounds-{id}"),
                title: format!("Both bounds against {x}"),
                about,
                x: axis(x, false),
                y: axis("km per report over all relevant rows", false),
                series: vec![
                    series("upper bound (c_hat)", upper),
                    series("lower bound (c_tilde)", lower),
                ],
                shown,
                flags: Vec::new(),
            },
        ])
    }
}

fn bounds(
    setup: &Setup<'_>,
    plan: &Plan,
    places: usize,
    count: usize,
    repeat: u64,
) -> Result<Values, MechanismError> {
    let seed = setup.seed_of(repeat);
    let city = setup.ground.city_with(places, seed, Targets::Uniform)?;
    let plan = Plan {
        users: users(&city, count, seed),
        sampled: plan.sampled.map(|_| seed),
        allow_disconnected: true,
        ..plan.clone()
    };
    let built = build(by_name("lr-geo")?, &city, &plan, &())?;
    let bounds = cost_bounds(&built, &city, plan.division, &plan.settings(1e-6), &())?;
    Ok(match bounds {
        Some(b) => values([("upper", b.upper), ("lower", b.lower), ("ratio", b.ratio())]),
        None => Values::new(),
    })
}
