//! Trace files, relative to the scenario.

use std::path::Path;
use std::sync::Arc;

use rtolab_link::{DelayTrace, LightOpportunities, Opportunities, RateChange};
use rtolab_time::{Duration, Instant};

use super::key::Key;
use crate::files::{Fault, Folder};
use crate::raw::{self, Measured};
use crate::{Result, ScenarioError};
use crate::{limits, trace};

/// A trace instead of a rate.
#[derive(Clone)]
pub(super) enum RateTrace {
    /// Of mahimahi.
    Opportunities(Arc<Opportunities>),
    /// Rates from instants on, the first at the start, and the period after which they repeat.
    Rates(Vec<RateChange>, Option<Duration>),
}

/// The trace of a rate in `folder`.
pub(super) fn rates(file: &str, folder: Folder<'_>, at: &Key<'_>) -> Result<RateTrace> {
    let path = folder.file(file).map_err(|problem| at.error(problem))?;
    let text =
        folder.read(&path, "a trace of mahimahi, its path relative to the scenario", limits::TRACE);
    let trace = text.and_then(|text| match trace::has_rates(&text) {
        true => {
            let steps = trace::rates(&text)?;
            let period = period(steps.iter().map(|(at, _)| *at));
            let change = |(at, rate)| RateChange { at: Instant::START + at, rate: Some(rate) };
            Ok(RateTrace::Rates(steps.into_iter().map(change).collect(), period))
        }
        false => Ok(RateTrace::Opportunities(Arc::new(trace::mahimahi(&text)?))),
    });
    trace.map_err(|fault| within(&path, fault, at))
}

/// The opportunities of trains in a trace in `folder`.
pub(super) fn light(
    file: &str,
    folder: Folder<'_>,
    at: &Key<'_>,
) -> Result<Arc<LightOpportunities>> {
    let path = folder.file(file).map_err(|problem| at.error(problem))?;
    let expected = "a trace of opportunities, its path relative to the scenario";
    let trains = folder.read(&path, expected, limits::TRACE);
    let trains = trains.and_then(|text| trace::light(&text));
    let trains = trains.map_err(|fault| within(&path, fault, at))?;
    let period = period(trains.iter().map(|(at, _)| *at));
    Ok(Arc::new(LightOpportunities { trains, period }))
}

/// The period of a series: the last step holds as long as the one before it. `None` if it has fewer
/// than two.
fn period(steps: impl DoubleEndedIterator<Item = Duration>) -> Option<Duration> {
    let mut back = steps.rev();
    let (last, before) = (back.next()?, back.next()?);
    Some(last + (last - before))
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
    let period = match (repeats, period(steps.iter().map(|(at, _)| *at))) {
        (true, Some(period)) => Some(period),
        (true, None) => {
            let problem = "found a trace of one delay; expected two at least, to repeat them";
            return Err(at.key("repeats").error(problem));
        }
        (false, _) => None,
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
