//! Checks that a run outlasts stalls and outages.

use rtolab_link::{Interval, Stalls};
use rtolab_time::{Duration, Instant};

use super::key::Key;
use crate::Result;

/// A scripted stall must end before the run.
pub(super) fn check_stalls(stalls: &Stalls, duration: Duration, at: &Key<'_>) -> Result<()> {
    for (index, Interval { at: from, length }) in stalls.scripted.iter().enumerate() {
        let (from, to) = (from.since(Instant::START), (*from + *length).since(Instant::START));
        if to >= duration {
            let found = format!("found a stall from {from} to {to}");
            let expected = format!("expected an end before the run's at {duration}");
            return Err(at.key("scripted").index(index).error(format!("{found}; {expected}")));
        }
    }
    Ok(())
}

/// Outages must not cover the whole run.
pub(super) fn check_outages(
    windows: &[&[Interval]],
    duration: Duration,
    at: &Key<'_>,
) -> Result<()> {
    let mut windows: Vec<_> = windows.iter().copied().flatten().collect();
    windows.sort_by_key(|window| window.at);
    let mut covered = Instant::START;
    for window in windows.into_iter().filter(|window| !window.length.is_zero()) {
        if window.at > covered {
            return Ok(());
        }
        covered = covered.max(window.at + window.length);
    }
    match covered >= Instant::START + duration {
        true => {
            let found = format!("found outages from the start to the end at {duration}");
            Err(at.error(format!("{found}; expected some of the run without")))
        }
        false => Ok(()),
    }
}
