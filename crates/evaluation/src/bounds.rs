//! How near LR-Geo is to the best: Theorems 4.6 and 4.7 of the paper.
//!
//! Both speak of the same rows: all relevant places of all users. With `R(c)` the relaxed programme
//! (each user's rows on their own, every place free) and `CLR(c)` the one that is solved,
//! `R(c_tilde) <= R(c) <= CLR(c) <= CLR(c_hat)`: fewer constraints cost less, and
//! `c_tilde <= c <= c_hat` entry by entry (Lemmas B.1, B.2).

use lrgeo_geo::PlaceId;
use lrgeo_map::progress::Progress;
use lrgeo_map::table::Division;
use lrgeo_mechanism::rows::{Round, UserMatrix};
use lrgeo_mechanism::{Built, City, MechanismError, Rows};
use lrgeo_optim::{Arc, DenseCost, Problem, ProblemParts, Settings, solve};
use lrgeo_tiles::Epsilon;

/// The best cost of the relevant rows of a round lies between these. Per report.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostBounds {
    /// Theorem 4.6: what CLR-Geo costs with the estimates `c_hat`.
    pub upper: f64,
    /// Theorem 4.7: what the relaxed LR-Geo costs with the estimates `c_tilde`.
    pub lower: f64,
}

impl CostBounds {
    /// The approximation ratio; infinite where nothing is known from below.
    pub fn ratio(&self) -> f64 {
        self.upper / self.lower
    }
}

/// Which costs the relaxed programme has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Costs {
    /// The tables' estimates from below, `c_tilde`, with these cells.
    Lower(Division),
    /// The true ones, `c`: not known to any user, but to whoever evaluates.
    True,
}

/// Both bounds of a mechanism made per user; `None` for the others.
pub fn cost_bounds(
    built: &Built,
    city: &City,
    division: Division,
    settings: &Settings,
    progress: &dyn Progress,
) -> Result<Option<CostBounds>, MechanismError> {
    let (Rows::Users(round), Some(proof)) = (&built.rows, &built.proof) else { return Ok(None) };
    let reach_km = built.guarantee.notion.reach_km();
    let epsilon = built.guarantee.epsilon;
    let costs = Costs::Lower(division);
    let lower = relaxed(round, city, epsilon, reach_km, costs, settings, progress)?;
    Ok(Some(CostBounds { upper: proof.cost, lower }))
}

/// A proven lower bound of the relaxed LR-Geo (Eq. 29-30) per report: one untied programme per
/// user over its relevant rows, all places free.
pub fn relaxed(
    round: &Round,
    city: &City,
    epsilon: Epsilon,
    reach_km: f64,
    costs: Costs,
    settings: &Settings,
    progress: &dyn Progress,
) -> Result<f64, MechanismError> {
    let all: Vec<PlaceId> = PlaceId::all(city.places()).collect();
    let tables = match costs {
        Costs::Lower(division) => city.tables(division, progress)?,
        Costs::True => Vec::new(),
    };
    progress.begin("lower bound of Theorem 4.7", round.users.len() as u64);
    let (mut total, mut weight) = (0.0, 0.0);
    for user in &round.users {
        let prior: Vec<f64> = user.relevant.iter().map(|i| city.prior()[i.index()]).collect();
        weight += prior.iter().sum::<f64>();
        // Of a city with one way all go it.
        let shares = if user.shares.is_empty() { &[1.0][..] } else { &user.shares };
        let mut cost = vec![0.0; user.relevant.len() * all.len()];
        for (way, share) in shares.iter().enumerate() {
            let losses = match tables.get(way) {
                Some(table) => table.lower(&user.relevant, &all),
                None => city.ways()[way].utility().losses(&user.relevant, &all),
            };
            cost.iter_mut().zip(losses).for_each(|(sum, loss)| *sum += share * loss);
        }
        for (line, p) in cost.chunks_exact_mut(all.len()).zip(&prior) {
            line.iter_mut().for_each(|c| *c *= p);
        }
        // Without weight or cost the bound is zero, and there is nothing to solve.
        if cost.iter().any(|c| *c > 0.0) {
            let cost = DenseCost::new(user.relevant.len(), all.len(), cost)?;
            let arcs = arcs(user, city, reach_km);
            let problem = Problem::new(ProblemParts::untied(epsilon.value(), cost, arcs))?;
            total += solve(&problem, settings)?.lower_bound;
        }
        progress.advance(1);
    }
    progress.end();
    Ok(if weight > 0.0 { total / weight } else { 0.0 })
}

fn arcs(user: &UserMatrix, city: &City, reach_km: f64) -> Vec<Arc> {
    let mut arcs = Vec::new();
    for (i, &a) in user.relevant.iter().enumerate() {
        for (j, &b) in user.relevant.iter().enumerate().take(i) {
            let d = city.distance_km(a, b);
            if d <= reach_km {
                arcs.push(Arc { i, j, d });
            }
        }
    }
    arcs
}
