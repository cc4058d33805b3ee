//! Maps: streets, places, and what a wrong report costs.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use lrgeo_geo::PlaceId;
use lrgeo_geo::units::Length;
use lrgeo_map::build::{MapPlan, PlacePlan, PriorPlan, TargetPlan, build};
use lrgeo_map::import::read_osm;
use lrgeo_map::map::{self, Source, TravelMode};
use lrgeo_map::progress::Progress;
use lrgeo_map::region::Region;
use lrgeo_map::utility::{LossMatrix, Utility, UtilityKind};
use lrgeo_mechanism::{City, MechanismError, Plan, by_name, import};
use lrgeo_tiles::{Epsilon, Notion, Privacy};
use numpy::{PyArray1, PyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::mechanism::Mechanism;
use crate::solve::{Matrix, matrix, numbers};
use crate::work::{self, Callback};
use crate::{refused, seconds};

/// A city: places on streets, where people are, where they go, and what a wrong report costs.
#[pyclass(frozen, module = "lrgeo")]
pub struct Map {
    map: map::Map,
    utility: UtilityKind,
    own: Option<Arc<LossMatrix>>,
    city: OnceLock<Arc<City>>,
}

impl Map {
    fn new(map: map::Map) -> Self {
        Self { map, utility: UtilityKind::default(), own: None, city: OnceLock::new() }
    }

    /// The map itself.
    pub fn streets(&self) -> &map::Map {
        &self.map
    }

    /// Measures what wrong reports cost, at the first call.
    pub fn city(&self, progress: &dyn Progress) -> Result<Arc<City>, MechanismError> {
        if let Some(city) = self.city.get() {
            return Ok(city.clone());
        }
        let (map, version) = (self.map.clone(), self.map.version());
        let city = match &self.own {
            Some(losses) => City::with_utility(map, version, losses.clone())?,
            None => City::new(map, version, self.utility, progress)?,
        };
        Ok(self.city.get_or_init(|| Arc::new(city)).clone())
    }
}

impl Map {
    /// How many places there are, if a matrix has a row and a column for each.
    fn square(&self, field: &str, matrix: &Matrix<'_>) -> PyResult<usize> {
        let places = self.map.places.len();
        match matrix.shape() == [places, places] {
            true => Ok(places),
            false => {
                Err(refused(format!("{field}: must be {places} x {places}, one row per place")))
            }
        }
    }
}

/// What turns places and reports into frames of pandas and geopandas.
pub fn frames(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    py.import("lrgeo._frames")
}

#[pymethods]
impl Map {
    /// Opens a file of `lrgeo map build`.
    #[staticmethod]
    fn open(path: PathBuf) -> PyResult<Self> {
        Ok(Self::new(map::Map::open(&path).map_err(refused)?.0))
    }

    /// The generated demo city.
    #[staticmethod]
    #[pyo3(signature = (cell_m = 500.0, *, seed = 1))]
    fn demo(cell_m: f64, seed: u64) -> PyResult<Self> {
        let cell = Length::from_m(cell_m).map_err(refused)?;
        Ok(Self::new(lrgeo_show::demo::demo_map(seed, cell).map_err(refused)?))
    }

    /// From an OpenStreetMap file (.osm.pbf), with cells of this side; `travel` is drive, walk or bike.
    #[staticmethod]
    #[pyo3(signature = (path, *, cell_m = 500.0, travel = "drive", targets = None, seed = 1, progress = None))]
    fn from_osm(
        py: Python<'_>,
        path: PathBuf,
        cell_m: f64,
        travel: &str,
        targets: Option<usize>,
        seed: u64,
        progress: Callback<'_, '_>,
    ) -> PyResult<Self> {
        let named = TravelMode::ALL.iter().find(|(_, name)| *name == travel);
        let &(travel, _) = named.ok_or_else(|| refused("travel: must be drive, walk or bike"))?;
        let cell = Length::from_m(cell_m).map_err(refused)?;
        let targets = match targets {
            Some(count) => TargetPlan::Random { count, seed },
            None => TargetPlan::Uniform,
        };
        let made = work::finish(py, progress, |worker| {
            let (streets, _) = read_osm(&path, travel, worker)?;
            let plan = MapPlan {
                source: Source::OpenStreetMap,
                travel,
                region: Region::Everything,
                places: PlacePlan::Grid(cell),
                snap: None,
                prior: PriorPlan::Uniform,
                targets,
            };
            build(streets, plan)
        })?;
        Ok(Self::new(made.map_err(refused)?.0))
    }

    /// The block of so many places around the middle, with the same costs.
    fn central(&self, places: usize) -> PyResult<Self> {
        if !(2..=self.map.places.len()).contains(&places) {
            return Err(refused(format!(
                "places: must lie between 2 and {}",
                self.map.places.len()
            )));
        }
        let block = self.map.central_block(places);
        let own = self.own.as_ref().map(|own| LossMatrix::new(places, own.losses(&block, &block)));
        Ok(Self {
            utility: self.utility,
            own: own.transpose().map_err(refused)?.map(Arc::new),
            ..Self::new(self.map.with_places(&block))
        })
    }

    /// The same with what a wrong report costs: travel-distance (km), travel-time (min), straight-line (km), or a matrix.
    fn with_utility(&self, utility: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut map = Self::new(self.map.clone());
        if let Ok(name) = utility.extract::<String>() {
            let named = UtilityKind::ALL.iter().find(|(_, known)| *known == name);
            let wrong = || {
                refused("utility: must be travel-distance, travel-time, straight-line or a matrix")
            };
            map.utility = named.ok_or_else(wrong)?.0;
            return Ok(map);
        }
        let losses: Matrix<'_> = utility.extract()?;
        let losses = LossMatrix::new(self.square("utility", &losses)?, numbers(losses));
        map.own = Some(Arc::new(losses.map_err(refused)?));
        Ok(map)
    }

    /// Writes it.
    fn save(&self, path: PathBuf) -> PyResult<String> {
        Ok(self.map.save(&path).map_err(refused)?.to_string())
    }

    /// Latitude and longitude of the places.
    #[getter]
    fn coords(&self, py: Python<'_>) -> PyResult<Py<PyArray2<f64>>> {
        let coords = self.map.places.iter().flat_map(|p| [p.coord.lat(), p.coord.lon()]);
        matrix(py, coords.collect(), 2)
    }

    /// What their source calls them.
    #[getter]
    fn ids(&self) -> Vec<String> {
        self.map.places.iter().map(|place| place.id.clone()).collect()
    }

    /// How likely a user is at each.
    #[getter]
    fn prior<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_vec(py, self.map.places.iter().map(|place| place.prior).collect())
    }

    /// Which version of the map.
    #[getter]
    fn version(&self) -> String {
        self.map.version().to_string()
    }

    /// What a report of k costs from i, without the prior: places x places.
    #[pyo3(signature = (*, progress = None))]
    fn losses(&self, py: Python<'_>, progress: Callback<'_, '_>) -> PyResult<Py<PyArray2<f64>>> {
        let measured = work::finish(py, progress, |worker| {
            self.city(worker).map(|city| city.utility().all())
        })?;
        matrix(py, measured.map_err(refused)?, self.map.places.len())
    }

    /// The places as a pandas frame: id, lat, lon, prior.
    fn places_frame<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        frames(slf.py())?.call_method1("places_frame", (slf,))
    }

    /// The places as a geopandas frame of points: id, prior.
    fn places_geoframe<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        frames(slf.py())?.call_method1("places_geoframe", (slf,))
    }

    /// Makes and verifies a mechanism: with `privacy`, words like "factor 2 within 300 m", a promise to people wherever they
    /// stand; with `epsilon`, in 1/km, one between places. Ctrl-C ends with the best so far.
    #[pyo3(signature = (kind = None, *, epsilon = None, privacy = None, gamma_km = None, users = None, gap = None, time_limit = None, progress = None))]
    #[allow(clippy::too_many_arguments)]
    fn build(
        &self,
        py: Python<'_>,
        kind: Option<&str>,
        epsilon: Option<f64>,
        privacy: Option<&str>,
        gamma_km: Option<f64>,
        users: Option<Vec<u32>>,
        gap: Option<f64>,
        time_limit: Option<f64>,
        progress: Callback<'_, '_>,
    ) -> PyResult<Mechanism> {
        let asked = match (epsilon, privacy) {
            (Some(epsilon), None) => Epsilon::per_km(epsilon).map_err(refused)?,
            (None, Some(words)) => words.parse::<Privacy>().map_err(refused)?.epsilon,
            _ => return Err(refused("epsilon: give epsilon or privacy, one of them")),
        };
        let default = if privacy.is_some() { "laplace" } else { "published" };
        let kind = by_name(kind.unwrap_or(default)).map_err(refused)?;
        let time_limit = seconds("time_limit", time_limit)?;
        let city = work::finish(py, progress, |worker| self.city(worker))?.map_err(refused)?;
        let mut plan = Plan::new(&city, asked);
        if let Some(gamma_km) = gamma_km {
            plan.notion = Notion::Within { gamma_km };
            plan.radii.relevant = plan.radii.relevant.max(gamma_km);
        }
        if privacy.is_some() {
            plan.notion = Notion::Coordinates;
        }
        plan.users = users.unwrap_or_default().into_iter().map(PlaceId::new).collect();
        plan.gap = gap;
        let built = work::solve(py, progress, |worker| {
            let plan = Plan { solver: worker.settings(time_limit, None), ..plan };
            lrgeo_mechanism::build(kind, &city, &plan, worker)
        })?;
        Ok(Mechanism::new(built.map_err(refused)?.into(), Some(city)))
    }

    /// A matrix of your own as a mechanism, verified: with an epsilon it must keep it, without its promise is the least that
    /// it keeps.
    #[pyo3(signature = (matrix, *, epsilon = None, gamma_km = None, progress = None))]
    fn import_matrix(
        &self,
        py: Python<'_>,
        matrix: Matrix<'_>,
        epsilon: Option<f64>,
        gamma_km: Option<f64>,
        progress: Callback<'_, '_>,
    ) -> PyResult<Mechanism> {
        self.square("matrix", &matrix)?;
        let values = numbers(matrix);
        let epsilon = epsilon.map(Epsilon::per_km).transpose().map_err(refused)?;
        let notion = gamma_km.map_or(Notion::AllPairs, |gamma_km| Notion::Within { gamma_km });
        let made = work::finish(py, progress, |worker| {
            let city = self.city(worker)?;
            Ok::<_, MechanismError>((import::import(&city, values, epsilon, notion, worker)?, city))
        })?;
        let (built, city) = made.map_err(refused)?;
        Ok(Mechanism::new(built.into(), Some(city)))
    }

    fn __len__(&self) -> usize {
        self.map.places.len()
    }

    fn __repr__(&self) -> String {
        format!(
            "Map({}, {} places, {})",
            self.map.source,
            self.map.places.len(),
            self.map.travel.name()
        )
    }
}
