//! The inputs of the kinds of evidence, other than the history and an ACK.

use rtolab_time::{Duration, Instant};

use crate::history::{CoveringAck, Finding, RetransmittedRange};
use crate::rtt::RttStatistics;

/// Evidence about ranges, with the indices of the ranges in the history.
pub(crate) type Findings = Vec<(usize, Finding)>;

/// A retransmission with its context.
pub(crate) struct Retransmitting {
    pub frame: u64,
    /// Is all of the range known to have arrived?
    pub is_known: bool,
    /// When the newest transmission known to have arrived was sent, and the frame that shows its
    /// arrival.
    pub newest: Option<(Instant, u64)>,
    /// Packets sent further apart than this arrive in order.
    pub reordering_window: Duration,
}

/// A direction whose ranges are settled, in a capture that was not made at its receiver.
pub(crate) struct SettledDirection<'a> {
    pub rtt: &'a RttStatistics,
    /// When the last ACK arrived, if the receiver reports duplicates.
    pub last_ack: Option<Instant>,
}

/// Two ranges: the first covering ACK of `range` expected `next`.
pub(crate) struct Pair<'a> {
    pub range: &'a RetransmittedRange,
    pub next: &'a RetransmittedRange,
    pub rtt: &'a RttStatistics,
}

impl Pair<'_> {
    pub fn covering_acks(&self) -> Option<(CoveringAck, CoveringAck)> {
        Some((self.range.covering_ack?, self.next.covering_ack?))
    }
}

/// A copy of another range that is known to have arrived.
#[derive(Clone, Copy)]
pub(crate) struct ArrivedCopy {
    /// When it was sent.
    pub sent: Instant,
    /// The frame that shows its arrival.
    pub frame: u64,
    /// Packets sent further apart than this arrive in order.
    pub reordering_window: Duration,
}
