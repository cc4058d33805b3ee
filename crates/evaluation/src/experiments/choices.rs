//! What the paper leaves open, each choice in turn: the indicator matrix Q, how V-hat is made, what a report out of range is
//! charged with, and the loss itself, which goes through the cost reference table whatever it is.

use lrgeo_geo::units::Length;
use lrgeo_map::progress::Progress;
use lrgeo_map::table::Division;
use lrgeo_map::utility::UtilityKind;
use lrgeo_mechanism::{Beyond, Indicator, MechanismError, Plan};

use super::tables::measure;
use super::{Entry, Notebook, Setup, axis, neighbours, point};
use crate::report::{Axis, Figure, Series, Shown};

const USERS: usize = 10;

/// The practical settings, with one thing otherwise.
struct Choice {
    name: &'static str,
    loss: UtilityKind,
    change: fn(&mut Plan) -> Result<(), MechanismError>,
}

const fn choice(name: &'static str, change: fn(&mut Plan) -> Result<(), MechanismError>) -> Choice {
    Choice { name, loss: UtilityKind::TravelDistance, change }
}

fn as_usual(_: &mut Plan) -> Result<(), MechanismError> {
    Ok(())
}

/// A range so small that what is beyond it matters.
fn near(plan: &mut Plan, beyond: Beyond) -> Result<(), MechanismError> {
    (plan.radii.obfuscation, plan.beyond) = (1.5, beyond);
    Ok(())
}

fn segments(plan: &mut Plan, metres: f64) -> Result<(), MechanismError> {
    plan.division = Division::Segments(Length::from_m(metres)?);
    Ok(())
}

const CHOICES: &[Choice] = &[
    choice("as usual: Q by r_exp, cells of 100 m, the ceiling beyond r_obf", as_usual),
    choice("Q by 50 % of the kernel's mass", |plan| {
        plan.indicator = Indicator::Mass(0.5);
        Ok(())
    }),
    choice("Q by 80 % of the kernel's mass", |plan| {
        plan.indicator = Indicator::Mass(0.8);
        Ok(())
    }),
    choice("Q at random: half of those within r_exp", |plan| {
        plan.indicator = Indicator::Random { share: 0.5, seed: 1 };
        Ok(())
    }),
    choice("V-hat by cells of 250 m", |plan| {
        plan.division = Division::Grid(Length::from_m(250.0)?);
        Ok(())
    }),
    choice("V-hat by road segments of 100 m", |plan| segments(plan, 100.0)),
    choice("V-hat by road segments of 250 m", |plan| segments(plan, 250.0)),
    choice("r_obf 1.5 km, reports out of range cost the ceiling", |plan| {
        near(plan, Beyond::Ceiling)
    }),
    choice("r_obf 1.5 km, they cost nothing (Eq. 14 to the letter)", |plan| {
        near(plan, Beyond::Nothing)
    }),
    choice("r_obf 1.5 km, they cost what the table says", |plan| near(plan, Beyond::Table)),
    Choice { name: "travel time, in minutes", loss: UtilityKind::TravelTime, change: as_usual },
    Choice { name: "straight line", loss: UtilityKind::StraightLine, change: as_usual },
];

/// Every choice at one size, users near each other.
pub fn run(
    setup: &Setup<'_>,
    notebook: &mut Notebook,
    progress: &dyn Progress,
) -> Result<Vec<Figure>, MechanismError> {
    let places = setup.pick(25, 100, 200);
    let repeats = setup.few_repeats();
    progress.begin("choices", CHOICES.len() as u64 * repeats);
    let mut measured: Vec<Vec<Entry>> = Vec::new();
    for choice in CHOICES {
        let mut entries = Vec::new();
        for repeat in 0..repeats {
            entries.push(notebook.measure(&format!("choices {} {repeat}", choice.name), || {
                let seed = setup.seed_of(repeat);
                let city = setup.ground.city_by(places, seed, choice.loss)?;
                let mut plan = Plan::practical()?;
                plan.users = neighbours(&city, USERS, seed);
                plan.allow_disconnected = true;
                plan.gap = Some(1e-3);
                (choice.change)(&mut plan)?;
                let mut numbers = measure("lr-geo", &city, &plan)?;
                let cells = city.table(plan.division, &())?.cells().len();
                numbers.insert("cells".into(), cells as f64);
                Ok(numbers)
            })?);
            progress.advance(1);
        }
        measured.push(entries);
    }
    progress.end();
    let figure = |id: &str, title: &str, y: Axis, value: &str| {
        let line = |(choice, entries): (&Choice, &Vec<Entry>)| Series {
            name: choice.name.to_owned(),
            points: vec![point(places as f64, entries, value, None)],
        };
        let series = CHOICES.iter().zip(&measured).map(line);
        let series = series.filter(|s| s.points.iter().any(|p| !p.values.is_empty())).collect();
        Figure {
            id: format!("choices-{id}"),
            title: format!("What the paper leaves open: {title}"),
            about: format!(
                "{}, practical settings (epsilon 2/km, r_exp 1.5 km, r_obf 4 km), {USERS} users near each other, {repeats} \
                 repeats, a gap of 0.1 %. Each line differs from the first in what it says.",
                setup.ground.name
            ),
            x: axis("K", false),
            y,
            series,
            shown: Shown::Table,
            flags: Vec::new(),
        }
    };
    let share = || Axis { share: true, ..axis("share", false) };
    Ok(vec![
        figure(
            "cost",
            "cost",
            axis("per report between places, in the unit of the loss", false),
            "cost",
        ),
        figure("violated", "inequalities violated, as the paper counts", share(), "violated"),
        figure(
            "ratio",
            "ratio of the bounds of Theorems 4.6 and 4.7",
            axis("ratio", false),
            "ratio",
        ),
        figure("cells", "size of V-hat", axis("cells or segments", false), "cells"),
    ])
}
