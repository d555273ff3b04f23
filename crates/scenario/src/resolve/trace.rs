//! Trace files, relative to the scenario.

use std::path::Path;
use std::sync::Arc;

use rtolab_link::{DelayTrace, Opportunities};

use super::key::Key;
use crate::files::{Fault, Folder};
use crate::raw::{self, Measured};
use crate::{Result, ScenarioError};
use crate::{limits, trace};

/// The delivery opportunities of a mahimahi trace in `folder`.
pub(super) fn opportunities(
    file: &str,
    folder: Folder<'_>,
    at: &Key<'_>,
) -> Result<Arc<Opportunities>> {
    let path = folder.file(file).map_err(|problem| at.error(problem))?;
    let text =
        folder.read(&path, "a trace of mahimahi, its path relative to the scenario", limits::TRACE);
    let trace = text.and_then(|text| trace::mahimahi(&text));
    trace.map(Arc::new).map_err(|fault| within(&path, fault, at))
}

/// The delays of a trace in `folder`.
pub(super) fn delays(
    written: &raw::DelayTrace,
    folder: Folder<'_>,
    at: &Key<'_>,
) -> Result<Arc<DelayTrace>> {
    let raw::DelayTrace { file, of, repeats } = written;
    let path = folder.file(file).map_err(|problem| at.key("file").error(problem))?;
    let text =
        folder.read(&path, "a trace of delays, its path relative to the scenario", limits::TRACE);
    let steps = text.and_then(|text| trace::delays(&text));
    let mut steps = steps.map_err(|fault| within(&path, fault, &at.key("file")))?;
    match of {
        Measured::OneWay => (),
        Measured::RoundTrip => steps.iter_mut().for_each(|(_, delay)| *delay = *delay / 2),
    }
    // The last delay holds as long as the one before it.
    let period = match (repeats, &steps[..]) {
        (true, [.., (before, _), (last, _)]) => Some(*last + (*last - *before)),
        (true, _) => {
            let problem = "found a trace of one delay; expected two at least, to repeat them";
            return Err(at.key("repeats").error(problem));
        }
        _ => None,
    };
    Ok(Arc::new(DelayTrace { steps, period }))
}

/// The error for a fault in the file at `path`, which the key `at` names.
fn within(path: &Path, fault: Fault, at: &Key<'_>) -> ScenarioError {
    let (file, Fault { line, problem }) = (path.display().to_string(), fault);
    match line {
        Some(line) => at.error_in_file(file, line, problem),
        None => at.error(format!("{file}: {problem}")),
    }
}
