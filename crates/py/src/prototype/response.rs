//! A response written in Python.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use rtolab_tcp::response::{Growth, ReductionOutcome, Responder, ResponseAction, ResponseContext};
use rtolab_tcp::rtt::Estimate;
use rtolab_time::Duration;

use super::PyResponseContext;
use super::object::Object;

/// The largest window that may be set, in bytes: far above any advertised window.
const LARGEST_WINDOW: u64 = 1 << 40;

/// The longest time that may be set, in nanoseconds: twelve days.
pub(super) const LONGEST: u64 = 1 << 50;

#[derive(Clone, Debug)]
pub(super) struct PyResponse(pub Object);

impl Responder for PyResponse {
    fn on_spurious(&mut self, context: &ResponseContext) -> Option<ResponseAction> {
        let said = self.0.ask("on_spurious", |object| {
            let name = intern!(object.py(), "on_spurious");
            answer(&object.call_method1(name, (PyResponseContext(*context),))?)
        });
        said.flatten()
    }

    fn on_genuine(&mut self, context: &ResponseContext) -> Option<ResponseAction> {
        if !self.0.has("on_genuine") {
            return None;
        }
        let said = self.0.ask("on_genuine", |object| {
            let name = intern!(object.py(), "on_genuine");
            answer(&object.call_method1(name, (PyResponseContext(*context),))?)
        });
        said.flatten()
    }
}

/// The attributes of a `rtolab.ResponseAction`.
#[derive(FromPyObject)]
struct Said {
    cwnd: Option<u64>,
    ssthresh: Option<u64>,
    estimate: Option<(u64, u64)>,
    adapt_from: Option<(u64, u64)>,
    undo: bool,
    grow: bool,
}

/// Converts a `rtolab.ResponseAction` or `None`.
fn answer(said: &Bound<'_, PyAny>) -> PyResult<Option<ResponseAction>> {
    if said.is_none() {
        return Ok(None);
    }
    let Ok(Said { cwnd, ssthresh, estimate, adapt_from, undo, grow }) = said.extract() else {
        return Err(PyTypeError::new_err(format!(
            "found {}; expected a ResponseAction, with windows in bytes and estimates of two times in \
             nanoseconds, or None",
            said.repr()?
        )));
    };
    if cwnd.is_some_and(|cwnd| cwnd > LARGEST_WINDOW) {
        let expected = format!("expected a cwnd of {LARGEST_WINDOW} bytes at most");
        return Err(PyValueError::new_err(format!("found {}; {expected}", said.repr()?)));
    }
    let spans = [estimate, adapt_from].into_iter().flatten();
    if spans.flat_map(|(srtt, rttvar)| [srtt, rttvar]).any(|span| span > LONGEST) {
        let expected = format!("expected times of {LONGEST} nanoseconds at most");
        return Err(PyValueError::new_err(format!("found {}; {expected}", said.repr()?)));
    }
    Ok(Some(ResponseAction {
        cwnd,
        ssthresh,
        estimate: estimate.map(measured),
        adapt_from: adapt_from.map(measured),
        restarts_validation: adapt_from.is_some(),
        reduction: if undo { ReductionOutcome::Undone } else { ReductionOutcome::Stands },
        growth: if grow { Growth::Usual } else { Growth::Withheld },
        ..ResponseAction::default()
    }))
}

fn measured((srtt, rttvar): (u64, u64)) -> Estimate {
    Estimate { srtt: Duration::from_nanos(srtt), rttvar: Duration::from_nanos(rttvar) }
}
