//! The cheapest matrix that keeps the promise: OMG over exactly the rows, costs and pairs of a
//! mechanism (Eq. 6-7).
//!
//! Whatever costs less than that cannot be private (`docs/specification.md` section 7), so every comparison asks.

use lrgeo_geo::index::SpatialIndex;
use lrgeo_geo::{Coord, PlaceId};
use lrgeo_map::progress::Progress;
use lrgeo_mechanism::spanner::{Link, Spanner};
use lrgeo_mechanism::{Built, City, MechanismError};
use lrgeo_optim::{Arc, Cost, DenseCost, Problem, ProblemParts, Settings, Status, large, solve};
use lrgeo_tiles::{Epsilon, Guarantee, Notion};

use crate::street::People;

/// Up to here all pairs get an arc each; above, only those of a spanner at the full epsilon, which
/// asks for less and so gives a bound that is a little lower.
const COMPLETE_ROWS: usize = 100;
/// Up to here the dense engine; above, the closed form's repaired bound.
const DENSE_PLACES: usize = 2_000;
/// The stretch of the spanner: nearer to one than that of mechanisms, as nothing is lost here.
const STRETCH: f64 = 1.02;

/// What is known about the cheapest matrix. Costs are per report.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Optimum {
    /// No matrix that keeps the promise between these rows costs less.
    pub lower_bound: f64,
    /// Whether the bound is the optimum itself, to the gap asked for.
    pub tight: bool,
}

/// Which optimum: mechanisms with the same rows and the same promise share it.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The places of the rows; several rows may have one place.
    pub rows: Vec<PlaceId>,
    /// Which pairs of them.
    pub notion: Notion,
    /// At which epsilon.
    pub epsilon: Epsilon,
}

impl Question {
    /// The question that the rows in use of a mechanism, and its promise, ask.
    pub fn of(built: &Built) -> Self {
        let Guarantee { notion, epsilon, .. } = built.guarantee;
        Self { rows: built.rows.deployed(), notion, epsilon }
    }

    /// Solves it with the true costs, all places as columns.
    pub fn answer(
        &self,
        city: &City,
        settings: &Settings,
        progress: &dyn Progress,
    ) -> Result<Optimum, MechanismError> {
        let weights = row_weights(city, &self.rows);
        let total: f64 = weights.iter().sum();
        let (arcs, relaxed) = self.arcs(city, progress);
        if arcs.is_empty() {
            // Nobody is to be confused with anybody: everybody may report the cheapest place.
            let least = |i: PlaceId| {
                let losses = city.utility().losses(&[i], &all(city));
                losses.into_iter().fold(f64::INFINITY, f64::min)
            };
            let cost: f64 = self.rows.iter().zip(&weights).map(|(&i, w)| w * least(i)).sum();
            return Ok(Optimum { lower_bound: cost / total, tight: !relaxed });
        }
        let whole_map = self.is_whole_map(city);
        let cost: Box<dyn Cost> = match whole_map {
            true => city.cost()?,
            false => Box::new(weighted(city, &self.rows, &weights)?),
        };
        let problem = Problem::new(ProblemParts {
            epsilon: self.epsilon.value(),
            groups: Vec::new(),
            cost,
            arcs,
            ties: None,
            bounds: Vec::new(),
            fixed_y: None,
        })?;
        if whole_map && self.rows.len() > DENSE_PLACES {
            let bound = large::lower_bound(&problem)?.value;
            return Ok(Optimum { lower_bound: bound / total, tight: false });
        }
        let solution = solve(&problem, settings)?;
        let solved = matches!(solution.status, Status::Optimal | Status::Gap);
        Ok(Optimum { lower_bound: solution.lower_bound / total, tight: solved && !relaxed })
    }

    fn is_whole_map(&self, city: &City) -> bool {
        self.rows.iter().copied().eq(PlaceId::all(city.places()))
    }

    /// The pairs of the notion among the rows, and whether some were left out.
    fn arcs(&self, city: &City, progress: &dyn Progress) -> (Vec<Arc>, bool) {
        // Coordinates are more than all pairs of places, so what these cost at least holds for them too.
        if self.notion.reach_km().is_infinite()
            && self.is_whole_map(city)
            && city.places() > COMPLETE_ROWS
        {
            let links = Spanner::greedy(city, STRETCH, progress).arcs.into_iter();
            let arc = |link: Link| Arc { i: link.i as usize, j: link.j as usize, d: link.km };
            return (links.map(arc).collect(), true);
        }
        let coords: Vec<Coord> =
            self.rows.iter().map(|place| city.coords()[place.index()]).collect();
        let reach_km = self.notion.reach_km();
        let near = SpatialIndex::new(&coords);
        let arcs = (0..coords.len()).flat_map(|i| {
            let others: Vec<(u32, f64)> = match reach_km.is_finite() {
                true => near.within(coords[i], reach_km),
                false => (0..coords.len() as u32)
                    .map(|j| (j, coords[i].distance_km(coords[j as usize])))
                    .collect(),
            };
            others.into_iter().filter(move |&(j, _)| j as usize > i).map(move |(j, d)| Arc {
                i,
                j: j as usize,
                d,
            })
        });
        (arcs.collect(), false)
    }
}

/// So many people tell what a mechanism costs on the street, to a few per cent.
const ASSESSED_PEOPLE: usize = 400;

/// Questions that were answered before are not solved again.
#[derive(Default)]
pub struct Answers {
    known: Vec<(Question, Optimum)>,
    people: Option<People>,
}

impl Answers {
    /// People on the streets of the city, drawn when they are asked for first.
    pub fn people(
        &mut self,
        city: &City,
        progress: &dyn Progress,
    ) -> Result<&People, MechanismError> {
        let people = match self.people.take() {
            Some(people) => people,
            None => People::draw(city, ASSESSED_PEOPLE, 1, progress)?,
        };
        Ok(self.people.insert(people))
    }

    /// The answer to a question, from memory where it was asked before.
    pub fn to(
        &mut self,
        question: Question,
        city: &City,
        settings: &Settings,
        progress: &dyn Progress,
    ) -> Result<Optimum, MechanismError> {
        if let Some((_, known)) = self.known.iter().find(|(asked, _)| *asked == question) {
            return Ok(*known);
        }
        let optimum = question.answer(city, settings, progress)?;
        self.known.push((question, optimum));
        Ok(optimum)
    }
}

/// How much each row counts, as in [`lrgeo_mechanism::expected_cost`]: by its prior, or evenly
/// where all priors are zero.
fn row_weights(city: &City, rows: &[PlaceId]) -> Vec<f64> {
    let weights: Vec<f64> = rows.iter().map(|i| city.prior()[i.index()]).collect();
    if weights.iter().all(|&p| p == 0.0) { vec![1.0; rows.len()] } else { weights }
}

fn weighted(city: &City, rows: &[PlaceId], weights: &[f64]) -> Result<DenseCost, MechanismError> {
    let mut cost = city.utility().losses(rows, &all(city));
    for (line, w) in cost.chunks_exact_mut(city.places()).zip(weights) {
        line.iter_mut().for_each(|c| *c *= w);
    }
    Ok(DenseCost::new(rows.len(), city.places(), cost)?)
}

fn all(city: &City) -> Vec<PlaceId> {
    PlaceId::all(city.places()).collect()
}
