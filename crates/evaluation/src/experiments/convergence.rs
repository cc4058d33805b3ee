//! The bounds of Benders' decomposition, iteration by iteration (the paper's figure "An example of
//! Benders' convergence", Proposition 4.2).

use lrgeo_map::progress::Progress;
use lrgeo_mechanism::lr_geo::coefficients::{Costs, UserPart};
use lrgeo_mechanism::lr_geo::round::Programme;
use lrgeo_mechanism::relevant::{TieRule, geo_ind_graph};
use lrgeo_mechanism::{MechanismError, Plan};
use lrgeo_optim::{TracePoint, benders};

use super::{Notebook, Setup, Values, axis, settings, users};
use crate::report::{Figure, Point, Series, Shown};

const PLACES: usize = 200;
const USERS: usize = 4;

/// One round in each of the settings.
pub fn run(
    setup: &Setup<'_>,
    notebook: &mut Notebook,
    progress: &dyn Progress,
) -> Result<Vec<Figure>, MechanismError> {
    progress.begin("Benders", 2);
    let mut figures = Vec::new();
    for (name, plan) in settings()? {
        let key = format!("benders {name}");
        let entry = notebook.measure(&key, || trace(setup, &plan))?;
        progress.advance(1);
        let series = |bound: &str| {
            let numbered = entry.values.iter().filter_map(|(name, value)| {
                let iteration = name.strip_prefix(bound)?.trim().parse::<u32>().ok()?;
                Some((iteration, *value))
            });
            let mut numbered: Vec<(u32, f64)> = numbered.collect();
            numbered.sort_by_key(|(iteration, _)| *iteration);
            let point = |(iteration, value): (u32, f64)| Point {
                x: f64::from(iteration),
                values: vec![value],
                paper: None,
                note: None,
            };
            let points = numbered.into_iter().map(point).collect();
            Series { name: format!("{bound} bound"), points }
        };
        figures.push(Figure {
            id: format!("benders-{name}"),
            title: format!("Benders' convergence, {name} settings"),
            about: format!(
                "{}, K = {PLACES}, one round of {USERS} users: the bounds of Proposition 4.2 after each iteration.",
                setup.ground.name
            ),
            x: axis("iteration", false),
            y: axis("km per report over all relevant rows", false),
            series: vec![series("upper"), series("lower")],
            shown: Shown::Plot,
            flags: entry.failed.into_iter().collect(),
        });
    }
    progress.end();
    Ok(figures)
}

fn trace(setup: &Setup<'_>, plan: &Plan) -> Result<Values, MechanismError> {
    let city = setup.ground.city(PLACES, setup.seed)?;
    let table = city.table(plan.table_cell, &())?;
    let costs = Costs::of(&city, table.as_deref());
    let graph = geo_ind_graph(&city, plan);
    let prepare = |&user: &u32| UserPart::prepare(&city, graph.as_deref(), &costs, plan, user);
    let parts: Vec<UserPart> = users(&city, USERS, setup.seed).iter().map(prepare).collect();
    let uploads: Vec<_> = parts.iter().map(|part| &part.upload).collect();
    let rule = TieRule::of(plan)?;
    let programme = Programme::new(&uploads, rule, plan.notion, city.places(), costs.ceiling())?;
    let solution = benders::solve(&programme.problem, &plan.settings(1e-6))?;
    let rows = parts.iter().flat_map(|part| &part.relevant);
    let weight: f64 = rows.map(|&place| city.prior()[place as usize]).sum();
    let mut numbers = Values::new();
    for TracePoint { iteration, upper_bound, lower_bound, .. } in solution.trace {
        if upper_bound.is_finite() {
            numbers.insert(format!("upper {iteration}"), upper_bound / weight);
        }
        numbers.insert(format!("lower {iteration}"), lower_bound / weight);
    }
    Ok(numbers)
}
