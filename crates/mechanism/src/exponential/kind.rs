//! The exponential mechanism among the mechanisms.

use lrgeo_geo::PlaceId;
use lrgeo_map::progress::Progress;
use lrgeo_tiles::{Cover, Epsilon, Guarantee};

use super::real::{calibrate, real_epsilon};
use super::{Exponential, Score};
use crate::mechanism::{Made, Mechanism};
use crate::programme::ensure_dense;
use crate::{City, Exponent, MechanismError, Plan, Rows};

/// `z_ik` proportional to `exp(-a d_ik / 2)` or `exp(-a c_ik / 2)`.
pub struct ExpMech;

impl Mechanism for ExpMech {
    fn name(&self) -> &'static str {
        "exp"
    }

    fn about(&self) -> &'static str {
        "the exponential mechanism, by distance or by cost, calibrated to its real epsilon"
    }

    fn remaps_by_default(&self) -> bool {
        true
    }

    fn guarantee(&self, plan: &Plan) -> Guarantee {
        Guarantee { notion: plan.notion, epsilon: plan.epsilon, cover: Cover::WholeMap }
    }

    /// By cost and not calibrated nothing follows from the exponent; what it amounts to is measured
    /// and promised instead.
    fn promised(&self, plan: &Plan, made: &Made) -> Guarantee {
        let asked = self.guarantee(plan);
        let real = made.real_epsilon.unwrap_or(asked.epsilon);
        Guarantee { epsilon: if plan.calibrated { asked.epsilon } else { real }, ..asked }
    }

    fn make(&self, city: &City, plan: &Plan, _: &dyn Progress) -> Result<Made, MechanismError> {
        ensure_dense(city)?;
        let all: Vec<PlaceId> = PlaceId::all(city.places()).collect();
        let losses = |i: usize| city.utility().losses(&[all[i]], &all);
        let score = match plan.exponent {
            Exponent::Distance => Score::Distance,
            Exponent::Cost => Score::Cost(&losses),
        };
        let gamma_km = plan.notion.reach_km();
        let mechanism = match plan.calibrated {
            true => calibrate(city.coords(), score, plan.epsilon, gamma_km)?,
            false => Exponential::new(city.coords(), score, plan.epsilon),
        };
        let real = real_epsilon(&mechanism, gamma_km)?;
        let rows = Rows::Dense(mechanism.matrix()?);
        let what = match plan.exponent {
            Exponent::Distance => "distance",
            Exponent::Cost => "cost",
        };
        let text = format!(
            "{:.6}/km by {what}; its real epsilon is {real:.6}/km",
            mechanism.exponent().value()
        );
        let real_epsilon = Epsilon::per_km(real).ok();
        Ok(Made {
            rows,
            proof: None,
            witness: Vec::new(),
            floor: None,
            notes: vec![("exponent", text)],
            real_epsilon,
        })
    }
}
