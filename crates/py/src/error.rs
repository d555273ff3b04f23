//! The tree of Python exceptions under `rtolab.Error`.

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::type_object::PyTypeInfo;

use crate::panic::caught;

create_exception!(rtolab, Error, PyException, "The base of every error that rtolab raises.");
create_exception!(rtolab, ScenarioError, Error, "The scenario cannot be read, or cannot be run.");
create_exception!(rtolab, SenderError, Error, "A sender specification is invalid.");
create_exception!(rtolab, DetectorError, SenderError, "No detector has that name.");
create_exception!(
    rtolab,
    PrototypeError,
    Error,
    "A prototype written in Python is invalid or raised an exception."
);
create_exception!(rtolab, EmulationError, Error, "A link cannot be emulated here.");
create_exception!(rtolab, GatewayError, Error, "A gateway cannot run here.");
create_exception!(rtolab, WatchError, Error, "An interface cannot be watched here.");
create_exception!(rtolab, CaptureError, Error, "A capture cannot be read, or a copy not written.");
create_exception!(rtolab, InternalError, Error, "A defect in rtolab itself. Please report it.");

/// Adds the exceptions to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("Error", py.get_type::<Error>())?;
    module.add("ScenarioError", py.get_type::<ScenarioError>())?;
    module.add("SenderError", py.get_type::<SenderError>())?;
    module.add("DetectorError", py.get_type::<DetectorError>())?;
    module.add("PrototypeError", py.get_type::<PrototypeError>())?;
    module.add("EmulationError", py.get_type::<EmulationError>())?;
    module.add("GatewayError", py.get_type::<GatewayError>())?;
    module.add("WatchError", py.get_type::<WatchError>())?;
    module.add("CaptureError", py.get_type::<CaptureError>())?;
    module.add("InternalError", py.get_type::<InternalError>())
}

/// The Python exception `E` with the message of `error`.
pub(crate) fn raise<E: PyTypeInfo>(error: &impl ToString) -> PyErr {
    PyErr::new::<E, _>(error.to_string())
}

/// Runs `entry`. A panic becomes an `InternalError`.
pub(crate) fn guard<T>(entry: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    caught(entry).unwrap_or_else(|message| {
        Err(InternalError::new_err(format!("a defect in rtolab, please report it: {message}")))
    })
}
