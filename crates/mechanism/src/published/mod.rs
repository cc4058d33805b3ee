//! The mechanism that is published for everybody: near-optimal over the whole map, private between
//! all pairs, from a hundred places to tens of thousands (spec section 9).

use lrgeo_map::progress::Progress;
use lrgeo_optim::{Solution, colgen, large};

use crate::mechanism::{Made, Mechanism};
use crate::programme::{Constraints, square_matrix};
use crate::rows::SparseMatrix;
use crate::{City, Cover, Guarantee, MechanismError, Notion, Plan, Proof, Rows};

/// One mechanism for everybody.
pub struct Published {
    /// Up to here the dense engine; above, the one whose memory is linear in the places.
    pub largest_dense: usize,
}

impl Published {
    /// As it is listed.
    pub const DEFAULT: Self = Self { largest_dense: 2_000 };
}

impl Mechanism for Published {
    fn name(&self) -> &'static str {
        "published"
    }

    fn about(&self) -> &'static str {
        "near-optimal for the whole map, every pair, to be published in tiles (the default)"
    }

    fn guarantee(&self, plan: &Plan) -> Guarantee {
        Guarantee { notion: Notion::AllPairs, epsilon: plan.epsilon, cover: Cover::WholeMap }
    }

    fn make(
        &self,
        city: &City,
        plan: &Plan,
        progress: &dyn Progress,
    ) -> Result<Made, MechanismError> {
        let plan = Plan { notion: Notion::AllPairs, ..plan.clone() };
        let constraints = Constraints::new(city, &plan, progress)?;
        let problem = constraints.omg(city)?;
        let prior = city.prior().iter().sum();
        let (rows, solution) = if city.places() <= self.largest_dense {
            let solution = colgen::solve(&problem, &plan.settings(1e-3))?;
            (Rows::Dense(square_matrix(&solution)?), solution)
        } else {
            let (solution, sparse) = large::solve_sparse(&problem, &plan.settings(2e-2))?;
            (Rows::Sparse(SparseMatrix::from(&*sparse)), solution)
        };
        let proof = Proof::of(&solution, prior);
        let mut notes = constraints.notes();
        if constraints.stretch > 1.0
            && let Some(price) = price(&constraints, city, &plan, &solution, prior)?
        {
            notes.push(("price of the spanner", price));
        }
        Ok(Made {
            rows,
            proof: Some(proof),
            witness: constraints.witness(),
            notes,
            real_epsilon: None,
        })
    }
}

/// How far the matrix can be from the best one of the all-pairs notion itself: the programme on the
/// arcs at the full epsilon relaxes that notion, so its lower bound holds there.
fn price(
    constraints: &Constraints,
    city: &City,
    plan: &Plan,
    solution: &Solution,
    prior: f64,
) -> Result<Option<String>, MechanismError> {
    let relaxed = constraints.omg(city)?.with_epsilon(plan.epsilon.value())?;
    let bound = large::lower_bound_from(&relaxed, &solution.certificate.mu)?.value / prior;
    let cost = solution.objective / prior;
    let lost = 100.0 * (cost - bound) / cost;
    let text = format!(
        "no all-pairs matrix at {} costs less than {bound:.6}, {lost:.2} % below this one",
        plan.epsilon
    );
    // Where the prior is uneven the quick bound may prove nothing.
    Ok((bound > 0.0).then_some(text))
}
