//! Trace files, which a scenario names relative to itself.

use std::path::Path;
use std::sync::Arc;

use rtolab_link::{DelayTrace, Opportunities};

use super::at::At;
use crate::Error;
use crate::files::{self, Fault, Folder};
use crate::written::{self, Measured};
use crate::{limits, trace};

/// The opportunities to send in a `file` of mahimahi beside the scenario in `folder`.
pub(super) fn opportunities(
    file: &str,
    folder: Folder<'_>,
    at: &At<'_>,
) -> Result<Arc<Opportunities>, Error> {
    let path = folder.file(file).map_err(|problem| at.wrong(problem))?;
    let text =
        files::read(&path, "a trace of mahimahi, its path relative to the scenario", limits::TRACE);
    let trace = text.and_then(|text| trace::mahimahi(&text));
    trace.map(Arc::new).map_err(|fault| within(&path, fault, at))
}

/// The delays in a file beside the scenario in `folder`.
pub(super) fn delays(
    written: &written::DelayTrace,
    folder: Folder<'_>,
    at: &At<'_>,
) -> Result<Arc<DelayTrace>, Error> {
    let written::DelayTrace { file, of, repeats } = written;
    let path = folder.file(file).map_err(|problem| at.key("file").wrong(problem))?;
    let text =
        files::read(&path, "a trace of delays, its path relative to the scenario", limits::TRACE);
    let steps = text.and_then(|text| trace::delays(&text));
    let mut steps = steps.map_err(|fault| within(&path, fault, &at.key("file")))?;
    match of.map_or(Measured::OneWay, |of| of.0) {
        Measured::OneWay => (),
        Measured::RoundTrip => steps.iter_mut().for_each(|(_, delay)| *delay = *delay / 2),
    }
    // The last delay lasts as long as the one before it.
    let period = match (repeats, &steps[..]) {
        (Some(true), [.., (before, _), (last, _)]) => Some(*last + (*last - *before)),
        (Some(true), _) => {
            let problem = "found a trace of one delay; expected two at least, to repeat them";
            return Err(at.key("repeats").wrong(problem));
        }
        _ => None,
    };
    Ok(Arc::new(DelayTrace { steps, period }))
}

/// A fault in the file at `path`, which the key at `at` names.
fn within(path: &Path, fault: Fault, at: &At<'_>) -> Error {
    let (file, Fault { line, problem }) = (path.display().to_string(), fault);
    match line {
        Some(line) => at.elsewhere(file, line, problem),
        None => at.wrong(format!("{file}: {problem}")),
    }
}
