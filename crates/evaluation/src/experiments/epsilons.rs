//! At which epsilon the methods cost what the paper prints for 10/km, and in which order they stand.

use lrgeo_map::progress::Progress;
use lrgeo_mechanism::{MechanismError, Plan, build, by_name};
use lrgeo_tiles::Epsilon;

use super::tables::{exp_as_printed, exp_calibrated};
use super::{Entry, Notebook, Setup, axis, point, users, values};
use crate::report::{Figure, Series, Shown};

const USERS: usize = 10;
/// In 1/km.
const EPSILONS: [f64; 6] = [1.0, 1.5, 2.0, 3.0, 5.0, 10.0];

/// A method: its name, its kind, and what it has otherwise than the practical settings.
type Method = (&'static str, &'static str, fn(&mut Plan));

const METHODS: [Method; 5] = [
    ("LR-Geo", "lr-geo", |_| ()),
    ("LP", "lp", |_| ()),
    ("Laplace", "laplace-places", |_| ()),
    ("ExpMech as printed", "exp", exp_as_printed),
    ("ExpMech calibrated", "exp", exp_calibrated),
];

/// Costs at K = 100.
pub fn run(
    setup: &Setup<'_>,
    notebook: &mut Notebook,
    progress: &dyn Progress,
) -> Result<Vec<Figure>, MechanismError> {
    let places = setup.pick(25, 100, 100);
    let repeats = setup.few_repeats();
    progress.begin("epsilon", (METHODS.len() * EPSILONS.len()) as u64 * repeats);
    let mut series = Vec::new();
    for (name, kind, change) in METHODS {
        let mut points = Vec::new();
        for epsilon in EPSILONS {
            let mut entries: Vec<Entry> = Vec::new();
            for repeat in 0..repeats {
                let key = format!("epsilon {name} {epsilon} {repeat}");
                entries.push(notebook.measure(&key, || {
                    let seed = setup.seed_of(repeat);
                    let city = setup.ground.city(places, seed)?;
                    let mut plan = Plan::practical()?;
                    plan.epsilon = Epsilon::per_km(epsilon)?;
                    plan.users = users(&city, USERS, seed);
                    plan.allow_disconnected = true;
                    change(&mut plan);
                    let built = build(by_name(kind)?, &city, &plan, &())?;
                    Ok(values([("cost", built.expected_cost)]))
                })?);
                progress.advance(1);
            }
            points.push(point(epsilon, &entries, "cost", None));
        }
        series.push(Series { name: name.to_owned(), points });
    }
    progress.end();
    Ok(vec![Figure {
        id: "epsilon-cost".into(),
        title: "Cost against epsilon".into(),
        about: format!(
            "{}, K = {places}, practical settings at other epsilons, {USERS} random users for LR-Geo, {repeats} repeats. The paper \
             prints, for 10/km: LP 0.33, LR-Geo 0.36, ExpMech 0.67, Laplace 0.81 km.",
            setup.ground.name
        ),
        x: axis("epsilon, per km", true),
        y: axis("km per report between places", true),
        series,
        shown: Shown::Plot,
        flags: Vec::new(),
    }])
}
