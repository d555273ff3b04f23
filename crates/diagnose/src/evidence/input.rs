//! What kinds of evidence are given to look at, beside the history and an ACK.

use rtolab_time::{Duration, Instant};

use crate::history::{CoveringAck, Found, RetransmittedRange};
use crate::rtt::RoundTrips;

/// Evidence about ranges, by their place in the history.
pub(crate) type Findings = Vec<(usize, Found)>;

/// A retransmission in its surroundings.
pub(crate) struct Retransmitting {
    pub frame: u64,
    /// Is all of the range known to have arrived?
    pub is_known: bool,
    /// When the newest transmission left of all known to have arrived, and the frame that shows it.
    pub newest: Option<(Instant, u64)>,
    /// Packets may overtake others that were sent by this much before them.
    pub reordering: Duration,
}

/// The end of a direction that was not captured at its receiver.
pub(crate) struct End<'a> {
    pub trips: &'a RoundTrips,
    /// When a receiver that reports duplicates was last heard.
    pub last_heard: Option<Instant>,
}

/// Two ranges: the first covering ACK of the one expected the other next.
pub(crate) struct Pair<'a> {
    pub range: &'a RetransmittedRange,
    pub next: &'a RetransmittedRange,
    pub trips: &'a RoundTrips,
}

impl Pair<'_> {
    pub fn covering_acks(&self) -> Option<(CoveringAck, CoveringAck)> {
        Some((self.range.covering_ack?, self.next.covering_ack?))
    }
}

/// A copy of another range that is known to have arrived.
#[derive(Clone, Copy)]
pub(crate) struct Witness {
    pub sent: Instant,
    /// The frame that shows its arrival.
    pub frame: u64,
    /// Packets may overtake others that were sent by this much before them.
    pub reordering: Duration,
}
