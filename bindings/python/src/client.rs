//! A phone: reports to a server without telling it where one is.

use std::path::PathBuf;

use lrgeo_client::http::Http;
use lrgeo_client::state::StateFile;
use lrgeo_client::{ClientError, Mode, Outcome};
use lrgeo_geo::Coord;
use lrgeo_tiles::PublicKey;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::refused;

/// A user of one server. What it remembers is in one file, so a client is opened for every report and costs nothing to keep.
#[pyclass(frozen, module = "lrgeo")]
pub struct Client {
    server: String,
    state: PathBuf,
    key: Option<PublicKey>,
    targets: usize,
}

impl Client {
    fn report(&self, at: Coord, mode: Mode) -> Result<Outcome, ClientError> {
        let http = Http::new(&self.server)?;
        let kept = StateFile::open(&self.state)?;
        lrgeo_client::Client::new(http, kept)
            .key(self.key)
            .targets(self.targets)
            .obfuscate(at, mode)
    }
}

#[pymethods]
impl Client {
    /// For a server like http://localhost:8417; `key` is the operator's, where it is known.
    #[new]
    #[pyo3(signature = (server, state, *, key = None, targets = 0))]
    fn new(server: String, state: PathBuf, key: Option<&str>, targets: usize) -> PyResult<Self> {
        Http::new(&server).map_err(refused)?;
        let key = key.map(str::parse::<PublicKey>).transpose().map_err(refused)?;
        Ok(Self { server, state, key, targets })
    }

    /// Reports for somebody at a coordinate, which stays here: coordinates, published, local or offload.
    #[pyo3(signature = (lat, lon, *, mode = "coordinates"))]
    fn obfuscate<'py>(
        &self,
        py: Python<'py>,
        lat: f64,
        lon: f64,
        mode: &str,
    ) -> PyResult<Bound<'py, PyDict>> {
        let at = Coord::new(lat, lon).map_err(refused)?;
        let mode: Mode = mode.parse().map_err(refused)?;
        let outcome = py.detach(|| self.report(at, mode));
        let outcome = outcome.map_err(refused)?;
        let said = PyDict::new(py);
        let [lat, lon] = outcome.at;
        said.set_item("place", outcome.report.number())?;
        said.set_item("lat", lat)?;
        said.set_item("lon", lon)?;
        said.set_item("accuracy_m", outcome.accuracy.map(|accuracy| accuracy.metres))?;
        said.set_item("epsilon_per_km", outcome.epsilon_per_km)?;
        said.set_item("spent_per_km", outcome.spent_per_km)?;
        said.set_item("remembered", outcome.remembered.is_some())?;
        Ok(said)
    }
}
