//! Spikes, stalls and outages, and checks that a run outlasts them.

use rtolab_link::{Interval, Outages, Renewal, Spikes, Stalls};
use rtolab_time::{Duration, Instant};

use super::key::Key;
use crate::Result;
use crate::raw::{self, Length};

pub(super) fn spikes(written: &raw::Spikes) -> Spikes {
    let raw::Spikes { probability, length, holds } = written;
    Spikes {
        probability: probability.0,
        length: length.0,
        holds: holds.map(|holds| holds.0).unwrap_or_default(),
    }
}

pub(super) fn stalls(written: &raw::Stalls) -> Stalls {
    let raw::Stalls { scripted, random, holds } = written;
    Stalls {
        scripted: scripted.as_ref().map(|script| script.0.clone()).unwrap_or_default(),
        random: random.as_ref().map(renewal),
        holds: holds.map(|holds| holds.0).unwrap_or_default(),
    }
}

pub(super) fn outages(written: Option<&raw::Outages>) -> Outages {
    let Some(raw::Outages { scripted, random }) = written else { return Outages::default() };
    Outages {
        scripted: scripted.as_ref().map(|script| script.0.clone()).unwrap_or_default(),
        random: random.as_ref().map(renewal),
    }
}

fn renewal(written: &raw::Renewal) -> Renewal {
    let raw::Renewal { good, bad, stationary } = written;
    alternation(good, bad, *stationary)
}

/// An alternating renewal process, stationary by default.
pub(super) fn alternation(good: &Length, bad: &Length, stationary: Option<bool>) -> Renewal {
    Renewal { good: good.0, bad: bad.0, stationary: stationary.unwrap_or(true) }
}

/// A scripted stall must end before the run.
pub(super) fn check_stalls(written: &raw::Stalls, duration: Duration, at: &Key<'_>) -> Result<()> {
    let script = written.scripted.iter().flat_map(|script| &script.0);
    for (index, Interval { at: from, length }) in script.enumerate() {
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
