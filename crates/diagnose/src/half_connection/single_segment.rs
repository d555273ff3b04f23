//! Whether the timer that expired for the only outstanding segment was that of a tail loss probe.
//!
//! Linux delays the probe of a single segment by the longest delay of an ACK, so that the probe
//! falls on the RTO (`tcp_schedule_loss_probe`): its time does not show which timer expired. What
//! follows may show it. A timeout doubles the RTO and reduces cwnd to one segment; a probe does
//! neither.

use rtolab_tcp::{Segment, Seq};
use rtolab_time::Duration;

use crate::trigger::Trigger;

/// The timer by whose expiry a segment was retransmitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Timer {
    /// The retransmission timer.
    #[default]
    Retransmission,
    /// That of a tail loss probe.
    Probe,
    /// One of these two.
    Either,
}

/// The minimum number of segments before an ACK that shows that the last timer did not reduce cwnd.
/// After a timeout and an ACK, cwnd is two segments, or three with a delayed ACK of two.
const MIN_FLIGHT: u32 = 4;
/// The maximum number of frames kept as evidence per direction.
const MAX_FRAMES: usize = 1 << 12;

/// A retransmission of the only outstanding segment, until the first flight after its ACK ends.
#[derive(Clone, Copy, Debug)]
struct Pending {
    frame: u64,
    seq: Seq,
    /// How long the timer had run.
    after: Duration,
    /// The segments sent since the ACK; `None` before it.
    flight: Option<u32>,
}

/// What a direction shows about the timers of single segments.
#[derive(Clone, Debug)]
pub(crate) struct SingleSegments {
    /// May the sender use SACK, which probes need?
    pub has_sack: bool,
    pending: Option<Pending>,
    /// Does the sender send tail loss probes?
    sends_probes: bool,
    /// The frames of retransmissions after which the timer was doubled.
    timeouts: Vec<u64>,
    /// The frames of retransmissions after which the sender sent a whole flight.
    unreduced: Vec<u64>,
}

impl SingleSegments {
    pub const fn new() -> Self {
        Self {
            has_sack: true,
            pending: None,
            sends_probes: false,
            timeouts: Vec::new(),
            unreduced: Vec::new(),
        }
    }

    /// Is a retransmission followed whose flight has not ended yet?
    #[inline]
    pub const fn is_pending(&self) -> bool {
        self.pending.is_some()
    }

    /// Processes a retransmission; `is_single`: the first one of the only outstanding segment, by a
    /// timer. The timer had run for `after`.
    pub fn on_retransmission(
        &mut self,
        segment: &Segment,
        (frame, trigger, is_single): (u64, Trigger, bool),
        after: Duration,
    ) {
        self.sends_probes |= trigger == Trigger::TailLossProbe;
        let last = self.pending.take().filter(|last| last.seq == segment.seq);
        if is_single {
            self.pending = Some(Pending { frame, seq: segment.seq, after, flight: None });
        } else if let (Some(last), Trigger::Timeout(1)) = (last, trigger) {
            // The next timer is that of a timeout: the RTO after a probe, and twice the RTO after
            // another timeout.
            match after * 2 < last.after * 3 {
                true => self.sends_probes = true,
                false => push(&mut self.timeouts, last.frame),
            }
        }
    }

    /// Processes new data of this number of segments.
    pub const fn on_new_data(&mut self, segments: u32) {
        if let Some(Pending { flight: Some(flight), .. }) = &mut self.pending {
            *flight += segments;
        }
    }

    /// Processes an ACK.
    pub fn on_ack(&mut self, is_new: bool) {
        match self.pending {
            Some(Pending { flight: Some(flight), frame, .. }) => {
                if flight >= MIN_FLIGHT {
                    push(&mut self.unreduced, frame);
                }
                // An ACK without data in flight, such as that of a keep-alive, ends no flight.
                if flight > 0 {
                    self.pending = None;
                }
            }
            Some(pending) if is_new => {
                self.pending = Some(Pending { flight: Some(0), ..pending });
            }
            _ => {}
        }
    }

    /// The timer that expired at a frame. `is_needed` says whether the retransmission of a frame
    /// was needed: a spurious timeout may be undone, and cwnd restored.
    pub fn timer(&self, frame: u64, is_needed: impl Fn(u64) -> bool) -> Timer {
        let is_unreduced = || self.unreduced.iter().any(|frame| is_needed(*frame));
        if self.timeouts.binary_search(&frame).is_ok() {
            Timer::Retransmission
        } else if self.sends_probes || is_unreduced() {
            Timer::Probe
        } else if self.timeouts.is_empty() {
            Timer::Either
        } else {
            Timer::Retransmission
        }
    }
}

fn push(frames: &mut Vec<u64>, frame: u64) {
    if frames.len() < MAX_FRAMES {
        frames.push(frame);
    }
}
