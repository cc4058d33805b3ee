//! The mechanism that is published for everybody: near-optimal over the whole map, private between
//! all pairs, from a hundred places to tens of thousands (`docs/specification.md` section 9).

use lrgeo_map::progress::Progress;
use lrgeo_optim::solve;
use lrgeo_tiles::{Cover, Guarantee, Notion};

use crate::mechanism::{Made, Mechanism};
use crate::programme::{Constraints, square_matrix};
use crate::rows::raised;
use crate::{City, MechanismError, Plan, Proof, Rows};

/// One mechanism for everybody.
pub struct Published;

/// Up to so many places a tenth of a per cent is asked for, above 1.2: what is left to win there takes too long. With what the spanner costs that is
/// within 1 % and 2 % of the best all-pairs matrix.
const LARGEST_TIGHT: usize = 2_000;

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

    fn can_be_stopped(&self) -> bool {
        true
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
        let gap = if city.places() <= LARGEST_TIGHT { 1e-3 } else { 1.2e-2 };
        let solution = solve(&problem, &constraints.settings(&plan, gap))?;
        let rows = match solution.z.as_sparse() {
            Some(sparse) => Rows::Sparse(raised(sparse)),
            None => Rows::Dense(square_matrix(&solution)?),
        };
        let proof = Proof::of(&solution, prior);
        let mut notes = constraints.notes();
        let floor = constraints.floor(&problem, &plan, &solution, prior)?;
        if let Some(bound) = floor.filter(|_| constraints.stretch > 1.0) {
            let lost = 100.0 * (proof.cost - bound) / proof.cost;
            let text = format!(
                "no all-pairs matrix at {} costs less than {bound:.6}, {lost:.2} % below this one",
                plan.epsilon
            );
            notes.push(("price of the spanner", text));
        }
        Ok(Made {
            rows,
            proof: Some(proof),
            witness: constraints.witness(),
            floor,
            notes,
            real_epsilon: None,
        })
    }
}
