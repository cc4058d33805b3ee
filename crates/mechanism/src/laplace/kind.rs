//! Laplace among the mechanisms.

use lrgeo_map::progress::Progress;
use lrgeo_tiles::{Cover, Guarantee, Notion};

use super::Laplace;
use crate::mechanism::{Made, Mechanism};
use crate::programme::ensure_dense;
use crate::{City, MechanismError, Plan, Rows};

/// Planar Laplace noise, snapped to the nearest place, as a matrix.
pub struct PlanarLaplace;

impl Mechanism for PlanarLaplace {
    fn name(&self) -> &'static str {
        "laplace-places"
    }

    fn about(&self) -> &'static str {
        "planar Laplace noise around the place, snapped to the nearest place: the baseline of the paper"
    }

    fn remaps_by_default(&self) -> bool {
        true
    }

    fn guarantee(&self, plan: &Plan) -> Guarantee {
        Guarantee { notion: Notion::AllPairs, epsilon: plan.epsilon, cover: Cover::WholeMap }
    }

    fn make(&self, city: &City, plan: &Plan, _: &dyn Progress) -> Result<Made, MechanismError> {
        ensure_dense(city)?;
        let laplace = Laplace::new(city.coords(), plan.epsilon)?;
        let rows = Rows::Dense(laplace.matrix()?);
        let notes = vec![(
            "noise",
            format!(
                "at {:.6}/km: rounding and projection are charged to epsilon",
                laplace.charged().value()
            ),
        )];
        Ok(Made { rows, proof: None, witness: Vec::new(), floor: None, notes, real_epsilon: None })
    }
}
