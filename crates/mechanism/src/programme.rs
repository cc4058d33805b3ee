//! Linear programmes over the whole map, and what their solutions prove.

use lrgeo_geo::PlaceId;
use lrgeo_map::neighbours::NeighbourGraph;
use lrgeo_map::progress::Progress;
use lrgeo_optim::{Arc, Problem, ProblemParts, Settings, Solution, Ties};
use lrgeo_tiles::sample::FLOOR;
use lrgeo_tiles::{Epsilon, Notion};

use crate::plan::connecting_gamma;
use crate::relevant::TieRule;
use crate::spanner::{Link, Spanner};
use crate::{City, MechanismError, ObfuscationMatrix, Plan, Proof};

/// Up to here the all-pairs notion gets an arc for every pair, and loses nothing to a spanner.
const COMPLETE_PLACES: usize = 100;

/// Programmes are solved at an epsilon that is smaller by this part (`docs/specification.md` section 6): more than the
/// rounding of distances, of the solver and of the sampler together, at a cost of the same order.
const SHRINKAGE: f64 = 1e-8;

/// Part of the time that is left for a bound of the notion itself.
const FOR_FLOOR: f64 = 0.1;

/// The epsilon to solve at so that what comes out satisfies `epsilon` exactly.
pub fn shrunk(epsilon: Epsilon) -> Result<Epsilon, MechanismError> {
    Ok(Epsilon::per_km(epsilon.value() * (1.0 - SHRINKAGE))?)
}

/// The constraints of a notion over all places: arcs, and the epsilon to solve at.
pub struct Constraints {
    /// Each pair once.
    pub arcs: Vec<Arc>,
    /// Epsilon divided by the stretch of the arcs, and a little less.
    pub epsilon: Epsilon,
    /// How much longer than straight lines paths along the arcs are; 1 within gamma, whose promise
    /// is about the arcs alone.
    pub stretch: f64,
}

impl Constraints {
    /// The pairs within gamma, or a spanner of all pairs.
    pub fn new(city: &City, plan: &Plan, progress: &dyn Progress) -> Result<Self, MechanismError> {
        match plan.notion {
            Notion::Within { gamma_km } => {
                let graph = city.neighbours(gamma_km);
                ensure_connected(city, &graph, gamma_km, plan.allow_disconnected)?;
                let arcs = neighbour_arcs(&graph);
                Ok(Self { arcs, epsilon: shrunk(plan.epsilon)?, stretch: 1.0 })
            }
            // A programme is between places; whoever asks for more is refused before (`build`).
            Notion::AllPairs | Notion::Coordinates => {
                let spanner = match city.places() <= COMPLETE_PLACES {
                    true => Spanner::complete(city),
                    false => Spanner::greedy(city, plan.stretch, progress),
                };
                let epsilon = shrunk(Epsilon::per_km(plan.epsilon.value() / spanner.stretch)?)?;
                let arc = |link: Link| Arc { i: link.i as usize, j: link.j as usize, d: link.km };
                let arcs = spanner.arcs.into_iter().map(arc).collect();
                Ok(Self { arcs, epsilon, stretch: spanner.stretch })
            }
        }
    }

    /// The arcs as pairs of places.
    pub fn witness(&self) -> Vec<[PlaceId; 2]> {
        self.arcs.iter().map(|arc| [arc.i, arc.j].map(PlaceId::at)).collect()
    }

    /// What to tell people about them.
    pub fn notes(&self) -> Vec<(&'static str, String)> {
        let mut notes = vec![("arcs", self.arcs.len().to_string())];
        if self.stretch > 1.0 {
            let text = format!(
                "stretch {:.4}, so it was solved at {:.4}/km",
                self.stretch,
                self.epsilon.value()
            );
            notes.push(("spanner", text));
        }
        notes
    }

    /// The optimiser's settings. Where there is a limit and the arcs are stretched, a tenth of the time is left for [`Self::floor`].
    pub fn settings(&self, plan: &Plan, default_gap: f64) -> Settings {
        let mut settings = plan.settings(default_gap);
        if plan.deadline.is_some() && self.stretch > 1.0 {
            settings.time_limit = settings.time_limit.map(|limit| limit.mul_f64(1.0 - FOR_FLOOR));
        }
        settings
    }

    /// What no matrix of the notion costs less than, per report, whether or not it keeps to the arcs; `None` where
    /// nothing is known, or not in time.
    ///
    /// Without stretch the programme is the notion's own, and its bound holds. Else the programme on the arcs at the
    /// full epsilon relaxes the notion, and the duals of the one solved prove something about it.
    pub fn floor(
        &self,
        problem: &Problem,
        plan: &Plan,
        solution: &Solution,
        prior: f64,
    ) -> Result<Option<f64>, MechanismError> {
        let bound = match self.stretch > 1.0 {
            false => solution.lower_bound,
            true => {
                let relaxed = problem.with_epsilon(plan.epsilon.value())?;
                // Who cancels wants what there is; what it is worth belongs to that.
                let settings = Settings { cancel: None, ..plan.settings(0.0) };
                lower_bound(&relaxed, &solution.certificate.mu, &settings)?
            }
        };
        // Where the prior is uneven the quick bound may prove nothing.
        Ok((bound > 0.0).then_some(bound / prior))
    }

    /// The OMG of the paper (Eq. 6-7): every entry free.
    pub fn omg(&self, city: &City) -> Result<Problem, MechanismError> {
        self.problem(city, None)
    }

    /// ConstOPT: entries that Q does not leave free tied to an exponential kernel.
    pub fn tied(&self, city: &City, rule: &TieRule) -> Result<Problem, MechanismError> {
        let places = city.places();
        let pairs = PlaceId::all(places).flat_map(|i| PlaceId::all(places).map(move |k| (i, k)));
        let factors: Vec<Option<f64>> = pairs
            .map(|(i, k)| {
                let km = city.distance_km(i, k);
                rule.factor((i, k), km, km)
            })
            .collect();
        let ties = Ties::new(places, places, &factors)?;
        self.problem(city, Some(ties))
    }

    fn problem(&self, city: &City, ties: Option<Ties>) -> Result<Problem, MechanismError> {
        Ok(Problem::new(ProblemParts {
            epsilon: self.epsilon.value(),
            groups: Vec::new(),
            cost: city.cost()?,
            arcs: self.arcs.clone(),
            ties,
            bounds: Vec::new(),
            fixed_y: None,
        })?)
    }
}

/// The edges of the Geo-Ind graph, each once.
fn neighbour_arcs(graph: &NeighbourGraph) -> Vec<Arc> {
    let arcs = PlaceId::all(graph.len()).flat_map(|i| {
        let later = graph.neighbours(i).iter().filter(move |(j, _)| *j > i);
        later.map(move |&(j, d)| Arc { i: i.index(), j: j.index(), d })
    });
    arcs.collect()
}

/// Refuses a graph in parts, between which there would be no bound at all, unless asked for.
pub fn ensure_connected(
    city: &City,
    graph: &NeighbourGraph,
    gamma_km: f64,
    allowed: bool,
) -> Result<(), MechanismError> {
    let components = graph.components().iter().max().map_or(0, |&last| last as usize + 1);
    if components <= 1 || allowed {
        return Ok(());
    }
    let enough_km = connecting_gamma(city, gamma_km);
    Err(MechanismError::Disconnected { gamma_km, components, enough_km })
}

impl Proof {
    /// What a solution proves, per report: divided by the prior of its rows.
    pub fn of(solution: &Solution, row_prior: f64) -> Self {
        Self {
            status: solution.status,
            cost: solution.objective / row_prior,
            lower_bound: solution.lower_bound / row_prior,
            gap: solution.gap,
            iterations: solution.iterations,
            seconds: solution.seconds,
        }
    }
}

/// The matrix of a solution whose rows and columns are the places.
pub fn square_matrix(solution: &Solution) -> Result<ObfuscationMatrix, MechanismError> {
    let places = solution.z.rows();
    let mut entries = vec![0.0; places * places];
    for (row, out) in entries.chunks_exact_mut(places).enumerate() {
        solution.z.fill_row(row, out);
        settle(out, |_| true);
    }
    ObfuscationMatrix::new(places, entries)
}

/// How much of an entry may be added to it: far below what the shrinkage of epsilon leaves between rows.
const HARMLESS: f64 = 1e-10;

/// Makes a row of a strict matrix fit to be drawn from: every entry that is not zero is raised by the
/// constant [`FLOOR`] (a strict column is positive in every row or in none, so columns stay what they
/// were), and what the sum lacks goes to the largest entry that is free, so that no tie is touched.
///
/// Where all free entries are small, because the row reports tied places nearly always, even the little
/// that a sum lacks would be much for one of them. Then it is left: sums need not be better than 1e-9, and
/// drawing spreads it in proportion. The verifier sees what comes out.
pub fn settle(row: &mut [f64], is_free: impl Fn(usize) -> bool) {
    row.iter_mut().filter(|z| **z > 0.0).for_each(|z| *z += FLOOR);
    // Twice: adding up the corrected row may show another last bit.
    for _ in 0..2 {
        let missing = 1.0 - row.iter().sum::<f64>();
        let free = row.iter_mut().enumerate().filter(|(k, _)| is_free(*k));
        if let Some((_, largest)) = free.max_by(|a, b| a.1.total_cmp(b.1))
            && missing.abs() <= HARMLESS * *largest
        {
            *largest += missing;
        }
    }
}

/// More places than this are refused by the mechanisms that keep whole matrices.
pub(crate) const LARGEST_DENSE: usize = 5_000;

/// What duals prove about a programme, in time; nothing (zero) without the engine of large maps.
#[cfg(feature = "parallel")]
fn lower_bound(
    problem: &Problem,
    duals: &[f64],
    settings: &Settings,
) -> Result<f64, MechanismError> {
    Ok(lrgeo_optim::large::lower_bound_within(problem, duals, settings)?.value)
}

#[cfg(not(feature = "parallel"))]
fn lower_bound(_: &Problem, _: &[f64], _: &Settings) -> Result<f64, MechanismError> {
    Ok(0.0)
}

/// Refuses maps that are too large for a mechanism that keeps a K x K matrix.
pub fn ensure_dense(city: &City) -> Result<(), MechanismError> {
    if city.places() <= LARGEST_DENSE {
        return Ok(());
    }
    Err(MechanismError::Map(lrgeo_map::MapError::TooLarge {
        what: "places of a mechanism with a whole matrix",
        asked: city.places() as u64,
        limit: LARGEST_DENSE as u64,
        advice: "use the kind `published`, or a coarser map",
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_sum_lacks_never_changes_a_small_entry() {
        // Free entries are tiny, all else is tied: a round in which others decide about the places near this row.
        let lacking = 1e-11;
        let row = [1e-12, 2e-12, 0.4, 0.6 - 3e-12 - lacking, 0.0];
        let mut settled = row;
        settle(&mut settled, |k| k < 2);
        let raised = row.map(|z| if z > 0.0 { z + FLOOR } else { 0.0 });
        assert_eq!(settled, raised);
        // With a free entry that can bear it, the sum is one.
        let mut settled = row;
        settle(&mut settled, |k| k <= 2);
        assert_eq!(settled.iter().sum::<f64>(), 1.0);
        assert!((settled[2] - 0.4 - lacking).abs() < 1e-12);
        assert_eq!(settled[..2], raised[..2]);
    }
}
