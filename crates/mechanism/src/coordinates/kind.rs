//! Laplace noise for coordinates among the mechanisms.

use lrgeo_map::progress::Progress;
use lrgeo_tiles::verify::coordinates::account;
use lrgeo_tiles::{Cover, Guarantee, Notion};

use super::noise_for;
use crate::mechanism::{Made, Mechanism};
use crate::{City, MechanismError, Plan, Rows};

/// Laplace noise around the coordinate itself, reported as the place that costs least.
pub struct CoordinateLaplace;

impl Mechanism for CoordinateLaplace {
    fn name(&self) -> &'static str {
        "laplace"
    }

    fn about(&self) -> &'static str {
        "Laplace noise around the coordinate, each outcome reported as the best place: private wherever people stand"
    }

    fn is_for_coordinates(&self) -> bool {
        true
    }

    fn guarantee(&self, plan: &Plan) -> Guarantee {
        Guarantee { notion: Notion::Coordinates, epsilon: plan.epsilon, cover: Cover::WholeMap }
    }

    fn make(
        &self,
        city: &City,
        plan: &Plan,
        progress: &dyn Progress,
    ) -> Result<Made, MechanismError> {
        let noise = noise_for(city, plan.epsilon, progress)?;
        let proven = account(&noise);
        let lattice = &noise.lattice;
        let notes = vec![
            (
                "noise",
                format!(
                    "at {:.6}/km on {} points {:.1} m apart; ripple {:.1e}, border {:.1e}, plane {:.1e}, rounding {:.1e} of it",
                    proven.noise,
                    lattice.points(),
                    1000.0 * lattice.spacing_km,
                    proven.ripple / proven.noise,
                    proven.border / proven.noise,
                    proven.stretch - 1.0,
                    proven.rounding / proven.noise
                ),
            ),
            ("proven", format!("{:.6}/km between any two coordinates", proven.epsilon())),
        ];
        let rows = Rows::Noise(noise);
        Ok(Made { rows, proof: None, witness: Vec::new(), floor: None, notes, real_epsilon: None })
    }
}
