//! Geo-Ind violations of LR-Geo against the number of users, both ways of counting, and how many rows of
//! the cost table match an uploaded coefficient (the paper's section "Privacy Measure").

use lrgeo_geo::PlaceId;
use lrgeo_geo::units::Length;
use lrgeo_map::progress::Progress;
use lrgeo_mechanism::lr_geo::coefficients::Costs;
use lrgeo_mechanism::relevant::{geo_ind_graph, relevant_places};
use lrgeo_mechanism::rows::Round;
use lrgeo_mechanism::{City, MechanismError, Plan, Rows, build, by_name};

use super::printed::{MATCHED_ROWS, VIOLATION_ERROR, VIOLATION_RATIO};
use super::{
    Entry, Notebook, Setting, Setup, Size, Targets, Values, axis, neighbours, point, settings,
    users, values,
};
use crate::report::{Axis, Figure, Series, Shown, number};
use crate::violations::violations;

const PLACES: usize = 200;

/// The label of axes whose values lie between 0 and 1.
const SHARE: &str = "share";

/// 2 to 10 users.
pub fn run(
    setup: &Setup<'_>,
    notebook: &mut Notebook,
    progress: &dyn Progress,
) -> Result<Vec<Figure>, MechanismError> {
    let counts = setup.pick(&[2, 4][..], &[2, 4, 6, 8, 10], &[2, 4, 6, 8, 10]);
    let places = setup.pick(25, PLACES, PLACES);
    progress.begin("violations", 2 * counts.len() as u64 * setup.repeats());
    let mut figures = Vec::new();
    for Setting { name, plan, targets } in settings()? {
        let mut columns: Vec<(f64, Vec<Entry>)> = Vec::new();
        for &count in counts {
            let mut entries = Vec::new();
            for repeat in 0..setup.repeats() {
                let key = format!("violations {name} {count} {repeat}");
                entries.push(notebook.measure(&key, || {
                    let seed = setup.seed_of(repeat);
                    let city = setup.ground.city_with(places, seed, targets)?;
                    // Users near each other: only then is there anything to compare.
                    let users = neighbours(&city, count, seed);
                    let sampled = plan.sampled.map(|_| seed);
                    let plan = Plan { users, sampled, allow_disconnected: true, ..plan.clone() };
                    measure(&city, &plan)
                })?);
                progress.advance(1);
            }
            columns.push((count as f64, entries));
        }
        let beside = |name: &str, value: &str, paper: Option<&str>| Series {
            name: name.to_owned(),
            points: columns.iter().map(|(x, e)| point(*x, e, value, paper)).collect(),
        };
        let series = |name: &str, value: &str| beside(name, value, None);
        let worst = columns.iter().flat_map(|(_, entries)| entries);
        let worst = worst.filter_map(|e| e.values.get("worst excess").copied());
        let worst = worst.fold(f64::NEG_INFINITY, f64::max);
        let mut flags = Vec::new();
        if worst > 0.0 {
            flags.push(format!(
                "LR-Geo, {name} settings: rows in use violate Geo-Ind between users by a factor of up to {} beyond exp(epsilon d)",
                number::rounded(worst.exp())
            ));
        }
        let about = format!(
            "{}, K = {places}, {name} settings, users among the places nearest to a random one, {} repeats. As the paper counts: \
             over all relevant rows of all users and all K places (Eq. 32); over reported places: the same without \
             places that nobody may report; in use: only the row that each user really reports from.",
            setup.ground.name,
            setup.repeats()
        );
        let figure = |id: &str, title: &str, y: &str, log, series| Figure {
            id: format!("{id}-{name}"),
            title: format!("{title}, {name} settings"),
            about: about.clone(),
            x: axis("users", false),
            y: Axis { share: y == SHARE, ..axis(y, log) },
            series,
            shown: Shown::Plot,
            flags: Vec::new(),
        };
        let mut ratio = figure(
            "gv-ratio",
            "Geo-Ind violation ratio",
            SHARE,
            false,
            vec![
                beside("entries, as the paper counts", "paper ratio", Some(VIOLATION_RATIO)),
                series("entries, over reported places (ours)", "reported ratio"),
                series("entries of rows in use", "deployed ratio"),
                series("pairs of users", "deployed pairs"),
            ],
        );
        ratio.flags = flags;
        figures.push(ratio);
        figures.push(figure(
            "gve",
            "Geo-Ind violation error (GVE) of violating entries",
            "z_ik - exp(epsilon d) z_jk",
            true,
            vec![
                series("median", "gve median"),
                series("95th percentile", "gve 95"),
                beside("largest", "gve largest", Some(VIOLATION_ERROR)),
            ],
        ));
    }
    progress.end();
    Ok(figures)
}

fn measure(city: &City, plan: &Plan) -> Result<Values, MechanismError> {
    let built = build(by_name("lr-geo")?, city, plan, &())?;
    let found = violations(&built);
    let mut numbers = values([
        ("paper ratio", found.as_the_paper_counts.violation_ratio()),
        ("reported ratio", found.among_reported.violation_ratio()),
        ("deployed ratio", found.deployed.violation_ratio()),
    ]);
    if found.deployed.pairs > 0 {
        let share = found.deployed.violated_pairs as f64 / found.deployed.pairs as f64;
        numbers.insert("deployed pairs".into(), share);
    }
    if found.deployed.worst_log_excess.is_finite() {
        numbers.insert("worst excess".into(), found.deployed.worst_log_excess);
    }
    if let Rows::Users(round) = &built.rows {
        let mut errors = errors(round, city, plan);
        errors.sort_by(f64::total_cmp);
        if let Some(largest) = errors.last() {
            numbers.insert("gve largest".into(), *largest);
            numbers.insert("gve median".into(), errors[errors.len() / 2]);
            numbers.insert("gve 95".into(), errors[errors.len() * 19 / 20]);
        }
    }
    Ok(numbers)
}

/// The Geo-Ind errors of all entries that violate, over all relevant rows of all users.
fn errors(round: &Round, city: &City, plan: &Plan) -> Vec<f64> {
    let rows = || {
        let users = round.users.iter().enumerate();
        users.flat_map(|(user, matrix)| {
            let rows = matrix.relevant.iter().enumerate();
            rows.map(move |(i, &place)| (user, place, matrix.row(i)))
        })
    };
    let mut errors = Vec::new();
    for (user, here, a) in rows() {
        for (other, there, b) in rows() {
            let km = city.distance_km(here, there);
            if user == other || km > plan.notion.reach_km() {
                continue;
            }
            let factor = (plan.epsilon.value() * km).exp();
            let error = a.iter().zip(b).map(|(x, y)| x - factor * y);
            errors.extend(error.filter(|error| *error > 0.0));
        }
    }
    errors
}

/// Cells from 0.05 to 0.275 km: how many entries of the table may stand behind an uploaded coefficient, over 100
/// uploads as in the paper.
pub fn matched(
    setup: &Setup<'_>,
    notebook: &mut Notebook,
    progress: &dyn Progress,
) -> Result<Vec<Figure>, MechanismError> {
    let steps = setup.pick(&[0.1, 0.275][..], &CELLS_KM, &CELLS_KM);
    // On the demo city too, where it takes most of a minute.
    let uploads = if setup.size == Size::Full { 100 } else { setup.pick(3, 20, 100) };
    let places = setup.pick(25, PLACES, PLACES);
    progress.begin("matched rows", steps.len() as u64 * uploads);
    let (mut by_value, mut share) = (Vec::new(), Vec::new());
    for &cell_km in steps {
        let plan = Plan { division: Length::from_km(cell_km)?.into(), ..Plan::paper()? };
        let city = std::cell::OnceCell::new();
        let mut entries = Vec::new();
        for upload in 0..uploads {
            let key = format!("matched {cell_km} {upload}");
            entries.push(notebook.measure(&key, || {
                let city = match city.get() {
                    Some(city) => city,
                    None => {
                        let made = setup.ground.city_with(places, setup.seed, Targets::Uniform)?;
                        city.get_or_init(|| made)
                    }
                };
                matches(city, &plan, users(city, 1, setup.seed_of(upload))[0])
            })?);
            progress.advance(1);
        }
        let paper = (cell_km == 0.1).then_some(MATCHED_ROWS);
        by_value.push(point(cell_km, &entries, "matched", paper));
        share.push(point(cell_km, &entries, "share", None));
    }
    progress.end();
    let figure = |id: &str, title: &str, y: &str, series: Vec<Series>| Figure {
        id: id.to_owned(),
        title: title.to_owned(),
        about: format!(
            "{}, K = {places}, {uploads} uploads: for each uploaded coefficient, the entries of the table (900 cells around the user) within the largest \
             offset of it. The paper takes many matches for safety. A whole matrix of coefficients is matched by one place \
             nonetheless: see `lrgeo attack upload`.",
            setup.ground.name
        ),
        x: axis("cell size, km", false),
        y: Axis { share: y == SHARE, ..axis(y, true) },
        series,
        shown: Shown::Plot,
        flags: Vec::new(),
    };
    let series = |name: &str, points| vec![Series { name: name.to_owned(), points }];
    Ok(vec![
        figure(
            "matched",
            "Rows matched per cost coefficient",
            "entries",
            series("entries", by_value),
        ),
        figure("matched-share", "The same as a share of the table", SHARE, series("share", share)),
    ])
}

/// Cells of the part of the table that is searched.
const CELLS: usize = 900;
/// Their sides.
const CELLS_KM: [f64; 5] = [0.05, 0.1, 0.15, 0.2, 0.275];

fn matches(city: &City, plan: &Plan, user: PlaceId) -> Result<Values, MechanismError> {
    let tables = city.tables(plan.division, &())?;
    let table = &tables[0];
    let here = city.coords()[user.index()];
    let mut cells: Vec<u32> = (0..table.cells().len() as u32).collect();
    let far = |cell: &u32| table.cells()[*cell as usize].distance_km(here);
    cells.sort_by(|a, b| far(a).total_cmp(&far(b)));
    cells.truncate(CELLS);
    let square = table.beta(&cells, &cells);
    let above = (0..cells.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
    let mut beta: Vec<f64> = above.map(|(i, j)| square[i * cells.len() + j]).collect();
    beta.sort_by(f64::total_cmp);

    let graph = geo_ind_graph(city, plan);
    let relevant = relevant_places(city, graph.as_deref(), plan, user);
    let reported = city.within(here, plan.radii.obfuscation);
    let reported: Vec<PlaceId> = reported.into_iter().map(|(place, _)| place).collect();
    let costs = Costs::of(city, &tables, vec![1.0]);
    let uploaded = costs.estimate(city, &relevant, &reported);
    let offset_km = PlaceId::all(city.places()).map(|v| table.offset(v)).fold(0.0, f64::max);
    let prior = city.prior()[relevant[0].index()];
    let count = |c: &f64| {
        let (low, high) = (c / prior - offset_km, c / prior + offset_km);
        let below = |bound: f64| beta.partition_point(|b| *b < bound);
        (below(high) - below(low)) as f64
    };
    let mean = uploaded.iter().map(count).sum::<f64>() / uploaded.len() as f64;
    Ok(values([("matched", mean), ("share", mean / beta.len() as f64)]))
}
