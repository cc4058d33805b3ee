//! LP: the optimal mechanism over all places (OMG, Eq. 6-7 of the paper).

use lrgeo_map::progress::Progress;
use lrgeo_optim::{Status, solve};
use lrgeo_tiles::{Cover, Guarantee};

use crate::mechanism::{Made, Mechanism};
use crate::programme::{Constraints, ensure_dense, square_matrix};
use crate::{City, MechanismError, Plan, Proof, Rows};

/// The whole linear programme.
pub struct Lp;

impl Mechanism for Lp {
    fn name(&self) -> &'static str {
        "lp"
    }

    fn about(&self) -> &'static str {
        "the cheapest matrix over all places (OMG)"
    }

    fn guarantee(&self, plan: &Plan) -> Guarantee {
        Guarantee { notion: plan.notion, epsilon: plan.epsilon, cover: Cover::WholeMap }
    }

    fn can_be_stopped(&self) -> bool {
        true
    }

    fn make(
        &self,
        city: &City,
        plan: &Plan,
        progress: &dyn Progress,
    ) -> Result<Made, MechanismError> {
        ensure_dense(city)?;
        let constraints = Constraints::new(city, plan, progress)?;
        let problem = constraints.omg(city)?;
        let solution = solve(&problem, &constraints.settings(plan, 1e-6))?;
        let prior = city.prior().iter().sum();
        let proof = Proof::of(&solution, prior);
        let floor = match proof.status {
            Status::Limit => constraints.floor(&problem, plan, &solution, prior)?,
            _ => None,
        };
        let rows = Rows::Dense(square_matrix(&solution)?);
        let (witness, notes) = (constraints.witness(), constraints.notes());
        Ok(Made { rows, proof: Some(proof), witness, floor, notes, real_epsilon: None })
    }
}
