//! Spans in which something happens, and whether a run outlasts them.

use rtolab_link::{Interval, Outages, Renewal, Spikes, Stalls};
use rtolab_time::{Duration, Instant};

use super::at::At;
use crate::Error;
use crate::written::{self, Length};

pub(super) fn spikes(written: &written::Spikes) -> Spikes {
    let written::Spikes { probability, length, holds } = written;
    Spikes {
        probability: probability.0,
        length: length.0,
        holds: holds.map(|holds| holds.0).unwrap_or_default(),
    }
}

pub(super) fn stalls(written: &written::Stalls) -> Stalls {
    let written::Stalls { scripted, random, holds } = written;
    Stalls {
        scripted: scripted.as_ref().map(|script| script.0.clone()).unwrap_or_default(),
        random: random.as_ref().map(renewal),
        holds: holds.map(|holds| holds.0).unwrap_or_default(),
    }
}

pub(super) fn outages(written: Option<&written::Outages>) -> Outages {
    let Some(written::Outages { scripted, random }) = written else { return Outages::default() };
    Outages {
        scripted: scripted.as_ref().map(|script| script.0.clone()).unwrap_or_default(),
        random: random.as_ref().map(renewal),
    }
}

fn renewal(written: &written::Renewal) -> Renewal {
    let written::Renewal { good, bad, stationary } = written;
    alternation(good, bad, *stationary)
}

/// Two kinds of spans in turn, by default as if that had begun long ago.
pub(super) fn alternation(good: &Length, bad: &Length, stationary: Option<bool>) -> Renewal {
    Renewal { good: good.0, bad: bad.0, stationary: stationary.unwrap_or(true) }
}

/// What a scripted stall holds must come out before the run ends.
pub(super) fn check_stalls(
    written: &written::Stalls,
    duration: Duration,
    at: &At<'_>,
) -> Result<(), Error> {
    let script = written.scripted.iter().flat_map(|script| &script.0);
    for (index, Interval { at: from, length }) in script.enumerate() {
        let (from, to) = (from.since(Instant::START), (*from + *length).since(Instant::START));
        if to >= duration {
            let found = format!("found a stall from {from} to {to}");
            let expected = format!("expected an end before the run's at {duration}");
            return Err(at.key("scripted").index(index).wrong(format!("{found}; {expected}")));
        }
    }
    Ok(())
}

/// Some of a run must be without an outage.
pub(super) fn check_outages(
    windows: &[&[Interval]],
    duration: Duration,
    at: &At<'_>,
) -> Result<(), Error> {
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
            Err(at.wrong(format!("{found}; expected some of the run without")))
        }
        false => Ok(()),
    }
}
