//! What leaks besides the report, measured: the attacks of `lrgeo attack`. `lrgeo/attack.py` gives the results their types.

use lrgeo_client::policy::Policy;
use lrgeo_evaluation::attack::suite::{self, Journeys, Settings};
use lrgeo_evaluation::attack::targets::recover;
use lrgeo_evaluation::attack::trace::Effort;
use lrgeo_geo::PlaceId;
use lrgeo_mechanism::{Geography, Plan};
use pyo3::prelude::*;
use serde::Serialize;

use crate::map::Map;
use crate::mechanism::Mechanism;
use crate::refused;
use crate::work::{self, Callback};

/// Who is attacked: so many at random, likelier where the prior is larger, or people at these places.
#[derive(FromPyObject)]
pub enum Users {
    /// So many.
    Random(usize),
    /// These.
    At(Vec<u32>),
}

impl Users {
    fn places(self, places: &Geography, seed: u64) -> Vec<PlaceId> {
        match self {
            Self::Random(count) => suite::random_users(places, count, seed),
            Self::At(users) => users.into_iter().map(PlaceId::new).collect(),
        }
    }
}

fn plan(settings: &str, lr_radius_km: Option<f64>) -> PyResult<Plan> {
    let named = Settings::ALL.iter().find(|(_, name)| *name == settings);
    let (settings, _) = named.ok_or_else(|| refused("settings: must be practical or paper"))?;
    if lr_radius_km.is_some_and(|km| !(km > 0.0 && km.is_finite())) {
        return Err(refused("lr_radius_km: must be a positive number of kilometres"));
    }
    settings.plan(lr_radius_km).map_err(refused)
}

/// What serialises, as dicts and lists.
fn as_dicts<'py>(py: Python<'py>, value: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    let text = serde_json::to_string(value).map_err(refused)?;
    py.import("json")?.getattr("loads")?.call1((text,))
}

/// Names users from one upload of the paper's protocol, or from a tile.
#[pyfunction]
#[pyo3(signature = (city, settings, lr_radius_km, users, seed, progress))]
pub fn attack_upload<'py>(
    py: Python<'py>,
    city: &Map,
    settings: &str,
    lr_radius_km: Option<f64>,
    users: Users,
    seed: u64,
    progress: Callback<'_, 'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut plan = plan(settings, lr_radius_km)?;
    let found = work::finish(py, progress, |worker| {
        plan.solver = worker.settings(None, None);
        let city = city.city(worker)?;
        let users = users.places(&city, seed);
        suite::uploads(&city, &plan, &users, seed, worker)
    })?;
    let found = found.map_err(refused)?;
    as_dicts(py, &(found.attacks, found.tiles))
}

/// What uploads tell about anybody, computed.
#[pyfunction]
#[pyo3(signature = (city, settings, lr_radius_km, users, seed, progress))]
pub fn attack_upload_exact<'py>(
    py: Python<'py>,
    city: &Map,
    settings: &str,
    lr_radius_km: Option<f64>,
    users: Users,
    seed: u64,
    progress: Callback<'_, 'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut plan = plan(settings, lr_radius_km)?;
    let found = work::finish(py, progress, |worker| {
        plan.solver = worker.settings(None, None);
        let city = city.city(worker)?;
        let users = users.places(&city, seed);
        suite::exact_uploads(&city, &plan, &users, worker)
    })?;
    as_dicts(py, &found.map_err(refused)?)
}

/// Names users from repeated requests for circles of the cost table.
#[pyfunction]
#[pyo3(signature = (city, settings, lr_radius_km, counts, users, seed, progress))]
#[allow(clippy::too_many_arguments)]
pub fn attack_request<'py>(
    py: Python<'py>,
    city: &Map,
    settings: &str,
    lr_radius_km: Option<f64>,
    counts: Vec<usize>,
    users: Users,
    seed: u64,
    progress: Callback<'_, 'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let plan = plan(settings, lr_radius_km)?;
    let found = work::finish(py, progress, |worker| {
        let city = city.city(worker)?;
        let users = users.places(&city, seed);
        suite::requests(&city, &plan, &users, &counts, seed, worker)
    })?;
    as_dicts(py, &found.map_err(refused)?)
}

/// Recovers the targets from the cost table.
#[pyfunction]
#[pyo3(signature = (city, decoys, equations, seed, progress))]
pub fn attack_targets<'py>(
    py: Python<'py>,
    city: &Map,
    decoys: usize,
    equations: usize,
    seed: u64,
    progress: Callback<'_, 'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let found = work::finish(py, progress, |worker| {
        recover(city.streets(), decoys, equations, seed, worker)
    })?;
    as_dicts(py, &found.map_err(refused)?)
}

/// Names users from repeated reports, remembered or not.
#[pyfunction]
#[pyo3(signature = (mechanism, counts, users, seed, progress))]
pub fn attack_repeat<'py>(
    py: Python<'py>,
    mechanism: &Mechanism,
    counts: Vec<usize>,
    users: Users,
    seed: u64,
    progress: Callback<'_, 'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let (built, places) = (mechanism.built(), mechanism.places()?);
    let users = users.places(&places, seed);
    let found =
        work::finish(py, progress, |worker| suite::reports(built, &users, &counts, seed, worker))?;
    as_dicts(py, &found.map_err(refused)?)
}

/// Follows people who walk and drive.
#[pyfunction]
#[pyo3(signature = (mechanism, city, fixes, every_s, reuse_km, particles, misfit, users, seed, progress))]
#[allow(clippy::too_many_arguments)]
pub fn attack_trace<'py>(
    py: Python<'py>,
    mechanism: &Mechanism,
    city: &Map,
    fixes: usize,
    every_s: f64,
    reuse_km: Option<f64>,
    particles: Option<usize>,
    misfit: Option<f64>,
    users: Users,
    seed: u64,
    progress: Callback<'_, 'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let (built, places) = (mechanism.built(), mechanism.places()?);
    let users = users.places(&places, seed);
    let epsilon = built.guarantee.epsilon.value();
    let reuse_km = reuse_km.unwrap_or_else(|| Policy::default().reuse_radius_km(epsilon));
    let usual = Effort::default();
    let effort = Effort {
        particles: particles.unwrap_or(usual.particles),
        misfit: misfit.unwrap_or(usual.misfit),
    };
    let journeys = Journeys { fixes, every_seconds: every_s, reuse_km, effort };
    let found = work::finish(py, progress, |worker| {
        suite::journeys(built, city.streets(), &users, &journeys, seed, worker)
    })?;
    as_dicts(py, &found.map_err(refused)?)
}
