//! The paper's letter, run once, and what each substitution changes: what one would otherwise have to believe about
//! settings that the paper does not print, or that its authors' code has otherwise.

use lrgeo_map::progress::Progress;
use lrgeo_mechanism::{Exponent, MechanismError, Plan, RangeRule};
use lrgeo_tiles::Epsilon;

use super::tables::{exp_as_printed, exp_calibrated, measure};
use super::{Entry, Notebook, Setup, Targets, axis, neighbours, point};
use crate::report::{Axis, Figure, Series, Shown};

const USERS: usize = 4;

/// A mechanism that differs from the line above it in one thing.
struct Variant {
    name: &'static str,
    kind: &'static str,
    targets: Targets,
    change: fn(&mut Plan, usize) -> Result<(), MechanismError>,
}

fn whole(plan: &mut Plan, _: usize) -> Result<(), MechanismError> {
    (plan.radii.relevant_max, plan.sampled) = (None, None);
    Ok(())
}

fn sampled(_: &mut Plan, _: usize) -> Result<(), MechanismError> {
    Ok(())
}

fn nearest(plan: &mut Plan, _: usize) -> Result<(), MechanismError> {
    plan.sampled = None;
    Ok(())
}

fn each(plan: &mut Plan, places: usize) -> Result<(), MechanismError> {
    plan.range = RangeRule::Each;
    nearest(plan, places)
}

fn wider(plan: &mut Plan, places: usize) -> Result<(), MechanismError> {
    plan.radii.obfuscation = 4.5;
    each(plan, places)
}

fn printed(plan: &mut Plan, _: usize) -> Result<(), MechanismError> {
    exp_as_printed(plan);
    Ok(())
}

/// Eq. 5 has the prior in c, which is 1/K here.
fn with_prior(plan: &mut Plan, places: usize) -> Result<(), MechanismError> {
    exp_as_printed(plan);
    plan.epsilon = Epsilon::per_km(plan.epsilon.value() / places as f64)?;
    Ok(())
}

fn by_distance(plan: &mut Plan, _: usize) -> Result<(), MechanismError> {
    (plan.exponent, plan.calibrated) = (Exponent::Distance, false);
    Ok(())
}

fn calibrated(plan: &mut Plan, _: usize) -> Result<(), MechanismError> {
    exp_calibrated(plan);
    Ok(())
}

const VARIANTS: [Variant; 10] = [
    variant("LR-Geo, the letter: every place within Gamma", "lr-geo", Targets::Uniform, whole),
    variant("20 of them sampled, as in the authors' code", "lr-geo", Targets::Uniform, sampled),
    variant(".. the 20 nearest", "lr-geo", Targets::Uniform, nearest),
    variant(".. and range rule each", "lr-geo", Targets::Uniform, each),
    variant(".. and r_obf 4.5 km", "lr-geo", Targets::Uniform, wider),
    variant(".. and 20 random targets", "lr-geo", Targets::Random, wider),
    variant("ExpMech as printed, c without the prior", "exp", Targets::Uniform, printed),
    variant("ExpMech as printed, c with the prior (Eq. 5)", "exp", Targets::Uniform, with_prior),
    variant("ExpMech by distance, nominal", "exp", Targets::Uniform, by_distance),
    variant("ExpMech by distance, calibrated", "exp", Targets::Uniform, calibrated),
];

const fn variant(
    name: &'static str,
    kind: &'static str,
    targets: Targets,
    change: fn(&mut Plan, usize) -> Result<(), MechanismError>,
) -> Variant {
    Variant { name, kind, targets, change }
}

/// Every variant at a few sizes, four users near each other.
pub fn run(
    setup: &Setup<'_>,
    notebook: &mut Notebook,
    progress: &dyn Progress,
) -> Result<Vec<Figure>, MechanismError> {
    let sizes = setup.pick(&[20][..], &[100], &[100, 200]);
    let repeats = setup.few_repeats();
    progress.begin("letter", VARIANTS.len() as u64 * sizes.len() as u64 * repeats);
    let mut measured: Vec<Vec<(usize, Vec<Entry>)>> = Vec::new();
    for variant in &VARIANTS {
        let mut columns = Vec::new();
        for &size in sizes {
            let mut entries = Vec::new();
            for repeat in 0..repeats {
                let key = format!("letter {size} {} {repeat}", variant.name);
                entries.push(notebook.measure(&key, || {
                    let seed = setup.seed_of(repeat);
                    let city = setup.ground.city_with(size, seed, variant.targets)?;
                    let mut plan = Plan::paper()?;
                    plan.users = neighbours(&city, USERS, seed);
                    plan.sampled = Some(seed);
                    plan.allow_disconnected = true;
                    // Every place within Gamma is the whole map for every user; three digits are enough.
                    plan.gap = Some(1e-3);
                    city.table(plan.division, &())?;
                    (variant.change)(&mut plan, city.places())?;
                    measure(variant.kind, &city, &plan)
                })?);
                progress.advance(1);
            }
            columns.push((size, entries));
        }
        measured.push(columns);
    }
    progress.end();
    let figure = |id: &str, title: &str, y: Axis, value: &str| {
        let series = VARIANTS.iter().zip(&measured).map(|(variant, columns)| {
            let points = columns.iter().map(|(size, e)| point(*size as f64, e, value, None));
            Series { name: variant.name.to_owned(), points: points.collect() }
        });
        // A column of dashes says nothing: rows without any value are left out.
        let series = series.filter(|s| s.points.iter().any(|p| !p.values.is_empty())).collect();
        Figure {
            id: format!("letter-{id}"),
            title: format!("The paper's letter and its substitutions: {title}"),
            about: format!(
                "{}, epsilon 10/km, gamma 1 km, Gamma 20 km, r_exp and r_obf 4 km, {USERS} users near each other, {repeats} \
                 repeats. A line that begins with two dots has everything of the line above it and one thing more. \
                 r_exp is not printed; 4 km is the largest that it may be.",
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
        figure("cost", "cost", axis("km per report between places", false), "cost"),
        figure("violated", "inequalities violated, as the paper counts", share(), "violated"),
        figure("deployed", "pairs of users whose rows violate", share(), "violated share"),
        figure(
            "excess",
            "worst log-excess between users",
            axis("ln of the factor", false),
            "worst excess",
        ),
        figure("epsilon", "real epsilon of the rows in use", axis("per km", false), "real epsilon"),
        figure(
            "ratio",
            "ratio of the bounds of Theorems 4.6 and 4.7",
            axis("ratio", false),
            "ratio",
        ),
        figure("seconds", "time", axis("seconds, verification included", false), "seconds"),
    ])
}
