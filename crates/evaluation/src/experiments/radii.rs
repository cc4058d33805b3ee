//! LR-Geo's central trade-off: a larger r_exp leaves more entries free, which costs less and violates more.

use lrgeo_map::progress::Progress;
use lrgeo_mechanism::{MechanismError, Plan};

use super::tables::measure;
use super::{Entry, Notebook, Setup, axis, neighbours, point};
use crate::report::{Axis, Figure, Point, Series, Shown};

const USERS: usize = 10;
/// Entries of every repeat at each r_exp.
type Sweep = Vec<(f64, Vec<Entry>)>;

/// r_exp, in kilometres.
const EXPONENTIAL: [f64; 7] = [0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0];
/// r_obf, in kilometres.
const OBFUSCATION: [f64; 3] = [2.0, 4.0, 6.0];
/// What it is held against, at the same epsilon and between the same pairs.
const BASELINES: [(&str, &str); 2] = [("Laplace", "laplace-places"), ("LP", "lp")];

/// Every r_exp with every r_obf that is not smaller, at epsilon 2/km.
pub fn run(
    setup: &Setup<'_>,
    notebook: &mut Notebook,
    progress: &dyn Progress,
) -> Result<Vec<Figure>, MechanismError> {
    let places = setup.pick(25, 200, 300);
    let repeats = setup.few_repeats();
    let pairs = OBFUSCATION.map(|o| EXPONENTIAL.iter().filter(|e| **e <= o).count() as u64);
    progress.begin("radii", (pairs.iter().sum::<u64>() + BASELINES.len() as u64) * repeats);
    let mut repeated = |key: &str, kind: &str, radii: Option<(f64, f64)>| {
        let mut entries = Vec::new();
        for repeat in 0..repeats {
            entries.push(notebook.measure(&format!("radii {key} {repeat}"), || {
                let seed = setup.seed_of(repeat);
                let city = setup.ground.city(places, seed)?;
                let mut plan = Plan::practical()?;
                plan.users = neighbours(&city, USERS, seed);
                plan.allow_disconnected = true;
                // Rounds with everything free are long; the trade-off shows in the third digit.
                plan.gap = Some(1e-3);
                if let Some((exponential, obfuscation)) = radii {
                    (plan.radii.exponential, plan.radii.obfuscation) = (exponential, obfuscation);
                }
                measure(kind, &city, &plan)
            })?);
            progress.advance(1);
        }
        Ok::<Vec<Entry>, MechanismError>(entries)
    };
    let mut rounds: Vec<(f64, Sweep)> = Vec::new();
    for obfuscation in OBFUSCATION {
        let mut line = Vec::new();
        for exponential in EXPONENTIAL.into_iter().filter(|e| *e <= obfuscation) {
            let key = format!("{obfuscation} {exponential}");
            line.push((exponential, repeated(&key, "lr-geo", Some((exponential, obfuscation)))?));
        }
        rounds.push((obfuscation, line));
    }
    let mut baselines: Vec<(&str, Vec<Entry>)> = Vec::new();
    for (name, kind) in BASELINES {
        baselines.push((name, repeated(name, kind, None)?));
    }
    progress.end();
    let series = |value: &str| -> Vec<Series> {
        let of = |(obfuscation, line): &(f64, Vec<(f64, Vec<Entry>)>)| Series {
            name: format!("r_obf {obfuscation} km"),
            points: line.iter().map(|(x, entries)| point(*x, entries, value, None)).collect(),
        };
        rounds.iter().map(of).collect()
    };
    // A baseline has no radii: the same at every r_exp.
    let level = |(name, entries): &(&str, Vec<Entry>)| Series {
        name: (*name).to_owned(),
        points: EXPONENTIAL.map(|x| Point { x, ..point(0.0, entries, "cost", None) }).to_vec(),
    };
    let figure = |id: &str, title: &str, y: Axis, series: Vec<Series>| Figure {
        id: format!("radii-{id}"),
        title: format!("{title} against r_exp"),
        about: format!(
            "{}, K = {places}, epsilon 2/km, gamma 1 km, Gamma 2 km, range rule each, {USERS} users near each other, {repeats} \
             repeats, a gap of 0.1 %. Entries nearer than r_exp are free: cheaper, and not private between users.",
            setup.ground.name
        ),
        x: axis("r_exp, km", false),
        y,
        series,
        shown: Shown::Plot,
        flags: Vec::new(),
    };
    let share = || Axis { share: true, ..axis("share", false) };
    let mut costs = series("cost");
    costs.extend(baselines.iter().map(level));
    Ok(vec![
        figure("cost", "Cost of LR-Geo", axis("km per report between places", false), costs),
        figure(
            "violated",
            "Inequalities violated, as the paper counts,",
            share(),
            series("violated"),
        ),
        figure("pairs", "Pairs of users whose rows violate", share(), series("violated share")),
        figure(
            "excess",
            "Worst log-excess between users",
            axis("ln of the factor beyond exp(epsilon d)", false),
            series("worst excess"),
        ),
    ])
}
