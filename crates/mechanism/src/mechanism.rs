//! The one interface of all mechanisms, and the list of them.

use lrgeo_geo::PlaceId;
use lrgeo_map::progress::Progress;
use lrgeo_tiles::{Guarantee, Notion};

use crate::stand_in::{self, Candidate};
use crate::verify::Verified;
use crate::{Built, City, MechanismError, Plan, remap};

/// A kind of mechanism: what it promises, and how it is made.
///
/// Adding one is a folder that implements this and a line in [`REGISTRY`]; `docs/adding-a-mechanism.md`
/// walks through it.
pub trait Mechanism: Sync {
    /// Its name in options and files.
    fn name(&self) -> &'static str;

    /// One line for people.
    fn about(&self) -> &'static str;

    /// What a mechanism made by this plan will promise.
    fn guarantee(&self, plan: &Plan) -> Guarantee;

    /// What was made promises; differs from [`Mechanism::guarantee`] only where a mechanism says
    /// that its real epsilon is another one.
    fn promised(&self, plan: &Plan, _: &Made) -> Guarantee {
        self.guarantee(plan)
    }

    /// Whether its promise is between any two coordinates, wherever people stand, rather than between places.
    fn is_for_coordinates(&self) -> bool {
        false
    }

    /// Whether its reports are replaced by the best ones ([`crate::remap`]) where the plan does not say. Optima have nothing to gain.
    fn remaps_by_default(&self) -> bool {
        false
    }

    /// Whether it is made for the users of a round rather than for the whole map.
    fn per_user(&self) -> bool {
        false
    }

    /// Whether an optimiser makes it, which a time limit or a cancellation may stop before it is good. Then [`build`]
    /// makes what needs no optimiser as well, and takes the cheapest: see [`crate::stand_in`].
    fn can_be_stopped(&self) -> bool {
        false
    }

    /// Makes it. The rows that come back are verified against [`Mechanism::promised`] by
    /// [`build`], not trusted.
    fn make(
        &self,
        city: &City,
        plan: &Plan,
        progress: &dyn Progress,
    ) -> Result<Made, MechanismError>;
}

/// What a mechanism's folder hands back.
pub struct Made {
    /// The rows.
    pub rows: crate::Rows,
    /// What the optimiser proved, where there was one.
    pub proof: Option<crate::Proof>,
    /// Pairs of places whose bounds, chained along paths, prove all others: how a large map is
    /// verified. Empty where every pair is looked at.
    pub witness: Vec<[PlaceId; 2]>,
    /// No matrix that keeps the guarantee at the epsilon that programmes are solved at ([`crate::programme::shrunk`])
    /// costs less per report, whether or not it is one of the programme; `None` where that is not known.
    pub floor: Option<f64>,
    /// What to know about it, for people: the radii used, the real epsilon, what was left out.
    pub notes: Vec<(&'static str, String)>,
    /// The epsilon that the rows really have, where that is not the one asked for.
    pub real_epsilon: Option<lrgeo_tiles::Epsilon>,
}

/// Every mechanism, in the order in which they are listed.
pub const REGISTRY: &[&dyn Mechanism] = &[
    &crate::lp::Lp,
    &crate::lr_geo::LrGeo { fully_connected: false },
    &crate::lr_geo::LrGeo { fully_connected: true },
    &crate::const_opt::ConstOpt,
    &crate::coordinates::CoordinateLaplace,
    &crate::laplace::PlanarLaplace,
    &crate::exponential::ExpMech,
    &crate::published::Published,
];

/// The mechanism of that name.
pub fn by_name(name: &str) -> Result<&'static dyn Mechanism, MechanismError> {
    REGISTRY.iter().copied().find(|kind| kind.name() == name).ok_or_else(|| {
        let names: Vec<&str> = REGISTRY.iter().map(|kind| kind.name()).collect();
        MechanismError::invalid("kind", format!("`{name}` is none of {}", names.join(", ")))
    })
}

/// Checks the plan, makes the mechanism and verifies it; one that fails is not returned.
///
/// A time limit is for all of this, and the cheapest that was found by then is returned, whoever made it.
pub fn build(
    kind: &dyn Mechanism,
    city: &City,
    plan: &Plan,
    progress: &dyn Progress,
) -> Result<Verified, MechanismError> {
    plan.check(city)?;
    if kind.per_user() && plan.users.is_empty() {
        let reason = format!("{} is made for users; say where they are in `users`", kind.name());
        return Err(MechanismError::invalid("users", reason));
    }
    if plan.notion == Notion::Coordinates && !kind.is_for_coordinates() {
        return Err(not_for_coordinates(kind, city, plan)?);
    }
    let candidates = match kind.can_be_stopped() {
        true => stand_in::candidates(kind, city, plan, progress)?,
        false => vec![Candidate { made: made(kind, city, plan, progress)?, cost: None }],
    };
    let mut refused = MechanismError::NotPrivate { worst_log_excess: f64::INFINITY };
    for Candidate { made, cost } in candidates {
        match Verified::new(Built::new(kind, city, plan, made, cost), progress) {
            Ok(verified) => return Ok(verified),
            Err(error) => refused = error,
        }
    }
    Err(refused)
}

/// Why a promise to people is refused, and what would keep it.
fn not_for_coordinates(
    kind: &dyn Mechanism,
    city: &City,
    plan: &Plan,
) -> Result<MechanismError, MechanismError> {
    let radius_km = std::f64::consts::LN_2 / plan.epsilon.value();
    let reach_km = lrgeo_geo::spacing::reach_km(city.spacing_km());
    let between_places = std::f64::consts::LN_2 / (radius_km + 2.0 * reach_km);
    Ok(MechanismError::NotForCoordinates {
        kind: kind.name(),
        radius_m: 1000.0 * radius_km,
        spacing_m: 1000.0 * city.spacing_km(),
        between_places: lrgeo_tiles::Epsilon::per_km(between_places)?,
    })
}

/// What a kind makes, remapped where the plan or the kind says so.
pub(crate) fn made(
    kind: &dyn Mechanism,
    city: &City,
    plan: &Plan,
    progress: &dyn Progress,
) -> Result<Made, MechanismError> {
    let mut made = kind.make(city, plan, progress)?;
    if plan.remap.unwrap_or_else(|| kind.remaps_by_default()) {
        let (rows, moved) = remap::remapped(city, made.rows, progress)?;
        made.rows = rows;
        if moved > 0 {
            made.notes.push(("remapped", format!("{moved} reports replaced by cheaper ones")));
        }
    }
    Ok(made)
}
