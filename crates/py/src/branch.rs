//! `branch`: a counterfactual run, which differs from the original run after one timeout.

use std::path::PathBuf;

use pyo3::prelude::*;
use rtolab_sim::{Branch, Observe};
use rtolab_time::Instant;

use crate::effort::Effort;
use crate::error::{SenderError, guard, raise};
use crate::outcome::Outcome;
use crate::prototype::unless_raised;
use crate::simulate::{Evaluation, file_access, lab, loaded};

/// Identifies a timeout of a run.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Timeout {
    sender: Option<String>,
    seed: u64,
    flow: String,
    at_s: f64,
    seq: i64,
}

/// Continues the run of this sender and seed from the timeout, and traces it. The timeout does not
/// happen, or happens to the sender `other`. Returns `None` if the run has no such timeout.
#[pyfunction]
#[pyo3(signature = (path, *, set=Vec::new(), timeout, other=None, confined=false))]
pub(crate) fn branch(
    py: Python<'_>,
    path: PathBuf,
    set: Vec<(String, String)>,
    timeout: Timeout,
    other: Option<String>,
    confined: bool,
) -> PyResult<Option<Outcome>> {
    guard(|| {
        py.detach(|| {
            let Timeout { sender, seed, flow, at_s, seq } = timeout;
            let evaluation = Evaluation::default();
            let file = (&*path, file_access(confined));
            let scenario = loaded(file, &set, &evaluation.prototypes)?;
            let lab = lab(&scenario, sender.as_deref(), &evaluation)?;
            let observe = Observe { trace: true, windows: true };
            let branch = Branch { flow, at: Instant::from_secs_f64(at_s), seq };
            let run = (lab.named(0, seed), observe);
            let result = unless_raised(|| lab.branch(&scenario, (branch, other.as_deref()), run))?;
            let recording = result.map_err(|error| raise::<SenderError>(&error))?;
            Ok(recording.map(|recording| Outcome::new(vec![recording], true, Effort::default())))
        })
    })
}
