//! The verdicts of a detector in Python.

use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use rtolab_tcp::spurious::{Reason, Verdict};

use super::names::interned;

/// Converts a `rtolab.Verdict`, a `rtolab.Blind` with its reason, or `None`, which is undecided.
/// Raises an error if it is invalid.
pub(super) fn extract(result: &Bound<'_, PyAny>) -> PyResult<Verdict> {
    if result.is_none() {
        return Ok(Verdict::Open);
    }
    match result.extract::<&str>() {
        Ok("open") => return Ok(Verdict::Open),
        Ok("spurious") => return Ok(Verdict::Spurious),
        Ok("genuine") => return Ok(Verdict::Genuine),
        _ => {}
    }
    match result.getattr(intern!(result.py(), "why")).and_then(|why| why.extract::<String>()) {
        Ok(why) => Ok(Verdict::Inconclusive(Reason::Other(interned(&why)?))),
        Err(_) => Err(PyTypeError::new_err(format!(
            "found the verdict {}; expected a Verdict, Blind(\"why\") or None",
            result.repr()?
        ))),
    }
}
