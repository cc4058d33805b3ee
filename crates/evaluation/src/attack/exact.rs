//! What an upload tells, computed instead of attacked: the paper's open question of uneven places.
//!
//! An upload is a function of the user's place (rows come in random order, which is noise that carries nothing), so its
//! leak is exact once it is known which places upload the same. With X the place and Y what is seen of its upload:
//! Shannon's leak is I(X; Y) = H(Y), and the min-entropy leak is how much likelier the best guess becomes,
//! log2(sum over classes of the largest prior in each / largest prior).
//!
//! Whether two uploads are the same up to the order of rows is decided by sorting rows where columns have names.
//! Distances between relevant places have names on neither side; they are compared as a multiset (which may take
//! different ones for equal: the leak is at least this) and in the order of their distance from the user (which may take
//! equal ones for different: at most this). Where both agree, that is the leak.

use std::collections::HashMap;

use lrgeo_geo::PlaceId;
use lrgeo_map::neighbours::NeighbourGraph;
use lrgeo_map::progress::Progress;
use lrgeo_mechanism::lr_geo::coefficients::{Coefficients, Costs, UserPart};
use lrgeo_mechanism::relevant::{TieRule, geo_ind_graph};
use lrgeo_mechanism::{City, Geography, MechanismError, Plan, RangeRule, alike, build, by_name};
use rayon::prelude::*;
use serde::{Serialize, Serializer};

/// What a field of an upload tells about the place.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Leak {
    /// Which field, or all together.
    #[serde(serialize_with = "by_name_of_field")]
    pub field: Field,
    /// How many different uploads there are.
    #[serde(rename = "uploads")]
    pub classes: usize,
    /// Shannon: bits of the place that it tells.
    #[serde(rename = "shannon_bits")]
    pub bits: f64,
    /// Min-entropy: bits by which the best guess gets likelier.
    pub min_entropy_bits: f64,
    /// How likely the best guess is right.
    pub guess: f64,
    /// The fewest places that upload the same.
    pub smallest_class: usize,
}

/// A part of an upload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The number of relevant places.
    Rows,
    /// The reportable places.
    Columns,
    /// Distances between relevant places as a multiset: the leak is at least this.
    BetweenAtLeast,
    /// The same in the order of their distance from the user: at most this.
    BetweenAtMost,
    /// Distances from relevant to reportable places.
    Towards,
    /// Costs.
    Cost,
    /// The whole upload.
    All,
}

impl Field {
    /// All of them, with names for people.
    pub const ALL: [(Field, &'static str); 7] = [
        (Field::Rows, "number of rows"),
        (Field::Columns, "columns"),
        (Field::BetweenAtLeast, "D over N_m x N_m, at least"),
        (Field::BetweenAtMost, "D over N_m x N_m, at most"),
        (Field::Towards, "D over N_m x O_m"),
        (Field::Cost, "C_hat"),
        (Field::All, "all together"),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }
}

fn by_name_of_field<S: Serializer>(field: &Field, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(field.name())
}

/// A defence, what it leaves, and what it costs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Defended {
    /// What is done.
    pub defence: String,
    /// Classes of places that upload the same, where it makes them: whatever the map, nothing tells more than which.
    pub parts: Option<usize>,
    /// What a report of the users' rows costs with it, where it changes them.
    pub cost: Option<f64>,
    /// The leak of every field.
    #[serde(rename = "fields")]
    pub leaks: Vec<Leak>,
}

/// Numbers rounded to multiples of so many kilometres before they are uploaded.
const ROUNDINGS: [f64; 4] = [0.0, 0.01, 0.1, 0.5];
/// Sizes of classes of users who upload the same.
const CLASSES: [usize; 4] = [1, 4, 16, 64];

/// The leaks with rounding and with classes of places that upload the same; a round of `users` prices the latter.
pub fn defended(
    city: &City,
    plan: &Plan,
    users: &[PlaceId],
    progress: &dyn Progress,
) -> Result<Vec<Defended>, MechanismError> {
    let graph = geo_ind_graph(city, plan);
    let tables = city.tables(plan.division, progress)?;
    let costs = Costs::of(city, &tables, vec![1.0]);
    let mut all = Vec::new();
    for rounding in ROUNDINGS {
        let defence = match rounding {
            0.0 => "as it is".to_owned(),
            km => format!("rounded to {:.0} m", 1000.0 * km),
        };
        let leaks = leaks(city, graph.as_deref(), &costs, plan, rounding, progress)?;
        all.push(Defended { defence, leaks, parts: None, cost: None });
    }
    for count in CLASSES.into_iter().filter(|count| *count <= city.places()) {
        let mut alike = Plan { alike: Some(count), range: RangeRule::Each, ..plan.clone() };
        (alike.radii.relevant_max, alike.allow_disconnected) = (None, true);
        alike.users = users.to_vec();
        let leaks = leaks(city, graph.as_deref(), &costs, &alike, 0.0, progress)?;
        let built = build(by_name("lr-geo")?, city, &alike, progress)?;
        let parts = Some(alike::classes(city.coords(), count).len());
        let (defence, cost) = (format!("classes of {count} at least"), Some(built.expected_cost));
        all.push(Defended { defence, leaks, parts, cost });
    }
    Ok(all)
}

/// The leak of every field, for users who all follow a plan; numbers are rounded to multiples of `rounding` (kilometres,
/// costs per report likewise) before they are uploaded, or not at all at zero.
pub fn leaks(
    places: &Geography,
    graph: Option<&NeighbourGraph>,
    costs: &Costs<'_>,
    plan: &Plan,
    rounding: f64,
    progress: &dyn Progress,
) -> Result<Vec<Leak>, MechanismError> {
    let rule = TieRule::of(plan, places)?;
    progress.begin("uploads of all places", places.places() as u64);
    let prints: Vec<[u128; 7]> = (0..places.places())
        .into_par_iter()
        .map(|place| {
            let part = UserPart::prepare(places, graph, costs, (plan, &rule), PlaceId::at(place));
            let prior = places.prior()[place];
            progress.advance(1);
            Field::ALL.map(|(field, _)| print(field, &part.upload, prior, rounding))
        })
        .collect();
    progress.end();
    let leak = |(at, (field, _)): (usize, &(Field, &str))| {
        let seen: Vec<u128> = prints.iter().map(|all| all[at]).collect();
        leak(*field, places.prior(), &seen)
    };
    Ok(Field::ALL.iter().enumerate().map(leak).collect())
}

/// The leak of a function of the place, given what is seen of each.
pub fn leak(field: Field, prior: &[f64], seen: &[u128]) -> Leak {
    let mut classes: HashMap<u128, (usize, f64, f64)> = HashMap::new();
    for (&p, &print) in prior.iter().zip(seen) {
        let class = classes.entry(print).or_default();
        *class = (class.0 + 1, class.1 + p, class.2.max(p));
    }
    let total: f64 = prior.iter().sum();
    let likeliest = prior.iter().copied().fold(0.0, f64::max) / total;
    let guess = classes.values().map(|(_, _, best)| best / total).sum::<f64>();
    let bits = classes.values().map(|(_, sum, _)| sum / total).filter(|p| *p > 0.0);
    Leak {
        field,
        classes: classes.len(),
        bits: bits.map(|p| -p * p.log2()).sum::<f64>().max(0.0),
        min_entropy_bits: (guess / likeliest).log2(),
        guess,
        smallest_class: classes.values().map(|(size, ..)| *size).min().unwrap_or(0),
    }
}

fn print(field: Field, upload: &Coefficients, prior: f64, rounding: f64) -> u128 {
    let width = upload.columns.len();
    let rounded = |value: f64| match rounding > 0.0 {
        true => (value / rounding).round().to_bits(),
        false => value.to_bits(),
    };
    // Costs carry the prior of the user's rows; per report they have the unit of distances.
    let cost = |c: &f64| rounded(if rounding > 0.0 && prior > 0.0 { c / prior } else { *c });
    let columns = || upload.columns.iter().map(|k| u64::from(k.number()));
    let between = |i: usize, j: usize| rounded(upload.between[i * upload.rows + j]);
    let row = |i: usize, with: Field| -> Vec<u64> {
        let at = i * width..(i + 1) * width;
        let towards = upload.towards[at.clone()].iter().map(|d| rounded(*d));
        match with {
            Field::Towards => towards.collect(),
            Field::Cost => upload.cost[at].iter().map(cost).collect(),
            _ => upload.cost[at].iter().map(cost).chain(towards).collect(),
        }
    };
    let sorted_rows = |with: Field| {
        let mut rows: Vec<(Vec<u64>, usize)> =
            (0..upload.rows).map(|i| (row(i, with), i)).collect();
        rows.sort_unstable();
        rows
    };
    match field {
        Field::Rows => hash([upload.rows as u64]),
        Field::Columns => hash(columns()),
        Field::BetweenAtLeast => {
            let mut all: Vec<u64> = pairs(upload.rows).map(|(i, j)| between(i, j)).collect();
            all.sort_unstable();
            hash(all)
        }
        Field::BetweenAtMost => hash(pairs(upload.rows).map(|(i, j)| between(i, j))),
        Field::Towards | Field::Cost => {
            let rows = sorted_rows(field);
            hash(columns().chain(rows.into_iter().flat_map(|(row, _)| row)))
        }
        Field::All => {
            // Rows that are equal in everything else are interchangeable.
            let rows = sorted_rows(field);
            let order: Vec<usize> = rows.iter().map(|(_, i)| *i).collect();
            let between: Vec<u64> =
                pairs(upload.rows).map(|(i, j)| between(order[i], order[j])).collect();
            let named = rows.into_iter().flat_map(|(row, _)| row);
            hash(columns().chain(named).chain(between))
        }
    }
}

/// Every pair of rows once.
fn pairs(rows: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..rows).flat_map(|i| (0..i).map(move |j| (i, j)))
}

/// 128 bits of numbers in order: no two of a million uploads are taken for one another by chance.
fn hash(numbers: impl IntoIterator<Item = u64>) -> u128 {
    let mut state = [0x243f_6a88_85a3_08d3_u64, 0x1319_8a2e_0370_7344];
    for number in numbers {
        for (half, turn) in state.iter_mut().zip([0, 29]) {
            *half = lrgeo_geo::rng::SplitMix::new(*half ^ number.rotate_left(turn)).bits();
        }
    }
    (u128::from(state[0]) << 64) | u128::from(state[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eight places alike in pairs, and one that is alone; then the same with one place as likely as all others.
    #[test]
    fn leaks_of_a_few_places_are_those_computed_by_hand() {
        let seen = [1, 1, 2, 2, 3, 3, 4, 4];
        let even = leak(Field::Rows, &[0.125; 8], &seen);
        assert_eq!((even.classes, even.smallest_class), (4, 2));
        assert_eq!((even.bits, even.min_entropy_bits, even.guess), (2.0, 2.0, 0.5));
        let prior = [0.5, 0.0, 0.125, 0.125, 0.125, 0.125, 0.0, 0.0];
        let uneven = leak(Field::Rows, &prior, &seen);
        // Classes weigh 1/2, 1/4, 1/4, 0: 1.5 bits. The guess goes from 1/2 to 1/2 + 1/8 + 1/8.
        assert_eq!(uneven.bits, 1.5);
        assert_eq!(uneven.guess, 0.75);
        assert!((uneven.min_entropy_bits - 1.5f64.log2()).abs() < 1e-15);
        let nothing = leak(Field::Rows, &[0.25; 4], &[7; 4]);
        assert_eq!((nothing.bits, nothing.min_entropy_bits, nothing.guess), (0.0, 0.0, 0.25));
    }
}
