//! Mixed users, the paper's future work: some drive and some walk. What one matrix for all costs, what one for each way saves,
//! and what the way that somebody chose tells.

use lrgeo_geo::PlaceId;
use lrgeo_map::progress::Progress;
use lrgeo_map::utility::UtilityKind;
use lrgeo_mechanism::verify::Verified;
use lrgeo_mechanism::{Built, City, Losses, MechanismError, Plan, build, by_name};

use super::{Entry, Notebook, Setup, Values, axis, point, users};
use crate::report::{Axis, Figure, Series, Shown};

/// Where one-way streets or speeds differ, so do the ways; time tells them apart on every map.
const KIND: UtilityKind = UtilityKind::TravelTime;
const WAYS: [&str; 2] = ["drive", "walk"];
/// Half of the people at every place.
const HALF: f64 = 0.5;
const USERS: usize = 10;

/// Both ways apart and together.
struct Ways {
    both: City,
    alone: [City; 2],
}

impl Ways {
    fn new(setup: &Setup<'_>, places: usize, seed: u64) -> Result<Self, MechanismError> {
        let [map, walk] = setup.ground.on_foot_too(places, seed)?;
        let version = map.version();
        let drive = || (WAYS[0].to_owned(), Losses::Measured(KIND));
        let walk = || (WAYS[1].to_owned(), Losses::On(Box::new(walk.clone()), KIND));
        let city = |ways| City::with_ways(map.clone(), version, ways, Vec::new(), &());
        let both = city(vec![drive(), walk()])?;
        Ok(Self { both, alone: [city(vec![drive()])?, city(vec![walk()])?] })
    }

    /// What a matrix costs people who go one way, in minutes per report.
    fn cost(&self, built: &Built, way: usize) -> f64 {
        let (mut sum, mut weight) = (0.0, 0.0);
        for (at, place) in built.rows.deployed().into_iter().enumerate() {
            let prior = self.both.prior()[place.index()];
            sum += prior * self.cost_of_row(built, at, place, way);
            weight += prior;
        }
        sum / weight
    }

    /// The same for somebody who draws from one row.
    fn cost_of_row(&self, built: &Built, row: usize, place: PlaceId, way: usize) -> f64 {
        let all: Vec<PlaceId> = PlaceId::all(self.both.places()).collect();
        let mut values = vec![0.0; all.len()];
        built.rows.fill(row, &mut values);
        let losses = self.both.ways()[way].utility().losses(&[place], &all);
        values.iter().zip(losses).map(|(z, c)| z * c).sum()
    }
}

fn plan() -> Result<Plan, MechanismError> {
    Ok(Plan { allow_disconnected: true, gap: Some(1e-3), ..Plan::practical()? })
}

/// One matrix for each way, one for both, and the wrong one.
fn matrices(setup: &Setup<'_>, places: usize, seed: u64) -> Result<Values, MechanismError> {
    let (ways, plan, kind) = (Ways::new(setup, places, seed)?, plan()?, by_name("lp")?);
    let own = [build(kind, &ways.alone[0], &plan, &())?, build(kind, &ways.alone[1], &plan, &())?];
    let both = build(kind, &ways.both, &plan, &())?;
    let mut numbers = Values::new();
    for (way, name) in WAYS.iter().enumerate() {
        numbers.insert(format!("own {name}"), ways.cost(&own[way], way));
        numbers.insert(format!("shared {name}"), ways.cost(&both, way));
        numbers.insert(format!("wrong {name}"), ways.cost(&own[1 - way], way));
    }
    told(&ways.both, &own, &mut numbers);
    Ok(numbers)
}

/// What a report tells of the way that its sender goes, where each way has a matrix of its own and half of the people go each.
fn told(city: &City, own: &[Verified; 2], numbers: &mut Values) {
    let places = city.places();
    let (mut place_known, mut worst) = (0.0, 0.0f64);
    let mut reported = [vec![0.0; places], vec![0.0; places]];
    let (mut rows, weight) =
        ([vec![0.0; places], vec![0.0; places]], city.prior().iter().sum::<f64>());
    for place in 0..places {
        let prior = city.prior()[place] / weight;
        for way in 0..2 {
            own[way].rows.fill(place, &mut rows[way]);
            let sums = reported[way].iter_mut().zip(&rows[way]);
            sums.for_each(|(sum, z)| *sum += prior * z);
        }
        for (a, b) in rows[0].iter().zip(&rows[1]) {
            place_known += prior * HALF * a.max(*b);
            if *a > 0.0 && *b > 0.0 {
                worst = worst.max((a / b).ln().abs());
            }
        }
    }
    let report_alone: f64 =
        reported[0].iter().zip(&reported[1]).map(|(a, b)| HALF * a.max(*b)).sum();
    numbers.insert("guess from the report".into(), report_alone);
    numbers.insert("guess from report and place".into(), place_known);
    numbers.insert("worst".into(), worst);
}

/// Rounds in which each user has its own table, or everybody that of the cars.
fn rounds(setup: &Setup<'_>, places: usize, seed: u64) -> Result<Values, MechanismError> {
    let ways = Ways::new(setup, places, seed)?;
    let kind = by_name("lr-geo")?;
    let mut plan = plan()?;
    plan.users = users(&ways.both, USERS, seed);
    let going = |way: usize| [f64::from(u8::from(way == 0)), f64::from(u8::from(way == 1))];
    let goes = |user: usize| user % 2;
    let mut round = |name: &str, table: &dyn Fn(usize) -> Vec<f64>| {
        plan.shares = (0..plan.users.len()).map(table).collect();
        let built = build(kind, &ways.both, &plan, &())?;
        let places = built.rows.deployed();
        let cost =
            |(user, &place): (usize, &PlaceId)| ways.cost_of_row(&built, user, place, goes(user));
        let sum: f64 = places.iter().enumerate().map(cost).sum();
        Ok::<_, MechanismError>((name.to_owned(), sum / places.len() as f64))
    };
    let found = [
        round("round, own table", &|user| going(goes(user)).to_vec())?,
        round("round, a mixture of both", &|_| vec![HALF, HALF])?,
        round("round, the other's table", &|user| going(1 - goes(user)).to_vec())?,
    ];
    Ok(found.into_iter().collect())
}

/// Costs by way, and what a report tells of it.
pub fn run(
    setup: &Setup<'_>,
    notebook: &mut Notebook,
    progress: &dyn Progress,
) -> Result<Vec<Figure>, MechanismError> {
    let places = setup.pick(25, 100, 200);
    let repeats = setup.few_repeats();
    progress.begin("ways", 2 * repeats);
    let (mut whole, mut round): (Vec<Entry>, Vec<Entry>) = (Vec::new(), Vec::new());
    for repeat in 0..repeats {
        let seed = setup.seed_of(repeat);
        let key = |what: &str| format!("ways {what} {repeat}");
        whole.push(notebook.measure(&key("matrices"), || matrices(setup, places, seed))?);
        round.push(notebook.measure(&key("rounds"), || rounds(setup, places, seed))?);
        progress.advance(2);
    }
    progress.end();
    let about = format!(
        "{}, K = {places}, epsilon 2/km, travel time by car and on foot on the same streets, half of the people at every place \
         each, {repeats} repeats.",
        setup.ground.name
    );
    let line = |entries: &[Entry], name: &str, value: &str| Series {
        name: name.to_owned(),
        points: vec![point(places as f64, entries, value, None)],
    };
    let figure = |id: &str, title: &str, y: Axis, series: Vec<Series>, more: &str| Figure {
        id: format!("ways-{id}"),
        title: format!("Mixed users: {title}"),
        about: format!("{about} {more}"),
        x: axis("K", false),
        y,
        series,
        shown: Shown::Table,
        flags: Vec::new(),
    };
    let minutes = || axis("minutes misjudged per report between places", false);
    let mut costs = Vec::new();
    for (prefix, what) in [
        ("own", "a matrix of their own"),
        ("shared", "one matrix for all"),
        ("wrong", "the others' matrix"),
    ] {
        for way in WAYS {
            costs.push(line(&whole, &format!("{way}: {what}"), &format!("{prefix} {way}")));
        }
    }
    let rounds = [
        ("each with its own table", "round, own table"),
        ("each with a mixture of both", "round, a mixture of both"),
        ("each with the other's table", "round, the other's table"),
    ];
    let rounds = rounds.iter().map(|(name, value)| line(&round, name, value)).collect();
    let share = Axis { share: true, ..axis("probability of being right", false) };
    Ok(vec![
        figure("cost", "LP", minutes(), costs, "Whole-map optima (LP)."),
        figure(
            "rounds",
            "LR-Geo, users who share one y",
            minutes(),
            rounds,
            "Ten users, every second on foot.",
        ),
        figure(
            "told",
            "guessing from one report how its sender goes",
            share,
            vec![
                line(&whole, "by the report", "guess from the report"),
                line(
                    &whole,
                    "by the report, where the place is known",
                    "guess from report and place",
                ),
            ],
            "Each way with a matrix of its own; a coin is right half of the time. With one matrix for all a report tells nothing of it.",
        ),
        figure(
            "worst",
            "how much likelier a report can be from one way than from the other, at one place",
            axis("ln of the factor", false),
            vec![line(&whole, "worst report", "worst")],
            "Geo-Ind speaks of places, not of ways: nothing bounds this but the matrices themselves.",
        ),
    ])
}
