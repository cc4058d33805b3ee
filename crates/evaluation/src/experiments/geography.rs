//! The geography that the paper prints: a 40 x 40 grid over the box of section 5.1.1, from the same streets.
//!
//! Its cells are 1.2 km wide, so that no two places are within the gamma of 1 km that everything else of the paper
//! speaks of; and its box is wide enough for Gamma from 10 to 50 km to mean something.

use lrgeo_geo::PlaceId;
use lrgeo_map::progress::Progress;
use lrgeo_mechanism::{City, MechanismError, Plan, build, by_name};
use lrgeo_tiles::Notion;

use super::{Entry, Notebook, Setup, Values, axis, point, users, values};
use crate::bounds::cost_bounds;
use crate::report::{Figure, Series, Shown};

/// Thresholds of neighbours, in kilometres.
const GAMMAS: [f64; 5] = [1.0, 1.2, 1.5, 2.0, 2.5];
/// The one at which Gamma is varied.
const GAMMA_KM: f64 = 2.0;
const RELEVANT_KM: [f64; 5] = [10.0, 20.0, 30.0, 40.0, 50.0];

/// How many places and neighbours there are, and the ratio of bounds against Gamma. Nothing without Rome's streets.
pub fn run(
    setup: &Setup<'_>,
    notebook: &mut Notebook,
    progress: &dyn Progress,
) -> Result<Vec<Figure>, MechanismError> {
    let Some(city) = setup.ground.printed_city()? else { return Ok(Vec::new()) };
    let repeats = setup.few_repeats();
    let swept = &RELEVANT_KM[..setup.pick(1, 3, 5)];
    progress.begin("geography", (GAMMAS.len() as u64) + swept.len() as u64 * repeats);
    let mut pairs = Vec::new();
    for gamma_km in GAMMAS {
        let entry =
            notebook.measure(&format!("geography {gamma_km}"), || neighbours(&city, gamma_km))?;
        pairs.push(point(gamma_km, &[entry], "pairs", None));
        progress.advance(1);
    }
    let mut columns: Vec<(f64, Vec<Entry>)> = Vec::new();
    for &relevant_km in swept {
        let mut entries = Vec::new();
        for repeat in 0..repeats {
            let key = format!("geography {GAMMA_KM} {relevant_km} {repeat}");
            entries.push(notebook.measure(&key, || {
                bounds(&city, relevant_km, users(&city, 1, setup.seed_of(repeat)))
            })?);
            progress.advance(1);
        }
        columns.push((relevant_km, entries));
    }
    progress.end();
    let about = |what: &str| {
        format!(
            "{}, the 40 x 40 grid over (41.66, 12.24)-(42.10, 12.81) that the paper prints: {} places with a street, {:.2} km \
             apart. {what}",
            setup.ground.name,
            city.places(),
            city.spacing_km()
        )
    };
    let series = |name: &str, value: &str| Series {
        name: name.to_owned(),
        points: columns.iter().map(|(x, entries)| point(*x, entries, value, None)).collect(),
    };
    let sweep = format!(
        "The paper's letter (epsilon 10/km, range own, r_obf 4 km, uniform targets, every place within Gamma) at gamma {GAMMA_KM} \
         km, one user, {repeats} repeats."
    );
    Ok(vec![
        Figure {
            id: "geography-pairs".into(),
            title: "The printed geography: pairs of neighbours against gamma".into(),
            about: about(
                "With gamma 1 km nobody has a neighbour, and nothing is promised to anybody.",
            ),
            x: axis("gamma, km", false),
            y: axis("unordered pairs of places within gamma", false),
            series: vec![Series { name: "pairs".into(), points: pairs }],
            shown: Shown::Table,
            flags: Vec::new(),
        },
        Figure {
            id: "geography-ratio".into(),
            title: "The printed geography: ratio of upper and lower bound against Gamma".into(),
            about: about(&sweep),
            x: axis("Gamma, km", false),
            y: axis("ratio", false),
            series: vec![series("ratio", "ratio")],
            shown: Shown::Plot,
            flags: Vec::new(),
        },
        Figure {
            id: "geography-cost".into(),
            title: "The printed geography: bounds and the cost of the row in use against Gamma"
                .into(),
            about: about(&sweep),
            x: axis("Gamma, km", false),
            y: axis("km per report", false),
            series: vec![
                series("upper bound, all relevant rows", "upper"),
                series("lower bound, all relevant rows", "lower"),
                series("the row in use", "cost"),
            ],
            shown: Shown::Plot,
            flags: Vec::new(),
        },
        Figure {
            id: "geography-relevant".into(),
            title: "The printed geography: relevant places against Gamma".into(),
            about: about(&sweep),
            x: axis("Gamma, km", false),
            y: axis("places in the LR set", false),
            series: vec![series("relevant places", "relevant")],
            shown: Shown::Table,
            flags: Vec::new(),
        },
    ])
}

fn neighbours(city: &City, gamma_km: f64) -> Result<Values, MechanismError> {
    let near = |&at: &_| city.within(at, gamma_km).len() - 1;
    let ordered: usize = city.coords().iter().map(near).sum();
    Ok(values([("pairs", ordered as f64 / 2.0)]))
}

fn bounds(city: &City, relevant_km: f64, users: Vec<PlaceId>) -> Result<Values, MechanismError> {
    let mut plan = Plan { users, allow_disconnected: true, sampled: None, ..Plan::paper()? };
    plan.notion = Notion::Within { gamma_km: GAMMA_KM };
    (plan.radii.relevant, plan.radii.relevant_max) = (relevant_km, None);
    // Hundreds of rows: a ratio in three digits is enough.
    plan.gap = Some(1e-3);
    let built = build(by_name("lr-geo")?, city, &plan, &())?;
    let mut numbers = values([("cost", built.expected_cost)]);
    if let lrgeo_mechanism::Rows::Users(round) = &built.rows {
        numbers.insert("relevant".into(), round.users[0].relevant.len() as f64);
    }
    if let Some(b) = cost_bounds(&built, city, plan.division, &plan.settings(1e-3), &())? {
        numbers.extend(values([("upper", b.upper), ("lower", b.lower), ("ratio", b.ratio())]));
    }
    Ok(numbers)
}
