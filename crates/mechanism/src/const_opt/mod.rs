//! ConstOPT (Imola et al., UAI 2022; benchmark 4 of the paper): optimal near, exponential far.

use lrgeo_map::progress::Progress;
use lrgeo_optim::colgen;

use crate::mechanism::{Made, Mechanism};
use crate::programme::{Constraints, ensure_dense, square_matrix};
use crate::relevant::TieRule;
use crate::{City, Cover, Guarantee, MechanismError, Plan, Proof, RangeRule, Rows};

/// Entries within r_exp are free, all others `y_k exp(-eps d_ik / 2)`.
pub struct ConstOpt;

impl Mechanism for ConstOpt {
    fn name(&self) -> &'static str {
        "const-opt"
    }

    fn about(&self) -> &'static str {
        "optimal within r_exp, an exponential kernel beyond (ConstOPT)"
    }

    fn guarantee(&self, plan: &Plan) -> Guarantee {
        Guarantee { notion: plan.notion, epsilon: plan.epsilon, cover: Cover::WholeMap }
    }

    fn make(
        &self,
        city: &City,
        plan: &Plan,
        progress: &dyn Progress,
    ) -> Result<Made, MechanismError> {
        ensure_dense(city)?;
        let constraints = Constraints::new(city, plan, progress)?;
        // As a baseline its kernel has no range (spec section 4).
        let rule = TieRule {
            epsilon: constraints.epsilon,
            range: RangeRule::Each,
            exponential_km: plan.radii.exponential,
            obfuscation_km: f64::INFINITY,
        };
        let solution = colgen::solve(&constraints.tied(city, rule)?, &plan.settings(1e-6))?;
        let proof = Proof::of(&solution, city.prior().iter().sum());
        let rows = Rows::Dense(square_matrix(&solution)?);
        let mut notes = constraints.notes();
        notes.push(("r_exp", format!("{:.3} km", plan.radii.exponential)));
        Ok(Made {
            rows,
            proof: Some(proof),
            witness: constraints.witness(),
            notes,
            real_epsilon: None,
        })
    }
}
