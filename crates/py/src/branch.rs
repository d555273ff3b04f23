//! A counterfactual: a run that continues differently after one timeout.

use std::path::PathBuf;

use pyo3::prelude::*;
use rtolab_sim::{Branch, Observe};
use rtolab_time::Instant;

use crate::effort::Effort;
use crate::error::{SenderError, guard, raise};
use crate::outcome::Outcome;
use crate::prototype::unless_raised;
use crate::simulate::{Asked, lab, loaded, reach};

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

/// Continues the run of this sender and seed from that timeout as if it had not happened, or with
/// the sender `other`, and traces it; `None` if there is no such timeout.
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
            let asked = Asked::default();
            let scenario = loaded((&path, reach(confined)), &set, &asked.prototypes)?;
            let lab = lab(&scenario, sender.as_deref(), &asked)?;
            let observe = Observe { trace: true, windows: true };
            let begins = Branch { flow, at: Instant::from_secs_f64(at_s), seq };
            let run = (lab.named(0, seed), observe);
            let found = unless_raised(|| lab.branch(&scenario, (begins, other.as_deref()), run))?;
            let found = found.map_err(|error| raise::<SenderError>(&error))?;
            Ok(found.map(|recording| Outcome::new(vec![recording], true, Effort::default())))
        })
    })
}
