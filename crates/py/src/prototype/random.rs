//! Random numbers of a stage in Python.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rtolab_link::{Distribution, Probability, Rng};
use rtolab_time::Duration;

use super::response::MAX_NANOS;

/// The random numbers of one stage in one run. Each call draws one 64-bit number.
#[pyclass(name = "Random", module = "rtolab._rtolab")]
pub(crate) struct PyRandom(pub Rng);

#[pymethods]
impl PyRandom {
    fn bits(&mut self) -> u64 {
        self.0.bits()
    }

    fn chance(&mut self, probability: f64) -> PyResult<bool> {
        let probability = Probability::new(probability).ok_or_else(|| {
            PyValueError::new_err(format!("found {probability}; expected a chance from 0 to 1"))
        })?;
        Ok(probability.happens(self.0.draw()))
    }

    fn uniform(&mut self, low: &Bound<'_, PyAny>, high: &Bound<'_, PyAny>) -> PyResult<u64> {
        let (low, high) = (nanoseconds(low)?, nanoseconds(high)?);
        if high < low {
            let message = format!("found {low} to {high}; expected the smaller first");
            return Err(PyValueError::new_err(message));
        }
        let [low, high] = [low, high].map(Duration::from_nanos);
        Ok(self.0.span(&Distribution::Uniform(low, high)).nanos())
    }

    fn exponential(&mut self, mean: &Bound<'_, PyAny>) -> PyResult<u64> {
        let mean = nanoseconds(mean)?;
        Ok(self.0.span(&Distribution::Exponential(Duration::from_nanos(mean))).nanos())
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> Self {
        Self(self.0.clone())
    }

    fn __copy__(&self) -> Self {
        Self(self.0.clone())
    }
}

/// A time that a prototype passes.
fn nanoseconds(value: &Bound<'_, PyAny>) -> PyResult<u64> {
    match value.extract::<u64>() {
        Ok(nanos) if nanos <= MAX_NANOS => Ok(nanos),
        _ => Err(PyValueError::new_err(format!(
            "found {}; expected an integer of nanoseconds from 0 to {MAX_NANOS}",
            value.repr()?
        ))),
    }
}
