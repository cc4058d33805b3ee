//! ConstOPT (Imola et al., UAI 2022; benchmark 4 of the paper): optimal near, exponential far.

use lrgeo_map::progress::Progress;
use lrgeo_optim::solve;
use lrgeo_tiles::{Cover, Epsilon, Guarantee};

use crate::mechanism::{Made, Mechanism};
use crate::programme::{Constraints, ensure_dense, square_matrix};
use crate::relevant::TieRule;
use crate::verify::every_pair;
use crate::{City, MechanismError, Plan, Proof, RangeRule, Rows};

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
        // As a baseline its kernel has no range (`docs/specification.md` section 4).
        let rule = TieRule {
            epsilon: constraints.epsilon,
            range: RangeRule::Each,
            obfuscation_km: f64::INFINITY,
            ..TieRule::of(plan, city)?
        };
        let solution = solve(&constraints.tied(city, &rule)?, &plan.settings(1e-6))?;
        let proof = Proof::of(&solution, city.prior().iter().sum());
        let rows = Rows::Dense(square_matrix(&solution)?);
        let mut notes = constraints.notes();
        notes.push(("r_exp", format!("{:.3} km", plan.radii.exponential)));
        Ok(Made {
            rows,
            proof: Some(proof),
            witness: constraints.witness(),
            // Other matrices of the notion need not be tied, and may cost less than any of the programme.
            floor: None,
            notes,
            real_epsilon: None,
        })
    }
}

/// The y that a server publishes, so that a phone can solve its own programme alone (`docs/specification.md` section 9,
/// `local`).
#[derive(Clone, Debug, PartialEq)]
pub struct PublicY {
    /// One per place.
    pub y: Vec<f64>,
    /// What was proven about the ConstOPT that it comes from.
    pub proof: Proof,
}

/// ConstOPT is solved at an epsilon smaller by this part, with the users' own kernel: what a phone
/// cuts out of it then fulfils the phone's constraints with room to spare, so that rounding never
/// leaves a programme without a solution.
const SPARE: f64 = 1e-4;

/// ConstOPT over the whole map with the users' r_exp and r_obf, verified; its y. Restricted to the
/// relevant places of any user, its matrix is feasible, so every user's programme has a solution.
pub fn public_y(
    city: &City,
    plan: &Plan,
    progress: &dyn Progress,
) -> Result<PublicY, MechanismError> {
    ensure_dense(city)?;
    let mut constraints = Constraints::new(city, plan, progress)?;
    constraints.epsilon = Epsilon::per_km(constraints.epsilon.value() * (1.0 - SPARE))?;
    let rule = TieRule { range: RangeRule::Each, ..TieRule::of(plan, city)? };
    let solution = solve(&constraints.tied(city, &rule)?, &plan.settings(1e-4))?;
    let rows = Rows::Dense(square_matrix(&solution)?);
    let reach_km = plan.notion.reach_km();
    let finding = every_pair(&rows, city.coords(), plan.epsilon, reach_km, progress);
    if !finding.is_private() {
        return Err(MechanismError::NotPrivate { worst_log_excess: finding.worst_log_excess });
    }
    let proof = Proof::of(&solution, city.prior().iter().sum());
    Ok(PublicY { y: solution.y, proof })
}
