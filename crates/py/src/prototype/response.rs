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

/// The attributes of a `rtolab.ResponseAction`.
#[derive(FromPyObject)]
struct Attributes {
    cwnd: Option<u64>,
    ssthresh: Option<u64>,
    estimate: Option<(u64, u64)>,
    adapt_from: Option<(u64, u64)>,
    undo: bool,
    grow: bool,
}

/// Converts a `rtolab.ResponseAction` or `None`. Raises an error if it is invalid.
fn extract(result: &Bound<'_, PyAny>) -> PyResult<Option<ResponseAction>> {
    if result.is_none() {
        return Ok(None);
    }
    let Ok(Attributes { cwnd, ssthresh, estimate, adapt_from, undo, grow }) = result.extract()
    else {
        return Err(PyTypeError::new_err(format!(
            "found {}; expected a ResponseAction, with windows in bytes and estimates of two times in \
             nanoseconds, or None",
            result.repr()?
        )));
    };
    if cwnd.is_some_and(|cwnd| cwnd > MAX_WINDOW) {
        let expected = format!("expected a cwnd of {MAX_WINDOW} bytes at most");
        return Err(PyValueError::new_err(format!("found {}; {expected}", result.repr()?)));
    }
    let times = [estimate, adapt_from].into_iter().flatten();
    if times.flat_map(|(srtt, rttvar)| [srtt, rttvar]).any(|time| time > MAX_NANOS) {
        let expected = format!("expected times of {MAX_NANOS} nanoseconds at most");
        return Err(PyValueError::new_err(format!("found {}; {expected}", result.repr()?)));
    }
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
