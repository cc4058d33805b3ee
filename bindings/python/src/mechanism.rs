//! Mechanisms: what a place, or a coordinate, reports.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use lrgeo_evaluation::optimum::Answers;
use lrgeo_evaluation::{Assessment, assess};
use lrgeo_geo::Coord;
use lrgeo_geo::index::SpatialIndex;
use lrgeo_geo::spacing::{reach_km, spacing_km};
use lrgeo_mechanism::verify::Examined;
use lrgeo_mechanism::{Built, City, Plan, Rows};
use lrgeo_tiles::Distribution;
use lrgeo_tiles::sample::{ManyDraws, SeededRandomness, Urn};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::refused;
use crate::solve::matrix;

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

    fn place_at(&self, at: Coord) -> Option<u32> {
        self.index.nearest(at).filter(|(_, km)| *km <= self.reach_km).map(|(place, _)| place)
    }

    /// What everybody draws from, each place's row made once; `None` off the map.
    fn draw(&self, at: &[Option<Coord>], seed: Option<u64>) -> Result<Vec<i64>, String> {
        let mut seeded = seed.map(SeededRandomness::new);
        let mut urns: HashMap<u32, Urn> = HashMap::new();
        let mut reports = Vec::with_capacity(at.len());
        let mut many = ManyDraws::default();
        let mut pick = |urn: &Urn| match &mut seeded {
            Some(seeded) => Ok(urn.rehearse(seeded) as i64),
            None => urn.draw_one_of(&mut many).map(|k| k as i64).map_err(|e| e.to_string()),
        };
        for at in at {
            let Some(at) = *at else {
                reports.push(-1);
                continue;
            };
            if let Rows::Noise(noise) = &self.built.rows {
                // Every coordinate has a distribution of its own.
                reports.push(match noise.row_at(at) {
                    Some(row) => pick(&Urn::new(&row).map_err(|e| e.to_string())?)?,
                    None => -1,
                });
                continue;
            }
            let Some(place) = self.place_at(at) else {
                reports.push(-1);
                continue;
            };
            let urn = match urns.entry(place) {
                std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
                std::collections::hash_map::Entry::Vacant(new) => match self.built.row(place) {
                    Some(row) => new.insert(Urn::new(&row).map_err(|e| e.to_string())?),
                    None => {
                        reports.push(-1);
                        continue;
                    }
                },
            };
            reports.push(pick(urn)?);
        }
        Ok(reports)
    }
}

fn coords(
    lat: &PyReadonlyArray1<'_, f64>,
    lon: &PyReadonlyArray1<'_, f64>,
) -> PyResult<Vec<Option<Coord>>> {
    let (lat, lon) = (lat.as_array(), lon.as_array());
    if lat.len() != lon.len() {
        return Err(refused("lat, lon: must be equally long"));
    }
    Ok(lat.iter().zip(&lon).map(|(&lat, &lon)| Coord::new(lat, lon).ok()).collect())
}

#[pymethods]
impl Mechanism {
    /// Opens a file of `lrgeo mechanism build`; with a map, what needs costs can be measured.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let (built, _) = Built::open(&path).map_err(refused)?;
        Ok(Self::new(py.detach(|| Examined::new(built, &())), None))
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
        lat: PyReadonlyArray1<'_, f64>,
        lon: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<Py<PyArray2<f64>>> {
        let (at, places) = (coords(&lat, &lon)?, self.built.coords.len());
        let rows = py.detach(|| {
            let row = |at: &Option<Coord>| match (at, &self.built.rows) {
                (Some(at), Rows::Noise(noise)) => noise.row_at(*at),
                (Some(at), _) => self.place_at(*at).and_then(|place| self.built.row(place)),
                (None, _) => None,
            };
            let off = || vec![f64::NAN; places];
            at.iter().flat_map(|at| row(at).map_or_else(off, Distribution::into_vec)).collect()
        });
        matrix(py, rows, places)
    }

    /// One report for each coordinate: the number of a place, -1 off the map. Drawn with the operating system's randomness;
    /// with a seed, for experiments only, predictably.
    #[pyo3(signature = (lat, lon, *, seed = None))]
    fn sample<'py>(
        &self,
        py: Python<'py>,
        lat: PyReadonlyArray1<'py, f64>,
        lon: PyReadonlyArray1<'py, f64>,
        seed: Option<u64>,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let at = coords(&lat, &lon)?;
        let reports = py.detach(|| self.draw(&at, seed)).map_err(refused)?;
        Ok(PyArray1::from_vec(py, reports))
    }

    /// The radius around a reported place that holds the true position with a probability of 95 %, in metres.
    fn accuracy_m(&self, report: u32) -> PyResult<f64> {
        match (report as usize) < self.built.coords.len() {
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
    fn evaluate<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let Some(city) = &self.city else {
            return Err(refused(
                "map: a mechanism from a file has no costs; build or import it from a Map",
            ));
        };
        let assessed = py.detach(|| {
            let plan = Plan::new(city, self.built.guarantee.epsilon);
            assess(&self.built, city, &plan, &mut Answers::default(), &())
        });
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
