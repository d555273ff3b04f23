//! The windows and episodes of guests' senders, from their samples and the packets of their flows.

use std::cmp::Reverse;

use rtolab_record::{Fate, Place};
use rtolab_time::{Duration, Instant};

use super::super::log::Log;
use super::super::packet::sequence;
use super::super::sys::TcpInfo;
use super::super::watch::{Observations, SenderObserver, Source, UNDONE};
use super::agent::COUNTERS;
use crate::report::Counts;

/// The tolerance for the clock of a guest, which counts in steps of 256 ns.
const STEP: Duration = Duration::from_micros(1);

/// The state of a sender from an instant on, with its kernel's counters.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimedSample {
    pub at: Instant,
    pub counts: [u32; COUNTERS],
    pub info: TcpInfo,
}

/// The current sample, and the later ones in order of time.
struct Replay<'a> {
    now: Option<TimedSample>,
    rest: &'a [TimedSample],
}

impl Source for Replay<'_> {
    fn info(&mut self, at: Instant) -> Option<TcpInfo> {
        while let Some((first, rest)) = self.rest.split_first() {
            if first.at > at + STEP {
                break;
            }
            (self.now, self.rest) = (Some(*first), rest);
        }
        self.now.map(|sample| sample.info)
    }

    fn counts(&mut self) -> Counts {
        let counts = self.now.map_or([0; COUNTERS], |sample| sample.counts);
        let named = UNDONE.iter().zip(counts);
        named.map(|((name, _), count)| (name.to_string(), count.into())).collect()
    }
}

/// The windows and episodes of each flow with samples.
pub(super) fn replay(log: &Log, samples: &[Vec<TimedSample>]) -> Vec<Option<Observations>> {
    let mut events: Vec<Vec<_>> = samples.iter().map(|_| Vec::new()).collect();
    for (copy, sent) in log.sent.iter().enumerate() {
        let Some((flow, place)) = sent.flow else { continue };
        let arrived = matches!(sent.fate, Fate::Delivered | Fate::Corrupt);
        match (place, sent.fate_at.filter(|_| arrived)) {
            (Place::Sender, _) => events[flow].push((sent.at, Some(copy))),
            (Place::Receiver, Some(at)) => events[flow].push((at, None)),
            (Place::Receiver, None) => {}
        }
    }
    let flows = samples.iter().zip(events).map(|(samples, mut events)| {
        if samples.is_empty() {
            return None;
        }
        // At the same time, arrivals come before the answers to them.
        events.sort_by_key(|(at, copy)| (*at, Reverse(copy.is_none()), *copy));
        let mut watch = SenderObserver::new(Replay { now: None, rest: samples });
        for (at, copy) in events {
            match copy {
                None => watch.received(at),
                Some(copy) => {
                    let ip = log.sent[copy].ip();
                    watch.sent(copy as u64, ip.as_ref().map_or((0, 0), sequence), at);
                }
            }
        }
        Some(watch.observations())
    });
    flows.collect()
}
