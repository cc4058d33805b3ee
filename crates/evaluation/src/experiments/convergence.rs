//! The bounds of Benders' decomposition, iteration by iteration (the paper's figure "An example of Benders'
//! convergence", Proposition 4.2): to the letter, and by what shortens it.

use lrgeo_geo::PlaceId;
use lrgeo_map::progress::Progress;
use lrgeo_mechanism::lr_geo::coefficients::{Costs, UserPart};
use lrgeo_mechanism::lr_geo::round::Programme;
use lrgeo_mechanism::relevant::{TieRule, geo_ind_graph};
use lrgeo_mechanism::{MechanismError, Plan};
use lrgeo_optim::benders::{self, Guide, Options, PAPER_GAP};
use lrgeo_optim::{Settings, TracePoint};

use super::{Notebook, Setting, Setup, Values, axis, neighbours, settings};
use crate::report::{Figure, Point, Series, Shown};

const PLACES: usize = 100;
const USERS: usize = 4;
/// Relevant places of each, the nearest: a master that leaps takes minutes with more.
const RELEVANT: usize = 12;

const GUIDES: [(Guide, &str); 3] =
    [(Guide::Master, "plain"), (Guide::InOut, "in-out"), (Guide::CentralPath, "central path")];

/// One round in each of the settings, three times.
pub fn run(
    setup: &Setup<'_>,
    notebook: &mut Notebook,
    progress: &dyn Progress,
) -> Result<Vec<Figure>, MechanismError> {
    let places = setup.pick(25, PLACES, PLACES);
    progress.begin("Benders", 2 * GUIDES.len() as u64);
    let mut figures = Vec::new();
    for setting in settings()? {
        let (mut series, mut flags) = (Vec::new(), Vec::new());
        for (guide, name) in GUIDES {
            let key = format!("benders {} {name}", setting.name);
            let entry = notebook.measure(&key, || trace(setup, &setting, places, guide))?;
            progress.advance(1);
            series.extend(["upper", "lower"].map(|bound| Series {
                name: format!("{name}, {bound} bound"),
                points: points(&entry.values, bound),
            }));
            flags.extend(entry.failed.map(|why| format!("{name}: {why}")));
        }
        figures.push(Figure {
            id: format!("benders-{}", setting.name),
            title: format!("Benders' convergence, {} settings", setting.name),
            about: format!(
                "{}, K = {places}, one round of {USERS} users near each other with {RELEVANT} relevant places each: the bounds \
                 of Proposition 4.2 after each iteration, until they are {PAPER_GAP} km apart. Plain: y from the master, as in \
                 appendix C; in-out: the middle between that and the best y; central path: ours. A bound begins where there \
                 is one.",
                setup.ground.name
            ),
            x: axis("iteration", true),
            y: axis("km per report over all relevant rows", false),
            series: series.into_iter().filter(|s| !s.points.is_empty()).collect(),
            shown: Shown::Plot,
            flags,
        });
    }
    progress.end();
    Ok(figures)
}

fn points(values: &Values, bound: &str) -> Vec<Point> {
    let numbered = values.iter().filter_map(|(name, value)| {
        Some((name.strip_prefix(bound)?.trim().parse::<u32>().ok()?, *value))
    });
    let mut numbered: Vec<(u32, f64)> = numbered.collect();
    numbered.sort_by_key(|(iteration, _)| *iteration);
    let point = |(iteration, value): (u32, f64)| Point {
        x: f64::from(iteration),
        values: vec![value],
        paper: None,
        note: None,
    };
    numbered.into_iter().map(point).collect()
}

fn trace(
    setup: &Setup<'_>,
    setting: &Setting,
    places: usize,
    guide: Guide,
) -> Result<Values, MechanismError> {
    let city = setup.ground.city_with(places, setup.seed, setting.targets)?;
    let mut plan = Plan { sampled: None, ..setting.plan.clone() };
    plan.radii.relevant_max = Some(RELEVANT);
    let tables = city.tables(plan.division, &())?;
    let costs = Costs::of(&city, &tables, vec![1.0]);
    let rule = TieRule::of(&plan, &city)?;
    let graph = geo_ind_graph(&city, &plan);
    let prepare =
        |&user: &PlaceId| UserPart::prepare(&city, graph.as_deref(), &costs, (&plan, &rule), user);
    let parts: Vec<UserPart> = neighbours(&city, USERS, setup.seed).iter().map(prepare).collect();
    let uploads: Vec<_> = parts.iter().map(|part| &part.upload).collect();
    let programme = Programme::new(&uploads, &rule, plan.notion, city.places(), costs.ceiling())?;
    let rows = parts.iter().flat_map(|part| &part.relevant);
    let reports: f64 = rows.map(|place| city.prior()[place.index()]).sum();
    let options = Options { guide, reports, ..Options::default() };
    let settings = Settings { gap: 0.0, ..plan.solver.clone() };
    let solution = benders::solve_with(&programme.problem, &settings, &options)?;
    let mut numbers = Values::new();
    for TracePoint { iteration, upper_bound, lower_bound, .. } in solution.trace {
        if upper_bound.is_finite() {
            numbers.insert(format!("upper {iteration}"), upper_bound / reports);
        }
        numbers.insert(format!("lower {iteration}"), lower_bound / reports);
    }
    Ok(numbers)
}
