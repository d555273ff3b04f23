//! Stages of a link in Python.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use rtolab_link::{Direction, FrameAction, Rng, SentFrame, Stage};
use rtolab_time::Duration;

use super::PyRandom;
use super::object::Object;
use super::response::MAX_NANOS;

#[derive(Clone, Debug)]
pub(super) struct PyStage {
    object: Object,
    direction: Direction,
}

impl PyStage {
    pub(super) const fn new(object: Object) -> Self {
        Self { object, direction: Direction::Forward }
    }
}

impl Stage for PyStage {
    fn begin(&mut self, direction: Direction, rng: Rng) {
        self.direction = direction;
        self.object.call("random", |object| object.setattr("random", PyRandom(rng)));
    }

    fn on_frame(&mut self, frame: &SentFrame) -> FrameAction {
        let frame = PyFrame { frame: *frame, direction: self.direction };
        let action = self.object.call("on_frame", |object| {
            let name = intern!(object.py(), "on_frame");
            extract(&object.call_method1(name, (frame,))?)
        });
        action.unwrap_or(FrameAction::Pass)
    }
}

/// Converts a `rtolab.FrameAction`, a `rtolab.Hold` with its length, or `None`, which passes the
/// frame. Raises an error if it is invalid.
fn extract(result: &Bound<'_, PyAny>) -> PyResult<FrameAction> {
    if result.is_none() {
        return Ok(FrameAction::Pass);
    }
    match result.extract::<&str>() {
        Ok("pass") => return Ok(FrameAction::Pass),
        Ok("drop") => return Ok(FrameAction::Drop),
        _ => {}
    }
    let length = result.getattr(intern!(result.py(), "length"));
    match length.and_then(|length| length.extract::<u64>()) {
        Ok(length) if length <= MAX_NANOS => Ok(FrameAction::Hold(Duration::from_nanos(length))),
        Ok(length) => {
            let message = format!("found Hold({length}); expected {MAX_NANOS} nanoseconds at most");
            Err(PyValueError::new_err(message))
        }
        Err(_) => Err(PyTypeError::new_err(format!(
            "found the treatment {}; expected a FrameAction, Hold(nanoseconds) or None",
            result.repr()?
        ))),
    }
}

/// A frame at the end of its transmission.
#[pyclass(frozen, name = "Frame", module = "rtolab._rtolab")]
pub(crate) struct PyFrame {
    frame: SentFrame,
    direction: Direction,
}

#[pymethods]
impl PyFrame {
    #[getter]
    fn number(&self) -> u64 {
        self.frame.number
    }

    #[getter]
    fn at(&self) -> u64 {
        self.frame.at.nanos()
    }

    #[getter]
    fn bytes(&self) -> u32 {
        self.frame.bytes
    }

    #[getter]
    fn direction(&self) -> &'static str {
        match self.direction {
            Direction::Forward => "forward",
            Direction::Backward => "backward",
        }
    }

    fn __repr__(&self) -> String {
        let Self { frame: SentFrame { number, at, bytes }, .. } = self;
        format!("<Frame {number}, {}, {bytes} bytes at {} ns>", self.direction(), at.nanos())
    }
}
