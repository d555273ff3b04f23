//! Responses in Python.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use rtolab_tcp::response::{Growth, ReductionOutcome, Responder, ResponseAction, ResponseContext};
use rtolab_tcp::rtt::Estimate;
use rtolab_time::Duration;

use super::PyResponseContext;
use super::object::Object;

/// The maximum window that a response may set, in bytes. It is far above any advertised window.
const MAX_WINDOW: u64 = 1 << 40;

/// The maximum time that a prototype may set, in nanoseconds: twelve days.
pub(super) const MAX_NANOS: u64 = 1 << 50;

#[derive(Clone, Debug)]
pub(super) struct PyResponse(pub Object);

impl Responder for PyResponse {
    fn on_spurious(&mut self, context: &ResponseContext) -> Option<ResponseAction> {
        let action = self.0.call("on_spurious", |object| {
            let name = intern!(object.py(), "on_spurious");
            extract(&object.call_method1(name, (PyResponseContext(*context),))?)
        });
        action.flatten()
    }

    fn on_genuine(&mut self, context: &ResponseContext) -> Option<ResponseAction> {
        if !self.0.has("on_genuine") {
            return None;
        }
        let action = self.0.call("on_genuine", |object| {
            let name = intern!(object.py(), "on_genuine");
            extract(&object.call_method1(name, (PyResponseContext(*context),))?)
        });
        action.flatten()
    }
}

/// Converts a `rtolab.ResponseAction` or `None`. Raises an error if it is invalid.
fn extract(result: &Bound<'_, PyAny>) -> PyResult<Option<ResponseAction>> {
    if result.is_none() {
        return Ok(None);
    }
    let bytes = "bytes, an integer from 0 to 1099511627776, or None";
    let cwnd = attribute::<Option<u64>>(result, "cwnd", bytes)?;
    if cwnd.is_some_and(|cwnd| cwnd > MAX_WINDOW) {
        return Err(wrong(result, "cwnd", bytes));
    }
    // The largest is that of a sender that has not lost anything.
    let bytes = "bytes, an integer from 0 to 18446744073709551615, or None";
    let ssthresh = attribute::<Option<u64>>(result, "ssthresh", bytes)?;
    let times = "two integers of nanoseconds from 0 to 1125899906842624, or None";
    let estimate = attribute::<Option<(u64, u64)>>(result, "estimate", times)?;
    let adapt_from = attribute::<Option<(u64, u64)>>(result, "adapt_from", times)?;
    for (name, estimate) in [("estimate", estimate), ("adapt_from", adapt_from)] {
        if estimate.is_some_and(|(srtt, rttvar)| srtt.max(rttvar) > MAX_NANOS) {
            return Err(wrong(result, name, times));
        }
    }
    let undo = attribute::<bool>(result, "undo", "True or False")?;
    let grow = attribute::<bool>(result, "grow", "True or False")?;
    Ok(Some(ResponseAction {
        cwnd,
        ssthresh,
        estimate: estimate.map(to_estimate),
        adapt_from: adapt_from.map(to_estimate),
        restarts_validation: adapt_from.is_some(),
        reduction: if undo { ReductionOutcome::Undone } else { ReductionOutcome::Stands },
        growth: if grow { Growth::Normal } else { Growth::None },
        ..ResponseAction::default()
    }))
}

fn to_estimate((srtt, rttvar): (u64, u64)) -> Estimate {
    Estimate { srtt: Duration::from_nanos(srtt), rttvar: Duration::from_nanos(rttvar) }
}

/// An attribute of a `rtolab.ResponseAction`.
fn attribute<'py, T: for<'a> FromPyObject<'a, 'py>>(
    result: &Bound<'py, PyAny>,
    name: &str,
    expected: &str,
) -> PyResult<T> {
    let Ok(value) = result.getattr(name) else {
        let message = format!("found {}; expected a ResponseAction or None", result.repr()?);
        return Err(PyTypeError::new_err(message));
    };
    value.extract().map_err(|_| wrong(result, name, expected))
}

/// The error that an attribute of `result` is not as expected.
fn wrong(result: &Bound<'_, PyAny>, name: &str, expected: &str) -> PyErr {
    let value = result.getattr(name).and_then(|value| value.repr());
    match value {
        Ok(value) => PyValueError::new_err(format!(
            "ResponseAction.{name}: found {value}; expected {expected}"
        )),
        Err(error) => error,
    }
}
