//! Mechanisms: what a place, or a coordinate, reports.

use std::cell::OnceCell;
use std::path::PathBuf;
use std::sync::Arc;

use lrgeo_evaluation::optimum::Answers;
use lrgeo_evaluation::{Assessment, assess};
use lrgeo_geo::index::SpatialIndex;
use lrgeo_geo::spacing::{reach_km, spacing_km};
use lrgeo_geo::{Coord, PlaceId};
use lrgeo_mechanism::verify::Examined;
use lrgeo_mechanism::{Built, City, Geography, MechanismError, Plan, Rows};
use lrgeo_tiles::DrawError;
use lrgeo_tiles::sample::{ManyDraws, SeededRandomness, Urn};
use numpy::{AllowTypeChange, PyArray1, PyArray2, PyArrayLike1, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::map::{Map, frames};
use crate::refused;
use crate::solve::matrix;
use crate::work::{self, Callback};

/// What somebody reports, row by row, and what that promises.
#[pyclass(frozen, module = "lrgeo")]
pub struct Mechanism {
    built: Examined,
    city: Option<Arc<City>>,
    index: SpatialIndex,
    reach_km: f64,
}

impl Mechanism {
    /// A mechanism, with the city that it was made for where that is known.
    pub fn new(built: Examined, city: Option<Arc<City>>) -> Self {
        let index = SpatialIndex::new(&built.coords);
        let reach_km = reach_km(spacing_km(&built.coords).unwrap_or(f64::INFINITY));
        Self { built, city, index, reach_km }
    }

    fn place_at(&self, at: Coord) -> Option<PlaceId> {
        let near = self.index.nearest(at).filter(|(_, km)| *km <= self.reach_km);
        near.map(|(place, _)| PlaceId::new(place))
    }

    /// What was built.
    pub fn built(&self) -> &Built {
        &self.built
    }

    /// Where its places are and how likely each is.
    pub fn places(&self) -> PyResult<Geography> {
        let Built { coords, prior, .. } = &*self.built;
        Geography::new(coords.clone(), prior.clone()).map_err(refused)
    }
}

/// Draws for many people, the row of each place being made once.
struct Drawing<'a> {
    from: &'a Mechanism,
    seeded: Option<SeededRandomness>,
    many: ManyDraws,
    /// By place; `None` once it is known that a place has no row.
    urns: Vec<OnceCell<Option<Urn>>>,
}

impl<'a> Drawing<'a> {
    fn new(from: &'a Mechanism, seed: Option<u64>) -> Self {
        let seeded = seed.map(SeededRandomness::new);
        let urns = vec![OnceCell::new(); from.built.coords.len()];
        Self { from, seeded, many: ManyDraws::default(), urns }
    }

    /// The place that somebody reports; -1 off the map.
    fn report(&mut self, at: Option<Coord>) -> Result<i64, DrawError> {
        let Some(at) = at else { return Ok(-1) };
        if let Rows::Noise(noise) = &self.from.built.rows {
            // Every coordinate has a distribution of its own.
            let Some(row) = noise.row_at(at) else { return Ok(-1) };
            return pick(&mut self.seeded, &mut self.many, &Urn::new(&row)?);
        }
        let Some(place) = self.from.place_at(at) else { return Ok(-1) };
        let slot = &mut self.urns[place.index()];
        if slot.get().is_none() {
            let row = self.from.built.row(place);
            let urn = row.map(|row| Urn::new(&row)).transpose()?;
            *slot = OnceCell::from(urn);
        }
        match slot.get() {
            Some(Some(urn)) => pick(&mut self.seeded, &mut self.many, urn),
            _ => Ok(-1),
        }
    }
}

fn pick(
    seeded: &mut Option<SeededRandomness>,
    many: &mut ManyDraws,
    urn: &Urn,
) -> Result<i64, DrawError> {
    match seeded {
        Some(seeded) => Ok(urn.rehearse(seeded) as i64),
        None => Ok(urn.draw_one_of(many)? as i64),
    }
}

/// Numbers, or what numpy makes an array of.
type Numbers<'py> = PyArrayLike1<'py, f64, AllowTypeChange>;

/// So many coordinates are read at a time, with the interpreter's lock; then they are worked on without it. What others
/// write into the arrays meanwhile is read or not, and nothing is copied as a whole.
const PART: usize = 1 << 16;

/// Hands the coordinates to `take`, part by part; `None` stands for what is none. Ctrl-C is raised in between.
fn for_each_part(
    py: Python<'_>,
    lat: &Numbers<'_>,
    lon: &Numbers<'_>,
    mut take: impl FnMut(&[Option<Coord>]) -> PyResult<()> + Send,
) -> PyResult<()> {
    let (lat, lon) = (lat.as_array(), lon.as_array());
    if lat.len() != lon.len() {
        return Err(refused("lat, lon: must be equally long"));
    }
    let mut part = Vec::with_capacity(PART.min(lat.len()));
    let mut pairs = lat.iter().zip(&lon);
    loop {
        let coord = |(&lat, &lon): (&f64, &f64)| Coord::new(lat, lon).ok();
        part.clear();
        part.extend(pairs.by_ref().take(PART).map(coord));
        if part.is_empty() {
            return Ok(());
        }
        py.detach(|| take(&part))?;
        py.check_signals()?;
    }
}

#[pymethods]
impl Mechanism {
    /// Opens a file of `lrgeo mechanism build` and verifies it; with the map that it was made for it can be evaluated.
    #[staticmethod]
    #[pyo3(signature = (path, city = None, *, progress = None))]
    fn open(
        py: Python<'_>,
        path: PathBuf,
        city: Option<&Map>,
        progress: Callback<'_, '_>,
    ) -> PyResult<Self> {
        let (built, _) = Built::open(&path).map_err(refused)?;
        if let Some(city) = city {
            built.expect_map(city.streets().version()).map_err(refused)?;
        }
        let opened = work::finish(py, progress, |worker| {
            let city = city.map(|city| city.city(worker)).transpose()?;
            Ok::<_, MechanismError>(Self::new(Examined::new(built, worker), city))
        })?;
        opened.map_err(refused)
    }

    /// Writes it.
    fn save(&self, path: PathBuf) -> PyResult<String> {
        Ok(self.built.save(&path).map_err(refused)?.to_string())
    }

    /// lp, published, laplace, own, ..
    #[getter]
    fn kind(&self) -> &str {
        &self.built.kind
    }

    /// The epsilon that it promises, in 1/km.
    #[getter]
    fn epsilon(&self) -> f64 {
        self.built.guarantee.epsilon.value()
    }

    /// The promise in words.
    #[getter]
    fn guarantee(&self) -> String {
        self.built.guarantee.to_string()
    }

    /// What a report costs between places.
    #[getter]
    fn expected_cost(&self) -> f64 {
        self.built.expected_cost
    }

    /// The unit of costs.
    #[getter]
    fn unit(&self) -> &str {
        &self.built.unit
    }

    /// What was proven: no matrix of its programme costs less.
    #[getter]
    fn lower_bound(&self) -> Option<f64> {
        self.built.proof.map(|proof| proof.lower_bound)
    }

    /// Latitude and longitude of the places that may be reported.
    #[getter]
    fn coords(&self, py: Python<'_>) -> PyResult<Py<PyArray2<f64>>> {
        let coords = self.built.coords.iter().flat_map(|at| [at.lat(), at.lon()]);
        matrix(py, coords.collect(), 2)
    }

    /// What their source calls them.
    #[getter]
    fn ids(&self) -> Vec<String> {
        self.built.ids.clone()
    }

    /// How likely a user is at each.
    #[getter]
    fn prior<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.built.prior)
    }

    /// The whole matrix, row i what somebody at place i draws from.
    fn matrix(&self, py: Python<'_>) -> PyResult<Py<PyArray2<f64>>> {
        let places = self.built.coords.len();
        let rows = py.detach(|| {
            let mut all = vec![0.0; self.built.rows.deployed().len() * places];
            for (at, row) in all.chunks_exact_mut(places).enumerate() {
                self.built.rows.fill(at, row);
            }
            all
        });
        matrix(py, rows, places)
    }

    /// The exact distributions that people at these coordinates draw from: points x places; NaN off the map.
    fn rows(
        &self,
        py: Python<'_>,
        lat: Numbers<'_>,
        lon: Numbers<'_>,
    ) -> PyResult<Py<PyArray2<f64>>> {
        let places = self.built.coords.len();
        let row = |at: &Option<Coord>| match (at, &self.built.rows) {
            (Some(at), Rows::Noise(noise)) => noise.row_at(*at),
            (Some(at), _) => self.place_at(*at).and_then(|place| self.built.row(place)),
            (None, _) => None,
        };
        let mut rows = Vec::with_capacity(lat.len() * places);
        for_each_part(py, &lat, &lon, |part| {
            for at in part {
                match row(at) {
                    Some(row) => rows.extend_from_slice(&row),
                    None => rows.resize(rows.len() + places, f64::NAN),
                }
            }
            Ok(())
        })?;
        matrix(py, rows, places)
    }

    /// One report for each coordinate: the number of a place, -1 off the map. Drawn with the operating system's randomness;
    /// with a seed, for experiments only, predictably.
    ///
    /// A frame instead of `lat` and `lon` (pandas with these columns, or geopandas with points) gives a frame of the same kind
    /// and index: report, where that is, accuracy_m and epsilon_per_km. Nothing else of it is in there.
    #[pyo3(signature = (lat, lon = None, *, seed = None))]
    fn sample<'py>(
        slf: &Bound<'py, Self>,
        lat: &Bound<'py, PyAny>,
        lon: Option<Numbers<'py>>,
        seed: Option<u64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let Some(lon) = lon else {
            return frames(py)?.call_method1("sample", (slf, lat, seed));
        };
        let lat: Numbers<'py> = lat.extract()?;
        let mut drawing = Drawing::new(slf.get(), seed);
        let mut reports = Vec::with_capacity(lat.len());
        for_each_part(py, &lat, &lon, |part| {
            for &at in part {
                reports.push(drawing.report(at).map_err(refused)?);
            }
            Ok(())
        })?;
        Ok(PyArray1::from_vec(py, reports).into_any())
    }

    /// The places that may be reported as a pandas frame: id, lat, lon, prior.
    fn places_frame<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        frames(slf.py())?.call_method1("places_frame", (slf,))
    }

    /// The places that may be reported as a geopandas frame of points: id, prior.
    fn places_geoframe<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        frames(slf.py())?.call_method1("places_geoframe", (slf,))
    }

    /// The radius around a reported place that holds the true position with a probability of 95 %, in metres.
    fn accuracy_m(&self, report: u32) -> PyResult<f64> {
        let report = PlaceId::new(report);
        match report.index() < self.built.coords.len() {
            true => Ok(1000.0 * self.built.accuracy_km(report)),
            false => Err(refused("report: is no place of the mechanism")),
        }
    }

    /// Checks every pair and every report, with rounding against ourselves and no tolerance.
    fn verify<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let verdict = self.built.verdict();
        let said = PyDict::new(py);
        said.set_item("holds", verdict.holds())?;
        said.set_item("violations", verdict.guaranteed.violations)?;
        said.set_item("pairs", verdict.guaranteed.pairs)?;
        said.set_item("worst_log_excess", verdict.guaranteed.worst_log_excess)?;
        said.set_item("effective_epsilon", verdict.guaranteed.effective_epsilon)?;
        if let Some(deployed) = verdict.deployed {
            said.set_item("violated_pairs_of_users", deployed.violated_pairs)?;
        }
        Ok(said)
    }

    /// What it costs and what an attacker who knows the prior guesses; for mechanisms made here, from a `Map`.
    #[pyo3(signature = (*, progress = None))]
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        progress: Callback<'_, 'py>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let Some(city) = &self.city else {
            return Err(refused(
                "city: a mechanism from a file has no costs; open it with its Map, or build or import it from one",
            ));
        };
        let assessed = work::finish(py, progress, |worker| {
            let plan = Plan::new(city, self.built.guarantee.epsilon);
            assess(&self.built, city, &plan, &mut Answers::default(), worker)
        })?;
        let Assessment { spending, street, adversary, .. } = &assessed.map_err(refused)?;
        let said = PyDict::new(py);
        said.set_item("expected_cost", spending.expected)?;
        said.set_item("worst_place_cost", spending.worst_place)?;
        said.set_item("cost_95_percent", spending.at_95_percent)?;
        said.set_item("street_cost", street.map(|street| street.cost))?;
        said.set_item("inference_error_km", adversary.inference_error_km)?;
        said.set_item("hit_rate", adversary.hit_rate)?;
        said.set_item("entropy_bits", adversary.entropy_bits)?;
        Ok(said)
    }

    fn __len__(&self) -> usize {
        self.built.coords.len()
    }

    fn __repr__(&self) -> String {
        format!(
            "Mechanism({}, {} places, {}, {:.3} {} per report)",
            self.built.kind,
            self.built.coords.len(),
            self.built.guarantee,
            self.built.expected_cost,
            self.built.unit
        )
    }
}
