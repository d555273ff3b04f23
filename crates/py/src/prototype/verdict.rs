//! The results of a Python detector.

use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use rtolab_tcp::spurious::{Reason, Verdict};

use super::names::kept;

/// A `rtolab.Verdict`, a `rtolab.Blind` with its reason, or `None` if it is undecided.
pub(super) fn of(said: &Bound<'_, PyAny>) -> PyResult<Verdict> {
    if said.is_none() {
        return Ok(Verdict::Open);
    }
    match said.extract::<&str>() {
        Ok("open") => return Ok(Verdict::Open),
        Ok("spurious") => return Ok(Verdict::Spurious),
        Ok("genuine") => return Ok(Verdict::Genuine),
        _ => {}
    }
    match said.getattr(intern!(said.py(), "why")).and_then(|why| why.extract::<String>()) {
        Ok(why) => Ok(Verdict::Inconclusive(Reason::Other(kept(&why)?))),
        Err(_) => Err(PyTypeError::new_err(format!(
            "found the verdict {}; expected a Verdict, Blind(\"why\") or None",
            said.repr()?
        ))),
    }
}
