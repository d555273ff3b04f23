//! Episodes: from the first timeout until all is acknowledged that was outstanding then.

use std::collections::VecDeque;

use rtolab_tcp::{AckFacts, Flight, Segment, Seq};
use rtolab_time::{Duration, Instant};

use crate::ledger::Again;
use crate::sending::Frame;
use crate::trigger::Trigger;

/// So many acknowledgments tell the rate at which a path delivers.
const PROGRESS: usize = 32;

/// A timeout and what came of it.
#[derive(Clone, Debug)]
pub(crate) struct Episode {
    /// When the first timeout came.
    pub start: Instant,
    /// When all of before it was acknowledged.
    pub end: Option<Instant>,
    /// The frames of the first timeout and of the last acknowledgment.
    pub frames: (u64, u64),
    /// When something was last acknowledged before.
    pub stalled_from: Option<Instant>,
    /// When something was acknowledged first again.
    pub stalled_to: Option<Instant>,
    /// What is to be acknowledged.
    pub high: Seq,
    /// Until this is acknowledged, what is sent again counts as a consequence.
    wake: Seq,
    pub una: Seq,
    pub timeouts: u32,
    pub fast_retransmits: u32,
    pub resent: u32,
    /// FlightSize before and after, in bytes.
    pub flight: (u64, u64),
    /// How fast the path delivered before, in bytes a second.
    pub rate: Option<f64>,
    pub is_syn: bool,
}

impl Episode {
    /// How long nothing was acknowledged.
    pub fn stall(&self) -> Option<Duration> {
        Some(self.stalled_to?.since(self.stalled_from?))
    }

    /// Against a path that had gone on as before.
    pub fn time_lost(&self) -> Option<f64> {
        let elapsed = self.end?.since(self.stalled_from?).secs_f64();
        let bytes = self.high.since(self.una) as f64;
        let due = self.rate.filter(|rate| *rate > 0.0).map_or(0.0, |rate| bytes / rate);
        Some((elapsed - due).max(0.0))
    }
}

/// The episodes of one direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Episodes {
    progress: VecDeque<(Instant, Seq)>,
    open: Option<Episode>,
    pub closed: Vec<Episode>,
}

impl Episodes {
    /// Something is sent again.
    pub fn resent(&mut self, segment: &Segment, again: &Again, flight: &Flight, at: Instant) {
        let timeout = matches!(again.trigger, Trigger::Timeout(_) | Trigger::Syn(_));
        if self.open.is_none() && timeout {
            self.open = Some(Episode {
                start: at,
                end: None,
                frames: (again.frame, again.frame),
                stalled_from: self.progress.back().map(|progress| progress.0),
                stalled_to: None,
                high: flight.max(),
                wake: flight.max(),
                una: flight.una(),
                timeouts: 0,
                fast_retransmits: 0,
                resent: 0,
                flight: (flight.size(), 0),
                rate: self.rate(),
                is_syn: segment.flags.has(rtolab_tcp::Flags::SYN),
            });
        }
        let Some(episode) = &mut self.open else { return };
        episode.timeouts += u32::from(timeout);
        episode.fast_retransmits += u32::from(again.trigger == Trigger::Fast);
        episode.resent += 1;
        episode.wake = flight.max();
    }

    /// Something is acknowledged.
    pub fn acked(&mut self, facts: &AckFacts, flight: &Flight, frame: &Frame) {
        if !facts.is_new() {
            return;
        }
        if self.progress.len() == PROGRESS {
            self.progress.pop_front();
        }
        self.progress.push_back((frame.at, facts.ack));
        let Some(episode) = &mut self.open else { return };
        episode.stalled_to = episode.stalled_to.or(Some(frame.at));
        if facts.ack >= episode.high && episode.end.is_none() {
            episode.end = Some(frame.at);
            episode.frames.1 = frame.number;
            episode.flight.1 = flight.size();
        }
        if facts.ack >= episode.wake {
            self.closed.extend(self.open.take());
        }
    }

    /// The capture ends.
    pub fn finish(&mut self) {
        self.closed.extend(self.open.take());
    }

    fn rate(&self) -> Option<f64> {
        let (first, last) = (self.progress.front()?, self.progress.back()?);
        let time = last.0.since(first.0);
        (!time.is_zero()).then(|| last.1.since(first.1) as f64 / time.secs_f64())
    }
}
