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

    fn uniform(&mut self, low: u64, high: u64) -> PyResult<u64> {
        if high < low {
            let message = format!("found {low} to {high}; expected the smaller first");
            return Err(PyValueError::new_err(message));
        }
        let [low, high] = [low, high].map(Duration::from_nanos);
        Ok(self.0.span(&Distribution::Uniform(low, high)).nanos())
    }

    fn exponential(&mut self, mean: u64) -> PyResult<u64> {
        if mean > MAX_NANOS {
            let message = format!("found a mean of {mean}; expected {MAX_NANOS} at most");
            return Err(PyValueError::new_err(message));
        }
        Ok(self.0.span(&Distribution::Exponential(Duration::from_nanos(mean))).nanos())
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> Self {
        Self(self.0.clone())
    }

    fn __copy__(&self) -> Self {
        Self(self.0.clone())
    }
}
