//! lrgeo for Python: maps, mechanisms, the solver, attacks, the client. Thin: everything happens in the crates below.
//!
//! Long work runs without the interpreter's lock and can be interrupted ([`work`]).

mod attack;
mod client;
mod map;
mod mechanism;
mod solve;
mod work;

use std::time::Duration;

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(lrgeo, LrgeoError, PyException, "What lrgeo refuses, and why.");

/// Any error of the crates, in its own words.
fn refused(error: impl std::fmt::Display) -> PyErr {
    LrgeoError::new_err(error.to_string())
}

/// A number of seconds, where there is one.
fn seconds(field: &str, seconds: Option<f64>) -> PyResult<Option<Duration>> {
    let limit = seconds.map(Duration::try_from_secs_f64).transpose();
    limit.map_err(|_| refused(format!("{field}: must be a number of seconds, zero or more")))
}

/// The native part of the package `lrgeo`.
#[pymodule]
fn _lrgeo(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("LrgeoError", module.py().get_type::<LrgeoError>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(solve::solve, module)?)?;
    module.add_function(wrap_pyfunction!(attack::attack_upload, module)?)?;
    module.add_function(wrap_pyfunction!(attack::attack_upload_exact, module)?)?;
    module.add_function(wrap_pyfunction!(attack::attack_request, module)?)?;
    module.add_function(wrap_pyfunction!(attack::attack_targets, module)?)?;
    module.add_function(wrap_pyfunction!(attack::attack_repeat, module)?)?;
    module.add_function(wrap_pyfunction!(attack::attack_trace, module)?)?;
    module.add_class::<solve::Solution>()?;
    module.add_class::<map::Map>()?;
    module.add_class::<mechanism::Mechanism>()?;
    module.add_class::<client::Client>()
}
